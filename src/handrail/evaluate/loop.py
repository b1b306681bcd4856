"""`handrail eval loop`: the closed loop when grasps fail.

Requests of the home whose plans grasp are carried out in the symbolic world, where each pick fails with a given
probability: half of the failures are reported, the other half claim success. A first plan comes from the planner or
from a model (as JSON, with the checker's reasons fed back); it is checked, approved by a scripted person and executed.
The truth is the world's: "wrongly done" is a run that was reported done while the goal does not hold there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.check.pipeline import Pipeline
from handrail.check.proof import VerifiedPlan
from handrail.domain.domain import Domain
from handrail.domain.files import load_scene
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.text.scenes import Expect
from handrail.domains import path
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.strong_model import strong_model
from handrail.execute.budget import Budgets, Ended
from handrail.execute.card import make_card
from handrail.execute.loop import Executor
from handrail.execute.person import Scripted
from handrail.execute.replan import PlannerFirst, Proposed, Replanner, Situation
from handrail.execute.runner import Runner
from handrail.language.faults import ModelTimeoutError
from handrail.language.model import Model
from handrail.models import cached, embedded, named, replay
from handrail.numbers import wilson
from handrail.propose.json_plan import JsonPlanner
from handrail.propose.proposal import Effort, Proposal
from handrail.record.event import MemoryLog
from handrail.solve.astar import Budget, Solution, solve
from handrail.world.faults import Faults
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld

PROBABILITIES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
MISTAKES = 0.3
"""Share of the strong stand-in's answers that hold one mistake."""

_EFFORT = Effort(calls=3, expansions=6_000)
_RECORDED = Path(__file__).parent / "recorded" / "smollm2-135m" / "loop.jsonl.gz"
_STEPS = 12
_QUICK = Budget(expansions=200, first=200)
_ASKED_OF_THE_SMALL = 3
"""Requests that the embedded model is asked to plan for, the first of the scene; its answers take minutes on a laptop."""


@dataclass(frozen=True)
class Case:
    """A request with the goal it means, in the home's first scene."""

    say: str
    goal: Goal
    state: State


@dataclass
class Variant:
    """One way to get plans.

    Attributes:
        model: for the table.
        variant: for the table.
        propose: a first plan for a case and a seed; None where the model gave none that passes.
        replanner: for a case and a seed.
        rejections: reason codes of the model's refused answers.
    """

    model: str
    variant: str
    propose: Callable[[Case, int], Plan | None]
    replanner: Callable[[Case, int], Replanner]
    rejections: Counter[str] = field(default_factory=Counter)


class _Planner:
    """The planner with a memory, since the same situations come again over seeds."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Solution] = {}

    def __call__(
        self, task: Task, state: State, *, carried: Any = None, exclusions: Any = None, budget: Budget | None = None
    ) -> Solution:
        marks = sorted((a, str(v)) for a, v in (carried or {}).items())
        left_out = exclusions.snapshot_id if exclusions is not None else ""
        key = (task.goal.goal_id, state.state_id, left_out, task.exclusions.snapshot_id, str(marks), str(budget))
        if key not in self._known:
            self._known[key] = solve(task, state, carried=carried, exclusions=exclusions, budget=budget)
        return self._known[key]


class _ModelReplanner:
    """A model writes the next plan too; the checker's reasons are fed back within its calls."""

    def __init__(self, model: Callable[[Situation], JsonPlanner], say: str, rejections: Counter[str]) -> None:
        self._model, self._say, self._rejections = model, say, rejections

    def replan(self, situation: Situation) -> Proposed:
        """See `Replanner.replan`."""
        writer = self._model(situation)
        writer.exclusions, writer.carried = situation.exclusions, situation.carried
        found = writer.propose(situation.goal, self._say, situation.task.domain, situation.state, _EFFORT)[0]
        codes = _count(found, self._rejections)
        return Proposed(found.plan, found.why or found.source, unread=tuple(codes) if found.plan is None else ())


def _count(proposal: Proposal, into: Counter[str]) -> list[str]:
    codes = [str(r.code) for a in proposal.attempts for r in a.reasons[:1]]
    if proposal.declined is not None:
        codes.append("DECLINED")  # it asked or refused, where a plan was wanted
    into.update(codes)
    return codes


def cases(only: str = "") -> list[Case]:
    """The requests of the home's first scene that are to be carried out, whose plans grasp something and are found quickly.

    Args:
        only: just the request with these words.
    """
    scene = load_scene(Domain.load(path("home")))
    out: list[Case] = []
    for request in scene.requests:
        if request.expect is not Expect.DO or not request.goals or only not in ("", request.say):
            continue
        found = solve(Task(scene.state.objects, request.goals[0]), scene.state, budget=_QUICK)
        if found.plan is not None and len(found.plan) <= _STEPS and any(s.skill == "pick" for s in found.plan):
            out.append(Case(request.say, request.goals[0], scene.state))
    return out


def run(options: EvalOptions) -> dict[str, Any]:
    """Measure the loop.

    Returns:
        `rows`: per model, variant and p_fail {model, variant, p_fail, n, finished, escalated, wrongly_done, replans} with shares, their
        95 % intervals (`finished_low`, `finished_high`, `escalated_low`, `escalated_high`), `no_plan` (the model gave none that
        passes: nothing moved), and means `retries`, `rejected` (replans refused), `cost` (of finished runs), `steps`;
        `rejections`: variant to {reason: n} (for the embedded model each request counts once);
        `mistakes`: the stand-in's rate; `requests`; `wrong`: each run wrongly reported done;
        `ended`: per variant, how often each reason ended a run.
    """
    every = cases()
    known = every[::2] if options.quick else every
    seeds = 24 if options.quick else 200
    planner = _Planner()
    model, source = _model(options)
    variants = _variants(planner, model, options.seed)
    rows: list[dict[str, Any]] = []
    wrong: list[dict[str, Any]] = []
    ended: dict[str, Counter[str]] = {}
    probabilities = PROBABILITIES[::5] if options.quick else PROBABILITIES
    total = len(variants) * len(probabilities)
    for v in variants:
        for p in probabilities:
            options.progress(f"loop: {v.model}, {v.variant}, p={p:g}", len(rows), total)
            asked = every[:_ASKED_OF_THE_SMALL] if v.model == "embedded" else known
            rows.append(
                _row(v, p, asked, seeds, options.seed, wrong, ended.setdefault(f"{v.model}: {v.variant}", Counter()))
            )
    options.progress("loop", total, total)
    if model is not None:
        model.close()
    return {
        "rows": rows,
        "rejections": {f"{v.model}: {v.variant}": dict(v.rejections.most_common()) for v in variants if v.rejections},
        "mistakes": MISTAKES,
        "model": source,
        "requests": [c.say for c in known],
        "ended": {k: dict(c.most_common()) for k, c in ended.items()},
        "wrong": wrong,
    }


def _model(options: EvalOptions) -> tuple[Model | None, str]:
    """The model asked for; by default the recording that is shipped; None where there is neither."""
    if options.model is None:
        if not _RECORDED.exists():
            return None, "none: no recording is here; give --model embedded"
        model: Model = replay(_RECORDED)
        return model, f"recorded {model.fingerprint.model} ({model.fingerprint.digest})"
    inner = embedded(context=8192) if options.model == "embedded" else named(options.model)
    mark = inner.fingerprint
    if options.cache is None:
        return inner, f"{mark.model} ({mark.digest})"
    return cached(options.cache / f"loop-{mark.digest}.jsonl.gz", inner), f"{mark.model} ({mark.digest})"


def _variants(planner: _Planner, model: Model | None, seed: int) -> list[Variant]:
    first = PlannerFirst(planner)

    def planned(case: Case, n: int) -> Plan | None:  # noqa: ARG001 - the planner has no chance in it
        return planner(Task(case.state.objects, case.goal), case.state).plan

    out = [Variant("planner", "planner", planned, lambda c, n: first)]  # noqa: ARG005 - one shape for all
    out += [_strong(planner, first, seed, itself) for itself in (False, True)]
    if model is not None:
        out += [
            _small(planner, model, few_shot, takes_over)
            for few_shot, takes_over in ((True, False), (False, False), (True, True))
        ]
    return out


def _never(case: Case, seed: int) -> Plan | None:  # noqa: ARG001 - filled in below
    return None


def _always(replanner: Replanner) -> Callable[[Case, int], Replanner]:
    return lambda case, seed: replanner  # noqa: ARG005 - one shape for all


def _strong(planner: _Planner, first: Replanner, seed: int, itself: bool) -> Variant:
    name = "writes every plan" if itself else "writes the first plan, planner replans"
    v = Variant(f"stand-in for a strong model (mistakes {MISTAKES:g})", name, _never, _always(first))

    def writer(task: Task, state: State, n: int) -> JsonPlanner | None:
        plan = planner(task, state).plan
        if plan is None or not plan.steps:
            return None
        return JsonPlanner(strong_model(plan, state.objects, MISTAKES, seed + n), few_shot=False, max_steps=20)

    def propose(case: Case, n: int) -> Plan | None:
        made = writer(Task(case.state.objects, case.goal), case.state, n)
        if made is None:
            return None
        found = made.propose(case.goal, case.say, case.state.objects.domain, case.state, _EFFORT)[0]
        _count(found, v.rejections)
        return found.plan

    def again(case: Case, n: int) -> Replanner:
        def one(situation: Situation) -> JsonPlanner:
            # The stand-in knows no exclusions: like a model that insists, it writes the plan that it would have written anyway.
            bare = Task(situation.task.objects, situation.goal)
            made = writer(bare, situation.state, 1000 * n + situation.number)
            return made or JsonPlanner(strong_model(Plan(()), situation.state.objects, 0.0, 0), few_shot=False)

        return _ModelReplanner(one, case.say, v.rejections)

    v.propose = propose
    if itself:
        v.replanner = again
    return v


def _small(planner: _Planner, model: Model, few_shot: bool, takes_over: bool) -> Variant:
    shots = "few-shot" if few_shot else "no few-shot"
    v = Variant(
        "embedded", f"{shots}, planner takes over" if takes_over else shots, _never, _always(PlannerFirst(planner))
    )
    known: dict[str, Proposal] = {}

    def propose(case: Case, n: int) -> Plan | None:  # noqa: ARG001 - at temperature 0 a seed changes nothing
        if case.say not in known:
            writer = JsonPlanner(model, few_shot=few_shot, told=500, max_tokens=320)
            writer.timeout = 1800.0
            try:
                found = writer.propose(case.goal, case.say, case.state.objects.domain, case.state, _EFFORT)[0]
            except ModelTimeoutError as e:
                v.rejections["NO_ANSWER"] += 1
                found = Proposal("model", why=str(e))
            known[case.say] = found
            _count(known[case.say], v.rejections)
        plan = known[case.say].plan
        return planner(Task(case.state.objects, case.goal), case.state).plan if plan is None and takes_over else plan

    v.propose = propose
    return v


def _row(
    v: Variant,
    p: float,
    known: list[Case],
    seeds: int,
    seed: int,
    wrong: list[dict[str, Any]],
    ended: Counter[str],
) -> dict[str, Any]:
    sums: Counter[str] = Counter()
    cost = 0.0
    for n in range(seeds):
        case = known[n % len(known)]
        plan = v.propose(case, n)
        if plan is None:
            sums["no_plan"] += 1
            sums["escalated"] += 1
            ended["no plan that passes"] += 1
            continue
        out = carry_out(case, plan, v.replanner(case, n), p, seed * 100_003 + n)
        if out is None:
            sums["no_plan"] += 1
            sums["escalated"] += 1
            ended["first plan refused"] += 1
            continue
        ended[out.ended] += 1
        sums["finished"] += out.ended is Ended.DONE and out.true
        sums["escalated"] += out.ended is not Ended.DONE
        sums["wrongly_done"] += out.ended is Ended.DONE and not out.true
        if out.ended is Ended.DONE and not out.true:
            wrong.append({"variant": v.variant, "p_fail": p, "say": case.say, "seed": n})
        if out.ended is Ended.DONE:
            cost += out.spent["cost"]
        sums.update({k: out.spent[k] for k in ("replans", "retries", "rejections", "steps")})
    moved = max(1, seeds - sums["no_plan"])
    low, high = wilson(sums["finished"], seeds)
    less, more = wilson(sums["escalated"], seeds)
    return {
        "model": v.model,
        "variant": v.variant,
        "p_fail": p,
        "n": seeds,
        "finished": sums["finished"] / seeds,
        "finished_low": round(low, 4),
        "finished_high": round(high, 4),
        "escalated": sums["escalated"] / seeds,
        "escalated_low": round(less, 4),
        "escalated_high": round(more, 4),
        "wrongly_done": sums["wrongly_done"],
        "no_plan": sums["no_plan"] / seeds,
        "replans": round(sums["replans"] / moved, 3),
        "rejected": round(sums["rejections"] / moved, 3),
        "retries": round(sums["retries"] / moved, 3),
        "steps": round(sums["steps"] / moved, 2),
        "cost": round(cost / max(1, sums["finished"]), 3),
    }


@dataclass(frozen=True)
class Carried:
    """How one run ended, and whether that is true."""

    ended: Ended
    true: bool
    spent: Mapping[str, Any]


def carry_out(case: Case, plan: Plan, replanner: Replanner, p_fail: float, seed: int) -> Carried | None:
    """Check, approve and execute a plan in a world whose picks fail; None where the check refuses the plan."""
    told = p_fail / 2
    silent = told / (1 - told)  # of the picks that did not slip, so that both kinds together fail with p_fail
    world = SymbolicWorld(case.state, Faults(slip=told, slips="pick*", liar=silent, lies="pick*"), seed)
    person = Scripted(yes=frozenset({"approve", "step"}))
    with Runner(LocalHost(world, lease=None), MemoryLog(f"s{seed}"), person, threads=False) as runner:
        pipeline = Pipeline(notary=runner.notary)
        found = pipeline.verify(plan, case.state, case.goal)
        if not isinstance(found, VerifiedPlan):
            return None
        card = make_card(found, case.state.values)
        approval = runner.approvals.grant(found, card, "scripted person")
        out = Executor(runner, pipeline, replanner, Budgets(answer_seconds=0.01)).run(found, approval)
    task = Task(case.state.objects, Goal(case.goal.final))
    true = task.end.holds(task.start(world.state))
    return Carried(out.ended, true, out.spent.to_json())
