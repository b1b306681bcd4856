"""Kill and resume, a few points of it; `handrail eval kills` does two hundred."""

from __future__ import annotations

import pytest

from handrail.evaluate import kills
from handrail.evaluate.options import EvalOptions


@pytest.mark.slow
def test_a_few_points(monkeypatch):
    monkeypatch.setattr(kills, "_POINTS", (4, 4))
    body = kills.run(EvalOptions(quick=True, seed=3))
    # A kill may come after a quick run has ended, so not every point kills.
    assert body["points"] == 4 and body["kills"] >= 1
    assert body["odd"] == [] and body["done"] == 4
    assert body["repeated"] == body["twice"] == body["lost"] == body["replays_diverged"] == 0
    assert body["effects"] >= 4 * 7
