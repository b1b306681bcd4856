from __future__ import annotations

import math

import numpy as np
import pytest

from handrail.decide.calibration import Calibration
from handrail.decide.limits import Case, Limits, Met, NotMet, jointly, meet
from handrail.errors import ConfigError


def cases(n, sharpness, seed=0, options=5):
    """Cases of a model whose probabilities are true; sharp ones are rarely in doubt."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        p = rng.dirichlet(np.full(options, sharpness))
        out.append(Case.of((1 - p).tolist(), 1 - p[rng.choice(options, p=p)]))
    return out


def rates(threshold, fresh):
    miss = np.mean([c.label > threshold for c in fresh])
    helped = np.mean([not (c.top <= threshold < c.second and c.top_listed) for c in fresh])
    return miss, helped


def test_cases():
    case = Case.of([0.4, 0.1, 0.9], 0.4, not_listed=1)
    assert (case.top, case.second, case.top_listed) == (0.1, 0.4, False)
    assert Case.of([0.2], 0.2).second == math.inf


def test_a_sharp_model_meets_both():
    found = meet(cases(600, 0.05), Limits(0.15, 0.4))
    assert isinstance(found, Met)
    miss, helped = rates(found.threshold, cases(4000, 0.05, seed=9))
    assert miss <= 0.15 and helped <= 0.4


def test_a_vague_model_is_refused_with_the_nearest():
    found = meet(cases(600, 1.0), Limits(0.1, 0.3))
    assert isinstance(found, NotMet)
    assert found.nearest_help > 0.3 and "nearest" in found.sentence and found.nearest_miss == pytest.approx(0.1)
    none = meet(cases(30, 1.0), Limits(0.01, 0.3))
    assert isinstance(none, NotMet) and none.nearest_miss > 0.01


def test_promises_are_kept_but_for_delta():
    """At limits close to what is possible, false promises stay below delta (with their Monte-Carlo error)."""
    fresh = cases(20_000, 0.12, seed=99)
    false = made = 0
    runs = 150
    for seed in range(runs):
        found = meet(cases(250, 0.12, seed=1000 + seed), Limits(0.2, 0.5, "0.1"))
        if isinstance(found, Met):
            made += 1
            miss, helped = rates(found.threshold, fresh)
            false += miss > 0.2 or helped > 0.5
    assert made > 5
    assert false / runs <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs)


def test_a_calibration_under_a_joint_limit(tmp_path):
    own = cases(600, 0.05)
    calibration = Calibration.make([c.label for c in own], 0.15)
    found = jointly(calibration, own, Limits(0.15, 0.4))
    assert isinstance(found, Calibration) and found.threshold() == meet(own, Limits(0.15, 0.4)).threshold
    assert "asked in at most 0.4" in found.promise() and "0.05" in found.promise()
    again = Calibration.load(found.save(tmp_path / "c.json"))
    assert again.threshold() == found.threshold() and again.digest == found.digest != calibration.digest
    assert found.at(0.15).threshold() == calibration.threshold()
    assert isinstance(jointly(calibration, cases(600, 1.0), Limits(0.1, 0.3)), NotMet)
    with pytest.raises(ConfigError, match="neither"):
        Calibration.make([0.1] * 30, 0.15, groups=["a"] * 30, joint=found.joint)


def test_misuse():
    with pytest.raises(ConfigError, match="20 cases"):
        meet(cases(10, 1.0), Limits(0.1, 0.3))
    with pytest.raises(ConfigError, match="help"):
        meet(cases(30, 1.0), Limits(0.1, 1.5))
