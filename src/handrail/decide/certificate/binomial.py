"""Exact binomial tests of "the risk is at most the limit", and how many episodes they need.

A risk is the chance that an episode counts as a loss; a limit is the largest risk the user accepts. Every
p-value here is for the null hypothesis *risk > limit*, so a small p-value speaks for the robot.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.errors import ConfigError
from handrail.numbers import upper_bound

__all__ = [
    "conditional_upper_bound",
    "hoeffding_bentkus",
    "kmax",
    "lower_bound",
    "minimum_episodes",
    "p_value",
    "power",
    "required_episodes",
    "upper_bound",
]


def check_share(name: str, value: float) -> float:
    """`value` when it lies strictly between 0 and 1.

    Raises:
        ConfigError: it does not (NaN included).
    """
    if not 0 < value < 1:
        raise ConfigError(f"{name} must lie strictly between 0 and 1, got {value}")
    return float(value)


def p_value(losses: ArrayLike, episodes: int, limit: float) -> NDArray[np.float64]:
    """P(Bin(episodes, limit) <= losses): super-uniform whenever the true risk exceeds `limit`.

    Preferred to Hoeffding-Bentkus for 0/1 losses, which gives away up to a factor e.

    Args:
        losses: number of lost episodes, any shape, each 0..episodes.
        episodes: number of episodes, at least 1.
        limit: the largest accepted risk, in (0, 1).

    Returns:
        p-values in the shape of `losses`.

    Raises:
        ConfigError: a count or the limit is out of range.
    """
    from scipy.stats import binom

    k = np.asarray(losses)
    check_share("limit", limit)
    if episodes < 1 or np.any(k < 0) or np.any(k > episodes):
        raise ConfigError(f"need 0 <= losses <= episodes and at least one episode, got {losses!r} of {episodes}")
    return np.asarray(binom.cdf(k, episodes, limit), dtype=np.float64)


def hoeffding_bentkus(mean_loss: ArrayLike, episodes: int, limit: float) -> NDArray[np.float64]:
    """Hoeffding-Bentkus p-value for losses in [0, 1] (Bates et al. 2021; Learn then Test, section 3.2).

    Used where a loss is not 0/1, here the mean of a cluster of episodes.

    Args:
        mean_loss: mean loss over `episodes` independent units, any shape, in [0, 1].
        episodes: number of independent units.
        limit: the largest accepted risk, in (0, 1).

    Raises:
        ConfigError: a value is out of range.
    """
    from scipy.stats import binom

    r = np.asarray(mean_loss, dtype=np.float64)
    check_share("limit", limit)
    if episodes < 1 or not np.all((r >= 0) & (r <= 1)):
        raise ConfigError(f"need mean losses in [0, 1] over at least one unit, got {mean_loss!r} over {episodes}")
    a = np.minimum(r, limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        h1 = np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / limit), 0.0)
    h1 = h1 + (1 - a) * np.log((1 - a) / (1 - limit))
    hoeffding = np.exp(-episodes * h1)
    # A product such as 400 * 0.03 lands just above 12: without the allowance ceil would make it 13.
    bentkus = math.e * binom.cdf(np.ceil(episodes * r - 1e-9), episodes, limit)
    return np.asarray(np.minimum(1.0, np.minimum(hoeffding, bentkus)), dtype=np.float64)


def lower_bound(successes: int, trials: int, delta: float) -> float:
    """One-sided exact lower confidence bound at level 1 - `delta` for a binomial share."""
    return 1.0 - upper_bound(trials - successes, trials, delta)


def conditional_upper_bound(wrong: int, done: int, delta: float) -> float:
    """Upper bound of P(wrong | says done) from audited tasks that ended as done, at level 1 - `delta`.

    Valid given the number of done tasks, because audits are drawn independently of everything else.
    """
    return upper_bound(wrong, done, delta)


def kmax(episodes: int, limit: float, delta: float) -> int:
    """The most losses among `episodes` that still pass the exact test at level `delta`; -1 when none would."""
    from scipy.stats import binom

    check_share("limit", limit)
    check_share("delta", delta)
    if episodes < 1:
        return -1
    k = int(binom.ppf(delta, episodes, limit))
    while k >= 0 and binom.cdf(k, episodes, limit) > delta:
        k -= 1
    return k


def minimum_episodes(limit: float, delta: float) -> int:
    """The fewest episodes that could pass at all: without one loss, (1 - limit)^n <= delta."""
    check_share("limit", limit)
    check_share("delta", delta)
    n = max(1, math.ceil(math.log(delta) / math.log1p(-limit)))
    while n > 1 and (1 - limit) ** (n - 1) <= delta:
        n -= 1
    while (1 - limit) ** n > delta:
        n += 1
    return n


def power(episodes: int, limit: float, delta: float, true_risk: float) -> float:
    """Chance that a system of this true risk passes with this many episodes."""
    from scipy.stats import binom

    k = kmax(episodes, limit, delta)
    return 0.0 if k < 0 else float(binom.cdf(k, episodes, true_risk))


def required_episodes(
    limit: float, delta: float, true_risk: float, wanted: float = 0.9, most: int = 100_000
) -> tuple[int, int] | None:
    """The fewest episodes with at least the `wanted` power at `true_risk`, and the losses then allowed.

    For a given number of allowed losses the power falls with the episodes, so only the smallest count for each
    number of losses has to be looked at.

    Returns:
        (episodes, allowed losses), or None when the risk is not below the limit or `most` does not suffice.
    """
    from scipy.stats import binom

    check_share("wanted power", wanted)
    if not 0 <= true_risk < limit:
        return None
    most_lost = 16
    while True:
        k = np.arange(most_lost)
        n = _smallest_passing(k, limit, delta)
        enough = np.flatnonzero((binom.cdf(k, n, true_risk) >= wanted) & (n <= most))
        if enough.size:
            return int(n[enough[0]]), int(enough[0])
        if n[-1] > most:
            return None
        most_lost *= 4


def _smallest_passing(losses: NDArray[np.int_], limit: float, delta: float) -> NDArray[np.int64]:
    """Per number of losses, the fewest episodes that pass with it, by bisection (the p-value falls with episodes)."""
    from scipy.stats import binom

    low = losses.astype(np.int64)
    high = np.maximum(16, (4 * (losses + 4) / limit * (1 - np.log(delta) / 4)).astype(np.int64))
    while np.any(binom.cdf(losses, high, limit) > delta):
        high *= 2
    while np.any(high - low > 1):
        middle = (low + high) // 2
        passes = binom.cdf(losses, middle, limit) <= delta
        high, low = np.where(passes, middle, high), np.where(passes, low, middle)
    return np.asarray(high, dtype=np.int64)
