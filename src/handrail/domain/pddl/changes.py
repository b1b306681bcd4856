"""Lifted effects to PDDL effects, with the conditions that keep them apart and counts in range."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from handrail.domain import formula as f
from handrail.domain.pddl.translate import Scope, Translator
from handrail.domain.pddl.tree import (
    FALSE,
    NONE,
    TRUE,
    Lit,
    Same,
    Tree,
    Vars,
    both,
    bound,
    either,
    inverse,
    same,
    swap,
    text,
    typed,
)
from handrail.domain.types import Fluent, Kind


@dataclass(frozen=True, slots=True)
class Change:
    """One way an effect may go: for all `vars` for which `when` holds, the fluent at `args` becomes `value`.

    `origin` tells the ways of one effect apart from other effects': ways of one effect exclude each other.
    """

    fluent: Fluent
    vars: Vars
    when: Tree
    args: tuple[str, ...]
    value: str
    origin: int
    loops: bool


@dataclass(frozen=True, slots=True)
class Extra:
    """A parameter that an action has only in PDDL: the value that a term has before the step."""

    name: str
    type: str
    term: f.Term
    offset: int = 0


class Effects:
    """The effects of one skill.

    Attributes:
        changes: every way every effect may go.
        needs: what must hold besides the skill's own conditions: the extra parameters' meaning, ranges, no contradiction.
        extra: additional parameters.
    """

    def __init__(self, translator: Translator, makes: Iterable[f.Effect], scope: Scope, true_wins: bool) -> None:
        self._t = translator
        self.changes: list[Change] = []
        self.needs: list[Tree] = []
        self.extra: list[Extra] = []
        for n, e in enumerate(makes):
            self._visit(e, scope, (), TRUE, n)
        if not true_wins:
            self._apart()
        self._true_wins = true_wins

    def _visit(self, e: f.Effect, scope: Scope, variables: Vars, when: Tree, origin: int) -> None:
        t = self._t
        if isinstance(e, f.When):
            self._visit(e.effect, scope, variables, both((when, t.condition(e.condition, scope))), origin)
        elif isinstance(e, f.Each):
            v = t.variable("e")
            kinds = tuple(e.type.split(" | "))
            inner = {**scope, e.var: (v, kinds)}
            self._visit(e.effect, inner, (*variables, (v, t.types(kinds))), when, origin)
        else:
            self._assign(e, scope, variables, when, origin)

    def _assign(self, e: f.Assign | f.Change, scope: Scope, variables: Vars, when: Tree, origin: int) -> None:
        t = self._t
        fluent = t.domain.fluents[e.target.name]
        alone = not variables and when == TRUE
        loops = bool(variables)
        for target_vars, cond, args in t.arguments(e.target.args, scope):
            if NONE in args:
                continue
            whole = both((when, cond))
            if isinstance(e, f.Change):
                self._change(e, fluent, variables, target_vars, whole, args, origin, alone and not target_vars)
                continue
            lifted = self._lift(e.value, scope) if alone and not target_vars else None
            if lifted is not None:
                self.changes.append(Change(fluent, (), whole, args, lifted, origin, loops))
                continue
            for value_vars, cond2, value in t.leaves(e.value, scope):
                every = variables + target_vars + value_vars
                self.changes.append(Change(fluent, every, both((whole, cond2)), args, value, origin, loops))

    def _lift(self, value: f.Term, scope: Scope) -> str | None:
        """An extra parameter for a fluent that always has a value, which spares a conditional effect."""
        t = self._t
        if not isinstance(value, f.Call) or any(isinstance(a, f.Call) for a in value.args):
            return None
        fluent = t.domain.fluents.get(value.name)
        if fluent is None or fluent.kind is Kind.BOOL or fluent.optional:
            return None
        ((_, cond, term),) = t.leaves(value, scope)
        self.extra.append(Extra(term, t.value_type(fluent), value))
        self.needs.append(cond)
        return term

    def _change(
        self,
        e: f.Change,
        fluent: Fluent,
        variables: Vars,
        target_vars: Vars,
        when: Tree,
        args: tuple[str, ...],
        origin: int,
        alone: bool,
    ) -> None:
        t = self._t
        old, new, kind = t.variable("old"), t.variable("new"), t.value_type(fluent)
        held = Lit((t.predicate(fluent.name), *args, old))
        stepping = Lit((self._stepper(fluent, e.amount), old, new))
        moved = both((held, stepping))
        if alone:
            self.extra += [Extra(old, kind, e.target), Extra(new, kind, e.target, e.amount)]
            self.needs.append(moved)
            self.changes.append(Change(fluent, (), when, args, new, origin, False))
            return
        pair: Vars = ((old, kind), (new, kind))
        in_range = either((inverse(when), bound("exists", pair, moved)))
        self.needs.append(bound("forall", variables + target_vars, in_range))
        self.changes.append(
            Change(fluent, variables + target_vars + pair, both((when, moved)), args, new, origin, bool(variables))
        )

    def _stepper(self, fluent: Fluent, amount: int) -> str:
        self._t.used.add((f"step {amount}", fluent.name))
        sign = "plus" if amount >= 0 else "minus"
        return self._t.names("fluent", f"{fluent.name}-{sign}-{abs(amount)}")

    def _apart(self) -> None:
        """Two effects must not give one target two values."""
        for a, b in combinations(self.changes, 2):
            if a.fluent == b.fluent and a.origin != b.origin:
                self._exclude(a, b)
        for a in self.changes:
            if a.loops:
                self._exclude(a, self._renamed(a))
                for b in self.changes:
                    if b.origin == a.origin and b is not a:
                        self._exclude(a, self._renamed(b))

    def _renamed(self, a: Change) -> Change:
        out = a
        for v, kind in a.vars:
            w = self._t.variable("w")
            out = Change(
                out.fluent,
                tuple((w, kind) if x == (v, kind) else x for x in out.vars),
                swap(out.when, v, w),
                tuple(w if x == v else x for x in out.args),
                w if out.value == v else out.value,
                out.origin,
                out.loops,
            )
        return out

    def _exclude(self, a: Change, b: Change) -> None:
        t = self._t
        differ: Tree
        if a.value == b.value:
            return
        if {a.value, b.value} & {NONE, "true", "false"}:
            differ = TRUE
        else:
            differ = inverse(same(a.value, b.value, t.constants))
        together = [same(x, y, t.constants) for x, y in zip(a.args, b.args, strict=True)]
        clash = bound("exists", a.vars + b.vars, both((a.when, b.when, *together, differ)))
        if clash != FALSE:
            self.needs.append(inverse(clash))

    def texts(self) -> list[str]:
        """The effects as PDDL texts."""
        out: dict[str, None] = {}
        for c in self.changes:
            for s in self._set(c):
                out[s] = None
        return list(out)

    def _set(self, c: Change) -> list[str]:
        t = self._t
        name = t.predicate(c.fluent.name)
        if c.fluent.kind is Kind.BOOL:
            return [effect(c.vars, c.when, Lit((name, *c.args), c.value == "true"))]
        out: list[str] = []
        other = t.variable("o")
        others: Vars = ((other, t.value_type(c.fluent)),)
        if c.value == NONE:
            out.append(effect(c.vars + others, c.when, Lit((name, *c.args, other), False)))
            out.append(effect(c.vars, c.when, Lit((t.none(c.fluent.name), *c.args))))
        else:
            differs = Same(other, c.value, False)
            out.append(effect(c.vars + others, both((c.when, differs)), Lit((name, *c.args, other), False)))
            out.append(effect(c.vars, c.when, Lit((name, *c.args, c.value))))
            if c.fluent.optional:
                out.append(effect(c.vars, c.when, Lit((t.none(c.fluent.name), *c.args), False)))
        return out


def effect(variables: Vars, when: Tree, made: Lit) -> str:
    """One PDDL effect; variables that nothing uses are dropped, and those that equal a term are replaced by it."""
    parts = when.parts if not isinstance(when, (Lit, Same)) and getattr(when, "word", "") == "and" else (when,)
    for v, kind in variables:
        for p in parts:
            if isinstance(p, Same) and p.positive and v in (p.left, p.right):
                other = p.right if p.left == v else p.left
                rest = both(swap(q, v, other) for q in parts if q is not p)
                words = tuple(other if w == v else w for w in made.words)
                left = tuple(x for x in variables if x != (v, kind))
                return effect(left, rest, Lit(words, made.positive))
    body = text(made) if when == TRUE else f"(when {text(when)} {text(made)})"
    used = tuple(x for x in variables if _mentions(body, x[0]))
    return f"(forall ({typed(used)}) {body})" if used else body


def _mentions(body: str, variable: str) -> bool:
    at = body.find(variable)
    while at >= 0:
        end = at + len(variable)
        if end == len(body) or not (body[end].isalnum() or body[end] in "-_"):
            return True
        at = body.find(variable, end)
    return False


__all__ = ["Change", "Effects", "Extra", "effect"]
