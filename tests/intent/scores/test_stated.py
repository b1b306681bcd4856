from __future__ import annotations

import math

import pytest

from handrail.decide.conformal import confidences
from handrail.domain.option import Option, Score, not_listed
from handrail.errors import ConfigError
from handrail.intent.scores import Context
from handrail.intent.scores.affordance import Affordance, useful_and_possible
from handrail.intent.scores.answers import stated_percentages
from handrail.intent.scores.stated import Sampling, Verbalised
from handrail.language.canned import Canned

HERE = Context("a cola", "Bring it.")
OPTIONS = [Option("a", "x"), Option("b", "y"), not_listed()]


def test_sampling_counts_answers_that_name_one_option():
    model = Canned(["B", "B)", "A", "A or B", "well", "B"])
    scores = Sampling(model, samples=6).score(HERE, OPTIONS)
    assert [s.value for s in scores] == pytest.approx([1 / 6, 3 / 6, 0])
    assert confidences(scores) == pytest.approx([0.25, 0.75, 0])
    assert [r.seed for r in model.requests] == [0, 1, 2, 3, 4, 5]
    assert all(r.temperature == 1.0 for r in model.requests)


def test_sampling_without_a_usable_answer_asks():
    scores = Sampling(Canned(["hm"] * 3), samples=3).score(HERE, OPTIONS)
    assert all(math.isnan(p) for p in confidences(scores))
    for bad in ({"samples": 1}, {"temperature": 0}):
        with pytest.raises(ConfigError):
            Sampling(Canned(), **bad)


def test_percentages():
    assert stated_percentages("A: 70%\n(B) - 20 %\nC = 10", "ABC") == pytest.approx([0.7, 0.2, 0.1])
    found = stated_percentages("A: 70%\nA: 60%\nB: 120", "ABC")
    assert all(math.isnan(v) for v in found)
    assert stated_percentages("a: 50", "A") == [0.5]


def test_verbalised():
    scores = Verbalised(Canned(["A: 60%\nB: 30%\nC: 30%"])).score(HERE, OPTIONS)
    assert confidences(scores) == pytest.approx([0.5, 0.25, 0.25])
    assert all(math.isnan(p) for p in confidences(Verbalised(Canned(["A: 60%"])).score(HERE, OPTIONS)))


def test_affordance():
    assert Affordance(False, 9, 9, 1.0).probability == 0.0
    assert Affordance(True).probability == 1.0
    assert Affordance(True, 8, 10).probability == pytest.approx(0.75)
    assert Affordance(True, 8, 10, 0.5).probability == pytest.approx(0.375)
    for bad in ({"succeeded": 2, "tried": 1}, {"dry_run": 1.2}):
        with pytest.raises(ConfigError):
            Affordance(True, **bad)


def test_impossible_is_masked_however_useful():
    scores = [Score(5.0, "sum"), Score(1.0, "sum"), Score(1.0, "sum")]
    out = useful_and_possible(scores, [Affordance(False), Affordance(True), Affordance(True, dry_run=0.5)])
    assert out[0].value == -math.inf
    assert out[2].value == pytest.approx(1 + math.log(0.5))
    assert confidences(out) == pytest.approx([0, 2 / 3, 1 / 3])
    assert out[0].kind == "sum x affordance"
    with pytest.raises(ConfigError):
        useful_and_possible(scores, [Affordance(True)])
    with pytest.raises(ConfigError):
        useful_and_possible([Score(0.5, "x", "probability")], [Affordance(True)])
