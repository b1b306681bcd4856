"""A rule that failed steps have made impossible to keep in time is kept late only with a person's approval that names it."""

from __future__ import annotations

import handrail as hr
from handrail.domain.text import parse_goal
from handrail.execute.budget import Ended
from handrail.mission import fixed_goal


def run(approve: bool):
    home = hr.Domain.load(hr.domains.path("home"))
    # Five slips in a row while the fridge stands open use up "the fridge is shut again within five steps".
    slips = {str(i): "slip" for i in range(3, 6)}
    world = hr.worlds.symbolic(home, faults={"script": slips})
    cards: list[str] = []

    def card(c) -> bool:
        cards.append(c.text)
        return approve or len(cards) == 1

    mission = hr.assemble(home, world, person=hr.people.callback(lambda q: None, card, "tester"))
    scene = hr.load_scene(home)
    goal = parse_goal("on(milk) == fridge and not open(fridge)", home, scene.objects)
    return fixed_goal(mission, goal).run("milk into the fridge"), cards


def test_the_card_names_the_rule_that_would_be_kept_late() -> None:
    outcome, cards = run(approve=True)
    late = [c for c in cards if "can't be kept in time" in c]
    if outcome.execution is not None and outcome.execution.ended is Ended.DONE:
        assert len(cards) >= 2
    assert late or outcome.done
    assert all("fridge" in c for c in late)


def test_without_approval_nothing_more_is_done() -> None:
    outcome, cards = run(approve=False)
    assert len(cards) >= 2
    assert not outcome.done
