from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import Limits, starts_from_simulator
from handrail.decide.certificate.order import doubt, front, spread
from handrail.errors import ConfigError

LIMITS = Limits(0.08, 0.2)
points = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30)


@given(points)
def test_a_front_is_what_nothing_dominates(pairs):
    d, h = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    path = front(d, h)
    assert np.all(np.diff(d[path]) >= 0) and np.all(np.diff(h[path]) < 0)
    for i in range(len(pairs)):
        better = (d <= d[i]) & (h <= h[i]) & ((d < d[i]) | (h < h[i]))
        if not better.any():
            assert any(d[j] == d[i] and h[j] == h[i] for j in path)


@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 1000))
def test_starts_are_orders_of_known_settings(n, starts, seed):
    rng = np.random.default_rng(seed)
    found = starts_from_simulator(rng.random(n) * 0.2, rng.random(n) * 0.4, rng.random(n), LIMITS, 400, starts)
    assert 1 <= len(found) <= starts
    assert all(order and len(set(order)) == len(order) and max(order) < n for order in found)


def test_safest_first():
    order = starts_from_simulator([0.01, 0.04, 0.2], [0.05, 0.1, 0.3], [0.9, 0.5, 0.1], LIMITS, 400, 1)[0]
    assert order == (0, 1, 2)


def test_tilting_doubts_silent_failure_more():
    plain = doubt([0.05, 0.01], [0.05, 0.15], LIMITS, 400)
    tilted = doubt([0.05, 0.01], [0.05, 0.15], LIMITS, 400, tilt=2.0)
    assert plain[0] < plain[1] and tilted[0] > tilted[1]


def test_no_start_is_refused():
    with pytest.raises(ConfigError):
        starts_from_simulator([0.1], [0.1], [0.1], LIMITS, 400, 0)


@given(st.integers(1, 50), st.integers(1, 8))
def test_without_a_simulator_one_order_is_entered_at_several_places(n, starts):
    found = spread(list(range(n)), starts)
    assert found[0] == tuple(range(n))
    assert 1 <= len(found) <= starts and all(order[-1] == n - 1 for order in found)
