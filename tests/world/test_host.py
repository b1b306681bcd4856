"""The host: lease, stop verdict, proof tokens. The slow and broken worlds here stand for real adapters."""

from __future__ import annotations

import threading
import time

import pytest

from handrail.check import Notary
from handrail.check.proof import step_claim
from handrail.domain import Step
from handrail.errors import ConfigError, UnprovenError, WorldError
from handrail.world.host import LocalHost
from handrail.world.hosting import Order
from handrail.world.protocol import Status, Stopped, StopVerdict
from handrail.world.symbolic import SymbolicWorld

GO = Step("go", ("robot_1", "table"))
NOTARY = Notary(b"k" * 32)


def order(goal_id: str = "r/0/0", step: Step = GO, run: str = "r", index: int = 0) -> Order:
    return Order(run, goal_id, step, "proof", index, NOTARY.sign(step_claim("proof", index, step)))


def until(condition, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


@pytest.fixture
def hosted(state):
    made: list[LocalHost] = []

    def build(world=None, **more):
        host = LocalHost(world or SymbolicWorld(state, pace=100.0), **{"lease": 30.0, "grace": 0.0, **more})
        host.acquire("r", NOTARY.key)
        made.append(host)
        return host

    yield build
    for host in made:
        host.close()


def test_a_step_needs_its_own_token(hosted):
    host = hosted()
    good = order()
    for bad in (
        Order("r", "r/0/0", GO, "proof", 0, "0" * 64),
        Order("r", "r/0/0", GO, "proof", 1, good.token),
        Order("r", "r/0/0", GO, "other", 0, good.token),
        Order("r", "r/0/0", Step("go", ("robot_1", "store")), "proof", 0, good.token),
    ):
        with pytest.raises(UnprovenError):
            host.start(bad)
    assert host.running() == ()
    host.start(good)
    assert host.running() == ("r/0/0",)


def test_the_claim_is_the_notarys():
    assert order().claim == step_claim("proof", 0, GO)


def test_one_run_at_a_time(hosted):
    host = hosted()
    with pytest.raises(WorldError, match="one run at a time"):
        host.acquire("other", b"")
    with pytest.raises(WorldError, match="does not drive"):
        host.renew("other")
    with pytest.raises(WorldError, match="does not drive"):
        host.start(order(run="other"))
    host.release("r")
    host.acquire("other", NOTARY.key)
    assert host.status().run == "other"


def test_a_lapsed_lease_stops_the_world(hosted):
    host = hosted(lease=0.1)
    host.start(order())
    assert until(lambda: host.running() == ())
    status = host.status()
    assert "lease" in status.stop and status.verdict is not None and status.verdict.overall is Stopped.STOPPED
    got = host.poll("r/0/0")
    assert got.status is Status.CANCELLED and got.code == "LEASE"
    with pytest.raises(WorldError, match="barred"):
        host.start(order("r/1/0"))
    host.acquire("r", NOTARY.key)
    host.start(order("r/1/0"))
    assert host.running() == ("r/1/0",)


def test_a_renewed_lease_does_not_lapse(hosted):
    host = hosted(lease=0.4)
    host.start(order())
    for _ in range(12):
        time.sleep(0.05)
        host.renew("r")
    assert host.running() == ("r/0/0",)


def test_a_lease_that_lapses_while_nothing_moves_harms_nothing(hosted, state):
    host = hosted(SymbolicWorld(state), lease=0.05)
    host.start(order())
    assert host.poll("r/0/0").status is Status.SUCCEEDED
    time.sleep(0.2)
    assert host.status().stop == ""


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.1])
def test_a_stop_right_after_a_start_is_never_lost(hosted, delay):
    host = hosted()
    host.start(order())
    time.sleep(delay)
    verdict = host.stop("test")
    assert verdict.overall is Stopped.STOPPED and host.running() == ()
    assert host.poll("r/0/0").status is Status.CANCELLED


class SlowAck(SymbolicWorld):
    """Acknowledges a start only after a while; until then its stop finds nothing to stop."""

    def __init__(self, state, ack: float) -> None:
        super().__init__(state, pace=100.0)
        self.ack = ack
        self.begun = threading.Event()

    def start(self, step, goal_id):
        self.begun.set()
        time.sleep(self.ack)
        return super().start(step, goal_id)


def test_a_stop_before_the_acknowledgement_leaves_no_orphan(hosted, state):
    world = SlowAck(state, ack=0.3)
    host = hosted(world)
    thread = threading.Thread(target=host.start, args=(order(),))
    thread.start()
    assert world.begun.wait(5)
    assert host.poll("r/0/0").status is Status.PENDING
    with pytest.raises(WorldError, match="not been acknowledged"):
        host.cancel("r/0/0")
    verdict = host.stop("test")
    thread.join()
    assert verdict.overall in (Stopped.STOPPED, Stopped.UNKNOWN)
    assert until(lambda: world.running() == ())
    assert until(lambda: host.status().verdict is not None and host.status().verdict.overall is Stopped.STOPPED)


def test_an_acknowledgement_that_does_not_come_makes_the_verdict_unknown(hosted, state):
    world = SlowAck(state, ack=1.0)
    host = hosted(world, stop_timeout=0.2)
    thread = threading.Thread(target=host.start, args=(order(),))
    thread.start()
    assert world.begun.wait(5)
    verdict = host.stop("test")
    assert verdict.overall is Stopped.UNKNOWN and "acknowledged" in verdict.sentence
    host.release("r")
    with pytest.raises(WorldError, match="handrail stop"):
        host.acquire("r2", NOTARY.key)
    thread.join()
    assert until(lambda: host.status().verdict is not None and host.status().verdict.overall is Stopped.STOPPED)
    assert world.running() == ()


class Stubborn(SymbolicWorld):
    """A robot whose stop fails, hangs, or leaves a robot out."""

    def __init__(self, state, how: str) -> None:
        super().__init__(state, pace=100.0, robots=("left", "right"))
        self.how = how
        self.let_go = threading.Event()

    def stop(self) -> StopVerdict:
        if self.how == "raises":
            raise RuntimeError("bus error")
        if self.how == "hangs":
            self.let_go.wait(10)
        if self.how == "moves":
            return StopVerdict({"left": Stopped.STOPPED, "right": Stopped.NOT_STOPPED})
        if self.how == "forgets":
            super().stop()
            return StopVerdict({"left": Stopped.STOPPED})
        return super().stop()


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ("raises", Stopped.UNKNOWN),
        ("moves", Stopped.NOT_STOPPED),
        ("forgets", Stopped.UNKNOWN),
        ("hangs", Stopped.UNKNOWN),
    ],
)
def test_a_bad_stop_is_told_as_it_is_and_bars_the_next_run(hosted, state, how, found):
    world = Stubborn(state, how)
    host = hosted(world, stop_timeout=0.2)
    host.start(order())
    verdict = host.stop("test")
    assert verdict.overall is found
    assert set(verdict.robots) == {"left", "right"}
    host.release("r")
    with pytest.raises(WorldError, match="handrail stop"):
        host.acquire("next", NOTARY.key)
    world.how = ""
    world.let_go.set()
    assert until(lambda: host.stop("again").overall is Stopped.STOPPED)
    host.acquire("next", NOTARY.key)


def test_a_late_answer_ends_the_not_knowing(hosted, state):
    world = Stubborn(state, "hangs")
    host = hosted(world, stop_timeout=0.1)
    assert host.stop("test").overall is Stopped.UNKNOWN
    world.let_go.set()
    assert until(lambda: host.status().verdict is not None and host.status().verdict.overall is Stopped.STOPPED)


def test_a_person_s_stop_is_not_taken_back_by_the_same_run(hosted):
    host = hosted()
    host.start(order())
    host.stop("alex")
    with pytest.raises(WorldError, match="stopped"):
        host.acquire("r", NOTARY.key)
    host.release("r")
    host.acquire("r", NOTARY.key)


def test_stop_then_run_at_once(hosted):
    host = hosted()
    for i in range(11):
        host.start(order(f"r/{i}/0"))
        assert host.stop("test").overall is Stopped.STOPPED
        host.release("r")
        host.acquire("r", NOTARY.key)
    assert host.running() == ()


def test_three_goals_in_a_row(hosted, state):
    host = hosted(SymbolicWorld(state))
    for i in range(3):
        host.start(order(f"r/{i}/0"))
        assert host.poll(f"r/{i}/0").status is Status.SUCCEEDED


def test_release_stops_what_still_moves(hosted):
    host = hosted()
    host.start(order())
    host.release("r")
    assert host.running() == ()


def test_unknown_goals_are_lost(hosted):
    assert hosted().poll("r/9/9").status is Status.LOST


@pytest.mark.parametrize("lease", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_bounds_are_refused(state, lease):
    with pytest.raises(ConfigError):
        LocalHost(SymbolicWorld(state), lease=lease)
