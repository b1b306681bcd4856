from __future__ import annotations

import pytest

from handrail.errors import ConfigError
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.progress import Effort
from handrail.network.retrieve.search import solve

from ..nets import brute, merged, small

FORCED = {
    "all": Effort(),
    "branch": Effort(stages=frozenset({"branch"}), fixing=False, ignore_bounds=True),
    "lp and mip": Effort(stages=frozenset({"lp", "mip"}), fixing=False, ignore_bounds=True),
    "mip": Effort(stages=frozenset({"mip"}), fixing=False, ignore_bounds=True),
    "cp-sat": Effort(stages=frozenset({"cp-sat"}), fixing=False, ignore_bounds=True),
}


@pytest.mark.parametrize("stages", FORCED)
def test_optimum_equals_brute_force_on_random_networks(stages: str) -> None:
    """>= 500 networks for the default; the later stages are forced on 130, because LM-cut settles small ones alone."""
    pytest.importorskip("highspy")
    pytest.importorskip("ortools")
    reached = 0
    for seed in range(540 if stages == "all" else 130):
        net = small(seed)
        graph, start, goals = net
        best = brute(net)
        answer = solve(graph, start, goals, FORCED[stages])
        assert (answer.order is None) == (best is None), seed
        assert answer.proved, seed
        if best is not None and answer.order is not None:
            reached += 1
            assert answer.cost == answer.bound == best, seed
            assert graph.executable(answer.order, start, goals) == "", seed
            assert graph.total(answer.order) == best, seed
    assert reached >= (400 if stages == "all" else 90)


@pytest.mark.parametrize("stages", ["branch", "cp-sat", "lp and mip"])
def test_stages_agree_on_merged_networks_with_cycles(stages: str) -> None:
    pytest.importorskip("highspy")
    pytest.importorskip("ortools")
    effort = Effort(scale=20, seconds=60, stages=FORCED[stages].stages)
    for seed in range(4):
        graph, start, goals = merged(seed, 4, 14)
        answer = solve(graph, start, goals, effort)
        assert answer.proved
        assert answer.cost == solve(graph, start, goals, Effort(seconds=60)).cost


def test_zero_cost_units_do_not_break_the_optimum() -> None:
    for seed in range(60):
        net = small(seed, (0, 0, 100, 200))
        graph, start, goals = net
        best = brute(net)
        answer = solve(graph, start, goals)
        assert (None if answer.order is None else answer.cost) == best, seed


def test_the_same_effort_gives_the_same_answer() -> None:
    graph, start, goals = merged(7, 4, 25)
    first, second = (solve(graph, start, goals, Effort(seconds=60)) for _ in range(2))
    assert first.order == second.order
    assert (first.cost, first.bound, first.by) == (second.cost, second.bound, second.by)


def test_an_interrupted_search_still_has_a_valid_plan_and_a_bound() -> None:
    graph, start, goals = merged(3, 5, 120)
    answer = solve(graph, start, goals, Effort(seconds=1e-6))
    assert answer.stopped == "time"
    assert answer.order is not None
    assert graph.executable(answer.order, start, goals) == ""
    assert 0 <= answer.bound <= answer.cost
    full = solve(graph, start, goals, Effort(seconds=60))
    assert answer.bound <= full.cost <= answer.cost


def test_a_goal_that_is_there_needs_nothing() -> None:
    graph = Hypergraph.build([([0], [1])], [5])
    answer = solve(graph, {0, 1}, [1])
    assert answer.order == ()
    assert (answer.cost, answer.proved) == (0, True)


def test_unreachable_goals_are_proved_so() -> None:
    graph = Hypergraph.build([([0], [1]), ([2], [3])], [5, 5])
    answer = solve(graph, {0}, [3])
    assert answer.order is None
    assert answer.proved


def test_shared_units_are_paid_once() -> None:
    # 3 and 4 both need 2; as separate trees unit 0 would be paid twice and the detour 5 would win.
    graph = Hypergraph.build([([0], [2]), ([2], [3]), ([2], [4]), ([3, 4], [5]), ([0], [5])], [100, 10, 10, 0, 200])
    answer = solve(graph, {0}, [5])
    assert answer.cost == 120
    assert set(answer.order or ()) == {0, 1, 2, 3}


def test_bad_budgets_and_costs_are_refused() -> None:
    with pytest.raises(ConfigError, match="positive"):
        Effort(scale=0)
    with pytest.raises(ConfigError, match="valid: branch"):
        Effort(stages=frozenset({"magic"}))
    with pytest.raises(ConfigError, match="non-negative"):
        Hypergraph.build([([0], [1])], [-1])
    with pytest.raises(ConfigError, match="1 units but 2 costs"):
        Hypergraph.build([([0], [1])], [1, 2])


def test_without_solvers_branch_and_bound_still_proves(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import importlib.util

    real_import, real_find = builtins.__import__, importlib.util.find_spec

    def no_import(name: str, *args: object, **kwargs: object) -> object:
        if name.partition(".")[0] in ("ortools", "highspy"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", no_import)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in ("ortools", "highspy") else real_find(name, *a)
    )
    for seed in range(40):
        net = small(seed)
        graph, start, goals = net
        answer = solve(graph, start, goals, Effort(ignore_bounds=True, fixing=False))
        best = brute(net)
        assert answer.proved
        assert (None if answer.order is None else answer.cost) == best
    graph, start, goals = merged(3, 5, 60)
    answer = solve(graph, start, goals, Effort(scale=0.05, seconds=30, ignore_bounds=True, fixing=False))
    assert answer.order is not None
    assert "pip install 'handrail[network]'" in answer.note
