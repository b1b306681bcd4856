"""Other planners, through unified-planning: optional, in a process group of their own, never trusted.

The task is cut down to what can matter, written as PDDL, and read by unified-planning in a child process; its plan comes back as text
and goes through our checker like any other. On a time-out the whole process group is killed, because an engine's own child
outlives the engine otherwise (measured: a java child kept running for 21 minutes after its time-out).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.formula import Const
from handrail.domain.goal import Goal
from handrail.domain.pddl import Written, read_plan, write_task
from handrail.domain.plan import Plan
from handrail.domain.rules import RuleKind
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.types import Objects
from handrail.domain.values import Atom, Value
from handrail.errors import ConfigError, MissingExtra
from handrail.solve.astar import Solution, relevant_model
from handrail.solve.relevance import Relevance
from handrail.solve.steps import calls

ENGINES = ("fast-downward", "fast-downward-opt", "lpg", "symk", "symk-opt", "enhsp", "aries", "pyperplan")
"""Names that unified-planning knows; each needs its own package."""

_CHILD = """
import json, os, signal, sys, threading, time

def follow(parent):  # when whoever started us is gone, so is everything that we started
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=follow, args=(os.getppid(),), daemon=True).start()
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import OneshotPlanner, get_environment
import warnings
warnings.simplefilter("ignore")
get_environment().credits_stream = None
engine, domain, problem, out = sys.argv[1:]
if engine == "lpg":
    try:
        get_environment().factory.add_engine("lpg", "up_lpg.lpg_planner", "LPGEngine")
    except Exception:
        pass
task = PDDLReader().parse_problem(domain, problem)
with OneshotPlanner(name=engine) as planner:
    planner.skip_checks = True
    begin = time.perf_counter()
    result = planner.solve(task)
    seconds = time.perf_counter() - begin
steps = None
if result.plan is not None:
    steps = [[a.action.name, *(str(p) for p in a.actual_parameters)] for a in result.plan.actions]
with open(out, "w") as f:
    json.dump({"status": result.status.name, "steps": steps, "seconds": seconds}, f)
"""


def solve_with(
    engine: str,
    task: Task,
    state: State,
    *,
    carried: Mapping[Atom, Value] | None = None,
    seconds: float = 60.0,
    python: str | None = None,
) -> Solution:
    """A plan from another planner, checked by ours.

    Args:
        engine: one of `ENGINES`.
        task: objects, rules, exclusions and goal.
        state: where the plan starts; nothing in it may be unknown.
        carried: monitor values of the run so far.
        seconds: after this the engine's whole process group is killed.
        python: the interpreter that has unified-planning and the engine; this one by default.

    Returns:
        A solution whose plan the checker accepts, or none and why. `proved` only where the engine says that it solved optimally or
        that there is no plan.

    Raises:
        MissingExtra: unified-planning is not installed.
        ConfigError: an unknown engine, or a time that is not positive.
        DomainError: the state has unknown facts.
    """
    if engine not in ENGINES:
        raise ConfigError(f"no engine '{engine}'; valid: {', '.join(ENGINES)}")
    if not seconds > 0:
        raise ConfigError(f"an engine needs a positive time, not {seconds}")
    if python is None and importlib.util.find_spec("unified_planning") is None:
        raise MissingExtra("planning with another engine", "planners", "unified-planning")
    small, start, monitors = narrowed(task, state, carried)
    written = write_task(small, start, monitors)
    answer = _run(engine, written, seconds, python or sys.executable)
    if isinstance(answer, str):
        return _none(answer)
    status, steps, taken = answer
    if steps is None:
        proved = status == "UNSOLVABLE_PROVEN"
        return _none(f"{engine} found no plan ({status.lower().replace('_', ' ')}).", proved)
    text = "\n".join(f"({' '.join(s)})" for s in steps)
    plan = replace(written.plan_back(read_plan(text)), source="planner", provenance={"planner": engine})
    found = _checked(engine, plan, task, state, carried, status)
    return replace(found, figures={"engine_seconds": taken})


def _none(why: str, proved: bool = False) -> Solution:
    infinite = float("inf")
    return Solution(None, infinite, infinite if proved else 0.0, proved, 0, why)


def _checked(
    engine: str, plan: Plan, task: Task, state: State, carried: Mapping[Atom, Value] | None, status: str
) -> Solution:
    result = check_symbolic(plan, task, state, carried)
    if not result.passed:
        return _none(f"{engine}'s plan was refused by the checker: {result.reasons[0].sentence}")
    cost = sum(task.operator(s).cost for s in plan)
    optimal = status == "SOLVED_OPTIMALLY"
    why = f"{engine}'s plan, checked" + (", which it says is optimal." if optimal else ".")
    return Solution(plan, cost, cost if optimal else 0.0, optimal, 0, why)


def _run(engine: str, written: Written, seconds: float, python: str) -> str | tuple[str, list[list[str]] | None, float]:
    """Run the child; a sentence where it did not answer."""
    with tempfile.TemporaryDirectory(prefix="handrail-engine-") as folder:
        paths = [Path(folder) / n for n in ("domain.pddl", "problem.pddl", "answer.json")]
        paths[0].write_text(written.domain, encoding="utf-8")
        paths[1].write_text(written.problem, encoding="utf-8")
        log = Path(folder) / "log"
        with log.open("wb") as out:
            child = subprocess.Popen(
                [python, "-c", _CHILD, engine, *map(str, paths)],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                start_new_session=True,
            )
            try:
                child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                return f"{engine} gave no answer within {seconds:g} s; it and everything it started were stopped."
            finally:
                _kill_group(child)
        if not paths[2].exists():
            tail = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            return f"{engine} failed: {tail[0][:300]}"
        body = json.loads(paths[2].read_text(encoding="utf-8"))
        return str(body["status"]), body["steps"], float(body["seconds"])


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started: they share a session of their own, whose id is the child's."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def narrowed(
    task: Task, state: State, carried: Mapping[Atom, Value] | None = None
) -> tuple[Task, State, dict[Atom, Value]]:
    """The same task with only the skills, objects and rules that can matter for its goal, and the monitors under their new numbers."""
    values = task.start(state, carried)
    model = relevant_model(task, values)
    relevance = Relevance(model)
    named: set[str] = {o.name for o in task.domain.constants}
    skills: set[str] = set()
    writes: set[Atom] = set()
    for a in model.actions:
        skills.add(a.step.skill)
        named.update(a.step.args)
        writes |= a.op.writes
    for atom in relevance.asked:
        named.update(atom[1:])
        value = values.get(atom)
        if isinstance(value, str):
            named.add(value)
    named |= _goal_objects(task.goal)
    named.update(task.domain.safety.no_go)
    # a value of a kept object must be an object too, or the state could not be written
    grown = True
    while grown:
        grown = False
        for atom, value in state.values.items():
            if isinstance(value, str) and value not in named and all(o in named for o in atom[1:]):
                named.add(value)
                grown = True
    rules = [
        i
        for i, r in enumerate(task.rules[: len(task.domain.safety.rules)])
        if r.reads & writes or (r.rule.kind is RuleKind.AFTER and values.get(r.atom, 0) != 0)
    ]
    domain = _smaller(task.domain, skills, rules)
    objects = Objects(domain, [o for o in task.objects if o.name in named], task.objects.numbers)
    kept = {a: v for a, v in state.values.items() if all(o in named for o in a[1:])}
    goals = {a: v for a, v in task.monitors(values).items() if a[0] == "$goal"}
    monitors = goals | {
        ("$rule", str(n)): values[("$rule", str(i))] for n, i in enumerate(rules) if ("$rule", str(i)) in values
    }
    exclusions = Exclusions([e for e in task.exclusions if e.step.skill in skills and set(e.step.args) <= named])
    return Task(objects, task.goal, exclusions), State(objects, kept), monitors


def _goal_objects(goal: Goal) -> set[str]:
    parts = (goal.final, *goal.subgoals, *goal.keep)
    return {str(c.value) for p in parts for c in calls(p) if isinstance(c, Const) and isinstance(c.value, str)}


def _smaller(domain: Domain, skills: set[str], rules: list[int]) -> Domain:
    """The same domain with fewer skills and rules; what safety forbids about the other skills goes with them."""
    safety = replace(
        domain.safety,
        rules=tuple(domain.safety.rules[i] for i in rules),
        forbid=tuple(b for b in domain.safety.forbid if b.skill == "*" or b.skill in skills),
    )
    other = ("attributes", "symbols", "skills", "safety")
    made = {n: getattr(domain, n) for n in domain.__dataclass_fields__ if n not in other}
    return Domain(**made, skills={n: s for n, s in domain.skills.items() if n in skills}, safety=safety)
