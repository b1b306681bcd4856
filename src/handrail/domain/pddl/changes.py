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
    Bound,
    Group_,
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
    step: tuple[int, Vars, Tree, str] | None = None
    """For a count: by how much it changes, for what and when (without its old and new value), and its old value."""


@dataclass(frozen=True, slots=True)
class Extra:
    """A parameter that an action has only in PDDL: the value that a fluent has before the step, plus an offset.

    `args` are PDDL terms: parameters, earlier extra parameters, or names.
    """

    name: str
    type: str
    fluent: str
    args: tuple[str, ...]
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
        makes = tuple(makes)
        # one count is carried by extra parameters; several would multiply an action's ground instances
        self._one_count = sum(isinstance(e, f.Change) for e in makes) == 1
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
                self._change(
                    e,
                    fluent,
                    variables,
                    target_vars,
                    whole,
                    args,
                    origin,
                    alone and not target_vars and self._one_count,
                )
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
        assert isinstance(cond, Lit)
        self.extra.append(Extra(term, t.value_type(fluent), fluent.name, cond.words[1:-1]))
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
            self.extra += [Extra(old, kind, fluent.name, args), Extra(new, kind, fluent.name, args, e.amount)]
            self.needs.append(moved)
            self.changes.append(Change(fluent, (), when, args, new, origin, False, (e.amount, (), when, old)))
            return
        pair: Vars = ((old, kind), (new, kind))
        low, high = fluent.low, fluent.high
        fits = t.among(fluent, args, {n for n in range(low, high + 1) if low <= n + e.amount <= high})
        in_range = either((inverse(when), fits if fits is not None else bound("exists", pair, moved)))
        self.needs.append(bound("forall", variables + target_vars, in_range))
        every = variables + target_vars
        step = (e.amount, every, when, old)
        self.changes.append(Change(fluent, every + pair, both((when, moved)), args, new, origin, bool(variables), step))

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
            step = out.step
            if step is not None:
                step = (
                    step[0],
                    tuple((w, kind) if x == (v, kind) else x for x in step[1]),
                    swap(step[2], v, w),
                    w if step[3] == v else step[3],
                )
            out = Change(
                out.fluent,
                tuple((w, kind) if x == (v, kind) else x for x in out.vars),
                swap(out.when, v, w),
                tuple(w if x == v else x for x in out.args),
                w if out.value == v else out.value,
                out.origin,
                out.loops,
                step,
            )
        return out

    def _exclude(self, a: Change, b: Change) -> None:
        t = self._t
        differ: Tree
        together = [same(x, y, t.constants) for x, y in zip(a.args, b.args, strict=True)]
        if a.step is not None and b.step is not None:
            if a.step[0] != b.step[0]:  # the same old value, moved by different amounts
                clash = bound("exists", a.step[1] + b.step[1], both((a.step[2], b.step[2], *together)))
                if clash != FALSE:
                    self.needs.append(inverse(clash))
            return
        if a.value == b.value:
            return
        differ = TRUE if {a.value, b.value} & {NONE, "true", "false"} else inverse(same(a.value, b.value, t.constants))
        clash = bound("exists", a.vars + b.vars, both((a.when, b.when, *together, differ)))
        if clash != FALSE:
            self.needs.append(inverse(clash))

    def texts(self, needs: Tree) -> tuple[list[str], Tree]:
        """The effects as PDDL texts, and the precondition with what they need to know of the values before the step.

        Args:
            needs: the precondition as `lift` gave it; where it fixes a value that changes, only that one is deleted.
        """
        parts = list(needs.parts) if isinstance(needs, Group_) and needs.word == "and" else [needs]
        asked = {p.words for p in parts if isinstance(p, Lit) and p.positive}
        self._known = {w[:-1]: w[-1] for w in asked if len(w) > 1}
        self._none = asked
        self._more: list[Tree] = []
        out: dict[str, None] = {}
        for c in self.changes:
            for s in self._set(c):
                out[s] = None
        return list(out), both([*parts, *self._more])

    def _deleted(self, c: Change) -> list[str]:
        """The deletion of what a fluent was before."""
        t = self._t
        key = (t.predicate(c.fluent.name), *c.args)
        alone = sum(x.fluent == c.fluent for x in self.changes) == 1
        if c.when == TRUE and not c.vars and alone:
            if (t.none(c.fluent.name), *c.args) in self._none:
                return []
            if key not in self._known and not c.fluent.optional and c.fluent.name in t.total:
                old = t.variable("was")
                self.extra.append(Extra(old, t.value_type(c.fluent), c.fluent.name, c.args))
                self._more.append(Lit((*key, old)))
                self._known[key] = old
            if key in self._known:
                old = self._known[key]
                return [] if old == c.value else [effect((), TRUE, Lit((*key, old), False))]
        other = t.variable("o")
        # the new value is deleted with the others and added: PDDL adds after it deletes, and no condition is needed
        return [effect((*c.vars, (other, t.value_type(c.fluent))), c.when, Lit((*key, other), False))]

    def _set(self, c: Change) -> list[str]:
        t = self._t
        name = t.predicate(c.fluent.name)
        if c.fluent.kind is Kind.BOOL:
            return [effect(c.vars, c.when, Lit((name, *c.args), c.value == "true"))]
        out: list[str] = []
        if c.step is not None:
            out.append(effect(c.vars, c.when, Lit((name, *c.args, c.step[3]), False)))
        else:
            out += self._deleted(c)
        if c.value == NONE:
            out.append(effect(c.vars, c.when, Lit((t.none(c.fluent.name), *c.args))))
            return out
        out.append(effect(c.vars, c.when, Lit((name, *c.args, c.value))))
        if c.fluent.optional:
            out.append(effect(c.vars, c.when, Lit((t.none(c.fluent.name), *c.args), False)))
        return out


def lift(translator: Translator, needs: Iterable[Tree], extra: list[Extra]) -> Tree:
    """A precondition in which a value that must exist is an extra parameter, the same one wherever the same fluent is meant.

    `exists ?p (and (on ?x ?p) ...)` asks for the value of one fluent, which has at most one; planners ground such parameters once
    where they would ground every `exists` apart.

    Args:
        translator: knows which predicates are valued fluents.
        needs: conjuncts.
        extra: extra parameters so far; grows.
    """
    valued = {translator.predicate(x.name): x for x in translator.domain.fluents.values() if x.kind is not Kind.BOOL}
    parts: list[Tree] = []
    whole = both(needs)
    parts = list(whole.parts) if isinstance(whole, Group_) and whole.word == "and" else [whole]
    known: dict[tuple[str, ...], str] = {}
    for p in parts:
        if isinstance(p, Lit) and p.positive and p.words[0] in valued:
            known.setdefault(p.words[:-1], p.words[-1])
    changed = True
    while changed:
        changed = False
        for k, p in enumerate(parts):
            if not isinstance(p, Bound) or p.word != "exists":
                continue
            found = _asked(p, valued)
            if found is None:
                continue
            lit, variable = found
            fluent = valued[lit.words[0]]
            value = known.get(lit.words[:-1])
            if value is None:
                value = variable[0]
                known[lit.words[:-1]] = value
                extra.append(Extra(value, variable[1], fluent.name, lit.words[1:-1]))
            rest = bound("exists", tuple(x for x in p.vars if x != variable), swap(p.body, variable[0], value))
            inside = rest.parts if isinstance(rest, Group_) and rest.word == "and" else (rest,)
            parts[k : k + 1] = inside
            for q in inside:
                if isinstance(q, Lit) and q.positive and q.words[0] in valued:
                    known.setdefault(q.words[:-1], q.words[-1])
            changed = True
            break
    return both(parts)


def _asked(p: Bound, valued: dict[str, Fluent]) -> tuple[Lit, tuple[str, str]] | None:
    """A valued fluent over fixed terms whose value a variable of the `exists` must be."""
    inside = p.body.parts if isinstance(p.body, Group_) and p.body.word == "and" else (p.body,)
    names = {v for v, _ in p.vars}
    for q in inside:
        asks = isinstance(q, Lit) and q.positive and q.words[0] in valued and q.words[-1] in names
        if isinstance(q, Lit) and asks and not names.intersection(q.words[1:-1]):
            return q, next(x for x in p.vars if x[0] == q.words[-1])
    return None


def effect(variables: Vars, when: Tree, made: Lit) -> str:
    """One PDDL effect; variables that nothing uses are dropped, and those that equal a term are replaced by it."""
    parts = when.parts if isinstance(when, Group_) and when.word == "and" else (when,)
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
