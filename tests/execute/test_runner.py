"""The runner: waits without losing its lease, stops first and ends second."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from handrail.errors import WorldError
from handrail.execute.budget import Budgets, Ended
from handrail.execute.runner import Runner, Stopping
from handrail.record.event import MemoryLog
from handrail.record.log import RunLog
from handrail.record.store import RunStore
from handrail.world.host import LocalHost
from handrail.world.protocol import Stopped
from handrail.world.symbolic import SymbolicWorld


def test_waiting_keeps_the_lease(make):
    kit = make(pace=60.0, lease=0.6)
    with Runner(kit.host, MemoryLog("r1")) as runner:
        assert runner.wait(lambda: time.sleep(1.2) or "done") == "done"
        assert kit.host.status().lease_left > 0 and kit.host.status().stop == ""


def test_what_the_work_raises_comes_out(make):
    kit = make()
    with Runner(kit.host, MemoryLog("r1")) as runner:
        with pytest.raises(ZeroDivisionError):
            runner.wait(lambda: 1 / 0)
        with pytest.raises(TimeoutError):
            runner.wait(lambda: time.sleep(5), seconds=0.1)


def test_a_stop_ends_a_wait(make):
    kit = make()
    with Runner(kit.host, MemoryLog("r1")) as runner:
        threading.Timer(0.1, lambda: runner.stop("alex")).start()
        with pytest.raises(Stopping, match="alex"):
            runner.wait(lambda: time.sleep(20))
        assert runner.stop_verdict().overall is Stopped.STOPPED and runner.stopping == "alex"


def test_a_stop_is_done_before_it_is_written(make):
    kit = make()
    order: list[str] = []

    class Log(MemoryLog):
        def append(self, kind, body, durable=False):
            order.append(kind)
            return super().append(kind, body, durable)

    stop = kit.world.stop
    kit.world.stop = lambda: (order.append("world stopped"), stop())[1]
    with Runner(kit.host, Log("r1")) as runner:
        runner.stop("alex")
    assert order.index("world stopped") < order.index("run.stop")


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2])
def test_a_stop_at_any_moment_ends_the_run_with_a_true_verdict(make, plain, delay):
    kit = make(pace=0.4)

    def soon(runner):
        threading.Timer(delay, lambda: runner.stop("alex")).start()

    out = kit.run("on(mug) == shelf", *plain, during=soon)
    assert out.ended is Ended.STOPPED and kit.world.running() == ()
    assert out.verdict is not None and out.verdict.overall is Stopped.STOPPED


def test_a_robot_that_does_not_stop_is_told_as_such_and_bars_the_next_run(make, plain):
    from handrail.world.protocol import StopVerdict

    kit = make(pace=30.0)
    kit.world.stop = lambda: StopVerdict({"robot_1": Stopped.NOT_STOPPED})

    def soon(runner):
        threading.Timer(0.1, lambda: runner.stop("alex")).start()

    out = kit.run("on(mug) == shelf", *plain, during=soon)
    assert out.ended is Ended.STOPPED and "has NOT stopped" in out.sentence
    with pytest.raises(WorldError, match="handrail stop"), Runner(kit.host, MemoryLog("r2")):
        pass


def test_a_lapsed_lease_is_taken_again_and_the_run_goes_on(make, plain):
    kit = make(pace=0.3, lease=0.25)
    kit.budgets = Budgets(step_seconds=10.0, lapses=5)
    hung = []

    def hang_once(runner):
        tick = runner.tick

        def slow():
            if kit.world.running() and not hung:
                hung.append(True)
                time.sleep(0.8)  # the loop hangs; whatever thread beside it would have renewed
            tick()

        runner.tick = slow

    host = LocalHost(kit.world, lease=0.25, grace=0.0)
    kit.host = host
    out = kit.run("on(mug) == shelf", *plain, during=hang_once)
    host.close()
    assert out.done and out.spent.lapses >= 1
    assert [s.skill for _, s in kit.world.done].count("pick") == 1


def test_one_run_per_world_on_this_machine(make, tmp_path):
    store = RunStore(tmp_path / "runs.sqlite")
    kit = make()
    with RunLog(store, store.new_run(run="one")) as log, Runner(kit.host, log):
        other = LocalHost(SymbolicWorld(kit.state), lease=None)
        with (
            RunLog(store, store.new_run(run="two")) as second,
            pytest.raises(WorldError, match="one run at a time"),
            Runner(other, second),
        ):
            pass
    with RunLog(store, "two") as second, Runner(LocalHost(SymbolicWorld(kit.state), lease=None), second):
        pass


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib.util
spec = importlib.util.spec_from_file_location("kit", sys.argv[1] + "/conftest.py")
kit_module = importlib.util.module_from_spec(spec); sys.modules["kit"] = kit_module; spec.loader.exec_module(kit_module)
from handrail.domain.files import load_domain, load_scene
kit = kit_module.Kit(load_domain(kit_module.PANTRY), load_scene(load_domain(kit_module.PANTRY)).state, pace=30.0)
kept = []
stop = kit.world.stop
kit.world.stop = lambda: (print("world stopped", flush=True), stop())[1]
def during(runner):
    kept.append(runner.ctrl_c()); kept[0].__enter__()
    print("ready", flush=True)
out = kit.run("on(mug) == shelf", *kit_module.PLAIN, during=during)
print(out.reason, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_ctrl_c_stops_the_robot_first_and_the_program_second(how):
    folder = str(Path(__file__).parent)
    with subprocess.Popen([sys.executable, "-c", PROGRAM, folder], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.2)
        process.send_signal(how)
        said = process.stdout.read().split("\n")
    assert said[:2] == ["world stopped", "STOPPED"] and process.returncode == 0



INSIDE = """
import os, signal, time
import handrail as hr
from handrail.execute.runner import Runner, Stopping
from handrail.record.event import MemoryLog
from handrail.world.host import LocalHost

home = hr.Domain.load(hr.domains.path("home"))
with Runner(LocalHost(hr.worlds.symbolic(home)), MemoryLog("run")) as runner, runner.ctrl_c():
    with runner._stop._cond:  # the lock that waiting for a stop holds for a moment
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
    try:
        while True:
            runner.sleep(0.01)
            runner.tick()
    except Stopping as s:
        print(s.by)
"""


def test_ctrl_c_is_not_lost_where_it_interrupts_a_wait():
    """A handler that took the lock itself would wait for the code that it interrupts, for ever."""
    done = subprocess.run([sys.executable, "-c", INSIDE], capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "Ctrl-C", done.stderr[-1000:]
