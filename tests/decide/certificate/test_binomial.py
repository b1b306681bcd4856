from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.decide.certificate import binomial
from handrail.errors import ConfigError
from handrail.numbers import upper_bound

shares = st.floats(0.01, 0.9)


def test_p_values(reference):
    for row in reference["p_binom"]:
        assert float(binomial.p_value(row["k"], row["n"], row["eps"])) == pytest.approx(row["p"], rel=1e-10)


def test_hoeffding_bentkus(reference):
    for row in reference["p_hb"]:
        found = float(binomial.hoeffding_bentkus(row["rhat"], row["n"], row["eps"]))
        assert found == pytest.approx(row["p"], rel=1e-9)


def test_clopper_pearson(reference):
    for row in reference["cp_upper"]:
        assert upper_bound(row["k"], row["n"], row["delta"]) == pytest.approx(row["u"], rel=1e-9)
    for row in reference["cp_lower"]:
        assert binomial.lower_bound(row["k"], row["n"], row["delta"]) == pytest.approx(row["l"], rel=1e-9, abs=1e-12)


def test_conditional_on_done(reference):
    for row in reference["conditional_on_done"]:
        found = binomial.conditional_upper_bound(row["wrong"], row["done"], row["delta"])
        assert found == pytest.approx(row["u"], rel=1e-9)


def test_kmax(reference):
    assert len(reference["kmax"]) == 128
    for row in reference["kmax"]:
        assert binomial.kmax(row["n"], row["eps"], row["delta"]) == row["k"], row


def test_smallest_number_without_failure(reference):
    for row in reference["n_zero_failures"]:
        assert binomial.minimum_episodes(row["eps"], row["delta"]) == row["n"]


def test_number_for_power(reference):
    for row in reference["n_required_power90"]:
        found = binomial.required_episodes(row["eps"], row["delta"], row["true_risk"])
        assert found == (row["n"], row["k"]), row


def test_two_risks_share_one_delta(reference):
    row = reference["iut_two_risks"]
    silent = float(binomial.p_value(row["ks"], row["n"], row["eps_s"]))
    task = float(binomial.p_value(row["kt"], row["n"], row["eps_t"]))
    assert (silent, task) == pytest.approx((row["ps"], row["pt"]), rel=1e-10)
    assert max(silent, task) == pytest.approx(row["p"], rel=1e-10)


def test_no_number_would_do_at_or_above_the_limit():
    assert binomial.required_episodes(0.05, 0.05, 0.05) is None
    assert binomial.required_episodes(0.05, 0.05, 0.2) is None


@given(st.integers(1, 400), shares, st.data())
def test_exact_test_agrees_with_the_upper_bound(n, limit, data):
    """p <= delta if and only if the Clopper-Pearson upper bound is at most the limit."""
    k = data.draw(st.integers(0, n))
    delta = data.draw(st.floats(0.001, 0.5))
    p = float(binomial.p_value(k, n, limit))
    if abs(p - delta) > 1e-9:
        assert (p <= delta) == (upper_bound(k, n, delta) <= limit)


@given(st.integers(1, 300), shares)
def test_all_lost_says_nothing(n, limit):
    assert float(binomial.p_value(n, n, limit)) == 1.0
    assert upper_bound(n, n, 0.05) == 1.0


@given(shares, st.floats(0.001, 0.3))
def test_one_episode_fewer_than_the_smallest_never_passes(limit, delta):
    n = binomial.minimum_episodes(limit, delta)
    assert binomial.kmax(n, limit, delta) >= 0
    if n > 1:
        assert binomial.kmax(n - 1, limit, delta) == -1


@given(st.integers(1, 200), st.floats(0.02, 0.5))
@settings(max_examples=40)
def test_super_uniform_at_the_limit(n, limit):
    """P(p <= t) <= t when the true risk is exactly the limit, by summing over all outcomes."""
    from scipy.stats import binom

    p, mass = binomial.p_value(np.arange(n + 1), n, limit), binom.pmf(np.arange(n + 1), n, limit)
    for t in (0.01, 0.05, 0.2, 0.7):
        assert mass[p <= t].sum() <= t + 1e-9


def test_agrees_with_mapie():
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    rng = np.random.default_rng(0)
    for _ in range(200):
        n, limit = int(rng.integers(5, 500)), float(rng.uniform(0.02, 0.4))
        k = int(rng.integers(0, n + 1))
        # MAPIE rounds n * (k / n) up without an allowance; only outcomes that survive the round trip compare.
        if np.ceil(n * (k / n)) != k or k == n:
            continue
        theirs = float(compute_hoeffding_bentkus_p_value(np.array([k / n]), n, limit).ravel()[0])
        assert float(binomial.hoeffding_bentkus(k / n, n, limit)) == pytest.approx(min(1.0, theirs), rel=1e-9)
        binary = float(compute_hoeffding_bentkus_p_value(np.array([k / n]), n, limit, binary=True).ravel()[0])
        # Their binary version is min(Hoeffding, exact); ours is the exact one alone, which is never larger ... than e
        # times theirs, and equal where the exact one is the smaller.
        assert float(binomial.p_value(k, n, limit)) >= binary - 1e-12


@pytest.mark.parametrize("limit", [0.0, 1.0, -0.1, float("nan")])
def test_limits_outside_are_refused(limit):
    with pytest.raises(ConfigError, match="strictly between"):
        binomial.p_value(1, 10, limit)


def test_counts_outside_are_refused():
    with pytest.raises(ConfigError):
        binomial.p_value(11, 10, 0.1)
    with pytest.raises(ConfigError):
        binomial.hoeffding_bentkus(1.2, 10, 0.1)
