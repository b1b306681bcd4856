"""The estimate is a lower bound, never above the true cost to the goal, from any state."""

from __future__ import annotations

import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handrail.domain import State, Task
from handrail.solve.astar import relevant_model
from handrail.solve.lmcut import LmCut
from handrail.solve.model import SCALE, Model
from handrail.solve.program import Program
from handrail.solve.relaxed import Relaxed
from handrail.solve.steps import StepSource

from ..random_tasks import blind, every_step, random_task


def whole_model(task, values):
    source = StepSource(task, values)
    return Model(task, values, source.all_steps(), source.changing)


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_lower_bound(seed):
    drawn = random_task(seed, unknown=False)
    assume(drawn is not None)
    task, state = drawn
    truth = blind(task, state, limit=800)
    assume(truth != "limit")
    program = Program(relevant_model(task, task.start(state)))
    estimate = LmCut(Relaxed(program))
    found = estimate(program.start)
    if truth is None:
        return
    assert found is not None and found / SCALE <= truth + 1e-6
    plan = estimate.greedy(program.start)
    assert plan is not None


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_compact_states_run_like_the_operators(seed):
    """Along a random walk the compact program and the task's operators agree on what can run and where it leads."""
    drawn = random_task(seed)
    assume(drawn is not None)
    task, state = drawn
    values = task.start(state)
    program = Program(whole_model(task, values))
    compact, rng = program.start, random.Random(seed)
    by_step = {m.action.step: m for m in program.moves}
    for _ in range(8):
        assert program.at_goal(compact) == task.end.holds(values)
        able = []
        for step in every_step(task):
            can = task.operator(step).applicable(values)
            after = by_step[step].run(compact) if step in by_step else None
            assert (after is not None) == can, step
            if can:
                able.append((step, after))
        if not able:
            break
        step, compact = rng.choice(able)
        task.operator(step).apply(values)
        for atom, v in program.values(compact).items():
            if atom in program.index:
                assert values.get(atom, program.model.default(atom)) == v, atom


def test_a_goal_out_of_reach_has_no_estimate():
    drawn = next(d for s in range(100) if (d := random_task(s)) is not None)
    task, state = drawn
    from handrail.domain import Goal
    from handrail.domain.formula import FALSE

    task = Task(task.objects, Goal(FALSE))
    program = Program(whole_model(task, task.start(State(task.objects, state.values))))
    assert LmCut(Relaxed(program))(program.start) is None
