"""The kit passes the symbolic world and catches adapters that are broken in the ways the field has seen."""

from __future__ import annotations

import time

import pytest

from handrail.domain import Step
from handrail.errors import HandrailError, WorldError
from handrail.world.conformance import CHECKS, check_world
from handrail.world.faults import Fault, Faults
from handrail.world.protocol import Capabilities, Progress, Status, StopVerdict
from handrail.world.symbolic import SymbolicWorld

GO = (Step("go", ("robot_1", "table")), Step("go", ("robot_1", "shelf")))


def failed(world, **more) -> set[str]:
    findings = check_world(world, **{"steps": GO, "seconds": 1.0, **more})
    assert len(findings) == len(CHECKS)
    return {f.check for f in findings if f.outcome == "failed"}


def test_the_symbolic_world_conforms(state):
    findings = check_world(SymbolicWorld(state, pace=0.3), seconds=5.0)
    assert [f for f in findings if f.outcome != "passed"] == []


def test_what_can_t_be_tried_is_skipped_and_said(state):
    findings = check_world(SymbolicWorld(state), steps=GO)
    skipped = [f for f in findings if f.outcome == "skipped"]
    assert skipped and all(f.sentence for f in skipped)
    assert not [f for f in findings if f.outcome == "failed"]


class LosesCancel(SymbolicWorld):
    def cancel(self, handle):
        if self.time() - self._attempts[handle].progress.time > 0.05:
            super().cancel(handle)


class RunsTwice(SymbolicWorld):
    def start(self, step, goal_id):
        return super().start(step, goal_id + ("" if goal_id not in self._attempts else "b"))


class StopsNothing(SymbolicWorld):
    def stop(self):
        return StopVerdict({})


class BlocksOnStart(SymbolicWorld):
    def start(self, step, goal_id):
        handle = super().start(step, goal_id)
        time.sleep(2.1)
        return handle


class HangsOnUnknown(SymbolicWorld):
    def start(self, step, goal_id):
        super().start(step, goal_id)
        a = self._attempts[goal_id]
        if a.progress.code == "REFUSED":
            a.progress = Progress(Status.RUNNING)
        return goal_id


class RaisesOnUnknown(SymbolicWorld):
    def poll(self, handle):
        if handle not in self._attempts:
            raise KeyError(handle)
        return super().poll(handle)


class InventsFacts(SymbolicWorld):
    def observe(self):
        self.truth[("mood", "robot_1")] = True
        return super().observe()


class OneForAll(SymbolicWorld):
    """A cancel kills the performer: whatever comes next is cancelled too."""

    dead = False

    def cancel(self, handle):
        super().cancel(handle)
        self.dead = True

    def start(self, step, goal_id):
        handle = super().start(step, goal_id)
        if self.dead:
            super().cancel(handle)
        return handle


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (LosesCancel, "cancel right after the start"),
        (RunsTwice, "same goal id never runs twice"),
        (StopsNothing, "verdict for every robot"),
        (BlocksOnStart, "runs to its end"),
        (HangsOnUnknown, "skill that it doesn't know"),
        (RaisesOnUnknown, "handle that it never gave"),
        (InventsFacts, "only facts that its domain knows"),
        (OneForAll, "Three steps in a row"),
    ],
)
def test_broken_adapters_are_caught(state, kind, says):
    if kind is BlocksOnStart:
        from handrail.world.conformance import Kit, step_runs

        with pytest.raises(Exception, match="must not wait for the motion"):
            step_runs(Kit(kind(state), GO))
        return
    assert any(says in name for name in failed(kind(state, pace=0.15))), kind


def test_lies_are_caught(state):
    assert any("its effect is seen" in f for f in failed(SymbolicWorld(state, Faults(liar=1.0))))


def test_a_deaf_robot_is_caught(state):
    assert any("cancel right" in f for f in failed(SymbolicWorld(state, Faults(deaf=1.0)), seconds=0.3))
    assert Fault.DEAF


def test_real_things_need_a_word(state):
    world = SymbolicWorld(state)
    world.capabilities = Capabilities(("robot_1",), real=True)
    with pytest.raises(HandrailError, match="--real"):
        check_world(world)
    assert check_world(world, steps=GO, real=True)


def test_an_adapter_that_raises_is_a_finding_not_a_crash(state):
    class Broken(SymbolicWorld):
        def observe(self):
            raise WorldError("camera off")

    findings = check_world(Broken(state))
    assert any("camera off" in f.sentence for f in findings)
