"""The parts of `handrail eval home`, each a function from plain values to plain values, so that they run as shards."""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from handrail.check.pipeline import Pipeline
from handrail.check.proof import VerifiedPlan
from handrail.check.symbolic import run_symbolic
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.files import load_scene
from handrail.domain.goal import Goal
from handrail.domain.grounder import grounder
from handrail.domain.plan import Plan, Step
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.text import parse_goal
from handrail.domain.text.scenes import Expect
from handrail.domains import path
from handrail.evaluate.home_cases import CASES, play
from handrail.evaluate.home_force import force
from handrail.execute.budget import Budgets, Ended
from handrail.execute.card import make_card
from handrail.execute.loop import Executor
from handrail.execute.person import Scripted
from handrail.execute.replan import PlannerFirst
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.solve.astar import solve
from handrail.world.host import LocalHost
from handrail.world.mujoco import shapes
from handrail.world.mujoco.dryrun import MujocoDryRun, exclude, rehearse
from handrail.world.mujoco.faults import Faults
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.perception import Perception
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Noise, Pose, Sim
from handrail.world.mujoco.skills import perform
from handrail.world.mujoco.spec import Physical, read_physical
from handrail.world.mujoco.world import MujocoWorld, physical_args

NOISE = Noise(plane=0.002, height=0.001, yaw=0.02)
"""What a depth camera on a robot's head gives at arm's length: millimetres, a degree."""

PICK: dict[str, tuple[str, tuple[float, float], str]] = {
    "mug": ("counter", (0.45, 0.0), "table"),
    "can": ("counter", (-0.1, 0.0), "table"),
    "bowl": ("table", (-0.15, 0.1), "counter"),
    "bottle": ("counter", (0.1, 0.0), "table"),
    "sponge": ("counter", (0.28, 0.0), "sofa_table"),
    "cube": ("sofa_table", (-0.05, 0.1), "counter"),
    "apple": ("table", (0.4, -0.1), "counter"),
    "plate": ("table", (0.2, 0.1), "counter"),
    "carton": ("counter", (-0.3, 0.0), "shelf_low"),
}
"""Where each object starts (place and middle of its random poses) and where it goes."""
BODIES = {"can": "cola", "bottle": "water", "carton": "milk"}
"""Objects whose item is called otherwise."""

FAULTS = Faults(slip=0.08, moved=0.05, shut=0.03, blocked=0.03, weak=0.04, drift=0.08, stop=0.0)
"""Per step started, in the requests."""
SIGHT = Perception(NOISE, miss=0.02, confuse=0.05)
STEPS = (4, 12)


@lru_cache(maxsize=1)
def home() -> Domain:
    """The shipped home."""
    return Domain.load(path("home"))


@lru_cache(maxsize=1)
def physical() -> Physical:
    """Its physical part."""
    return read_physical(home().extra["physical"])


@lru_cache(maxsize=1)
def _scene() -> Scene:
    return Scene.compile(physical())


def case_part(index: int) -> dict[str, Any]:
    """One named case."""
    return play(CASES[index], physical())


def scatter(
    sim: Sim, item: str, place: str, middle: tuple[float, float], rng: np.random.Generator, spread: float = 0.05
) -> None:
    """Put an item at a random pose around a point of a place, clear of other things."""
    scene = sim.scene
    surface = sim.surface(scene.places[place])
    half = np.array(scene.places[place].half)
    radius = shapes.footprint(scene.spec.items[item].shape)
    others = [(sim.pose(n).p, shapes.footprint(i.shape)) for n, i in scene.spec.items.items() if n != item]
    for _ in range(200):
        xy = np.clip(np.array(middle) + rng.uniform(-spread, spread, 2), -half, half)
        p = surface.p + surface.r @ np.array([*xy, 0.001])
        if all(np.linalg.norm(p[:2] - q[:2]) > r + radius + 0.02 or abs(p[2] - q[2]) > 0.4 for q, r in others):
            break
    sim.put(item, Pose(p, surface.r @ rot_z(float(rng.uniform(-math.pi, math.pi)))))


def pick_part(name: str, first: int, count: int, seed: int) -> dict[str, Any]:
    """Pick and place of one object over fresh seeds: pose, yaw, base pose and perception noise are all drawn anew."""
    item = BODIES.get(name, name)
    start, middle, goal = PICK[name]
    sim = Sim(_scene(), 0, NOISE)
    rows = []
    for k in range(first, first + count):
        rng = np.random.default_rng((seed, 101, k, sum(map(ord, name))))
        sim.seed = int(rng.integers(2**31))
        sim.reset()
        scatter(sim, item, start, middle, rng)
        x, y = (-1.6, 0.3) if start == "counter" else (1.0, 0.3)
        sim.data.qpos[sim.scene.base_q] = (x + rng.uniform(-0.2, 0.2), y + rng.uniform(-0.2, 0.2), rng.uniform(-1, 1))
        sim.data.ctrl[sim.scene.base_u] = sim.data.qpos[sim.scene.base_q]
        mujoco.mj_forward(sim.model, sim.data)
        for _ in range(15):
            sim.tick()
        begin, clock = time.process_time(), sim.time
        outcome = perform(sim, "pick", item)
        if outcome.ok:
            outcome = perform(sim, "place", item, goal)
        ok = outcome.ok and sim.place_of(item) == goal and (sim.pose(item).r[2, 2] > 0.95 or item == "apple")
        rows.append(
            {"k": k, "ok": bool(ok), "code": str(outcome.code), "why": outcome.sentence,
             "cpu_s": round(time.process_time() - begin, 3), "sim_s": round(sim.time - clock, 2)}
        )  # fmt: skip
    return {"object": name, "rows": rows}


@lru_cache(maxsize=1)
def requests() -> list[tuple[str, Goal, State]]:
    """Ten requests of the home's first scene whose plan has 4 to 12 steps that move."""
    scene = load_scene(home())
    out = []
    for request in scene.requests:
        if request.expect is not Expect.DO or not request.goals:
            continue
        found = solve(Task(scene.state.objects, request.goals[0]), scene.state)
        if found.plan is not None and STEPS[0] <= len(found.plan) <= STEPS[1]:
            out.append((request.say, request.goals[0], scene.state))
    return out[:10]


def first_plan(pipeline: Pipeline, world: MujocoWorld, state: State, goal: Goal, tries: int = 4) -> VerifiedPlan | str:
    """The planner's plan that also passes the dry-run, refused steps excluded in between; or why there is none."""
    exclusions = Exclusions()
    for _ in range(tries):
        task = Task(state.objects, goal, exclusions)
        plan = solve(task, state).plan
        if plan is None:
            return "no plan"
        snapshot = world.fork()
        found = pipeline.verify(plan, state, goal, snapshot=snapshot, task=task)
        world.give_back(snapshot)
        if isinstance(found, VerifiedPlan):
            return found
        for layer in found.verdict.layers:
            if layer.layer == "physics":
                exclude(exclusions, plan, layer, state)
    return "refused"


def request_part(index: int, first: int, count: int, seed: int) -> dict[str, Any]:
    """One request, end to end, with faults and imperfect sight, over seeds."""
    say, goal, state = requests()[index]
    rows = []
    for k in range(first, first + count):
        begin = time.process_time()
        world = MujocoWorld(state, physical(), seed=seed * 1000 + index * 100 + k, perception=SIGHT, faults=FAULTS)
        person = Scripted(yes=frozenset({"approve", "step"}))
        row: dict[str, Any] = {"request": say, "k": k}
        with Runner(LocalHost(world, lease=None), MemoryLog(f"home{index}-{k}"), person, threads=False) as runner:
            pipeline = Pipeline(dry_runs=(MujocoDryRun(),), notary=runner.notary)
            found = first_plan(pipeline, world, state, goal)
            if isinstance(found, str):
                row |= {"ended": found, "true": False, "steps": 0}
            else:
                card = make_card(found, state.values)
                approval = runner.approvals.grant(found, card, "scripted person")
                budgets = Budgets(answer_seconds=0.01, replans=6, looks=4)
                out = Executor(runner, pipeline, PlannerFirst(solve), budgets).run(found, approval)
                task = Task(state.objects, Goal(goal.final))
                row |= {
                    "ended": str(out.ended), "true": bool(task.end.holds(task.start(world.truth))),
                    "steps": out.spent.steps, "replans": out.spent.replans, "sentence": out.sentence[:300],
                }  # fmt: skip
        row["faults"] = [str(f) for n in range(len(world.outcomes) + 1) if (f := FAULTS.drawn(world.seed, n))]
        row["cpu_s"] = round(time.process_time() - begin, 2)
        row["sim_s"] = round(world.sim.time, 1)
        rows.append(row)
    return {"request": say, "rows": rows}


DONE = str(Ended.DONE)


def _random_steps(state: State, rng: np.random.Generator, count: int) -> list[Step]:
    """A walk of symbolically possible steps; every second one or so is a useful successor, to get beyond driving around."""
    ground = grounder(state.objects)
    values = dict(state.values)
    steps: list[Step] = []
    every = _all_steps(state)
    while len(steps) < count:
        usable = [s for s in every if ground.operator(s).applicable(values)]
        moving = [s for s in usable if s.skill != "navigate_to"]
        # Something that uses where the robot stands is more telling than driving off again.
        pool = moving if moving and (rng.random() < 0.8 or not usable) else usable
        if not pool:
            break
        step = pool[int(rng.integers(len(pool)))]
        values |= ground.operator(step).changes(values)
        steps.append(step)
    return steps


def _all_steps(state: State) -> list[Step]:
    from itertools import product

    out = []
    for skill in state.objects.domain.skills.values():
        if skill.asks:
            continue
        out += [
            Step(skill.name, args) for args in product(*(sorted(state.objects.members(*p.types)) for p in skill.params))
        ]
    return out


def agreement_part(first: int, count: int, seed: int) -> dict[str, Any]:
    """Dry-run verdict against what then happens, with perception noise, step by step along random walks.

    Before each step a fork with a seed of its own rehearses it; then it happens live. Every tenth step is also rehearsed with the
    live seed, and the two end states are compared bit for bit.
    """
    state = load_scene(home()).state
    rows, bits = [], []
    for k in range(first, first + count):
        rng = np.random.default_rng((seed, 202, k))
        world = MujocoWorld(state, physical(), seed=int(rng.integers(2**31)), perception=Perception(NOISE))
        sim = world.sim
        now = state
        for done in range(10):
            steps = _random_steps(now, rng, 1)
            if not steps:
                break
            step = steps[0]
            args = physical_args(step, world.robot, world.hand)
            trial = sim.fork()
            trial.seed = sim.seed + 1
            said = perform(trial, step.skill, *args)
            sim.release(trial)
            if done % 10 == 0:
                twin = sim.fork()
                twin.noise = Noise()
                other = sim.fork()
                other.noise = Noise()
                perform(twin, step.skill, *args)
                perform(other, step.skill, *args)
                bits.append(
                    bool((twin.data.qpos == other.data.qpos).all() and (twin.data.qvel == other.data.qvel).all())
                )
                sim.release(twin)
                sim.release(other)
            real = perform(sim, step.skill, *args)
            rows.append([step.skill, bool(said.ok), bool(real.ok), str(said.code), str(real.code)])
            now = world.truth
    return {"rows": rows, "bitwise": bits}


def missed_part(first: int, count: int, seed: int) -> dict[str, Any]:
    """Random household plans that pass the symbolic checks: which ones physics refuses, why, and whether forcing them fails.

    A goal is one or two random wishes (an item on a place, given to the person, a dirty place clean); the plan is the planner's.
    """
    state = load_scene(home()).state
    rows: list[dict[str, Any]] = []
    k = first
    tried = 0
    while len(rows) < count and tried < 50 * count:
        tried += 1
        rng = np.random.default_rng((seed, 303, k, tried))
        goal = _wish(state, rng)
        task = Task(state.objects, goal)
        plan = solve(task, state).plan
        if plan is None or not plan.steps or not run_symbolic(plan, task, state).result.passed:
            continue
        world = MujocoWorld(state, physical(), seed=int(rng.integers(2**31)))
        fork = world.sim.fork()
        begin = time.process_time()
        trial = rehearse(plan, fork, world.robot, world.hand)
        row: dict[str, Any] = {
            "plan": str(plan),
            "steps": len(plan),
            "ok": trial.ok,
            "cpu_s": round(time.process_time() - begin, 3),
        }
        if not trial.ok:
            assert trial.failed is not None
            step = plan.steps[trial.failed]
            row |= {"code": str(trial.outcomes[-1].code), "step": str(step), "why": trial.outcomes[-1].sentence}
            before = Plan(plan.steps[: trial.failed])
            if rehearse(before, world.sim, world.robot, world.hand).ok:
                row["forced"] = force(world.sim, step.skill, physical_args(step, world.robot, world.hand))
        rows.append(row)
    return {"rows": rows}


def _wish(state: State, rng: np.random.Generator) -> Goal:
    items, places = sorted(state.objects.of("item")), sorted(state.objects.of("place"))
    parts = []
    for _ in range(int(rng.integers(1, 3))):
        item = items[int(rng.integers(len(items)))]
        kind = rng.random()
        if kind < 0.8:
            parts.append(f"on({item}) == {places[int(rng.integers(len(places)))]}")
        else:
            parts.append(f"given({item}) == person_1")
    return parse_goal(" and ".join(parts), state.objects.domain, state.objects)
