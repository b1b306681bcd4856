from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.conformal import threshold
from handrail.decide.weighted import effective_size, weighted_threshold
from handrail.errors import ConfigError


@given(st.lists(st.floats(0, 1), min_size=1, max_size=80), st.integers(1, 99), st.floats(0.01, 50))
def test_equal_weights_give_the_marginal_threshold(scores, percent, weight):
    eps = percent / 100
    assert weighted_threshold(scores, [weight] * len(scores), weight, eps) == threshold(scores, eps)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=30), st.integers(1, 99))
def test_an_integer_weight_counts_like_copies(pairs, percent):
    scores, weights = zip(*pairs, strict=True)
    copies = [s for s, w in pairs for _ in range(w)]
    assert weighted_threshold(scores, weights, 1, percent / 100) == threshold(copies, percent / 100)


def test_the_new_case_alone_may_weigh_too_much():
    assert weighted_threshold([0.1, 0.2, 0.3], [1, 1, 1], 10, 0.2) == math.inf


@pytest.mark.parametrize(
    ("weights", "new"), [([1, 1], 1), ([1, -1, 1], 1), ([0, 0, 0], 1), ([1, math.nan, 1], 1), ([1, 1, 1], -1), ([1, 1, 1], math.nan)]
)
def test_bad_weights(weights, new):
    with pytest.raises(ConfigError):
        weighted_threshold([0.1, 0.2, 0.3], weights, new, 0.2)


def test_known_shift_keeps_its_level():
    """Two kinds of request, one rare in calibration and common in use: weights restore coverage, no weights miss it."""
    rng = np.random.default_rng(3)
    eps, runs, n = 0.2, 1500, 120
    plain, weighted = [], []
    ratio = {0: 0.3 / 0.8, 1: 0.7 / 0.2}
    for _ in range(runs):
        kind = (rng.random(n) < 0.2).astype(int)
        scores = np.where(kind, rng.beta(4, 2, n), rng.beta(2, 4, n))
        new = int(rng.random() < 0.7)
        score = rng.beta(4, 2) if new else rng.beta(2, 4)
        plain.append(score <= threshold(scores, eps))
        weighted.append(score <= weighted_threshold(scores, [ratio[k] for k in kind], ratio[new], eps))
    error = 3 * math.sqrt(eps * (1 - eps) / runs)
    assert np.mean(weighted) >= 1 - eps - error
    assert np.mean(plain) < 1 - eps - error


def test_effective_size():
    assert effective_size([1, 1, 1, 1]) == 4
    assert effective_size([1, 0, 0, 0]) == 1
