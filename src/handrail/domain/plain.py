"""The quick way to ground a plain skill: one whose conditions and effects are fluents over its parameters with fixed values.

Most PDDL actions are plain. The result is the same as the grounder's; only the road is shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handrail.domain import formula as f
from handrail.domain.ground import TRUE, Eq, Node
from handrail.domain.operator import GroundEffect
from handrail.domain.skill import Skill
from handrail.domain.types import Kind, Objects
from handrail.domain.values import Atom, Value


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fluent over parameters (by position) and constants, with a fixed value."""

    text: str
    name: str
    slots: tuple[int | str, ...]
    members: tuple[frozenset[str], ...]
    default: Value
    value: Value

    def atom(self, args: tuple[str, ...]) -> Atom | None:
        """The ground fluent; None where an argument has not the fluent's type, which the grounder has to judge."""
        out = [self.name]
        for slot, members in zip(self.slots, self.members, strict=True):
            a = slot if isinstance(slot, str) else args[slot]
            if a not in members:
                return None
            out.append(a)
        return tuple(out)


Plain = Callable[[tuple[str, ...]], "tuple[tuple[tuple[str, Node], ...], tuple[GroundEffect, ...]] | None"]


def plain(skill: Skill, objects: Objects) -> Plain | None:
    """A function from arguments to ground needs and effects; None where the skill is not plain."""
    position = {p.name: i for i, p in enumerate(skill.params)}

    def fact(text: str, call: f.Term, value: Value) -> _Fact | None:
        fluent = objects.domain.fluents.get(call.name) if isinstance(call, f.Call) else None
        if fluent is None or not isinstance(call, f.Call) or len(call.args) != len(fluent.params):
            return None
        if call.name in objects.domain.derived:
            return None
        if isinstance(value, bool) != (fluent.kind is Kind.BOOL):
            return None
        slots: list[int | str] = []
        for a in call.args:
            if isinstance(a, f.Param) and a.name in position:
                slots.append(position[a.name])
            elif isinstance(a, f.Const) and isinstance(a.value, str):
                slots.append(a.value)
            else:
                return None
        members = tuple(objects.members(*p.types) for p in fluent.params)
        return _Fact(text, call.name, tuple(slots), members, fluent.default, value)

    needs: list[_Fact] = []
    for n in skill.needs:
        wanted = True
        c: f.Condition = n
        while isinstance(c, f.Not):
            wanted, c = not wanted, c.part
        if not isinstance(c, f.Test) or c.op != "==" or not isinstance(c.right, f.Const):
            return None
        value = c.right.value
        if not wanted:
            if not isinstance(value, bool):
                return None
            value = not value
        made = fact(str(n), c.left, value)
        if made is None:
            return None
        needs.append(made)
    makes: list[_Fact] = []
    for e in skill.makes:
        found = fact("", e.target, e.value.value) if isinstance(e, f.Assign) and isinstance(e.value, f.Const) else None
        if found is None:
            return None
        makes.append(found)

    def ground(args: tuple[str, ...]) -> tuple[tuple[tuple[str, Node], ...], tuple[GroundEffect, ...]] | None:
        conditions: list[tuple[str, Node]] = []
        for x in needs:
            atom = x.atom(args)
            if atom is None:
                return None
            conditions.append((x.text, Eq(atom, x.default, x.value)))
        effects: dict[GroundEffect, None] = {}
        for x in makes:
            atom = x.atom(args)
            if atom is None:
                return None
            effects[GroundEffect(TRUE, atom, x.default, x.value)] = None
        return tuple(conditions), tuple(effects)

    return ground
