"""What handrail itself costs: start-up beside a bare interpreter, and a request outside model, search and physics."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import handrail as hr
from handrail.mission import fixed_goal


def seconds(code: str, repeats: int) -> float:
    """Median wall seconds of a fresh interpreter that runs some code."""
    out = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        out.append(time.perf_counter() - began)
    return statistics.median(out)


class Clock:
    """Adds up the CPU time spent inside some functions."""

    def __init__(self) -> None:
        self.inside = 0.0

    def around(self, call):
        def timed(*args, **kwargs):
            began = time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.inside += time.thread_time() - began

        return timed


def request_overhead(repeats: int) -> dict[str, float]:
    """CPU ms of `Mission.plan` for a given goal, without the planner: observe, check, seal, record."""
    from handrail.domain.text import parse_goal

    home = hr.Domain.load(hr.domains.path("home"))
    scene = hr.load_scene(home)
    goal = parse_goal("on(apple) == bin", home, scene.objects)
    clock = Clock()
    rest = []
    for _ in range(repeats):
        mission = hr.assemble(home, hr.worlds.symbolic(home), person=hr.people.nobody())
        fixed_goal(mission, goal)
        for proposer in mission.proposers:
            proposer._solve = clock.around(proposer._solve)
        clock.inside = 0.0
        began = time.process_time()
        made = mission.plan("bench")
        total = time.process_time() - began
        assert made.verified is not None
        rest.append((total - clock.inside) * 1000)
    return {"median_ms": round(statistics.median(rest), 2), "worst_ms": round(max(rest), 2), "aim_ms": 10.0}


def run(quick: bool = False) -> dict[str, object]:
    n = 5 if quick else 15
    bare = seconds("pass", n)
    package = seconds("import handrail", n)
    line = seconds("import handrail.mission, handrail.assembly", n)
    return {
        "startup_s": {
            "python": round(bare, 3),
            "import handrail": round(package, 3),
            "of which handrail": round(package - bare, 3),
            "the whole line": round(line, 3),
            "aim": 0.3,
        },
        "request_outside_model_search_physics": request_overhead(n * 2),
    }


