"""Detectors that may run for ever: e-detectors with a stated mean time to a false alarm.

While the rate of a stream stays at or below m, a Shiryaev-Roberts e-detector averaged over alternatives grows by at
most 1 per observation in expectation, so the mean number of observations to a false alarm is at least the threshold
(Shin, Ramdas and Rinaldo 2023). The rate may drift below m; nothing else is assumed about the stream.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.decide.certificate.binomial import check_share
from handrail.errors import ConfigError

ODDS = (1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0, 10.0)
"""The alternatives: how many times the odds of an event may have grown."""


def worse_rate(m: float, odds: float) -> float:
    """The rate whose odds are `odds` times those of m."""
    return m * odds / (1 - m + m * odds)


def factor(x: ArrayLike, m: ArrayLike, p1: ArrayLike) -> NDArray[np.float64]:
    """One bet on the alternative p1 > m: 1 + lambda (x - m), lambda = (p1 - m) / (m (1 - m)).

    For x in {0, 1} it is the likelihood ratio of p1 against m. Its mean is at most 1 for every x >= 0 whose mean is
    at most m, so x may be an audited loss divided by the audit's probability.
    """
    limit, alternative = np.asarray(m, dtype=np.float64), np.asarray(p1, dtype=np.float64)
    bet = (alternative - limit) / (limit * (1 - limit))
    return np.asarray(1 + bet * (np.asarray(x, dtype=np.float64) - limit), dtype=np.float64)


def wealth(x: ArrayLike, m: float, bet: float) -> NDArray[np.float64]:
    """Running wealth of a fixed bet, 0 <= bet <= 1/m: prod (1 + bet (x - m))."""
    check_share("m", m)
    if not 0 <= bet <= 1 / m:
        raise ConfigError(f"a bet must lie in [0, 1/m] = [0, {1 / m:g}], got {bet}")
    return np.asarray(np.cumprod(1 + bet * (np.asarray(x, dtype=np.float64) - m)), dtype=np.float64)


def spread_start(x: Iterable[float], m: float, p1: float) -> list[float]:
    """An e-process that never alarms falsely with probability > alpha: start j has weight 1 / (j (j + 1)).

    Slower than Shiryaev-Roberts (which alarms falsely once in a long while); the money not yet started is kept, so
    that E_t = sum_j w_j prod_{j..t} factor + 1/(t + 1).
    """
    running, values = 0.0, []
    for t, value in enumerate(x, start=1):
        running = (running + 1 / (t * (t + 1))) * float(factor(value, m, p1))
        values.append(running + 1 / (t + 1))
    return values


@dataclass
class Detector:
    """Shiryaev-Roberts e-detector for one stream: R_t = (R_{t-1} + 1) factor, averaged over alternatives.

    Attributes:
        m: the largest rate that counts as unchanged, in (0, 1).
        threshold: alarm when the average reaches this; also the least mean number of observations to a false alarm.
        odds: the alternatives.
        level: R per alternative.
        seen: observations so far.
        events: sum of the observations.
        since: per alternative, the clock at which the present run of evidence began.
        evidence: per alternative, log-evidence since then (a CUSUM).
    """

    m: float
    threshold: float
    odds: tuple[float, ...] = ODDS
    level: list[float] = field(default_factory=list)
    seen: int = 0
    events: float = 0.0
    since: list[int] = field(default_factory=list)
    evidence: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse a rate outside (0, 1), a threshold of at most 1, alternatives that are not worse.

        Raises:
            ConfigError: as above.
        """
        check_share("the rate that counts as unchanged", self.m)
        if not self.threshold > 1 or not math.isfinite(self.threshold):
            raise ConfigError(f"the threshold is a mean number of observations above 1, got {self.threshold}")
        if not self.odds or min(self.odds) <= 1:
            raise ConfigError("alternatives are factors above 1 by which the odds may have grown")
        n = len(self.odds)
        self.level = self.level or [0.0] * n
        self.since = self.since or [1] * n
        self.evidence = self.evidence or [0.0] * n

    @property
    def value(self) -> float:
        """The detector's level now."""
        return float(np.mean(self.level))

    def add(self, x: float, clock: int | None = None) -> bool:
        """Take one observation; whether the alarm is on.

        Args:
            x: 0/1, or a loss divided by its audit probability.
            clock: when it was made, for `changed_at` (the task's number); by default the number of observations.

        Raises:
            ConfigError: the observation is negative or not a number.
        """
        if not x >= 0 or not math.isfinite(x):
            raise ConfigError(f"an observation must be a number of at least 0, got {x}")
        self.seen += 1
        self.events += x
        at = self.seen if clock is None else clock
        for i, odds in enumerate(self.odds):
            f = 1 + (worse_rate(self.m, odds) - self.m) / (self.m * (1 - self.m)) * (x - self.m)  # `factor`, in floats
            self.level[i] = min((self.level[i] + 1) * f, 1e300)
            if self.evidence[i] == 0:
                self.since[i] = at
            self.evidence[i] = max(0.0, self.evidence[i] + math.log(f)) if f > 0 else 0.0
        return self.value >= self.threshold

    @property
    def changed_at(self) -> int:
        """The clock from which the evidence for the best alternative has grown: about when it changed."""
        return self.since[int(np.argmax(self.evidence))]


def run_length(x: NDArray[np.float64], m: float, threshold: float, odds: tuple[float, ...] = ODDS) -> NDArray[np.int64]:
    """First alarm of each row of observations (rows, times), counted from 1; 0 where there is none.

    The same detector as `Detector`, many at once, for simulations.
    """
    p1 = np.array([worse_rate(m, o) for o in odds])
    zero, one = factor(0.0, m, p1), factor(1.0, m, p1)
    level = np.zeros((x.shape[0], len(odds)))
    first = np.zeros(x.shape[0], dtype=np.int64)
    for t in range(x.shape[1]):
        f = zero + (one - zero) * x[:, t, None]
        level = np.minimum((level + 1) * f, 1e300)
        first[(first == 0) & (level.mean(axis=1) >= threshold)] = t + 1
    return first
