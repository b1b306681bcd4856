"""Road (b): the planner writes the plan for the goal that was read. Every model can take it, and none at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handrail.check.schema import Declined
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.option import MarkCode
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.errors import ConfigError
from handrail.intent.refute import Refutation, refute
from handrail.propose.proposal import Effort, Proposal
from handrail.solve.astar import Budget, Solution, solve


@dataclass
class PlannerRoad:
    """Asks the planner for a plan.

    Attributes:
        exclusions: steps that evidence says won't work.
        carried: monitor values of the run so far.
    """

    exclusions: Exclusions | None = None
    carried: Mapping[Atom, Value] | None = None

    def propose(
        self,
        goal: Goal,
        request: str,  # noqa: ARG002 - the seam's; the planner needs no words
        domain: Domain,
        state: State,
        effort: Effort | None = None,
    ) -> list[Proposal]:
        """See `Proposer`. Where it is proved that there is no plan, the proposal refuses and says why."""
        if state.objects.domain is not domain:
            raise ConfigError(f"the state is of the domain '{state.objects.domain.name}', not of '{domain.name}'")
        effort = effort or Effort()
        budget = Budget(expansions=effort.expansions, first=min(400, effort.expansions))
        found = self._solve(goal, state, budget)
        if isinstance(found, Refutation):
            reasoning = "rule" if found.mark.code is MarkCode.UNSAFE else "impossible"
            declined = Declined("refuse", found.mark.sentence, reasoning)
            return [Proposal("planner", declined=declined, provenance=_provenance(found.solution))]
        if found.plan is None:
            return [Proposal("planner", why=found.why, provenance=_provenance(found))]
        return [Proposal("planner", plan=found.plan, provenance=_provenance(found))]

    def _solve(self, goal: Goal, state: State, budget: Budget) -> Refutation | Solution:
        if not self.carried:
            return refute(goal, state, exclusions=self.exclusions, budget=budget)
        task = Task(state.objects, goal, self.exclusions)
        return solve(task, state, carried=self.carried, budget=budget)


def _provenance(found: Solution) -> dict[str, object]:
    return {"cost": found.cost, "bound": found.bound, "proved": found.proved, "expanded": found.expanded}
