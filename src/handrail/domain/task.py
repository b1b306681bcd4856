"""A task: objects, safety and a goal, compiled into guarded ground operators.

Rules over whole plans and ordered subgoals become *monitor* fluents (their atoms start with `$`) that ordinary effects update and
ordinary conditions read. Checker, planner and executor run the same operators, so none of them can forget a rule, and regression
through an operator carries the rules along.
"""

from __future__ import annotations

from functools import cached_property

from handrail.domain import formula as f
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.ground import FALSE, TRUE, Cmp, Eq, Ne, Node, Ref, Values, atoms, conj, disj, negate
from handrail.domain.grounder import grounder
from handrail.domain.kernel import Kernel
from handrail.domain.operator import GroundEffect, Guard, Operator
from handrail.domain.plan import Step
from handrail.domain.rules import Rule, RuleKind
from handrail.domain.state import State
from handrail.domain.types import Kind, Objects
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import DomainError, did_you_mean


class _GroundRule:
    """A rule over these objects and the monitor it needs."""

    def __init__(self, index: int, rule: Rule, first: Node, second: Node) -> None:
        self.rule = rule
        self.first = first
        self.second = second
        self.atom: Atom = ("$rule", str(index))
        self.reads = atoms(first) | atoms(second)

    def guard(self, text: str, node: Node) -> Guard:
        return Guard("RULE_BROKEN", text, node)


class Task:
    """What a plan is checked, searched and executed against.

    Args:
        objects: the scene's objects, which know their domain.
        goal: None for "any end will do".
        exclusions: steps that evidence says won't work; read when an operator is first made, so a task is made anew after a change.
    """

    def __init__(self, objects: Objects, goal: Goal | None = None, exclusions: Exclusions | None = None) -> None:
        self.exclusions = exclusions or Exclusions()
        self.objects = objects
        self.domain = objects.domain
        self.goal = goal or Goal()
        self.ground = grounder(objects)
        node = self.ground.node
        self.rules: list[_GroundRule] = []
        for i, rule in enumerate((*self.domain.safety.rules, *no_go_rules(objects))):
            first = node(rule.first)
            second = node(rule.second) if rule.second is not None else TRUE
            self.rules.append(_GroundRule(i, rule, first, second))
        self.final = node(self.goal.final)
        self.subgoals = tuple(node(s) for s in self.goal.subgoals)
        self.keep = tuple((str(k), node(k)) for k in self.goal.keep)
        self._reached: tuple[Atom, ...] = tuple(("$goal", str(i)) for i in range(len(self.subgoals)))
        self._forbid: dict[str, list[tuple[str, f.Condition]]] = {}
        for ban in self.domain.safety.forbid:
            if ban.skill != "*" and ban.skill not in self.domain.skills:
                raise DomainError(
                    f"safety forbids the unknown skill '{ban.skill}'.{did_you_mean(ban.skill, set(self.domain.skills))}"
                )
            self._forbid.setdefault(ban.skill, []).append((ban.because or str(ban), ban.when))
        self._operators: dict[Step, Operator] = {}
        self.typed: set[Step] = set()
        """Steps whose arguments were found to have the right types; the checker's memory."""

    @property
    def open_promises(self) -> tuple[tuple[str, Node], ...]:
        """Per `after ... within` rule: its text and the condition that no promise is open."""
        return tuple((str(r.rule), Eq(r.atom, 0, 0)) for r in self.rules if r.rule.kind is RuleKind.AFTER)

    @cached_property
    def end(self) -> Node:
        """What must hold when a plan ends: the final condition, every subgoal reached, no promise open."""
        done = [Eq(a, False, True) for a in self._reached]
        return conj(self.final, *done, *(n for _, n in self.open_promises))

    @cached_property
    def end_reads(self) -> frozenset[Atom]:
        """Every fluent that `end` reads: a step that writes none of them can't reach the goal."""
        return atoms(self.end)

    def start(self, state: State, carried: Values | None = None) -> dict[Atom, Value]:
        """Values to run a plan on: the state's and the monitors'.

        Args:
            state: where the plan starts.
            carried: monitor values from an earlier part of the same run, so that promises survive a replan.

        A promise that the state may or may not open is unknown, and no plan ends with it. What the state shows goes together with
        what is carried: a door that a person opened meanwhile opens a promise, and one that was shut keeps it.
        """
        values = dict(state.values)
        old = carried or {}
        for r in self.rules:
            if r.rule.kind is RuleKind.BEFORE:
                values[r.atom] = r.first.holds(values) or old.get(r.atom) is True
            elif r.rule.kind is RuleKind.AFTER:
                values[r.atom] = _promise(r, values, old.get(r.atom, 0))
        before = True
        for atom, sub in zip(self._reached, self.subgoals, strict=True):
            before = before and sub.holds(values)
            values[atom] = before
        values.update({a: v for a, v in old.items() if a[0] == "$goal" and v is True})
        return values

    def monitors(self, values: Values) -> dict[Atom, Value]:
        """The monitors' part of a set of values, to carry over a replan."""
        return {a: v for a, v in values.items() if a[0].startswith("$")}

    def operator(self, step: Step) -> Operator:
        """The guarded ground operator of a step.

        Raises:
            DomainError: no such skill, or a wrong number of arguments.
        """
        found = self._operators.get(step)
        if found is None:
            found = self._operators[step] = self._guarded(step)
        return found

    def _guarded(self, step: Step) -> Operator:
        op = self.ground.operator(step)
        skill = self.domain.skill(step.skill)
        guards = list(op.guards)
        effects = list(op.effects)
        binding = skill.bind(step.args)
        for because, when in (*self._forbid.get(step.skill, ()), *self._forbid.get("*", ())):
            guards.append(Guard("FORBIDDEN", because, negate(self.ground.node(when, binding))))
        for e in self.exclusions.of(step):
            facts = conj(*(Eq(a, self._default(a), v) for a, v in e.because))
            guards.append(Guard("EXCLUDED", e.evidence or str(e), negate(facts)))
        for quantity, bound in self.domain.safety.limits.items():
            declared = getattr(skill, quantity, None)
            if declared is not None and declared > bound:
                guards.append(
                    Guard("LIMIT", f"{skill.name} declares {quantity} {declared:g}, the limit is {bound:g}", FALSE)
                )
        writes = op.writes
        for r in self.rules:
            touched = bool(writes & r.reads)
            if touched or (r.rule.kind is RuleKind.AFTER and r.rule.within > 0):
                self._watch(r, op, guards, effects)
        for text, k in self.keep:
            if writes & atoms(k):
                guards.append(Guard("KEEP_BROKEN", text, op.regress(k)))
        self._progress(op, guards, effects)
        if len(guards) == len(op.guards) and len(effects) == len(op.effects):
            return op
        return Operator(op.name, op.needs, tuple(effects), tuple(guards), op.cost, op.true_wins)

    def _default(self, atom: Atom) -> Value:
        fluent = self.domain.fluents.get(atom[0])
        return fluent.default if fluent else False

    def _watch(self, r: _GroundRule, op: Operator, guards: list[Guard], effects: list[GroundEffect]) -> None:
        kind, text = r.rule.kind, r.rule.because or str(r.rule)
        code = "NO_GO" if r.rule.because.startswith("no-go") else "RULE_BROKEN"
        first = op.regress(r.first)
        if kind is RuleKind.NEVER:
            guards.append(Guard(code, text, negate(first)))
        elif kind is RuleKind.ALWAYS:
            guards.append(Guard(code, text, first))
        elif kind is RuleKind.BEFORE:
            seen = Eq(r.atom, False, True)
            guards.append(Guard(code, text, disj(negate(op.regress(r.second)), r.second, seen)))
            if first is not FALSE:
                effects.append(GroundEffect(first, r.atom, False, True))
        else:
            self._count_down(r, op, guards, effects, code, text)

    def _count_down(
        self, r: _GroundRule, op: Operator, guards: list[Guard], effects: list[GroundEffect], code: str, text: str
    ) -> None:
        """An `after a within k steps b` rule: the monitor holds how many steps are left, 0 where no promise is open.

        A promise is open only in states where b is false, so a step that touches neither a nor b just counts down.
        """
        k = r.rule.within
        left = Ref(r.atom, 0)
        running = Cmp(left, ">", 0)
        one_less = Ref(r.atom, 0, -1)
        if not op.writes & r.reads:
            guards.append(Guard(code, text, Ne(r.atom, 0, 1)))
            effects.append(GroundEffect(running, r.atom, 0, one_less))
            return
        first, second = op.regress(r.first), op.regress(r.second)
        late = negate(second)
        if k == 0:
            guards.append(Guard(code, text, disj(negate(first), second)))
            return
        guards.append(Guard(code, text, negate(conj(Eq(r.atom, 0, 1), late))))
        effects.append(GroundEffect(second, r.atom, 0, 0))
        effects.append(GroundEffect(conj(running, late), r.atom, 0, one_less))
        effects.append(GroundEffect(conj(Eq(r.atom, 0, 0), first, late), r.atom, 0, k))

    def _progress(self, op: Operator, guards: list[Guard], effects: list[GroundEffect]) -> None:
        """Effects that mark subgoals as reached, in order; several may be reached by one step.

        Where the order is strict, also a guard against a later one that comes about before its turn.
        """
        before: Node = TRUE
        touched = False
        for atom, sub in zip(self._reached, self.subgoals, strict=True):
            touched = touched or bool(op.writes & atoms(sub))
            if self.goal.strict and before is not TRUE and op.writes & atoms(sub):
                guards.append(Guard("ORDER", str(sub), disj(negate(op.regress(sub)), sub, before)))
            if touched:
                now = conj(before, op.regress(sub))
                if now is not FALSE:
                    effects.append(GroundEffect(now, atom, False, True))
                before = disj(Eq(atom, False, True), now)
            else:
                before = Eq(atom, False, True)

    def kernels(self, steps: tuple[Step, ...]) -> tuple[Kernel, ...]:
        """For each suffix of a plan (the whole first, the empty one last) the weakest condition from which it still works."""
        operators = tuple(self.operator(s) for s in steps)
        return tuple(Kernel(operators[i:], self.end) for i in range(len(steps) + 1))


def _promise(r: _GroundRule, values: Values, before: Value) -> Value:
    """How many steps are left for the promise of an `after` rule: those carried, all of them where it is new, 0 where none is open."""
    if r.second.holds(values):
        return 0
    if before is UNKNOWN or (isinstance(before, int) and before > 0):
        return before
    new = conj(r.first, negate(r.second))
    return r.rule.within if new.holds(values) else 0 if negate(new).holds(values) else UNKNOWN


def no_go_rules(objects: Objects) -> tuple[Rule, ...]:
    """The `no_go` places as rules: no robot may be there.

    Every object-valued fluent with one parameter that may be a `robot`, and with values that may be the place, says where a robot is.

    Raises:
        DomainError: no such object, or no fluent that says where a robot is: the ban would mean nothing.
    """
    domain = objects.domain
    rules: list[Rule] = []
    robots = domain.subtypes("robot") if "robot" in domain.types else frozenset()
    for place in domain.safety.no_go:
        known = len(rules)
        if place not in objects:
            raise DomainError(f"no-go place '{place}' is not an object.{did_you_mean(place, set(objects.names()))}")
        for fluent in domain.fluents.values():
            if fluent.kind is not Kind.OBJECT or len(fluent.params) != 1:
                continue
            movers = robots & frozenset().union(*(domain.subtypes(t) for t in fluent.params[0].types))
            if movers and place in objects.members(*fluent.types):
                test = f.Test(f.Call(fluent.name, (f.Param("mover"),)), "==", f.Const(place))
                who = " | ".join(sorted(movers))
                rules.append(Rule(RuleKind.NEVER, f.Some("mover", who, test), because=f"no-go place: {place}"))
        if len(rules) == known:
            raise DomainError(
                f"no-go place '{place}' means nothing: no fluent such as 'at(r: robot): place' says where a robot is"
            )
    return tuple(rules)
