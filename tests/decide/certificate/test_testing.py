from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import testing
from handrail.errors import ConfigError

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_fixed_sequence(reference):
    for row in reference["fixed_sequence"]:
        assert testing.fixed_sequence(row["p"], row["delta"]) == row["rejected"]


@given(p_lists, st.floats(0.01, 0.5))
def test_agrees_with_mapie(p, delta):
    from mapie.risk_control import FWERFixedSequenceTesting, control_fwer

    ours = testing.fixed_sequence(p, delta)
    assert ours == control_fwer(np.array(p), delta, FWERFixedSequenceTesting()).tolist()
    assert testing.bonferroni(p, delta) == control_fwer(np.array(p), delta, "bonferroni").tolist()


@given(p_lists, st.floats(0.01, 0.5))
def test_a_graph_with_equal_edges_is_holm(p, delta):
    from mapie.risk_control import control_fwer

    n = len(p)
    edges = (np.ones((n, n)) - np.eye(n)) / max(1, n - 1)
    assert testing.graphical(p, np.full(n, 1 / n), edges, delta) == sorted(
        control_fwer(np.array(p), delta, "bonferroni_holm").tolist()
    )


@given(p_lists, st.floats(0.01, 0.5))
def test_a_chain_is_a_fixed_sequence(p, delta):
    weights, edges = testing.chain(len(p), [0])
    assert testing.graphical(p, weights, edges, delta) == testing.fixed_sequence(p, delta)


@given(p_lists, st.floats(0.01, 0.5))
def test_several_starts_accept_only_what_one_start_per_share_does(p, delta):
    n = len(p)
    starts = [list(range(i, n)) for i in range(0, n, max(1, n // 4))]
    accepted = testing.several_starts(p, starts, delta)
    assert all(p[i] <= delta / len(starts) for i in accepted)
    assert testing.several_starts(p, [list(range(n))], delta) == testing.fixed_sequence(p, delta)


@given(p_lists, st.floats(0.01, 0.5), st.randoms())
def test_order_of_settings_changes_power_only(p, delta, random):
    """Whatever the order, an accepted setting has p <= delta: a true null is accepted only by a small p."""
    order = list(range(len(p)))
    random.shuffle(order)
    assert all(p[i] <= delta for i in testing.several_starts(p, [order], delta))


def test_several_risks_take_the_largest():
    assert testing.several_risks([[0.01, 0.2], [0.03, 0.1]]).tolist() == [0.03, 0.2]


def test_bad_graphs_and_orders_are_refused():
    with pytest.raises(ConfigError, match="sum to at most 1"):
        testing.graphical([0.1, 0.1], [0.9, 0.9], np.zeros((2, 2)), 0.05)
    with pytest.raises(ConfigError, match="diagonal"):
        testing.graphical([0.1, 0.1], [0.5, 0.5], np.eye(2), 0.05)
    with pytest.raises(ConfigError, match="names setting 5"):
        testing.several_starts([0.1], [[5]], 0.05)
    with pytest.raises(ConfigError):
        testing.fixed_sequence([float("nan")], 0.05)


def test_family_wise_error_of_all_procedures():
    """20 true nulls exactly at the limit: any acceptance is false."""
    rng, delta, runs, m = np.random.default_rng(3), 0.1, 3000, 20
    p = rng.random((runs, m))
    starts = [list(range(i * 5, m)) for i in range(4)]
    weights, edges = testing.chain(m, [0, 5, 10, 15])
    ceiling = delta + 3 * np.sqrt(delta * (1 - delta) / runs)
    for name, accept in {
        "starts": lambda row: testing.several_starts(row, starts, delta),
        "graph": lambda row: testing.graphical(row, weights, edges, delta),
        "bonferroni": lambda row: testing.bonferroni(row, delta),
        "one start": lambda row: testing.fixed_sequence(row, delta),
    }.items():
        rate = np.mean([bool(accept(row)) for row in p])
        assert 0.05 < rate <= ceiling, name
    assert np.mean((p <= delta).any(axis=1)) > 0.8  # without correction nearly always false
