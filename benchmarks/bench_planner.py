"""The planner against Fast Downward and LPG on 30 household problems of three sizes.

Peers run through `handrail.solve.engines` on the same task, cut down to what can matter, so that they profit from our pruning. They
need unified-planning with its engines: in this interpreter, or in the one that `HANDRAIL_PLANNERS_PYTHON` names. The home's rules
over whole plans are left out here, because neither LPG nor Fast Downward's LM-cut takes the conditional effects that they become.
Seconds of a peer are those of its own solve call, without starting Python and reading the texts.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from statistics import geometric_mean, median
from typing import Any

import handrail.domains
from handrail.domain import Domain, Obj, Objects, State, Task
from handrail.domain.files import load_domain, load_scene
from handrail.domain.text import parse_goal
from handrail.solve.astar import Budget, solve
from handrail.solve.engines import solve_with

SIZES = {"small": (1, 0), "medium": (3, 20), "large": (5, 80)}
"""Name to (things to be moved, items more than the scene has)."""
PEERS = ("fast-downward", "fast-downward-opt", "lpg")


def problems(each: int, seed: int = 0) -> list[tuple[str, Task, State]]:
    """Tidying: things go to places, and every door is shut at the end."""
    home = load_domain(handrail.domains.path("home"))
    other = ("attributes", "symbols", "safety")
    made = {n: getattr(home, n) for n in home.__dataclass_fields__ if n not in other}
    domain = Domain(**made, safety=replace(home.safety, rules=()))
    scene = load_scene(home, "evening")
    rng = random.Random(seed)
    out: list[tuple[str, Task, State]] = []
    places = [p for p in scene.objects.of("place") if p not in ("stove", "microwave")]
    for size, (moves, more) in SIZES.items():
        for _ in range(each):
            extra = [Obj(f"thing_{i}", "item", {"material": rng.choice(["wood", "metal"])}) for i in range(more)]
            objects = Objects(domain, [*scene.objects, *extra])
            values = {**scene.state.values, **{("on", o.name): rng.choice(places) for o in extra}}
            things = [i for i in objects.of("item") if i != "knife"]
            chosen = rng.sample(things, moves)
            parts = [f"on({t}) == {rng.choice([p for p in places if p != values['on', t]])}" for t in chosen]
            shut = [f"not open({c})" for c in ("fridge", "drawer")]
            task = Task(objects, parse_goal(" and ".join(parts + shut), domain, objects))
            out.append((size, task, State(objects, values)))
    return out


def peers_python() -> str | None:
    """An interpreter that has unified-planning and at least Fast Downward; None where there is none."""
    for python in (os.environ.get("HANDRAIL_PLANNERS_PYTHON"), sys.executable):
        if python and not subprocess.run([python, "-c", "import up_fast_downward"], capture_output=True).returncode:
            return python
    return None


def run(quick: bool) -> dict[str, Any]:
    """`solved`, and per peer and size the cost and time ratios over problems that both solved (peer / ours)."""
    rows: list[dict[str, Any]] = []
    python = peers_python()
    for n, (size, task, state) in enumerate(problems(2 if quick else 10)):
        begin = time.perf_counter()
        ours = solve(task, state, budget=Budget(20_000))
        seconds = time.perf_counter() - begin
        row: dict[str, Any] = {"size": size, "problem": n, "goal": str(task.goal.final)}
        row["ours"] = {"cost": ours.cost, "proved": ours.proved, "seconds": seconds, "expanded": ours.expanded}
        for peer in PEERS if python else ():
            found = solve_with(peer, task, state, seconds=60 if not quick else 30, python=python)
            taken = found.figures.get("engine_seconds") if found.plan is not None else None
            row[peer] = {"cost": found.cost, "seconds": taken, "why": found.why}
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
    return {
        "problems": len(rows),
        "peers": list(PEERS) if python else "not installed",
        "sizes": _summary(rows),
        "rows": rows,
    }


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for size in SIZES:
        here = [r for r in rows if r["size"] == size]
        ours = [r["ours"] for r in here]
        out[size] = {
            "problems": len(here),
            "ours": {
                "solved": sum(o["cost"] < float("inf") for o in ours),
                "proved": sum(o["proved"] for o in ours),
                "median_seconds": round(median(o["seconds"] for o in ours), 3),
                "worst_seconds": round(max(o["seconds"] for o in ours), 3),
            },
        }
        for peer in PEERS:
            both = [r for r in here if peer in r and r[peer]["seconds"] is not None and r["ours"]["cost"] > 0]
            both = [r for r in both if r["ours"]["cost"] < float("inf")]
            if any(peer in r for r in here):
                out[size][peer] = {
                    "solved": sum(r[peer]["seconds"] is not None for r in here if peer in r),
                    "cost_ratio": round(geometric_mean([r[peer]["cost"] / r["ours"]["cost"] for r in both]), 3)
                    if both
                    else None,
                    "time_ratio": round(geometric_mean([r[peer]["seconds"] / r["ours"]["seconds"] for r in both]), 2)
                    if both
                    else None,
                }
    return out
