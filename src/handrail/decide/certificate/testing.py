"""Which settings may be accepted: tests of many settings with one chance of error for all of them together.

Each procedure controls the family-wise error rate: the chance that *any* accepted setting breaks *any* limit is
at most delta. So any choice among the accepted ones (for instance the one that asks least) is covered too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.decide.certificate.binomial import check_share
from handrail.errors import ConfigError


def _p(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ConfigError("p-values must be one list of numbers in [0, 1]")
    return p


def several_risks(p_per_risk: ArrayLike) -> NDArray[np.float64]:
    """One p-value for "some limit is broken": the largest of the risks' (intersection-union, no price).

    Args:
        p_per_risk: shape (risks, ...).
    """
    return np.asarray(np.max(np.asarray(p_per_risk, dtype=np.float64), axis=0), dtype=np.float64)


def fixed_sequence(p_values: ArrayLike, delta: float) -> list[int]:
    """Accept in the given order at full `delta`, stop at the first p-value above it."""
    p = _p(p_values)
    check_share("delta", delta)
    above = np.flatnonzero(p > delta)
    return list(range(int(above[0]) if above.size else p.size))


def several_starts(p_values: ArrayLike, starts: Sequence[Sequence[int]], delta: float) -> list[int]:
    """Fixed-sequence tests along several orders, each at delta / number of orders; the accepted, sorted.

    One order can die on its first setting when the simulator that made it was wrong about it; four rarely do.
    """
    p = _p(p_values)
    check_share("delta", delta)
    accepted: set[int] = set()
    for order in starts:
        index = np.asarray(order, dtype=int)
        if index.size and (index.min() < 0 or index.max() >= p.size):
            raise ConfigError(f"an order names setting {index.max()}, but there are {p.size} settings")
        accepted.update(int(index[i]) for i in fixed_sequence(p[index], delta / len(starts)))
    return sorted(accepted)


def bonferroni(p_values: ArrayLike, delta: float) -> list[int]:
    """Accept every setting whose p-value is at most delta / number of settings."""
    p = _p(p_values)
    check_share("delta", delta)
    return [int(i) for i in np.flatnonzero(p <= delta / max(1, p.size))]


def graphical(p_values: ArrayLike, weights: ArrayLike, edges: ArrayLike, delta: float) -> list[int]:
    """Sequentially rejective graphical test (Bretz, Maurer, Brannath, Posch 2009, algorithm 1).

    Args:
        p_values: one per setting, (n,).
        weights: share of `delta` with which each setting starts, (n,), not negative, summing to at most 1.
        edges: where an accepted setting's level goes, (n, n), rows summing to at most 1, diagonal zero.
        delta: level for the whole family.

    Raises:
        ConfigError: the graph breaks one of these conditions.
    """
    p = _p(p_values)
    check_share("delta", delta)
    w, g = np.array(weights, dtype=np.float64), np.array(edges, dtype=np.float64)
    n = p.size
    if w.shape != (n,) or g.shape != (n, n):
        raise ConfigError(f"{n} settings need {n} weights and {n} x {n} edges, got {w.shape} and {g.shape}")
    tolerance = 1e-9
    if np.any(w < 0) or w.sum() > 1 + tolerance:
        raise ConfigError("the starting weights must not be negative and sum to at most 1")
    if np.any(g < 0) or np.any(g.sum(axis=1) > 1 + tolerance) or np.any(np.diagonal(g) != 0):
        raise ConfigError("edges must not be negative, each row must sum to at most 1, the diagonal must be zero")
    alive = np.ones(n, dtype=bool)
    while True:
        passing = np.flatnonzero(alive & (w > 0) & (p <= w * delta))
        if not passing.size:
            return [int(i) for i in np.flatnonzero(~alive)]
        j = int(passing[0])
        alive[j] = False
        w = np.where(alive, w + w[j] * g[j], 0.0)
        loop = g[:, j] * g[j, :]
        numerator = g + np.outer(g[:, j], g[j, :])
        with np.errstate(divide="ignore", invalid="ignore"):
            updated = np.where(loop[:, None] < 1, numerator / (1 - loop[:, None]), 0.0)
        g = np.where(alive[:, None] & alive[None, :], updated, 0.0)
        np.fill_diagonal(g, 0.0)


def chain(size: int, starts: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and edges of a graph that walks the list onwards from each of `starts`, passing its whole level on."""
    w, g = np.zeros(size), np.zeros((size, size))
    for s in starts:
        w[s] += 1 / len(starts)
    for i in range(size - 1):
        g[i, i + 1] = 1.0
    return w, g
