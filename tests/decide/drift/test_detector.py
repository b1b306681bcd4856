from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.drift.detector import Detector, factor, run_length, spread_start, wealth, worse_rate
from handrail.errors import ConfigError


def test_betting_wealth(reference):
    for row in reference["betting_fixed"]:
        assert wealth(row["x"], row["m"], row["lam"]).tolist() == pytest.approx(row["wealth"], rel=1e-12)


def test_spread_start(reference):
    row = reference["spread_start_e"]
    assert spread_start(row["x"], row["m"], row["p1"]) == pytest.approx(row["E"], rel=1e-12)


def test_shiryaev_roberts(reference):
    row = reference["shiryaev_roberts"]
    odds = row["p1"] * (1 - row["m"]) / (row["m"] * (1 - row["p1"]))
    assert worse_rate(row["m"], odds) == pytest.approx(row["p1"])
    detector, levels = Detector(row["m"], 1e6, odds=(odds,)), []
    for x in row["x"]:
        detector.add(x)
        levels.append(detector.value)
    assert levels == pytest.approx(row["R"], rel=1e-12)


@given(st.floats(0.01, 0.6), st.floats(1.05, 10), st.floats(0, 1))
def test_a_bet_has_mean_at_most_one_up_to_the_rate(m, odds, share):
    """Also for an audited loss divided by its audit probability."""
    p1, rate, q = worse_rate(m, odds), share * m, 0.1
    plain = rate * float(factor(1, m, p1)) + (1 - rate) * float(factor(0, m, p1))
    weighted = rate * q * float(factor(1 / q, m, p1)) + (1 - rate * q) * float(factor(0, m, p1))
    assert plain <= 1 + 1e-9 and weighted <= 1 + 1e-9
    assert float(factor(0, m, p1)) >= 0


def test_mean_time_to_a_false_alarm_is_at_least_the_threshold():
    rng, m, threshold, runs = np.random.default_rng(2), 0.1, 200.0, 400
    first = run_length((rng.random((runs, 3000)) < m).astype(float), m, threshold)
    lengths = np.where(first == 0, 3000, first)  # cut off at 3000: the true mean is larger
    assert lengths.mean() - 2 * lengths.std() / np.sqrt(runs) > threshold


def test_a_change_is_seen_and_dated():
    rng = np.random.default_rng(4)
    dates, delays = [], []
    for _ in range(60):
        x = np.concatenate([rng.random(300) < 0.05, rng.random(700) < 0.2]).astype(float)
        detector = Detector(0.07, 10_000)
        for i, value in enumerate(x, start=1):
            if detector.add(value):
                delays.append(i - 300)
                dates.append(detector.changed_at)
                break
    assert len(delays) == 60 and min(delays) > 0
    assert np.median(delays) < 120
    assert abs(np.median(dates) - 300) < 25


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.4))
def test_many_at_once_are_the_same_detector(seed, m):
    rng = np.random.default_rng(seed)
    x = (rng.random((3, 150)) < 2 * m).astype(float)
    found = run_length(x, m, 50.0)
    for row, first in zip(x, found, strict=True):
        detector = Detector(m, 50.0)
        alarms = [detector.add(v) for v in row]
        assert first == (alarms.index(True) + 1 if any(alarms) else 0)


def test_misuse_is_refused():
    for bad in (-1, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="an observation"):
            Detector(0.1, 100).add(bad)
    with pytest.raises(ConfigError):
        Detector(0.0, 100)
    with pytest.raises(ConfigError):
        Detector(0.1, 1)
    with pytest.raises(ConfigError):
        Detector(0.1, 100, odds=(0.9,))
    with pytest.raises(ConfigError, match="a bet"):
        wealth([1], 0.1, 11)
