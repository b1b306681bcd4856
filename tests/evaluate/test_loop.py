"""The closed-loop evaluation counts what the world says, not what the executor claims."""

from __future__ import annotations

from collections import Counter

import pytest

from handrail.domain import Task
from handrail.evaluate import loop
from handrail.execute.budget import Ended
from handrail.execute.replan import PlannerFirst
from handrail.solve.astar import solve


@pytest.fixture(scope="module")
def case():
    (found,) = loop.cases("Bring me the bottle of water.")
    return found


@pytest.fixture(scope="module")
def plan(case):
    return solve(Task(case.state.objects, case.goal), case.state).plan


def test_without_failures_the_planners_plan_finishes(case, plan):
    got = loop.carry_out(case, plan, PlannerFirst(solve), 0.0, 1)
    assert got.ended is Ended.DONE and got.true and got.spent["replans"] == got.spent["failures"] == 0


def test_where_picking_always_fails_nothing_is_claimed(case, plan):
    got = loop.carry_out(case, plan, PlannerFirst(solve), 1.0, 1)
    assert got.ended is not Ended.DONE and not got.true and got.spent["replans"] >= 1


def test_half_of_the_failures_are_silent_and_together_they_are_as_many_as_said():
    from handrail.domain import Step
    from handrail.world.faults import Fault, Faults

    p = 0.5
    told, n = p / 2, 4000
    faults = Faults(slip=told, slips="pick*", liar=told / (1 - told), lies="pick*")
    pick, go = Step("pick", ("r", "h", "x")), Step("navigate_to", ("r", "x"))
    slips = [faults.strikes(3, Fault.SLIP, i, pick) for i in range(n)]
    lies = [faults.strikes(3, Fault.LIAR, i, pick) and not slips[i] for i in range(n)]
    assert abs(sum(slips) / n - 0.25) < 0.03 and abs(sum(lies) / n - 0.25) < 0.03
    assert not any(faults.strikes(3, f, i, go) for i in range(200) for f in (Fault.SLIP, Fault.LIAR))


def test_a_row_counts_wrong_claims(case, plan, monkeypatch):
    def claims(case, plan, replanner, p, seed):
        spent = {"cost": 1.0, "replans": 1, "retries": 0, "rejections": 0, "steps": 2}
        return loop.Carried(Ended.DONE, seed % 2 == 0, spent)

    monkeypatch.setattr(loop, "carry_out", claims)
    v = loop.Variant("m", "v", lambda c, n: plan, lambda c, n: PlannerFirst(solve))
    wrong: list = []
    row = loop._row(v, 0.5, [case], 10, 0, wrong, Counter())
    assert row["wrongly_done"] == 5 == len(wrong) and row["finished"] == 0.5 and row["replans"] == 1.0
    assert row["finished_low"] < 0.5 < row["finished_high"]


def test_a_model_without_a_plan_moves_nothing_and_is_handed_over(case):
    v = loop.Variant("m", "v", lambda c, n: None, lambda c, n: PlannerFirst(solve))
    row = loop._row(v, 0.5, [case], 5, 0, [], Counter())
    assert row["escalated"] == row["no_plan"] == 1.0 and row["finished"] == 0.0


def test_the_stand_in_makes_mistakes_that_are_counted_by_reason(case):
    v = loop._strong(loop._Planner(), PlannerFirst(solve), 0, itself=False)
    plans = [v.propose(case, n) for n in range(25)]
    assert any(p is not None for p in plans) and v.rejections
    assert set(v.rejections) <= {
        "UNKNOWN_SKILL",
        "PRECONDITION",
        "BAD_JSON",
        "GOAL_NOT_REACHED",
        "RULE_BROKEN",
        "WRONG_TYPE",
        "OBLIGATION_OPEN",
        "UNKNOWN_OBJECT",
        "FORBIDDEN",
        "EMPTY_PLAN",
        "NO_GO",
        "UNKNOWN_FACT",
    }
