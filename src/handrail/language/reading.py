"""From a model's raw answer to the one thing it says, or to the line and column where that is not clear.

    answer text ─▶ set aside thinking and chat tokens ─▶ find candidates (code blocks, else the prose) ─▶ the only one

Nothing is dropped in silence: a `Reading` carries a note for whatever was tolerated or left aside, and two different
candidates are refused rather than chosen between.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from handrail.errors import ParseError, Where
from handrail.language.inert import CHAT_TOKEN
from handrail.language.nodes import Node, Plain, Scalar, plain, same
from handrail.language.parser import Habit, Note, Parser, Places, Unreadable

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 64
_WORK = 8  # characters read in all, per character of text, before a text counts as too tangled
_MAX_CANDIDATES = 64
_MAX_FENCES = 4

_LONGEST_TOKEN = 48
_FENCE = re.compile(r"```[ \t]*([A-Za-z0-9_+.\-]*)")
_START = re.compile(r"[{\[]")
_CLOSING = re.compile(r"[}\]]")
_THOUGHT = "</think>"

Fits = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says.

    Attributes:
        node: the value, with its places and repeated keys.
        notes: what was tolerated or left aside, in the order of first occurrence.
        source: a name for messages, such as 'answer of llama3'.
    """

    node: Node
    notes: tuple[Note, ...] = ()
    source: str = ""

    @property
    def unclosed(self) -> bool:
        """Whether the text ended before all brackets were closed: it may have been cut between two elements."""
        return any(note.habit == "unclosed" for note in self.notes)

    def plain(self) -> Plain:
        """The value as ordinary Python values.

        Raises:
            ParseError: an object repeats a key.
        """
        return plain(self.node, self.source)

    def error(self, node: Node, message: str) -> ParseError:
        """A `ParseError` at the place of one of this reading's nodes."""
        return ParseError(message, Where(self.source, node.line, node.column))


class _Notes:
    """Notes by habit, so that a long text can't make a long list."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.found: dict[Habit, Note] = {}

    def __call__(self, habit: Habit, at: int, text: str = "") -> None:
        known = self.found.get(habit)
        if known:
            self.found[habit] = Note(habit, known.line, known.column, known.count + 1, known.text or text)
        else:
            self.found[habit] = Note(habit, *self.places(at), 1, text)

    def add(self, other: _Notes) -> None:
        for note in other.found.values():
            known = self.found.get(note.habit)
            if known:
                note = Note(note.habit, known.line, known.column, known.count + note.count, known.text or note.text)
            self.found[note.habit] = note


@dataclass(slots=True)
class _Candidate:
    node: Node
    start: int
    end: int
    fenced: bool
    notes: _Notes


def read(text: str, *, source: str = "", fits: Fits | None = None) -> Reading:
    """The one object or list that a model's answer contains.

    Args:
        text: the answer as it came.
        source: a name for messages.
        fits: tells which of several values is the kind that is looked for (a plan, say). Values that don't fit are
            noted and left aside when exactly one fits; when nothing fits, the only value there is is returned, so
            that the caller can say what is wrong with it.

    Returns:
        The value with notes on all that was tolerated.

    Raises:
        ParseError: empty or too long, nothing there, unreadable, cut off inside an element, or two different values;
            with line and column.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"the answer has {len(text)} characters; at most {MAX_CHARACTERS} are read"
        raise ParseError(message, Where(source, 1, 1))
    return _Reader(text, source, fits).read()


class _Reader:
    def __init__(self, text: str, source: str, fits: Fits | None) -> None:
        self.text, self.source, self.fits = text, source, fits
        self.places = Places(text)
        self.notes = _Notes(self.places)
        self.candidates: list[_Candidate] = []
        self.failures: list[tuple[int, Unreadable]] = []
        self.work = _WORK * len(text) + 10_000

    def read(self) -> Reading:
        start, end = self._frame()
        if start >= end:
            raise self._error(0, "the answer is empty" if not self.text.strip() else "the answer holds no JSON")
        if self.text[start] in "{[":
            at = self._try(start, end, fenced=False)
            if at is not None and at < end:
                self._search(at, end)
        else:
            self._search(start, end)
        return self._choose(start, end)

    def _frame(self) -> tuple[int, int]:
        """Start and end of what counts, without thinking, white space and chat tokens around it."""
        start = 0
        thought = self.text.rfind(_THOUGHT)
        if thought >= 0 and self.text.lstrip()[:1] not in "{[":
            self.notes("thinking", 0, _short(self.text[:thought]))
            start = thought + len(_THOUGHT)
        end = self._tail(start)
        if self.text[end:].strip():
            self.notes("chat token", end, _short(self.text[end:].strip()))
        while start < end and (self.text[start].isspace() or self.text[start] == "\ufeff"):
            start += 1
        head = CHAT_TOKEN.match(self.text, start, end)
        while head:
            self.notes("chat token", start, head.group())
            start = head.end()
            while start < end and self.text[start].isspace():
                start += 1
            head = CHAT_TOKEN.match(self.text, start, end)
        return start, end

    def _tail(self, start: int) -> int:
        """Where the white space and chat tokens at the very end begin."""
        end = len(self.text)
        while True:
            while end > start and self.text[end - 1].isspace():
                end -= 1
            tokens = list(CHAT_TOKEN.finditer(self.text, max(start, end - _LONGEST_TOKEN), end))
            if not tokens or tokens[-1].end() != end:
                return end
            end = tokens[-1].start()

    def _search(self, at: int, end: int) -> None:
        """Values in prose and in code blocks, in order.

        A failure after real JSON ends the search up to the next code block: what follows may be its inside.
        """
        start, fence = _START.search(self.text, at, end), _FENCE.search(self.text, at, end)
        while at < end:
            if start and start.start() < at:  # searched again only when passed: a search may go far
                start = _START.search(self.text, at, end)
            if fence and fence.start() < at:
                fence = _FENCE.search(self.text, at, end)
            if fence and (not start or fence.start() < start.start()):
                at = self._block(fence, end)
            elif start:
                after = self._try(start.start(), end, fenced=False)
                if after is not None:
                    at = after
                elif not self.failures[-1][1].serious:
                    at = start.start() + 1
                else:
                    at = fence.start() if fence else end
            else:
                return

    def _block(self, fence: re.Match[str], end: int) -> int:
        """A code block: the values in it; the offset where it ends."""
        self.notes("code fence", fence.start(), "" if self.text.find("```", fence.end(), end) >= 0 else "not closed")
        at = fence.end()
        for _ in range(_MAX_FENCES):
            closing = self.text.find("```", at, end)
            stop = end if closing < 0 else closing
            if self._inside(fence.end(), stop) or closing < 0:
                break
            at = closing + 3  # the block was cut inside a text: these backticks may belong to it
        return end if closing < 0 else closing + 3

    def _inside(self, at: int, stop: int) -> bool:
        """Read the values of a block that ends at `stop`; False when `stop` cuts a text in two."""
        before = len(self.candidates)
        while True:
            start = _START.search(self.text, at, stop)
            if not start:
                return True
            after = self._try(start.start(), stop, fenced=True)
            if after is None:
                failure = self.failures[-1][1]
                if failure.cut_text and stop < len(self.text):
                    self.failures.pop()
                    del self.candidates[before:]
                    return False
                if failure.serious:
                    return True
                after = start.start() + 1
            at = after

    def _try(self, start: int, end: int, *, fenced: bool) -> int | None:
        """Read a value at `start`; its end, or None after noting the failure."""
        if len(self.candidates) >= _MAX_CANDIDATES:
            raise self._error(start, f"more than {_MAX_CANDIDATES} JSON values in one answer")
        notes = _Notes(self.places)
        parser = Parser(self.text, end, self.places, notes, MAX_DEPTH)
        try:
            node, after = parser.value(start)
        except Unreadable as stop:
            self.failures.append((start, stop))
            self._spend(start, stop.offset)
            return None
        self._spend(start, after)
        self.candidates.append(_Candidate(node, start, after, fenced, notes))
        return after

    def _spend(self, start: int, after: int) -> None:
        self.work -= after - start + 1
        if self.work < 0:
            raise self._error(start, "too many opening brackets that lead nowhere; no value can be made out")

    def _choose(self, start: int, end: int) -> Reading:
        pool = self.candidates
        if self.fits is not None:
            pool = [c for c in pool if self.fits(c.node)] or pool
        if any(c.fenced for c in pool) and self.fits is None:
            pool = [c for c in pool if c.fenced]
        if not pool:
            raise self._nothing(start, end)
        chosen = pool[0]
        for other in pool[1:]:
            if not same(chosen.node, other.node):
                line, column = self.places(chosen.start)
                raise self._error(
                    other.start,
                    f"a second, different value (the first is at line {line}, column {column}); give exactly one",
                )
        self._note_rest(chosen, start, end)
        return Reading(chosen.node, tuple(self.notes.found.values()), self.source)

    def _note_rest(self, chosen: _Candidate, start: int, end: int) -> None:
        self.notes.add(chosen.notes)
        for other in self.candidates:
            if other is not chosen:
                repeated = same(other.node, chosen.node)
                self.notes("repeated block" if repeated else "other value", other.start, _short(self._span(other)))
        for at, failure in self.failures:
            if failure.serious:
                line, column = self.places(failure.offset)
                self.notes("unreadable block", at, f"line {line}, column {column}: {failure.message}")
        covered = sorted((c.start, c.end) for c in self.candidates)
        at = start
        for left, right in [*covered, (end, end)]:
            rest = _FENCE.sub("", self.text[at:left]).strip() if left > at else ""
            if rest:
                self.notes("other text", at, _short(rest))
            at = max(at, right)

    def _nothing(self, start: int, end: int) -> ParseError:
        if self.failures:
            serious = [f for f in self.failures if f[1].serious]
            _, worst = max(serious or self.failures, key=lambda f: f[1].offset - f[0])
            return self._error(worst.offset, worst.message)
        closing = _CLOSING.search(self.text, start, end)
        if closing:
            message = f"'{closing.group()}' closes nothing: the answer's beginning is missing"
            return self._error(closing.start(), message)
        return self._error(start, f"no JSON in the answer, which reads: {_short(self.text[start:end])!r}")

    def _span(self, candidate: _Candidate) -> str:
        return self.text[candidate.start : candidate.end]

    def _error(self, offset: int, message: str) -> ParseError:
        return ParseError(message, Where(self.source, *self.places(offset)))


def _short(text: str, length: int = 80) -> str:
    text = " ".join(text[: 4 * length].split())
    return text if len(text) <= length else text[: length - 1] + "\u2026"


def is_empty(node: Node) -> bool:
    """Whether a value says nothing at all: `{}`, `[]`, `""` or null."""
    if isinstance(node, Scalar):
        return node.value is None or node.value == ""
    return len(node) == 0
