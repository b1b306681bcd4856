"""The dry-run layer: the whole plan in contact physics, on a fork of the live state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handrail.domain.exclusions import Exclusions
from handrail.domain.grounder import grounder
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.domain.verdict import LayerResult, Reason
from handrail.errors import WorldError
from handrail.numbers import wilson
from handrail.world.mujoco.outcome import Code, Outcome
from handrail.world.mujoco.sim import Noise, Sim
from handrail.world.mujoco.skills import perform, skills_of
from handrail.world.mujoco.snapshot import Snapshot
from handrail.world.mujoco.world import physical_args

PERTURBED = Noise(plane=0.004, height=0.002, yaw=0.03)
"""How far off poses are perceived in the perturbed copies."""
DOUBTFUL = 0.8
"""A plan whose perturbed copies succeed less often than this gets a flag."""


@dataclass(frozen=True)
class Trial:
    """One run of a plan in the simulator: the outcome of each step that was begun."""

    outcomes: tuple[Outcome, ...]
    failed: int | None

    @property
    def ok(self) -> bool:
        """Whether every step did what it is for."""
        return self.failed is None


def rehearse(plan: Plan, sim: Sim, robot: str, hand: str) -> Trial:
    """Run a plan's steps one after the other on a simulation, up to the first that fails; steps without motion count as done."""
    outcomes = []
    for k, step in enumerate(plan.steps):
        if step.skill not in skills_of(sim):
            outcomes.append(Outcome(Code.DONE, "Nothing moves."))
            continue
        outcome = perform(sim, step.skill, *physical_args(step, robot, hand))
        outcomes.append(outcome)
        if not outcome.ok:
            return Trial(tuple(outcomes), k)
    return Trial(tuple(outcomes), None)


def _copy(job: tuple[Plan, Snapshot, int, Noise]) -> bool:
    """One perturbed copy; also what worker processes run."""
    plan, snapshot, seed, noise = job
    sim = snapshot.sim.fork()
    try:
        sim.seed, sim.noise = seed, noise
        return rehearse(plan, sim, snapshot.robot, snapshot.hand).ok
    finally:
        snapshot.sim.release(sim)


@dataclass
class MujocoDryRun:
    """Layer 3 of the pipeline.

    The plain run uses the snapshot's own perception noise and seed, so without noise the live run that follows is bitwise equal.

    Attributes:
        name: of the layer.
        tolerances: within which a live state may differ from the rehearsed one [m, rad].
        workers: processes for the perturbed copies; 1 runs them here.
        noise: of the perturbed copies.
    """

    name: str = "physics"
    tolerances: Mapping[str, float] = field(default_factory=lambda: {"position_m": 0.05, "yaw_rad": 0.6})
    workers: int = 1
    noise: Noise = PERTURBED

    def check(self, plan: Plan, snapshot: Any, seed: int, copies: int) -> LayerResult:
        """Try the plan; see `handrail.check.DryRun.check`.

        Raises:
            WorldError: the snapshot is not one of a MuJoCo world.
        """
        if not isinstance(snapshot, Snapshot):
            raise WorldError(f"the physics dry-run needs a snapshot of a MuJoCo world, got {type(snapshot).__name__}")
        sim = snapshot.sim.fork()
        try:
            trial = rehearse(plan, sim, snapshot.robot, snapshot.hand)
        finally:
            snapshot.sim.release(sim)
        figures = _figures(plan, trial)
        if trial.failed is not None:
            return LayerResult(self.name, False, (_reason(plan, trial),), figures=figures)
        flags: tuple[Reason, ...] = ()
        if copies > 0:
            done = self._copies(plan, snapshot, seed, copies)
            low, high = wilson(done, copies)
            figures |= {"copies": copies, "copies_ok": done, "success_low": low, "success_high": high}
            if done / copies < DOUBTFUL:
                text = f"With poses a little off it worked {done} of {copies} times."
                flags = (Reason("DOUBTFUL", text, details={"ok": done, "copies": copies}),)
        return LayerResult(self.name, True, flags=flags, figures=figures)

    def _copies(self, plan: Plan, snapshot: Snapshot, seed: int, copies: int) -> int:
        jobs = [
            (plan, snapshot, int(np.random.SeedSequence((seed, k)).generate_state(1)[0]), self.noise)
            for k in range(copies)
        ]
        if self.workers <= 1:
            return sum(map(_copy, jobs))
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(self.workers, mp_context=get_context("spawn")) as pool:
            return sum(pool.map(_copy, jobs))


def _figures(plan: Plan, trial: Trial) -> dict[str, Any]:
    steps = [
        {
            "step": str(step),
            "code": str(o.code),
            "seconds": round(o.seconds, 3),
            "work_j": round(o.work, 1),
            "clearance_m": None if math.isinf(o.clearance) else round(o.clearance, 4),
        }
        for step, o in zip(plan.steps, trial.outcomes, strict=False)
    ]
    near = [(o.clearance, k) for k, o in enumerate(trial.outcomes) if not math.isinf(o.clearance)]
    tightest = min(near, default=None)
    return {
        "steps": steps,
        "seconds": round(sum(o.seconds for o in trial.outcomes), 3),
        "work_j": round(sum(o.work for o in trial.outcomes), 1),
        "clearance_m": None if tightest is None else round(tightest[0], 4),
        "tightest_step": None if tightest is None else tightest[1],
    }


def _reason(plan: Plan, trial: Trial) -> Reason:
    assert trial.failed is not None
    outcome, step = trial.outcomes[trial.failed], plan.steps[trial.failed]
    return Reason(
        str(outcome.code),
        f"Step {trial.failed + 1}, {step}: {outcome.sentence}",
        step=trial.failed,
        hint=HINTS.get(outcome.code, ""),
        details={"blockers": list(outcome.blockers), **outcome.details},
    )


HINTS: Mapping[Code, str] = {
    Code.UNREACHABLE: "Choose another place or another object; this robot can't reach there.",
    Code.TOO_WIDE: "Choose an object that fits the gripper.",
    Code.TOO_HEAVY: "Choose a lighter object.",
    Code.DOOR_CLOSED: "Open it first.",
    Code.GRASP_BLOCKED: "Move what is in the way first, or take another object.",
    Code.PLACE_BLOCKED: "Put it somewhere else, or make room first.",
    Code.NO_ROOM: "Put it somewhere else, or make room first.",
    Code.HAND_FULL: "Put down what is in the hand first.",
    Code.NO_PATH: "Go another way, or have the way cleared.",
}
"""What would help, fit to be fed back to a planner or model."""


def exclude(exclusions: Exclusions, plan: Plan, result: LayerResult, start: State) -> None:
    """Remember a physical refusal for that step's object, place and robot, until one of the facts behind it changes.

    The facts are where the step's things and what blocked it were, and whether its doors were open, just before the step.

    Args:
        exclusions: grows.
        plan: what was refused.
        result: the dry-run's.
        start: the state the plan began in.
    """
    for reason in result.reasons:
        if reason.step is None:
            continue
        before = _before(plan, reason.step, start)
        step = plan.steps[reason.step]
        involved = dict.fromkeys((*step.args, *reason.details.get("blockers", ())))
        exclusions.add(step, _because(start, before, involved), reason.sentence, str(reason.code))


def _before(plan: Plan, index: int, start: State) -> dict[Atom, Value]:
    values = dict(start.values)
    ground = grounder(start.objects)
    for step in plan.steps[:index]:
        values |= ground.operator(step).changes(values)
    return values


def _because(start: State, before: Mapping[Atom, Value], involved: Mapping[str, None]) -> dict[Atom, Value]:
    fluents = start.objects.domain.fluents
    wanted = [(f, name) for name in involved for f in ("on", "open") if f in fluents and name in start.objects]
    out: dict[Atom, Value] = {}
    for atom in wanted:
        kinds = fluents[atom[0]].params[0].types
        if atom[1] not in start.objects.members(*kinds):
            continue
        value = before.get(atom, fluents[atom[0]].default)
        if value is not UNKNOWN and not (atom[0] == "on" and value is None):
            out[atom] = value
            # A thing in a closed place: the door matters too.
            if atom[0] == "on" and isinstance(value, str) and ("open", value) in before:
                out["open", value] = before["open", value]
    return out
