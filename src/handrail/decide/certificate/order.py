"""The order of tests, from simulated episodes: it decides how often a certificate is found, never whether it is true.

The orders run along the Pareto front of (how surely both limits are met, how little help is asked): safest first,
least help last. Several starts keep one wrong first setting from ending the whole search.
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


def doubt(silent: ArrayLike, task: ArrayLike, limits: Limits, episodes: int, tilt: float = 1.0) -> NDArray[np.float64]:
    """How doubtful it is that a setting passes: the larger of both p-values at its expected losses.

    Args:
        silent: silent risk per setting in the simulator.
        task: task risk per setting in the simulator.
        limits: the accepted risks.
        episodes: planned number of real episodes.
        tilt: factor by which silent failure may be worse in reality: simulated verifiers are seldom fooled enough.
    """
    values = []
    for risk, limit, factor in ((silent, limits.silent, tilt), (task, limits.task, 1.0)):
        expected = np.minimum(1.0, factor * np.asarray(risk, dtype=np.float64))
        k = np.minimum(episodes, np.round(expected * episodes)).astype(int)
        # The share of the limit is added so that settings whose p-value underflows to 0 stay ordered.
        values.append(p_value(k, episodes, limit) + expected / limit)
    return np.asarray(np.maximum(*values), dtype=np.float64)


def starts_from_simulator(
    silent: ArrayLike,
    task: ArrayLike,
    help_share: ArrayLike,
    limits: Limits,
    episodes: int,
    starts: int = 4,
) -> tuple[tuple[int, ...], ...]:
    """Orders for `Declaration.starts`.

    One half are whole fronts, read from the simulator as it is and with silent failure 1.5, 2.25, ... times worse;
    the other half enter the first front further along. In the symbolic cells of `handrail eval task` this found as
    many certificates as four entries into one front where the simulator was about right, and five times as many
    where hard objects fooled the verifier and the simulator did not know it.

    Args:
        silent: silent risk per setting in the simulator, (settings,).
        task: task risk per setting.
        help_share: share of episodes with help, per setting.
        limits: the accepted risks.
        episodes: planned number of real episodes.
        starts: how many orders, at least 1.

    Raises:
        ConfigError: fewer than one start.
    """
    if starts < 1:
        raise ConfigError(f"need at least one start, got {starts}")
    h = np.asarray(help_share, dtype=np.float64)
    fronts = (starts + 1) // 2
    orders = [tuple(front(doubt(silent, task, limits, episodes, 1.5**i), h)) for i in range(fronts)]
    path = orders[0]
    entries = [path[p:] for p in sorted({round((i + 1) * len(path) / starts) for i in range(starts - fronts)})]
    return tuple(dict.fromkeys([*orders, *(e for e in entries if e)]))


def spread(path: Sequence[int], starts: int) -> tuple[tuple[int, ...], ...]:
    """One order entered at `starts` evenly spaced places; each runs on to its end. For use without a simulator."""
    places = sorted({round(i * len(path) / starts) for i in range(starts)} - {len(path)})
    return tuple(tuple(path[p:]) for p in places)
