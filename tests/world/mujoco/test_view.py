import numpy as np
import pytest

from handrail.world.mujoco.reach import starts
from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.sim import Pose
from handrail.world.mujoco.view import CLEARANCE_LIMIT, Held, View


def test_free_and_not(sim):
    view = View(sim)
    assert view.clear(sim.base, sim.scene.ready)
    hits = view.hits(np.array([-1.8, 1.5, 1.57]), sim.scene.ready)
    assert "counter.top" in hits


def test_asking_changes_nothing(sim):
    before = sim.data.qpos.copy(), sim.data.time
    view = View(sim)
    view.hits(np.array([0, 0, 0.0]), sim.scene.carry)
    view.clearance()
    assert (sim.data.qpos == before[0]).all() and sim.data.time == before[1]


def test_fingers_may_touch_what_is_named_but_the_palm_may_not(sim):
    scene, view = sim.scene, View(sim)
    pose = sim.pose("cube")

    def over(height):
        base = np.array([1.95, 0.85, 0.0])
        p = pose.p - np.array([1.95, 0.85, 0]) + np.array([0, 0, height])
        r = np.column_stack([[1, 0, 0], [0, -1, 0], [0, 0, -1.0]])
        q, ok = scene.arm.solve(p[None], r[None], starts(scene, p[None], r[None], 0), scene.ready)
        assert ok[0]
        return base, q[0]

    base, q = over(0.045)
    assert view.hits(base, q, aperture=0.022) == ["cube.body"] * len(view.hits(base, q, aperture=0.022)) != []
    assert view.clear(base, q, aperture=0.022, touch=("cube",))
    base, q = over(0.0)
    assert "cube.body" in view.hits(base, q, aperture=0.04, touch=("cube",))


def test_margin_and_clearance(sim):
    view = View(sim)
    base = np.array([-1.8, 1.55 - 0.25 - 0.03, 1.57])
    assert view.clear(base, sim.scene.ready)
    assert view.near(base, sim.scene.ready, 0.05)
    assert view.clearance() == pytest.approx(0.03, abs=2e-3)
    view.pose(np.array([-1.8, 0.0, 0.0]), sim.scene.ready)
    assert view.clearance() == CLEARANCE_LIMIT


def test_the_load_collides_too(sim):
    held = Held("book", Pose(np.array([0, 0, 0.21]), np.diag([1.0, -1.0, -1.0])))
    near = np.array([-1.8, 1.27, 1.57])
    low = sim.scene.ready.copy()
    low[0] = 0.0
    assert View(sim).clear(near, low)
    assert View(sim, held).hits(near, low)


def test_what_no_map_knows_is_not_seen(sim):
    a = int(sim.model.joint(UNSEEN).qposadr[0])
    sim.data.qpos[a : a + 3] = (*sim.base[:2], 0.25)
    assert View(sim).clear(sim.base, sim.scene.ready)


def test_views_do_not_disturb_each_other(sim):
    plain = View(sim)
    where = np.array([-1.8, 0.5, 1.57])
    assert plain.near(where, sim.scene.ready, 0.002) == []
    believed = sim.pose("mug")
    believed.p[:] += (0, 0, 0.5)
    for other in (View(sim, Held("mug", Pose(np.zeros(3), np.eye(3)))), View(sim, believed={"mug": believed})):
        other.pose(where, sim.scene.ready)
        assert plain.near(where, sim.scene.ready, 0.002) == []
        assert np.allclose(plain.data.xpos[sim.scene.body["mug"]], sim.pose("mug").p)


def test_things_are_where_they_are_believed_to_be(sim):
    low = sim.scene.ready.copy()
    at = sim.scene.whole.forward(np.concatenate([sim.base, low])[None])[0][0]
    assert View(sim).clear(sim.base, low)
    believed = {"box": Pose(at - np.array([0, 0, 0.1]), np.eye(3))}
    assert "box.body" in View(sim, believed=believed).hits(sim.base, low)
