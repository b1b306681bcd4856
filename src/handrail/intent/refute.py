"""Which readings can't be carried out, and whether it is a rule or the world that speaks against them.

The planner looks for a plan. Where it proves that there is none, it looks once more without the safety rules: if there is
one then, the rules are the reason, and the first one that this plan breaks is named. A reading is marked, never hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.option import Mark, MarkCode, Option
from handrail.domain.rules import Safety
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.types import Objects
from handrail.errors import DomainError
from handrail.solve.astar import Budget, Solution, solve

QUICK = Budget(expansions=4_000)
"""Enough to refute a reading of a household scene; what is not refuted within it is left unmarked."""


@dataclass(frozen=True)
class Refutation:
    """Why a goal can't be reached.

    Attributes:
        mark: its code and a sentence for a person.
        proved: False where a rule was found but the search without rules ran out.
    """

    mark: Mark
    solution: Solution


def refute(
    goal: Goal, state: State, *, exclusions: Exclusions | None = None, budget: Budget = QUICK
) -> Refutation | Solution:
    """The planner's solution for a goal, or why there is none.

    Args:
        goal: what is to be reached.
        state: from where.
        exclusions: steps that evidence says won't work.
        budget: of each of the two searches.

    Returns:
        A `Refutation` where it is proved that there is no plan; else the solution, which may hold no plan when the
        budget ran out.
    """
    task = Task(state.objects, goal, exclusions)
    found = solve(task, state, budget=budget)
    if not found.unsolvable:
        return found
    broken = _broken_rule(goal, state, task, exclusions, budget)
    if broken:
        return Refutation(Mark(MarkCode.UNSAFE, broken), found)
    return Refutation(Mark(MarkCode.IMPOSSIBLE, _impossible(state, found)), found)


def marked(
    options: Sequence[Option], state: State, *, exclusions: Exclusions | None = None, budget: Budget = QUICK
) -> tuple[Option, ...]:
    """The options in their order, those that the planner refutes with a mark that says why."""
    out: list[Option] = []
    for option in options:
        if option.is_not_listed or not isinstance(option.meaning, Goal):
            out.append(option)
            continue
        found = refute(option.meaning, state, exclusions=exclusions, budget=budget)
        if isinstance(found, Refutation):
            option = replace(option, marks=(*option.marks, found.mark))
        out.append(option)
    return tuple(out)


def _broken_rule(goal: Goal, state: State, task: Task, exclusions: Exclusions | None, budget: Budget) -> str:
    """The first rule that a plan without rules breaks, as a sentence; '' where rules are not the reason."""
    safety = state.objects.domain.safety
    if not (safety.rules or safety.forbid or safety.no_go or safety.limits):
        return ""
    free = _without_rules(state)
    try:
        found = solve(Task(free.objects, goal, exclusions), free, budget=budget)
    except DomainError:  # a goal may name what only the rules declare
        return ""
    if found.plan is None:
        return ""
    verdict = check_symbolic(found.plan, task, state)
    for reason in verdict.reasons:
        said = reason.sentence.split(": ", 1)[-1]  # without "Step 3, hand_over(...)"
        return f"A rule forbids it: {_rule_of(said, safety)}"
    return ""


def _rule_of(said: str, safety: Safety) -> str:
    for rule in safety.rules:
        if rule.because and str(rule) in said:
            said = rule.because
    for lead in ("would break the rule: ", "is forbidden here: ", "would go to a "):
        said = said.removeprefix(lead)
    return f"{said[:1].upper()}{said[1:].rstrip('.')}."


def _without_rules(state: State) -> State:
    domain = state.objects.domain
    made = {f.name: getattr(domain, f.name) for f in fields(Domain) if f.init}
    free = Domain(**{**made, "safety": Safety()})
    own = [o for o in state.objects if o not in domain.constants]
    return State(Objects(free, own, state.objects.numbers), state.values)


def _impossible(state: State, found: Solution) -> str:
    unknown = state.unknown()
    if unknown:
        return f"{found.why} Not everything is known: {len(unknown)} facts are not."
    return found.why
