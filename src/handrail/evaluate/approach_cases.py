"""The requests that approaches are compared on, and how it is judged whether a plan does what was asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.files import load_scene, scene_names
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.text import parse_goal
from handrail.domain.text.scenes import Expect, Request
from handrail.propose.planner_road import PlannerRoad
from handrail.propose.proposal import Effort, Proposal

_HELD_OUT = Path(__file__).parent / "home_requests.yaml"


@dataclass(frozen=True)
class Case:
    """A request in its scene."""

    part: str
    domain: Domain
    state: State
    request: Request


class Planned:
    """The planner's proposals, worked out once for each state and goal, with the seconds that took."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Proposal, float]] = {}
        self._states: dict[int, State] = {}
        self.saved = 0.0

    def propose(
        self, goal: Goal, request: str, domain: Domain, state: State, effort: Effort | None = None
    ) -> list[Proposal]:
        """See `Proposer`."""
        key = (id(state), goal.goal_id)
        if key not in self._known:
            began = time.perf_counter()
            found = PlannerRoad().propose(goal, request, domain, state, effort)[0]
            self._known[key] = (found, time.perf_counter() - began)
            self._states[id(state)] = state
        else:
            self.saved += self._known[key][1]
        return [self._known[key][0]]


def all_cases() -> list[Case]:
    """The home's own requests and the held-out ones."""
    domain = Domain.load(Path(__file__).parents[1] / "domains" / "home.yaml")
    scenes = {name: load_scene(domain, name) for name in scene_names(domain)}
    cases = [Case("home", domain, scene.state, r) for scene in scenes.values() for r in scene.requests]
    for row in YAML(typ="safe").load(_HELD_OUT):
        scene = scenes[row["scene"]]
        goals = tuple(parse_goal(g, domain, scene.objects, said=row["say"]) for g in row.get("goals", ()))
        expect = Expect(row.get("expect", "do"))
        by = ("rules" if goals else "words") if expect is Expect.REFUSE else ""
        cases.append(Case("held out", domain, scene.state, Request(row["say"], goals, expect, 0, "", by)))
    return cases


def reaches(plan: Plan, case: Case) -> bool:
    """Whether a plan ends as some right reading of the request asks, within the rules."""
    return any(_passes(plan, goal, case) for goal in case.request.goals)


def _passes(plan: Plan, goal: Goal, case: Case) -> bool:
    # the subgoals' order is part of what was asked for; so is what must be kept
    return check_symbolic(plan, Task(case.state.objects, goal), case.state).passed
