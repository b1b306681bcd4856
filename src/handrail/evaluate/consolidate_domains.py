"""When do more proposals pay? Our own suitcase, tidy-room and assembly domains with simulated imperfect proposers.

A simulated proposer is no language model: it takes a plan found under its own random preferences and spoils it: steps are
dropped, swapped, given a wrong object, or added. The spoiling rate is stated with the figures.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping
from typing import Any

from handrail.domain import Atom, Plan, Step, Task, Value
from handrail.domain.files import load_domain, load_scene
from handrail.errors import ConfigError
from handrail.evaluate.options import EvalOptions
from handrail.network.consolidate import consolidate, search_steps
from handrail.network.names import DATA
from handrail.solve.astar import relevant_model, solve

DOMAINS = ("suitcase", "tidy_room", "assembly")
SPOIL = 0.06
"""Chance per step of each kind of fault."""
MOST = 5
EXPANSIONS = 2000
HABIT_EXPANSIONS = 800


def spoiled(plan: tuple[Step, ...], pool: list[Step], rng: random.Random, rate: float = SPOIL) -> tuple[Step, ...]:
    """A plan with faults: per step a chance each of being dropped, replaced within its skill, followed by a stray step."""
    steps: list[Step] = []
    for step in plan:
        roll = rng.random()
        if roll < rate:
            continue
        if roll < 2 * rate:
            same = [s for s in pool if s.skill == step.skill]
            steps.append(rng.choice(same))
        else:
            steps.append(step)
        if rng.random() < rate:
            steps.append(rng.choice(pool))
    for k in range(len(steps) - 1):
        if rng.random() < rate:
            steps[k], steps[k + 1] = steps[k + 1], steps[k]
    return tuple(steps)


def _habits(
    task: Task, values: Mapping[Atom, Value], pool: list[Step], rng: random.Random, count: int
) -> list[tuple[Step, ...]]:
    """Different ways to reach the goal: plans found under random preferences, in a small budget, so seldom optimal."""
    plans: list[tuple[Step, ...]] = []
    for _ in range(4 * count):
        if len(plans) == count:
            break
        taste = {s: rng.uniform(0.2, 3.0) for s in pool}
        found = search_steps(task, values, pool, taste.__getitem__, HABIT_EXPANSIONS)
        if found is not None and found.plan is not None:
            plans.append(found.plan)
    if not plans:
        raise ConfigError("no simulated proposer found a plan; raise HABIT_EXPANSIONS")
    return plans


def run(options: EvalOptions) -> dict[str, Any]:
    """Per domain and number of proposals: share solved and cost ratio to the whole domain's optimum."""
    trials = int(options.extra.get("trials", 4 if options.quick else 12))
    out: dict[str, Any] = {"spoil_rate": SPOIL, "trials": trials}
    for name in DOMAINS:
        domain = load_domain(DATA / "domains" / f"{name}.yaml")
        scene = load_scene(domain)
        goal = scene.requests[0].goals[0]
        task = Task(scene.objects, goal)
        optimum = solve(task, scene.state)
        values = task.start(scene.state)
        pool = [a.step for a in relevant_model(task, values).actions]
        habits = _habits(task, values, pool, random.Random(f"{options.seed} {name}"), 2 if options.quick else 8)  # noqa: S311
        rows: dict[int, list[tuple[bool, float, bool, bool]]] = {k: [] for k in range(1, MOST + 1)}
        for trial in range(trials):
            options.progress(f"consolidate {name}", trial, trials)
            rng = random.Random(f"{options.seed} {name} {trial}")  # noqa: S311 - a seeded simulation
            plans = [Plan(spoiled(rng.choice(habits), pool, rng), source=f"proposer {k + 1}") for k in range(MOST)]
            first: float | None = None
            for k in range(1, MOST + 1):
                merged = consolidate(plans[:k], scene.state, goal, expansions=EXPANSIONS)
                own = [c for c in merged.own if c is not None]
                if k == 1:
                    first = merged.cost if merged.plan is not None else None
                solved = merged.plan is not None
                cheaper = solved and (first is None or merged.cost < first - 1e-9)
                spliced = solved and (not own or merged.cost < min(own) - 1e-9)
                rows[k].append((solved, merged.cost / optimum.cost if solved else 0.0, cheaper, spliced))
        out[name] = {
            "optimum": optimum.cost,
            "steps": len(optimum.plan or ()),
            "ways": len(habits),
            "proposals": {
                str(k): {
                    "solved": round(sum(r[0] for r in done) / trials, 3),
                    "cheaper_than_first": round(sum(r[2] for r in done) / trials, 3),
                    "better_than_any_single": round(sum(r[3] for r in done) / trials, 3),
                    "cost_ratio": round(statistics.mean([r[1] for r in done if r[0]]), 3)
                    if any(r[0] for r in done)
                    else None,
                }
                for k, done in rows.items()
            },
        }
    return out
