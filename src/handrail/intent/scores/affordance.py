"""SayCan's other half: how likely is it that the robot can do this here and now?

An affordance is P(the skill succeeds | the present state): nought where the checker refutes it, else what the
dry-run and the measured history say. Usefulness times affordance is then the score (Ahn et al. 2022, section 3);
something impossible is masked out, not made merely unlikely, so that no eagerness of the model brings it back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.domain.option import Score
from handrail.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Affordance:
    """What is known about doing one thing now.

    Attributes:
        possible: False where the checker refutes it.
        succeeded: of the tries of this skill on such objects, how many succeeded.
        tried: how many there were; 0 where there is no history.
        dry_run: share of simulated tries that succeeded, in [0, 1]; None where none was run.
    """

    possible: bool
    succeeded: int = 0
    tried: int = 0
    dry_run: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.succeeded <= self.tried:
            raise ConfigError(f"need 0 <= succeeded <= tried, got {self.succeeded} of {self.tried}")
        if self.dry_run is not None and not 0 <= self.dry_run <= 1:
            raise ConfigError(f"the dry-run share must lie in [0, 1], got {self.dry_run}")

    @property
    def probability(self) -> float:
        """P(success): 0 where impossible; else the history's posterior mean, times the dry-run's share.

        With a uniform prior the history gives (succeeded + 1) / (tried + 2); without any history it says nothing and
        counts as 1.
        """
        if not self.possible:
            return 0.0
        history = (self.succeeded + 1) / (self.tried + 2) if self.tried else 1.0
        return history * (1.0 if self.dry_run is None else self.dry_run)


def useful_and_possible(usefulness: Sequence[Score], affordances: Sequence[Affordance]) -> list[Score]:
    """Usefulness times affordance, on the log scale; impossible options get -infinity.

    Raises:
        ConfigError: lists of different lengths, or usefulness that is no logarithm.
    """
    if len(usefulness) != len(affordances):
        raise ConfigError(f"{len(usefulness)} scores and {len(affordances)} affordances")
    if any(s.scale != "log" for s in usefulness):
        raise ConfigError("usefulness must be on the log scale")
    out = []
    for score, affordance in zip(usefulness, affordances, strict=True):
        p = affordance.probability
        value = score.value + math.log(p) if p > 0 else -math.inf
        out.append(replace(score, value=value, kind=f"{score.kind} x affordance"))
    return out
