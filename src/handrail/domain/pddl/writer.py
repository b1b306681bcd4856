"""A task as PDDL that Fast Downward and unified-planning accept, and plans to it and back.

Rules over whole plans, things to keep and ordered subgoals become predicates that one free action, `settle`, updates: every skill
leaves the world unsettled, only `settle` lets the next one start, and it checks what must hold after every step. That keeps the
skills themselves as they are. (A rule that is broken at the start asks for its mending by the first step here, while the
checker lets steps pass that don't touch it.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from handrail.domain import formula as f
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.pddl.changes import Effects, Extra, effect, lift
from handrail.domain.pddl.names import Names
from handrail.domain.pddl.translate import COUNT, SYMBOL, Scope, Translator
from handrail.domain.pddl.tree import FALSE, Bound, Group_, Lit, Same, Tree, Vars, both, bound, either, inverse, same, swap, text, typed
from handrail.domain.plan import Plan, Step
from handrail.domain.rules import Rule, RuleKind
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.task import Task, no_go_rules
from handrail.domain.types import Kind, Objects
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom
from handrail.errors import DomainError

SETTLE = "settle"
_MOST = 10**6
_SPREAD = 40
"""A `forall` over at most so many combinations is written out."""


@dataclass(frozen=True)
class Written:
    """PDDL texts and the way back from them.

    Attributes:
        domain: PDDL domain.
        problem: PDDL problem; "" where only a domain was written.
        scale: PDDL costs are our costs times this, because Fast Downward wants whole numbers.
        notes: what PDDL can't say and was left out, one sentence each.
    """

    domain: str
    problem: str
    scale: int
    notes: tuple[str, ...]
    _names: Names = field(repr=False)
    _extra: Mapping[str, tuple[Extra, ...]] = field(repr=False)
    _params: Mapping[str, tuple[str, ...]] = field(repr=False)
    _settles: bool = False
    _top: Domain | None = field(default=None, repr=False)

    def plan_back(self, plan: Plan) -> Plan:
        """A plan in PDDL names as a plan in ours: without `settle` and without extra parameters.

        Raises:
            DomainError: a step that is none of the actions that were written.
        """
        steps: list[Step] = []
        for s in plan:
            found = self._names.back(s.skill)
            if found == ("action", SETTLE):
                continue
            if found is None or found[0] != "skill" or self._top is None:
                raise DomainError(f"the plan has the step '{s}', which is no action of the domain that was written")
            skill = self._top.skills[found[1]]
            args: list[str] = []
            for a in s.args[: len(skill.params)]:
                obj = self._names.back(a)
                if obj is None:
                    raise DomainError(f"the plan's step '{s}' names '{a}', which is no object of the problem")
                args.append(obj[1])
            steps.append(Step(skill.name, tuple(args)))
        return Plan(tuple(steps), source=plan.source)

    def plan_text(self, plan: Plan, task: Task, values: Mapping[Atom, Value]) -> str:
        """A plan of ours in the PDDL that was written, with `settle` and the extra parameters that PDDL needs.

        Args:
            plan: a plan that can be run from `values`.
            task: the task that was written.
            values: what `task.start` gave.
        """
        running = dict(values)
        lines: list[str] = []
        for s in plan:
            words = [self._names("skill", s.skill), *(self._names("object", a) for a in s.args)]
            terms = dict(zip(self._params[s.skill], s.args, strict=True))
            for x in self._extra.get(s.skill, ()):
                args = [terms[a] if a in terms else (self._names.back(a) or ("", a))[1] for a in x.args]
                v = running.get((x.fluent, *args), task.domain.fluents[x.fluent].default)
                if isinstance(v, int):
                    n = v + x.offset
                    words.append(self._names("count", f"n{n}" if n >= 0 else f"minus{-n}"))
                else:
                    terms[x.name] = str(v)
                    words.append(self._names("object", str(v)))
            lines.append(f"({' '.join(words)})")
            if self._settles:
                lines.append(f"({self._names('action', SETTLE)})")
            task.operator(s).apply(running)
        return "".join(f"{line}\n" for line in lines)


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
        self.settles = bool(self.rules or self.goal.keep or self.goal.subgoals)
        self.extra: dict[str, tuple[Extra, ...]] = {}
        self.params: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        self._names_objects = False
        self.costs: dict[str, dict[tuple[str, ...], Fraction]] = {}

    def written(self) -> Written:
        for name in self.domain.types:
            self.t.type(name)
        for o in self.task.objects:
            self.t.object(o.name)
        counts = [self.t.count(n) for n in range(self.t.low, self.t.top + 1)]
        self._members = {self.t.types((n,)): [self.t.object(o) for o in self.task.objects.of(n)] for n in self.domain.types}
        self._members[self.names("type", COUNT)] = counts
        self._know()
        skills = [s for _, s in sorted(self.domain.skills.items()) if not self._too_much(s)]
        for s in skills:
            self.names("skill", s.name)
        settle = self._settle() if self.settles else []
        made = [(s, self._action(s)) for s in skills]
        skills = [s for s, a in made if a]
        actions = [a for _, a in made if a]
        goal = self._goal()
        problem_facts = list(self._facts()) if self.state is not None else []
        scale = self._scale(skills)
        prices = self._prices(skills, scale)
        head = [f"(define (domain {self.names('domain', self.domain.name)})", f"  {self._requirements()}"]
        head += self._types()
        if constants := self._constants():
            head.append(f"  (:constants {constants})")
        body = [*head, *self._predicates(), *self._functions(skills), *settle]
        body += [a.replace(_PRICE, p) for a, p in zip(actions, prices, strict=True)]
        problem = self._problem(problem_facts, goal, scale, skills) if self.state is not None else ""
        return Written(
            domain="\n".join([*body, ")", ""]),
            problem=problem,
            scale=scale,
            notes=tuple(self.notes),
            _names=self.names,
            _extra=self.extra,
            _params=self.params,
            _settles=self.settles,
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

    def _requirements(self) -> str:
        return (
            "(:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :equality "
            ":existential-preconditions :universal-preconditions :conditional-effects :action-costs)"
        )

    # sections of the domain

    def _types(self) -> list[str]:
        lines = []
        for t in self.domain.types.values():
            if t.name != "object":
                lines.append(f"{self.t.type(t.name)} - {self.t.type(t.parent or 'object')}")
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
        if self.settles:
            lines += [f"({w})" for w in self._monitor_words()]
        return ["  (:predicates", *(f"    {x}" for x in lines), "  )"]

    def _stepper(self, kind: str, name: str) -> str:
        amount = int(kind.split()[1])
        return self.names("fluent", f"{name}-{'plus' if amount >= 0 else 'minus'}-{abs(amount)}")

    def _action(self, skill: Skill) -> str:
        t = self.t
        scope: dict[str, tuple[str, tuple[str, ...]]] = {}
        params: list[tuple[str, str]] = []
        for i, p in enumerate(skill.params):
            plain = "".join(c if c.isalnum() and c.isascii() or c in "-_" else "-" for c in p.name.lower())
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
            self.notes.append(f"{skill.name} can never run: its conditions, or two of its effects, contradict each other")
            return ""
        made = effects.texts()
        needs = [lift(t, (self._spread(n) for n in needs), effects.extra)]
        self.extra[skill.name] = tuple(effects.extra)
        self.params[skill.name] = tuple(x for x, _ in params)
        if self.settles:
            needs.insert(0, Lit((self._word("settled"),)))
            made += [f"(not ({self._word('settled')}))", f"({self._word('moved')})"]
        every: Vars = (*params, *((x.name, x.type) for x in effects.extra))
        return (
            f"  (:action {self.names('skill', skill.name)}\n    :parameters ({typed(every)})\n"
            f"    :precondition {text(both(needs))}\n    :effect (and {' '.join([*made, _PRICE])})\n  )"
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
            return tree if truth is None else both(()) if truth == tree.positive else FALSE
        if isinstance(tree, Same) and tree.left in self.t.constants and tree.right in self.t.constants:
            return both(()) if (tree.left == tree.right) == tree.positive else FALSE
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

    # rules

    def _word(self, what: str) -> str:
        return self.names("monitor", what)

    def _monitor_words(self) -> list[str]:
        out = [self._word("settled"), self._word("moved")]
        for i, r in enumerate(self.rules):
            if r.kind is RuleKind.BEFORE:
                out += [self._word(f"seen-{i}"), self._word(f"was-{i}")]
            elif r.kind is RuleKind.AFTER:
                out += [self._word(f"promise-{i}-{n}") for n in range(r.within + 1)]
        return out + [self._word(f"reached-{i}") for i in range(len(self.goal.subgoals))]

    def _settle(self) -> list[str]:
        t = self.t
        needs: list[Tree] = [Lit((self._word("moved"),))]
        made = [f"({self._word('settled')})", f"(not ({self._word('moved')}))"]
        for i, r in enumerate(self.rules):
            first = t.condition(r.first, {})
            second = t.condition(r.second, {}) if r.second is not None else FALSE
            if r.kind is RuleKind.NEVER:
                needs.append(inverse(first))
            elif r.kind is RuleKind.ALWAYS:
                needs.append(first)
            elif r.kind is RuleKind.BEFORE:
                seen, was = Lit((self._word(f"seen-{i}"),)), Lit((self._word(f"was-{i}"),))
                needs.append(either((inverse(second), was, seen)))
                made += [effect((), first, seen), effect((), second, was), effect((), inverse(second), inverse(was))]  # type: ignore[arg-type]
            else:
                self._promise(i, r.within, first, second, needs, made)
        needs += [t.condition(k, {}) for k in self.goal.keep]
        before: Tree = both(())
        for i, sub in enumerate(self.goal.subgoals):
            reached = Lit((self._word(f"reached-{i}"),))
            now = both((before, t.condition(sub, {})))
            made.append(effect((), now, reached))
            before = either((reached, now))
        return [
            f"  (:action {self.names('action', SETTLE)}\n    :parameters ()\n"
            f"    :precondition {text(both(needs))}\n    :effect (and {' '.join(made)})\n  )"
        ]

    def _promise(self, i: int, k: int, first: Tree, second: Tree, needs: list[Tree], made: list[str]) -> None:
        left = [Lit((self._word(f"promise-{i}-{n}"),)) for n in range(k + 1)]
        if k == 0:
            needs.append(either((inverse(first), second)))
            return
        needs.append(either((inverse(left[1]), second)))
        made.append(effect((), second, left[0]))
        for n in range(1, k + 1):
            made.append(effect((), both((second, left[n])), inverse(left[n])))  # type: ignore[arg-type]
            going = both((inverse(second), left[n]))
            made.append(effect((), going, left[n - 1]))
            made.append(effect((), going, inverse(left[n])))  # type: ignore[arg-type]
        opening = both((left[0], first, inverse(second)))
        made += [effect((), opening, left[k]), effect((), opening, inverse(left[0]))]  # type: ignore[arg-type]

    # costs

    def _functions(self, skills: list[Skill]) -> list[str]:
        lines = ["(total-cost) - number"]
        for s in skills:
            if s.cost.terms:
                args = " ".join(f"?a{i} - object" for i in range(len(self._priced(s))))
                lines.append(f"({self.names('function', f'cost-{s.name}')} {args}) - number".replace(" )", ")"))
        return [f"  (:functions {' '.join(lines)})"]

    def _priced(self, skill: Skill) -> list[int]:
        """Positions of the parameters that a skill's cost depends on."""
        used = {a.name for _, call in skill.cost.terms for a in call.args if isinstance(a, f.Param)}
        return [i for i, p in enumerate(skill.params) if p.name in used]

    def _scale(self, skills: list[Skill]) -> int:
        """The smallest power of ten that makes every cost whole, as far as a millionth goes."""
        costs: list[Fraction] = []
        for s in skills:
            base = Fraction(str(s.cost.of(self.domain.profile)))
            if not s.cost.terms:
                costs.append(base)
                continue
            table = self.costs.setdefault(s.name, {})
            if self.state is not None:
                for args in self._combinations(s):
                    table[args] = base + self._terms(s, args)
                costs += table.values()
        scale = 1
        while scale < _MOST and any((c * scale).denominator != 1 for c in costs):
            scale *= 10
        return scale

    def _combinations(self, skill: Skill) -> Iterator[tuple[str, ...]]:
        yield from product(*(self.task.objects.of(*skill.params[i].types) for i in self._priced(skill)))

    def _terms(self, skill: Skill, args: tuple[str, ...]) -> Fraction:
        binding = {skill.params[i].name: a for i, a in zip(self._priced(skill), args, strict=True)}
        total = Fraction(0)
        for factor, call in skill.cost.terms:
            atom = (call.name, *(binding[a.name] if isinstance(a, f.Param) else str(a) for a in call.args))
            total += Fraction(str(factor)) * Fraction(str(self.task.objects.number(atom)))
        return total

    def _prices(self, skills: list[Skill], scale: int) -> list[str]:
        out: list[str] = []
        for s in skills:
            if s.cost.terms:
                scope = self._action_terms(s)
                args = " ".join(scope[i] for i in self._priced(s))
                what = f"({self.names('function', f'cost-{s.name}')} {args})".replace(" )", ")")
            else:
                what = str(round(Fraction(str(s.cost.of(self.domain.profile))) * scale))
            out.append(f"(increase (total-cost) {what})")
        return out

    def _action_terms(self, skill: Skill) -> list[str]:
        terms: list[str] = []
        for i, p in enumerate(skill.params):
            plain = "".join(c if c.isalnum() and c.isascii() or c in "-_" else "-" for c in p.name.lower())
            term = f"?{plain if plain[:1].isalpha() else f'p{i}'}"
            terms.append(term + str(i) if term in terms else term)
        return terms

    # the problem

    def _facts(self) -> Iterator[str]:
        assert self.state is not None  # noqa: S101 - the caller asked
        yield from self._fluent_facts()
        for kind, name in sorted(self.t.used):
            yield from self._static_facts(kind, name)
        if not self.settles:
            return
        yield f"({self._word('settled')})"
        for i, r in enumerate(self.rules):
            monitor = self.values.get(("$rule", str(i)))
            if r.kind is RuleKind.BEFORE:
                if monitor is True:
                    yield f"({self._word(f'seen-{i}')})"
                if r.second is not None and self.task.ground.node(r.second).holds(self.values):
                    yield f"({self._word(f'was-{i}')})"
            elif r.kind is RuleKind.AFTER:
                yield f"({self._word(f'promise-{i}-{monitor or 0}')})"
        for i in range(len(self.goal.subgoals)):
            if self.values.get(("$goal", str(i))) is True:
                yield f"({self._word(f'reached-{i}')})"

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

    def _goal(self) -> Tree:
        parts: list[Tree] = [self.t.condition(self.goal.final, {})]
        if self.settles:
            parts.append(Lit((self._word("settled"),)))
            parts += [
                Lit((self._word(f"promise-{i}-0"),)) for i, r in enumerate(self.rules) if r.kind is RuleKind.AFTER
            ]
            parts += [Lit((self._word(f"reached-{i}"),)) for i in range(len(self.goal.subgoals))]
        return both(parts)

    def _problem(self, facts: list[str], goal: Tree, scale: int, skills: list[Skill]) -> str:
        own = [o for o in self.task.objects if o.name not in self._in_domain]
        objects = " ".join(f"{self.t.object(o.name)} - {self.t.type(o.type)}" for o in own)
        prices: list[str] = ["(= (total-cost) 0)"]
        for s in skills:
            for args, c in self.costs.get(s.name, {}).items():
                words = " ".join([self.names("function", f"cost-{s.name}"), *(self.t.object(a) for a in args)])
                prices.append(f"(= ({words}) {round(c * scale)})")
        name = self.names("problem", f"{self.domain.name}-problem")
        lines = [f"(define (problem {name})", f"  (:domain {self.names('domain', self.domain.name)})"]
        lines += [f"  (:objects {objects})", "  (:init", *(f"    {x}" for x in (*facts, *prices)), "  )"]
        lines += [f"  (:goal {text(goal)})", "  (:metric minimize (total-cost))", ")", ""]
        return "\n".join(lines)


_PRICE = "\0price"
