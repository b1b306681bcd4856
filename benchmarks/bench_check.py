"""A step's symbolic check at four world sizes, beside unified-planning in the same run.

Microseconds of processor time a step, over a plan of 24 steps: the whole check with its verdict, operators already ground (`warm`)
and seen for the first time (`cold`). unified-planning: `apply` of its sequential simulator on the same steps, already seen. The
claim is that ours is small and flat in the size of the world.
"""

from __future__ import annotations

import random
import time
import warnings
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain import Domain, Obj, Objects, Plan, State, Step, Task
from handrail.domain.files import domain_from_text

SIZES = ((10, 20), (40, 120), (70, 700), (100, 2000))
"""(places, items)."""
STEPS = 24

DELIVERY = """\
domain: delivery
types: {robot: , hand: , place: , item: }
fluents:
  - "at(r: robot): place"
  - "held(h: hand): item?"
  - "on(i: item): place?"
objects: {robot_1: robot, hand_1: hand}
skills:
  go:
    with: {r: robot, from_: place, to: place}
    needs: ["at(r) == from_", "from_ != to"]
    makes: ["at(r) := to"]
  pick:
    with: {r: robot, h: hand, i: item, p: place}
    needs: ["held(h) == none", "at(r) == p", "on(i) == p"]
    makes: ["held(h) := i", "on(i) := none"]
  put:
    with: {r: robot, h: hand, i: item, p: place}
    needs: ["held(h) == i", "at(r) == p"]
    makes: ["held(h) := none", "on(i) := p"]
"""


def world(places: int, items: int, seed: int = 0) -> tuple[Task, State, Plan]:
    """A world and a plan that carries six things about."""
    domain: Domain = domain_from_text(DELIVERY)
    rng = random.Random(seed)
    names = [f"p{i}" for i in range(places)]
    objects = Objects(domain, [*(Obj(n, "place") for n in names), *(Obj(f"i{k}", "item") for k in range(items))])
    values: dict[Any, Any] = {("at", "robot_1"): "p0", **{("on", f"i{k}"): rng.choice(names) for k in range(items)}}
    steps: list[Step] = []
    here = "p0"
    for thing in rng.sample(range(items), STEPS // 4):
        source = values["on", f"i{thing}"]
        target = rng.choice([n for n in names if n not in (source, here)])
        if source == here:
            source_steps = [Step("go", ("robot_1", here, target)), Step("go", ("robot_1", target, source))]
            steps += source_steps[: 2 if len(steps) < STEPS - 4 else 0]
        else:
            steps.append(Step("go", ("robot_1", here, source)))
        steps.append(Step("pick", ("robot_1", "hand_1", f"i{thing}", source)))
        steps.append(Step("go", ("robot_1", source, target)))
        steps.append(Step("put", ("robot_1", "hand_1", f"i{thing}", target)))
        here = target
    return Task(objects), State(objects, values), Plan(tuple(steps))


def ours(task: Task, state: State, plan: Plan, rounds: int) -> dict[str, float]:
    """Microseconds a step, cold and warm."""
    clock = time.process_time_ns
    begin = clock()
    result = check_symbolic(plan, task, state)
    cold = clock() - begin
    assert result.passed, result.reasons
    best = float("inf")
    for _ in range(5):
        begin = clock()
        for _ in range(rounds):
            check_symbolic(plan, task, state)
        best = min(best, (clock() - begin) / rounds)
    return {"cold_us": round(cold / 1000 / len(plan), 2), "warm_us": round(best / 1000 / len(plan), 2)}


def theirs(task: Task, state: State, plan: Plan) -> dict[str, float] | str:
    """Microseconds a step of unified-planning's simulator; a sentence where it is not installed.

    The world is built in its own terms, with object-valued fluents and a dummy for none, which suits it better than our PDDL.
    """
    try:
        from unified_planning import shortcuts as up
        from unified_planning.engines import UPSequentialSimulator
        from unified_planning.plans import ActionInstance
    except ImportError:
        return "unified-planning is not installed"
    up.get_environment().credits_stream = None
    place, item = up.UserType("place"), up.UserType("item")
    at, held = up.Fluent("at", place), up.Fluent("held", item)
    on = up.Fluent("on", place, i=item)
    nowhere, nothing = up.Object("nowhere", place), up.Object("nothing", item)
    go = up.InstantaneousAction("go", a=place, b=place)
    go.add_precondition(up.Equals(at, go.a))
    go.add_precondition(up.Not(up.Equals(go.a, go.b)))
    go.add_effect(at, go.b)
    pick = up.InstantaneousAction("pick", i=item, p=place)
    for left, right in ((held, nothing), (at, pick.p), (on(pick.i), pick.p)):
        pick.add_precondition(up.Equals(left, right))
    pick.add_effect(held, pick.i)
    pick.add_effect(on(pick.i), nowhere)
    put = up.InstantaneousAction("put", i=item, p=place)
    for left, right in ((held, put.i), (at, put.p)):
        put.add_precondition(up.Equals(left, right))
    put.add_effect(held, nothing)
    put.add_effect(on(put.i), put.p)
    problem = up.Problem("delivery")
    problem.add_fluents([at, held, on])
    problem.add_actions([go, pick, put])
    names = {n: up.Object(n, place) for n in task.objects.of("place")}
    names |= {n: up.Object(n, item) for n in task.objects.of("item")}
    problem.add_objects([nowhere, nothing, *names.values()])
    problem.set_initial_value(at, names[str(state["at", "robot_1"])])
    problem.set_initial_value(held, nothing)
    problem.set_initial_value(on(nothing), nowhere)
    for n in task.objects.of("item"):
        problem.set_initial_value(on(names[n]), names[str(state["on", n])])
    theirs_by = {"go": go, "pick": pick, "put": put}
    own = ("robot_1", "hand_1")
    steps = [ActionInstance(theirs_by[s.skill], [up.ObjectExp(names[a]) for a in s.args if a not in own]) for s in plan]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulator = UPSequentialSimulator(problem, error_on_failed_checks=False)
        best = float("inf")
        for _ in range(4):
            now = simulator.get_initial_state()
            begin = time.process_time_ns()
            for a in steps:
                now = simulator.apply(now, a)
                assert now is not None, a
            best = min(best, time.process_time_ns() - begin)
    return {"warm_us": round(best / 1000 / len(steps), 1)}


def run(quick: bool) -> dict[str, Any]:
    """`sizes`: per world ours and theirs; `flat`: our largest world over our smallest; `worst_us`; `ratio`: theirs over ours."""
    sizes: list[dict[str, Any]] = []
    for places, items in SIZES:
        task, state, plan = world(places, items)
        row: dict[str, Any] = {"places": places, "items": items, "steps": len(plan)}
        row["ours"] = ours(task, state, plan, 20 if quick else 200)
        row["unified_planning"] = theirs(task, state, plan)
        sizes.append(row)
    warm = [r["ours"]["warm_us"] for r in sizes]
    ratios = [
        r["unified_planning"]["warm_us"] / r["ours"]["warm_us"]
        for r in sizes
        if isinstance(r["unified_planning"], dict)
    ]
    return {
        "sizes": sizes,
        "worst_us": max(warm),
        "flat": round(warm[-1] / warm[0], 2),
        "ratio": [round(r, 1) for r in ratios] or "no peer",
    }
