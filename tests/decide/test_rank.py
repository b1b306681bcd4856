"""Ranks against the reference table, against exact rationals, and against the binomial identity."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.rank import conditional_slack, exact, marginal_rank, minimum_n, rank
from handrail.errors import ConfigError

VECTORS = json.loads((Path(__file__).parent / "conformal.json").read_text())


@pytest.mark.parametrize("row", VECTORS["table"], ids=lambda r: f"{r['N']}-{r['epsilon']}")
def test_every_row_of_the_reference_table(row):
    n, eps = row["N"], row["epsilon"]
    marginal = rank(n, eps)
    assert (marginal.k, marginal.v) == (row["k"], row["v_marginal"])
    law = row["coverage_law_marginal"]
    assert (marginal.k, marginal.n + 1 - marginal.k) == (law["a"], law["b"])
    assert marginal.expected_coverage == pytest.approx(law["mean"], abs=1e-9)
    for name, q in (("q01", 0.01), ("q50", 0.5), ("q99", 0.99)):
        assert marginal.coverage_quantile(q) == pytest.approx(law[name], abs=1e-9)
    assert marginal.probability_below(1 - eps) == pytest.approx(law["P_cov_below_target"], abs=1e-9)
    assert conditional_slack(n, eps, 0.01) == row["dc_v"]
    if not row["dc_feasible"]:
        with pytest.raises(ConfigError, match=str(row["dc_min_N_needed"])):
            rank(n, eps, 0.01)
        return
    chosen = rank(n, eps, 0.01)
    assert chosen.k == row["dc_k"]
    assert chosen.v / (n + 1) == pytest.approx(row["dc_eps_hat"], abs=1e-12)
    assert chosen.coverage_quantile(0.01) == pytest.approx(row["dc_beta_ppf"], abs=1e-9)
    assert chosen.expected_coverage == pytest.approx(row["dc_expected_coverage"], abs=1e-9)
    assert 1 - chosen.probability_below(1 - eps) == pytest.approx(row["dc_conf_actual"], abs=1e-9)


@pytest.mark.parametrize("n", VECTORS["v_star_spot_table_delta0.01"])
def test_v_star_spots(n):
    for eps, v in VECTORS["v_star_spot_table_delta0.01"][n].items():
        assert conditional_slack(int(n), eps, "0.01") == v


@pytest.mark.parametrize("eps", VECTORS["min_N"])
def test_fewest_cases(eps):
    row = VECTORS["min_N"][eps]
    assert minimum_n(eps) == row["marginal_nontrivial"]
    for name, delta in (("dataset_conditional_delta0.01", "0.01"), ("dataset_conditional_delta0.05", "0.05")):
        n = minimum_n(eps, delta)
        assert n == row[name]
        assert conditional_slack(n, eps, delta) >= 1
        assert n == 1 or conditional_slack(n - 1, eps, delta) == 0
    assert rank(minimum_n(eps), eps).finite
    assert not rank(max(1, minimum_n(eps) - 1), eps).finite or minimum_n(eps) == 1


@pytest.mark.parametrize("case", VECTORS["float_traps"]["examples"], ids=lambda c: f"{c['N']}-{c['epsilon']}")
def test_round_off_does_not_move_a_rank(case):
    n, eps = case["N"], case["epsilon"]
    assert marginal_rank(n, eps) == case["exact_k"]
    assert marginal_rank(n, 1 - (1 - eps)) == case["exact_k"]
    assert math.ceil((n + 1) * (1 - eps)) == case["float_k_(N+1)*(1-eps)"] != case["exact_k"]


def test_one_minus_target_is_read_as_meant():
    assert exact(1 - 0.8) == Fraction(1, 5)
    assert exact("0.15") == exact(0.15) == Fraction(3, 20)


@given(st.integers(1, 2000), st.integers(1, 99))
def test_ranks_are_exact(n, percent):
    eps = percent / 100
    k = marginal_rank(n, eps)
    needed = (n + 1) * (1 - Fraction(percent, 100))
    assert k - 1 < needed <= k


@given(st.integers(1, 300), st.integers(1, 60), st.sampled_from([Fraction(1, 100), Fraction(1, 20), Fraction(1, 10)]))
def test_v_is_the_largest_in_exact_arithmetic(n, percent, delta):
    """P(Bin(n, eps) <= v - 1) <= delta, and not for v + 1, with rational sums."""
    eps = Fraction(percent, 100)
    v = conditional_slack(n, eps, delta)

    def tail(upto: int) -> Fraction:
        return sum(
            (Fraction(math.comb(n, i)) * eps**i * (1 - eps) ** (n - i) for i in range(upto + 1)), start=Fraction(0)
        )

    assert tail(v - 1) <= delta
    assert v == n or tail(v) > delta


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, float("nan"), float("inf"), "many", None])
def test_levels_outside_are_refused(bad):
    with pytest.raises(ConfigError, match="epsilon"):
        rank(10, bad)
    with pytest.raises(ConfigError, match=r"epsilon|delta"):
        rank(100, 0.1, bad if bad is not None else "none")


def test_no_cases():
    with pytest.raises(ConfigError, match="at least one"):
        rank(0, 0.1)


def test_words_name_the_guarantee():
    marginal, conditional = rank(400, 0.15).sentence(), rank(400, 0.15, 0.01).sentence()
    assert "on average" in marginal and "0.48" in marginal
    assert "unlucky" in conditional and "0.01" in conditional and "on average" not in conditional
