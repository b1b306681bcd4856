"""Progress lines: one row per object, state (place) -> motion -> state (place) ... -> end product. And back to a tree.

A row follows one object through the units: an input continues the row whose latest cell is the same node, and an output
with the same label continues the row of the input it came from (paired by largest overlap). An input that comes out under
no label of its own ends its row; what the unit made instead is the row's end product and has a row of its own. Rows of
tools and containers are kept too (hidden in views unless asked for), so that rows and tree hold the same information.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.network.kinds import Kinds, kinds
from handrail.network.model import FunctionalUnit, ObjectNode, Source, TaskTree, main_output
from handrail.network.transitions import pairs

LEAF = -1


@dataclass(frozen=True, slots=True)
class Cell:
    """An object in one condition.

    Attributes:
        node: the object node.
        unit: the unit that put it into this condition; LEAF where the row starts with it.
        position: its place among that unit's outputs; among the inputs of its first use for a leaf.
    """

    node: ObjectNode
    unit: int
    position: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """A motion on a row.

    Attributes:
        unit: which unit.
        taken: place of the object among the unit's inputs.
        given: place among its outputs; LEAF where the row ends here.
    """

    unit: int
    taken: int
    given: int


@dataclass(frozen=True, slots=True)
class Line:
    """One object's row: cells with arrows between them; one more arrow than that where it merges into something.

    Attributes:
        name: the object's label at the row's start.
        cells: at least one.
        arrows: len(cells) - 1, or len(cells) where the row merges.
        end_product: what it merged into, or None.
        again: (row, cell) that this row repeats, where one node is used by several units.
        tool: it stays when used.
    """

    name: str
    cells: tuple[Cell, ...]
    arrows: tuple[Arrow, ...]
    end_product: str | None = None
    again: tuple[int, int] | None = None
    tool: bool = False


@dataclass(frozen=True, slots=True)
class UnitInfo:
    """What a unit has besides its objects."""

    motion: str
    source: Source
    start: str = ""
    end: str = ""
    moving: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Lines:
    """All rows of a tree."""

    lines: tuple[Line, ...]
    units: tuple[UnitInfo, ...]
    goal: ObjectNode | None = None
    name: str = ""
    source: Source = field(default_factory=Source)

    def shown(self, tools: bool = False) -> list[tuple[int, Line]]:
        """Rows for people: (number, row), without tools unless asked for."""
        return [(k, line) for k, line in enumerate(self.lines) if tools or not line.tool]

    def sharing(self, unit: int) -> tuple[int, ...]:
        """Rows with an arrow of this unit: who else changes when it does."""
        return tuple(k for k, line in enumerate(self.lines) if any(a.unit == unit for a in line.arrows))


def lines_of(tree: TaskTree, vocabulary: Kinds | None = None) -> Lines:
    """The rows of a tree; `tree_of` gives the tree back."""
    known = vocabulary or kinds()
    rows: list[tuple[list[Cell], list[Arrow], str | None, tuple[int, int] | None]] = []
    open_rows: dict[ObjectNode, list[int]] = {}
    first_seen: dict[ObjectNode, tuple[int, int]] = {}

    def begin(node: ObjectNode, unit: int, position: int, again: tuple[int, int] | None) -> int:
        rows.append(([Cell(node, unit, position)], [], None, again))
        first_seen.setdefault(node, (len(rows) - 1, 0))
        return len(rows) - 1

    for number, unit in enumerate(tree.units):
        taken: list[int] = []
        for position, node in enumerate(unit.inputs):
            waiting = open_rows.get(node)
            if waiting:
                taken.append(waiting.pop())
            else:
                taken.append(begin(node, LEAF, position, first_seen.get(node)))
        given = _match(unit)
        for position, row in enumerate(taken):
            cells, arrows, _, again = rows[row]
            out = given.get(position, LEAF)
            arrows.append(Arrow(number, position, out))
            if out == LEAF:
                rows[row] = (cells, arrows, _product(unit, position), again)
            else:
                node = unit.outputs[out]
                cells.append(Cell(node, number, out))
                first_seen.setdefault(node, (row, len(cells) - 1))
                open_rows.setdefault(node, []).append(row)
        used = set(given.values())
        for position, node in enumerate(unit.outputs):
            if position not in used:
                open_rows.setdefault(node, []).append(begin(node, number, position, None))
    made = tuple(
        Line(c[0].node.label, tuple(c), tuple(a), end, again, known.stays(c[0].node.label)) for c, a, end, again in rows
    )
    infos = tuple(UnitInfo(u.motion, u.source, u.start, u.end, u.moving) for u in tree.units)
    return Lines(made, infos, tree.goal, tree.name, tree.source)


def _match(unit: FunctionalUnit) -> dict[int, int]:
    """Input position -> output position of the same object."""
    free_in: dict[ObjectNode, list[int]] = {}
    for k, node in enumerate(unit.inputs):
        free_in.setdefault(node, []).append(k)
    free_out: dict[ObjectNode, list[int]] = {}
    for k, node in enumerate(unit.outputs):
        free_out.setdefault(node, []).append(k)
    return {free_in[before].pop(0): free_out[after].pop(0) for before, after in pairs(unit)}


def _product(unit: FunctionalUnit, position: int) -> str | None:
    """What an input that does not come out became: the output that lists it, else the unit's main new output.

    None where that is only the container it went into.
    """
    label = unit.inputs[position].label
    for node in unit.outputs:
        if label in node.ingredients and not kinds().stays(node.label):
            return node.label
    label = main_output(unit).label if unit.outputs else ""
    return None if not label or kinds().stays(label) else label


def tree_of(lines: Lines) -> TaskTree:
    """The tree that the rows show: the inverse of `lines_of`."""
    ins: list[dict[int, ObjectNode]] = [{} for _ in lines.units]
    outs: list[dict[int, ObjectNode]] = [{} for _ in lines.units]
    for line in lines.lines:
        for cell in line.cells:
            if cell.unit != LEAF:
                outs[cell.unit][cell.position] = cell.node
        for k, arrow in enumerate(line.arrows):
            ins[arrow.unit][arrow.taken] = line.cells[k].node
    units = [
        FunctionalUnit(
            [ins[k][p] for p in sorted(ins[k])],
            info.motion,
            [outs[k][p] for p in sorted(outs[k])],
            info.source,
            info.start,
            info.end,
            info.moving if len(info.moving) == len(ins[k]) + len(outs[k]) else (),
        )
        for k, info in enumerate(lines.units)
    ]
    return TaskTree(tuple(units), lines.goal, lines.name, lines.source)


def cell_text(node: ObjectNode) -> str:
    """`chopped, raw (bowl)`: states, then the place."""
    states = sorted(node.states) + [f"{w} with {', '.join(sorted(i))}" for w, i in sorted(node.treatments)]
    if node.ingredients:
        states.append("{" + ", ".join(sorted(node.ingredients)) + "}")
    text = ", ".join(states)
    return f"{text} ({node.place})" if node.place else text or "as it is"


def text(lines: Lines, tools: bool = False) -> str:
    """Rows as text, one object a line."""
    rows = lines.shown(tools)
    width = max((len(line.name) for _, line in rows), default=0)
    out: list[str] = []
    for _, line in rows:
        parts = [cell_text(line.cells[0].node)]
        for k, arrow in enumerate(line.arrows):
            parts.append(f"--{lines.units[arrow.unit].motion}-->")
            if k + 1 < len(line.cells):
                parts.append(cell_text(line.cells[k + 1].node))
        if line.end_product:
            parts.append(f"=> {line.end_product}")
        out.append(f"{line.name:<{width}}  {' '.join(parts)}")
    return "\n".join(out)


def to_json(lines: Lines, tools: bool = False) -> list[dict[str, Any]]:
    """Rows as the consolidation paper writes them, with the cell's unit and field added for editors."""
    return [
        {
            "line": number,
            "ingredient": line.name,
            "state": [
                {
                    "physical_state": ",".join(sorted(c.node.states)),
                    "location": c.node.place,
                    "unit": c.unit,
                    "position": c.position,
                }
                for c in line.cells
            ],
            "motion": [lines.units[a.unit].motion for a in line.arrows],
            "units": [a.unit for a in line.arrows],
            "end_product": line.end_product,
        }
        for number, line in lines.shown(tools)
    ]


def renumbered(lines: Iterable[Line], change: dict[int, int]) -> tuple[Line, ...]:
    """The rows with other unit numbers; units without a new number keep theirs."""
    return tuple(
        replace(
            line,
            cells=tuple(replace(c, unit=change.get(c.unit, c.unit)) for c in line.cells),
            arrows=tuple(replace(a, unit=change.get(a.unit, a.unit)) for a in line.arrows),
        )
        for line in lines
    )
