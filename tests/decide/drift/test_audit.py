from __future__ import annotations

import numpy as np
import pytest

from handrail.decide.drift import AuditPlan, CheckQuestions, wrong_answer_bound
from handrail.errors import ConfigError


def test_all_of_the_first_tasks_then_the_share():
    plan = AuditPlan("seed", 0.1, first=60)
    assert all(plan.audited(i) for i in range(1, 61))
    share = np.mean([plan.audited(i) for i in range(61, 20_061)])
    assert abs(share - 0.1) < 3 * np.sqrt(0.09 / 20_000)


def test_the_draw_is_the_same_each_time_and_differs_by_seed():
    picks = [[AuditPlan(s, 0.5, 0).audited(i) for i in range(200)] for s in ("a", "a", "b")]
    assert picks[0] == picks[1] != picks[2]
    checks = [CheckQuestions("a", 0.5).due(i) for i in range(200)]
    assert checks != picks[0]  # another purpose draws anew


def test_check_questions_come_at_their_share():
    share = np.mean([CheckQuestions("s").due(i) for i in range(20_000)])
    assert abs(share - 0.05) < 3 * np.sqrt(0.0475 / 20_000)


def test_bound_of_wrong_answers():
    assert wrong_answer_bound(0, 150) == pytest.approx(0.0198, abs=1e-4)
    assert wrong_answer_bound(2, 500) == pytest.approx(0.0125, abs=1e-4)
    assert wrong_answer_bound(10, 500) == pytest.approx(0.034, abs=5e-4)
    assert wrong_answer_bound(0, 0) == 1.0


def test_shares_outside_are_refused():
    with pytest.raises(ConfigError):
        AuditPlan("s", 0.0)
    with pytest.raises(ConfigError):
        CheckQuestions("s", 1.0)
