import math
from itertools import pairwise

import numpy as np
import pytest

from handrail.world.mujoco.navigation import PASS, STAND, Floor, stances
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.spec import Fixture


def test_gap_is_the_distance_to_the_footprint(sim):
    floor = Floor(sim)
    # South of the counter's front (y = 1.55) and in the middle of the doorway (1.1 m wide, walls 0.1 m thick).
    assert floor.gap(np.array([[-1.8, 1.15]]))[0] == pytest.approx(0.4, abs=1e-6)
    assert floor.gap(np.array([[0.0, 0.0]]))[0] == pytest.approx(0.55, abs=1e-3)
    assert floor.gap(np.array([[-1.8, 1.8], [99, 0]])).tolist() == [0, 0]


def test_paths_keep_their_distance(sim):
    floor = Floor(sim)
    for goal in ([1.0, 0.5], [-2.4, -1.0], [2.0, 1.3]):
        path = floor.path(sim.base, np.array(goal))
        assert path is not None
        assert np.allclose(path[0], sim.base[:2]) and np.allclose(path[-1], goal)
        for a, b in pairwise(path):
            line = a + (b - a) * np.linspace(0, 1, 30)[:, None]
            assert floor.gap(line).min() >= PASS - 0.03


def test_a_blocked_doorway_has_no_path(spec):
    chest = Fixture(kind="block", at=(0.0, 0.0), size=(0.6, 1.0, 0.6))
    shut = Sim(Scene.compile(spec.model_copy(update={"fixtures": {**spec.fixtures, "chest": chest}})))
    floor = Floor(shut)
    assert floor.path(shut.base, np.array([1.0, 0.5])) is None
    assert not floor.connected(shut.base[:2], np.array([[1.0, 0.5]]))[0]
    assert floor.connected(shut.base[:2], np.array([[-1.5, 0.0]]))[0]


def test_stances_face_their_target_and_are_free(sim):
    floor = Floor(sim)
    target = sim.pose("mug").p
    found = stances(floor, target, (0.5, 0.7))
    assert len(found)
    assert (floor.gap(found[:, :2]) >= STAND).all()
    for x, y, heading in found:
        toward = math.atan2(target[1] - y, target[0] - x)
        assert abs(math.remainder(toward - heading, math.tau)) < 1e-9


def test_remembered_bumps_are_in_the_way(sim):
    free = Floor(sim).path(sim.base, np.array([1.0, 0.5]))
    assert free is not None
    sim.memory = sim.memory.__class__(bumps=((0.0, -0.3, 0.0), (0.0, 0.1, 0.0), (0.0, 0.4, 0.0)))
    assert Floor(sim).path(sim.base, np.array([1.0, 0.5])) is None
    sim.data.time += 200
    assert Floor(sim).path(sim.base, np.array([1.0, 0.5])) is not None
