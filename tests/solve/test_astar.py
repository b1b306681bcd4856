"""The planner against a blind search, and on the shipped home."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import handrail.domains
from handrail.check.symbolic import check_symbolic
from handrail.domain import Step, Task
from handrail.domain.exclusions import Exclusions
from handrail.domain.files import load_domain, load_scene
from handrail.domain.text import parse_goal
from handrail.errors import ConfigError
from handrail.solve.astar import Budget, relevant_model, solve
from handrail.solve.steps import StepSource

from ..random_tasks import blind, random_task


@pytest.fixture(scope="module")
def home():
    domain = load_domain(handrail.domains.path("home"))
    return domain, load_scene(domain, "evening")


def plan_for(home, text, **more):
    domain, scene = home
    task = Task(scene.objects, parse_goal(text, domain, scene.objects))
    return task, scene.state, solve(task, scene.state, **more)


@settings(max_examples=80)
@given(st.integers(0, 10**9))
def test_cheapest_as_a_blind_search_finds_it(seed):
    """Costs agree with Dijkstra over every ground step: rules, promises, subgoals, exclusions and unknown facts included."""
    drawn = random_task(seed)
    assume(drawn is not None)
    task, state = drawn
    wanted = blind(task, state)
    assume(wanted != "limit")
    found = solve(Task(task.objects, task.goal, task.exclusions), state)
    assert found.proved
    if wanted is None:
        assert found.unsolvable and found.bound == float("inf")
    else:
        assert found.cost == pytest.approx(wanted)
        assert found.bound == found.cost
        assert check_symbolic(found.plan, task, state).passed


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(1, 12))
def test_a_small_budget_tells_the_truth(seed, expansions):
    """With next to no budget: a plan that is accepted, a bound that holds, and no proof that isn't one."""
    drawn = random_task(seed)
    assume(drawn is not None)
    task, state = drawn
    wanted = blind(task, state)
    assume(wanted != "limit")
    found = solve(task, state, budget=Budget(expansions, first=2))
    truth = float("inf") if wanted is None else wanted
    assert found.bound <= truth + 1e-6
    assert found.cost >= truth - 1e-6
    assert found.expanded <= expansions
    if found.proved:
        assert found.cost == pytest.approx(truth)
    if found.plan is not None:
        assert check_symbolic(found.plan, task, state).passed


@settings(max_examples=12)
@given(st.integers(0, 10**9), st.integers(6, 8))
def test_alike_objects_change_nothing(seed, items):
    """Looking at a few of a kind for all of them gives the same cost as looking at all of them."""
    drawn = random_task(seed, unknown=False, items=items)
    assume(drawn is not None)
    task, state = drawn
    found = solve(task, state, budget=Budget(300, 300))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("handrail.solve.astar.alike", lambda *_: [])
        slow = solve(task, state, budget=Budget(300, 300))
    assume(found.proved and slow.proved)
    assert found.cost == pytest.approx(slow.cost)


def test_equal_tasks_give_equal_plans(home):
    plans = {str(plan_for(home, "on(mug) == table and on(apple) == counter")[2].plan) for _ in range(3)}
    assert len(plans) == 1


@pytest.mark.parametrize(
    ("goal", "cost", "steps"),
    [
        ("given(water) == person_1", 0.7, 3),
        ("on(apple) == bin", 1.0, 4),
        ("not dirty(table)", 1.1, 4),
        ("on(milk) == fridge and not open(fridge)", 1.85, 7),
        ("on(mug) == table and on(mug_2) == table", 1.7, 7),
    ],
)
def test_household_goals(home, goal, cost, steps):
    task, state, found = plan_for(home, goal)
    assert found.proved and found.cost == pytest.approx(cost) and len(found.plan) == steps
    assert check_symbolic(found.plan, task, state).passed


def test_only_what_matters_is_searched(home):
    """Of some 1,000 ground steps with 17 items the search keeps those with the two items that the goal is about."""
    domain, scene = home
    task = Task(scene.objects, parse_goal("on(mug) == table and on(mug_2) == table", domain, scene.objects))
    values = task.start(scene.state)
    everything = sum(1 for _ in StepSource(task, values).all_steps())
    kept = relevant_model(task, values)
    items = {a for x in kept.actions for a in x.step.args} & set(scene.objects.of("item"))
    assert items == {"mug", "mug_2"}
    assert len(kept.actions) < everything / 5


def test_hundreds_of_other_things_do_not_matter(home):
    from handrail.domain import Obj, State

    domain, scene = home
    more = [Obj(f"brick_{i}", "item", {"material": "wood"}) for i in range(300)]
    objects = scene.objects.with_(*more)
    state = State(objects, {**scene.state.values, **{("on", b.name): "sofa_table" for b in more}})
    task = Task(objects, parse_goal("on(apple) == bin", domain, objects))
    found = solve(task, state)
    assert found.proved and found.cost == pytest.approx(1.0)
    assert found.figures["actions"] < 60


def test_a_rule_is_kept_by_construction(home):
    """The knife may not be carried where somebody is: there is no plan, and that is proved."""
    _, _, found = plan_for(home, "on(knife) == table")
    assert found.unsolvable
    assert "No sequence" in found.why


def test_things_to_keep_and_the_order_of_subgoals(home):
    task, state, found = plan_for(home, "first on(apple) == sofa_table; on(apple) == bin; keep on(apple) != counter")
    values, seen = task.start(state), []
    for step in found.plan:
        task.operator(step).apply(values)
        seen.append(values[("on", "apple")])
    assert seen.index("sofa_table") < seen.index("bin")
    assert found.proved


def test_an_exclusion_is_evidence_not_proof(home):
    """Excluded while the fridge is shut, a step comes back when it is open."""
    domain, scene = home
    goal = parse_goal("on(cola) == counter", domain, scene.objects)
    step = Step("pick", ("robot_1", "hand_1", "cola"))
    shut, ever = Exclusions(), Exclusions()
    shut.add(step, {("open", "fridge"): False}, "the door is in the way")
    ever.add(step, None, "it is glued to the shelf")
    assert solve(Task(scene.objects, goal), scene.state, exclusions=shut).plan is not None
    found = solve(Task(scene.objects, goal), scene.state, exclusions=ever)
    assert found.unsolvable


def test_a_promise_survives_a_replan(home):
    """With the fridge opened four steps ago, the plan must shut it in time."""
    domain, scene = home
    task = Task(scene.objects, parse_goal("on(apple) == bin", domain, scene.objects))
    index = next(i for i, r in enumerate(task.rules) if "fridge" in str(r.rule))
    state = scene.state.with_({("open", "fridge"): True, ("at", "robot_1"): "fridge"})
    found = solve(task, state, carried={("$rule", str(index)): 1})
    assert found.plan.steps[0].skill == "close"
    assert solve(task, state).plan.steps != found.plan.steps or found.plan.steps[0].skill == "close"


def test_unknown_facts_satisfy_nothing(home):
    from handrail.domain import UNKNOWN

    domain, scene = home
    task = Task(scene.objects, parse_goal("on(apple) == bin", domain, scene.objects))
    found = solve(task, scene.state.with_({("on", "apple"): UNKNOWN}))
    assert found.unsolvable and found.why.startswith("From what is known")


def test_a_goal_that_holds_already_needs_no_step(home):
    _, _, found = plan_for(home, "on(mug) == counter")
    assert found.plan is not None and len(found.plan) == 0 and found.cost == 0


def test_a_python_guard_is_obeyed(home):
    """A hook that refuses one place: the search goes elsewhere, and keeps everything that the hook may read."""
    from dataclasses import replace

    from handrail.domain import Domain, Objects, State

    domain, scene = home
    pick = replace(domain.skills["pick"], hook=lambda state, args: "too heavy" if args["thing"] == "apple" else None)
    other = ("attributes", "symbols", "skills")
    made = {n: getattr(domain, n) for n in domain.__dataclass_fields__ if n not in other}
    guarded = Domain(**made, skills={**domain.skills, "pick": pick})
    objects = Objects(guarded, scene.objects)
    task = Task(objects, parse_goal("on(apple) == bin", guarded, objects))
    assert solve(task, State(objects, scene.state.values), budget=Budget(20, 20)).plan is None
    task = Task(objects, parse_goal("on(mug) == table", guarded, objects))
    assert solve(task, State(objects, scene.state.values)).plan is not None


def test_budgets_are_checked_when_they_are_set():
    with pytest.raises(ConfigError):
        Budget(0)
