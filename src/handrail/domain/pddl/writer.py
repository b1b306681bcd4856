"""A task as PDDL that Fast Downward and unified-planning accept.

    task, state ─▶ names ─▶ conditions (`translate`), effects (`changes`), rules (`settle`), costs (`prices`) ─▶ `Written`

A rule that is broken at the start asks for its mending by the first step here, while the checker lets steps pass that don't touch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from handrail.domain import formula as f
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.pddl.changes import Effects, Extra, lift
from handrail.domain.pddl.names import Names
from handrail.domain.pddl.prices import Prices
from handrail.domain.pddl.settle import Settle
from handrail.domain.pddl.translate import COUNT, SYMBOL, Scope, Translator
from handrail.domain.pddl.tree import (
    FALSE,
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
from handrail.domain.pddl.written import Written
from handrail.domain.rules import Rule
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.task import Task, no_go_rules
from handrail.domain.types import Kind, Objects
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom
from handrail.errors import DomainError

_REQUIREMENTS = (
    "  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :equality "
    ":existential-preconditions :universal-preconditions :conditional-effects :action-costs)"
)
_SPREAD = 40
"""A `forall` over at most so many combinations is written out."""


def write_domain(domain: Domain) -> Written:
    """A domain alone: its skills, constants and rules."""
    return _Writer(Task(Objects(domain)), None, {}).written()


def write_task(task: Task, state: State, carried: Mapping[Atom, Value] | None = None) -> Written:
    """A domain and a problem for a task.

    Raises:
        DomainError: the state has unknown facts, which PDDL can't say; they are listed.
    """
    unknown = [a for a in state.unknown() if a[0][0] != "$"]
    if unknown:
        shown = ", ".join(show_atom(a) for a in unknown[:8])
        raise DomainError(f"PDDL can't say that a fact is unknown; find out first: {shown}")
    return _Writer(task, state, task.start(state, carried)).written()


class _Writer:
    def __init__(self, task: Task, state: State | None, values: Mapping[Atom, Value]) -> None:
        self.task = task
        self.state = state
        self.values = values
        self.domain: Domain = task.domain
        self.goal: Goal = task.goal
        self.exclusions: Exclusions = task.exclusions
        self.names = Names()
        self.t = Translator(self.domain, self.names)
        self.rules: tuple[Rule, ...] = (*self.domain.safety.rules, *no_go_rules(task.objects))
        self.settle = Settle(self.t, self.rules, self.goal)
        self.extra: dict[str, tuple[Extra, ...]] = {}
        self.params: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        self._names_objects = False

    def written(self) -> Written:
        for name in self.domain.types:
            self.t.type(name)
        for o in self.task.objects:
            self.t.object(o.name)
        counts = [self.t.count(n) for n in range(self.t.low, self.t.top + 1)]
        self._members = {
            self.t.types((n,)): [self.t.object(o) for o in self.task.objects.of(n)] for n in self.domain.types
        }
        self._members[self.names("type", COUNT)] = counts
        self._know()
        skills = [s for _, s in sorted(self.domain.skills.items()) if not self._too_much(s)]
        for s in skills:
            self.names("skill", s.name)
        settle = [self.settle.action()] if self.settle.needed else []
        actions = {s.name: self._action(s) for s in skills}
        skills = [s for s in skills if actions[s.name]]
        goal = both((self.t.condition(self.goal.final, {}), *self.settle.goal()))
        facts = list(self._facts()) if self.state is not None else []
        prices = Prices(self.t, skills, self.task.objects if self.state is not None else None)
        head = [f"(define (domain {self.names('domain', self.domain.name)})", _REQUIREMENTS, *self._types()]
        if constants := self._constants():
            head.append(f"  (:constants {constants})")
        body = [*head, *self._predicates(), prices.functions(), *settle]
        body += [f"{actions[s.name]} {prices.effect(s, self.params[s.name])})\n  )" for s in skills]
        return Written(
            domain="\n".join([*body, ")", ""]),
            problem=self._problem([*facts, *prices.facts()], goal) if self.state is not None else "",
            scale=prices.scale,
            notes=tuple(self.notes),
            _names=self.names,
            _extra=self.extra,
            _params=self.params,
            _settles=self.settle.needed,
            _top=self.domain,
        )

    def _know(self) -> None:
        """Static atoms of the known objects, and the fluents whose value is always known."""
        self._static: dict[tuple[str, ...], bool] = {}
        self._closed: set[str] = set()
        if self.state is None:
            return
        t, objects = self.t, self.task.objects
        for name, a in self.domain.attributes.items():
            self._closed |= {t.predicate(name)} if a.kind is Kind.BOOL else {t.predicate(name), t.none(name)}
        self._closed |= {self.names("is", f"is-{n}") for n in self.domain.types}
        for kind, name in [("attribute", n) for n in self.domain.attributes] + [("type", n) for n in self.domain.types]:
            for fact in self._static_facts(kind, name):
                self._static[tuple(fact[1:-1].split())] = True
        unsure = {
            n
            for n, x in self.domain.fluents.items()
            if x.default is UNKNOWN
            and any((n, *a) not in self.values for a in product(*(objects.of(*p.types) for p in x.params)))
        }
        t.total = set() if unsure else set(self.domain.fluents)  # a value that is copied may come from any of them

    def _too_much(self, skill: Skill) -> bool:
        """Whether a limit forbids the skill altogether."""
        for quantity, limit in self.domain.safety.limits.items():
            declared = getattr(skill, quantity, None)
            if declared is not None and declared > limit:
                self.notes.append(f"{skill.name} declares {quantity} {declared:g}, above the limit {limit:g}: left out")
                return True
        return False

    # sections of the domain

    def _types(self) -> list[str]:
        own = [t for t in self.domain.types.values() if t.name != "object"]
        lines = [f"{self.t.type(t.name)} - {self.t.type(t.parent or 'object')}" for t in own]
        if any(x.kind is Kind.COUNT for x in self.domain.fluents.values()):
            lines.append(f"{self.names('type', COUNT)} - object")
        if self.domain.symbols:
            lines.append(f"{self.names('type', SYMBOL)} - object")
        return [f"  (:types {' '.join(lines)})"] if lines else []

    def _constants(self) -> str:
        """Everything that an action may name; with goals in the rules' action, any object."""
        named = {o.name for o in self.domain.constants}
        goal = self.goal
        if self._names_objects or goal.keep or goal.subgoals or len(self.exclusions) or self.domain.safety.no_go:
            named |= {o.name for o in self.task.objects}
        self._in_domain = named
        out = [f"{self.t.object(o.name)} - {self.t.type(o.type)}" for o in self.task.objects if o.name in named]
        out += [f"{self.t.count(n)} - {self.names('type', COUNT)}" for n in range(self.t.low, self.t.top + 1)]
        out += [f"{self.t.symbol(s)} - {self.names('type', SYMBOL)}" for s in sorted(self.domain.symbols)]
        return " ".join(out)

    def _predicates(self) -> list[str]:
        t = self.t
        lines: list[str] = []
        for name, x in sorted(self.domain.fluents.items()):
            # arguments are objects of any type: a fluent of something of another type is simply never there
            args = [f"?a{i} - object" for i in range(len(x.params))]
            value = [] if x.kind is Kind.BOOL else ["?v - object"]
            lines.append(f"({' '.join([t.predicate(name), *args, *value])})")
            if x.optional:
                lines.append(f"({' '.join([t.none(name), *args])})")
        for kind, name in sorted(t.used):
            if kind == "type":
                lines.append(f"({self.names('is', f'is-{name}')} ?a0 - object)")
            elif kind == "attribute" and self.domain.attributes[name].kind is Kind.BOOL:
                lines.append(f"({t.predicate(name)} ?a0 - object)")
            elif kind == "attribute":
                lines += [f"({t.predicate(name)} ?a0 - object ?v - object)", f"({t.none(name)} ?a0 - object)"]
            elif kind == "less":
                lines.append(f"({self.names('fluent', 'less')} ?a0 - object ?a1 - object)")
            else:
                lines.append(f"({self._stepper(kind, name)} ?a0 - object ?a1 - object)")
        lines += self.settle.predicates()
        return ["  (:predicates", *(f"    {x}" for x in lines), "  )"]

    def _stepper(self, kind: str, name: str) -> str:
        amount = int(kind.split()[1])
        return self.names("fluent", f"{name}-{'plus' if amount >= 0 else 'minus'}-{abs(amount)}")

    def _action(self, skill: Skill) -> str:
        t = self.t
        scope: dict[str, tuple[str, tuple[str, ...]]] = {}
        params: list[tuple[str, str]] = []
        for i, p in enumerate(skill.params):
            plain = "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "-" for c in p.name.lower())
            term = f"?{plain if plain[:1].isalpha() else f'p{i}'}"
            if any(term == x for x, _ in params):
                term += str(i)
            scope[p.name] = (term, p.types)
            params.append((term, t.types(p.types)))
        effects = Effects(t, skill.makes, scope, skill.true_wins)
        needs: list[Tree] = [t.condition(n, scope) for n in skill.needs]
        needs += [
            t.condition(ban.when, scope, positive=False)
            for ban in self.domain.safety.forbid
            if ban.skill in ("*", skill.name)
        ]
        needs += self._excluded(skill, scope)
        needs += effects.needs
        if skill.hook is not None:
            self.notes.append(f"{skill.name} has a Python guard, which PDDL can't hold")
        if both(needs) == FALSE:
            self.notes.append(
                f"{skill.name} can never run: its conditions, or two of its effects, contradict each other"
            )
            return ""
        made, whole = effects.texts(lift(t, (self._spread(n) for n in needs), effects.extra))
        self.extra[skill.name] = tuple(effects.extra)
        self.params[skill.name] = tuple(x for x, _ in params)
        whole = both([*self.settle.needs, whole])
        made += self.settle.makes
        precondition = f"    :precondition {text(whole)}\n" if whole != TRUE else ""
        every: Vars = (*params, *((x.name, x.type) for x in effects.extra))
        return (
            f"  (:action {self.names('skill', skill.name)}\n    :parameters ({typed(every)})\n"
            f"{precondition}    :effect (and {' '.join(made)}"
        )

    def _spread(self, tree: Tree) -> Tree:
        """A precondition with `forall` over few objects written out, which spares planners an axiom."""
        if isinstance(tree, Group_):
            return (both if tree.word == "and" else either)(self._spread(p) for p in tree.parts)
        if not isinstance(tree, Bound):
            return tree
        body = self._spread(tree.body)
        if tree.word == "exists" or self.state is None:
            return bound(tree.word, tree.vars, body)
        choices = [self._members.get(kind) for _, kind in tree.vars]
        size = 1
        for c in choices:
            size *= len(c) if c is not None else _SPREAD + 1
        if size > _SPREAD:
            return bound(tree.word, tree.vars, body)
        parts = [body]
        for (v, _), objects in zip(tree.vars, choices, strict=True):
            parts = [swap(p, v, o) for p in parts for o in objects or ()]
        spread = both(self._decided(p) for p in parts)
        if any(isinstance(p, Group_) and p.word == "or" and p.parts for p in (spread, *getattr(spread, "parts", ()))):
            return bound(tree.word, tree.vars, body)  # many disjunctions multiply; one axiom is better
        self._names_objects = True
        return spread

    def _decided(self, tree: Tree) -> Tree:
        """Equalities of constants, attributes and types of known objects decided."""
        if isinstance(tree, Lit):
            truth = self._static.get(tree.words)
            if truth is None and tree.words[0] in self._closed and all(w in self.t.constants for w in tree.words[1:]):
                truth = False
            return tree if truth is None else TRUE if truth == tree.positive else FALSE
        if isinstance(tree, Same) and tree.left in self.t.constants and tree.right in self.t.constants:
            return TRUE if (tree.left == tree.right) == tree.positive else FALSE
        if isinstance(tree, Group_):
            return (both if tree.word == "and" else either)(self._decided(p) for p in tree.parts)
        return bound(tree.word, tree.vars, self._decided(tree.body)) if isinstance(tree, Bound) else tree

    def _excluded(self, skill: Skill, scope: Scope) -> Iterator[Tree]:
        for e in self.exclusions:
            if e.step.skill != skill.name:
                continue
            parts = [
                same(scope[p.name][0], self.t.object(a), self.t.constants)
                for p, a in zip(skill.params, e.step.args, strict=True)
            ]
            for atom, v in e.because:
                call = f.Call(atom[0], tuple(f.Const(a) for a in atom[1:]))
                parts.append(self.t.condition(f.Test(call, "==", f.Const(v)), {}))
            yield inverse(both(parts))

    # the problem

    def _facts(self) -> Iterator[str]:
        assert self.state is not None
        yield from self._fluent_facts()
        for kind, name in sorted(self.t.used):
            yield from self._static_facts(kind, name)
        yield from self.settle.facts(self.task, self.values)

    def _fluent_facts(self) -> Iterator[str]:
        t = self.t
        for name, x in sorted(self.domain.fluents.items()):
            for args in product(*(self.task.objects.of(*p.types) for p in x.params)):
                v = self.values.get((name, *args), x.default)
                words = [t.object(a) for a in args]
                if x.kind is Kind.BOOL:
                    if v is True:
                        yield f"({' '.join([t.predicate(name), *words])})"
                elif v is None:
                    yield f"({' '.join([t.none(name), *words])})"
                elif v is not UNKNOWN:
                    value = t.count(v) if isinstance(v, int) else t.object(str(v))
                    yield f"({' '.join([t.predicate(name), *words, value])})"

    def _static_facts(self, kind: str, name: str) -> Iterator[str]:
        t = self.t
        if kind == "type":
            for o in self.task.objects.of(name):
                yield f"({self.names('is', f'is-{name}')} {t.object(o)})"
        elif kind == "attribute":
            for o in self.task.objects.names():
                v = self.task.objects.attribute(name, o)
                if v is True:
                    yield f"({t.predicate(name)} {t.object(o)})"
                elif v is None:
                    yield f"({t.none(name)} {t.object(o)})"
                elif isinstance(v, str):
                    yield f"({t.predicate(name)} {t.object(o)} {t.symbol(v)})"
        elif kind == "less":
            less = self.names("fluent", "less")
            for a in range(t.low, t.top + 1):
                for b in range(a + 1, t.top + 1):
                    yield f"({less} {t.count(a)} {t.count(b)})"
        else:
            amount = int(kind.split()[1])
            x = self.domain.fluents[name]
            for n in range(x.low, x.high + 1):
                if x.low <= n + amount <= x.high:
                    yield f"({self._stepper(kind, name)} {t.count(n)} {t.count(n + amount)})"

    def _problem(self, facts: list[str], goal: Tree) -> str:
        own = [o for o in self.task.objects if o.name not in self._in_domain]
        objects = " ".join(f"{self.t.object(o.name)} - {self.t.type(o.type)}" for o in own)
        name = self.names("problem", f"{self.domain.name}-problem")
        lines = [f"(define (problem {name})", f"  (:domain {self.names('domain', self.domain.name)})"]
        lines += [f"  (:objects {objects})", "  (:init", *(f"    {x}" for x in facts), "  )"]
        lines += [f"  (:goal {text(goal)})", "  (:metric minimize (total-cost))", ")", ""]
        return "\n".join(lines)
