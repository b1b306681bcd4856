"""Fast Downward as an outside witness: the optional package up-fast-downward carries its binaries (GPL, not bundled)."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
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
        stdout, stderr, code = _within(command, work, seconds)
        spent = time.perf_counter() - began
        bounds = [int(b) for b in _BOUND.findall(stdout)]
        text = plan.read_text(encoding="utf-8") if plan.exists() else None
        cost: int | None = None
        if text is not None:
            found = re.search(r"cost = (\d+)", text)
            cost = int(found[1]) if found else None
        log = stdout[-2000:] + stderr[-2000:]
        return Outcome(text, cost, max(bounds, default=0), code == 0, code in (10, 11, 12), spent, log)


def _within(command: list[str], work: Path, seconds: float) -> tuple[str, str, int]:
    """Run a command in a session of its own and end the whole session when the time is up.

    The driver's own time limit does not reach the search component everywhere.
    """
    process = subprocess.Popen(
        command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        stdout, stderr = process.communicate(timeout=seconds + 1)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        return stdout, stderr, -signal.SIGKILL
    return stdout, stderr, process.returncode
