"""The kit that every adapter is tried with, on the physical home."""

from handrail.domain.plan import Step
from handrail.world.conformance import check_world
from handrail.world.mujoco.world import MujocoWorld

R = "robot_1"


def test_the_physical_home_conforms(evening, spec):
    steps = (Step("navigate_to", (R, "sink")), Step("navigate_to", (R, "table")))
    findings = check_world(MujocoWorld(evening, spec), steps=steps, seconds=20.0)
    assert [(f.check, f.sentence) for f in findings if f.outcome == "failed"] == []
    assert sum(f.outcome == "passed" for f in findings) > len(findings) / 2
