"""One step on the world: what is known at its end, and nothing that isn't."""

from __future__ import annotations

import threading
import time

import pytest

from handrail.check.proof import step_claim
from handrail.domain import Step
from handrail.errors import WorldError
from handrail.execute.drive import NOT_STARTED, StepResult, drive
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.world.faults import Fault, Faults
from handrail.world.host import LocalHost
from handrail.world.hosting import Order
from handrail.world.protocol import Failure, Progress, Status, Stopped
from handrail.world.symbolic import SymbolicWorld

GO = Step("go", ("robot_1", "table"))


@pytest.fixture
def state(make):
    return make().state


def go(world, seconds=5.0, cancel=0.5, adopt=False, same=True, during=None, **more) -> StepResult:
    host = LocalHost(world, **{"lease": 10.0, **more})
    with Runner(host, MemoryLog("r")) as runner:
        token = runner.notary.sign(step_claim("p", 0, GO))
        if during:
            threading.Thread(target=during, args=(runner, host), daemon=True).start()
        try:
            return drive(runner, Order("r", "r/0/0", GO, "p", 0, token), seconds, cancel, adopt, same)
        finally:
            world.stop()
            host.close()


def test_success_and_failure_come_through_as_the_world_says(state):
    assert go(SymbolicWorld(state)).status is Status.SUCCEEDED
    got = go(SymbolicWorld(state, Faults(slip=1.0)))
    assert (got.status, got.code, got.certain) == (Status.FAILED, "SLIPPED", True)


def test_a_gap_in_the_feedback_is_no_time_out(state):
    """Nothing is heard for longer than any read time-out, and then it succeeds."""

    class Silent(SymbolicWorld):
        def poll(self, handle):
            real = super().poll(handle)
            if not real.status.terminal:
                time.sleep(0.4)
            return real

    got = go(Silent(state, pace=1.0), seconds=5.0)
    assert got.status is Status.SUCCEEDED


def test_after_the_deadline_it_is_cancelled_and_awaited(state):
    got = go(SymbolicWorld(state, Faults(hang=1.0)), seconds=0.1)
    assert (got.status, got.code, got.certain, got.stopped) == (Status.CANCELLED, "TIME_OUT", False, None)


def test_a_step_that_succeeds_although_it_was_cancelled_has_succeeded(state):
    class Late(SymbolicWorld):
        def cancel(self, handle):
            a = self._attempts[handle]
            self._effect(a)
            a.progress = Progress(Status.SUCCEEDED, time=self.time())

    assert go(Late(state, Faults(hang=1.0)), seconds=0.1).status is Status.SUCCEEDED


def test_what_hears_no_cancel_is_stopped_with_a_verdict(state):
    got = go(SymbolicWorld(state, Faults(deaf=1.0)), seconds=0.1, cancel=0.1)
    assert got.code == Failure.TIME_OUT and got.by == "handrail" and not got.certain
    assert got.stopped is not None and got.stopped.overall is Stopped.STOPPED


def test_a_start_that_is_never_acknowledged_is_stopped_and_unknown(state):
    class Mute(SymbolicWorld):
        def start(self, step, goal_id):
            time.sleep(3)
            return super().start(step, goal_id)

    got = go(Mute(state), seconds=0.2, stop_timeout=0.2)
    assert got.stopped is not None and got.stopped.overall is Stopped.UNKNOWN and "acknowledged" in got.sentence


def test_a_world_that_breaks_at_the_start_gives_no_answer(state):
    class Broken(SymbolicWorld):
        def start(self, step, goal_id):
            raise WorldError("bus off")

    got = go(Broken(state))
    assert (got.status, got.code, got.certain) == (Status.LOST, Failure.NO_ANSWER, False)


def test_a_world_that_breaks_under_way_is_stopped(state):
    class Breaks(SymbolicWorld):
        def poll(self, handle):
            raise WorldError("bus off")

    got = go(Breaks(state, pace=5.0))
    assert got.code == Failure.NO_ANSWER and got.stopped is not None and got.stopped.overall is Stopped.STOPPED


def test_a_stop_straight_at_the_host_is_seen_as_one(state):
    def at_the_robot(runner, host):
        while not host.running():
            time.sleep(0.005)
        host.stop("somebody at the robot")

    got = go(SymbolicWorld(state, pace=30.0), during=at_the_robot)
    assert got.code == Failure.STOPPED and got.by == "somebody at the robot"
    assert got.stopped is not None and got.stopped.overall is Stopped.STOPPED


def test_a_start_after_a_stop_at_the_host_does_not_move(state):
    world = SymbolicWorld(state)
    host = LocalHost(world, lease=10.0)
    with Runner(host, MemoryLog("r")) as runner:
        host.stop("somebody at the robot")
        order = Order("r", "r/0/0", GO, "p", 0, runner.notary.sign(step_claim("p", 0, GO)))
        got = drive(runner, order, 1.0, 0.2, adopt=False, same_host=False)
    assert got.code == Failure.STOPPED and world.done == [] and got.by == "somebody at the robot"
    host.close()


@pytest.mark.parametrize(("same", "code", "certain"), [(True, NOT_STARTED, True), (False, "", False)])
def test_what_the_same_host_never_heard_of_was_not_started(state, same, code, certain):
    got = go(SymbolicWorld(state), adopt=True, same=same)
    assert (got.status, got.code, got.certain) == (Status.LOST, code, certain)


def test_a_result_survives_json():
    for got in (StepResult(Status.SUCCEEDED, time=1.5), go_result()):
        assert StepResult.from_json(got.to_json()) == got


def go_result() -> StepResult:
    from handrail.world.protocol import StopVerdict

    return StepResult(Status.LOST, "TIME_OUT", "x", 2.0, StopVerdict({"a": Stopped.UNKNOWN}, "y", 1.0), "handrail")


def test_a_lapsed_lease_is_named(state):
    class Hung(Runner):
        def sleep(self, seconds):
            time.sleep(0.4)

    world = SymbolicWorld(state, pace=30.0)
    host = LocalHost(world, lease=0.15, grace=0.0)
    with Hung(host, MemoryLog("r")) as runner:
        order = Order("r", "r/0/0", GO, "p", 0, runner.notary.sign(step_claim("p", 0, GO)))
        got = drive(runner, order, 5.0, 0.2, adopt=False, same_host=False)
    assert got.code == Failure.LEASE and not got.certain
    host.close()
    assert Fault.SLIP
