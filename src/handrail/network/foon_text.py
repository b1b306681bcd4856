"""The FOON text format, in and out, in its three dialects.

Tab-separated lines. `O` an object (label, in-motion flag, category number or `!` where it is the goal), `S` its states
(word, then `{ingredients}` or `[container]`), `M` the motion with its time; objects before `M` are inputs, after it
outputs; `//` ends a unit; `#` starts a comment.

Dialects: `numbered` (`O12`, `S3`, `M4`), `named` (the same without numbers), `plain` (without flags and times).
"""

from __future__ import annotations

import re

from handrail.network.document import Document
from handrail.network.model import (
    PLACE_WORDS,
    FunctionalUnit,
    ObjectNode,
    Origin,
    Relation,
    Source,
    TaskTree,
    Treatment,
)
from handrail.network.repairs import Found, Repair

CONTAINS = "contains"
INSIDE = frozenset({"in", "at", "with"})
"""Words by which nothing can relate to itself; bread `on [bread]` is another slice and stays."""
_HEAD = re.compile(r"^([OSM])(\d*)$")
_GLUED = re.compile(r"^([^\[\]{}]+?)\s*([\[{].*)$")
_TIME = re.compile(r"^<?(\d+:\d\d(:\d\d)?|[Aa]ssumed)?(\s*,\s*(\d+:\d\d(:\d\d)?|[Aa]ssumed))?>?$")
_SPELLINGS = {"contain": CONTAINS, "containing": CONTAINS}

Anomaly = tuple[Repair, int, str]
"""(kind, line offset within the block, text)"""


def _items(text: str, offset: int, notes: list[Anomaly]) -> frozenset[str]:
    """The items of `{a,b}` or `[a]` without the brackets."""
    raw = [part.strip() for part in text.strip("{}[] \t").split(",")]
    kept = [part for part in raw if part]
    if len(kept) != len(raw) and kept:
        notes.append((Repair.STRAY_COMMA, offset, text))
    items = frozenset(kept)
    if len(items) != len(kept):
        notes.append((Repair.DUPLICATE_INGREDIENT, offset, text))
    return items


def _state(fields: list[str], offset: int, label: str, notes: list[Anomaly], parts: _Parts) -> None:
    """Take one S line apart into `parts`."""
    word = fields[1].strip() if len(fields) > 1 else ""
    rest = [f.strip() for f in fields[2:]]
    glued = _GLUED.match(word)
    if glued and not rest:
        notes.append((Repair.MISSING_TAB, offset, word))
        word, rest = glued[1], [glued[2]]
    if not word:
        notes.append((Repair.EMPTY_NAME, offset, "state"))
        return
    if word in _SPELLINGS:
        notes.append((Repair.SPELLING, offset, word))
        word = _SPELLINGS[word]
    brackets = [f for f in rest if f]
    if len(brackets) < len(rest):
        notes.append((Repair.TRAILING_FIELD, offset, word))
    if not brackets:
        if word in parts.states:
            notes.append((Repair.DUPLICATE_STATE, offset, word))
        parts.states.add(word)
        return
    for bracket in brackets:
        _bracket(word, bracket, offset, label, notes, parts)


def _bracket(word: str, bracket: str, offset: int, label: str, notes: list[Anomaly], parts: _Parts) -> None:
    items = _items(bracket, offset, notes)
    if not items:
        notes.append((Repair.EMPTY_CONTAINER, offset, f"{word} {bracket}"))
        if word != CONTAINS:
            parts.states.add(word)
        return
    square = bracket.startswith("[")
    if word == CONTAINS:
        if square:
            notes.append((Repair.SQUARE_INGREDIENT, offset, bracket))
        parts.ingredients |= items
    elif square or (word in PLACE_WORDS and len(items) == 1 and word not in ("covered", "coated", "with")):
        if not square:
            notes.append((Repair.CURLY_PLACE, offset, f"{word} {bracket}"))
        for item in items:
            if item == label and word in INSIDE:
                notes.append((Repair.SELF_CONTAINER, offset, f"{word} [{item}]"))
            else:
                parts.relations.add(Relation(word, item))
    else:
        parts.treatments.add((word, items))


class _Parts:
    """The fields of an object node while its lines are read."""

    __slots__ = ("ingredients", "relations", "states", "treatments")

    def __init__(self) -> None:
        self.states: set[str] = set()
        self.ingredients: frozenset[str] = frozenset()
        self.relations: set[Relation] = set()
        self.treatments: set[Treatment] = set()


Block = tuple[ObjectNode | None, bool, bool, tuple[Anomaly, ...], tuple[tuple[str, str, int], ...]]
"""(node, moving, marked as the goal, anomalies, numbers)"""

_blocks: dict[tuple[str, ...], Block] = {}
"""Object blocks read before: public files repeat the same few lines thousands of times."""
_BLOCKS_KEPT = 50_000


def _block(lines: tuple[str, ...]) -> Block:
    known = _blocks.get(lines)
    if known is not None:
        return known
    notes: list[Anomaly] = []
    ids: list[tuple[str, str, int]] = []
    fields = lines[0].split("\t")
    label = fields[1].strip() if len(fields) > 1 else ""
    flag = fields[2].strip() if len(fields) > 2 else ""
    mark = fields[3].strip() if len(fields) > 3 else ""
    if flag == "":
        notes.append((Repair.NO_FLAG, 0, label))
    elif flag == "!":
        flag, mark = "", "!"
    elif flag not in ("0", "1"):
        notes.append((Repair.FLAG, 0, f"{label}: {flag}"))
    if len(fields[0]) > 1:
        ids.append(("O", label, int(fields[0][1:])))
    parts = _Parts()
    for offset, line in enumerate(lines[1:], 1):
        states = line.split("\t")
        _state(states, offset, label, notes, parts)
        if len(states[0]) > 1 and len(states) > 1:
            ids.append(("S", states[1].strip(), int(states[0][1:])))
    node: ObjectNode | None = None
    if label:
        node = ObjectNode(label, parts.states, parts.ingredients, parts.relations, parts.treatments)
    else:
        notes.append((Repair.EMPTY_NAME, 0, lines[0]))
    moving = flag.lstrip("0").startswith("1")
    result: Block = (node, moving, bool(mark), tuple(notes), tuple(ids))
    if len(_blocks) >= _BLOCKS_KEPT:
        _blocks.clear()
    _blocks[lines] = result
    return result


class _Unit:
    """One unit while it is read: object blocks and motions in file order."""

    def __init__(self) -> None:
        self.items: list[tuple[int, ObjectNode, bool]] = []
        self.motions: list[tuple[int, str, str, str, int]] = []
        """(line, motion, start, end, number of items before it)"""
        self.line = 0

    @property
    def empty(self) -> bool:
        return not self.items and not self.motions


class _Reader:
    def __init__(self, name: str, origin: Origin) -> None:
        self.name, self.origin = name, origin
        self.units: list[FunctionalUnit] = []
        self.found: list[Found] = []
        self.ids: dict[tuple[str, str], int] = {}
        self.goal: ObjectNode | None = None
        self.open = _Unit()
        self.block: list[str] = []
        self.block_line = 0

    def note(self, kind: Repair, line: int, text: str = "") -> None:
        self.found.append(Found(kind, self.name, line, text))

    def end_block(self) -> None:
        if not self.block:
            return
        node, moving, goal, notes, ids = _block(tuple(self.block))
        for kind, offset, text in notes:
            self.found.append(Found(kind, self.name, self.block_line + offset, text))
        for letter, name, number in ids:
            self.ids[letter, name] = number
        if node is not None:
            self.open.items.append((self.block_line, node, moving))
            if goal:
                self.goal = node
        self.block = []

    def end_unit(self) -> None:
        self.end_block()
        unit, self.open = self.open, _Unit()
        if unit.empty:
            return
        if not unit.motions:
            self.note(Repair.NO_MOTION, unit.line, ", ".join(n.label for _, n, _ in unit.items))
            return
        if len(unit.motions) == 1:
            self.close(unit.items, unit.motions[0], unit.items[unit.motions[0][4] :], unit.line)
            return
        first = 0
        for position, motion in enumerate(unit.motions):
            last = position == len(unit.motions) - 1
            stop = len(unit.items) if last else unit.motions[position + 1][4]
            middle = unit.items[motion[4] : stop]
            cut = len(middle) if last else _repeat(middle)
            self.close(unit.items[first:], (*motion[:4], motion[4] - first), middle[:cut], unit.line)
            if not last:
                self.note(Repair.TWO_MOTIONS, unit.motions[position + 1][0], f"{motion[1]}, then next")
                first = motion[4] + (cut if cut < len(middle) else 0)

    def close(
        self,
        items: list[tuple[int, ObjectNode, bool]],
        motion: tuple[int, str, str, str, int],
        outputs: list[tuple[int, ObjectNode, bool]],
        line: int,
    ) -> None:
        inputs = items[: motion[4]]
        if not outputs:
            self.note(Repair.NO_OUTPUT, motion[0], motion[1])
            return
        if not inputs:
            self.note(Repair.NO_INPUT, motion[0], motion[1])
        nodes = tuple(n for _, n, _ in inputs)
        unit = FunctionalUnit(
            nodes,
            motion[1],
            tuple(n for _, n, _ in outputs),
            Source(self.name, self.origin, len(self.units), line),
            motion[2],
            motion[3],
            tuple(m for _, _, m in inputs) + tuple(m for _, _, m in outputs),
        )
        self.units.append(unit)
        labels = {n.label for n in nodes}
        if len(labels) < len(nodes):
            self.note(Repair.SAME_LABEL, line, ", ".join(sorted({n.label for n in nodes if _twice(n.label, nodes)})))
        for at, node, _ in inputs:
            if node.bare:
                self.note(Repair.BARE_OBJECT, at, node.label)
            for relation in node.relations:
                if relation.container not in labels:
                    self.note(Repair.ABSENT_CONTAINER, at, f"{node.label} {relation}")
        if unit.no_op:
            self.note(Repair.NO_OP, line, motion[1])

    def motion(self, fields: list[str], line: int) -> None:
        self.end_block()
        name = fields[1].strip() if len(fields) > 1 else ""
        if not name:
            self.note(Repair.EMPTY_NAME, line, "motion")
            return
        if len(fields[0]) > 1:
            self.ids["M", name] = int(fields[0][1:])
        times = [f.strip() for f in fields[2:] if f.strip()]
        if not times:
            self.note(Repair.NO_TIME, line, name)
        elif not all(_TIME.match(t) for t in times):
            self.note(Repair.TIME, line, " ".join(times))
        elif len(times) == 1 and times[0].startswith("<"):
            times = times[0].strip("<>").split(",")
        start = times[0] if times else ""
        end = times[1] if len(times) > 1 else start
        self.open.motions.append((line, name, start, end, len(self.open.items)))
        if not self.open.line:
            self.open.line = line


def _twice(label: str, nodes: tuple[ObjectNode, ...]) -> bool:
    return sum(n.label == label for n in nodes) > 1


def _repeat(middle: list[tuple[int, ObjectNode, bool]]) -> int:
    """Where, among objects between two motions, the inputs of the second begin.

    That is at the first object that was listed before; where none repeats, all of them are both outputs and inputs.
    """
    seen: set[ObjectNode] = set()
    for position, (_, node, _) in enumerate(middle):
        if node in seen:
            return position
        seen.add(node)
    return len(middle)


def loads(text: str | bytes, name: str = "<text>", origin: Origin = Origin.PROPOSAL) -> Document:
    """Read FOON text of any dialect.

    Args:
        text: the file's content; bytes are taken as UTF-8, and a byte that is not is replaced and reported.
        name: shown in messages, and the voice that the units are credited to.
        origin: what kind of source it is.

    Returns:
        The document; anomalies are in `found`, never silently dropped.
    """
    reader = _Reader(name, origin)
    if isinstance(text, bytes):
        raw = text
        text = raw.decode("utf-8", "replace")
        if "\ufffd" in text and "\ufffd".encode() not in raw:
            reader.note(Repair.ENCODING, text[: text.index("\ufffd")].count("\n") + 1)
    if "\r" in text:
        reader.note(Repair.LINE_ENDING, 1)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    number = 0
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        kind = line[:1]
        if kind in ("O", "S", "M"):
            head = line.split("\t", 1)[0]
            if len(head) == 1 or _HEAD.match(head):
                if kind == "S":
                    if reader.block:
                        reader.block.append(line)
                    else:
                        reader.note(Repair.ORPHAN_STATE, number, line)
                elif kind == "O":
                    reader.end_block()
                    reader.block, reader.block_line = [line], number
                    if not reader.open.line:
                        reader.open.line = number
                else:
                    reader.motion(line.split("\t"), number)
                continue
        if kind == "/" and line.startswith("//"):
            reader.end_unit()
        elif kind == "#" or not line.strip():
            continue
        else:
            reader.note(Repair.UNKNOWN_LINE, number, line[:80])
    if reader.block or not reader.open.empty:
        reader.note(Repair.NO_END, number)
        reader.end_unit()
    tree = TaskTree(tuple(reader.units), reader.goal, name, Source(name, origin))
    return Document(tree, tuple(reader.found), reader.ids)
