import math

import numpy as np
import pytest

from handrail.world.mujoco.audit import audit
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.sim import Noise, Pose
from handrail.world.mujoco.skills import perform


def test_everything_rests_where_the_description_says(sim, spec):
    for name, item in spec.items.items():
        assert sim.place_of(name) == item.on
        assert sim.pose(name).r[2, 2] > 0.999
    assert audit(sim).sound


def test_a_fork_is_equal_and_apart(sim):
    fork = sim.fork()
    live = sim.data.qpos.copy()
    assert (fork.data.qpos == live).all()
    assert perform(fork, "pick", "mug").ok
    assert (sim.data.qpos == live).all() and sim.held() is None
    assert fork.held() == "mug"


def test_two_runs_are_bitwise_equal(sim):
    a, b = sim.fork(), sim.fork()
    for s in (a, b):
        perform(s, "pick", "cube")
    assert (a.data.qpos == b.data.qpos).all() and (a.data.qvel == b.data.qvel).all()
    assert a.memory == b.memory


def test_noise_is_drawn_from_the_seed_and_copied_by_a_fork(sim):
    sim.noise, sim.seed = Noise(0.01, 0.01, 0.1), 5
    fork = sim.fork()
    a, b = sim.sense("mug"), fork.sense("mug")
    assert (a.p == b.p).all()
    assert (sim.sense("mug").p != a.p).any()
    assert np.linalg.norm(a.p - sim.pose("mug").p) > 0


def test_put_wakes_what_sleeps(sim):
    for _ in range(60):
        sim.tick()
    surface = sim.surface(sim.scene.places["table"])
    sim.put("cube", Pose(surface.p + np.array([0.45, 0.2, 0.05]), rot_z(0.3)))
    for _ in range(40):
        sim.tick()
    assert sim.place_of("cube") == "table"
    assert sim.pose("cube").p[2] == pytest.approx(0.72, abs=1e-3)


def test_poses():
    a = Pose(np.array([1.0, 2, 3]), rot_z(0.7))
    back = a @ a.inverse()
    assert np.allclose(back.p, 0) and np.allclose(back.r, np.eye(3))


def test_audit_finds_what_is_wrong(sim):
    mug = sim.pose("mug")
    sim.put("cube", Pose(mug.p + np.array([0, 0, 0.5]), rot_z(0)))
    assert "cube" in audit(sim).floating
    sim.put("cube", Pose(sim.surface(sim.scene.places["counter"]).p - np.array([0, 0, 0.02]), rot_z(0)))
    found = audit(sim)
    assert found.deepest > 0.002 and not found.sound


def test_audit_finds_what_hangs_on_the_robot_alone(sim):
    assert audit(sim).loose is None
    sim.put("cube", Pose(np.array([sim.base[0], sim.base[1] + 0.18, 0.3205]), rot_z(0)))
    for _ in range(15):
        sim.tick()
    assert audit(sim).loose == "cube"


def test_looking_longer_is_looking_closer(sim):
    sim.noise = Noise(0.01, 0.01, 0.1)
    true = sim.pose("cola")
    once = np.std([np.linalg.norm(sim.sense("cola").p - true.p) for _ in range(200)])
    longer = np.std([np.linalg.norm(sim.look("cola", 16).p - true.p) for _ in range(50)])
    assert longer < once / 2
    assert abs(math.remainder(sim.look("cola", 50).yaw - true.yaw, math.tau)) < 0.06
    sim.noise = Noise()
    assert (sim.look("cola").p == true.p).all()
