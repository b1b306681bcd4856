"""What a reader returns: trees, what it had to repair, and the numbers a file gave its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handrail.errors import ParseError, Where
from handrail.network.model import FunctionalUnit, TaskTree
from handrail.network.repairs import Found

SUFFIXES = (".txt", ".foon", ".json")


@dataclass(frozen=True, slots=True)
class Document:
    """One file's content.

    Attributes:
        tree: its units, in order, with the goal where the file marks one.
        found: every anomaly with file and line.
        ids: numbers the file gave (kind letter, name) -> number; empty unless it is of the numbered dialect.
    """

    tree: TaskTree
    found: tuple[Found, ...] = ()
    ids: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def units(self) -> tuple[FunctionalUnit, ...]:
        """The tree's units."""
        return self.tree.units

    @property
    def lost(self) -> tuple[Found, ...]:
        """Anomalies where something could not be kept."""
        return tuple(f for f in self.found if f.lost)


def read(path: str | Path, strict: bool = False) -> Document:
    """Read one file: JSON where its name ends in .json, else FOON text.

    Args:
        path: the file.
        strict: refuse the file where anything would be lost, instead of reporting it.

    Raises:
        ParseError: not readable, not of the format, or (strict) something would be lost.
    """
    from handrail.network import foon_json, foon_text

    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ParseError(f"can't read the file: {error.strerror}", Where(str(path))) from error
    reader = foon_json.loads if path.suffix == ".json" else foon_text.loads
    document = reader(raw, path.name)
    if strict and document.lost:
        first = document.lost[0]
        raise ParseError(
            f"{first.kind.value}: {first.text} ({len(document.lost)} such places; without strict they are reported)",
            Where(str(path), first.line),
        )
    return document


def files(path: str | Path) -> list[Path]:
    """The readable files at a path, sorted by name: itself, or those directly in a folder."""
    path = Path(path)
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES)
        if not found:
            raise ParseError(f"no file with one of the endings {', '.join(SUFFIXES)}", Where(str(path)))
        return found
    if not path.exists():
        raise ParseError("no such file or folder", Where(str(path)))
    return [path]


def read_all(paths: Iterable[str | Path], strict: bool = False) -> Iterator[Document]:
    """Read files and folders in the order given."""
    for path in paths:
        for file in files(path):
            yield read(file, strict)
