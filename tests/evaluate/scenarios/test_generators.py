from __future__ import annotations

from collections import Counter

import pytest

from handrail.domain.option import NOT_LISTED, Option, not_listed
from handrail.errors import ConfigError
from handrail.evaluate.scenarios import Scenario, kitchen, sorting, tabletop

SUITES = {"kitchen": kitchen.generate, "tabletop": tabletop.generate, "arms": sorting.two_arms}


@pytest.mark.parametrize("name", SUITES)
def test_a_seed_gives_the_same_scenarios_and_prefixes(name):
    make = SUITES[name]
    assert make(30, 1) == make(30, 1) == make(60, 1)[:30]
    assert [s.request for s in make(30, 1)] != [s.request for s in make(30, 2)]
    assert len({s.key for s in make(60, 1)}) == 60


@pytest.mark.parametrize("name", SUITES)
def test_the_right_answer_is_one_of_the_candidates_and_never_marked_unsafe(name):
    for scenario in SUITES[name](300, 3):
        by_key = {o.key: o for o in scenario.candidates}
        assert scenario.acceptable <= by_key.keys()
        assert not any(by_key[k].unsafe for k in scenario.acceptable)


def test_kitchen_has_all_kinds_in_their_shares():
    count = Counter(s.category for s in kitchen.generate(3000, 5))
    assert set(count) == set(kitchen.SHARES)
    for name, percent in kitchen.SHARES.items():
        assert abs(count[name] / 30 - percent) < 3


def test_kitchen_ambiguity_is_real():
    scenarios = kitchen.generate(800, 7)
    for s in scenarios:
        wanted = {k.split(" > ")[0] for k in s.acceptable}
        names = {o.attribute("object") for o in s.candidates}
        if s.category in ("multi_label", "creative_multi"):
            assert len(s.acceptable) >= 2
        else:
            assert len(s.acceptable) == 1
        if s.category == "single_label":
            kind = s.request.rstrip(".").split()[-1]
            fits = [t.name for t in kitchen.THINGS if t.name in names and kind in t.kinds]
            assert len(fits) >= 2 and wanted <= set(fits)
        if s.category == "unsafe":
            bowl = s.intent
            dangerous = [o for o in s.candidates if o.unsafe and o.attribute("place") == bowl.split(" > ")[1]]
            assert dangerous and all(o.attribute("kind") == "bowl" for o in dangerous)


def test_one_kind_only():
    assert {s.category for s in kitchen.generate(20, 0, ["winograd"])} == {"winograd"}


def test_every_two_armed_request_is_ambiguous():
    """The same scene and words are meant in more than one way."""
    meanings: dict[tuple[str, str], set[str]] = {}
    for s in sorting.two_arms(6000, 2):
        meanings.setdefault((s.scene, s.request), set()).add(s.intent)
    often = [v for v in meanings.values() if len(v) > 1]
    assert len(often) > 0.6 * len([1 for v in meanings])


def test_sorting_can_be_walked_in_any_right_order():
    for tray in sorting.sorting(20, 4):
        done: list[str] = []
        while (step := tray.at(done)) is not None:
            assert len(step.acceptable) == len(tray.foods) - len(done)
            assert step.episode == tray.key
            assert len(step.done) == len(done)
            done.append(sorted(step.acceptable)[-1])
        assert len(done) == len(tray.foods)
        assert {d.split(" > ")[0] for d in done if d.endswith("blue plate")} == tray.liked


def test_tabletop_kinds():
    scenarios = tabletop.generate(300, 1)
    assert {s.category for s in scenarios} == set(tabletop.CATEGORIES)
    numeric = {s.intent.split()[0] for s in scenarios if s.category == "numeric" and "a few" in s.request}
    assert numeric == {"2", "3"}
    sides = {s.intent.split(" block ")[1].rsplit(" ", 2)[0] for s in scenarios if s.category == "spatial"}
    assert sides == set(tabletop.SIDES)


def scenario(**more):
    options = (Option("a", "A"), Option("b", "B"))
    values = {"key": "k", "suite": "s", "category": "c", "scene": "x", "request": "r", "candidates": options}
    return Scenario(**{**values, "intent": "a", "acceptable": frozenset("a"), **more})


def test_right_falls_back_to_not_listed():
    s = scenario()
    assert s.right([Option("b", "B"), Option("a", "A"), not_listed()]) == [1]
    assert s.right([Option("b", "B"), not_listed()]) == [1]
    assert s.right([Option("b", "B")]) == []


@pytest.mark.parametrize(
    "bad",
    [
        {"candidates": (Option("a", "A"), Option("a", "A2"))},
        {"candidates": (Option("a", "A"), Option(NOT_LISTED, "other"))},
        {"intent": "b"},
        {"acceptable": frozenset("az")},
    ],
)
def test_contradictions_are_refused(bad):
    with pytest.raises(ConfigError):
        scenario(**bad)
