"""Things wanted in turn."""

from __future__ import annotations

import handrail as hr
from handrail.domain import Goal
from handrail.domain.files import load_scene
from handrail.domain.text import parse_goal
from handrail.intent.refute import Refutation, refute
from handrail.understanding import in_order


def test_a_means_may_come_before_its_turn_where_it_must() -> None:
    home = hr.Domain.load(hr.domains.path("home"))
    scene = load_scene(home)

    def goal(text: str) -> Goal:
        return parse_goal(text, home, scene.objects)

    strict = in_order([goal("on(book) == sofa_table"), goal("given(water) == person_1")], scene.state)
    assert strict.strict
    # the sponge is in the sink: the robot has to be there before the table is wiped
    loose = in_order([goal("not dirty(table)"), goal("at(robot_1) == sink")], scene.state)
    assert not loose.strict and len(loose.subgoals) == 2
    found = refute(loose, scene.state)
    assert not isinstance(found, Refutation) and found.plan is not None
    assert [s.skill for s in found.plan.steps][-2:] == ["wipe", "navigate_to"]
