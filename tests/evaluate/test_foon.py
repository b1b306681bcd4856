"""The FOON evaluation on the recorded files, in its quick form."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.evaluate.foon import run
from handrail.evaluate.options import EvalOptions


@pytest.mark.data
@pytest.mark.slow
def test_quick_run_proves_and_replays_every_goal(data_dir: Path) -> None:
    pytest.importorskip("ortools")
    result = run(EvalOptions(data=data_dir, quick=True))
    assert result["files"] == 111
    assert result["units"] == 2380
    assert result["goals"] == result["proved"] == result["valid"] == 12
    assert result["strict"]["proved"] == 12
    assert result["consuming"]["valid"] == 12
    assert result["paper_search"]["paths"] > result["paper_search"]["valid"]
    assert {"repairs", "load_s", "median_ms", "worst_s", "nodes", "motions"} <= result.keys()
    assert result["differences_from"]
