"""A person's judgement of progress lines, kept beside the tree: a recipe is right where every line is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.errors import ConfigError, ParseError, StaleError, Where
from handrail.network.edits import revision
from handrail.network.lines import Lines, lines_of
from handrail.network.model import TaskTree


@dataclass(frozen=True)
class Marks:
    """Which lines a person found right or wrong.

    Attributes:
        revision: of the tree that was looked at; marks of another one count for nothing.
        lines: number of the line -> right?
    """

    revision: str
    lines: Mapping[int, bool] = field(default_factory=dict)

    def with_(self, right: Mapping[int, bool], shown: Lines) -> Marks:
        """More marks.

        Raises:
            ConfigError: there is no such line.
        """
        for number in right:
            if not 0 <= number < len(shown.lines):
                raise ConfigError(f"there are lines 0 to {len(shown.lines) - 1}, not {number}")
        return replace(self, lines={**self.lines, **right})

    def open(self, shown: Lines) -> tuple[int, ...]:
        """Lines that nobody marked yet, without those of tools."""
        return tuple(k for k, _ in shown.shown() if k not in self.lines)

    def right(self, shown: Lines) -> bool | None:
        """Is the whole recipe right; None while lines are open and none is wrong."""
        if not all(self.lines.values()):
            return False
        return None if self.open(shown) else True


def beside(path: Path) -> Path:
    """Where the marks of a tree's file are kept."""
    return path.with_name(path.name + ".marks.json")


def load(path: Path, tree: TaskTree) -> Marks:
    """The marks of a tree; empty ones where there are none yet.

    Raises:
        StaleError: they were made for another revision of the tree.
        ParseError: the file is damaged.
    """
    now = revision(tree)
    file = beside(path)
    if not file.exists():
        return Marks(now)
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        found = Marks(str(body["revision"]), {int(k): bool(v) for k, v in body["lines"].items()})
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ParseError(f"not a file of marks: {error}", Where(str(file))) from error
    if found.revision != now:
        raise StaleError(f"{file} has marks for another revision of the tree; move it away and look again")
    return found


def save(path: Path, marks: Marks) -> Path:
    """Write the marks beside the tree's file."""
    file = beside(path)
    body = {"revision": marks.revision, "lines": {str(k): v for k, v in sorted(marks.lines.items())}}
    file.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return file


def verdict(path: Path, tree: TaskTree) -> bool | None:
    """Whether a person found the tree right; None while that is open."""
    return load(path, tree).right(lines_of(tree))
