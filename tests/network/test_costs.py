"""Cost profiles, and the consolidation paper's cases by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.errors import ConfigError
from handrail.network.costs import MIN_TRIALS, SHIPPED, CostProfile, seconds
from handrail.network.model import FunctionalUnit, ObjectNode, Relation, TaskTree
from handrail.network.network import merge
from handrail.network.retrieval import Kitchen, Measure, Prices


def node(label: str, *states: str, inside: str = "", holds: tuple[str, ...] = ()) -> ObjectNode:
    return ObjectNode(label, states, holds, [Relation("in", inside)] if inside else [])


def unit(motion: str, ins: list[ObjectNode], outs: list[ObjectNode], start: str = "", end: str = "") -> FunctionalUnit:
    return FunctionalUnit(ins, motion, outs, start=start, end=end)


def chosen(trees: list[TaskTree], goal: ObjectNode, profile: str = "one_arm", **prices: object) -> list[str]:
    kitchen = Kitchen(merge(trees), Prices(CostProfile.load(profile), **prices))  # type: ignore[arg-type]
    found = kitchen.retrieve(goal)
    assert found.proved
    assert found.replay == ""
    return [s.unit.motion for s in found.steps or ()]


def test_two_pours_beat_one_scoop() -> None:
    done = node("flour", "powder", inside="mixing bowl")
    scoop = TaskTree((unit("scoop", [node("flour", "powder", inside="packet"), node("spoon")], [done]),))
    cup = node("flour", "powder", inside="measuring cup")
    pours = TaskTree(
        (
            unit("pour", [node("flour", "powder", inside="packet"), node("measuring cup", "empty")], [cup]),
            unit("pour", [cup], [done]),
        )
    )
    profile = CostProfile.load("one_arm")
    assert (profile.motion_cost("pour"), profile.motion_cost("scoop")) == (0.1, 0.4)
    assert chosen([scoop, pours], done) == ["pour", "pour"]


def test_a_one_armed_robot_blends_the_strawberry_whole_where_a_sliced_one_costs_a_cut() -> None:
    blended = node("smoothie", "mixed", holds=("strawberry",))
    whole = TaskTree((unit("blend", [node("strawberry", "whole"), node("blender")], [blended]),))
    sliced = TaskTree(
        (
            unit("slice", [node("strawberry", "whole"), node("knife")], [node("strawberry", "sliced")]),
            unit("blend", [node("strawberry", "sliced"), node("blender")], [blended]),
        )
    )
    assert chosen([sliced, whole], blended) == ["blend"]
    # where only the sliced one is known to make the smoothie, the slice is paid
    assert chosen([sliced], blended) == ["slice", "blend"]


def test_costs_name_their_source() -> None:
    profile = CostProfile.load("one_arm")
    plain = unit("pour", [node("milk", "liquid")], [node("milk", "liquid", inside="cup")])
    assert profile.explain(plain) == (0.1, "pour")
    assert profile.explain(unit("pick-and-place", [node("egg")], [node("egg", inside="bowl")])) == (
        0.45,
        "pick-and-place of egg",
    )
    cost, why = profile.explain(unit("press", [node("garlic press")], [node("garlic", "crushed")]))
    assert (cost, why) == (1.0, "no garlic press here")
    assert profile.explain(unit("teleport", [node("a")], [node("b")]))[1] == "teleport is in no table"
    measured = profile.with_history({("pour", ""): (0, MIN_TRIALS)})
    assert measured.explain(plain)[1].startswith("measured")
    assert measured.cost(plain) == 1.0


def test_history_counts_at_a_lower_bound_and_only_with_enough_tries() -> None:
    profile = CostProfile.load("one_arm")
    plain = unit("pour", [node("milk")], [node("milk", inside="cup")])
    few = profile.with_history({("pour", "milk"): (MIN_TRIALS - 1, MIN_TRIALS - 1)})
    assert few.cost(plain) == 0.1
    costs = [profile.with_history({("pour", "milk"): (n, n)}).cost(plain) for n in (10, 100, 1000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 0.1 > costs[2]
    with pytest.raises(ConfigError, match="succeeded"):
        profile.with_history({("pour", ""): (3, 2)})


def test_two_arms_pay_less_for_cutting() -> None:
    one, two = (CostProfile.load(n) for n in SHIPPED)
    assert two.motion_cost("slice") < one.motion_cost("slice")
    assert two.motion_cost("pour") == one.motion_cost("pour")


def test_starred_and_hyphened_motions_cost_as_the_plain_ones() -> None:
    profile = CostProfile("p", {"scoop and pour": 0.4, "mix": 0.2}, unknown=0.9)
    assert profile.motion_cost("mix*") == 0.2
    assert profile.motion_cost("scoop-and-pour") == 0.4
    assert profile.motion_cost("chop") == 0.9


def test_success_and_time_are_other_measures() -> None:
    done = node("b", "hot")
    sure = TaskTree((unit("heat", [node("a")], [done], "0:00", "1:40"),))
    risky = TaskTree(
        (
            unit("fry", [node("a")], [node("c", "raw")], "0:00", "0:05"),
            unit("fry", [node("c", "raw")], [done], "0:05", "0:10"),
        ),
    )
    assert chosen([sure, risky], done, measure=Measure.SUCCESS) == ["heat"]
    assert chosen([sure, risky], done, measure=Measure.TIME) == ["fry", "fry"]


def test_the_product_of_success_probabilities_is_maximised() -> None:
    profile = CostProfile("p", {"a": 0.5, "b": 0.3})
    one = unit("a", [node("x")], [node("z")])
    two = [unit("b", [node("x")], [node("y")]), unit("b", [node("y")], [node("z")])]
    assert profile.log_integers([one])[0] == round(1000 * 0.693147)
    assert sum(profile.log_integers(two)) > profile.log_integers([one])[0]  # .7 x .7 < .5 is false: .49 < .5


def test_agreement_makes_what_all_voices_say_cheaper() -> None:
    from handrail.network.model import Source

    def voiced(motion: str, voice: str, goal: ObjectNode) -> TaskTree:
        return TaskTree((unit(motion, [node("a")], [goal]).but(source=Source(voice)),))

    goal = node("b", "done")
    trees = [voiced("stir", v, goal) for v in ("m1", "m2", "m3")] + [voiced("mix", "m4", goal)]
    assert chosen(trees, goal) == ["mix"]
    assert chosen(trees, goal, agreement=1.0) == ["stir"]
    with pytest.raises(ConfigError, match="agreement"):
        Prices(CostProfile.load("one_arm"), agreement=2)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "cheap", True, None])
def test_costs_outside_their_range_are_refused(value: object, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"pour": value}))
    with pytest.raises(ConfigError, match=r"m\.json.*motion 'pour'.*from 0 .* to 1"):
        CostProfile.from_table(path)


def test_profiles_are_validated(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("name: mine\nbase: one_arm\nmotions: {pour: 0.05}\n")
    mine = CostProfile.load(path)
    assert (mine.motion_cost("pour"), mine.motion_cost("scoop")) == (0.05, 0.4)
    path.write_text("motoins: {}\n")
    with pytest.raises(ConfigError, match=r"unknown keys \['motoins'\]"):
        CostProfile.load(path)
    path.write_text("objects: [{motion: pour}]\n")
    with pytest.raises(ConfigError, match="need motion, object and cost"):
        CostProfile.load(path)
    with pytest.raises(ConfigError, match="shipped: one_arm, two_arms"):
        CostProfile.load("three_arms")


def test_seconds_come_from_recorded_times() -> None:
    assert seconds(unit("a", [], [], "1:10", "1:25")) == 15
    assert seconds(unit("a", [], [], "0:59:50", "1:00:00")) == 10
    assert seconds(unit("a", [], [], "Assumed", "Assumed")) is None
    assert seconds(unit("a", [], [], "1:10", "1:05")) is None
