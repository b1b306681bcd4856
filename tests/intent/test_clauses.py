"""Requests are cut into clauses, in order, with what must not happen apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.intent.clauses import MAX_WORDS, Clause, clauses
from handrail.intent.verbs import VERBS, families_of, family_of, throws_away


def texts(request: str) -> list[tuple[str, int]]:
    return [(c.text, c.stage) for c in clauses(request, VERBS)]


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        ("Bring me the apple.", [("bring me the apple", 0)]),
        ("Could you please bring me the apple?", [("bring me the apple", 0)]),
        ("Robot, I'd like you to open the fridge, please!", [("open the fridge", 0)]),
        ("Put the milk away, then bring me the cola", [("put the milk away", 0), ("bring me the cola", 1)]),
        ("First wipe the table. Then bring Alex the cola!", [("wipe the table", 0), ("bring alex the cola", 1)]),
        ("Open the fridge before you take the cola", [("open the fridge", 0), ("take the cola", 1)]),
        ("Wipe the table; go to the sink", [("wipe the table", 0), ("go to the sink", 1)]),
        ("Bring me the apple and the water", [("bring me the apple", 0), ("bring me the water", 0)]),
        ("Take the milk and put it in the fridge", [("take the milk", 0), ("put the milk in the fridge", 0)]),
        ("Pour some water into the mug and bring it to me", [("pour some water into the mug", 0), ("bring the mug to me", 0)]),
        ("Put the milk into the fridge and shut it", [("put the milk into the fridge", 0), ("shut the fridge", 0)]),
        ("Put the apple and the book on the table", [("put the apple on the table", 0), ("put the book on the table", 0)]),
        ("Put the apple, the book and the mug on the table",
         [("put the apple on the table", 0), ("put the book on the table", 0), ("put the mug on the table", 0)]),
    ],
)  # fmt: skip
def test_cuts(request_: str, parts: list[tuple[str, int]]) -> None:
    assert texts(request_) == parts
    assert not any(c.negative or c.question for c in clauses(request_, VERBS))


@pytest.mark.parametrize(
    ("request_", "forbidden"),
    [
        ("Don't open the fridge", "open the fridge"),
        ("Please never open the fridge.", "open the fridge"),
        ("You must not open the fridge", "open the fridge"),
        ("Bring me the cola without opening the drawer", "open the drawer"),
        ("Bring me the cola but don't open the drawer", "open the drawer"),
        ("Bring me the cola without taking the mug", "take the mug"),
        ("Bring me the cola without putting the mug down", "put the mug down"),
    ],
)
def test_what_must_not_happen_is_never_asked_for(request_: str, forbidden: str) -> None:
    found = clauses(request_, VERBS)
    assert [c.text for c in found if c.negative] == [forbidden]
    assert all(forbidden not in c.text for c in found if not c.negative)


@pytest.mark.parametrize("request_", ["Where is the mug?", "What can you do?", "Is the fridge open?", "How are you?"])
def test_questions_are_told(request_: str) -> None:
    assert all(c.question for c in clauses(request_, VERBS))


def test_a_long_speech_is_not_cut() -> None:
    assert len(clauses("then " * (MAX_WORDS + 1), VERBS)) == 1


@given(st.text(max_size=300))
def test_any_text_gives_clauses(text: str) -> None:
    found = clauses(text, VERBS)
    assert found and all(isinstance(c, Clause) for c in found)
    assert [c.stage for c in found] == sorted(c.stage for c in found)
    assert clauses(text, VERBS) == found


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("put the mug on the table", "put"),
        ("turn the radio on", "switch on"),
        ("turn off the stove", "switch off"),
        ("pick up the mug", "take"),
        ("hand over the mug", "give"),
        ("make it so that the mug is hot", "make hot"),
        ("juggle the mugs", "juggle"),
    ],
)
def test_families(text: str, family: str) -> None:
    assert family_of(text) == family


@pytest.mark.parametrize(
    ("clause", "place", "person", "first"),
    [
        ("bring me the apple", False, True, "give"),
        ("bring the apple to the table", True, False, "put"),
        ("take the apple", False, False, "take"),
        ("take me the apple", False, True, "give"),
        ("take the apple to the sink", True, False, "put"),
        ("i'm thirsty", False, False, "give"),
        ("something to drink", False, False, "give"),
        ("the plate belongs in the sink", True, False, "put"),
        ("swap the apple and the plate", False, False, "swap"),
        ("move over there", False, False, "put"),
    ],
)
def test_what_a_verb_asks_for(clause: str, place: bool, person: bool, first: str) -> None:
    weights = families_of(clause, place=place, person=person)
    assert max(weights, key=lambda f: weights[f]) == first
    assert all(0 < w <= 1 for w in weights.values())


def test_getting_rid_names_the_bin() -> None:
    assert throws_away("throw the apple away") and throws_away("get rid of it")
    assert not throws_away("put the apple away")
