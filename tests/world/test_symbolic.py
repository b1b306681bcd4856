"""The symbolic world: the domain's effects, or exactly the fault that was asked for."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.domain import UNKNOWN, Step
from handrail.domain.grounder import grounder
from handrail.errors import ConfigError
from handrail.world.faults import Fault, Faults
from handrail.world.protocol import Status, Stopped
from handrail.world.symbolic import SymbolicWorld

GO = Step("go", ("robot_1", "table"))
PICK = Step("pick", ("robot_1", "hand_1", "mug"))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_step_has_the_domains_effect(state):
    world = SymbolicWorld(state)
    expected = grounder(state.objects).operator(GO).changes(state.values)
    assert world.poll(world.start(GO, "a")).status is Status.SUCCEEDED
    assert {a: world.state.get(a) for a in expected} == expected
    assert world.done == [("a", GO)]


def test_a_step_takes_its_time_and_its_effect_comes_at_the_end(state):
    clock = Clock()
    world = SymbolicWorld(state, pace=2.0, clock=clock)
    handle = world.start(GO, "a")
    assert world.poll(handle).status is Status.RUNNING
    clock.now += 1.0
    assert world.poll(handle).fraction == pytest.approx(0.5)
    assert world.running() == ("a",) and world.state.get(("at", "robot_1")) == "shelf"
    clock.now += 1.5
    end = world.poll(handle)
    assert end.status is Status.SUCCEEDED and end.time == 102.0
    assert world.running() == () and world.observe().time >= end.time


def test_a_goal_id_starts_once(state):
    world = SymbolicWorld(state)
    assert world.start(GO, "a") == world.start(GO, "a")
    world.poll("a")
    world.start(GO, "a")
    world.poll("a")
    assert len(world.done) == 1


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (PICK, "NOT_READY"),
        (Step("fly", ()), "REFUSED"),
        (Step("go", ("robot_1",)), "REFUSED"),
        (Step("go", ("robot_1", "counter11")), "REFUSED"),
        (Step("go", ("robot_1", "mug")), "REFUSED"),
    ],
)
def test_what_can_t_begin_fails_with_a_code_and_changes_nothing(state, step, code):
    world = SymbolicWorld(state)
    got = world.poll(world.start(step, "a"))
    assert (got.status, got.code) == (Status.FAILED, code) and got.sentence
    assert world.done == []


@pytest.mark.parametrize(
    ("fault", "status", "changed"),
    [
        (Fault.SLIP, Status.FAILED, False),
        (Fault.LIAR, Status.SUCCEEDED, False),
        (Fault.DENIER, Status.FAILED, True),
        (Fault.BLOCKED, Status.FAILED, False),
        (Fault.HANG, Status.RUNNING, False),
        (Fault.DEAF, Status.RUNNING, False),
    ],
)
def test_each_fault_is_what_it_says(state, fault, status, changed):
    world = SymbolicWorld(state, Faults(script={0: fault}))
    assert world.poll(world.start(GO, "a")).status is status
    assert (world.state.get(("at", "robot_1")) == "table") is changed
    world.stop()
    assert world.poll(world.start(GO, "b")).status is Status.SUCCEEDED


def test_only_a_stop_ends_a_deaf_step(state):
    world = SymbolicWorld(state, Faults(script={0: Fault.DEAF, 1: Fault.HANG}))
    world.start(GO, "a")
    world.cancel("a")
    assert world.poll("a").status is Status.RUNNING
    assert world.stop().overall is Stopped.STOPPED
    assert world.poll("a").status is Status.CANCELLED
    world.start(GO, "b")
    world.cancel("b")
    assert world.poll("b").status is Status.CANCELLED


def test_people_move_things_and_shut_doors(state):
    world = SymbolicWorld(state, Faults(script={0: Fault.MOVED}, moves=("on",)))
    before = dict(world.truth)
    world.poll(world.start(GO, "a"))
    moved = [a for a, v in world.truth.items() if before.get(a) != v and a[0] == "on"]
    assert len(moved) == 1
    world = SymbolicWorld(state.with_({("open", "store"): True}), Faults(script={0: Fault.SHUT}, shuts=("open",)))
    world.start(GO, "a")
    assert world.state.get(("open", "store")) is False


def test_nobody_moves_what_the_robot_holds(state):
    held = state.with_({("on", "mug"): None, ("holding", "hand_1"): "mug"})
    for seed in range(20):
        world = SymbolicWorld(held, Faults(moved=1.0, moves=("on",)), seed)
        world.start(GO, "a")
        assert world.truth[("on", "mug")] is None


def test_something_in_the_way_goes_away_after_a_while(state):
    world = SymbolicWorld(state, Faults(blocked=1.0, blocked_for=2))
    got = [world.poll(world.start(GO, str(i))).status for i in range(3)]
    assert got == [Status.FAILED, Status.FAILED, Status.SUCCEEDED]


def test_hidden_facts_are_unknown_and_the_others_true(state):
    world = SymbolicWorld(state, Faults(hidden=0.5), seed=3)
    seen = world.observe().state.values
    assert any(v is UNKNOWN for v in seen.values()) and any(v is not UNKNOWN for v in seen.values())
    assert all(v is UNKNOWN or v == world.truth[a] for a, v in seen.items())
    only = SymbolicWorld(state, Faults(hidden=1.0, hides=("on",))).observe().state
    assert only.get(("on", "mug")) is UNKNOWN and only.get(("at", "robot_1")) == "shelf"


def test_a_change_under_way_makes_the_step_fail(state):
    clock = Clock()
    world = SymbolicWorld(state.with_({("at", "robot_1"): "table"}), pace=1.0, clock=clock)
    world.start(PICK, "a")
    world.change((("on", "mug"), "shelf"))
    clock.now += 2
    assert world.poll("a").status is Status.FAILED
    assert world.state.get(("holding", "hand_1")) is None


@given(seed=st.integers(0, 10**6), slip=st.floats(0, 1), n=st.integers(1, 20))
def test_the_same_seed_gives_the_same_world(seed, slip, n):
    from handrail.domain.files import load_domain, load_scene

    from .conftest import PANTRY

    scene = _cached(lambda: load_scene(load_domain(PANTRY)).state)

    def story() -> list[str]:
        world = SymbolicWorld(scene, Faults(slip=slip, liar=0.2, moved=0.3, moves=("on",)), seed)
        steps = [Step("go", ("robot_1", "table" if i % 2 else "shelf")) for i in range(n)]
        out = [str(world.poll(world.start(s, f"g{i}")).status) for i, s in enumerate(steps)]
        return [*out, str(world.state)]

    assert story() == story()


_CACHE: list = []


def _cached(make):
    if not _CACHE:
        _CACHE.append(make())
    return _CACHE[0]


def test_a_fork_stays_as_it_was_and_travels(state):
    world = SymbolicWorld(state)
    fork = world.fork()
    world.poll(world.start(GO, "a"))
    assert fork.state.get(("at", "robot_1")) == "shelf"
    assert pickle.loads(pickle.dumps(fork)).state.to_json() == fork.state.to_json()


@pytest.mark.parametrize(
    "bad",
    [
        {"slip": -0.1},
        {"slip": 1.5},
        {"slip": float("nan")},
        {"liar": True},
        {"moved": 0.5},
        {"shut": 0.5},
        {"blocked_for": -1},
        {"script": {0: Fault.MOVED}},
    ],
)
def test_impossible_faults_are_refused(bad):
    with pytest.raises(ConfigError):
        Faults(**bad)


def test_faults_about_unknown_fluents_are_refused(state):
    with pytest.raises(ConfigError, match="valid here: at, holding, on"):
        SymbolicWorld(state, Faults(moved=0.1, moves=("opne",)))
    with pytest.raises(ConfigError, match="pace"):
        SymbolicWorld(state, pace=-1)
