from __future__ import annotations

import pytest

from handrail.domain.option import Option, not_listed
from handrail.errors import ConfigError
from handrail.intent.scores import Context
from handrail.intent.scores.words import Unexplained, Words, explained, family, overlap, stem, verb_fits


def test_overlap():
    assert overlap("Bring me the metal bowls!", "bring the metal bowl to you") == 1.0
    assert overlap("Bring me the apple", "put the cola in the drawer") == 0.0
    assert overlap("", "") == 0.0
    assert stem("chips") == stem("chip") and stem("glass") == "glass"


@pytest.mark.parametrize(
    ("request_", "option", "fits"),
    [
        ("I'm thirsty", "bring the cola to you", 1.0),
        ("Can you dispose of it?", "put the cola in the recycling bin", 1.0),
        ("Can you dispose of it?", "bring the cola to you", 0.0),
        ("Put the cola in the drawer", "put the cola in the top drawer", 1.0),
        ("Put the cola away", "put the cola in the top drawer", 0.9),
        ("Open the drawer", "open the drawer", 1.0),
        ("Open the drawer", "put the cola in the drawer", 0.0),
        ("Bring me the cola", "pick up the cola", 0.75),
        ("Turn the stove on", "switch on the stove", 1.0),
        ("Bring me something to clean with", "hand the sponge to alex", 1.0),
    ],
)
def test_verbs(request_, option, fits):
    assert verb_fits(request_, option) == fits


def test_family():
    assert family("Shut the fridge", 0) == "close" and family("nothing of the kind", 0) == ""


def test_facts():
    facts = {"cola": ("drinkable", "can of cola", "metal")}
    words = Words("facts", facts)
    cola = Option("c", "bring the cola", attributes=(("object", "cola"),))
    assert words.number(Context("", "The metal can"), cola) == 1.0
    assert words.number(Context("", "The metal can"), Option("b", "bring the book")) == 0.0
    assert explained("", "x", ()) == 0.0
    assert explained("I am thirsty", "hand it over", ("drinkable",)) == explained("drinkable am", "x", ("drinkable",))
    assert words.provenance == Words("facts", {"cola": ("paper",)}).provenance != Words("verb").provenance


def test_not_listed():
    for kind in ("overlap", "verb", "facts"):
        assert Words(kind).number(Context("", "an option not listed here"), not_listed()) == 0.0
    scores = Words("other").score(Context("", "x"), [Option("a", "x"), not_listed()])
    assert [s.value for s in scores] == [0.0, 1.0]
    with pytest.raises(ConfigError):
        Words("guess")


def test_what_nothing_explains_speaks_for_something_else():
    options = [Option("a", "pick up the milk"), Option("b", "hand the milk to alex"), not_listed()]
    unexplained = Unexplained()
    warm, pick = (unexplained.score(Context("", r), options) for r in ("Warm the milk", "Pick up the milk"))
    assert [s.value for s in warm[:2]] == [0.0, 0.0] and warm[2].value == 0.5
    assert pick[2].value == 0.0
    assert unexplained.score(Context("", "x"), [not_listed()])[0].value == 1.0
