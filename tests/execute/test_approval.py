from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.check import Notary, Pipeline
from handrail.domain import UNKNOWN, Step, Task
from handrail.errors import ConfigError, StaleError, UnprovenError
from handrail.execute.approval import Approvals
from handrail.execute.card import approval_reason, make_card


@pytest.fixture
def proven(make, plain):
    kit = make()
    notary = Notary()
    pipeline = Pipeline(notary=notary)
    return kit, notary, kit.verified(pipeline, kit.goal("on(mug) == shelf"), *plain)


def test_an_approval_is_used_once_for_its_plan_and_in_time(proven):
    kit, notary, plan = proven
    now = [1000.0]
    approvals = Approvals(notary, lifetime=60.0, clock=lambda: now[0])
    approval = approvals.grant(plan, make_card(plan, kit.state.values), "alex", "fine")
    assert approvals.use(approval, plan) is approval
    with pytest.raises(StaleError, match="used already"):
        approvals.use(approval, plan)
    late = approvals.grant(plan, None, "alex")
    now[0] += 61
    with pytest.raises(StaleError, match="expired"):
        approvals.use(late, plan)


def test_nothing_about_an_approval_can_be_changed(proven):
    kit, notary, plan = proven
    approvals = Approvals(notary)
    approval = approvals.grant(plan, None, "alex")
    for change in (
        {"expires": 9e9},
        {"by": "boss"},
        {"nonce": "00"},
        {"card_id": "x"},
        {"proof_id": "x"},
        {"token": "0"},
    ):
        with pytest.raises(UnprovenError):
            approvals.use(replace(approval, **change), plan)
    with pytest.raises(UnprovenError):
        Approvals(Notary()).use(approval, plan)
    other = kit.verified(Pipeline(notary=notary), kit.goal("at(robot_1) == table"), ("go", "robot_1", "table"))
    with pytest.raises(UnprovenError, match="not for"):
        approvals.use(approval, other)
    with pytest.raises(UnprovenError, match="another plan"):
        approvals.grant(plan, make_card(other, kit.state.values), "alex")


@pytest.mark.parametrize("lifetime", [0, -1, float("inf"), float("nan")])
def test_a_lifetime_is_a_positive_number(lifetime):
    with pytest.raises(ConfigError):
        Approvals(Notary(), lifetime)


def test_a_card_tells_what_decides_in_plain_words(make):
    kit = make({("at", "robot_1"): "store", ("open", "store"): True})
    plan = kit.verified(Pipeline(), kit.goal("holding(hand_1) == knife"), ("pick", "robot_1", "hand_1", "knife"))
    text = make_card(plan, kit.state.values, because="the mug was moved").text
    for part in (
        "Pick up the knife",
        "1 s",
        "▲ grasps",
        "knife is sharp",
        "the mug was moved",
        "Not checked",
        "physics",
        "simulation",
    ):
        assert part in text, part
    assert "{" not in text and "knife_" not in text
    assert "Real things will move" in make_card(plan, kit.state.values, real=True).text
    assert make_card(plan, kit.state.values).card_id != make_card(plan, kit.state.values, real=True).card_id


def test_going_to_a_free_place_needs_nobody_and_to_a_busy_or_unknown_one_does(make):
    kit = make()
    task = Task(kit.state.objects)
    step = Step("go", ("robot_1", "table"))
    assert approval_reason(step, task, kit.state.values) == ""
    assert approval_reason(step, task, {**kit.state.values, ("busy", "table"): True}) == "because busy(table)"
    assert approval_reason(step, task, {**kit.state.values, ("busy", "table"): UNKNOWN}) != ""


def test_a_card_follows_the_plan_through_its_states(make, plain):
    kit = make()
    plan = kit.verified(Pipeline(), kit.goal("on(mug) == shelf"), *plain)
    card = make_card(plan, kit.state.values)
    assert [bool(line.needs) for line in card.lines] == [False, True, False, True] and card.needed
    assert card.lines[1].needs == "grasps" and card.lines[3].needs == "lets go"
