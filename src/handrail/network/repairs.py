"""What a reader changed, added or left out, with file and line: nothing is lost silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Repair(StrEnum):
    """Kinds of anomaly met in public FOON files. `LOST` lists those where something could not be kept."""

    LINE_ENDING = "carriage returns removed"
    MISSING_TAB = "missing tab before a bracket"
    EMPTY_CONTAINER = "empty container dropped"
    TRAILING_FIELD = "empty field dropped"
    CURLY_PLACE = "braces around a container read as brackets"
    SQUARE_INGREDIENT = "brackets around ingredients read as braces"
    SPELLING = "spelling of a keyword"
    DUPLICATE_INGREDIENT = "ingredient listed twice"
    STRAY_COMMA = "empty item in a list dropped"
    DUPLICATE_STATE = "state listed twice"
    FLAG = "in-motion flag normalised"
    NO_FLAG = "no in-motion flag"
    TIME = "unusual time kept as text"
    NO_TIME = "no time"
    NO_OUTPUT = "unit without outputs refused"
    NO_MOTION = "unit without motion refused"
    NO_INPUT = "unit without inputs kept"
    TWO_MOTIONS = "two motions in one unit: split at the second"
    NO_END = "missing // at the end of the file"
    NO_OP = "unit that changes nothing"
    SAME_LABEL = "one label twice among the inputs"
    BARE_OBJECT = "object without state, ingredient or place"
    ABSENT_CONTAINER = "container of an input is not an input"
    SELF_CONTAINER = "object inside itself: place dropped"
    UNKNOWN_LINE = "line of unknown kind refused"
    ORPHAN_STATE = "state without object refused"
    EMPTY_NAME = "empty name refused"
    RELATION_WORD = "relation word unknown: container read as 'at'"
    MALFORMED_UNIT = "malformed unit refused"
    MISSING_FIELD = "missing field read as empty"
    SECOND_PLACE = "second place does not fit the format"
    QUALIFIED_STATE = "what a state was done with does not fit the format"
    TIME_LOST = "time and motion flags do not fit the format"
    ENCODING = "byte that is not UTF-8 replaced"


LOST = frozenset(
    {
        Repair.NO_OUTPUT,
        Repair.NO_MOTION,
        Repair.UNKNOWN_LINE,
        Repair.ORPHAN_STATE,
        Repair.EMPTY_NAME,
        Repair.MALFORMED_UNIT,
        Repair.SELF_CONTAINER,
        Repair.SECOND_PLACE,
        Repair.QUALIFIED_STATE,
        Repair.TIME_LOST,
        Repair.RELATION_WORD,
        Repair.ENCODING,
    }
)
"""Kinds where the meaning of the text could not be kept whole."""

NOTES = frozenset(
    {
        Repair.NO_FLAG,
        Repair.NO_TIME,
        Repair.TIME,
        Repair.NO_OP,
        Repair.SAME_LABEL,
        Repair.BARE_OBJECT,
        Repair.ABSENT_CONTAINER,
        Repair.NO_INPUT,
    }
)
"""Kinds that only point something out; the content stays as written."""


@dataclass(frozen=True, slots=True)
class Found:
    """One anomaly: what, where and the text concerned."""

    kind: Repair
    source: str
    line: int
    text: str = ""

    @property
    def lost(self) -> bool:
        """True where something could not be kept."""
        return self.kind in LOST

    def __str__(self) -> str:
        """`file:line  what: text`."""
        return f"{self.source}:{self.line}  {self.kind.value}{': ' + self.text if self.text else ''}"


def count(found: Iterable[Found]) -> dict[str, int]:
    """Anomalies per kind (enum names in lower case), commonest first."""
    return {k.name.lower(): n for k, n in Counter(f.kind for f in found).most_common()}
