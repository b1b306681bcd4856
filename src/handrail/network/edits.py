"""Editing progress lines: every edit maps back to the tree, spreads to what it concerns, is checked and can be undone.

A state edit spreads along its row while the old states stay, a place edit while the old place stays; a place edit also
renames or refills the containers that hold the object. A motion edit changes the unit for all rows that share it. The
answer says what changed, who else changes, and what the checks think of it. Edits never overwrite: a stale revision is
refused, and so is an edit that would join rows, unless confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from handrail.errors import ConfigError, StaleError
from handrail.network.edit_rules import EDITS, Edit, Field
from handrail.network.foon_json import dumps
from handrail.network.lines import LEAF, Arrow, Cell, Lines, lines_of, tree_of
from handrail.network.model import FunctionalUnit, ObjectNode, TaskTree
from handrail.network.units import Gap, UnitCheck, UnitVerdict, gaps


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
    done, also, reverse, loose = EDITS[edit.field](lines, edit)
    new = tree_of(done)
    seen = lines_of(new)
    joins = _shape(seen) != _shape(done)
    if (joins or loose) and not confirm:
        what = "rows become one" if joins else "a row loses its beginning or its end"
        raise ConfigError(f"after this edit {what}; confirm it to go on")
    if edit.field is Field.INSERT:
        reverse = _taking_out(seen, _inserted(tree, done))
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


def _inserted(old: TaskTree, done: Lines) -> int:
    """Where the new unit is: the first place at which the units differ."""
    for k, unit in enumerate(old.units):
        if done.units[k].source is not unit.source or done.units[k].motion != unit.motion:
            return k
    return len(old.units)


def _taking_out(lines: Lines, unit: int) -> Edit:
    row = lines.sharing(unit)[0]
    arrow = next(k for k, a in enumerate(lines.lines[row].arrows) if a.unit == unit)
    return Edit(Field.DELETE, row, arrow)


def _diff(old: TaskTree, new: TaskTree, edit: Edit, done: Lines) -> tuple[Change, ...]:
    before: list[FunctionalUnit | None] = list(old.units)
    after: list[FunctionalUnit | None] = list(new.units)
    if edit.field is Field.INSERT:
        before.insert(_inserted(old, done), None)
    elif edit.field is Field.DELETE:
        at = lines_of(old).lines[edit.line].arrows[edit.cell].unit
        after.insert(at, None)
    pairs = zip(before, after, strict=True)
    return tuple(Change(k, b, a) for k, (b, a) in enumerate(pairs) if b is None or a is None or b.key != a.key)


__all__ = ["Change", "Edit", "Edited", "Field", "History", "apply", "review", "revision"]


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
