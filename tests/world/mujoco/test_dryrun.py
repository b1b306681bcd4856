import pickle

import pytest

from handrail.check.pipeline import DryRun
from handrail.domain.exclusions import Exclusions
from handrail.domain.plan import Plan
from handrail.domain.task import Task
from handrail.domain.text import parse_goal
from handrail.errors import WorldError
from handrail.solve.astar import solve
from handrail.world.mujoco.dryrun import MujocoDryRun, exclude, rehearse
from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.world import MujocoWorld
from handrail.world.protocol import Status

R, H = "robot_1", "hand_1"
GOOD = Plan.of(("pick", R, H, "mug"), ("navigate_to", R, "table"), ("place", R, H, "mug", "table"))
BAD = Plan.of(("navigate_to", R, "shelf_high"), ("ask_human", R, "person_1"), ("pick", R, H, "vase"))


@pytest.fixture
def world(evening, spec):
    return MujocoWorld(evening, spec)


def test_a_good_plan_passes_with_figures(world):
    layer = MujocoDryRun()
    assert isinstance(layer, DryRun)
    before = world.sim.data.qpos.copy()
    found = layer.check(GOOD, world.fork(), 0, 0)
    assert found.passed and found.layer == "physics" and not found.reasons
    assert [s["code"] for s in found.figures["steps"]] == ["DONE"] * 3
    assert found.figures["seconds"] > 5 and found.figures["work_j"] > 0 and 0 < found.figures["clearance_m"] < 0.1
    assert (world.sim.data.qpos == before).all()


def test_a_bad_plan_is_refused_with_step_and_reason(world):
    found = MujocoDryRun().check(BAD, world.fork(), 0, 0)
    (reason,) = found.reasons
    assert not found.passed and reason.step == 2 and reason.code == "UNREACHABLE"
    assert "vase" in reason.sentence and reason.hint


def test_the_live_run_that_follows_is_bitwise_equal(world):
    fork = world.fork()
    trial = rehearse(GOOD, fork.sim, R, H)
    for k, step in enumerate(GOOD.steps):
        handle = world.start(step, f"r/{k}/0")
        while not (progress := world.poll(handle)).status.terminal:
            pass
        assert progress.status is Status.SUCCEEDED
        world.observe()
    assert trial.ok
    assert (fork.sim.data.qpos == world.sim.data.qpos).all()
    assert (fork.sim.data.qvel == world.sim.data.qvel).all()


def test_a_refusal_is_remembered_until_its_facts_change(world, evening):
    plan = Plan.of(("navigate_to", R, "fridge"), ("pick", R, H, "cola"))
    found = MujocoDryRun().check(plan, world.fork(), 0, 0)
    assert found.reasons[0].code == "DOOR_CLOSED"
    known = Exclusions()
    exclude(known, plan, found, evening)
    step = plan.steps[1]
    assert known.active(step, evening.values) is not None or known.active(
        step, {**evening.values, ("open", "fridge"): False}
    )
    assert known.active(step, {**evening.values, ("open", "fridge"): True}) is None


def test_the_planner_does_not_bring_the_same_plan_again(world, evening):
    goal = parse_goal("on(vase) == table", evening.objects.domain, evening.objects)
    known = Exclusions()
    plan = solve(Task(evening.objects, goal, known), evening).plan
    assert plan is not None
    exclude(known, plan, MujocoDryRun().check(plan, world.fork(), 0, 0), evening)
    assert len(known) == 1
    assert solve(Task(evening.objects, goal, known), evening).plan is None


def test_perturbed_copies_give_an_interval(world):
    short = Plan.of(("pick", R, H, "mug"))
    found = MujocoDryRun().check(short, world.fork(), 3, 3)
    assert found.figures["copies"] == 3 and found.figures["copies_ok"] == 3
    assert found.figures["success_low"] < 1 == found.figures["success_high"]


@pytest.mark.slow
def test_copies_in_worker_processes_agree_with_those_here(world):
    short = Plan.of(("pick", R, H, "mug"))
    snapshot = world.fork()
    here = MujocoDryRun().check(short, snapshot, 3, 4).figures["copies_ok"]
    assert MujocoDryRun(workers=2).check(short, snapshot, 3, 4).figures["copies_ok"] == here == 4


def test_a_snapshot_travels(world):
    world.start(GOOD.steps[0], "r/0/0")
    for _ in range(20):
        world.poll("r/0/0")
    there = pickle.loads(pickle.dumps(world.fork()))
    assert (there.sim.data.qpos == world.sim.data.qpos).all()
    assert there.sim.memory == world.sim.memory and there.facts == world.truth.values
    assert rehearse(Plan.of(GOOD.steps[2]), there.sim, R, H).ok


def test_other_worlds_snapshots_are_misuse():
    with pytest.raises(WorldError, match="snapshot"):
        MujocoDryRun().check(GOOD, object(), 0, 0)


def test_a_dry_run_does_not_know_what_the_robot_has_not_met(evening, spec):
    world = MujocoWorld(evening, spec)
    a = int(world.sim.model.joint(UNSEEN).qposadr[0])
    world.sim.data.qpos[a : a + 3] = (0.0, 0.0, 0.251)
    go = Plan.of(("navigate_to", R, "table"))
    assert MujocoDryRun().check(go, world.fork(), 0, 0).passed
    handle = world.start(go.steps[0], "r/0/0")
    while not (progress := world.poll(handle)).status.terminal:
        pass
    assert progress.code == "BASE_STALLED"
    again = MujocoDryRun().check(go, world.fork(), 0, 0)
    assert not again.passed and again.reasons[0].code in ("NO_PATH", "BASE_STALLED")
