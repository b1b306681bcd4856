from __future__ import annotations

import math

import pytest

from handrail.decide.conformal import confidences
from handrail.domain.option import Option
from handrail.errors import ConfigError
from handrail.intent.scores import Context
from handrail.intent.scores.prompts import NOTHING_ASKED, continuation, spoken
from handrail.intent.scores.texts import Texts
from handrail.language.canned import Canned

HERE = Context("a cola and an apple", "I am thirsty.", ("open the fridge",))
OPTIONS = [Option("c", "bring the cola"), Option("a", "put the apple in the bowl of fruit")]


def likelihood(prompt, text):
    base = -2.0 * len(text.split())
    return base + (3.0 if "cola" in text and "thirsty" in prompt else 0.0)


@pytest.fixture
def model():
    return Canned(scores=likelihood)


def test_sum_mean_and_pmi(model):
    assert [s.value for s in Texts(model, "sum").score(HERE, OPTIONS)] == [-3.0, -16.0]
    assert [s.value for s in Texts(model, "mean").score(HERE, OPTIONS)] == [-1.0, -2.0]
    assert [s.value for s in Texts(model, "pmi", alpha=1.0).score(HERE, OPTIONS)] == [3.0, 0.0]
    assert [s.value for s in Texts(model, "pmi").score(HERE, OPTIONS)] == [-3.0 + 4.5, -16.0 + 12.0]


def test_whole_sentences_are_not_normalised(model):
    raw = Texts(model, "raw").score(HERE, OPTIONS)
    assert confidences(raw) == pytest.approx([math.exp(-3), math.exp(-16)])
    assert confidences(Texts(model, "fluency").score(HERE, OPTIONS)) == pytest.approx([math.exp(-1), math.exp(-2)])


def test_the_prompt_is_asked_once_for_all_options(model):
    Texts(model, "sum").score(HERE, OPTIONS)
    assert len(model.requests) == 1
    Texts(model, "pmi").score(HERE, OPTIONS)
    assert len(model.requests) == 3
    assert NOTHING_ASKED in model.requests[2].prompt and "thirsty" not in model.requests[2].prompt


def test_prompt():
    prompt = spoken(HERE)
    assert prompt.endswith("Person: I am thirsty.\nDone: open the fridge.\nRobot: I will")
    assert continuation("bring it") == " bring it.\n"


def test_provenance_tells_kinds_apart(model):
    made = {k: Texts(model, k).provenance for k in ("sum", "mean", "pmi", "raw", "fluency")}
    assert len(set(made.values())) == 5
    assert Texts(model, "pmi", 0.5).provenance.changes(made["pmi"]) == ["alpha was 0.5 and is 0.75 now"]


def test_misuse(model):
    with pytest.raises(ConfigError, match="valid"):
        Texts(model, "best")
    with pytest.raises(ConfigError, match="alpha"):
        Texts(model, alpha=1.5)
