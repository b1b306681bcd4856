"""What is written as PDDL means the same when it is read back."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handrail.domain import Plan, State, Step, Task
from handrail.domain.pddl import read_domain, read_plan, read_problem, write_domain, write_task
from handrail.domain.pddl.names import Names
from handrail.domain.rules import RuleKind
from handrail.errors import DomainError

from ..random_tasks import every_step, random_task


def _breaks_a_rule(task, values):
    for r in task.rules:
        held = r.first.holds(values)
        if (r.rule.kind is RuleKind.NEVER and held) or (r.rule.kind is RuleKind.ALWAYS and not held):
            return True
    return any(not node.holds(values) for _, node in task.keep)


def _same(written, task, values, theirs, objects):
    """Whether every fact of ours is what the PDDL state says."""
    names = written._names
    for atom, v in values.items():
        if atom[0].startswith("$"):
            continue
        fluent = task.domain.fluents[atom[0]]
        words, predicate = tuple(names("object", o) for o in atom[1:]), names("fluent", atom[0])
        if fluent.kind.value == "bool":
            assert theirs.get((predicate, *words), False) is v, atom
            continue
        found = [o.name for o in objects if theirs.get((predicate, *words, o.name)) is True]
        wanted = [] if v is None else [names("count", f"n{v}") if isinstance(v, int) else names("object", v)]
        assert found == wanted, atom
        if fluent.optional:
            assert theirs.get((names("fluent", f"{atom[0]}-none"), *words), False) is (v is None), atom


def _run(theirs, values, action, args, extras, settles):
    """Every state that an action leads to, over all extra parameters."""
    out = []
    for more in itertools.product(*extras):
        op = theirs.operator(Step(action, args + more))
        if op.applicable(values):
            after = dict(values)
            op.apply(after)
            if settles:
                settle = theirs.operator(Step("settle"))
                if not settle.applicable(after):
                    continue
                settle.apply(after)
            out.append(after)
    return out


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_round_trip_keeps_meaning(seed):
    """Along a random walk, the same steps can run, with the same effects, and the goal holds at the same time."""
    drawn = random_task(seed, unknown=False)
    assume(drawn is not None)
    task, state = drawn
    values = task.start(state)
    assume(not _breaks_a_rule(task, values))
    written = write_task(task, state)
    problem = read_problem(written.problem, read_domain(written.domain))
    theirs = Task(problem.objects, problem.goal)
    their_values = theirs.start(problem.state)
    rng, steps = random.Random(seed), every_step(task)
    for _ in range(8):
        assert theirs.end.holds(their_values) == task.end.holds(values)
        able = [s for s in steps if task.operator(s).applicable(values)]
        step = rng.choice(able if able and rng.random() < 0.7 else steps)
        can = task.operator(step).applicable(values)
        action = theirs.domain.skills.get(written._names("skill", step.skill))
        if action is None:
            assert not can  # a skill that contradicts itself is left out
            continue
        args = tuple(written._names("object", a) for a in step.args)
        extras = [problem.objects.of(*p.types) for p in action.params[len(args) :]]
        found = _run(theirs, their_values, action.name, args, extras, written._settles)
        assert len(found) == can, step
        if can:
            text = written.plan_text(Plan((step,)), task, values)
            assert written.plan_back(read_plan(text)).steps == (step,)
            task.operator(step).apply(values)
            their_values = found[0]
            _same(written, task, values, their_values, problem.objects)


def test_written_plan_runs_in_the_written_domain(kitchen):
    """The text of a plan, with `settle` and extra parameters, runs step by step."""
    from handrail.check.symbolic import check_symbolic
    from handrail.domain.text import parse_goal

    domain, objects, state = _kitchen(kitchen)
    task = Task(objects, parse_goal("open(fridge)", domain, objects))
    plan = Plan.of(
        ("pick", "robot_1", "hand_1", "cup"),
        ("place", "robot_1", "hand_1", "cup", "table"),
        ("go", "robot_1", "table", "fridge"),
        ("open", "robot_1", "hand_1", "fridge"),
    )
    written = write_task(task, state)
    problem = read_problem(written.problem, read_domain(written.domain))
    text = written.plan_text(plan, task, task.start(state))
    result = check_symbolic(read_plan(text), Task(problem.objects), problem.state)
    assert result.passed, result.reasons
    assert written.plan_back(read_plan(text)).steps == plan.steps


def _kitchen(kitchen):
    from handrail.domain import Obj, Objects

    objects = Objects(kitchen, [Obj("cup", "vessel", {"material": "glass"}), Obj("anna", "person")])
    values = {("at", "robot_1"): "table", ("on", "cup"): "table", ("portions", "cup"): 1}
    return kitchen, objects, State(objects, values)


@pytest.fixture
def kitchen():
    from handrail.domain.files import domain_from_text

    from .conftest import KITCHEN

    return domain_from_text(KITCHEN)


def test_a_domain_alone_is_written_and_read(kitchen):
    written = write_domain(kitchen)
    again = read_domain(written.domain)
    assert {"go"} <= set(again.skills)
    assert written.problem == ""


def test_unknown_facts_can_not_be_written(kitchen):
    from handrail.domain import UNKNOWN

    _, objects, state = _kitchen(kitchen)
    with pytest.raises(DomainError, match=r"unknown.*on\(cup\)"):
        write_task(Task(objects), state.with_({("on", "cup"): UNKNOWN}))


def test_a_step_that_was_not_written_is_refused(kitchen):
    _, objects, state = _kitchen(kitchen)
    written = write_task(Task(objects), state)
    with pytest.raises(DomainError, match="no action of the domain"):
        written.plan_back(Plan.of(("fly", "robot_1")))


def test_costs_are_whole_numbers_with_a_scale(kitchen):
    _, objects, state = _kitchen(kitchen)
    written = write_task(Task(objects), state)
    problem = read_problem(written.problem, read_domain(written.domain))
    ours, theirs = Task(objects), Task(problem.objects)
    step = Step("go", ("robot_1", "table", "fridge"))
    names = tuple(written._names("object", a) for a in step.args)
    action = theirs.domain.skills[written._names("skill", "go")]
    extra = tuple(problem.objects.of(*p.types)[0] for p in action.params[len(names) :])
    cost = theirs.operator(Step(action.name, names + extra)).cost
    assert cost == int(cost)
    assert cost / written.scale == pytest.approx(ours.operator(step).cost)


@given(st.lists(st.tuples(st.sampled_from(["type", "object", "skill"]), st.text(min_size=1, max_size=6)), max_size=12))
def test_names_are_legal_unique_and_come_back(pairs):
    names = Names()
    made = {p: names(*p) for p in pairs}
    assert len({m.lower() for m in made.values()}) == len(made)
    for p, m in made.items():
        assert m[0].isalpha() and all(c.isascii() and (c.isalnum() or c in "-_") for c in m)
        assert names.back(m.upper()) == p


def test_unified_planning_accepts_what_is_written(kitchen, tmp_path):
    """unified-planning reads the texts, and its validator accepts the plan."""
    pytest.importorskip("unified_planning")
    import warnings

    from handrail.domain.text import parse_goal

    domain, objects, state = _kitchen(kitchen)
    task = Task(objects, parse_goal("at(robot_1) == fridge and not open(fridge)", domain, objects))
    written = write_task(task, state)
    plan = Plan.of(
        ("go", "robot_1", "table", "fridge"),
        ("open", "robot_1", "hand_1", "fridge"),
        ("close", "robot_1", "hand_1", "fridge"),
    )
    files = [tmp_path / n for n in ("d.pddl", "p.pddl", "plan", "late")]
    for path, text in zip(
        files[:3], (written.domain, written.problem, written.plan_text(plan, task, task.start(state))), strict=True
    ):
        path.write_text(text, encoding="utf-8")
    lines = files[2].read_text(encoding="utf-8").splitlines()
    files[3].write_text("\n".join(lines[:-2]), encoding="utf-8")  # the fridge stays open, which a rule forbids
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from unified_planning.engines import SequentialPlanValidator
        from unified_planning.io import PDDLReader

        problem = PDDLReader().parse_problem(str(files[0]), str(files[1]))
        found = PDDLReader().parse_plan(problem, str(files[2]))
        validator = SequentialPlanValidator()
        validator.skip_checks = True  # it can, although it can't tell beforehand
        assert validator.validate(problem, found).status.name == "VALID"
        late = PDDLReader().parse_plan(problem, str(files[3]))
        assert validator.validate(problem, late).status.name == "INVALID"


def test_pddl_that_was_read_is_written_and_read_again():
    """Untyped predicates, constants, costs and conditional effects survive; the cheapest plan costs the same."""
    from handrail.solve.astar import solve

    domain = """(define (domain d) (:types place) (:constants home - place)
      (:predicates (at ?p - place) (lit ?p - place) (road ?a ?b - place)) (:functions (total-cost) (length ?a ?b - place))
      (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
        :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b))))
      (:action light :parameters () :effect (and (forall (?p - place) (when (at ?p) (lit ?p))) (increase (total-cost) 1))))"""
    problem = """(define (problem p) (:domain d) (:objects k l - place)
      (:init (at k) (road k l) (road l home) (road k home) (= (length k l) 1.5) (= (length l home) 1.25) (= (length k home) 4)
       (= (length l k) 0) (= (length home k) 0) (= (length home l) 0) (= (length k k) 0) (= (length l l) 0)
       (= (length home home) 0))
      (:goal (and (at home) (exists (?p - place) (lit ?p)))) (:metric minimize (total-cost)))"""
    first = read_problem(problem, read_domain(domain))
    task = Task(first.objects, first.goal)
    written = write_task(task, first.state)
    again = read_problem(written.problem, read_domain(written.domain))
    ours, theirs = solve(task, first.state), solve(Task(again.objects, again.goal), again.state)
    assert ours.cost == pytest.approx(3.75)
    assert theirs.cost == pytest.approx(3.75 * written.scale)
    assert written.plan_back(theirs.plan).steps == ours.plan.steps
