"""Kill the runner with SIGKILL at random points, resume, and look at what the world witnessed.

A world host lives in a process of its own; runners are forked, killed and forked again until the request is done. The witness is the
world: it writes down every effect, and whether that effect was there already (a step repeated for nothing). Every event whose durable
write was acknowledged before a kill must be in the store afterwards.

    python -m handrail.evaluate.kills POINTS SEED FOLDER        (what `run` starts, so that nothing forks a threaded program)
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handrail.check.pipeline import Pipeline
from handrail.check.proof import VerifiedPlan
from handrail.domain.domain import Domain
from handrail.domain.files import Scene, load_scene
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.task import Task
from handrail.domains import path
from handrail.errors import StoreError, WorldError
from handrail.evaluate.options import EvalOptions
from handrail.execute.budget import Budgets
from handrail.execute.card import Card
from handrail.execute.loop import Executor
from handrail.execute.person import Callback, Kind, Question
from handrail.execute.replan import PlannerFirst
from handrail.execute.replay import replay, resume, sections
from handrail.execute.runner import Runner
from handrail.record.event import Event
from handrail.record.log import RunLog
from handrail.record.store import RunStore
from handrail.solve.astar import solve
from handrail.world.faults import Faults
from handrail.world.host import LocalHost
from handrail.world.remote import RemoteHost
from handrail.world.serve import Server
from handrail.world.symbolic import SymbolicWorld

_REQUESTS = ("Put the milk away.", "Bring me the cola from the fridge.", "Put both cubes on the low shelf.")
_MOST_KILLS = 4
_POINTS = (10, 200)


class _Witness(SymbolicWorld):
    """Writes every effect down, with whether it was there already."""

    file: Path

    def _effect(self, a: Any) -> None:
        repeated = all(self.truth.get(k) == v for k, v in a.operator.changes(self.truth).items())
        super()._effect(a)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"goal_id": a.goal_id, "step": list(a.step.key), "repeated": repeated}) + "\n")


class _Acknowledged(RunLog):
    """Notes, outside the store, every event whose durable write has been acknowledged."""

    notes: int

    def append(self, kind: str, body: dict[str, Any], durable: bool = False) -> Event:
        event = super().append(kind, body, durable)
        if durable:
            os.write(self.notes, f"{event.seq} {kind}\n".encode())
        return event


class _Point:
    """One request, killed and resumed until it ends.

    Args:
        folder: for its store, witness and sockets.
        scene: where it happens.
        goal: what is wanted.
        plan: the planner's.
        chance: draws times and paces.
    """

    def __init__(self, folder: Path, scene: Scene, goal: Goal, plan: Plan, chance: random.Random) -> None:
        self.folder, self.scene, self.goal, self.plan, self.chance = folder, scene, goal, plan, chance
        folder.mkdir(mode=0o700)
        self.store = RunStore(folder / "runs.sqlite")
        self.socket = folder / "host.sock"
        self.witness = folder / "witness.jsonl"
        self.witness.touch()
        self.acknowledged = folder / "acknowledged"
        self.acknowledged.touch()
        self.pace = chance.choice((0.004, 0.02))
        self.runs: list[str] = []

    def host(self) -> int:
        """Start the world host; returns its process."""

        def serve() -> None:
            world = _Witness(self.scene.state, Faults(cut=0.5), self.chance.randrange(10**6), self.pace)
            world.file = self.witness
            Server(LocalHost(world, lease=0.25, grace=0.0), self.socket, linger=60.0).serve()

        pid = _fork(serve)
        until = time.monotonic() + 20
        while not self.socket.exists() and time.monotonic() < until:
            time.sleep(0.002)
        return pid

    def runner(self, again: bool) -> int:
        """Start a runner, the first or one that resumes; returns its process."""
        if not again:
            self.runs.append(f"{self.folder.name}-{len(self.runs)}")
            self.store.new_run(run=self.runs[-1])
        return _fork(lambda: self._drive(again))

    def _drive(self, again: bool) -> None:
        run = self.runs[-1]
        budgets = Budgets(step_seconds=20.0, lapses=20)
        with _Acknowledged(self.store, run) as log:
            log.notes = os.open(self.acknowledged, os.O_WRONLY | os.O_APPEND)
            host = _connect(self.socket, self.scene)
            with Runner(host, log, Callback(lambda q: self._truth(q, run), _yes)) as runner:
                pipeline = Pipeline(notary=runner.notary)
                if again:
                    resume(sections(self.store.events(run))[0], runner, PlannerFirst(solve), pipeline)
                else:
                    verified = pipeline.verify(self.plan, self.scene.state, self.goal)
                    assert isinstance(verified, VerifiedPlan)
                    approval = runner.approvals.grant(verified, None, "evaluation")
                    Executor(runner, pipeline, PlannerFirst(solve), budgets).run(verified, approval)

    def _truth(self, question: Question, run: str) -> str | None:
        """What somebody who watched the robot would say."""
        if question.kind is not Kind.OUTCOME:
            return "try again" if question.kind is Kind.ESCALATION else None
        last = [e for e in self.store.events(run) if e.kind == "execute.intent"][-1].body["goal_id"]
        return "it has happened" if any(w["goal_id"] == last for w in self.seen()) else "it has not happened"

    def seen(self) -> list[dict[str, Any]]:
        """The witness's lines."""
        return [json.loads(line) for line in self.witness.read_text(encoding="utf-8").splitlines()]

    def lost(self) -> int:
        """Acknowledged events that the store does not hold."""
        there = {(run, e.seq): e.kind for run in self.runs for e in self.store.events(run)}
        text = self.acknowledged.read_text(encoding="utf-8").splitlines()
        current = {(self.runs[-1], int(line.split()[0])): line.split()[1] for line in text}
        return sum(there.get(key) != kind for key, kind in current.items())

    def go(self) -> dict[str, Any]:
        """Run, kill, resume, until it ends; then look."""
        host = self.host()
        kills = 0
        lost = 0
        span = 0.3 + self.pace * 45
        try:
            again = False
            while True:
                pid = self.runner(again)
                if kills < _MOST_KILLS and (kills == 0 or self.chance.random() < 0.4):
                    time.sleep(self.chance.uniform(0.0, span))
                    os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
                killed = os.WIFSIGNALED(status)
                kills += killed
                lost += self.lost()
                found = sections(self.store.events(self.runs[-1]))
                again = bool(found)
                if not again:
                    self.acknowledged.write_text("")
                if (found and found[0].ended) or not killed:
                    break
        finally:
            os.kill(host, signal.SIGTERM)
            os.waitpid(host, 0)
        return self._result(kills, lost, status)

    def _result(self, kills: int, lost: int, status: int) -> dict[str, Any]:
        found = sections(self.store.events(self.runs[-1]))
        seen = self.seen()
        ended = found[0].ended if found else "none"
        again = replay(found[0]) if found else None
        goals = Counter(w["goal_id"] for w in seen)
        return {
            "kills": kills,
            "ended": ended,
            "exit": status,
            "effects": len(seen),
            "repeated": sum(w["repeated"] for w in seen),
            "twice": sum(n - 1 for n in goals.values()),
            "lost": lost,
            "replay_diverged": "" if again is None else again.diverged,
            "before_begin": len(self.runs) - 1,
        }


def _yes(card: Card) -> bool:  # noqa: ARG001 - a policy that approves everything, in a simulation
    return True


def _connect(socket: Path, scene: Scene) -> RemoteHost:
    until = time.monotonic() + 10
    while True:
        try:
            return RemoteHost(socket, scene.state.objects)
        except WorldError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _fork(work: Callable[[], None]) -> int:
    """A child that does the work and nothing else."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except StoreError as e:
        sys.stderr.write(f"{e}\n")
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def main(argv: list[str]) -> int:
    """Do the points; one JSON line for each."""
    points, seed, folder = int(argv[0]), int(argv[1]), Path(argv[2])
    scene = load_scene(Domain.load(path("home")))
    goals = [r.goals[0] for r in scene.requests if r.say in _REQUESTS]
    plans = [solve(Task(scene.state.objects, g), scene.state).plan for g in goals]
    for n in range(points):
        chance = random.Random(f"{seed}|{n}")  # noqa: S311 - reproducible chance, not secrecy
        plan = plans[n % len(plans)]
        assert plan is not None
        point = _Point(folder / f"p{n}", scene, goals[n % len(goals)], plan, chance)
        sys.stdout.write(json.dumps(point.go()) + "\n")
        sys.stdout.flush()
    return 0


def run(options: EvalOptions) -> dict[str, Any]:
    """Kill and resume.

    Returns:
        `points`, `kills`, `before_begin` (killed before anything was to be resumed), `done`, `ended` (reason: n), `effects` witnessed,
        `repeated` (effects that were there already), `twice` (one goal id that took effect twice), `lost` (acknowledged events that are
        not in the store), `replays_diverged`, and `odd`: the points that are not as they should be.
    """
    points = _POINTS[0] if options.quick else _POINTS[1]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="handrail-kills-") as folder:
        command = [sys.executable, "-m", "handrail.evaluate.kills", str(points), str(options.seed), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                rows.append(json.loads(line))
                options.progress("kills", len(rows), points)
    odd = [
        r
        for r in rows
        if r["ended"] != "DONE"
        or r["repeated"]
        or r["twice"]
        or r["lost"]
        or r["replay_diverged"]
        or r["exit"] not in (0, 9)
    ]
    return {
        "points": len(rows),
        "kills": sum(r["kills"] for r in rows),
        "before_begin": sum(r["before_begin"] for r in rows),
        "done": sum(r["ended"] == "DONE" for r in rows),
        "ended": dict(Counter(r["ended"] for r in rows)),
        "effects": sum(r["effects"] for r in rows),
        "repeated": sum(r["repeated"] for r in rows),
        "twice": sum(r["twice"] for r in rows),
        "lost": sum(r["lost"] for r in rows),
        "replays_diverged": sum(bool(r["replay_diverged"]) for r in rows),
        "odd": odd,
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
