import numpy as np
import pytest

from handrail.errors import ConfigError
from handrail.world.mujoco.faults import Disturbance, Fault, Faults
from handrail.world.mujoco.perception import Perception
from handrail.world.mujoco.skills import perform


def test_draws_depend_on_seed_and_attempt_only():
    faults = Faults(slip=0.3, moved=0.3)
    drawn = [faults.drawn(7, k) for k in range(40)]
    assert drawn == [faults.drawn(7, k) for k in range(40)]
    assert {Fault.SLIP, Fault.MOVED, None} == set(drawn)
    assert Faults(script={2: Fault.SHUT}).drawn(0, 2) is Fault.SHUT


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan"), True])
def test_probabilities_are_checked(p):
    with pytest.raises(ConfigError):
        Faults(slip=p)
    if p is not True:
        with pytest.raises(ConfigError):
            Perception(miss=p)


def test_a_person_moves_a_thing_on_its_place(sim):
    before = sim.pose("mug").p
    sim.disturb = Disturbance(Fault.MOVED, 3, 0, "mug")
    for _ in range(220):
        sim.tick()
    assert sim.place_of("mug") == "counter"
    assert np.linalg.norm(sim.pose("mug").p - before) > 0.02


def test_someone_shuts_the_drawer(sim):
    assert perform(sim, "open", "drawer").ok
    sim.disturb = Disturbance(Fault.SHUT, 0, 0)
    for _ in range(400):
        sim.tick()
    assert not sim.is_open("drawer")
    assert not sim.data.qfrc_applied.any()


def test_drift_moves_the_base(sim):
    before = sim.base
    sim.disturb = Disturbance(Fault.DRIFT, 0, 0)
    for _ in range(260):
        sim.tick()
    assert 0.01 < np.linalg.norm((sim.base - before)[:2]) < 0.06


def test_the_thing_is_found_where_it_was_moved_to(sim):
    sim.disturb = Disturbance(Fault.MOVED, 1, 0, "cube")
    outcome = perform(sim, "pick", "cube")
    assert sim.disturb.struck
    assert outcome.ok or outcome.code in ("NO_GRASP", "GRASP_BLOCKED", "UNREACHABLE")
