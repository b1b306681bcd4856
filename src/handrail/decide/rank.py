"""Which calibration score is the threshold: integer ranks, exactly.

With N exchangeable calibration scores and the threshold at the k-th smallest, the coverage of the next
deployment, given the calibration data, follows Beta(k, N + 1 - k) (Vovk 2012; exactly where scores have no
ties, stochastically larger with ties). Two ways to choose k:

    marginal        k = ceil((N + 1)(1 - epsilon)): coverage is at least 1 - epsilon on average over
                    calibrations; a single calibration falls below it about every second time.
    conditional     k = N + 1 - v with the largest v whose Beta(N + 1 - v, v) quantile at delta is at least
                    1 - epsilon (KnowNo, arXiv 2307.01928, eq. 2): *this* calibration covers at least
                    1 - epsilon, with probability 1 - delta over calibrations.

Ranks are integers from end to end: in floating point ceil((N + 1)(1 - epsilon)) is one too large in 1,159 of
198,000 cases with N <= 2000, and v can't be found again from v / (N + 1) in 76,628.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from handrail.errors import ConfigError

Level = float | str | Fraction | Decimal


def exact(value: Level, name: str = "epsilon") -> Fraction:
    """A share in (0, 1) as a fraction: 0.15 is 3/20, and 1 - 0.8 is 1/5 in spite of its round-off.

    Raises:
        ConfigError: not a number, or outside (0, 1).
    """
    try:
        fraction = Fraction(value).limit_denominator(10**9) if isinstance(value, float) else Fraction(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ConfigError(f"{name} must be a number between 0 and 1, got {value!r}") from error
    if not 0 < fraction < 1:
        raise ConfigError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return fraction


def _count(n: int) -> int:
    if n < 1:
        raise ConfigError(f"a calibration needs at least one scored case, got {n}")
    return int(n)


def marginal_rank(n: int, epsilon: Level) -> int:
    """Rank k of the marginal threshold, 1..n + 1; n + 1 means that every option stays in.

    Args:
        n: number of calibration scores, at least 1.
        epsilon: accepted share of misses, in (0, 1).
    """
    return _count(n) + 1 - math.floor((n + 1) * exact(epsilon))


def _below(v: int, n: int, epsilon: float) -> float:
    """P(Bin(n, epsilon) <= v - 1) = P(Beta(n + 1 - v, v) < 1 - epsilon): how often v gives too little."""
    from scipy.special import bdtr

    return float(bdtr(v - 1, n, epsilon)) if v >= 1 else 0.0


def conditional_slack(n: int, epsilon: Level, delta: Level) -> int:
    """The v of eq. 2: how many of the n scores may lie above the threshold, plus one; 0 where none will do.

    Args:
        n: number of calibration scores.
        epsilon: accepted share of misses.
        delta: accepted probability that the calibration set was unlucky.
    """
    eps, limit = float(exact(epsilon)), float(exact(delta, "delta"))
    low, high = 0, _count(n)
    while low < high:
        middle = (low + high + 1) // 2
        if _below(middle, n, eps) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def minimum_n(epsilon: Level, delta: Level | None = None) -> int:
    """Fewest calibration scores with which epsilon (and delta) can be met with a finite threshold."""
    eps = exact(epsilon)
    if delta is None:
        return math.ceil(1 / eps) - 1
    # (1 - epsilon)^n <= delta, in exact arithmetic around the logarithm's answer
    limit = exact(delta, "delta")
    n = max(1, math.floor(math.log(float(limit)) / math.log1p(-float(eps))) - 1)
    while (1 - eps) ** n > limit:
        n += 1
    return n


@dataclass(frozen=True, slots=True)
class Rank:
    """A rank with what it promises.

    Attributes:
        n: number of calibration scores.
        k: the threshold is the k-th smallest; n + 1 means infinity.
        v: n + 1 - k, carried as an integer.
        epsilon: the accepted share of misses it was chosen for.
        delta: None for a marginal rank.
    """

    n: int
    k: int
    v: int
    epsilon: Fraction
    delta: Fraction | None

    @property
    def finite(self) -> bool:
        """Whether the threshold is one of the scores."""
        return self.k <= self.n

    @property
    def expected_coverage(self) -> float:
        """Mean of the coverage law, k / (n + 1)."""
        return self.k / (self.n + 1)

    def coverage_quantile(self, q: float) -> float:
        """Quantile q of the coverage law Beta(k, n + 1 - k); 1 where the threshold is infinite."""
        from scipy.special import betaincinv

        return float(betaincinv(self.k, self.v, q)) if self.finite else 1.0

    def probability_below(self, coverage: float) -> float:
        """P(the coverage of this calibration is below `coverage`)."""
        from scipy.special import betainc

        return float(betainc(self.k, self.v, coverage)) if self.finite else 0.0

    def sentence(self) -> str:
        """What may be said with this rank, in words."""
        share = f"{float(1 - self.epsilon):.3g}"
        if self.delta is None:
            return (
                f"on average over calibrations the right option is in the set in at least {share} of cases; "
                f"a single calibration of {self.n} falls below that with probability "
                f"{self.probability_below(float(1 - self.epsilon)):.2f}"
            )
        return (
            f"with this calibration of {self.n} the right option is in the set in at least {share} of cases, "
            f"unless the calibration was unlucky (probability at most {float(self.delta):.3g})"
        )


def rank(n: int, epsilon: Level, delta: Level | None = None) -> Rank:
    """The rank for n scores at level epsilon, marginal or (with delta) calibration-conditional.

    Raises:
        ConfigError: a value out of range, or (epsilon, delta) can't be met with n scores; the message names
            the n that would do.
    """
    eps = exact(epsilon)
    if delta is None:
        k = marginal_rank(n, eps)
        return Rank(n, k, n + 1 - k, eps, None)
    v = conditional_slack(n, eps, delta)
    limit = exact(delta, "delta")
    if v == 0:
        raise ConfigError(
            f"epsilon {float(eps):.4g} with delta {float(limit):.4g} can't be met with {n} calibration cases; "
            f"{minimum_n(eps, limit)} would do"
        )
    return Rank(n, n + 1 - v, v, eps, limit)
