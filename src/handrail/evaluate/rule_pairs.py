"""Random rules against random plans: the checks must refuse every plan that breaks one, and no plan for a rule that it keeps.

Judged by `reference`, which reads the definitions of rules and steps and shares no code with the checks.
"""

from __future__ import annotations

import random
from typing import Any

from handrail.check import run_symbolic
from handrail.domain import Domain, Goal, Plan, Rule, RuleKind, Safety, State, Step, Task
from handrail.domain.formula import And, Call, Condition, Const, Not, Or, Param, Some, Test
from handrail.domain.types import Kind, Objects
from handrail.evaluate import reference
from handrail.evaluate.options import EvalOptions
from handrail.solve.astar import Budget, solve


def with_rules(domain: Domain, rules: tuple[Rule, ...]) -> Domain:
    """The domain with these rules and no others."""
    fields = {
        f: getattr(domain, f) for f in Domain.__dataclass_fields__ if f not in ("attributes", "symbols", "safety")
    }
    return Domain(**fields, safety=Safety(rules))


def moved(state: State, domain: Domain) -> State:
    """The same state under another domain with the same vocabulary."""
    own = [o for o in state.objects if o not in domain.constants]
    return State(Objects(domain, own, state.objects.numbers), state.values)


class _Maker:
    def __init__(self, state: State, rng: random.Random) -> None:
        self.state, self.rng = state, rng
        self.objects = state.objects
        self.fluents = sorted(state.objects.domain.fluents.values(), key=lambda f: f.name)

    def test(self) -> Condition:
        """One comparison over objects of the scene, sometimes under a quantifier."""
        fluent = self.rng.choice(self.fluents)
        args = [self.rng.choice(self.objects.of(*p.types)) for p in fluent.params]
        value = self.rng.choice(self.objects.values_of(fluent))
        quantified = fluent.params and self.rng.random() < 0.3
        terms = tuple(Param("q") if quantified and i == 0 else Const(a) for i, a in enumerate(args))
        left = Call(fluent.name, terms)
        op = self.rng.choice(("==", "==", "!=")) if fluent.kind is not Kind.BOOL else "=="
        test: Condition = Test(left, op, Const(value))
        return Some("q", fluent.params[0].types[0], test) if quantified else test

    def condition(self) -> Condition:
        """A comparison, its negation, or two of them together."""
        roll = self.rng.random()
        if roll < 0.4:
            return self.test()
        if roll < 0.6:
            return Not(self.test())
        return (And if roll < 0.85 else Or)((self.test(), self.test()))

    def rule(self) -> Rule:
        """One rule of any kind."""
        kind = self.rng.choice(tuple(RuleKind))
        if kind in (RuleKind.NEVER, RuleKind.ALWAYS):
            return Rule(kind, self.condition())
        return Rule(kind, self.condition(), self.condition(), self.rng.randrange(4) if kind is RuleKind.AFTER else 0)

    def plan(self, task: Task, length: int) -> Plan:
        """A random walk of steps that can run, with none of the rules in the way."""
        values = task.start(self.state)
        steps: list[Step] = []
        skills = sorted(self.objects.domain.skills.values(), key=lambda s: s.name)
        for _ in range(60 * length):
            if len(steps) == length:
                break
            s = self.rng.choice(skills)
            step = Step(s.name, tuple(self.rng.choice(self.objects.of(*p.types)) for p in s.params))
            op = task.operator(step)
            if op.applicable(values):
                op.apply(values)
                steps.append(step)
        return Plan(tuple(steps))


def pairs(state: State, options: EvalOptions, wanted: int) -> dict[str, Any]:
    """Random pairs.

    Args:
        state: a scene.
        options: seed and progress.
        wanted: pairs to judge; rules that the start breaks already are drawn again.

    Returns:
        Counts: pairs, breaking (by the reference), broken_but_passed, kept_but_refused.
    """
    rng = random.Random(f"pairs/{options.seed}")  # noqa: S311 - seeded on purpose
    free = with_rules(state.objects.domain, ())
    start = moved(state, free)
    maker = _Maker(start, rng)
    base = Task(start.objects)
    counts = {"pairs": 0, "breaking": 0, "broken_but_passed": 0, "kept_but_refused": 0}
    while counts["pairs"] < wanted:
        rule, plan = maker.rule(), maker.plan(base, rng.randint(2, 8))
        states = reference.run(plan.steps, start.values, start.objects)
        if states is None or not plan.steps:
            continue
        if rule.kind in (RuleKind.NEVER, RuleKind.ALWAYS):
            if reference.true(rule.first, states[0], start.objects) == (rule.kind is RuleKind.NEVER):
                continue
        elif rule.kind is RuleKind.AFTER and rule.within == 0 and not reference.keeps(rule, states[:1], start.objects):
            continue
        kept = reference.keeps(rule, states, start.objects)
        there = moved(start, with_rules(free, (rule,)))
        passed = run_symbolic(plan, Task(there.objects), there).result.passed
        counts["pairs"] += 1
        counts["breaking"] += not kept
        counts["broken_but_passed"] += passed and not kept
        counts["kept_but_refused"] += kept and not passed
        if counts["pairs"] % 50 == 0:
            options.progress("rule and plan pairs", counts["pairs"], wanted)
    return counts


def planner(state: State, goals: list[Goal], options: EvalOptions, wanted: int) -> dict[str, Any]:
    """Random rules over real goals: what the planner returns must keep the rule, by the reference."""
    rng = random.Random(f"planner/{options.seed}")  # noqa: S311 - seeded on purpose
    free = with_rules(state.objects.domain, ())
    maker = _Maker(moved(state, free), rng)
    counts = {"tasks": 0, "plans": 0, "breaking": 0}
    while counts["tasks"] < wanted:
        rule = maker.rule()
        there = moved(state, with_rules(free, (rule,)))
        found = solve(Task(there.objects, rng.choice(goals)), there, budget=Budget(1_500))
        counts["tasks"] += 1
        options.progress("planner under random rules", counts["tasks"], wanted)
        if found.plan is None:
            continue
        states = reference.run(found.plan.steps, there.values, there.objects)
        counts["plans"] += 1
        if states is None:
            counts["breaking"] += 1
            continue
        always = rule.kind is RuleKind.ALWAYS
        if (
            rule.kind in (RuleKind.NEVER, RuleKind.ALWAYS)
            and reference.true(rule.first, states[0], there.objects) != always
        ):
            continue  # the start is bad already: what a plan may do then is not what is counted here
        if rule.kind is RuleKind.AFTER and rule.within == 0 and not reference.keeps(rule, states[:1], there.objects):
            continue  # as in `pairs`: nothing that comes later can mend the first state
        counts["breaking"] += not reference.keeps(rule, states, there.objects)
    return counts
