"""The order of tests, from simulated episodes: it decides how often a certificate is found, never whether it is true.

The orders run along the Pareto front of (how surely both limits are met, how little help is asked): safest first,
least help last. Several fronts, each from a more pessimistic reading of the simulator, are several starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.decide.certificate.binomial import p_value
from handrail.decide.certificate.declaration import Limits
from handrail.errors import ConfigError


def front(doubt: ArrayLike, help_share: ArrayLike) -> list[int]:
    """Indices on the Pareto front of (doubt, help), both to be small, from least doubt to least help."""
    d, h = np.asarray(doubt, dtype=np.float64), np.asarray(help_share, dtype=np.float64)
    path: list[int] = []
    least = np.inf
    for i in np.lexsort((h, d)):
        if h[i] < least:
            path.append(int(i))
            least = float(h[i])
    return path


def doubt(silent: ArrayLike, task: ArrayLike, limits: Limits, episodes: int, worse: float = 1.0) -> NDArray[np.float64]:
    """How doubtful it is that a setting passes: the larger of both p-values at its expected losses.

    Args:
        silent: silent risk per setting in the simulator.
        task: task risk per setting in the simulator.
        limits: the accepted risks.
        episodes: planned number of real episodes.
        worse: factor by which reality may be worse than the simulator.
    """
    values = []
    for risk, limit in ((silent, limits.silent), (task, limits.task)):
        expected = np.minimum(1.0, worse * np.asarray(risk, dtype=np.float64))
        k = np.minimum(episodes, np.round(expected * episodes)).astype(int)
        # The excess over the limit is added so that settings whose p-value underflows to 0 or 1 stay ordered.
        values.append(p_value(k, episodes, limit) + expected / limit)
    return np.asarray(np.maximum(*values), dtype=np.float64)


def starts_from_simulator(
    silent: ArrayLike,
    task: ArrayLike,
    help_share: ArrayLike,
    limits: Limits,
    episodes: int,
    starts: int = 4,
    worst: float = 2.0,
) -> tuple[tuple[int, ...], ...]:
    """Orders for `Declaration.starts`, each from a reading of the simulator that is 1 .. `worst` times worse.

    Args:
        silent: silent risk per setting in the simulator, (settings,).
        task: task risk per setting.
        help_share: share of episodes with help, per setting.
        limits: the accepted risks.
        episodes: planned number of real episodes.
        starts: how many orders.
        worst: how much worse reality may be in the most pessimistic of them.

    Raises:
        ConfigError: fewer than one start, or `worst` below 1.
    """
    if starts < 1 or worst < 1:
        raise ConfigError(f"need at least one start and a factor of at least 1, got {starts} and {worst}")
    h = np.asarray(help_share, dtype=np.float64)
    path = front(doubt(silent, task, limits, episodes), h)
    return spread(path, starts)


def spread(path: Sequence[int], starts: int) -> tuple[tuple[int, ...], ...]:
    """The same path entered at `starts` evenly spaced places; each order runs from its place to the end."""
    places = sorted({round(i * len(path) / starts) for i in range(starts)} - {len(path)})
    return tuple(tuple(path[p:]) for p in places)
