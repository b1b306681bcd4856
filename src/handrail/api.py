"""Single stages as functions: a verdict on a plan, one plan out of several."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.assembly import merged
from handrail.check import Pipeline
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.verdict import Verdict
from handrail.mission import Choice
from handrail.propose.proposal import Proposal


def verdict(plan: Plan, state: State, goal: Goal | None = None) -> Verdict:
    """What the symbolic checks say of a plan; layers that did not run are listed as unchecked.

    Args:
        plan: ground steps.
        state: where it starts; it knows its objects, and they their domain.
        goal: what it must reach; None for any end.
    """
    return Pipeline().verify(plan, state, goal or Goal()).verdict


def consolidate(plans: Sequence[Plan], state: State, goal: Goal, excluded: Exclusions | None = None) -> Choice:
    """One plan out of several for the same goal.

    Args:
        plans: proposals, right or wrong.
        state: where they start.
        goal: what they are for.
        excluded: steps that evidence says won't work.
    """
    return merged([Proposal(p.source or "proposal", plan=p) for p in plans], state, goal, excluded or Exclusions())
