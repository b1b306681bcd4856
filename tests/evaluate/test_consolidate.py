"""Parts of the consolidation evaluation on small inputs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from handrail.domain import Step
from handrail.evaluate import consolidate_plans, consolidate_recipes
from handrail.evaluate.consolidate_domains import spoiled
from handrail.evaluate.options import EvalOptions

PLAN = tuple(Step("s", (str(k),)) for k in range(40))


def test_spoiling_is_seeded_and_leaves_a_plan_alone_at_rate_0() -> None:
    pool = list(PLAN)
    assert spoiled(PLAN, pool, random.Random(1), 0.0) == PLAN
    first, again = (spoiled(PLAN, pool, random.Random(1)) for _ in range(2))
    assert first == again != PLAN


@pytest.mark.data
@pytest.mark.slow
def test_recorded_plans_merged_solve_more_than_any_single(data_dir: Path) -> None:
    result = consolidate_plans.run(EvalOptions(data=data_dir, quick=True))
    assert result["with_planner"] == 1.0
    assert result["merged"] >= result["any_valid"] >= max(result["single"].values())
    assert result["cost_ratio"] <= result["best_single_cost_ratio"]


@pytest.mark.data
@pytest.mark.slow
def test_recorded_recipes(data_dir: Path) -> None:
    result = consolidate_recipes.run(EvalOptions(data=data_dir, quick=True))
    rows = result["recipes"]
    assert rows["2"]["valid"] >= rows["1"]["valid"]
    assert result["wrong_units"]["missing object"] > 0
    assert "no person marked" in result["accuracy"]["marked_by"]
