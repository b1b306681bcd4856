"""Split conformal prediction over options, in score space.

A nonconformity is 1 - p for the option's probability p; the threshold is one of the calibration's own
nonconformities, and an option is in the set where its nonconformity is *not above* the threshold. The very
same expression is used on both sides: comparing p >= 1 - threshold instead drops the threshold's own point
through round-off in 37 % of draws.

Everything unusable fails towards asking: a calibration case whose right option has no usable score counts as
infinitely strange, and a new option without a usable score stays in the set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from handrail.decide.rank import Level, Rank, rank
from handrail.domain.option import Score
from handrail.errors import ConfigError

Floats = npt.NDArray[np.float64]
INFINITY = math.inf


def softmax(logs: Sequence[float], temperature: float = 1.0) -> list[float]:
    """exp(log / T) normalised over the list; -inf gives 0, NaN gives NaN for all.

    Args:
        logs: natural logarithms, at least one above -inf.
        temperature: T > 0; larger is flatter.
    """
    if not temperature > 0 or math.isinf(temperature):
        raise ConfigError(f"temperature must be a positive number, got {temperature}")
    top = max(logs)
    if any(v != v for v in logs) or math.isinf(top):
        return [math.nan] * len(logs)
    weights = [math.exp((v - top) / temperature) for v in logs]
    total = sum(weights)
    return [w / total for w in weights]


def confidences(scores: Sequence[Score], temperature: float = 1.0) -> list[float]:
    """One probability per option, from scores of one scale.

    Logarithms go through a softmax with the temperature; probabilities are normalised to sum to one, since
    scorers such as sampling leave mass on answers that are no option; raw numbers are taken as they are. Scores that can't be normalised
    (a NaN, nothing but zeros) give NaN for every option, which the decision reads as "keep all, ask".

    Raises:
        ConfigError: scores of different scales in one list.
    """
    if not scores:
        return []
    scale = scores[0].scale
    if any(s.scale != scale for s in scores):
        raise ConfigError("scores of one list must share one scale: log, probability or raw")
    values = [s.value for s in scores]
    if scale == "log":
        return softmax(values, temperature)
    if scale == "raw":
        return [v if 0 <= v <= 1 else math.nan for v in values]
    total = math.fsum(values)
    if not total > 0 or math.isinf(total) or any(not v >= 0 for v in values):
        return [math.nan] * len(values)
    return [v / total for v in values]


def nonconformity(probability: float) -> float:
    """1 - p where p is a number in [0, 1]; NaN for anything else, which callers read as their worst case."""
    return 1.0 - probability if 0.0 <= probability <= 1.0 else math.nan


def label_of(probabilities: Sequence[float], acceptable: Iterable[int]) -> int | None:
    """The acceptable option the model ranks highest, which is what a person who accepts several would pick.

    Args:
        probabilities: one per option.
        acceptable: indices of the options that would do.

    Returns:
        The index, the lowest of equals; None where nothing acceptable is in the list.
    """
    best: int | None = None
    for index in sorted(set(acceptable)):
        if not 0 <= index < len(probabilities):
            raise ConfigError(f"acceptable option {index} is not among the {len(probabilities)} options")
        p = probabilities[index]
        if p == p and (best is None or p > probabilities[best]):
            best = index
    return best


def case_score(probabilities: Sequence[float], acceptable: Iterable[int]) -> float:
    """The calibration score of one case: 1 - max p over the acceptable options; infinite where there is none."""
    label = label_of(probabilities, acceptable)
    if label is None:
        return INFINITY
    value = nonconformity(probabilities[label])
    return INFINITY if value != value else value


def episode_score(step_scores: Iterable[float]) -> float:
    """The score of a whole episode: its strangest step (KnowNo eq. 4, the minimum of the confidences).

    Steps must have been scored in the contexts that the *correct* earlier actions lead to. At run time the
    same threshold is used step by step; the sequence of sets then holds the right sequence wherever this
    score is not above it.

    Raises:
        ConfigError: an episode without steps.
    """
    values = list(step_scores)
    if not values:
        raise ConfigError("an episode without steps can't be calibrated")
    return max(INFINITY if v != v else v for v in values)


def usable(scores: npt.ArrayLike) -> Floats:
    """Calibration scores as an array; NaN becomes infinity.

    Raises:
        ConfigError: not one-dimensional, empty, or -inf in it.
    """
    values = np.array(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ConfigError("calibration scores must be a list of at least one number")
    values[np.isnan(values)] = INFINITY
    if np.isneginf(values).any():
        raise ConfigError("a calibration score of -infinity would say that an option was certain beyond measure")
    return values


def at_rank(scores: Floats, chosen: Rank) -> float:
    """The k-th smallest score; infinity where k is above n: never the largest score instead."""
    if not chosen.finite:
        return INFINITY
    return float(np.partition(scores, chosen.k - 1)[chosen.k - 1])


def threshold(scores: npt.ArrayLike, epsilon: Level, delta: Level | None = None) -> float:
    """The largest nonconformity that stays in the set.

    Args:
        scores: calibration scores, shape (n,).
        epsilon: accepted share of misses.
        delta: None for the marginal guarantee; else the accepted probability of an unlucky calibration.

    Raises:
        ConfigError: bad input, or a level that n scores can't meet.
    """
    values = usable(scores)
    return at_rank(values, rank(values.size, epsilon, delta))


def prediction_set(probabilities: Sequence[float], limit: float) -> list[int]:
    """Indices of the options whose nonconformity is at most `limit`; options without a usable one stay in."""
    if limit != limit:
        raise ConfigError("the threshold is not a number; the calibration is damaged")
    return [i for i, p in enumerate(probabilities) if not nonconformity(p) > limit]


def membership(probabilities: npt.ArrayLike, limit: float) -> npt.NDArray[np.bool_]:
    """`prediction_set` for many cases at once: shape (cases, options) in and out."""
    values = np.asarray(probabilities, dtype=np.float64)
    strange = np.where((values >= 0) & (values <= 1), 1.0 - values, np.nan)
    return ~(strange > limit)
