"""What each kind of edit does to the rows of a tree; `edits` applies, checks and undoes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from handrail.errors import ConfigError
from handrail.network.lines import LEAF, Arrow, Cell, Line, Lines, UnitInfo, renumbered
from handrail.network.model import ObjectNode, Origin, Relation, Source


class Field(StrEnum):
    """What an edit changes."""

    STATE = "state"
    PLACE = "place"
    MOTION = "motion"
    END_PRODUCT = "end product"
    INSERT = "insert"
    DELETE = "delete"
    RESTORE = "restore"
    """Put nodes back into cells: what reverses an edit of states, places or names."""


@dataclass(frozen=True)
class Edit:
    """One edit of one row.

    Attributes:
        field: what is changed.
        line: number of the row.
        cell: which cell (state, place; for insert: the cell after which the motion comes), or which arrow (motion,
            delete). Unused for the end product.
        states: the new states (state, insert).
        place: the new place, a container's label, '' for none (place, insert).
        word: the relation word; '' keeps the old one, or `in`.
        motion: the new motion (motion, insert).
        name: the new end product.
        span: how many cells are changed at most; None: as far as the old value stays.
        restore: (row, cell, node) to put back (restore).
    """

    field: Field
    line: int
    cell: int = 0
    states: tuple[str, ...] = ()
    place: str = ""
    word: str = ""
    motion: str = ""
    name: str = ""
    span: int | None = None
    restore: tuple[tuple[int, int, ObjectNode], ...] = ()


Done = tuple[Lines, tuple[int, ...], Edit | None, bool]
"""(new rows, other rows changed, reverse edit, a row lost its beginning or end)"""


def _with(lines: Lines, nodes: dict[tuple[int, int], ObjectNode]) -> Lines:
    """The rows with other nodes in some cells, and in rows that repeat them."""
    rows: list[Line] = []
    for number, line in enumerate(lines.lines):
        cells = tuple(
            replace(c, node=nodes[number, k]) if (number, k) in nodes else c for k, c in enumerate(line.cells)
        )
        if line.again in nodes and (number, 0) not in nodes:
            cells = (replace(cells[0], node=nodes[line.again]), *cells[1:])
        rows.append(replace(line, name=cells[0].node.label, cells=cells))
    goal = lines.goal
    if goal is not None:
        for (row, k), node in nodes.items():
            if lines.lines[row].cells[k].node == goal:
                goal = node
    return replace(lines, lines=tuple(rows), goal=goal)


def _stretch(line: Line, cell: int, same: Callable[[ObjectNode], bool], span: int | None) -> range:
    """Cells from `cell` on while `same` holds, at most `span`."""
    end = cell
    while end < len(line.cells) and same(line.cells[end].node) and (span is None or end - cell < span):
        end += 1
    return range(cell, end)


def _state(lines: Lines, edit: Edit) -> Done:
    line = lines.lines[edit.line]
    old = line.cells[edit.cell].node.states
    cells = _stretch(line, edit.cell, lambda n: n.states == old, edit.span)
    nodes = {(edit.line, k): line.cells[k].node.but(states=edit.states) for k in cells}
    done = _with(lines, nodes)
    return done, _others(lines, done, edit.line), _restore(lines, done, edit), False


def _place(lines: Lines, edit: Edit) -> Done:
    line = lines.lines[edit.line]
    first = line.cells[edit.cell].node
    old = first.relations
    words = sorted(old)
    word = edit.word or (words[0].word if words else "in")
    new = frozenset({Relation(word, edit.place)}) if edit.place else frozenset()
    if len(old) > 1:
        new |= set(words[1:])
    cells = _stretch(line, edit.cell, lambda n: n.relations == old, edit.span)
    nodes = {(edit.line, k): line.cells[k].node.but(relations=new) for k in cells}
    before = words[0].container if words else ""
    if before and edit.place and before != edit.place:
        units = {line.cells[k].unit for k in cells} | {line.arrows[k].unit for k in cells if k < len(line.arrows)}
        nodes |= _refill(lines, first.label, before, edit.place, units - {LEAF})
    done = _with(lines, nodes)
    return done, _others(lines, done, edit.line), _restore(lines, done, edit), False


def _refill(lines: Lines, name: str, old: str, new: str, units: set[int]) -> dict[tuple[int, int], ObjectNode]:
    """Containers follow a place edit: one that held only the object takes the new name, otherwise it hands it over."""
    changed: dict[tuple[int, int], ObjectNode] = {}
    for number, line in enumerate(lines.lines):
        for k, cell in enumerate(line.cells):
            around = {cell.unit} | ({line.arrows[k].unit} if k < len(line.arrows) else set())
            node = cell.node
            if not around & units:
                continue
            if node.label == old and name in node.ingredients:
                alone = node.ingredients == {name}
                changed[number, k] = node.but(label=new) if alone else node.but(ingredients=node.ingredients - {name})
            elif node.label == old and line.cells[0].node.label == old and _emptied(line, k, name):
                changed[number, k] = node.but(label=new)
            elif node.label == new and name not in node.ingredients and _holds(lines, old, name, around & units):
                changed[number, k] = node.but(ingredients=node.ingredients | {name})
    return changed


def _emptied(line: Line, k: int, name: str) -> bool:
    """Does the row show the same container with nothing but the object just before or after this cell?"""
    return any(
        0 <= j < len(line.cells) and line.cells[j].node.ingredients == {name} and not line.cells[k].node.ingredients
        for j in (k - 1, k + 1)
    )


def _holds(lines: Lines, container: str, name: str, units: set[int]) -> bool:
    """Does a container of several things hold the object on either side of one of these units?"""
    for line in lines.lines:
        for k, cell in enumerate(line.cells):
            around = {cell.unit} | ({line.arrows[k].unit} if k < len(line.arrows) else set())
            content = cell.node.ingredients
            if around & units and cell.node.label == container and name in content and len(content) > 1:
                return True
    return False


def _restore(old: Lines, new: Lines, edit: Edit) -> Edit:
    """The edit that puts every changed cell back."""
    rows = enumerate(zip(old.lines, new.lines, strict=True))
    nodes = tuple(
        (row, k, a.node)
        for row, (was, now) in rows
        for k, (a, b) in enumerate(zip(was.cells, now.cells, strict=True))
        if a.node != b.node
    )
    return Edit(Field.RESTORE, edit.line, edit.cell, restore=nodes)


def _put_back(lines: Lines, edit: Edit) -> Done:
    nodes = {(row, k): node for row, k, node in edit.restore}
    for row, k in nodes:
        if row >= len(lines.lines) or k >= len(lines.lines[row].cells):
            raise ConfigError("the rows have changed too much to take this edit back by itself; use undo")
    done = _with(lines, nodes)
    return done, _others(lines, done, edit.line), _restore(lines, done, edit), False


def _motion(lines: Lines, edit: Edit) -> Done:
    unit = lines.lines[edit.line].arrows[edit.cell].unit
    old = lines.units[unit].motion
    units = tuple(replace(u, motion=edit.motion) if k == unit else u for k, u in enumerate(lines.units))
    also = tuple(k for k in lines.sharing(unit) if k != edit.line)
    return replace(lines, units=units), also, replace(edit, motion=old), False


def _product(lines: Lines, edit: Edit) -> Done:
    line = lines.lines[edit.line]
    old = line.end_product or ""
    unit = line.arrows[-1].unit
    nodes: dict[tuple[int, int], ObjectNode] = {}
    for number, other in enumerate(lines.lines):
        for k, cell in enumerate(other.cells):
            later = cell.unit >= unit or (cell.unit == LEAF and k < len(other.arrows) and other.arrows[k].unit > unit)
            node = cell.node
            if not later or (node.label != old and old not in node.ingredients):
                continue
            label = edit.name if node.label == old else node.label
            nodes[number, k] = node.but(
                label=label, ingredients=(edit.name if i == old else i for i in node.ingredients)
            )
    done = _with(lines, nodes)
    done = replace(
        done,
        lines=tuple(
            replace(row, end_product=edit.name)
            if row.end_product == old and row.arrows and row.arrows[-1].unit >= unit
            else row
            for row in done.lines
        ),
    )
    return done, _others(lines, done, edit.line), _restore(lines, done, edit), False


def _insert(lines: Lines, edit: Edit) -> Done:
    line = lines.lines[edit.line]
    cell = line.cells[edit.cell]
    at = line.arrows[edit.cell].unit if edit.cell < len(line.arrows) else len(lines.units)
    relations = cell.node.relations
    if edit.place:
        relations = frozenset({Relation(edit.word or next((r.word for r in sorted(relations)), "in"), edit.place)})
    node = cell.node.but(states=edit.states or cell.node.states, relations=relations)
    shift = {k: k + 1 for k in range(at, len(lines.units))}
    rows = list(renumbered(lines.lines, shift))
    row = rows[edit.line]
    if edit.cell == 0 and row.cells[0].unit == LEAF:
        row = replace(row, cells=(replace(row.cells[0], position=0), *row.cells[1:]))
    rows[edit.line] = replace(
        row,
        cells=(*row.cells[: edit.cell + 1], Cell(node, at, 0), *row.cells[edit.cell + 1 :]),
        arrows=(*row.arrows[: edit.cell], Arrow(at, 0, 0), *row.arrows[edit.cell :]),
    )
    info = UnitInfo(edit.motion, Source("edit", Origin.PERSON))
    units = (*lines.units[:at], info, *lines.units[at:])
    return replace(lines, lines=tuple(rows), units=units), (), Edit(Field.DELETE, edit.line, edit.cell), False


def _delete(lines: Lines, edit: Edit) -> Done:
    unit = lines.lines[edit.line].arrows[edit.cell].unit
    loose = False
    rows: list[Line] = []
    for line in lines.lines:
        cells, arrows = list(line.cells), list(line.arrows)
        end = line.end_product
        for k in range(len(arrows) - 1, -1, -1):
            if arrows[k].unit == unit:
                if arrows[k].given == LEAF:
                    loose, end = True, None
                else:
                    del cells[k + 1]
                del arrows[k]
        if cells[0].unit == unit:
            loose = True
            if not arrows:
                continue
            cells[0] = replace(cells[0], unit=LEAF)
        if cells[0].unit == LEAF and arrows:
            cells[0] = replace(cells[0], position=arrows[0].taken)
        rows.append(replace(line, cells=tuple(cells), arrows=tuple(arrows), end_product=end))
    rows = [r for r in rows if r.arrows or r.cells[0].unit != LEAF]
    shift = {k: k - 1 for k in range(unit + 1, len(lines.units))}
    done = replace(
        lines,
        lines=renumbered([replace(r, again=None) for r in rows], shift),
        units=lines.units[:unit] + lines.units[unit + 1 :],
    )
    return done, tuple(k for k in lines.sharing(unit) if k != edit.line), None, loose


EDITS: dict[Field, Callable[[Lines, Edit], Done]] = {
    Field.STATE: _state,
    Field.PLACE: _place,
    Field.MOTION: _motion,
    Field.END_PRODUCT: _product,
    Field.INSERT: _insert,
    Field.DELETE: _delete,
    Field.RESTORE: _put_back,
}


def _others(old: Lines, new: Lines, edited: int) -> tuple[int, ...]:
    both = zip(old.lines, new.lines, strict=True)
    return tuple(k for k, (a, b) in enumerate(both) if k != edited and a.cells != b.cells)
