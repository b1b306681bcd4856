"""Puts a mission together from its parts, with sensible defaults: `hr.assemble(domain, world, model=..., person=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.check import check_symbolic
from handrail.check.pipeline import DryRun
from handrail.decide.calibration import Calibration
from handrail.decide.goals import weights_of
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.execute.budget import Budgets
from handrail.execute.person import Nobody, Person
from handrail.execute.replan import PlannerFirst
from handrail.intent.fit import default_scorer
from handrail.intent.readings import RequestReader
from handrail.language.model import Model
from handrail.language.watch import RunRecorder, Watched
from handrail.mission import Choice, Consolidate, Mission
from handrail.propose.json_plan import JsonPlanner
from handrail.propose.planner_road import PlannerRoad
from handrail.propose.proposal import Effort, Proposal, Proposer
from handrail.record.store import RunStore
from handrail.solve.astar import solve
from handrail.understanding import CalibratedWeigher, Weigher, WordsWeigher
from handrail.world.hosting import Host
from handrail.world.protocol import World


def assemble(
    domain: Domain,
    world: World | Host,
    *,
    model: Model | None = None,
    person: Person | None = None,
    calibration: Calibration | None = None,
    dry_runs: Sequence[DryRun] = (),
    store: RunStore | None = None,
    budgets: Budgets | None = None,
    effort: Effort | None = None,
    model_plans: bool = False,
    weigher: Weigher | None = None,
    consolidate: Consolidate | None = None,
    **more: Any,
) -> Mission:
    """A mission.

    Args:
        domain: the skill library.
        world: where it acts; hosted in this process unless it is a Host already.
        model: weighs readings and, with `model_plans`, writes plans; None for words and the planner alone.
        person: who is asked.
        calibration: makes decisions calibrated; None reads every goal back.
        dry_runs: checks after the symbolic one.
        store: where runs are recorded.
        budgets: of an execution.
        effort: of the proposers.
        model_plans: whether the model writes plans too. Weak models rarely write one that passes, and the checks are the same.
        weigher: in place of the default.
        consolidate: in place of the default.
        **more: further fields of `Mission`.
    """
    recorder = None if model is None else RunRecorder()
    if model is not None and recorder is not None:
        model = Watched(model, recorder)
    proposers: list[Proposer] = [PlannerRoad()]
    if model is not None and model_plans:
        proposers.append(JsonPlanner(model))
    if weigher is None:
        weigher = _weigher(model, calibration)
    return Mission(
        domain,
        world,
        weigher,
        tuple(proposers),
        consolidate or cheapest,
        person or Nobody(),
        tuple(dry_runs),
        PlannerFirst(solve),
        store,
        budgets or Budgets(),
        effort or Effort(),
        recorder=recorder,
        **more,
    )


def _weigher(model: Model | None, calibration: Calibration | None) -> Weigher:
    words = WordsWeigher(RequestReader(), lambda state: default_scorer(state, model))
    if calibration is None:
        return words
    return CalibratedWeigher(calibration, model if "pmi" in weights_of(calibration).names else None, offers=words)


def cheapest(proposals: Sequence[Proposal], state: State, goal: Goal, excluded: Exclusions) -> Choice:
    """The cheapest of the proposals that pass the symbolic check, and nothing more than that."""
    task = Task(state.objects, goal, excluded)
    best: tuple[float, Proposal] | None = None
    passed = 0
    for p in proposals:
        if p.plan is None or not check_symbolic(p.plan, task, state).passed:
            continue
        passed += 1
        cost = sum(task.operator(s).cost for s in p.plan.steps)
        if best is None or cost < best[0]:
            best = (cost, p)
    if best is not None:
        cost, p = best
        proved = p.source == "planner" and p.provenance.get("proved") is True
        among = (
            "proved cheapest of all plans from these skills"
            if proved
            else f"cheapest of {passed} proposed plans that pass"
        )
        assert p.plan is not None
        figures = {
            "cost": cost,
            "bound": p.provenance.get("bound"),
            "proved": proved,
            "source": p.source,
            "proposals": len(proposals),
        }
        return Choice(p.plan, f"{len(p.plan)} steps from the {p.source}, cost {cost:.4g}, {among}", figures)
    for p in proposals:
        if p.declined is not None and p.source == "planner":
            return Choice(None, p.declined.text, {"kind": p.declined.reasoning}, refused=True)
    for p in proposals:
        if p.declined is not None:
            verb = "asks" if p.declined.kind == "ask" else "declines"
            return Choice(None, f"The {p.source} {verb}: {p.declined.text}", {"kind": p.declined.kind})
    why = next((p.why for p in proposals if p.why), "No proposal.")
    return Choice(None, why)
