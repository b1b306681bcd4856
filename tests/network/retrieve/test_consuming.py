from __future__ import annotations

import pytest

pytest.importorskip("ortools")

from handrail.network.retrieve.consuming import replay, solve
from handrail.network.retrieve.hypergraph import Hypergraph

from ..nets import cheapest_firing, small


def test_optimum_equals_dijkstra_over_markings() -> None:
    compared = 0
    for seed in range(160):
        net = small(seed)
        graph, start, goals = net
        best = cheapest_firing(net)
        if best == "limit":
            continue
        answer = solve(graph, start, goals, 20)
        if best is None:
            assert answer.order is None, seed
            assert answer.status == "unreachable", seed
            continue
        compared += 1
        assert answer.status == "proved", seed
        assert answer.cost == answer.bound == best, seed
        assert replay(graph, answer.order or (), start, goals) == "", seed
    assert compared >= 100


def test_what_is_used_up_is_made_again_and_paid_again() -> None:
    # two cups of coffee from one pot each: 1 needs pot, 2 needs pot, goal needs both
    graph = Hypergraph.build([([0], [1]), ([1], [2]), ([1], [3]), ([2, 3], [4])], [10, 1, 1, 1])
    answer = solve(graph, {0}, [4])
    assert answer.cost == 23
    assert sorted(answer.order or ()) == [0, 0, 1, 2, 3]
    assert answer.copies == {0: 2}


def test_tools_return() -> None:
    # the knife (1) is made once and used twice; as food it would have to be made twice
    units = [([0], [1]), ([0, 1], [2]), ([0, 1], [3]), ([2, 3], [4])]
    graph = Hypergraph.build(units, [10, 1, 1, 1])
    assert solve(graph, {0}, [4]).cost == 23
    answer = solve(graph, {0}, [4], returning={1})
    assert answer.cost == 13
    assert replay(graph, answer.order or (), {0}, [4], returning={1}) == ""
    assert "none is left" in replay(graph, answer.order or (), {0}, [4])


def test_limited_stock_forces_the_dearer_way_or_none() -> None:
    graph = Hypergraph.build([([0], [1]), ([0], [2]), ([3], [2]), ([1, 2], [4])], [1, 1, 5, 1])
    assert solve(graph, {0, 3}, [4]).cost == 3
    assert solve(graph, {0, 3}, [4], counts={0: 1}).cost == 7
    assert solve(graph, {0}, [4], counts={0: 1}).status == "unreachable"


def test_catalysts_stay() -> None:
    graph = Hypergraph.build([([0], [1]), ([1, 0], [2, 1]), ([2, 1], [3])], [10, 1, 1])
    answer = solve(graph, {0}, [3])
    assert answer.cost == 12
