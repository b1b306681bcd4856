from __future__ import annotations

import itertools

import pytest

pytest.importorskip("ortools")

from handrail.errors import ConfigError
from handrail.network.retrieve.assisted import solve
from handrail.network.retrieve.hypergraph import Hypergraph

from ..nets import small


def test_assistance_equals_brute_force() -> None:
    reached = 0
    for seed in range(40):
        graph, start, goals = small(seed)
        if len(graph.ins) > 8:
            continue
        person = [20] * len(graph.ins)
        for steps in (0, 1, 2):
            best: int | None = None
            for size in range(len(graph.ins) + 1):
                for units in itertools.combinations(range(len(graph.ins)), size):
                    if set(goals) <= graph.fire(units, start)[0]:
                        saved = sorted((max(0, graph.cost[u] - 20) for u in units), reverse=True)[:steps]
                        cost = graph.total(units) - sum(saved)
                        best = cost if best is None or cost < best else best
            answer = solve(graph, start, goals, steps, person)
            assert answer.proved
            if best is None:
                assert answer.order is None
            else:
                reached += 1
                assert answer.cost == best, (seed, steps)
                assert len(answer.person) <= steps
                assert graph.executable(answer.order or (), start, goals) == ""
    assert reached > 30


def test_a_negative_number_of_steps_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 or more"):
        solve(Hypergraph.build([([0], [1])], [1]), {0}, [1], -1, [1])
