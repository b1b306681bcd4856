
import pytest

from handrail.domain.files import load_domain, load_scene
from handrail.domain.plan import Plan
from handrail.domains import path
from handrail.world.mujoco.dryrun import MujocoDryRun
from handrail.world.mujoco.perception import Perception
from handrail.world.mujoco.sim import Noise
from handrail.world.mujoco.spec import read_physical
from handrail.world.mujoco.world import MujocoWorld

A = "arm_1"


@pytest.fixture(scope="module")
def table():
    domain = load_domain(path("tabletop"))
    return domain, read_physical(domain.extra["physical"])


@pytest.mark.parametrize("name", ["sorted", "stacked"])
def test_the_first_look_sees_the_scene(table, name):
    state = load_scene(table[0], name).state
    seen = MujocoWorld(state, table[1]).observe().state
    for atom, value in state.values.items():
        assert seen.get(atom) == value


def test_stack_sort_and_be_refused(table):
    world = MujocoWorld(load_scene(table[0], "sorted").state, table[1])
    plan = Plan.of(
        ("pick", A, "red_block"), ("place", A, "red_block", "blue_block"), ("pick", A, "yellow_block"),
        ("place", A, "yellow_block", "red_bowl"), ("pick", A, "blue_block"),
    )  # fmt: skip
    found = MujocoDryRun().check(plan, world.fork(), 0, 0)
    assert found.reasons[0].step == 4 and found.reasons[0].code == "GRASP_BLOCKED"
    assert MujocoDryRun().check(Plan(plan.steps[:4]), world.fork(), 0, 0).passed


def test_block_into_bowl_with_aim_noise(table):
    state = load_scene(table[0], "sorted").state
    ok = 0
    for seed in range(10):
        world = MujocoWorld(state, table[1], seed=seed, perception=Perception(Noise(plane=0.004)))
        plan = Plan.of(("pick", A, "green_block"), ("place", A, "green_block", "glass_bowl"))
        ok += MujocoDryRun().check(plan, world.fork(), 0, 0).passed
    assert ok == 10
