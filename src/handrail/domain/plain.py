"""The quick way to ground a plain skill: one whose conditions and effects are fluents over its parameters with fixed values.

Most PDDL actions are plain. The result is the same as the grounder's; only the road is shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from handrail.domain import formula as f
from handrail.domain.domain import Domain
from handrail.domain.ground import TRUE, Eq
from handrail.domain.operator import GroundEffect, Operator, conflicts
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

    def atom(self, args: tuple[str, ...]) -> Atom:
        """The ground fluent."""
        return (self.name, *(slot if isinstance(slot, str) else args[slot] for slot in self.slots))


Plain = Callable[[tuple[str, ...]], "Operator | None"]

_MOST = 100_000
_shared: WeakKeyDictionary[Domain, dict[tuple[str, ...], Operator]] = WeakKeyDictionary()
"""Per domain, operators that depend on nothing but their arguments' names: scenes of one domain share them."""


def plain(skill: Skill, objects: Objects, extra: Callable[[tuple[str, ...]], float]) -> Plain | None:
    """A function from arguments to operators; None where the skill is not plain.

    Args:
        skill: the skill.
        objects: the scene's objects.
        extra: what a step costs besides the skill's base, from tables of the scene.
    """
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

    facts = (*needs, *makes)
    constants = [(slot, m) for x in facts for slot, m in zip(x.slots, x.members, strict=True) if isinstance(slot, str)]
    if any(c not in members for c, members in constants):
        return None
    allowed: list[frozenset[str] | None] = [None] * len(skill.params)
    for x in facts:
        for slot, members in zip(x.slots, x.members, strict=True):
            if isinstance(slot, int):
                before = allowed[slot]
                allowed[slot] = members if before is None else before & members
    shared = _shared.setdefault(objects.domain, {}) if not skill.cost.terms else {}
    price = skill.cost.of(objects.domain.profile)

    def ground(args: tuple[str, ...]) -> Operator | None:
        for a, members in zip(args, allowed, strict=True):
            if members is not None and a not in members:
                return None  # an argument without the fluent's type is for the grounder to judge
        key = (skill.name, *args)
        found = shared.get(key)
        if found is None:
            conditions = tuple((x.text, Eq(x.atom(args), x.default, x.value)) for x in needs)
            effects = tuple(dict.fromkeys(GroundEffect(TRUE, x.atom(args), x.default, x.value) for x in makes))
            guards = () if skill.true_wins else conflicts(effects)
            cost = price if not skill.cost.terms else price + extra(args)
            found = Operator(key, conditions, effects, guards, cost, skill.true_wins)
            if len(shared) >= _MOST:
                shared.clear()
            shared[key] = found
        return found

    return ground
