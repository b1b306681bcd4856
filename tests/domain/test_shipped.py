"""What we ship can be planned in: each request that should be done has a plan the checker accepts, and rules refuse what they should."""

from __future__ import annotations

from functools import cache

import pytest

from handrail.check.symbolic import check_symbolic
from handrail.domain import Domain, Plan, Task
from handrail.domain import formula as f
from handrail.domain.files import Expect, Scene, load_domain, load_scene, scene_names
from handrail.domain.ground import FALSE
from handrail.domains import NAMES, path
from handrail.solve.astar import Budget, Solution, solve

R, H = "robot_1", "hand_1"


@cache
def domain(name: str) -> Domain:
    return load_domain(path(name))


@cache
def scene(name: str, which: str) -> Scene:
    return load_scene(domain(name), which)


def cases(*expect: Expect) -> list[tuple[str, str, int, int]]:
    return [
        (name, which, i, j)
        for name in (*NAMES, "starter")
        for which in scene_names(domain(name))
        for i, r in enumerate(scene(name, which).requests)
        for j in range(len(r.goals))
        if r.expect in expect and (r.by in ("", "physics"))
    ]


@cache
def solution(name: str, which: str, i: int, j: int) -> Solution:
    found = scene(name, which)
    return solve(Task(found.objects, found.requests[i].goals[j]), found.state, budget=Budget(300, 100))


def check(case: tuple[str, str, int, int]) -> None:
    name, which, i, j = case
    found = scene(name, which)
    request = found.requests[i]
    task = Task(found.objects, request.goals[j])
    made = solution(*case)
    assert made.plan is not None, f"{request.say}: {made.why}"
    assert check_symbolic(made.plan, task, found.state).passed
    assert not task.end.holds(task.start(found.state)), f"{request.say}: nothing is left to do"


@pytest.mark.parametrize("case", cases(Expect.DO), ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}-{c[3]}")
def test_a_request_can_be_planned(case: tuple[str, str, int, int]) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(Expect.ASK, Expect.REFUSE), ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}-{c[3]}")
def test_each_reading_can_be_planned_and_so_can_what_only_physics_refuses(case: tuple[str, str, int, int]) -> None:
    check(case)


def test_ten_household_requests_of_four_to_twelve_steps() -> None:
    plans = [solution(*c).plan for c in cases(Expect.DO) if c[0] == "home"]
    assert sum(p is not None and 4 <= len(p) <= 12 for p in plans) >= 10


REFUSED = {
    "hand a knife over": [
        ("pick", R, H, "knife"),
        ("navigate_to", R, "table"),
        ("hand_over", R, H, "knife", "person_1"),
    ],
    "carry a knife into an occupied room": [("pick", R, H, "knife"), ("navigate_to", R, "table")],
    "leave the fridge open": [("navigate_to", R, "fridge"), ("open", R, H, "fridge")],
    "heat metal": [
        ("pick", R, H, "cola"),
        ("navigate_to", R, "microwave"),
        ("place", R, H, "cola", "microwave"),
        ("close", R, H, "microwave"),
        ("switch_on", R, H, "microwave"),
        ("switch_off", R, H, "microwave"),
    ],
    "pour into a mug on the stove": [
        ("pick", R, H, "mug"),
        ("navigate_to", R, "stove"),
        ("place", R, H, "mug", "stove"),
        ("navigate_to", R, "counter"),
        ("pick", R, H, "water"),
        ("navigate_to", R, "stove"),
        ("pour", R, H, "water", "mug"),
    ],
    "heat a mug on the stove": [
        ("pick", R, H, "mug"),
        ("navigate_to", R, "stove"),
        ("place", R, H, "mug", "stove"),
        ("switch_on", R, H, "stove"),
        ("switch_off", R, H, "stove"),
    ],
    "leave the stove on": [("navigate_to", R, "stove"), ("switch_on", R, H, "stove")],
    "hand something hot over": [
        ("pick", R, H, "mug"),
        ("navigate_to", R, "table"),
        ("hand_over", R, H, "mug", "person_1"),
    ],
}


@pytest.mark.parametrize("what", REFUSED)
def test_the_homes_safety_rules_refuse(what: str) -> None:
    found = scene("home", "evening")
    changes = {("on", "knife"): "counter", ("on", "cola"): "counter", ("open", "microwave"): True}
    if "hot" in what:
        changes[("hot", "mug")] = True
    state = found.state.with_(changes)
    plan = Plan.of(*REFUSED[what])
    result = check_symbolic(plan, Task(found.objects), state)
    assert not result.passed
    assert {str(r.code) for r in result.reasons} <= {"RULE_BROKEN", "FORBIDDEN", "OBLIGATION_OPEN"}, result.reasons
    if len(plan) > 1 and "leave" not in what:
        assert check_symbolic(Plan(plan.steps[:1]), Task(found.objects), state).passed


@pytest.mark.parametrize("case", ["Hand me the knife.", "Give me the knife from the drawer."])
def test_a_forbidden_goal_is_proved_unreachable(case: str) -> None:
    for which in ("evening", "breakfast"):
        found = scene("home", which)
        for r in found.requests:
            if r.say == case:
                assert r.goal is not None
                assert solve(Task(found.objects, r.goal), found.state).unsolvable


def test_going_to_an_occupied_room_needs_a_person() -> None:
    d = domain("home")
    found = scene("home", "evening")
    task = Task(found.objects)
    go = d.skills["navigate_to"]

    def asks(to: str) -> bool:
        return task.ground.node(go.approval, go.bind((R, to))).holds(found.state.values)

    assert asks("table") and asks("shelf_low")
    assert not asks("fridge") and not asks("counter")
    assert all(s.approval == f.TRUE for n, s in d.skills.items() if n not in ("navigate_to", "ask_human"))
    assert d.skills["ask_human"].approval == f.FALSE and d.skills["ask_human"].asks


def test_no_skill_is_above_its_limits() -> None:
    for name in NAMES:
        found = scene(name, scene_names(domain(name))[0])
        for s in domain(name).skills.values():
            for quantity, bound in domain(name).safety.limits.items():
                declared = getattr(s, quantity)
                assert declared is None or 0 < declared <= bound
        assert all(
            g.node is not FALSE for g in Task(found.objects).operator(_any_step(found)).guards if g.code == "LIMIT"
        )


def _any_step(found: Scene) -> object:
    from handrail.domain.reach import ground_steps

    return next(iter(ground_steps(found.objects)))


def test_profiles_have_their_own_costs() -> None:
    one, two = domain("home").with_profile("one_arm"), domain("home").with_profile("two_arms")
    assert one.skills["pick"].cost.of("one_arm") == domain("home").skills["pick"].cost.of("") == 0.2
    assert two.skills["pick"].cost.of(two.profile) == 0.15
    assert one.fingerprint != two.fingerprint
