import numpy as np
import pytest

from handrail.errors import WorldError
from handrail.evaluate.home_cases import CASES, play
from handrail.world.mujoco.audit import audit
from handrail.world.mujoco.outcome import Code
from handrail.world.mujoco.skills import Running, perform

QUICK = (
    "bowl by its rim to the counter", "knife out of the drawer", "stove on and off", "pot too heavy", "box too wide",
    "carton too wide for the compact robot", "vase on the high shelf", "mug onto the high shelf", "cola behind the closed door",
    "place with an empty hand", "open the sink", "switch on the sink", "pour from an empty bottle", "cube walled in",
    "doorway blocked by a known chest", "doorway blocked by something unknown", "unknown block, then planned around",
    "grip lost while carrying", "out of time", "pot lifted anyway slips", "compact robot takes the cube",
)  # fmt: skip


@pytest.mark.parametrize("case", [c for c in CASES if c.name in QUICK], ids=lambda c: c.name)
def test_case(case, spec):
    found = play(case, spec)
    assert found["actual"] == case.expected, found["sentence"]


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.name not in QUICK], ids=lambda c: c.name)
def test_longer_case(case, spec):
    found = play(case, spec)
    assert found["actual"] == case.expected, found["sentence"]


def test_quick_names_exist():
    assert set(QUICK) <= {c.name for c in CASES}


def test_pick_and_place_by_contact(sim):
    assert perform(sim, "pick", "mug").ok
    assert sim.held() == "mug"
    left, right = sim.pad_touch()
    assert "mug" in left and "mug" in right
    assert audit(sim).sound
    outcome = perform(sim, "place", "mug", "table")
    assert outcome.ok
    assert sim.place_of("mug") == "table" and sim.held() is None
    assert audit(sim).sound
    assert outcome.seconds > 0 and outcome.work > 0 and float(outcome.details["off"]) < 0.01


def test_a_cancel_takes_effect_within_one_period(sim):
    running = Running(sim, "navigate_to", "table")
    for _ in range(60):
        running.step()
    assert np.abs(sim.data.qvel[sim.scene.base_v]).max() > 0.1
    ticks = sim.memory.ticks
    outcome = running.cancel()
    assert outcome.code is Code.CANCELLED and sim.memory.ticks == ticks
    assert np.allclose(sim.data.ctrl[sim.scene.base_u], sim.base)
    for _ in range(30):
        sim.tick()
    assert np.abs(sim.data.qvel[sim.scene.base_v]).max() < 0.02
    assert running.step() is outcome


def test_after_a_cancelled_carry_the_load_is_still_held_and_work_goes_on(sim):
    assert perform(sim, "pick", "cube").ok
    running = Running(sim, "navigate_to", "counter")
    for _ in range(80):
        running.step()
    running.cancel()
    for _ in range(25):
        sim.tick()
    assert sim.held() == "cube"
    assert perform(sim, "place", "cube", "counter").ok


def test_unknown_skills_are_misuse(sim):
    with pytest.raises(WorldError, match="Did you mean 'pick'"):
        Running(sim, "pik", "mug")


def test_every_code_has_its_own_text():
    assert len({str(c) for c in Code}) == len(Code)
