from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import calibrate_dry_run, kmax, p_value
from handrail.decide.certificate.dryrun import risk_control_index
from handrail.errors import ConfigError


def plans(n, sensitivity, blind, rng, failing=0.184, copies=10):
    """Plans with passes out of `copies`; a good plan's copy fails in 10 %."""
    failed = rng.random(n) < failing
    seen = failed & (rng.random(n) >= blind)
    passes = rng.binomial(copies, np.where(seen, 1 - sensitivity, 0.9))
    return passes, failed


def test_average_index(reference):
    for row in reference["crc"]:
        assert risk_control_index(row["errors_at_lambda"], row["n"], row["alpha"]) == row["chosen_index"]


@given(st.integers(0, 2**32 - 1))
def test_joint_is_the_loosest_threshold_that_passes_the_exact_test(seed):
    passes, failed = plans(300, 0.8, 0.15, np.random.default_rng(seed))
    found = calibrate_dry_run(passes, failed, 10, 0.1)
    allowed = kmax(300, 0.1, 0.05)
    fits = [m for m in range(11) if (failed & (passes >= m)).sum() <= allowed]
    assert found.passes == (min(fits) if fits else None)


@given(st.integers(0, 2**32 - 1))
def test_conditional_passes_its_own_test_at_the_split_level(seed):
    passes, failed = plans(400, 0.95, 0.02, np.random.default_rng(seed))
    found = calibrate_dry_run(passes, failed, 10, 0.1, version="conditional")
    if found.passes is not None:
        taken = passes >= found.passes
        assert float(p_value((failed & taken).sum(), int(taken.sum()), 0.1)) <= 0.05 / 4


def test_a_useless_simulator_costs_power_never_validity():
    """Sensitivity equal to the false alarm rate: the joint statement still holds in at least 1 - delta."""
    rng, runs, broken, accepted = np.random.default_rng(5), 400, 0, []
    big = plans(200_000, 0.1, 0.0, rng)
    for _ in range(runs):
        draw = rng.integers(0, 200_000, 300)
        found = calibrate_dry_run(big[0][draw], big[1][draw], 10, 0.1)
        accepted.append(found.accepted)
        if found.passes is not None:
            broken += (big[1] & (big[0] >= found.passes)).mean() > 0.1
    assert broken / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(accepted) < 0.5


def test_average_version_is_not_a_confidence_statement():
    """A blind simulator: conformal risk control is right on average and wrong in a good share of calibrations."""
    rng, runs, risks = np.random.default_rng(6), 300, []
    big = plans(200_000, 0.8, 0.5, rng)
    joint_broken = 0
    for _ in range(runs):
        draw = rng.integers(0, 200_000, 300)
        average = calibrate_dry_run(big[0][draw], big[1][draw], 10, 0.1, version="average")
        risks.append((big[1] & (big[0] >= average.passes)).mean() if average.passes is not None else 0.0)
        joint = calibrate_dry_run(big[0][draw], big[1][draw], 10, 0.1)
        joint_broken += joint.passes is not None and (big[1] & (big[0] >= joint.passes)).mean() > 0.1
    assert np.mean(risks) <= 0.1
    assert np.mean(np.array(risks) > 0.1) > 0.2
    assert joint_broken / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_words_keep_the_versions_apart():
    passes, failed = plans(2000, 0.95, 0.02, np.random.default_rng(7))
    texts = {
        v: calibrate_dry_run(passes, failed, 10, 0.1, version=v).text() for v in ("joint", "conditional", "average")
    }
    assert "of all plans pass and then fail" in texts["joint"] and "wrong at most 1 time in 20" in texts["joint"]
    assert "of the plans that pass fail" in texts["conditional"]
    assert "Averaged over calibrations" in texts["average"] and "wrong at most" not in texts["average"]
    assert "confidence" not in texts["average"]


def test_nothing_found_is_said():
    found = calibrate_dry_run([10] * 40, [True] * 40, 10, 0.1)
    assert found.passes is None and "No number of passed dry-runs" in found.text()


def test_bad_input_is_refused():
    with pytest.raises(ConfigError):
        calibrate_dry_run([11], [True], 10, 0.1)
    with pytest.raises(ConfigError):
        calibrate_dry_run([], [], 10, 0.1)
    with pytest.raises(ConfigError, match="a start"):
        calibrate_dry_run([10], [False], 10, 0.1, version="conditional", starts=(11,))
