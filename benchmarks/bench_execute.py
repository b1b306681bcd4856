"""How soon the world stands still, and what a step costs besides moving.

`lapse_*`: from the moment that a runner in another process is killed (SIGKILL) or hung (SIGSTOP) to the moment that the world host has
stopped the world by itself; the aim is 300 ms. `stop_ms`: a stop through the host's own connection while a step runs. `step_ms`: one
step of the executor in a symbolic world that takes no time, recorded in memory and in a durable store; its peer is the bare world
(start, poll, observe) in the same run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from handrail.check import Notary, Pipeline, VerifiedPlan
from handrail.check.proof import step_claim
from handrail.domain import Domain, Goal, Plan, Step
from handrail.domain.files import load_scene
from handrail.domains import path
from handrail.execute.loop import Executor
from handrail.execute.runner import Runner
from handrail.record.event import Log, MemoryLog
from handrail.record.log import RunLog
from handrail.record.store import RunStore
from handrail.world.host import LocalHost
from handrail.world.hosting import Order
from handrail.world.remote import HostProcess
from handrail.world.symbolic import SymbolicWorld

KEY = b"k" * 32
STEP = Step("navigate_to", ("robot_1", "table"))

_RUNNER = """
import sys, time
from benchmarks.bench_execute import KEY, order
from handrail.world.remote import RemoteHost
host = RemoteHost(sys.argv[1])
host.acquire(sys.argv[2], KEY)
host.start(order(sys.argv[2]))
print("moving", flush=True)
while True:
    host.renew(sys.argv[2])
    time.sleep(0.05)
"""


class Timed(SymbolicWorld):
    """Writes down when it was stopped; the clock is the machine's, the same in every process."""

    file: Path

    def stop(self) -> Any:
        verdict = super().stop()
        self.file.write_text(json.dumps(time.monotonic()))
        return verdict


def world(file: str) -> Timed:
    """For the host process."""
    made = Timed(load_scene(Domain.load(path("home"))).state, pace=100.0)
    made.file = Path(file)
    return made


def order(run: str) -> Order:
    return Order(run, f"{run}/0/0", STEP, "p", 0, Notary(KEY).sign(step_claim("p", 0, STEP)))


def _lapses(how: signal.Signals, n: int, folder: Path) -> dict[str, float]:
    file = folder / f"stopped-{how.name}"
    times: list[float] = []
    with HostProcess("benchmarks.bench_execute:world", {"file": str(file)}) as process:
        for i in range(n):
            command = [sys.executable, "-c", _RUNNER, str(process.socket), f"r{i}"]
            runner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert runner.stdout is not None
            runner.stdout.readline()
            time.sleep(0.2)
            file.unlink(missing_ok=True)
            began = time.monotonic()
            os.kill(runner.pid, how)
            while not file.exists() or not file.read_text():
                time.sleep(0.002)
            times.append(1e3 * (json.loads(file.read_text()) - began))
            os.kill(runner.pid, signal.SIGKILL)
            runner.wait()
            runner.stdout.close()
            time.sleep(0.1)
    return {"median": round(median(times), 1), "worst": round(max(times), 1), "n": n}


def _stops(n: int, folder: Path) -> dict[str, float]:
    times: list[float] = []
    with HostProcess("benchmarks.bench_execute:world", {"file": str(folder / "s")}, lease=30.0) as process:
        host = process.connect()
        for i in range(n):
            host.acquire(f"r{i}", KEY)
            host.start(order(f"r{i}"))
            began = time.perf_counter()
            host.stop("benchmark")
            times.append(1e3 * (time.perf_counter() - began))
            host.release(f"r{i}")
        host.close()
    return {"median": round(median(times), 2), "worst": round(max(times), 2), "n": n}


def _executions(log: Log, n: int) -> float:
    """Milliseconds per step."""
    scene = load_scene(Domain.load(path("home")))
    places = scene.objects.of("place")
    steps = [("navigate_to", "robot_1", places[i % 5]) for i in range(1, n + 1)]
    host = LocalHost(SymbolicWorld(scene.state), lease=None)
    with Runner(host, log, threads=False) as runner:
        pipeline = Pipeline(notary=runner.notary)
        # the goal is what only the last step reaches, so that none is skipped
        from handrail.domain.text import parse_condition

        last = "sofa_table"
        goal = Goal(parse_condition(f"at(robot_1) == {last}", scene.objects.domain, objects=scene.objects))
        plan = Plan.of(*steps, ("navigate_to", "robot_1", last))
        verified = pipeline.verify(plan, scene.state, goal)
        assert isinstance(verified, VerifiedPlan)
        approval = runner.approvals.grant(verified, None, "benchmark")
        began = time.perf_counter()
        assert Executor(runner, pipeline).run(verified, approval).done
        return 1e3 * (time.perf_counter() - began) / len(plan)


def _bare(n: int) -> float:
    scene = load_scene(Domain.load(path("home")))
    bare = SymbolicWorld(scene.state)
    places = scene.objects.of("place")
    began = time.perf_counter()
    for i in range(n):
        bare.poll(bare.start(Step("navigate_to", ("robot_1", places[i % 5])), str(i)))
        bare.observe()
    return 1e3 * (time.perf_counter() - began) / n


def run(quick: bool = False) -> dict[str, Any]:
    n = 5 if quick else 30
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = RunStore(folder / "runs.sqlite")
        memory = min(_executions(MemoryLog("m"), 60) for _ in range(3))
        with RunLog(store, store.new_run()) as log:
            durable = _executions(log, 60)
        bare = min(_bare(60) for _ in range(3))
        return {
            "lapse_killed_ms": _lapses(signal.SIGKILL, n, folder),
            "lapse_hung_ms": _lapses(signal.SIGSTOP, n, folder),
            "stop_ms": _stops(4 * n, folder),
            "step_ms": {"memory": round(memory, 3), "durable": round(durable, 3), "bare_world": round(bare, 3)},
            "step_ratio": {"memory": round(memory / bare, 1), "durable": round(durable / bare, 1)},
        }
