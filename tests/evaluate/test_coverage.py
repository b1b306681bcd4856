from __future__ import annotations

import numpy as np
import pytest

from handrail.evaluate import coverage
from handrail.evaluate.options import EvalOptions


@pytest.fixture(scope="module")
def result():
    return coverage.run(EvalOptions(quick=True, seed=3))


def test_marginal_coverage_is_the_laws(result):
    assert len(result["marginal"]) == len(coverage.CELLS)
    for row in result["marginal"]:
        assert abs(row["mean"] - row["expected"]) <= 4 * row["mc_error"]
        assert 0.3 < row["below_target"] < 0.6


def test_conditional_misses_stay_below_delta(result):
    for row in result["conditional"]:
        assert row["miss_rate"] <= row["delta"] + 3 * row["mc_error"]
        assert row["mean"] > 1 - row["epsilon"]


def test_episodes_at_target_where_the_naive_threshold_is_not(result):
    rows = {r["steps"]: r for r in result["episodes"]}
    assert set(rows) == set(range(1, 9))
    for row in rows.values():
        assert abs(row["sequence"] - row["target"]) < 4 * row["mc_error"] + 0.003
    assert rows[8]["naive"] < 0.32 < rows[5]["naive"]


def test_groups_at_target_where_the_pooled_threshold_is_not(result):
    for row in result["groups"]:
        assert abs(row["coverage"] - row["expected"]) <= 4 * row["mc_error"]
    hard = next(r for r in result["groups"] if r["group"] == "hard")
    assert hard["pooled"] < 0.6


def test_audits_are_unbiased_and_shortcuts_are_not(result):
    rows = {r["way"]: r for r in result["audits"]["rows"]}
    target = result["audits"]["target"]
    assert abs(rows["audits, weighted"]["coverage"] - target) < 3 * rows["audits, weighted"]["mc_error"] + 0.005
    for biased in ("asked only", "silence taken for right"):
        assert rows[biased]["coverage"] < target - 5 * rows[biased]["mc_error"]


def test_seeds():
    again = coverage.marginal(np.random.default_rng(1), 50)
    assert again == coverage.marginal(np.random.default_rng(1), 50) != coverage.marginal(np.random.default_rng(2), 50)
