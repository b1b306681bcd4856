"""Replanning: who writes the next plan, and what they are told.

Planner first, wherever the goal is known: it needs no model and its plan is proven. Only when no plan reaches the goal is somebody
asked for another goal, and that always needs a person's approval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.domain.verdict import Verdict
from handrail.solve.astar import Budget

DETOUR = Budget(expansions=300, first=100)
"""How far to search for a way round steps that failed by bad luck."""

SOFT = frozenset(
    {"SLIPPED", "NO_GRASP", "DROPPED", "ARM_BLOCKED", "DOOR_STUCK", "SWITCH_STUCK", "NOT_WIPED", "UNSTABLE_PLACE"}
) | {"NO_EFFECT", "TIME_OUT", "NO_ANSWER", "OTHER"}
"""Failures that may go otherwise the next time, with nothing changed. Exclusions for them are the first to be given up."""


def hard(exclusions: Exclusions) -> Exclusions:
    """The exclusions whose evidence is more than bad luck."""
    return Exclusions([e for e in exclusions if e.code not in SOFT])


@dataclass(frozen=True)
class Situation:
    """Where a run stands when a new plan is needed.

    Attributes:
        task: objects, rules, exclusions and goal.
        state: what is believed; may hold unknown facts.
        carried: monitor values, so that promises survive.
        exclusions: a frozen copy.
        why: what went wrong, in one sentence.
        tried: what was tried so far, one sentence each.
        rejected: plans that the checks refused since the last step, with their verdicts; to be fed back.
        number: which replan it is, from 1.
    """

    task: Task
    state: State
    carried: Mapping[Atom, Value]
    exclusions: Exclusions
    why: str
    tried: tuple[str, ...] = ()
    rejected: tuple[tuple[Plan, Verdict], ...] = ()
    number: int = 1

    @property
    def goal(self) -> Goal:
        """What the plan must reach."""
        return self.task.goal


@dataclass(frozen=True)
class Proposed:
    """An answer to a situation.

    Attributes:
        plan: a plan, unproven; None for none.
        sentence: why there is none, or what is special about it.
        goal: another goal than the situation's; None for the same.
        unread: reason codes of answers that were no plan at all (each counts as a rejection).
        hopeless: whether asking again is pointless: it was proved, or the answer would be the same.
        forgive: whether the plan uses steps that are excluded only for failures of the `SOFT` kind.
    """

    plan: Plan | None
    sentence: str = ""
    goal: Goal | None = None
    unread: tuple[str, ...] = ()
    hopeless: bool = False
    forgive: bool = False


class Replanner(Protocol):
    """Writes plans for situations. Called from a worker thread."""

    def replan(self, situation: Situation) -> Proposed:
        """A plan from here, or why there is none."""


class PlannerFirst:
    """The planner, then (where there is no plan for the goal) whoever may change the goal.

    Excluded steps are left out first. Where nothing else reaches the goal, those that were excluded for bad luck alone (a slip, say)
    are allowed again, for as long as the budget of replans lasts.

    Args:
        solve: `solve(task, state, carried=..., exclusions=..., budget=...)`; gives something with `plan` (None for none),
            `proved` and `why`.
        regoal: another goal for a situation whose goal can't be reached, or None; a model or a person behind it.
        budget: handed to `solve`; None for its default.
        detour: handed to `solve` while a way round steps is looked for that failed by bad luck. Small, because a detour is either near or
            not worth its search: the robot stands and waits.
    """

    def __init__(
        self,
        solve: Callable[..., Any],
        regoal: Callable[[Situation], Goal | None] | None = None,
        budget: Any = None,
        detour: Any = DETOUR,
    ) -> None:
        self._solve = solve
        self._regoal = regoal
        self._budget = budget
        self._detour = detour

    def replan(self, situation: Situation) -> Proposed:
        """See `Replanner.replan`."""
        kept = hard(situation.exclusions)
        budget = self._budget if len(kept) == len(situation.exclusions) else self._detour
        found = self._try(situation, situation.task, situation.exclusions, budget)
        if found.plan is not None:
            return found
        if len(kept) < len(situation.exclusions):
            lucky = self._try(situation, Task(situation.task.objects, situation.goal, kept), kept, self._budget)
            if lucky.plan is not None:
                return replace(lucky, forgive=True, sentence="nothing else reaches the goal, so it is tried again")
        if self._regoal is None:
            return found
        goal = self._regoal(situation)
        if goal is None or goal.goal_id == situation.goal.goal_id:
            return found
        other = self._try(situation, Task(situation.task.objects, goal, kept), kept, self._budget)
        return replace(other, goal=goal, forgive=True)

    def _try(self, situation: Situation, task: Task, exclusions: Exclusions, budget: Any) -> Proposed:
        extra = {} if budget is None else {"budget": budget}
        found = self._solve(task, situation.state, carried=situation.carried, exclusions=exclusions, **extra)
        plan: Plan | None = found.plan
        if plan is None:
            return Proposed(None, str(found.why) or "no plan was found", hopeless=True)
        return Proposed(plan)


class NoReplanner:
    """Never has another plan: every failure that the plan itself does not survive goes to a person."""

    def replan(self, situation: Situation) -> Proposed:  # noqa: ARG002 - one shape for all
        """No plan."""
        return Proposed(None, "nobody plans again in this run", hopeless=True)
