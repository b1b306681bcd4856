"""Reference semantics, slow and plain: conditions, steps and rules straight from their definitions.

Nothing here uses ground nodes, monitors or regression, so that it can judge the code that does. Known facts only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handrail.domain import formula as f
from handrail.domain.plan import Step
from handrail.domain.rules import Rule, RuleKind
from handrail.domain.types import Kind, Objects
from handrail.domain.values import Atom, Value

Facts = Mapping[Atom, Value]


def term(t: f.Term, facts: Facts, objects: Objects, b: Mapping[str, str]) -> Value:
    """The value of a term in a state."""
    if isinstance(t, f.Param):
        return b[t.name]
    if isinstance(t, f.Const):
        return t.value
    domain = objects.domain
    args = [term(a, facts, objects, b) for a in t.args]
    if t.name in domain.derived:
        d = domain.derived[t.name]
        if not all(isinstance(a, str) for a in args):
            return False
        return true(d.condition, facts, objects, {p.name: str(a) for p, a in zip(d.params, args, strict=True)})
    if t.name in domain.fluents:
        fluent = domain.fluents[t.name]
        fits = all(isinstance(a, str) and a in objects.members(*p.types) for p, a in zip(fluent.params, args, strict=True))
        if not fits:
            return False if fluent.kind is Kind.BOOL else None
        return facts.get((t.name, *map(str, args)), fluent.default)
    if t.name in domain.attributes:
        return objects.attribute(t.name, args[0]) if isinstance(args[0], str) else domain.attributes[t.name].default
    return args[0] in objects.members(t.name)


def true(c: f.Condition, facts: Facts, objects: Objects, b: Mapping[str, str] | None = None) -> bool:
    """Whether a condition is true in a state."""
    b = b or {}
    if isinstance(c, f.Not):
        return not true(c.part, facts, objects, b)
    if isinstance(c, f.And):
        return all(true(p, facts, objects, b) for p in c.parts)
    if isinstance(c, f.Or):
        return any(true(p, facts, objects, b) for p in c.parts)
    if isinstance(c, (f.Some, f.All)):
        each = (true(c.body, facts, objects, {**b, c.var: o}) for o in objects.of(*c.type.split(" | ")))
        return any(each) if isinstance(c, f.Some) else all(each)
    left, right = term(c.left, facts, objects, b), term(c.right, facts, objects, b)
    none_written = any(isinstance(t, f.Const) and t.value is None for t in (c.left, c.right))
    if c.op in ("==", "!="):
        same = left == right and (left is not None or none_written)
        return same == (c.op == "==")
    if left is None or right is None:
        return False
    order = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}  # type: ignore[operator]
    return order[c.op]


def run(steps: Sequence[Step], facts: Facts, objects: Objects) -> list[dict[Atom, Value]] | None:
    """States before, between and after the steps; None where a step's own needs fail, counts leave their range or effects clash."""
    states = [dict(facts)]
    for step in steps:
        skill = objects.domain.skills[step.skill]
        b = skill.bind(step.args)
        now = states[-1]
        if not all(true(n, now, objects, b) for n in skill.needs):
            return None
        out: dict[Atom, Value] = {}
        for e in skill.makes:
            if not _effect(e, now, objects, b, out, skill.true_wins):
                return None
        states.append({**now, **out})
    return states


def _effect(e: f.Effect, now: Facts, objects: Objects, b: Mapping[str, str], out: dict[Atom, Value], true_wins: bool) -> bool:
    if isinstance(e, f.When):
        return not true(e.condition, now, objects, b) or _effect(e.effect, now, objects, b, out, true_wins)
    if isinstance(e, f.Each):
        return all(_effect(e.effect, now, objects, {**b, e.var: o}, out, true_wins) for o in objects.of(*e.type.split(" | ")))
    args = [term(a, now, objects, b) for a in e.target.args]
    fluent = objects.domain.fluents[e.target.name]
    if not all(isinstance(a, str) and a in objects.members(*p.types) for p, a in zip(fluent.params, args, strict=True)):
        return True
    atom = (e.target.name, *map(str, args))
    if isinstance(e, f.Change):
        value: Value = now.get(atom, fluent.default) + e.amount  # type: ignore[operator]
        if not fluent.low <= value <= fluent.high:  # type: ignore[operator]
            return False
    else:
        value = term(e.value, now, objects, b)
    if atom in out and out[atom] != value:
        if not true_wins:
            return False
        value = True
    out[atom] = value
    return True


def keeps(rule: Rule, states: Sequence[Facts], objects: Objects) -> bool:
    """Whether a run keeps a rule, by the definition in `RuleKind`; for never/always the first state must not be bad already."""
    first = [true(rule.first, s, objects) for s in states]
    if rule.kind in (RuleKind.NEVER, RuleKind.ALWAYS):
        return all(v == (rule.kind is RuleKind.ALWAYS) for v in first[1:])
    assert rule.second is not None  # before and after have two conditions by construction
    second = [true(rule.second, s, objects) for s in states]
    if rule.kind is RuleKind.BEFORE:
        return all(any(first[:i]) for i in range(1, len(states)) if second[i] and not second[i - 1])
    return all(any(second[i : i + rule.within + 1]) for i in range(len(states)) if first[i])
