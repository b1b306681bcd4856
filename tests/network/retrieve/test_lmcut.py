"""What everything else rests on: bounds, landmarks and reductions against enumeration."""

from __future__ import annotations

import itertools
import random

from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import ban_one, cheapest_tree_plan, derives, prune
from handrail.network.retrieve.lmcut import INFINITE, lmcut
from handrail.network.retrieve.reduce import Reduced, ceil_to, reduce
from handrail.network.retrieve.relaxation import Rows
from handrail.network.retrieve.separate import by_flow, for_integer, minimal_landmark, supporters

from ..nets import brute, minimal_plans, small


def plans_of(query: Reduced) -> list[set[int]]:
    """Every set of reduced units that makes the goal."""
    units = range(len(query.ins) - 1)
    return [
        {*chosen, query.last}
        for size in range(len(units) + 1)
        for chosen in itertools.combinations(units, size)
        if derives(query, {*chosen, query.last})
    ]


def queries(seeds: range, **options: bool) -> list[tuple[int, Reduced]]:
    found = []
    for seed in seeds:
        graph, start, goals = small(seed)
        query = reduce(graph, start, goals, **options)  # type: ignore[arg-type]
        if query is not None and len(query.ins) > 2:
            found.append((seed, query))
    return found


def test_the_bound_is_admissible_and_every_cut_is_a_landmark() -> None:
    checked = 0
    for seed, query in queries(range(80)):
        cuts = lmcut(query, query.cost)
        plans = plans_of(query)
        assert cuts.bound <= min(query.total(p) for p in plans), seed
        for cut in cuts.cuts:
            assert all(p & set(cut) for p in plans), seed
            checked += 1
    assert checked > 40


def test_residual_values_bound_every_plan_that_uses_a_unit() -> None:
    """The rule by which units are removed."""
    for seed, query in queries(range(60)):
        cuts = lmcut(query, query.cost)
        minimal = [p for p in plans_of(query) if prune(query, p) == p]
        for plan in minimal:
            for u in plan:
                least = cuts.bound + cuts.residual[u] + max(cuts.value[i] for i in query.ins[u])
                assert query.total(plan) >= least - 1e-9, seed


def test_the_cuts_pay_with_the_units_own_costs() -> None:
    for seed, query in queries(range(40)):
        cuts = lmcut(query, query.cost)
        assert all(-1e-9 <= r <= c for r, c in zip(cuts.residual, query.cost, strict=True)), seed


def test_limits_stop_lmcut_with_a_valid_bound() -> None:
    for _, query in queries(range(40)):
        full, one = lmcut(query, query.cost), lmcut(query, query.cost, limit=1)
        assert one.bound <= full.bound
        assert len(one.cuts) <= 1
        banned: list[float] = [INFINITE] * len(query.ins)
        assert lmcut(query, banned).bound == INFINITE


def test_reduction_keeps_the_optimum_and_without_dominance_all_minimal_plans() -> None:
    for seed in range(120):
        net = small(seed)
        graph, start, goals = net
        best = brute(net)
        for options in ({}, {"dominance": False}, {"achievers": False}, {"achievers": False, "dominance": False}):
            query = reduce(graph, start, goals, **options)
            assert (query is None) == (best is None), seed
            if query is not None and len(query.ins) <= 10:
                assert min(query.total(p) for p in plans_of(query)) == best, (seed, options)
        query = reduce(graph, start, goals, dominance=False)
        if query is not None:
            kept = {frozenset(query.orig)}
            assert all(set(p) <= set(next(iter(kept))) for _, p in minimal_plans(net)), seed


def test_incumbents_are_minimal_plans_and_local_search_never_makes_them_dearer() -> None:
    for seed, query in queries(range(80)):
        plan = cheapest_tree_plan(query)
        assert plan is not None
        assert derives(query, plan)
        assert all(not derives(query, plan - {u}) for u in plan if query.orig[u] >= 0), seed
        better = ban_one(query, plan, random.Random(0), 20, lambda: False)
        assert derives(query, better)
        assert query.total(better) <= query.total(plan)


def test_every_minimal_plan_satisfies_the_rows() -> None:
    for seed, query in queries(range(40), dominance=False):
        rows = Rows(query)
        for plan in (p for p in plans_of(query) if prune(query, p) == p):
            point = rows.point(plan)
            assert {u for u in range(len(query.ins)) if point[u]} == plan, seed
            for columns, values, low, high in zip(rows.columns, rows.values, rows.low, rows.high, strict=True):
                total = sum(point[c] * v for c, v in zip(columns, values, strict=True))
                assert low - 1e-9 <= total <= high + 1e-9, seed


def test_separated_rows_are_landmarks_of_their_node() -> None:
    rng = random.Random(0)
    rows = 0
    for seed, query in queries(range(60), dominance=False):
        plans = [p for p in plans_of(query) if prune(query, p) == p]
        x = [rng.random() * 0.5 for _ in query.ins]
        z = [1.0] * query.nodes
        points = [Rows(query).point(p) for p in plans]
        for mode in ("hmax", "made", "random"):
            chosen = supporters(query, x, z, mode, rng)
            for row in by_flow(query, x, z, chosen, range(1, query.nodes)):
                rows += 1
                for plan, point in zip(plans, points, strict=True):
                    made = row.node < 0 or point[len(query.ins) + row.node]
                    assert not made or plan & set(row.units), seed
        for plan in plans:
            missing = plan - {max(plan - {query.last}, default=query.last)}
            if missing != plan and not derives(query, missing):
                for row in for_integer(query, missing, rng):
                    rows += 1
                    assert not set(row.units) & missing
                    assert all(p & set(row.units) for p in plans), seed
    assert rows > 100


def test_a_minimal_landmark_loses_its_force_without_any_of_its_units() -> None:
    for _, query in queries(range(60)):
        others = [u for u in range(len(query.ins)) if u != query.last]
        cut = minimal_landmark(query, {query.last}, others)
        for u in cut:
            rest = {w for w in range(len(query.ins)) if w not in cut} | {u}
            assert derives(query, rest)


def test_bounds_are_rounded_up_to_the_grain_of_the_costs() -> None:
    assert [ceil_to(v, 50) for v in (0, 1, 49.9999999, 50, 50.0000001, 51)] == [0, 50, 50, 50, 50, 100]


def test_re_pricing_shares_the_index() -> None:
    graph = Hypergraph.build([([0], [1]), ([1, 2], [2, 3])], [1, 2])
    again = graph.priced([3, 4])
    assert again.producers is graph.producers
    assert (graph.outs[1], graph.kept[1]) == ((3,), (2,))
    assert again.total([0, 1]) == 7
    assert graph.executable([1], {0, 2}, [3]) == "step 1 (unit 1) needs node 1, which is not there yet"
    assert graph.executable([0], {0}, [3]) == "goal node 3 is not made"
