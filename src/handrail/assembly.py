"""Puts a mission together from its parts, with sensible defaults: `hr.assemble(domain, world, model=..., person=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.check.pipeline import DryRun
from handrail.decide.calibration import Calibration
from handrail.decide.goals import weights_of
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.state import State
from handrail.execute.budget import Budgets
from handrail.execute.person import Nobody, Person
from handrail.execute.replan import PlannerFirst
from handrail.intent.fit import default_scorer
from handrail.intent.readings import RequestReader
from handrail.language.model import Model
from handrail.language.watch import RunRecorder, Watched
from handrail.mission import Choice, Consolidate, Mission
from handrail.network.consolidate import Consolidation, consolidate
from handrail.propose.json_plan import JsonPlanner
from handrail.propose.planner_road import PlannerRoad
from handrail.propose.proposal import Effort, Proposal, Proposer
from handrail.record.store import RunStore
from handrail.solve.astar import solve
from handrail.weighing import CalibratedWeigher, Weigher, WordsWeigher
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
    merge: Consolidate | None = None,
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
        merge: makes one plan of several, in place of the default.
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
        merge or merged,
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


def merged(proposals: Sequence[Proposal], state: State, goal: Goal, excluded: Exclusions) -> Choice:
    """One plan out of all proposals: the cheapest that their steps allow, in any order, and what came from where.

    The planner's proved bound holds for the whole domain, so where the merged plan meets it, it is cheapest there too.
    """
    plans = [p for p in proposals if p.plan is not None]
    if plans:
        bounds = [
            float(p.provenance["bound"]) for p in plans if p.source == "planner" and p.provenance.get("proved") is True
        ]
        found = consolidate(plans, state, goal, None, excluded, domain_bound=max(bounds, default=None))
        if found.plan is not None:
            return Choice(found.plan, _told(found, len(plans)), found.to_json())
    for p in proposals:
        if p.declined is not None and p.source == "planner":
            return Choice(None, p.declined.text, {"kind": p.declined.reasoning}, refused=True)
    for p in proposals:
        if p.declined is not None:
            verb = "asks" if p.declined.kind == "ask" else "declines"
            return Choice(None, f"The {p.source} {verb}: {p.declined.text}", {"kind": p.declined.kind})
    why = next((p.why for p in proposals if p.why), "No proposal.")
    return Choice(None, why)


def _told(found: Consolidation, plans: int) -> str:
    """Where the steps came from, what they cost, and cheapest among what."""
    sources: dict[str, int] = {}
    for taken in found.taken:
        first = taken.sources[0]
        sources[first] = sources.get(first, 0) + 1
    total = len(found.taken)
    steps = f"{total} steps, " + ", ".join(f"{'all' if n == total else n} from the {name}" for name, n in sources.items())
    among = "all plans from these skills" if found.among == "the whole domain" else found.among
    sure = "proved cheapest of" if found.proved else f"no cheaper than {found.bound:g} is possible among"
    proposals = "one proposal" if plans == 1 else f"{plans} proposals"
    return f"{steps}; cost {found.cost:.4g}, {sure} {among} ({proposals})"
