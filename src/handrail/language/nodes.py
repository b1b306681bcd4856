"""What a JSON-like text says, kept exactly: order, repeated keys and places survive.

A plain dict forgets repeated keys, which is how recorded model answers lose a fifth of their steps. Here an object is
an ordered list of pairs; it becomes a mapping only where it is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handrail.errors import ParseError, Where


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number, truth value or null; `line` and `column` count from 1."""

    value: str | int | float | bool | None
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    values: tuple[Node, ...]
    line: int = 0
    column: int = 0

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.values)


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key: value` of an object; the place is the key's."""

    key: str
    value: Node
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """An object as an ordered multi-map: every pair in the order it was written, repeated keys included."""

    entries: tuple[Entry, ...]
    line: int = 0
    column: int = 0

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def get(self, key: str) -> Node | None:
        """The value of `key` where it occurs exactly once, None where it does not occur.

        Raises:
            ParseError: the key occurs more than once.
        """
        found: Entry | None = None
        for entry in self.entries:
            if entry.key == key:
                if found is not None:
                    raise _repeated(found, entry, "")
                found = entry
        return found.value if found else None

    def mapping(self, source: str = "") -> dict[str, Node]:
        """The pairs as a mapping.

        Raises:
            ParseError: a key occurs more than once; nothing is ever merged or overwritten.
        """
        seen: dict[str, Entry] = {}
        for entry in self.entries:
            first = seen.setdefault(entry.key, entry)
            if first is not entry:
                raise _repeated(first, entry, source)
        return {key: entry.value for key, entry in seen.items()}


Node = Scalar | Items | Pairs
Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]


def _repeated(first: Entry, again: Entry, source: str) -> ParseError:
    return ParseError(
        f"the key {again.key!r} occurs twice (first at line {first.line}, column {first.column}); "
        "write each key once, or a list where several are meant",
        Where(source, again.line, again.column),
    )


def plain(node: Node, source: str = "") -> Plain:
    """Ordinary Python values: str, int, float, bool, None, list and dict.

    Raises:
        ParseError: an object repeats a key, so that it is no mapping.
    """
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [plain(value, source) for value in node.values]
    return {key: plain(value, source) for key, value in node.mapping(source).items()}


def same(a: Node, b: Node) -> bool:
    """Whether two nodes say the same, wherever they were written; the order of pairs counts, 1 and True differ."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return type(a.value) is type(b.value) and a.value == b.value
    if isinstance(a, Items) and isinstance(b, Items):
        return len(a.values) == len(b.values) and all(map(same, a.values, b.values))
    if isinstance(a, Pairs) and isinstance(b, Pairs):
        return len(a.entries) == len(b.entries) and all(
            x.key == y.key and same(x.value, y.value) for x, y in zip(a.entries, b.entries, strict=True)
        )
    return False


def kind(node: Node) -> str:
    """What a node is, in words for a message: 'an object', 'a list', 'text', 'a number', 'true', 'null' ..."""
    if isinstance(node, Pairs):
        return "an object"
    if isinstance(node, Items):
        return "a list"
    value = node.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "text" if isinstance(value, str) else "a number"
