"""The compiled twins do exactly what the plain ones do."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("numba")

from handrail.network.retrieve import kernels
from handrail.network.retrieve.incumbent import derives, extract, knuth, prune
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.reduce import reduce
from handrail.network.retrieve.search import solve

from ..nets import merged


def test_a_numba_that_does_not_load_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ImportError("numba needs an older numpy")

    monkeypatch.setattr(kernels, "compiled", broken)
    monkeypatch.delitem(sys.modules, "handrail.network.retrieve._compiled", raising=False)
    kernels._loads.cache_clear()
    assert not kernels.wanted(10_000)
    monkeypatch.undo()
    kernels._loads.cache_clear()
    assert kernels.wanted(10_000)


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    yield
    kernels.use(None)


@pytest.mark.slow
def test_compiled_and_plain_agree_to_the_last_bit() -> None:
    for seed in range(25):
        graph, start, goals = merged(seed, 4, 20 + seed)
        query = reduce(graph, start, goals)
        assert query is not None
        rng = random.Random(seed)
        for cost in (query.cost, [c * rng.uniform(0.7, 1.3) for c in query.cost]):
            results = []
            for compiled in (False, True):
                kernels.use(compiled)
                value, maker = knuth(query, cost)
                plan = extract(query, maker)
                assert plan is not None
                cut = lmcut(query, cost, zero=1e-9)
                results.append((value, maker, prune(query, plan), cut.bound, cut.cuts, cut.residual, cut.value))
            assert results[0] == results[1], seed
            assert derives(query, results[0][2])


@pytest.mark.slow
def test_large_networks_take_the_compiled_way_and_reach_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        graph, start, goals = merged(seed, 4, 30)
        kernels.use(False)
        plain = solve(graph, start, goals)
        kernels.use(True)
        monkeypatch.setattr(kernels, "LARGE", 10)
        large = solve(graph, start, goals)
        monkeypatch.undo()
        assert large.proved
        assert plain.cost == large.cost
        assert graph.executable(large.order or (), start, goals) == ""
