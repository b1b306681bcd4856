"""Editing progress lines: every edit maps back to the tree, spreads to what it concerns, is checked and can be undone.

A state edit spreads along its row while the old states stay, a place edit while the old place stays; a place edit also
renames or refills the containers that hold the object. A motion edit changes the unit for all rows that share it. The
answer says what changed, who else changes, and what the checks think of it. Edits never overwrite: a stale revision is
refused, and so is an edit that would join rows, unless confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from handrail.errors import ConfigError, StaleError
from handrail.network.foon_json import dumps
from handrail.network.lines import LEAF, Arrow, Cell, Line, Lines, UnitInfo, lines_of, renumbered, tree_of
from handrail.network.model import FunctionalUnit, ObjectNode, Origin, Relation, Source, TaskTree
from handrail.network.units import Gap, UnitCheck, UnitVerdict, gaps


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


@dataclass(frozen=True)
class Change:
    """A unit before and after an edit; None where it was not there."""

    unit: int
    before: FunctionalUnit | None
    after: FunctionalUnit | None


@dataclass(frozen=True)
class Edited:
    """What an edit did.

    Attributes:
        tree: the new tree.
        lines: its rows.
        revision: of the new tree.
        changes: units that differ.
        also: other rows that changed.
        reverse: the edit that takes it back (None for inserted and deleted motions: use `History.undo`).
        verdicts: checks of the changed units.
        gaps: steps that are missing now and were not before.
        leaves: nodes that must be there at the start now and did not have to be before.
        joins: rows of the new tree are not the edited rows: two rows became one, or one split.
    """

    tree: TaskTree
    lines: Lines
    revision: str
    changes: tuple[Change, ...]
    also: tuple[int, ...]
    reverse: Edit | None
    verdicts: tuple[UnitVerdict, ...] = ()
    gaps: tuple[Gap, ...] = ()
    leaves: tuple[ObjectNode, ...] = ()
    joins: bool = False


def revision(tree: TaskTree) -> str:
    """A hash of the tree: edits name the revision they were made for."""
    return hashlib.sha256(dumps(tree)[0].encode()).hexdigest()[:16]


def apply(
    tree: TaskTree, edit: Edit, check: UnitCheck | None = None, confirm: bool = False, expected: str | None = None
) -> Edited:
    """Edit a tree.

    Args:
        tree: the tree whose rows are edited.
        edit: what to change.
        check: judges the changed units; None: no verdicts.
        confirm: go on although rows join or a row loses its beginning.
        expected: the revision that the editor saw.

    Raises:
        StaleError: the tree is not the one that the edit was made for.
        ConfigError: there is no such row or cell, a value is missing, or a join needs confirmation.
    """
    now = revision(tree)
    if expected is not None and expected != now:
        raise StaleError(f"the tree was changed meanwhile: it is revision {now}, the edit was made for {expected}")
    lines = lines_of(tree)
    _valid(lines, edit)
    done, also, reverse, loose = _EDITS[edit.field](lines, edit)
    new = tree_of(done)
    seen = lines_of(new)
    joins = _shape(seen) != _shape(done)
    if (joins or loose) and not confirm:
        what = "rows become one" if joins else "a row loses its beginning or its end"
        raise ConfigError(f"after this edit {what}; confirm it to go on")
    changes = _diff(tree, new, edit, done)
    verdicts = tuple(check.judge(c.after) for c in changes if c.after is not None) if check else ()
    old_gaps = {g.node for g in gaps(tree)}
    old_leaves = set(tree.used_before_made())
    return Edited(
        new,
        seen,
        revision(new),
        changes,
        also,
        None if joins else reverse,
        verdicts,
        tuple(g for g in gaps(new) if g.node not in old_gaps),
        tuple(n for n in new.used_before_made() if n not in old_leaves),
        joins,
    )


def _shape(lines: Lines) -> list[tuple[tuple[Cell, ...], tuple[Arrow, ...]]]:
    return sorted(((line.cells, line.arrows) for line in lines.lines), key=repr)


def _valid(lines: Lines, edit: Edit) -> None:
    if not 0 <= edit.line < len(lines.lines):
        raise ConfigError(f"there are rows 0 to {len(lines.lines) - 1}, not {edit.line}")
    line = lines.lines[edit.line]
    if edit.field in (Field.STATE, Field.PLACE, Field.INSERT) and not 0 <= edit.cell < len(line.cells):
        raise ConfigError(f"row '{line.name}' has cells 0 to {len(line.cells) - 1}, not {edit.cell}")
    if edit.field in (Field.MOTION, Field.DELETE) and not 0 <= edit.cell < len(line.arrows):
        raise ConfigError(f"row '{line.name}' has {len(line.arrows)} motions, there is none numbered {edit.cell}")
    if edit.field in (Field.MOTION, Field.INSERT) and not edit.motion.strip():
        raise ConfigError("a motion needs a name")
    if edit.field is Field.END_PRODUCT and (not edit.name.strip() or line.end_product is None):
        raise ConfigError(f"row '{line.name}' has no end product to rename" if edit.name else "give the new name")
    if any(not s.strip() for s in edit.states):
        raise ConfigError("a state can't be empty")


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
            cells[0] = replace(cells[0], unit=LEAF, position=arrows[0].taken)
        rows.append(replace(line, cells=tuple(cells), arrows=tuple(arrows), end_product=end))
    rows = [r for r in rows if r.arrows or r.cells[0].unit != LEAF]
    shift = {k: k - 1 for k in range(unit + 1, len(lines.units))}
    done = replace(
        lines,
        lines=renumbered([replace(r, again=None) for r in rows], shift),
        units=lines.units[:unit] + lines.units[unit + 1 :],
    )
    return done, tuple(k for k in lines.sharing(unit) if k != edit.line), None, loose


_EDITS: dict[Field, Callable[[Lines, Edit], Done]] = {
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


def _diff(old: TaskTree, new: TaskTree, edit: Edit, done: Lines) -> tuple[Change, ...]:
    before: list[FunctionalUnit | None] = list(old.units)
    after: list[FunctionalUnit | None] = list(new.units)
    if edit.field is Field.INSERT:
        at = next(k for k, info in enumerate(done.units) if (info.source.origin is Origin.PERSON and k >= len(before))
                  or (k < len(before) and info.source != old.units[k].source))  # fmt: skip
        before.insert(at, None)
    elif edit.field is Field.DELETE:
        at = lines_of(old).lines[edit.line].arrows[edit.cell].unit
        after.insert(at, None)
    pairs = zip(before, after, strict=True)
    return tuple(Change(k, b, a) for k, (b, a) in enumerate(pairs) if b is None or a is None or b.key != a.key)


@dataclass
class History:
    """A tree under edit, with undo and redo.

    Attributes:
        tree: as it is now.
        check: judges the changed units.
    """

    tree: TaskTree
    check: UnitCheck | None = None
    _past: list[TaskTree] = field(default_factory=list)
    _future: list[TaskTree] = field(default_factory=list)

    @property
    def revision(self) -> str:
        """Of the tree as it is now."""
        return revision(self.tree)

    def edit(self, edit: Edit, expected: str | None = None, confirm: bool = False) -> Edited:
        """Apply an edit; see `apply`."""
        done = apply(self.tree, edit, self.check, confirm, expected)
        self._past.append(self.tree)
        self._future.clear()
        self.tree = done.tree
        return done

    def undo(self) -> bool:
        """Take the last edit back; False where there is none."""
        if not self._past:
            return False
        self._future.append(self.tree)
        self.tree = self._past.pop()
        return True

    def redo(self) -> bool:
        """Do the last undone edit again; False where there is none."""
        if not self._future:
            return False
        self._past.append(self.tree)
        self.tree = self._future.pop()
        return True


def review(lines: Lines, check: UnitCheck, tree: TaskTree) -> tuple[tuple[int, str], ...]:
    """Rows that look wrong by rule, with the reason: the pre-check that `handrail tree review` shows a person.

    A recipe is right where every row is; whether a row is, a person decides.
    """
    from handrail.network.units import Status

    bad: dict[int, str] = {}
    for number, unit in enumerate(tree.units):
        verdict = check.judge(unit)
        if verdict.status is Status.WRONG:
            for row in _concerned(lines, number, verdict.findings[0].text):
                bad.setdefault(row, verdict.sentence)
    for gap in gaps(tree):
        for row, line in enumerate(lines.lines):
            if line.cells[0].unit == LEAF and line.cells[0].node == gap.node:
                bad.setdefault(row, gap.text)
    return tuple(sorted(bad.items()))


def _concerned(lines: Lines, unit: int, text: str) -> Iterable[int]:
    rows = [k for k in lines.sharing(unit) if not lines.lines[k].tool]
    named = [k for k in rows if text.startswith(lines.lines[k].name)]
    return named or rows or lines.sharing(unit)
