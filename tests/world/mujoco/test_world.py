import threading

import pytest

from handrail.domain.plan import Step
from handrail.errors import ConfigError, DomainError
from handrail.world.mujoco.faults import Fault, Faults
from handrail.world.mujoco.perception import Perception
from handrail.world.mujoco.world import MujocoWorld
from handrail.world.protocol import Forks, Status, Stopped, World

R, H = "robot_1", "hand_1"


@pytest.fixture
def world(evening, spec):
    return MujocoWorld(evening, spec)


def finish(world, step, goal_id):
    handle = world.start(step, goal_id)
    while not (progress := world.poll(handle)).status.terminal:
        pass
    return progress


def test_it_is_a_world(world):
    assert isinstance(world, World) and isinstance(world, Forks)
    assert world.capabilities.robots == (R,) and "pour" in world.capabilities.skills


def test_the_first_look_sees_the_scene(world, evening):
    seen = world.observe().state
    for atom, value in evening.values.items():
        assert seen.get(atom) == value, atom


def test_every_look_is_later(world):
    times = [world.observe().time for _ in range(3)]
    assert times == sorted(set(times))


def test_a_step_changes_what_is_seen(world):
    done = finish(world, Step("pick", (R, H, "mug")), "r/0/0")
    assert done.status is Status.SUCCEEDED
    later = world.observe()
    assert later.time > done.time
    assert later.state.get(("holding", H)) == "mug" and later.state.get(("on", "mug")) is None


def test_the_same_goal_id_never_runs_twice(world):
    first = world.start(Step("navigate_to", (R, "sink")), "r/0/0")
    assert world.start(Step("navigate_to", (R, "sink")), "r/0/0") == first
    assert world.running() == ("r/0/0",)


def test_failures_are_progress_with_a_code(world):
    done = finish(world, Step("pick", (R, H, "box")), "r/0/0")
    assert (done.status, done.code) == (Status.FAILED, "TOO_WIDE") and "18" in done.sentence
    assert world.poll("nobody").status is Status.LOST


def test_refusals(world):
    assert finish(world, Step("fly", (R,)), "r/0/0").code == "REFUSED"
    world.start(Step("navigate_to", (R, "sink")), "r/1/0")
    assert finish(world, Step("pick", (R, H, "mug")), "r/2/0").code == "REFUSED"


def test_questions_move_nothing(world):
    before = world.sim.time
    assert finish(world, Step("ask_human", (R, "person_1")), "r/0/0").status is Status.SUCCEEDED
    assert world.sim.time == before
    assert world.observe().state.get(("asked", "person_1")) is True


def test_stop_from_another_thread_in_the_middle_of_a_carry(world):
    assert finish(world, Step("pick", (R, H, "cube")), "r/0/0").status is Status.SUCCEEDED
    handle = world.start(Step("navigate_to", (R, "counter")), "r/1/0")
    world.poll(handle)
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(world.stop()))
    thread.start()
    world.poll(handle)
    thread.join()
    assert verdicts[0].overall is Stopped.STOPPED
    assert world.poll(handle).status is Status.CANCELLED
    assert world.running() == ()
    assert world.observe().state.get(("holding", H)) == "cube"
    assert world.stop().overall is Stopped.STOPPED


def test_cancel_holds_and_the_end_is_told(world):
    handle = world.start(Step("navigate_to", (R, "table")), "r/0/0")
    world.poll(handle)
    world.cancel(handle)
    assert world.poll(handle).status is Status.CANCELLED
    moved = world.sim.base.copy()
    world.observe()
    assert (world.sim.base == moved).all()


def test_cancelling_an_opening_releases_the_handle(world):
    handle = world.start(Step("open", (R, H, "drawer")), "r/0/0")
    for _ in range(200):
        world.poll(handle)
        left, right = world.sim.pad_touch()
        if "drawer.handle" in left & right:
            break
    world.cancel(handle)
    while not (progress := world.poll(handle)).status.terminal:
        pass
    assert progress.status is Status.CANCELLED
    assert world.sim.pad_touch() == (set(), set())


def test_emergency_stop_fault(evening, spec):
    world = MujocoWorld(evening, spec, faults=Faults(script={1: Fault.STOP}))
    assert finish(world, Step("pick", (R, H, "cube")), "r/0/0").status is Status.SUCCEEDED
    done = finish(world, Step("navigate_to", (R, "counter")), "r/1/0")
    assert (done.status, done.code) == (Status.CANCELLED, "STOPPED")


def test_a_slip_is_seen_and_said(evening, spec):
    world = MujocoWorld(evening, spec, faults=Faults(script={1: Fault.SLIP}))
    assert finish(world, Step("pick", (R, H, "cube")), "r/0/0").status is Status.SUCCEEDED
    assert finish(world, Step("navigate_to", (R, "counter")), "r/1/0").code == "DROPPED"
    assert world.observe().state.get(("holding", H)) is None


def test_executing_against_perception_may_take_the_wrong_mug(evening, spec):
    world = MujocoWorld(evening, spec, perception=Perception(confuse=1.0))
    finish(world, Step("pick", (R, H, "mug")), "r/0/0")
    assert world.sim.held() == "mug_2"
    assert world.truth.get(("holding", H)) == "mug_2"


def test_misses_are_unknown(evening, spec):
    world = MujocoWorld(evening, spec, perception=Perception(miss=1.0))
    assert world.capabilities.partial
    assert ("on", "mug") in world.observe().state.unknown()


def test_the_symbolic_start_is_the_physical_one(evening, spec):
    moved = evening.with_(
        {("on", "mug"): "table", ("open", "fridge"): True, ("portions", "water"): 1, ("running", "stove"): True,
         ("at", R): "shelf_low"}
    )  # fmt: skip
    world = MujocoWorld(moved, spec)
    seen = world.observe().state
    assert seen.get(("on", "mug")) == "table"
    assert seen.get(("open", "fridge")) is True and seen.get(("running", "stove")) is True
    assert seen.get(("portions", "water")) == 1 and seen.get(("at", R)) == "shelf_low"


def test_starts_that_can_not_be(evening, spec):
    with pytest.raises(ConfigError, match="empty hand"):
        MujocoWorld(evening.with_({("holding", H): "mug"}), spec)
    less = spec.model_copy(update={"items": {n: i for n, i in spec.items.items() if n != "mug"}})
    less = less.model_copy(
        update={"items": {n: i.model_copy(update={"looks_like": ()}) for n, i in less.items.items()}}
    )
    with pytest.raises(DomainError, match="'mug'"):
        MujocoWorld(evening, less)
