"""A host in a process of its own, and runners that are killed, hung or refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from handrail.check import Notary
from handrail.check.proof import step_claim
from handrail.domain import Step
from handrail.domain.files import load_domain, load_scene
from handrail.errors import ConfigError, UnprovenError, WorldError
from handrail.world.hosting import Order
from handrail.world.protocol import Status, Stopped
from handrail.world.remote import HostProcess, RemoteHost
from handrail.world.serve import load_factory

GO = Step("go", ("robot_1", "table"))
NOTARY = Notary(b"k" * 32)
FACTORY = "handrail.world.factory:symbolic"

RUNNER = """
import sys, time
from handrail.check.proof import Notary, step_claim
from handrail.domain import Step
from handrail.world.hosting import Order
from handrail.world.remote import RemoteHost
host = RemoteHost(sys.argv[1])
notary = Notary(b"k" * 32)
step = Step("go", ("robot_1", "table"))
host.acquire("r", notary.key)
host.start(Order("r", "r/0/0", step, "proof", 0, notary.sign(step_claim("proof", 0, step))))
print("moving", flush=True)
while True:
    host.renew("r")
    time.sleep(0.05)
"""


def order(goal_id: str = "r/0/0") -> Order:
    return Order("r", goal_id, GO, "proof", 0, NOTARY.sign(step_claim("proof", 0, GO)))


@pytest.fixture
def objects(pantry_path):
    return load_scene(load_domain(pantry_path)).state.objects


@pytest.fixture
def process(pantry_path):
    args = {"domain": str(pantry_path), "pace": 60.0}
    with HostProcess(FACTORY, args, lease=0.25, linger=20.0) as made:
        yield made


@pytest.fixture
def lasting(pantry_path):
    with HostProcess(FACTORY, {"domain": str(pantry_path), "pace": 60.0}, lease=20.0, linger=20.0) as made:
        yield made


def test_a_remote_host_is_like_a_local_one(lasting, objects):
    host = lasting.connect(objects)
    host.acquire("r", NOTARY.key)
    assert host.name == "symbolic" and host.capabilities.robots == ("robot_1",)
    assert host.observe().state.get(("on", "mug")) == "table"
    with pytest.raises(UnprovenError):
        host.start(Order("r", "r/0/0", GO, "proof", 0, "forged"))
    with pytest.raises(WorldError, match="does not drive"):
        host.renew("other")
    host.start(order())
    assert host.poll("r/0/0").status is Status.RUNNING and host.running() == ("r/0/0",)
    host.cancel("r/0/0")
    assert host.poll("r/0/0").status is Status.CANCELLED
    assert host.fork().state.get(("at", "robot_1")) == "shelf"
    host.start(order("r/1/0"))
    verdict = host.stop("test")
    assert verdict.overall is Stopped.STOPPED and host.status().verdict == verdict
    host.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
def test_a_runner_that_is_gone_stops_the_world(process, how):
    watcher = process.connect()
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(process.socket)], stdout=subprocess.PIPE, text=True)
    try:
        assert runner.stdout is not None and runner.stdout.readline().strip() == "moving"
        assert watcher.running() == ("r/0/0",)
        os.kill(runner.pid, how)
        end = time.monotonic() + 5
        while watcher.running() and time.monotonic() < end:
            time.sleep(0.005)
        assert watcher.running() == ()
        status = watcher.status()
        assert "lease" in status.stop and status.verdict is not None and status.verdict.overall is Stopped.STOPPED
    finally:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        if runner.stdout:
            runner.stdout.close()
        watcher.close()


def test_a_stop_does_not_wait_behind_another_call(lasting, objects):
    host = lasting.connect(objects)
    host.acquire("r", NOTARY.key)
    host.start(order())
    held = threading.Event()
    release = threading.Event()

    def hold() -> None:
        with host._work._lock:
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(5)
    assert host.stop("test").overall is Stopped.STOPPED
    release.set()
    thread.join()
    host.close()


def test_a_host_that_is_gone_gives_the_verdict_unknown(pantry_path):
    with HostProcess(FACTORY, {"domain": str(pantry_path)}) as process:
        host = process.connect()
    verdict = host.stop("test")
    assert verdict.overall is Stopped.UNKNOWN and "does not answer" in verdict.sentence
    host.close()
    with pytest.raises(WorldError, match="nobody answers"):
        RemoteHost(process.socket)


def test_a_frozen_host_gives_the_verdict_unknown(lasting):
    host = lasting.connect()
    os.kill(lasting.pid, signal.SIGSTOP)
    try:
        host._stop.timeout = 0.2
        host._stop._socket.settimeout(0.2)
        assert host.stop("test").overall is Stopped.UNKNOWN
    finally:
        os.kill(lasting.pid, signal.SIGCONT)
        host.close()


@pytest.mark.parametrize(
    ("factory", "args", "says"),
    [
        ("no.such.module:make", {}, "can't be loaded"),
        (FACTORY, {"domain": "/nowhere.yaml"}, "can't read"),
        (FACTORY, {}, "missing"),
    ],
)
def test_a_world_that_can_t_be_made_says_why(factory, args, says):
    with pytest.raises(WorldError, match=says):
        HostProcess(factory, args)


@pytest.mark.parametrize("text", ["module", ":x", "json:", "json:nothing", "json:__version__"])
def test_bad_factories(text):
    with pytest.raises(ConfigError):
        load_factory(text)


def test_a_host_that_nobody_needs_ends_by_itself(pantry_path):
    process = HostProcess(FACTORY, {"domain": str(pantry_path)}, linger=0.1)
    try:
        process._process.wait(10)
        assert not process.socket.exists()
    finally:
        process.close()


def test_nonsense_on_the_wire_is_answered_and_harms_nothing(lasting):
    import socket

    for junk in (b"\n", b"{}\n", b"[1]\n", b'{"do":"fly"}\n', b'{"do":"poll"}\n', b"\xff\xfe\n"):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(lasting.socket))
            s.sendall(junk)
            assert b"error" in s.makefile("rb").readline()
    host = lasting.connect()
    assert host.running() == ()
    host.close()
