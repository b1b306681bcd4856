from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.domain.option import Option
from handrail.errors import ConfigError, ParseError
from handrail.intent.scores import Context
from handrail.intent.scores.fusion import Fusion, Weights, fit
from handrail.intent.scores.words import Words

TRUE = np.array([1.5, -0.7, 0.0])


def choices(n, seed=0, options=5):
    """Options with three features, chosen with softmax(w . x)."""
    rng = np.random.default_rng(seed)
    cases, picks = [], []
    for _ in range(n):
        x = rng.normal(size=(options, 3)) * [1, 2, 1]
        u = np.exp(x @ TRUE)
        cases.append(x)
        picks.append([int(rng.choice(options, p=u / u.sum()))])
    return cases, picks


def test_finds_the_weights_that_chose():
    found = fit(["a", "b", "c"], *choices(3000), ridge=0.0)
    assert found.values == pytest.approx(TRUE, abs=0.12)
    assert found.cases == 3000


def test_several_acceptable_options_count_together():
    rng = np.random.default_rng(2)
    cases = [rng.normal(size=(4, 1)) for _ in range(400)]
    acceptable = [np.argsort(-c[:, 0])[:2].tolist() for c in cases]
    assert fit(["x"], cases, acceptable).values[0] > 1
    assert fit(["x"], [*cases, cases[0]], [*acceptable, []]).cases == 400


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 100), st.integers(0, 1000))
def test_the_scale_of_a_feature_does_not_matter(scale, seed):
    cases, picks = choices(60, seed)
    once = fit(["a", "b", "c"], cases, picks)
    again = fit(["a", "b", "c"], [c * [scale, 1, 1] for c in cases], picks)
    for x in cases[:10]:
        assert again.utility(x * [scale, 1, 1]) == pytest.approx(once.utility(x), abs=0.02)


def test_a_perfect_feature_keeps_a_finite_weight():
    cases = [np.array([[1.0], [0.0]])] * 20
    assert 0 < fit(["x"], cases, [[0]] * 20).values[0] < 50


def test_a_score_need_not_count_against_an_option():
    found = fit(["a", "b", "c"], *choices(800), nonnegative=True)
    assert found.values[0] > 1 and found.values[1] == 0


def test_fusing_scorers():
    options = [Option("a", "bring the cola"), Option("b", "put the cola in the drawer")]
    weights = Weights(("overlap", "verb"), (1.0, 2.0))
    fusion = Fusion([Words("overlap"), Words("verb")], weights)
    scores = fusion.score(Context("", "bring me the cola"), options)
    assert [s.value for s in scores] == pytest.approx([3.0, 1 / 3])
    asked = []
    counted = Words("verb")
    counted.score = lambda context, options: asked.append(1)
    silent = Fusion([Words("overlap"), counted], Weights(("overlap", "verb"), (1.0, 0.0)))
    assert [s.value for s in silent.score(Context("", "bring me the cola"), options)] == pytest.approx([1.0, 1 / 3])
    assert not asked
    other = Fusion([Words("overlap"), Words("verb")], Weights(("overlap", "verb"), (1.0, 2.5)))
    assert other.score(Context("", "x"), options)[0].provenance != scores[0].provenance
    with pytest.raises(ConfigError, match="another scorer"):
        Fusion([Words("verb"), Words("overlap")], weights).score(Context("", "x"), options)
    with pytest.raises(ConfigError, match="1 scorers"):
        Fusion([Words("verb")], weights)


def test_files(tmp_path):
    weights = Weights(("a", "b"), (0.5, -1.25), 40)
    path = weights.save(tmp_path / "w.json")
    assert Weights.load(path) == weights
    for body in ("{", "[]", json.dumps({"names": ["a"], "values": [1, 2], "cases": 3}), json.dumps({"names": []})):
        path.write_text(body)
        with pytest.raises(ParseError):
            Weights.load(path)


def test_misuse():
    with pytest.raises(ConfigError, match="no scenario"):
        fit(["x"], [np.zeros((2, 1))], [[]])
    with pytest.raises(ConfigError, match="finite"):
        fit(["x"], [np.array([[np.nan], [0.0]])], [[0]])
    with pytest.raises(ConfigError, match="shape"):
        fit(["x", "y"], [np.zeros((2, 1))], [[0]])
