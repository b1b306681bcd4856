from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.check.symbolic import accepts
from handrail.domain import Exclusions, Plan, State, Step, Task
from handrail.domain.files import domain_from_text, load_domain, load_scene
from handrail.errors import ConfigError, DomainError, InputError
from handrail.network.consolidate import consolidate
from handrail.network.lines import lines_of, tree_of
from handrail.network.model import ObjectNode
from handrail.network.names import DATA
from handrail.network.skills import describe, facts, judge, plan_of_tree, start_nodes, step_of, tree_of_plan, wrong
from handrail.network.units import Fault, Status
from handrail.solve.astar import solve

DOMAIN = load_domain(DATA / "domains" / "assembly.yaml")
SCENE = load_scene(DOMAIN)
GOAL = SCENE.requests[0].goals[0]
TASK = Task(SCENE.objects, GOAL)
BEST = solve(TASK, SCENE.state)
assert BEST.plan is not None
STEPS = BEST.plan.steps
STRAY = (Step("take", ("hand_1", "leg_1")), Step("clamp", ("hand_1", "frame")), Step("release", ("hand_1", "top")))


def test_a_plan_becomes_a_tree_and_comes_back() -> None:
    done = tree_of_plan(BEST.plan or Plan(()), TASK, SCENE.state)
    assert done.stopped is None
    assert plan_of_tree(done.tree).steps == STEPS
    assert tree_of(lines_of(done.tree)).units == done.tree.units
    start = set(start_nodes(TASK, SCENE.state))
    assert set(done.tree.used_before_made()) <= start


def test_nodes_and_facts_are_the_same_thing() -> None:
    done = tree_of_plan(STEPS, TASK, SCENE.state)
    for unit in done.tree.units:
        for node in unit.objects():
            assert describe(DOMAIN, node.label, facts(DOMAIN, node)) == node


def test_every_kind_of_value_survives() -> None:
    text = """
domain: d
types: {robot: , place: , jug: }
fluents:
  - "at(r: robot): place"
  - "level(j: jug): 0..9"
  - "near(r: robot, j: jug): bool"
  - "held(r: robot): jug?"
  - "lit(): bool"
skills:
  fill: {with: {r: robot, j: jug}, needs: ["near(r, j)"], makes: ["level(j) += 1", "lit() := true", "held(r) := j"], cost: 1}
objects: {r1: robot, p1: place, j1: jug, j2: jug}
scenarios:
  s: {state: ["at(r1) := p1", "near(r1, j1) := true", "level(j1) := 4"]}
"""
    domain = domain_from_text(text)
    scene = load_scene(domain)
    done = tree_of_plan([Step("fill", ("r1", "j1"))], Task(scene.objects), scene.state)
    nodes = {n.label: n for n in done.tree.units[0].outputs}
    assert facts(domain, nodes["j1"]) == {("level", "j1"): 5}
    assert facts(domain, nodes["world"]) == {("lit",): True}
    assert facts(domain, nodes["r1"]) == {("at", "r1"): "p1", ("near", "r1", "j1"): True, ("held", "r1"): "j1"}
    with pytest.raises(DomainError, match="no fact"):
        facts(domain, ObjectNode("j1", ["shiny"]))


def test_what_decided_whether_effects_fire_is_an_input() -> None:
    text = """
domain: d
types: {lamp: , switch: }
fluents: ["on(l: lamp): bool", "up(s: switch): bool"]
skills:
  press: {with: {l: lamp, s: switch}, makes: ["if up(s) then on(l) := true"], cost: 1}
objects: {l1: lamp, s1: switch}
scenarios: {s: {state: ["up(s1) := true"]}}
"""
    domain = domain_from_text(text)
    scene = load_scene(domain)
    unit = tree_of_plan([Step("press", ("l1", "s1"))], Task(scene.objects), scene.state).tree.units[0]
    assert ObjectNode("s1", ["up"]) in unit.inputs
    assert ObjectNode("l1", ["on"]) in unit.outputs


def test_units_are_judged_by_the_skill_library() -> None:
    tree = tree_of_plan(STEPS, TASK, SCENE.state).tree
    assert all(judge(TASK, u).status is Status.GOOD for u in tree.units)
    for unit in tree.units:
        changed = [k for k, (a, b) in enumerate(zip(unit.inputs, unit.outputs, strict=True)) if a != b]
        untouched = unit.but(
            outputs=[*unit.outputs[: changed[0]], unit.inputs[changed[0]], *unit.outputs[changed[0] + 1 :]]
        )
        found = judge(TASK, untouched)
        assert found.faults == {Fault.IMPROPER_CHANGE}, unit
    assert judge(TASK, tree.units[0].but(motion="fly(moon)")).faults == {Fault.SYNTAX}
    assert judge(TASK, tree.units[0].but(motion="pour")).faults == {Fault.SYNTAX}
    set_leg = next(u for u in tree.units if u.motion.startswith("set_leg"))
    frame = [n for n in set_leg.inputs if n.label == "frame"]
    without = set_leg.but(
        inputs=[n for n in set_leg.inputs if n not in frame], outputs=[n for n in set_leg.outputs if n not in frame]
    )
    assert judge(TASK, without).faults == {Fault.FROM_NOTHING}


def test_proposals_without_a_plan_are_no_obstacle() -> None:
    from handrail.propose.proposal import Proposal

    found = consolidate([Proposal("model", why="a question"), Proposal("planner", plan=BEST.plan)], SCENE.state, GOAL)
    assert found.plan is not None
    assert found.own == (None, BEST.cost)


@pytest.mark.parametrize("name", ["suitcase", "tidy_room", "assembly"])
def test_shipped_domains_have_a_scene_and_a_goal(name: str) -> None:
    scene = load_scene(load_domain(DATA / "domains" / f"{name}.yaml"))
    task = Task(scene.objects, scene.requests[0].goals[0])
    assert not task.end.holds(task.start(scene.state))


def test_a_plan_that_can_not_run_gives_the_tree_up_to_there() -> None:
    done = tree_of_plan([STEPS[0], STEPS[-1]], TASK, SCENE.state)
    assert done.stopped == 1
    assert "can't run" in done.why
    assert len(done.tree.units) == 1
    assert "no skill 'fly'" in tree_of_plan([Step("fly")], TASK, SCENE.state).why
    with pytest.raises(InputError, match="no skill call"):
        step_of("pour")
    assert wrong(TASK, Step("take", ("hand_1",))).endswith("takes 2")
    assert "no object 'moon'" in wrong(TASK, Step("take", ("hand_1", "moon")))
    assert "hand_1 is no part" in wrong(TASK, Step("take", ("hand_1", "hand_1")))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*STEPS, *STRAY]), max_size=8), min_size=1, max_size=4))
def test_whatever_is_proposed_the_answer_runs_and_invents_nothing(proposals: list[list[Step]]) -> None:
    plans = [Plan(tuple(p), source=f"m{k}") for k, p in enumerate(proposals)]
    found = consolidate(plans, SCENE.state, GOAL)
    offered = {s for p in plans for s in p.steps}
    assert found.proved
    if found.plan is None:
        assert not any(accepts(TASK, TASK.start(SCENE.state), p.steps) for p in plans)
        return
    assert set(found.plan.steps) <= offered
    assert accepts(TASK, TASK.start(SCENE.state), found.plan.steps)
    assert found.cost >= BEST.cost - 1e-9
    assert all(t.votes == len(t.sources) >= 1 for t in found.taken)


def halves() -> Sequence[Plan]:
    return [Plan(STEPS[:8], source="model"), Plan(STEPS[8:], source="model")]


def test_two_halves_become_one_plan_with_its_provenance() -> None:
    found = consolidate(halves(), SCENE.state, GOAL)
    assert found.plan is not None
    assert (found.cost, found.proved, found.spliced) == (BEST.cost, True, True)
    assert found.own == (None, None)
    assert {s for t in found.taken for s in t.sources} == {"model 1", "model 2"}
    assert plan_of_tree(found.tree).steps == found.plan.steps
    body = found.to_json()
    assert body["taken"][0]["from"] == ["model 1"]
    assert "cheapest among the" in found.why
    whole = consolidate(halves(), SCENE.state, GOAL, domain_bound=BEST.bound)
    assert whole.among == "the whole domain"


def test_a_proposal_that_meets_the_domains_bound_is_taken_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import handrail.network.consolidate  # noqa: F401 - the package's attribute of that name is the function

    def forbidden(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(sys.modules["handrail.network.consolidate"], "search_steps", forbidden)
    found = consolidate([halves()[0], BEST.plan or Plan(())], SCENE.state, GOAL, domain_bound=BEST.bound)
    assert found.plan is not None
    assert (found.plan.steps, found.proved, found.among, found.spliced) == (STEPS, True, "the whole domain", False)
    assert found.taken[0].votes == 2


def test_one_half_is_proved_not_to_reach_the_goal() -> None:
    found = consolidate(halves()[:1], SCENE.state, GOAL)
    assert found.plan is None
    assert found.proved
    assert found.bound == float("inf")


def test_refused_steps_are_excluded_with_their_reason() -> None:
    excluded = Exclusions()
    excluded.add(STEPS[0], (), "out of reach", "REACH")
    found = consolidate([BEST.plan or Plan(())], SCENE.state, GOAL, excluded=excluded)
    assert found.plan is None
    assert found.refused == ((STEPS[0], "out of reach"),)


def test_wrong_steps_are_named_and_left_out() -> None:
    found = consolidate([Plan((*STEPS, Step("fly", ("moon",))), source="m")], SCENE.state, GOAL)
    assert found.plan is not None
    assert [w for _, w in found.refused] == ["no skill 'fly'"]


def test_prices_and_agreement_change_the_choice() -> None:
    text = """
domain: d
types: {thing: }
fluents: ["done(t: thing): bool"]
skills:
  quick: {with: {t: thing}, makes: ["done(t) := true"], cost: 1}
  slow: {with: {t: thing}, makes: ["done(t) := true"], cost: 2}
objects: {t1: thing}
scenarios: {s: {requests: [{say: "do it", goal: "done(t1)"}]}}
"""
    domain = domain_from_text(text)
    scene = load_scene(domain)
    goal = scene.requests[0].goals[0]
    plans = [Plan((Step("quick", ("t1",)),), source="a")] + [Plan((Step("slow", ("t1",)),), source=s) for s in "bcd"]

    def chosen(**options: object) -> str:
        found = consolidate(plans, scene.state, goal, **options)  # type: ignore[arg-type]
        assert found.plan is not None
        return found.plan.steps[0].skill

    assert chosen() == "quick"
    assert chosen(agreement=0.9) == "slow"
    assert chosen(costs=lambda step, base: 9.0 if step.skill == "quick" else base) == "slow"
    with pytest.raises(ConfigError, match="agreement"):
        consolidate(plans, scene.state, goal, agreement=-1)
    with pytest.raises(ConfigError, match="must be a number"):
        consolidate(plans, scene.state, goal, costs=lambda step, base: float("nan"))


def test_nothing_to_do_is_a_plan() -> None:
    done = dict(SCENE.state.values) | {("upright", "robot_1"): True}
    found = consolidate([], State(SCENE.objects, done), GOAL)
    assert found.plan is not None
    assert len(found.plan) == 0
    assert found.cost == 0
