import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.world.mujoco import liquid
from handrail.world.mujoco.kinematics import axis_rotation
from handrail.world.mujoco.sim import Pose

tilts = st.floats(0, math.pi / 2 - 1e-3)
ratios = st.floats(0.1, 3)


@given(ratios, tilts, tilts)
def test_more_tilt_never_holds_more(ratio, a, b):
    low, high = sorted((a, b))
    assert liquid.holds(ratio, high) <= liquid.holds(ratio, low) + 1e-12


@given(ratios)
def test_ends_and_continuity(ratio):
    assert liquid.holds(ratio, 0) == 1
    assert liquid.holds(ratio, math.pi / 2) == 0
    corner = math.atan(1 / ratio)
    assert liquid.holds(ratio, corner - 1e-7) == pytest.approx(0.5, abs=1e-5)
    assert liquid.holds(ratio, corner + 1e-7) == pytest.approx(0.5, abs=1e-5)


@given(st.floats(0.2, 2), st.floats(0.05, 1.4))
def test_against_integration(ratio, tilt):
    """Area of a tilted rectangle of width `ratio` and height 1 below the level of its lower corner."""
    x = np.linspace(0, ratio, 20001)
    level = np.clip(1 - x * math.tan(tilt), 0, 1)
    assert liquid.holds(ratio, tilt) == pytest.approx(np.trapezoid(level, x) / ratio, abs=1e-3)


def tip(sim, item, over, degrees, ml):
    sim.memory = sim.memory.__class__(ml={**sim.memory.ml, item: ml}, of=sim.memory.of)
    r = axis_rotation(np.array([0, 1.0, 0]), math.radians(degrees))
    # Lip over the middle of the target's mouth, ten centimetres up.
    spout = r @ np.array([0.014, 0, 0.21])
    at = sim.pose(over).p + np.array([0, 0, 0.19]) - spout
    sim.data.xpos[sim.scene.body[item]] = at
    sim.data.xmat[sim.scene.body[item]] = r.ravel()
    for _ in range(200):
        liquid.flow(sim)
    return Pose(at, r)


def test_what_leaves_arrives_or_is_spilled(sim):
    tip(sim, "water", "mug", 100, 200.0)
    ml = sim.memory.ml
    assert ml["water"] == 0
    assert ml["mug"] == pytest.approx(200)
    assert sim.memory.of["mug"] == "drinking_water"
    assert sum(sim.memory.spilled.values()) == 0


def test_a_full_vessel_overflows(sim):
    tip(sim, "water", "mug", 100, 400.0)
    assert sim.memory.ml["mug"] == pytest.approx(250)
    assert sum(sim.memory.spilled.values()) == pytest.approx(150)


def test_beside_is_spilled(sim):
    pose = tip(sim, "water", "mug", 0, 200.0)
    sim.data.xpos[sim.scene.body["water"]] = pose.p + np.array([0.3, 0, 0])
    sim.data.xmat[sim.scene.body["water"]] = axis_rotation(np.array([0, 1.0, 0]), 1.8).ravel()
    for _ in range(200):
        liquid.flow(sim)
    assert sim.memory.ml["mug"] == 0
    assert sum(sim.memory.spilled.values()) == pytest.approx(200)


def test_upright_keeps_everything(sim):
    before = dict(sim.memory.ml)
    for _ in range(20):
        sim.tick()
    assert sim.memory.ml == before
