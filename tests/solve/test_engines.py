"""Other engines: stand-in interpreters that answer, lie, fail and hang; and a real one where it is installed."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

import handrail.domains
from handrail.domain import Task
from handrail.domain.files import load_domain, load_scene
from handrail.domain.text import parse_goal
from handrail.errors import ConfigError, DomainError, MissingExtra
from handrail.solve.astar import solve
from handrail.solve.engines import narrowed, solve_with


@pytest.fixture(scope="module")
def problem():
    domain = load_domain(handrail.domains.path("home"))
    scene = load_scene(domain, "evening")
    return Task(scene.objects, parse_goal("on(apple) == bin", domain, scene.objects)), scene.state


@pytest.fixture
def stand_in(tmp_path):
    """Make an interpreter that is called as Python would be and runs a script of ours instead: argv 1 is the answer's file."""

    def make(body: str) -> str:
        script = tmp_path / "engine.py"
        script.write_text(body, encoding="utf-8")
        path = tmp_path / "python"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$6"\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


ANSWER = """
import json, sys
json.dump({{"status": {status!r}, "steps": {steps!r}, "seconds": 0.1}}, open(sys.argv[1], "w"))
"""
GOOD = [
    ["navigate_to", "robot_1", "table", "counter"],
    ["pick", "robot_1", "hand_1", "apple", "table"],
    ["navigate_to", "robot_1", "bin", "table"],
    ["place-2", "robot_1", "hand_1", "apple", "bin"],
]


def test_a_plan_comes_back_in_our_words_and_is_checked(problem, stand_in):
    task, state = problem
    found = solve_with("lpg", task, state, python=stand_in(ANSWER.format(status="SOLVED_SATISFICING", steps=GOOD)))
    assert [s.skill for s in found.plan] == ["navigate_to", "pick", "navigate_to", "place"]
    assert found.cost == pytest.approx(1.0) and not found.proved and found.bound == 0.0
    assert found.plan.provenance["planner"] == "lpg"


def test_optimal_is_said_only_where_the_engine_says_so(problem, stand_in):
    task, state = problem
    found = solve_with("symk-opt", task, state, python=stand_in(ANSWER.format(status="SOLVED_OPTIMALLY", steps=GOOD)))
    assert found.proved and found.bound == found.cost


def test_a_wrong_plan_is_refused(problem, stand_in):
    task, state = problem
    found = solve_with("lpg", task, state, python=stand_in(ANSWER.format(status="SOLVED_OPTIMALLY", steps=GOOD[1:])))
    assert found.plan is None and not found.proved
    assert "refused by the checker" in found.why


@pytest.mark.parametrize(
    ("status", "proved"), [("UNSOLVABLE_PROVEN", True), ("UNSOLVABLE_INCOMPLETELY", False), ("INTERNAL_ERROR", False)]
)
def test_no_plan_is_proof_only_where_it_is_said(problem, stand_in, status, proved):
    task, state = problem
    found = solve_with("lpg", task, state, python=stand_in(ANSWER.format(status=status, steps=None)))
    assert found.plan is None and found.unsolvable is proved


def test_an_engine_that_fails_says_its_last_words(problem, stand_in):
    task, state = problem
    found = solve_with("lpg", task, state, python=stand_in("raise SystemExit('binary not found: lpg')"))
    assert found.plan is None
    assert "binary not found" in found.why


def test_on_time_out_everything_it_started_is_stopped(problem, stand_in, tmp_path):
    """The engine starts a child of its own and hangs; both are gone afterwards."""
    note = tmp_path / "child"
    body = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\ntime.sleep(60)\n"
    )
    task, state = problem
    found = solve_with("enhsp", task, state, seconds=3, python=stand_in(body))
    assert "no answer within 3 s" in found.why
    pid = int(note.read_text(encoding="utf-8"))
    for _ in range(100):
        if _gone(pid):
            break
        time.sleep(0.05)
    assert _gone(pid)


def test_an_engine_follows_whoever_started_it(tmp_path):
    """Where the program that asked is killed, the engine's process ends by itself."""
    import subprocess

    from handrail.solve import engines

    child = engines._CHILD.split("from unified_planning")[0] + "time.sleep(60)\n"
    script = tmp_path / "asker.py"
    script.write_text(
        f"import subprocess, sys, time\nchild = subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        "print(child.pid, flush=True)\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    asker = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    pid = int(asker.stdout.readline())
    time.sleep(1.5)  # it needs to have started to follow
    assert not _gone(pid)
    asker.kill()
    asker.wait()
    asker.stdout.close()
    for _ in range(200):
        if _gone(pid):
            break
        time.sleep(0.05)
    assert _gone(pid)


def _gone(pid: int) -> bool:
    stat_file = Path(f"/proc/{pid}/stat")
    if Path("/proc").exists():
        return not stat_file.exists() or stat_file.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_misuse_is_said_at_once(problem, monkeypatch):
    from handrail.domain import UNKNOWN

    task, state = problem
    with pytest.raises(ConfigError, match="no engine 'fd'; valid: fast-downward"):
        solve_with("fd", task, state)
    with pytest.raises(ConfigError, match="positive"):
        solve_with("lpg", task, state, seconds=0)
    with pytest.raises(DomainError, match="unknown"):
        solve_with("lpg", task, state.with_({("open", "fridge"): UNKNOWN}), python="python")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"handrail\[planners\]"):
        solve_with("lpg", task, state)


def test_only_what_matters_is_handed_over(problem):
    """The narrowed task has the same cheapest cost, with fewer objects, skills and rules."""
    task, state = problem
    small, start, monitors = narrowed(task, state)
    assert len(small.objects) < len(task.objects)
    assert set(small.domain.skills) < set(task.domain.skills)
    assert len(small.rules) < len(task.rules)
    assert solve(small, start, carried=monitors).cost == solve(task, state).cost


@pytest.mark.slow
def test_fast_downward_itself(problem):
    pytest.importorskip("up_fast_downward")
    task, state = problem
    found = solve_with("fast-downward", task, state, seconds=120)
    assert found.plan is not None and found.cost >= solve(task, state).cost - 1e-9
