"""A small pantry, a planner that tests can trust, and a way to run a plan."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from handrail.check import Pipeline, VerifiedPlan
from handrail.domain import Domain, Goal, Plan, State, Step, Task
from handrail.domain.files import load_domain, load_scene
from handrail.domain.text import parse_condition
from handrail.execute.approval import Approval
from handrail.execute.budget import Budgets
from handrail.execute.loop import Executor, Outcome
from handrail.execute.person import Person, Scripted
from handrail.execute.replan import PlannerFirst, Replanner
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.world.faults import NONE, Faults
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld

PANTRY = Path(__file__).parent / "pantry.yaml"


@dataclass
class Found:
    plan: Plan | None
    why: str = ""
    proved: bool = True


def steps_in(task: Task) -> list[Step]:
    skills = task.domain.skills.values()
    return [Step(s.name, args) for s in skills for args in product(*(task.objects.of(*p.types) for p in s.params))]


def dijkstra(task: Task, state: State, *, carried: Any = None, exclusions: Any = None, budget: Any = None) -> Found:
    """Uniform-cost search over all ground steps: slow, and nothing can be wrong with it."""
    start = task.start(state, carried)
    steps = steps_in(task)
    queue: list[tuple[float, int, dict, tuple[Step, ...]]] = [(0.0, 0, start, ())]
    seen = set()
    n = 0
    while queue:
        cost, _, values, plan = heapq.heappop(queue)
        mark = frozenset((a, str(v)) for a, v in values.items())
        if mark in seen:
            continue
        seen.add(mark)
        if task.end.holds(values):
            return Found(Plan(plan, source="planner"))
        for step in steps:
            op = task.operator(step)
            if op.applicable(values):
                n += 1
                after = dict(values)
                op.apply(after)
                heapq.heappush(queue, (cost + op.cost, n, after, (*plan, step)))
    return Found(None, "the search ended without a plan")


class Witness(SymbolicWorld):
    """Notes every effect that was there already when it happened: a step that was repeated for nothing."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.repeated: list[Step] = []

    def _effect(self, a: Any) -> None:
        if all(self.truth.get(k) == v for k, v in a.operator.changes(self.truth).items()):
            self.repeated.append(a.step)
        super()._effect(a)


@dataclass
class Kit:
    """Everything that an execution needs, around one symbolic world."""

    domain: Domain
    state: State
    faults: Faults = NONE
    seed: int = 0
    pace: float = 0.0
    budgets: Budgets = field(default_factory=lambda: Budgets(step_seconds=1.0, cancel_seconds=0.3, answer_seconds=2.0))
    person: Person = field(default_factory=Scripted)
    threads: bool = True
    lease: float | None = 5.0
    replanner: Replanner | None = None
    dry_runs: tuple = ()

    def __post_init__(self) -> None:
        self.world = Witness(self.state, self.faults, self.seed, self.pace)
        self.host = LocalHost(self.world, lease=self.lease)
        self.log = MemoryLog("r1")

    def goal(self, text: str, **more: Any) -> Goal:
        return Goal(parse_condition(text, self.domain, objects=self.state.objects), text=text, **more)

    def verified(self, pipeline: Pipeline, goal: Goal, *keys: tuple[str, ...]) -> VerifiedPlan:
        if keys:
            plan = Plan.of(*keys)
        else:
            plan = dijkstra(Task(self.state.objects, goal), self.state).plan
            assert plan is not None
        found = pipeline.verify(plan, self.state, goal)
        assert isinstance(found, VerifiedPlan), found.verdict
        return found

    def run(
        self,
        goal: str | Goal,
        *keys: tuple[str, ...],
        during: Callable[[Runner], None] | None = None,
        by: str = "test",
        control: Path | None = None,
    ) -> Outcome:
        wanted = self.goal(goal) if isinstance(goal, str) else goal
        with Runner(self.host, self.log, self.person, threads=self.threads, control=control) as runner:
            pipeline = Pipeline(self.dry_runs, notary=runner.notary)
            verified = self.verified(Pipeline(notary=runner.notary), wanted, *keys)
            approval: Approval = runner.approvals.grant(verified, None, by)
            if during:
                during(runner)
            replanner = self.replanner or PlannerFirst(dijkstra)
            return Executor(runner, pipeline, replanner, self.budgets).run(verified, approval)

    @property
    def kinds(self) -> list[str]:
        return [e.kind for e in self.log.events]


@pytest.fixture(scope="session")
def pantry() -> Domain:
    return load_domain(PANTRY)


@pytest.fixture
def make(pantry: Domain) -> Callable[..., Kit]:
    def build(changes: dict | None = None, **more: Any) -> Kit:
        state = load_scene(pantry).state
        return Kit(pantry, state.with_(changes or {}), **more)

    return build


PLAIN = (
    ("go", "robot_1", "table"),
    ("pick", "robot_1", "hand_1", "mug"),
    ("go", "robot_1", "shelf"),
    ("place", "robot_1", "hand_1", "mug", "shelf"),
)


@pytest.fixture
def plain() -> tuple[tuple[str, ...], ...]:
    """A plan that puts the mug on the shelf."""
    return PLAIN
