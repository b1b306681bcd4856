"""A rule that failed steps have made impossible to keep in time is kept late only with a person's approval that names it."""

from __future__ import annotations

import handrail as hr
from handrail.domain.text import parse_goal
from handrail.execute.budget import Ended
from handrail.mission import fixed_goal

LATE = "can't be kept in time"


def run(approve_late: bool):
    home = hr.Domain.load(hr.domains.path("home"))
    # Slips in a row while the fridge stands open use up "the fridge is shut again within five steps".
    world = hr.worlds.symbolic(home, faults={"script": {str(i): "slip" for i in range(3, 6)}})
    cards: list[str] = []

    def card(c) -> bool:
        cards.append(c.text)
        return approve_late or LATE not in c.text

    mission = hr.assemble(home, world, person=hr.people.callback(lambda q: None, card, "tester"))
    goal = parse_goal("on(milk) == fridge and not open(fridge)", home, hr.load_scene(home).objects)
    return fixed_goal(mission, goal).run("milk into the fridge"), cards


def test_the_card_names_the_rule_that_would_be_kept_late() -> None:
    outcome, cards = run(approve_late=True)
    assert outcome.execution is not None and outcome.execution.ended is Ended.DONE
    (late,) = [c for c in cards if LATE in c]
    assert "open(fridge)" in late


def test_without_that_approval_nothing_more_is_done() -> None:
    outcome, cards = run(approve_late=False)
    assert LATE in cards[-1]
    assert outcome.execution is not None and outcome.execution.ended is Ended.REFUSED
