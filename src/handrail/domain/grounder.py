"""From lifted to ground: parameters become objects, quantifiers and nested terms are expanded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from handrail.domain import formula as f
from handrail.domain.ground import FALSE, TRUE, Cmp, Node, Operand, Ref, compare, conj, disj, negate, some, switch
from handrail.domain.operator import GroundEffect, Guard, Operator, conflicts
from handrail.domain.plain import Plain, plain
from handrail.domain.plan import Step
from handrail.domain.skill import Skill
from handrail.domain.types import Kind, Objects
from handrail.domain.values import Atom, Value
from handrail.errors import DomainError, did_you_mean

Binding: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Split:
    """A term whose meaning depends on the value of a fluent that stands inside it."""

    atom: Atom
    default: Value
    cases: dict[Value, _Tree]


_Tree: TypeAlias = "_Split | Ref | Value"


class Grounder:
    """Makes ground nodes and operators for one set of objects. Take it from `grounder(objects)`, which keeps one per set."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.domain = objects.domain
        self._operators: dict[Step, Operator] = {}
        self._texts: dict[str, tuple[str, ...]] = {}
        self._plain: dict[str, Plain | None] = {}
        self._domains: dict[str, tuple[frozenset[str], ...]] = {}

    def node(self, condition: f.Condition, binding: Binding | None = None) -> Node:
        """A ground condition.

        Raises:
            DomainError: a name that is neither parameter nor object, or a call of something that is not a fluent.
        """
        return self._condition(condition, dict(binding or {}))

    def _condition(self, c: f.Condition, b: dict[str, str]) -> Node:
        if isinstance(c, f.Test):
            return self._test(c, b)
        if isinstance(c, f.Not):
            return negate(self._condition(c.part, b))
        if isinstance(c, f.And):
            return conj(*(self._condition(p, b) for p in c.parts))
        if isinstance(c, f.Or):
            return disj(*(self._condition(p, b) for p in c.parts))
        bodies = (self._condition(c.body, {**b, c.var: o}) for o in self.objects.of(*c.type.split(" | ")))
        if isinstance(c, f.Some):
            return some(bodies)
        return conj(*bodies)

    def _test(self, c: f.Test, b: dict[str, str]) -> Node:
        if isinstance(c.left, f.Call) and c.left.name in self.domain.derived:
            node = self._derived(c.left, b)
            truth = isinstance(c.right, f.Const) and isinstance(c.right.value, bool)
            if not truth or c.op not in ("==", "!="):
                raise DomainError(
                    f"'{c.left.name}' is a derived fluent: it is true or false and can't be compared in '{c}'"
                )
            wanted = (c.right.value is True) == (c.op == "==")  # type: ignore[union-attr]
            return node if wanted else negate(node)
        none = any(isinstance(t, f.Const) and t.value is None for t in (c.left, c.right))
        left, right = self.term(c.left, b), self.term(c.right, b)
        if not isinstance(left, _Split) and not isinstance(right, _Split):
            return compare(left, c.op, right, none)
        return _over(left, lambda x: _over(right, lambda y: compare(x, c.op, y, none)))

    def _derived(self, call: f.Call, b: dict[str, str]) -> Node:
        d = self.domain.derived[call.name]
        if len(call.args) != len(d.params):
            raise DomainError(
                f"'{call}' has {len(call.args)} arguments; it is declared as {d.name}({', '.join(map(str, d.params))})"
            )
        trees = [self.term(a, b) for a in call.args]

        def body(done: list[str], rest: list[_Tree]) -> Node:
            if not rest:
                return self._condition(d.condition, dict(zip((p.name for p in d.params), done, strict=True)))
            return _over(
                rest[0], lambda x: body([*done, x], rest[1:]) if isinstance(x, str) else FALSE, values=self._values
            )

        return body([], trees)

    def term(self, t: f.Term, b: Binding) -> _Tree:
        """The value of a term: a constant, a fluent, or cases over the fluents inside it."""
        if isinstance(t, f.Param):
            if t.name not in b:
                raise DomainError(
                    f"there is no parameter or object '{t.name}'.{did_you_mean(t.name, {*b, *self.objects.names()})}"
                )
            return b[t.name]
        if isinstance(t, f.Const):
            return t.value
        args = [self.term(a, b) for a in t.args]
        if any(isinstance(a, (Ref, _Split)) for a in args):
            return self._call(t, args, [])
        return self._value(t, args)  # type: ignore[arg-type]

    def _call(self, t: f.Call, rest: list[_Tree], done: list[Value]) -> _Tree:
        if rest:
            first = rest[0]
            if isinstance(first, Ref):
                cases: dict[Value, _Tree] = {v: self._call(t, rest[1:], [*done, v]) for v in self._values(first)}
                return _Split(first.atom, first.default, cases)
            if isinstance(first, _Split):
                inner: dict[Value, _Tree] = {v: self._call(t, [x, *rest[1:]], done) for v, x in first.cases.items()}
                return _Split(first.atom, first.default, inner)
            return self._call(t, rest[1:], [*done, first])
        return self._value(t, done)

    def _value(self, t: f.Call, args: list[Value]) -> Ref | Value:
        d = self.domain
        name = t.name
        fluent = d.fluents.get(name)
        if fluent is not None:
            if len(args) != len(fluent.params):
                raise DomainError(f"'{t}' has {len(args)} arguments; the fluent is {fluent}")
            domains = self._domains.get(name)
            if domains is None:
                domains = self._domains[name] = tuple(self.objects.members(*p.types) for p in fluent.params)
            for a, members in zip(args, domains, strict=True):
                if a not in members:
                    return False if fluent.kind is Kind.BOOL else None
            return Ref((name, *args), fluent.default)  # type: ignore[arg-type]
        if name in d.attributes and len(args) == 1:
            a = args[0]
            return self.objects.attribute(name, a) if isinstance(a, str) else d.attributes[name].default
        if (name in d.types or name == "object") and len(args) == 1:
            return args[0] in self.objects.members(name)
        known = {*d.fluents, *d.attributes, *d.types, *d.derived}
        if name in known:
            raise DomainError(f"'{t}' has {len(args)} arguments; an attribute or type test takes one")
        raise DomainError(f"there is no fluent, attribute or type '{name}'.{did_you_mean(name, known)}")

    def _values(self, ref: Ref) -> tuple[Value, ...]:
        return self.objects.values_of(self.domain.fluents[ref.atom[0]])

    def operator(self, step: Step) -> Operator:
        """The ground operator of a step, without rules (`Task` adds those). Kept, so the second call is a look-up.

        Raises:
            DomainError: no such skill, or a wrong number of arguments.
        """
        found = self._operators.get(step)
        if found is None:
            found = self._operators[step] = self._ground(step)
        return found

    def _ground(self, step: Step) -> Operator:
        skill = self.domain.skill(step.skill)
        if len(step.args) != len(skill.params):
            raise DomainError(
                f"{step} has {len(step.args)} arguments; the skill is {skill.name}({', '.join(map(str, skill.params))})"
            )
        if skill.name not in self._plain:
            self._plain[skill.name] = plain(skill, self.objects, lambda args: self._tables(skill, skill.bind(args)))
        quick = self._plain[skill.name]
        made = quick(step.args) if quick is not None else None
        if made is not None:
            return made
        b = skill.bind(step.args)
        texts = self._texts.get(skill.name)
        if texts is None:
            texts = self._texts[skill.name] = tuple(map(str, skill.needs))
        needs = tuple((t, self._condition(n, b)) for t, n in zip(texts, skill.needs, strict=True))
        effects: list[GroundEffect] = []
        guards: list[Guard] = []
        for e in skill.makes:
            self._effect(e, b, TRUE, effects, guards)
        merged = tuple(dict.fromkeys(effects))
        if not skill.true_wins:
            guards.extend(conflicts(merged))
        return Operator(step.key, needs, merged, tuple(guards), self.cost(skill, b), skill.true_wins)

    def _effect(self, e: f.Effect, b: dict[str, str], when: Node, out: list[GroundEffect], guards: list[Guard]) -> None:
        if isinstance(e, f.When):
            self._effect(e.effect, b, conj(when, self._condition(e.condition, b)), out, guards)
            return
        if isinstance(e, f.Each):
            for o in self.objects.of(*e.type.split(" | ")):
                self._effect(e.effect, {**b, e.var: o}, when, out, guards)
            return
        if when is FALSE:
            return
        target = self.term(e.target, b)
        if isinstance(e, f.Change):
            for c, ref in _leaves(target, when):
                if isinstance(ref, Ref):
                    out.append(GroundEffect(c, ref.atom, ref.default, Ref(ref.atom, ref.default, e.amount)))
                    guards.append(self._range(c, ref, e))
            return
        value = self.term(e.value, b)
        for c, ref in _leaves(target, when):
            for c2, v in _leaves(value, c):
                if isinstance(ref, Ref) and c2 is not FALSE:
                    out.append(GroundEffect(c2, ref.atom, ref.default, v))

    def _range(self, when: Node, ref: Ref, e: f.Change) -> Guard:
        fluent = self.domain.fluents[ref.atom[0]]
        low, high = fluent.low - e.amount, fluent.high - e.amount
        bound = Cmp(ref, "<=", high) if e.amount > 0 else Cmp(ref, ">=", low)
        return Guard("RANGE", f"{e.target} stays within {fluent.low}..{fluent.high}", disj(negate(when), bound))

    def cost(self, skill: Skill, b: Binding) -> float:
        """Cost of a step for the domain's profile."""
        return skill.cost.of(self.domain.profile) + self._tables(skill, b)

    def _tables(self, skill: Skill, b: Binding) -> float:
        total = 0.0
        for factor, call in skill.cost.terms:
            args = tuple(str(self.term(a, b)) for a in call.args)
            total += factor * self.objects.number((call.name, *args))
        return total


def _over(
    tree: _Tree, leaf: Callable[[Operand], Node], values: Callable[[Ref], tuple[Value, ...]] | None = None
) -> Node:
    """Build a node from a tree of cases; `values` makes a fluent at a leaf into cases over its values as well."""
    if isinstance(tree, _Split):
        return switch(tree.atom, tree.default, {v: _over(x, leaf, values) for v, x in tree.cases.items()})
    if values is not None and isinstance(tree, Ref):
        return switch(tree.atom, tree.default, {v: leaf(v) for v in values(tree)})
    return leaf(tree)


def _leaves(tree: _Tree, when: Node) -> list[tuple[Node, Operand]]:
    """The leaves of a tree of cases, each with the condition under which it is meant."""
    if not isinstance(tree, _Split):
        return [(when, tree)]
    out: list[tuple[Node, Operand]] = []
    for v, x in tree.cases.items():
        c = conj(when, compare(Ref(tree.atom, tree.default), "==", v, none_written=True))
        if c is not FALSE:
            out.extend(_leaves(x, c))
    return out


def grounder(objects: Objects) -> Grounder:
    """The grounder of a set of objects; made once for each."""
    found = objects.cache.get("grounder")
    if not isinstance(found, Grounder):
        found = objects.cache["grounder"] = Grounder(objects)
    return found
