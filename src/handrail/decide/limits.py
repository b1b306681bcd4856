"""A joint limit on misses and on help: met, or refused with the nearest that can be met.

A threshold that rarely misses may ask too often. Here both shares are tested on the same calibration cases, over a
grid of thresholds that a small pilot part of the cases chooses, so that the tests on the rest are honest:
misses fall as the threshold rises, so they are tested from the largest threshold down, each at level delta / 2, until
the first failure (Learn-then-Test, arXiv 2110.01052); help is not monotone, so it is tested at delta / 2 over
the number of thresholds. All p-values are exact binomial tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from handrail.decide.calibration import Calibration, Joint
from handrail.decide.conformal import INFINITY, Floats
from handrail.decide.rank import Level, exact
from handrail.errors import ConfigError
from handrail.numbers import upper_bound


@dataclass(frozen=True, slots=True)
class Case:
    """One calibration case, with all that a threshold decides.

    Attributes:
        label: nonconformity of the right option; infinity where it had none.
        top: nonconformity of the likeliest option.
        second: nonconformity of the second likeliest; infinity where there is one option only.
        top_listed: False where the likeliest option is the not-listed one.
    """

    label: float
    top: float
    second: float
    top_listed: bool = True

    @classmethod
    def of(cls, strangeness: Sequence[float], label: float, not_listed: int | None = None) -> Case:
        """From the nonconformities of all options."""
        order = sorted(range(len(strangeness)), key=lambda i: (strangeness[i], i))
        second = strangeness[order[1]] if len(order) > 1 else INFINITY
        return cls(label, strangeness[order[0]], second, order[0] != not_listed)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a person sets: accepted shares of misses and of help, and the chance of being wrong about both."""

    miss: Level
    help: Level
    delta: Level = "1/20"


@dataclass(frozen=True, slots=True)
class Met:
    """A threshold that keeps both limits, unless the calibration was unlucky (probability delta)."""

    threshold: float
    miss: float
    help: float


@dataclass(frozen=True, slots=True)
class NotMet:
    """No threshold keeps both; `miss` is kept where it could be, and `nearest_help` is what that costs.

    Attributes:
        sentence: for a person, with the nearest that can be met.
        nearest_miss: the smallest tested-for limit on misses at that threshold.
        nearest_help: the smallest limit on help that could be promised together with it.
    """

    sentence: str
    nearest_miss: float
    nearest_help: float


def meet(cases: Sequence[Case], limits: Limits, *, grid: int = 12, pilot: float = 0.2, seed: int = 0) -> Met | NotMet:
    """Look for a threshold that keeps both limits; the one with the least help of those that do.

    Args:
        cases: calibration cases, exchangeable with the requests to come.
        limits: what must hold.
        grid: number of thresholds tried.
        pilot: share of the cases that places the grid and is not tested on.
        seed: of the split.

    Raises:
        ConfigError: too few cases, or values out of range.
    """
    miss, help_ = float(exact(limits.miss, "miss")), float(exact(limits.help, "help"))
    delta = float(exact(limits.delta, "delta"))
    if len(cases) < 20 or grid < 1 or not 0 < pilot < 1:
        raise ConfigError("a joint limit needs at least 20 cases, a grid of at least 1 and a pilot share in (0, 1)")
    order = np.random.default_rng(seed).permutation(len(cases))
    cut = max(10, int(pilot * len(cases)))
    first, rest = [cases[i] for i in order[:cut]], [cases[i] for i in order[cut:]]
    places = _grid(np.array([c.label for c in first]), grid)
    misses = np.array([sum(c.label > q for c in rest) for q in places])
    helps = np.array([sum(not _alone(c, q) for c in rest) for q in places])
    n = len(rest)
    miss_bounds = [upper_bound(int(k), n, delta / 2) for k in misses]
    help_bounds = [upper_bound(int(k), n, delta / 2 / len(places)) for k in helps]
    passing: list[int] = []
    for index in range(len(places) - 1, -1, -1):
        if miss_bounds[index] > miss:
            break
        passing.append(index)
    both = [i for i in passing if help_bounds[i] <= help_]
    if both:
        best = min(both, key=lambda i: (help_bounds[i], places[i]))
        return Met(float(places[best]), miss, help_)
    if passing:
        best = min(passing, key=lambda i: (help_bounds[i], places[i]))
        return NotMet(
            f"misses of at most {miss:.3g} can be kept, but not together with help in at most {help_:.3g} of cases: "
            f"the nearest is help {help_bounds[best]:.2f} (seen {helps[best]} of {n})",
            miss,
            help_bounds[best],
        )
    best = len(places) - 1
    return NotMet(
        f"misses of at most {miss:.3g} can't be kept with {n} cases: the nearest is {miss_bounds[best]:.3g}, with help "
        f"{help_bounds[best]:.2f}",
        miss_bounds[best],
        help_bounds[best],
    )


def jointly(calibration: Calibration, cases: Sequence[Case], limits: Limits) -> Calibration | NotMet:
    """The calibration with a threshold that keeps both limits, or why there is none.

    Args:
        calibration: made on the same cases, without groups or weights.
        cases: its cases.
        limits: what must hold.
    """
    found = meet(cases, limits)
    if isinstance(found, NotMet):
        return found
    joint = Joint(found.threshold, found.miss, found.help, float(exact(limits.delta, "delta")))
    return replace(calibration, joint=joint)


def _grid(labels: npt.NDArray[np.float64], size: int) -> Floats:
    finite = np.sort(labels[np.isfinite(labels)])
    if finite.size == 0:
        return np.array([INFINITY])
    quantiles = np.quantile(finite, np.linspace(0.4, 1.0, size), method="higher")
    return np.unique(np.append(quantiles, INFINITY))


def _alone(case: Case, q: float) -> bool:
    return case.top <= q < case.second and case.top_listed
