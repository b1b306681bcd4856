"""A JSON parser for what models write: strict about meaning, tolerant of spelling.

It reads JSON (RFC 8259) and the unambiguous habits of models: Python quotes and literals, bare keys, trailing commas,
comments, tuples, closers missing at the very end. Every such habit is noted. Whatever could mean two things is refused
at its line and column. One pass, bounded depth, so the time is linear in the text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from handrail.language.nodes import Entry, Items, Node, Pairs, Scalar

Habit = Literal[
    "single quotes",
    "curly quotes",
    "python literal",
    "python escape",
    "markdown escape",
    "bare key",
    "tuple",
    "trailing comma",
    "comment",
    "line break in text",
    "unclosed",
    "code fence",
    "chat token",
    "thinking",
    "other text",
    "other value",
    "repeated block",
    "unreadable block",
]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was tolerated or left aside while reading, at its first place.

    Attributes:
        habit: what it was.
        line: counts from 1.
        column: counts from 1.
        count: how often it occurred.
        text: what was left aside, shortened, or why a block was unreadable.
    """

    habit: Habit
    line: int
    column: int
    count: int = 1
    text: str = ""


class Unreadable(Exception):  # noqa: N818 - internal signal, turned into a ParseError with its place by the reader
    """The text at `offset` can't be read.

    Attributes:
        offset: where.
        message: why.
        serious: real JSON had been read before it, so what follows may be its inside.
        cut_text: the text ended between quotes.
    """

    def __init__(self, offset: int, message: str, serious: bool, cut_text: bool = False) -> None:
        super().__init__(message)
        self.offset, self.message, self.serious, self.cut_text = offset, message, serious, cut_text


_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0\u2028\u2029\ufeff]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RUN = {
    '"': re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+'),
    "'": re.compile(r"[^'\\\x00-\x1f\ud800-\udfff]+"),
    "\u201d": re.compile("[^\u201d\\\\\\x00-\\x1f\\ud800-\\udfff]+"),
}
_CLOSER = {'"': '"', "'": "'", "\u201c": "\u201d"}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]+")
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_PYTHON: dict[str, bool | None] = {"True": True, "False": False, "None": None}
_MAX_DIGITS = 400


@dataclass(slots=True)
class Places:
    """Offsets of one text as lines and columns, both from 1."""

    text: str
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.starts = [0, *(m.end() for m in re.finditer("\n", self.text))]

    def __call__(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


class Parser:
    """Reads one value that starts at an offset; notes go to `note`."""

    def __init__(self, text: str, end: int, places: Places, note: Callable[[Habit, int], None], depth: int) -> None:
        self.text, self.end, self.places, self.note, self.depth = text, end, places, note, depth
        self.serious = False

    def value(self, at: int, depth: int = 0) -> tuple[Node, int]:
        """The value at `at` and the offset just after it.

        Raises:
            Unreadable: there is none, or it could mean two things.
        """
        char = self.text[at] if at < self.end else ""
        if char in "{[(" and char:
            if depth >= self.depth:
                raise self._stop(at, f"nested deeper than {self.depth} levels")
            return self._pairs(at, depth) if char == "{" else self._items(at, depth)
        if char in _CLOSER:
            text, after = self._string(at)
            return Scalar(text, *self.places(at)), after
        if char and (char == "-" or char.isdigit()):
            return self._number(at)
        word = _WORD.match(self.text, at, self.end)
        if word:
            return self._word(at, word.group(), word.end())
        raise self._stop(at, f"expected a value, found {self._shown(at)}")

    def _pairs(self, start: int, depth: int) -> tuple[Node, int]:
        entries: list[Entry] = []
        at = self._space(start + 1)
        while True:
            if at >= self.end:
                raise self._stop(at, f"cut off: {'a key was to follow' if entries else 'nothing follows'} the '{{'")
            if self.text[at] == "}":
                return Pairs(tuple(entries), *self.places(start)), at + 1
            key_at = at
            key, at = self._key(at)
            at = self._space(at)
            if at >= self.end:
                raise self._stop(at, f"cut off after the key {key!r}")
            if self.text[at] != ":":
                raise self._stop(at, f"expected ':' after the key {key!r}, found {self._shown(at)}")
            self.serious = True
            at = self._space(at + 1)
            if at >= self.end:
                raise self._stop(at, f"cut off: no value for the key {key!r}")
            node, at = self.value(at, depth + 1)
            entries.append(Entry(key, node, *self.places(key_at)))
            at, closed = self._next(at, "}", node)
            if closed:
                return Pairs(tuple(entries), *self.places(start)), at

    def _items(self, start: int, depth: int) -> tuple[Node, int]:
        closer = "]" if self.text[start] == "[" else ")"
        values: list[Node] = []
        at = self._space(start + 1)
        commas = 0
        while True:
            if at >= self.end:
                raise self._stop(at, f"cut off: {'more was to follow in' if values else 'nothing follows'} the list")
            if self.text[at] == closer:
                at += 1
                break
            node, at = self.value(at, depth + 1)
            values.append(node)
            if not isinstance(node, Scalar) or isinstance(node.value, str):
                self.serious = True
            before = at
            at, closed = self._next(at, closer, node)
            commas += "," in self.text[before:at]
            if closed:
                break
        if closer == ")":
            if len(values) == 1 and not commas:
                raise self._stop(start, "parentheses around a single value: write a list [...]")
            self.note("tuple", start)
        return Items(tuple(values), *self.places(start)), at

    def _next(self, at: int, closer: str, node: Node) -> tuple[int, bool]:
        """After an element: (offset, whether its container ended there)."""
        at = self._space(at)
        if at >= self.end:
            if isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
                raise self._stop(at, "cut off after a number, which may have had more digits")
            self.note("unclosed", at)
            return at, True
        char = self.text[at]
        if char == closer:
            return at + 1, True
        if char != ",":
            raise self._stop(at, f"expected ',' or '{closer}', found {self._shown(at)}")
        after = self._space(at + 1)
        if after < self.end and self.text[after] == closer:
            self.note("trailing comma", at)
            return after + 1, True
        return after, False

    def _key(self, at: int) -> tuple[str, int]:
        if self.text[at] in _CLOSER:
            return self._string(at)
        word = _WORD.match(self.text, at, self.end)
        if not word:
            raise self._stop(at, f"expected a key in quotes, found {self._shown(at)}")
        self.note("bare key", at)
        return word.group(), word.end()

    def _word(self, at: int, word: str, after: int) -> tuple[Node, int]:
        if word in _LITERALS:
            return Scalar(_LITERALS[word], *self.places(at)), after
        if word in _PYTHON:
            self.note("python literal", at)
            return Scalar(_PYTHON[word], *self.places(at)), after
        if word.lower() in ("nan", "infinity", "inf"):
            raise self._stop(at, f"{word} is not a number that can be used")
        raise self._stop(at, f"expected a value, found the bare word {word[:40]!r}; put text in double quotes")

    def _number(self, at: int) -> tuple[Node, int]:
        match = _NUMBER.match(self.text, at, self.end)
        if not match:
            raise self._stop(at, f"expected a number, found {self._shown(at)}")
        digits, after = match.group(), match.end()
        if after < self.end and (self.text[after].isalnum() or self.text[after] in "._"):
            raise self._stop(at, f"not a JSON number: {self.text[at : after + 8].split()[0]!r}")
        if len(digits) > _MAX_DIGITS:
            raise self._stop(at, f"a number of {len(digits)} characters; at most {_MAX_DIGITS} are read")
        if digits.lstrip("-").isdigit():
            return Scalar(int(digits), *self.places(at)), after
        number = float(digits)
        if not math.isfinite(number):
            raise self._stop(at, f"the number {digits[:40]} is too large")
        return Scalar(number, *self.places(at)), after

    def _string(self, start: int) -> tuple[str, int]:
        opener = self.text[start]
        closer = _CLOSER[opener]
        run = _RUN[closer]
        if opener == "'":
            self.note("single quotes", start)
        elif opener != '"':
            self.note("curly quotes", start)
        parts: list[str] = []
        at = start + 1
        while True:
            match = run.match(self.text, at, self.end)
            if match:
                parts.append(match.group())
                at = match.end()
            if at >= self.end:
                message = f"cut off inside text that began at {self._spot(start)}"
                raise Unreadable(self.end, message, self.serious, cut_text=True)
            char = self.text[at]
            if char == closer:
                return "".join(parts), at + 1
            if char == "\\":
                piece, at = self._escape(at, opener)
                parts.append(piece)
            elif char in "\n\r\t":
                self.note("line break in text", at)
                parts.append(char)
                at += 1
            else:
                raise self._stop(at, f"the character U+{ord(char):04X} can't be in text")

    def _escape(self, at: int, opener: str) -> tuple[str, int]:
        char = self.text[at + 1] if at + 1 < self.end else ""
        if not char:
            raise self._stop(self.end, "cut off inside text, after a backslash")
        if char in _ESCAPES:
            return _ESCAPES[char], at + 2
        if char == "'":
            self.note("python escape", at)
            return "'", at + 2
        if char == "_":
            self.note("markdown escape", at)
            return "_", at + 2
        if char == "u":
            return self._unicode(at)
        if char == "x" and opener == "'":
            self.note("python escape", at)
            return chr(self._hex(at + 2, 2, at)), at + 4
        raise self._stop(at, f"unknown escape {self.text[at : at + 2]!r} in text")

    def _unicode(self, at: int) -> tuple[str, int]:
        code = self._hex(at + 2, 4, at)
        if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", at + 6):
            low = self._hex(at + 8, 4, at)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 12
        if 0xD800 <= code < 0xE000:
            raise self._stop(at, "half a surrogate pair in text")
        return chr(code), at + 6

    def _hex(self, at: int, length: int, start: int) -> int:
        digits = self.text[at : min(at + length, self.end)]
        if len(digits) < length or not _HEX.fullmatch(digits):
            raise self._stop(start, f"expected {length} hexadecimal digits after '{self.text[start : start + 2]}'")
        return int(digits, 16)

    def _space(self, at: int) -> int:
        """Past white space and comments."""
        while True:
            match = _SPACE.match(self.text, at, self.end)
            at = match.end() if match else at
            two = self.text[at : min(at + 2, self.end)]
            if two == "//" or two[:1] == "#":
                stop = self.text.find("\n", at, self.end)
                after = self.end if stop < 0 else stop
            elif two == "/*":
                stop = self.text.find("*/", at + 2, self.end)
                if stop < 0:
                    raise self._stop(at, "a comment '/*' that does not end")
                after = stop + 2
            else:
                return at
            self.note("comment", at)
            at = after

    def _shown(self, at: int) -> str:
        if at >= self.end:
            return "the end of the text"
        return repr(self.text[at])

    def _spot(self, offset: int) -> str:
        line, column = self.places(offset)
        return f"line {line}, column {column}"

    def _stop(self, offset: int, message: str) -> Unreadable:
        return Unreadable(min(offset, self.end), message, self.serious)
