"""Learning from answers: how a calibration grows with use, without lying to itself.

When the robot asks, it learns what was meant; when it acts silently, it doesn't. Adding only the answers makes the
sample one of hard cases, and taking silent actions for right makes it one of easy ones: in simulation at 0.85 both
fall short (0.836 and 0.804). So a share of the silent actions is audited at random ("was that what you meant?"),
and each case counts with one over the probability that its truth was looked at.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handrail.decide.calibration import Calibration
from handrail.decide.conformal import INFINITY, Floats
from handrail.decide.rank import Level
from handrail.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Answered:
    """One case whose right option became known.

    Attributes:
        score: nonconformity of what was meant; infinity where it wasn't among the options.
        looked: probability, fixed before, that the truth of this case would be looked at: 1 where the robot
            asked, the audit rate where it acted silently and was audited.
    """

    score: float
    looked: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.looked <= 1:
            raise ConfigError(f"the probability of looking must lie in (0, 1], got {self.looked}")


class Audits:
    """Chooses silent actions to be audited, each with the same probability and before its outcome is known."""

    def __init__(self, rate: float, seed: int) -> None:
        if not 0 < rate <= 1:
            raise ConfigError(f"the audit rate must lie in (0, 1], got {rate}; silence is learned about by audits only")
        self.rate = rate
        self._random = random.Random(seed)  # noqa: S311 - not for secrets

    def due(self) -> bool:
        """Whether the silent action at hand is to be audited."""
        return self._random.random() < self.rate


def extend(calibration: Calibration, answered: Sequence[Answered]) -> Calibration:
    """The calibration with the new cases in it, weighted by one over the probability of being looked at.

    The guarantee becomes marginal: delta is dropped, since eq. 2 knows no weights. The original cases were all
    looked at and weigh 1.

    Raises:
        ConfigError: a calibration with groups (extend each group's own).
    """
    if calibration.groups is not None:
        raise ConfigError("a calibration with groups is extended group by group")
    if not answered:
        return calibration
    scores = np.concatenate([calibration.scores, [INFINITY if a.score != a.score else a.score for a in answered]])
    old: Floats = np.ones(calibration.n) if calibration.weights is None else calibration.weights
    weights = np.concatenate([old, [1 / a.looked for a in answered]])
    notes = {**calibration.notes, "cases from use": int(calibration.notes.get("cases from use", 0)) + len(answered)}
    return Calibration.make(
        scores,
        calibration.epsilon,
        None,
        fingerprint=calibration.fingerprint,
        temperature=calibration.temperature,
        method=calibration.method,
        unit=calibration.unit,
        weights=None if bool(np.all(weights == weights[0])) else weights,
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class OnlineLevel:
    """An epsilon that adapts while the robot works (Gibbs and Candes 2021).

    What it promises is a *long-run average* whatever the requests do, at most
    (max(epsilon, 1 - epsilon) + gamma) / (gamma T) away from the target after T decisions; it promises nothing
    about any single task.

    Attributes:
        target: the accepted share of misses in the long run.
        gamma: step size, above 0.
        level: the present epsilon; at or below 0 everything stays in the set, at or above 1 nothing.
    """

    target: float
    gamma: float = 0.02
    level: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.target < 1 or not self.gamma > 0:
            raise ConfigError(f"need 0 < target < 1 and gamma > 0, got {self.target} and {self.gamma}")

    @property
    def now(self) -> float:
        """The epsilon to use for the next decision."""
        return self.target if self.level is None else self.level

    def after(self, missed: bool) -> OnlineLevel:
        """The state after a decision whose truth became known."""
        return replace(self, level=self.now + self.gamma * (self.target - float(missed)))

    def threshold(self, calibration: Calibration) -> float:
        """The calibration's threshold at the present level."""
        if self.now <= 0:
            return INFINITY
        if self.now >= 1:
            return -INFINITY
        return calibration.at(_level(self.now)).threshold()

    def deviation(self, decisions: int) -> float:
        """How far the share of misses can be from the target after so many decisions, at most."""
        return (max(self.target, 1 - self.target) + self.gamma) / (self.gamma * decisions)


def _level(value: float) -> Level:
    """Kept away from 0 and 1 where the nearest fraction would be one of them."""
    return min(max(value, 1e-8), 1 - 1e-8)
