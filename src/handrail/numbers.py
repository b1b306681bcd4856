"""Statistics that several stages quote: exact and approximate binomial intervals."""

from __future__ import annotations

import math

from handrail.errors import ConfigError


def _counts(successes: int, trials: int) -> None:
    if trials < 0 or successes < 0 or successes > trials:
        raise ConfigError(f"need 0 <= successes <= trials, got {successes} of {trials}")


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval for a binomial share (Wilson 1927), two-sided.

    Args:
        successes: number of successes, 0..trials.
        trials: number of trials; 0 gives (0, 1).
        confidence: coverage in (0, 1).

    Returns:
        (low, high), both in [0, 1].
    """
    from scipy.stats import norm

    _counts(successes, trials)
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence must lie in (0, 1), got {confidence}")
    if trials == 0:
        return 0.0, 1.0
    z = float(norm.ppf(0.5 + confidence / 2))
    p = successes / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact binomial interval (Clopper and Pearson 1934), two-sided; never covers less than `confidence`."""
    from scipy.stats import beta

    _counts(successes, trials)
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence must lie in (0, 1), got {confidence}")
    alpha = 1 - confidence
    low = 0.0 if successes == 0 else float(beta.ppf(alpha / 2, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - alpha / 2, successes + 1, trials - successes))
    return low, high


def upper_bound(successes: int, trials: int, delta: float) -> float:
    """One-sided exact upper confidence bound at level 1 - `delta` for a binomial share."""
    from scipy.stats import beta

    _counts(successes, trials)
    if not 0 < delta < 1:
        raise ConfigError(f"delta must lie in (0, 1), got {delta}")
    return 1.0 if successes == trials else float(beta.ppf(1 - delta, successes + 1, trials - successes))
