from __future__ import annotations

import itertools

import pytest

pytest.importorskip("ortools")

from handrail.network.retrieve import cpsat
from handrail.network.retrieve.kbest import plans

from ..nets import merged, minimal_plans, small


@pytest.mark.parametrize("engine", ["cp-sat", "highs"])
def test_the_stream_is_every_minimal_plan_cheapest_first(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "highs":
        pytest.importorskip("highspy")
        monkeypatch.setattr(cpsat, "available", lambda: False)
    seen = 0
    for seed in range(120 if engine == "cp-sat" else 40):
        net = small(seed)
        graph, start, goals = net
        expected = minimal_plans(net)
        found = [(a.cost, tuple(sorted(a.order or ()))) for a in plans(graph, start, goals)]
        assert [c for c, _ in found] == [c for c, _ in expected], seed
        assert set(found) == set(expected), seed
        seen += len(expected)
    assert seen > (150 if engine == "cp-sat" else 50)


def test_the_stream_is_lazy_and_its_plans_run() -> None:
    graph, start, goals = merged(2, 3, 20)
    first = list(itertools.islice(plans(graph, start, goals), 5))
    assert len({frozenset(a.order or ()) for a in first}) == 5
    assert [a.cost for a in first] == sorted(a.cost for a in first)
    assert all(a.proved and not graph.executable(a.order or (), start, goals) for a in first)


def test_a_stream_that_runs_out_of_time_says_so() -> None:
    graph, start, goals = merged(3, 5, 120)
    last = list(itertools.islice(plans(graph, start, goals, seconds=1e-9), 3))[-1]
    assert last.order is None
    assert not last.proved
    assert last.stopped == "time"
