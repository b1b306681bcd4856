"""Persons: who answers questions and approves plans.

A person may be at the terminal, behind the control channel of the run (another terminal, the review page), a function of the
program, or a stated policy. No answer is an answer of its own kind: None.
"""

from __future__ import annotations

import select
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from handrail.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from handrail.execute.card import Card


class Kind(StrEnum):
    """What a question is about."""

    GOAL = "goal"
    """Which of several readings of the request is meant."""
    FACT = "fact"
    """A fact that nobody has seen."""
    OUTCOME = "outcome"
    """Whether a step that must not be repeated blindly has had its effect."""
    STEP = "step"
    """A step of the plan that is itself a question to a person."""
    ESCALATION = "escalation"
    """handrail has come to the end of what it may try by itself."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something asked of a person.

    Attributes:
        id: unique within a run.
        kind: what it is about.
        sentence: what a person reads.
        choices: the answers that are understood, in order; empty for free text.
        background: what was tried and seen, for whoever wants to know more.
    """

    id: str
    kind: Kind
    sentence: str
    choices: tuple[str, ...] = ()
    background: str = ""

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "id": self.id,
            "kind": str(self.kind),
            "sentence": self.sentence,
            "choices": list(self.choices),
            "background": self.background,
        }

    def choice(self, text: str) -> int | None:
        """Which choice a text means: its number from 1, the choice itself, or an unambiguous beginning of it; None otherwise."""
        said = text.strip().casefold()
        if said.isdigit() and 1 <= int(said) <= len(self.choices):
            return int(said) - 1
        plain = [c.casefold() for c in self.choices]
        if said in plain:
            return plain.index(said)
        begun = [i for i, c in enumerate(plain) if said and c.startswith(said)]
        return begun[0] if len(begun) == 1 else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said.

    Attributes:
        text: in their words.
        choice: index of the choice meant; None for free text.
        by: who.
    """

    text: str
    choice: int | None = None
    by: str = "person"

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {"text": self.text, "choice": self.choice, "by": self.by}


@dataclass(frozen=True, slots=True)
class Reply:
    """Yes or no to a card.

    Attributes:
        approved: whether the plan may be carried out.
        by: who said so.
        words: what they added, such as why not.
    """

    approved: bool
    by: str = "person"
    words: str = ""


class Deadline:
    """Until when somebody is waited for; may be called off from any thread.

    Args:
        seconds: from now; None for as long as it takes.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self._off = threading.Event()

    def left(self, at_most: float = 3600.0) -> float:
        """Seconds left, at most so many."""
        return at_most if self._until is None else max(0.0, min(at_most, self._until - time.monotonic()))

    @property
    def over(self) -> bool:
        """Whether it has passed or was called off."""
        return self._off.is_set() or (self._until is not None and time.monotonic() >= self._until)

    def call_off(self) -> None:
        """End the wait: the answer came from elsewhere, or isn't wanted any more."""
        self._off.set()

    def wait(self, seconds: float) -> bool:
        """Sleep for so long at most; whether it is over."""
        self._off.wait(self.left(seconds))
        return self.over


class Person(Protocol):
    """Somebody who can be asked. Both calls may block until the deadline is over and are made from a worker thread."""

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """The answer, or None for no answer in time."""

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:
        """Yes or no to what the card shows, or None for no answer in time."""


class Nobody:
    """A person who is not there."""

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:  # noqa: ARG002 - one shape for all
        """No answer."""
        return None

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - one shape for all
        """No answer."""
        return None


@dataclass
class Callback:
    """A person behind functions of the program.

    Attributes:
        on_question: gives the answer's text, or None.
        on_card: gives True, False or None.
        name: who that is, for the record.
    """

    on_question: Callable[[Question], str | None] = lambda _: None
    on_card: Callable[[Card], bool | None] = lambda _: None
    name: str = "callback"

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:  # noqa: ARG002 - one shape for all
        """What the function says."""
        said = self.on_question(question)
        return None if said is None else Answer(said, question.choice(said), self.name)

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - one shape for all
        """What the function says."""
        said = self.on_card(card)
        return None if said is None else Reply(said, self.name)


APPROVE = "approve"
"""What a policy calls the approval of plans."""


@dataclass
class Scripted:
    """A stated policy: which kinds it says yes to, and what it answers. It does nothing in secret: `say` shows each answer.

    Attributes:
        yes: "approve", "approve-real" (plans for a world where real things move) or kinds of question, which get their first choice.
        answers: text for questions that hold a phrase (lower case), tried first, in order.
        say: shows what was asked and answered.
        name: for the record.

    Raises:
        ConfigError: an unknown kind in `yes`.
    """

    yes: frozenset[str] = frozenset({APPROVE})
    answers: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = lambda _: None
    name: str = "scripted person"

    def __post_init__(self) -> None:
        valid = {APPROVE, f"{APPROVE}-real", *Kind}
        for kind in self.yes:
            if kind not in valid:
                raise ConfigError(f"--yes knows no kind '{kind}'.{did_you_mean(kind, valid)}")

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:  # noqa: ARG002 - one shape for all
        """The scripted answer, or None where the script has none."""
        text = next((a for phrase, a in self.answers.items() if phrase in question.sentence.casefold()), None)
        if text is None and question.kind in self.yes and question.choices:
            text = question.choices[0]
        if text is not None:
            self.say(f"{question.sentence}  [{self.name}: {text}]")
            return Answer(text, question.choice(text), self.name)
        return None

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - one shape for all
        """Yes where the policy says so, no answer otherwise."""
        wanted = f"{APPROVE}-real" if card.real else APPROVE
        if wanted not in self.yes:
            return None
        self.say(f"Approve?  [{self.name}: yes]")
        return Reply(True, self.name)


class Terminal:
    """A person at the terminal.

    Args:
        source: where answers are typed.
        say: shows text.
        name: for the record.
    """

    def __init__(
        self, source: TextIO | None = None, say: Callable[[str], None] | None = None, name: str = "terminal"
    ) -> None:
        self._source = source or sys.stdin
        self._say = say or (lambda text: print(text, flush=True))  # noqa: T201 - a terminal is for printing
        self.name = name

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """Ask, read a line, ask again where it is none of the choices."""
        self._say(question.sentence)
        for i, choice in enumerate(question.choices, 1):
            self._say(f"  {i}  {choice}")
        while (line := self._line(deadline)) is not None:
            text = line.strip()
            if not text:
                continue
            found = question.choice(text)
            if question.choices and found is None:
                self._say(f"Please type a number from 1 to {len(question.choices)}, or the words themselves.")
                continue
            return Answer(text if found is None else question.choices[found], found, self.name)
        return None

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - shown by the card
        """Show the card, read yes or no."""
        self._say(card.text)
        self._say("Approve? (yes / no, and why not)")
        while (line := self._line(deadline)) is not None:
            word, _, rest = line.strip().partition(" ")
            if word.casefold() in ("y", "yes"):
                return Reply(True, self.name, rest)
            if word.casefold() in ("n", "no"):
                return Reply(False, self.name, rest)
            self._say("Please type yes or no.")
        return None

    def _line(self, deadline: Deadline) -> str | None:
        """A line, or None at the end of the input or of the time."""
        try:
            handle = self._source.fileno()
        except (OSError, ValueError, AttributeError):
            return self._source.readline() or None  # not a real file: reading it does not block
        while not deadline.over:
            ready, _, _ = select.select([handle], [], [], min(0.2, deadline.left(0.2)))
            if ready:
                return self._source.readline() or None
        return None


_Said = TypeVar("_Said", Answer, Reply)


class AnyOf:
    """Several persons asked at the same time; the first who answers counts, and the others are called off."""

    def __init__(self, *persons: Person) -> None:
        self.persons = persons

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """The first answer."""
        return self._first(lambda p, d: p.answer(question, d), deadline)

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:
        """The first yes or no."""
        return self._first(lambda p, d: p.approve(card, proof_id, d), deadline)

    def _first(self, ask: Callable[[Person, Deadline], _Said | None], deadline: Deadline) -> _Said | None:
        found: list[_Said] = []
        change = threading.Condition()
        asked = [Deadline(deadline.left() if deadline.left() < 3600.0 else None) for _ in self.persons]
        left = len(self.persons)

        def one(person: Person, mine: Deadline) -> None:
            nonlocal left
            said = None
            try:
                said = ask(person, mine)
            finally:
                with change:
                    left -= 1
                    if said is not None:
                        found.append(said)
                    change.notify_all()

        for person, mine in zip(self.persons, asked, strict=True):
            threading.Thread(target=one, args=(person, mine), name="handrail-person", daemon=True).start()
        with change:
            while not found and left and not deadline.over:
                change.wait(0.05)
            answer = found[0] if found else None
        for mine in asked:
            mine.call_off()
        return answer
