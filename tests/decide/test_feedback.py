from __future__ import annotations

import math

import numpy as np
import pytest

from handrail.decide.calibration import Calibration
from handrail.decide.feedback import Answered, Audits, OnlineLevel, extend
from handrail.domain.option import Fingerprint
from handrail.errors import ConfigError

PRINT = Fingerprint.of(model="m")


def base(n=60, seed=0, epsilon=0.15):
    return Calibration.make(np.random.default_rng(seed).random(n), epsilon, fingerprint=PRINT, notes={"date": "d"})


def test_extending_keeps_what_it_rests_on():
    start = Calibration.make(np.linspace(0, 1, 100), 0.15, 0.05, fingerprint=PRINT, temperature=2)
    grown = extend(start, [Answered(0.5), Answered(0.2, looked=0.1), Answered(math.nan)])
    assert grown.n == 103 and grown.fingerprint == PRINT and grown.temperature == 2
    assert grown.delta is None
    assert grown.weights.tolist() == [1.0] * 101 + [10.0, 1.0]
    assert grown.scores[-1] == math.inf
    assert extend(grown, [Answered(0.3)]).notes["cases from use"] == 4
    assert extend(start, []) is start
    assert extend(start, [Answered(0.5)]).weights is None


def test_misuse():
    for bad in (0, -0.1, 1.1, math.nan):
        with pytest.raises(ConfigError):
            Answered(0.5, looked=bad)
        with pytest.raises(ConfigError):
            Audits(bad, 0)
    with pytest.raises(ConfigError, match="group by group"):
        extend(Calibration.make([0.1] * 20, 0.15, groups=["a"] * 20), [Answered(0.1)])
    for bad in ({"target": 0}, {"target": 0.1, "gamma": 0}):
        with pytest.raises(ConfigError):
            OnlineLevel(**bad)


def test_audits_keep_their_rate():
    audits = Audits(0.1, seed=3)
    assert 850 < sum(audits.due() for _ in range(10_000)) < 1150
    first, again = Audits(0.3, 5), Audits(0.3, 5)
    assert [first.due() for _ in range(50)] == [again.due() for _ in range(50)]


@pytest.mark.parametrize("stream", ["steady", "drift", "switch"])
def test_the_online_level_holds_on_average(stream):
    rng = np.random.default_rng(2)
    calibration, level, missed = base(400), OnlineLevel(0.15), 0
    turns = 3000
    for t in range(turns):
        top = {"steady": 1.0, "drift": 1 + t / turns, "switch": 2.0 if (t // 300) % 2 else 0.7}[stream]
        miss = bool(rng.random() * top > level.threshold(calibration))
        missed += miss
        level = level.after(miss)
    assert abs(missed / turns - 0.15) <= level.deviation(turns) + 1e-9
    assert level.deviation(turns) < 0.015


def test_online_extremes():
    calibration = base()
    assert OnlineLevel(0.1, level=-0.2).threshold(calibration) == math.inf
    assert OnlineLevel(0.1, level=1.2).threshold(calibration) == -math.inf
    assert OnlineLevel(0.1, level=1e-15).threshold(calibration) == math.inf
