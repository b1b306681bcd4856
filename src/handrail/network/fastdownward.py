"""Fast Downward as an outside witness: the optional package up-fast-downward carries its binaries (GPL, not bundled)."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from handrail.errors import MissingExtra
from handrail.network.pddl import Written

_BOUND = re.compile(r"f = (\d+)")


@dataclass(frozen=True)
class Outcome:
    """What the planner said.

    Attributes:
        plan: the plan file's text; None where there is none.
        cost: of the plan.
        bound: the highest f value it had closed.
        solved: the search ended with an optimal plan.
        unsolvable: it ended with the proof that there is none.
        seconds: wall time, translation included.
    """

    plan: str | None
    cost: int | None
    bound: int
    solved: bool
    unsolvable: bool
    seconds: float
    log: str = ""


def driver() -> Path:
    """The driver script.

    Raises:
        MissingExtra: up-fast-downward is not installed.
    """
    found = importlib.util.find_spec("up_fast_downward")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("solving with Fast Downward", "planners", "up-fast-downward")
    return Path(next(iter(found.submodule_search_locations))) / "downward" / "fast-downward.py"


def solve(written: Written, seconds: float = 60.0, search: str = "astar(lmcut())") -> Outcome:
    """Run Fast Downward on written PDDL.

    Args:
        written: domain and problem.
        seconds: time limit for the whole call.
        search: its search option; the default is optimal.
    """
    script = driver()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "domain.pddl").write_text(written.domain, encoding="utf-8")
        (work / "problem.pddl").write_text(written.problem, encoding="utf-8")
        plan = work / "plan"
        began = time.perf_counter()
        command = [
            sys.executable, str(script), "--plan-file", str(plan), "--overall-time-limit", f"{max(1, int(seconds))}s",
            "domain.pddl", "problem.pddl", "--search", search,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=seconds + 30)
        spent = time.perf_counter() - began
        bounds = [int(b) for b in _BOUND.findall(done.stdout)]
        text = plan.read_text(encoding="utf-8") if plan.exists() else None
        cost: int | None = None
        if text is not None:
            found = re.search(r"cost = (\d+)", text)
            cost = int(found[1]) if found else None
        log = done.stdout[-2000:] + done.stderr[-2000:]
        return Outcome(
            text, cost, max(bounds, default=0), done.returncode == 0, done.returncode in (10, 11, 12), spent, log
        )
