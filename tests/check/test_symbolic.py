from __future__ import annotations

import pytest

from handrail.check import accepts, check_symbolic, run_symbolic
from handrail.domain import UNKNOWN, Code, Exclusions, Goal, Plan, Rule, RuleKind, State, Step, Task, formula
from handrail.domain.formula import And, Call, Const, Not, Param, Some

FETCH = Plan.of(
    ("go", "robo", "table"),
    ("pick", "robo", "left", "mug"),
    ("go", "robo", "counter"),
    ("place", "robo", "left", "mug", "counter"),
)


def on(item: str, place: str) -> formula.Test:
    return formula.Test(Call("on", (Const(item),)), "==", Const(place))


def test_a_right_plan_passes_without_flags(task: Task, start: State) -> None:
    result = check_symbolic(FETCH, task, start)
    assert result.passed
    assert result.flags == ()
    assert accepts(task, task.start(start), FETCH.steps)


def test_the_trace_tells_what_each_step_changed(task: Task, start: State) -> None:
    trace = run_symbolic(FETCH, task, start)
    assert trace.changes[1] == {("held", "left"): "mug", ("on", "mug"): None}
    assert trace.values[("on", "mug")] == "counter"


def test_the_input_state_is_left_alone(task: Task, start: State) -> None:
    before = dict(start.values)
    run_symbolic(FETCH, task, start)
    assert start.values == before


def test_a_failed_condition_names_fact_value_and_who_changed_it(task: Task, start: State) -> None:
    plan = Plan.of(("go", "robo", "table"), ("pick", "robo", "left", "mug"), ("place", "robo", "left", "mug", "counter"))
    (reason,) = check_symbolic(plan, task, start).reasons
    assert reason.code == Code.PRECONDITION
    assert (reason.step, reason.fact, reason.changed_by) == (2, ("at", "robo"), 0)
    assert reason.sentence == (
        "Step 3, place(robo, left, mug, counter): needs at(robo) == counter, but at(robo) is table since step 1, go(robo, table)."
    )
    assert "go" in reason.hint


def test_what_was_so_at_the_start_was_changed_by_nobody(task: Task, start: State) -> None:
    (reason,) = check_symbolic(Plan.of(("pick", "robo", "left", "mug")), task, start).reasons
    assert reason.changed_by is None
    assert reason.fact == ("at", "robo")


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (("fly", "robo"), Code.UNKNOWN_SKILL),
        (("go", "robo"), Code.WRONG_ARGUMENTS),
        (("go", "robo", "tabel"), Code.UNKNOWN_OBJECT),
        (("go", "robo", "mug"), Code.WRONG_TYPE),
    ],
)
def test_names_arity_and_types_are_findings_not_exceptions(task: Task, start: State, step: tuple[str, ...], code: Code) -> None:
    (reason,) = check_symbolic(Plan.of(step), task, start).reasons
    assert reason.code == code
    assert reason.step == 0


def test_an_unknown_fact_satisfies_neither_a_test_nor_its_negation(task: Task, start: State) -> None:
    unsure = start.with_({("opened", "cabinet"): UNKNOWN, ("at", "robo"): "cabinet"})
    for skill in ("open", "close"):
        (reason,) = check_symbolic(Plan.of((skill, "robo", "cabinet")), task, unsure).reasons
        assert reason.code == Code.UNKNOWN_FACT
        assert reason.fact == ("opened", "cabinet")


def test_a_goal_that_is_not_reached_says_what_is_missing(task: Task, start: State) -> None:
    (reason,) = check_symbolic(Plan.of(("go", "robo", "table")), task, start).reasons
    assert reason.code == Code.GOAL_NOT_REACHED
    assert "on(mug) == counter" in reason.sentence
    assert "on(mug) is table" in reason.sentence


def test_counts_stay_in_range(start: State) -> None:
    task = Task(start.objects)
    assert check_symbolic(Plan.of(("sip", "mug")), task, start).passed
    (reason,) = check_symbolic(Plan.of(("sip", "mug"), ("sip", "mug")), task, start).reasons
    assert (reason.code, reason.step) == (Code.RANGE, 1)


def test_flags_for_no_op_repeated_state_and_steps_after_the_goal(task: Task, start: State) -> None:
    codes = lambda plan, t=task: [f.code for f in check_symbolic(plan, t, start).flags]  # noqa: E731
    anything = Task(start.objects)
    assert codes(Plan.of(("go", "robo", "counter")), anything) == [Code.NO_OP]
    there_and_back = Plan.of(("go", "robo", "table"), ("go", "robo", "counter"))
    assert Code.REPEATED_STATE in codes(there_and_back, anything)
    longer = Plan((*FETCH.steps, Step("go", ("robo", "table"))))
    assert codes(longer) == [Code.AFTER_GOAL]


def test_going_back_is_a_repeat_also_when_a_default_was_never_written(domain, start: State) -> None:
    task = Task(start.objects)
    at_cabinet = start.with_({("at", "robo"): "cabinet"})
    plan = Plan.of(("open", "robo", "cabinet"), ("close", "robo", "cabinet"))
    assert ("opened", "cabinet") not in at_cabinet.values
    assert [f.code for f in check_symbolic(plan, task, at_cabinet).flags if f.code != Code.AFTER_GOAL] == [Code.REPEATED_STATE]


def test_ordered_subgoals_have_to_come_in_their_order(start: State) -> None:
    visits = [formula.Test(Call("at", (Const("robo"),)), "==", Const(x)) for x in ("table", "cabinet")]
    task = Task(start.objects, Goal(subgoals=tuple(visits)))
    right = Plan.of(("go", "robo", "table"), ("go", "robo", "cabinet"))
    wrong = Plan.of(("go", "robo", "cabinet"), ("go", "robo", "table"))
    assert check_symbolic(right, task, start).passed
    (reason,) = check_symbolic(wrong, task, start).reasons
    assert reason.code == Code.GOAL_NOT_REACHED
    assert "Subgoal 2" in reason.sentence


def test_progress_made_before_a_replan_counts(start: State) -> None:
    visits = [formula.Test(Call("at", (Const("robo"),)), "==", Const(x)) for x in ("table", "cabinet")]
    task = Task(start.objects, Goal(subgoals=tuple(visits)))
    first = run_symbolic(Plan.of(("go", "robo", "table")), task, start)
    now = State(start.objects, {a: v for a, v in first.values.items() if not a[0].startswith("$")}).with_({("at", "robo"): "counter"})
    rest = Plan.of(("go", "robo", "cabinet"))
    assert not check_symbolic(rest, task, now).passed
    assert check_symbolic(rest, task, now, task.monitors(first.values)).passed


def test_what_must_be_kept_is_kept(start: State) -> None:
    task = Task(start.objects, Goal(on("mug", "counter"), keep=(on("plate", "counter"),)))
    assert check_symbolic(FETCH, task, start).passed
    moved = Plan((Step("pick", ("robo", "left", "plate")), *FETCH.steps))
    (reason,) = check_symbolic(moved, task, start).reasons
    assert (reason.code, reason.step) == (Code.KEEP_BROKEN, 0)


def test_a_forbidden_step_is_refused_with_its_reason(with_safety, no_sharp_hand_over) -> None:
    state = with_safety(forbid=(no_sharp_hand_over,))
    task = Task(state.objects)
    assert check_symbolic(Plan.of(("pick", "robo", "left", "plate")), task, state).passed
    (reason,) = check_symbolic(Plan.of(("pick", "robo", "left", "knife")), task, state).reasons
    assert reason.code == Code.FORBIDDEN
    assert "sharp things stay" in reason.sentence


def test_no_go_places_and_limits(with_safety) -> None:
    state = with_safety(no_go=("table",))
    (reason,) = check_symbolic(Plan.of(("go", "robo", "table")), Task(state.objects), state).reasons
    assert reason.code == Code.NO_GO
    state = with_safety(limits={"speed": 0.3})
    (reason,) = check_symbolic(Plan.of(("go", "robo", "table")), Task(state.objects), state).reasons
    assert reason.code == Code.LIMIT
    assert check_symbolic(Plan.of(("go", "robo", "table")), Task(with_safety(limits={"speed": 0.4}).objects), state).passed


class TestPromises:
    OPEN = (("go", "robo", "cabinet"), ("open", "robo", "cabinet"))

    def test_kept_in_time(self, with_safety, close_soon) -> None:
        state = with_safety(rules=(close_soon,))
        plan = Plan.of(*self.OPEN, ("go", "robo", "cabinet"), ("close", "robo", "cabinet"))
        assert check_symbolic(plan, Task(state.objects), state).passed

    def test_one_step_late(self, with_safety, close_soon) -> None:
        state = with_safety(rules=(close_soon,))
        idle = ("go", "robo", "cabinet")
        plan = Plan.of(*self.OPEN, idle, idle, ("close", "robo", "cabinet"))
        (reason,) = check_symbolic(plan, Task(state.objects), state).reasons
        assert (reason.code, reason.step) == (Code.RULE_BROKEN, 3)

    def test_left_open_at_the_end(self, with_safety, close_soon) -> None:
        state = with_safety(rules=(close_soon,))
        (reason,) = check_symbolic(Plan.of(*self.OPEN), Task(state.objects), state).reasons
        assert reason.code == Code.OBLIGATION_OPEN

    def test_carried_over_a_replan(self, with_safety, close_soon) -> None:
        state = with_safety(rules=(close_soon,))
        task = Task(state.objects)
        first = run_symbolic(Plan.of(*self.OPEN, ("go", "robo", "cabinet")), task, state)
        now = State(state.objects, {a: v for a, v in first.values.items() if not a[0].startswith("$")})
        late = Plan.of(("go", "robo", "cabinet"), ("close", "robo", "cabinet"))
        assert check_symbolic(late, task, now).passed
        assert not check_symbolic(late, task, now, task.monitors(first.values)).passed


def test_before_wants_the_first_in_an_earlier_state(with_safety) -> None:
    opened = formula.Test(Call("opened", (Const("cabinet"),)), "==", Const(True))
    state = with_safety(rules=(Rule(RuleKind.BEFORE, formula.Test(Call("at", (Const("robo"),)), "==", Const("table")), opened),))
    task = Task(state.objects)
    direct = Plan.of(("go", "robo", "cabinet"), ("open", "robo", "cabinet"))
    (reason,) = check_symbolic(direct, task, state).reasons
    assert (reason.code, reason.step) == (Code.RULE_BROKEN, 1)
    assert check_symbolic(Plan((Step("go", ("robo", "table")), *direct.steps)), task, state).passed


def test_a_state_that_is_already_bad_is_not_the_plans_fault(with_safety) -> None:
    never = Rule(RuleKind.NEVER, Some("i", "item", And((formula.Test(Call("on", (Param("i"),)), "==", Const("table")),))))
    state = with_safety(rules=(never,))
    task = Task(state.objects)
    assert check_symbolic(Plan.of(("go", "robo", "table")), task, state).passed
    carry = Plan.of(("pick", "robo", "left", "plate"), ("go", "robo", "table"), ("place", "robo", "left", "plate", "table"))
    (reason,) = check_symbolic(carry, task, state).reasons
    assert (reason.code, reason.step) == (Code.RULE_BROKEN, 0)


def test_an_exclusion_holds_while_its_facts_do(start: State) -> None:
    excluded = Exclusions()
    excluded.add(Step("pick", ("robo", "left", "mug")), {("at", "robo"): "table"}, "It slipped.", "SLIPPED")
    task = Task(start.objects, None, excluded)
    (reason,) = check_symbolic(FETCH, task, start).reasons
    assert (reason.code, reason.step) == (Code.EXCLUDED, 1)
    moved = start.with_({("on", "mug"): "counter"})
    assert check_symbolic(Plan.of(("pick", "robo", "left", "mug")), task, moved).passed


def test_a_python_guard_adds_a_reason_and_a_broken_one_refuses(start: State) -> None:
    def make(hook):
        from dataclasses import replace

        d = start.objects.domain
        skills = {**d.skills, "go": replace(d.skills["go"], hook=hook)}
        fresh = type(d)(d.name, d.types, d.fluents, skills)
        return State(fresh.objects(*start.objects), start.values)

    def never(state: State, args) -> str | None:
        return f"the way to the {args['to']} is wet"

    def broken(state: State, args) -> str | None:
        raise ValueError("no map")

    plan = Plan.of(("go", "robo", "table"))
    for hook, words in ((never, "the way to the table is wet"), (broken, "no map")):
        state = make(hook)
        (reason,) = check_symbolic(plan, Task(state.objects), state).reasons
        assert reason.code == Code.HOOK
        assert words in reason.sentence
    calm = make(lambda state, args: None)
    assert check_symbolic(plan, Task(calm.objects), calm).passed
    pick = Plan.of(("pick", "robo", "left", "mug"))
    assert not check_symbolic(pick, Task(calm.objects), calm).passed


def test_not_is_part_of_the_goal_language(start: State) -> None:
    task = Task(start.objects, Goal(Not(on("mug", "table"))))
    assert not check_symbolic(Plan.of(("go", "robo", "table")), task, start).passed
    assert check_symbolic(Plan(FETCH.steps[:2]), task, start).passed


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (("fly", "robo"), Code.UNKNOWN_SKILL),
        (("go", "robo", "tabel"), Code.UNKNOWN_OBJECT),
        (("go", "robo", "mug"), Code.WRONG_TYPE),
        (("open", "robo", "cabinet"), Code.PRECONDITION),
    ],
)
def test_steps_are_counted_from_one_for_people(task: Task, start: State, second: tuple[str, ...], code: Code) -> None:
    (reason,) = check_symbolic(Plan.of(("go", "robo", "table"), second), task, start).reasons
    assert (reason.step, reason.code) == (1, code)
    assert reason.sentence.startswith("Step 2")


def test_flags_name_their_steps(start: State) -> None:
    here, there = ("go", "robo", "counter"), ("go", "robo", "table")
    flags = check_symbolic(Plan.of(there, there, here), Task(start.objects), start).flags
    assert [(f.code, f.step) for f in flags] == [(Code.NO_OP, 1), (Code.REPEATED_STATE, 2)]
    assert flags[0].sentence.startswith("Step 2, go(robo, table)")
    assert flags[1].sentence == "After step 3 everything is as it was at the start."
    again = check_symbolic(Plan.of(there, ("go", "robo", "cabinet"), there), Task(start.objects), start).flags
    assert again[0].sentence == "After step 3 everything is as it was after step 1."
