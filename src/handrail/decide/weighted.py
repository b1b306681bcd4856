"""Thresholds from weighted calibration scores: known shift, and labels that were seen with known probability.

Each calibration case carries a weight: the likelihood ratio of the new situation to the calibration's
(Tibshirani, Barber, Candes and Ramdas 2019), or one over the probability that its label was looked at. The new
case carries its own weight, and the probability that it stands for lies at infinity.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from handrail.decide.conformal import INFINITY, Floats, usable
from handrail.decide.rank import Level, exact
from handrail.errors import ConfigError


def valid_weights(weights: npt.ArrayLike, n: int) -> Floats:
    """Weights as an array of n finite numbers >= 0, not all zero.

    Raises:
        ConfigError: otherwise.
    """
    values = np.array(weights, dtype=np.float64)
    if values.shape != (n,):
        raise ConfigError(f"need one weight for each of {n} calibration scores, got shape {values.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
        raise ConfigError("weights must be finite, not negative and not all zero")
    return values


def weighted_threshold(scores: npt.ArrayLike, weights: npt.ArrayLike, new_weight: float, epsilon: Level) -> float:
    """The smallest score q such that scores <= q weigh at least 1 - epsilon of all, the new case included.

    With equal weights this is the marginal threshold, to the very rank.

    Args:
        scores: calibration scores, shape (n,).
        weights: their weights, shape (n,); only ratios matter.
        new_weight: the weight of the case to be decided, on the same scale.
        epsilon: accepted share of misses.

    Returns:
        One of the scores, or infinity where the new case alone weighs more than epsilon.
    """
    values = usable(scores)
    w = valid_weights(weights, values.size)
    if not (math.isfinite(new_weight) and new_weight >= 0):
        raise ConfigError(f"the new case's weight must be finite and not negative, got {new_weight}")
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(w[order])
    # the tolerance is a few units of round-off of the sum: with equal weights the count decides exactly
    needed = float(1 - exact(epsilon)) * (mass[-1] + new_weight)
    slack = 8 * np.finfo(np.float64).eps * max(1.0, float(mass[-1] + new_weight)) * math.sqrt(values.size)
    index = int(np.searchsorted(mass, needed - slack, side="left"))
    if index >= values.size:
        return INFINITY
    return float(values[order[index]])


def effective_size(weights: npt.ArrayLike) -> float:
    """(sum w)^2 / sum w^2: how many equally weighted cases the weighted ones are worth (Kish 1965)."""
    w = np.asarray(weights, dtype=np.float64)
    return float(w.sum() ** 2 / (w**2).sum())
