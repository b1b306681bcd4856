from __future__ import annotations

import json
import math

import numpy as np
import pytest

from handrail.decide.adaptive import Method
from handrail.decide.calibration import Calibration
from handrail.decide.conformal import threshold
from handrail.domain.option import Fingerprint
from handrail.errors import ConfigError, ParseError, StaleError

SCORES = [i / 100 for i in range(1, 100)]
PRINT = Fingerprint.of(model="m", prompt="p", skills="s")


def make(**more):
    return Calibration.make(SCORES, "0.15", fingerprint=PRINT, **more)


@pytest.mark.parametrize(
    "calibration",
    [
        make(notes={"date": "2026-11-30"}),
        Calibration.make([*SCORES, math.inf], 0.15, 0.05, fingerprint=PRINT, temperature=5, unit="episode"),
        make(method=Method("raps", 0.1, 2), groups=["a"] * 50 + ["b"] * 49, minimum_group=30),
        make(weights=[1.0] * 50 + [10.0] * 49),
    ],
    ids=["plain", "conditional", "groups", "weights"],
)
def test_a_file_brings_back_the_same_calibration(tmp_path, calibration):
    again = Calibration.load(calibration.save(tmp_path / "c.json"))
    assert again.to_json() == calibration.to_json()
    assert again.digest == calibration.digest
    group = "a" if calibration.groups else None
    assert again.threshold(group) == calibration.threshold(group)
    assert again.promise() == calibration.promise()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "not a calibration"),
        ({"version": 9}, "version"),
        ({"scores": [0.1, "nan"]}, "score"),
        ({"scores": [0.1, True]}, "score"),
        ({"scores": [0.1, None]}, "score"),
        ({"epsilon": "2"}, "epsilon"),
        ({"unit": "week"}, "unit"),
        ({"method": {"name": "best"}}, "method"),
        ({"method": {"nme": "lac"}}, "damaged"),
        ({"groups": ["a"]}, "groups"),
        ({"weights": [1.0]}, "weight"),
        ({"temperature": 0}, "temperature"),
        ({"scores": SCORES[1:]}, "digest"),
        ({"delta": "1/1000"}, "can't be met"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change, says):
    path = make().save(tmp_path / "c.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    if "delta" in change:
        small = Calibration.make(SCORES[:20], "0.15").to_json()
        path.write_text(json.dumps({**small, **change}))
    with pytest.raises(ParseError, match=says):
        Calibration.load(path)


def test_files_that_are_none(tmp_path):
    path = tmp_path / "c.json"
    with pytest.raises(ParseError, match="can't read"):
        Calibration.load(path)
    for text, says in (("{", "not a calibration file"), ('{"a": 1, "a": 2}', "twice"), ("[]", "not a calibration"), ("{}", "format")):
        path.write_text(text)
        with pytest.raises(ParseError, match=says):
            Calibration.load(path)
    body = json.loads(make().save(path).read_text())
    del body["scores"]
    path.write_text(json.dumps(body))
    with pytest.raises(ParseError, match="scores"):
        Calibration.load(path)


def test_a_mismatch_names_what_changed():
    calibration = make()
    calibration.require(Fingerprint.of(skills="s", prompt="p", model="m"))
    with pytest.raises(StaleError, match="model was m and is n now") as caught:
        calibration.require(Fingerprint.of(model="n", prompt="p", skills="s"))
    assert "prompt" not in str(caught.value) and "handrail calibrate" in str(caught.value)
    with pytest.raises(StaleError, match=r"prompt was p and is not known now.*skills was s and is t now"):
        calibration.require(Fingerprint.of(model="m", skills="t"))
    with pytest.raises(StaleError, match="seed was not recorded and is 3 now"):
        calibration.require(Fingerprint.of(dict(PRINT.parts), seed=3))


def test_groups_have_their_own_thresholds_and_small_or_unknown_ones_ask():
    scores = np.concatenate([np.linspace(0.01, 0.3, 60), np.linspace(0.5, 0.9, 60), [0.1] * 4])
    groups = ["easy"] * 60 + ["hard"] * 60 + ["rare"] * 4
    calibration = Calibration.make(scores, 0.15, groups=groups)
    assert calibration.threshold("easy") == threshold(scores[:60], 0.15)
    assert calibration.threshold("hard") == threshold(scores[60:120], 0.15)
    assert calibration.guard == 6
    assert calibration.threshold("rare") == math.inf
    assert calibration.threshold("new") == math.inf
    assert "always asks in rare" in calibration.promise()
    with pytest.raises(ConfigError, match="easy, hard, rare"):
        calibration.threshold()
    strict = Calibration.make(scores, 0.15, groups=groups, minimum_group=61)
    assert strict.threshold("easy") == math.inf
    conditional = Calibration.make(scores, 0.15, 0.01, groups=groups)
    assert conditional.guard == 29
    assert conditional.threshold("easy") == threshold(scores[:60], 0.15, 0.01)


def test_a_group_or_weight_that_nothing_is_known_about():
    with pytest.raises(ConfigError, match="no groups"):
        make().threshold("kitchen")
    with pytest.raises(ConfigError, match="no weights"):
        make().threshold(weight=2.0)
    weighted = make(weights=[1.0] * 50 + [10.0] * 49)
    assert weighted.threshold(weight=1.0) <= weighted.threshold(weight=10.0) == weighted.threshold()


def test_another_level():
    calibration = make()
    assert calibration.at(0.3).threshold() == threshold(SCORES, 0.3) < calibration.threshold()
    with pytest.raises(ConfigError, match="459 would do"):
        calibration.at(0.01, 0.01)


def test_combinations_without_a_guarantee_are_refused():
    with pytest.raises(ConfigError, match="delta"):
        make(delta="0.1", weights=[1.0] * 99)
    with pytest.raises(ConfigError, match="combined"):
        make(groups=["a"] * 99, weights=[1.0] * 99)


def test_the_promise_says_what_is_not_covered():
    for words in ("doesn't cover execution", "same model, prompt, temperature"):
        assert words in make().promise()
