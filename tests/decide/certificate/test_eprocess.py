from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from handrail.decide.certificate import eprocess
from handrail.errors import ConfigError


def test_mixtures(reference):
    for row in reference["mix_e_alarm_H0_p<=m"]:
        assert float(eprocess.log_e_above(row["S"], row["t"], row["m"])) == pytest.approx(row["logE"], abs=1e-8)
    for row in reference["mix_e_certify_H0_p>=m"]:
        assert float(eprocess.log_e_below(row["S"], row["t"], row["m"])) == pytest.approx(row["logE"], abs=1e-8)


def test_anytime_bounds(reference):
    for row in reference["cs_upper_alpha.05"]:
        assert eprocess.anytime_upper(row["S"], row["t"], 0.05) == pytest.approx(row["u"], abs=1e-10)
    for row in reference["cs_lower_alpha.05"]:
        assert eprocess.anytime_lower(row["S"], row["t"], 0.05) == pytest.approx(row["l"], abs=1e-10)


def test_sequential_boundary(reference):
    for row in reference["sequential_certify_boundary_eps.05_delta.05"]:
        assert eprocess.first_certifying(row["S"], 0.05, 0.05) == row["first_t"]


@given(st.integers(1, 200), st.floats(0.02, 0.5))
def test_mean_is_one_at_the_limit(t, m):
    """An e-value's mean is exactly 1 at the edge of its null hypothesis."""
    s = np.arange(t + 1)
    mass = binom.logpmf(s, t, m)
    for log_e in (eprocess.log_e_above, eprocess.log_e_below):
        assert float(np.exp(mass + log_e(s, t, m)).sum()) == pytest.approx(1.0, rel=1e-6)


@given(st.integers(1, 300), st.data())
def test_bounds_contain_the_share_and_are_wider_than_fixed_n(t, data):
    from handrail.numbers import upper_bound

    s = data.draw(st.integers(0, t))
    upper, lower = eprocess.anytime_upper(s, t, 0.05), eprocess.anytime_lower(s, t, 0.05)
    assert lower <= s / t <= upper
    assert upper >= upper_bound(s, t, 0.05) - 1e-9


def test_bounds_hold_at_all_times_together():
    """Misses over t <= 400 of a constant risk stay within alpha (with room for Monte-Carlo error)."""
    rng, alpha, risk, runs = np.random.default_rng(1), 0.1, 0.1, 1500
    s = np.cumsum(rng.random((runs, 400)) < risk, axis=1)
    t = np.arange(1, 401)
    # risk > u_t means that E against "risk >= that" has passed 1/alpha at m = risk.
    ever = (eprocess.log_e_below(s, t, risk) >= -np.log(alpha)).any(axis=1).mean()
    assert 0 < ever <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


def test_p_process_never_rises_and_meets_the_boundary():
    x = np.zeros(80)
    p = eprocess.p_process(x, 0.05)
    assert np.all(np.diff(p) <= 0)
    assert p[72] > 0.05 >= p[73]  # accepted at the 74th episode


def test_cluster_means_have_no_sequential_version():
    with pytest.raises(ConfigError, match="0/1"):
        eprocess.p_process([0.5, 1.0], 0.1)
    with pytest.raises(ConfigError):
        eprocess.anytime_upper(3, 2, 0.05)
