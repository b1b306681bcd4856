from __future__ import annotations

import io
import os
import threading
import time
from dataclasses import dataclass

import pytest

from handrail.errors import ConfigError
from handrail.execute.person import Answer, AnyOf, Callback, Deadline, Kind, Nobody, Question, Scripted, Terminal

Q = Question("e1", Kind.FACT, "I can't see on(mug). What is it?", ("shelf", "store", "I don't know"))


@dataclass
class Card:
    text: str = "Goal: the mug on the shelf"
    real: bool = False


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("1", 0),
        ("shelf", 0),
        ("SHELF ", 0),
        ("sto", 1),
        ("i don", 2),
        ("s", None),
        ("4", None),
        ("0", None),
        ("", None),
    ],
)
def test_what_counts_as_a_choice(said, choice):
    assert Q.choice(said) == choice


def test_a_terminal_asks_until_it_understands():
    shown: list[str] = []
    person = Terminal(io.StringIO("what?\n\n2\n"), shown.append)
    assert person.answer(Q, Deadline()) == Answer("store", 1, "terminal")
    assert shown[0] == Q.sentence and any("number from 1 to 3" in s for s in shown)
    assert Terminal(io.StringIO(""), shown.append).answer(Q, Deadline()) is None


@pytest.mark.parametrize(
    ("typed", "approved", "words"), [("y\n", True, ""), ("maybe\nno too fast\n", False, "too fast")]
)
def test_a_terminal_approves_in_words(typed, approved, words):
    shown: list[str] = []
    reply = Terminal(io.StringIO(typed), shown.append).approve(Card(), "p", Deadline())
    assert (reply.approved, reply.words) == (approved, words) and shown[0] == Card().text


def test_a_terminal_where_nobody_types_gives_up():
    r, w = os.pipe()
    with os.fdopen(r) as source:
        began = time.monotonic()
        assert Terminal(source, lambda _: None).answer(Q, Deadline(0.1)) is None
        assert time.monotonic() - began < 5
        deadline = Deadline()
        threading.Timer(0.05, deadline.call_off).start()
        assert Terminal(source, lambda _: None).answer(Q, deadline) is None
    os.close(w)


def test_a_policy_says_yes_only_to_what_it_names_and_shows_it():
    said: list[str] = []
    person = Scripted(yes=frozenset({"fact"}), say=said.append)
    assert person.answer(Q, Deadline()).choice == 0
    assert person.answer(Question("e2", Kind.OUTCOME, "Has it?", ("it has", "no")), Deadline()) is None
    assert person.approve(Card(), "p", Deadline()) is None
    assert said and "scripted person: shelf" in said[0]


def test_a_policy_for_simulations_does_not_approve_for_real():
    assert Scripted().approve(Card(), "p", Deadline()).approved
    assert Scripted().approve(Card(real=True), "p", Deadline()) is None
    assert Scripted(yes=frozenset({"approve-real"})).approve(Card(real=True), "p", Deadline()).approved


def test_scripted_answers_go_by_what_is_asked():
    person = Scripted(yes=frozenset(), answers={"cola or the water": "the water", "on(mug)": "store"})
    assert person.answer(Q, Deadline()) == Answer("store", 1, "scripted person")
    free = Question("e3", Kind.GOAL, "Do you mean the cola or the water?")
    assert person.answer(free, Deadline()) == Answer("the water", None, "scripted person")


def test_an_unknown_policy_is_refused():
    with pytest.raises(ConfigError, match="aprove"):
        Scripted(yes=frozenset({"aprove"}))


def test_the_first_answer_counts_and_the_others_are_called_off():
    called_off = threading.Event()

    class Patient(Nobody):
        def answer(self, question, deadline):
            while not deadline.wait(1.0):
                pass
            called_off.set()
            return

    person = AnyOf(Patient(), Nobody(), Callback(lambda q: "shelf"))
    assert person.answer(Q, Deadline()).text == "shelf"
    assert called_off.wait(5)
    assert AnyOf(Nobody(), Nobody()).answer(Q, Deadline()) is None
    assert AnyOf(Patient()).answer(Q, Deadline(0.05)) is None
