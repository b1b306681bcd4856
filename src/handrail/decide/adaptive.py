"""What makes an option strange: LAC, APS and RAPS.

    lac    1 - p(y) (Sadinle, Lei and Wasserman 2019): smallest sets on average
    aps    the probability of all options ranked at least as high as y (Romano, Sesia and Candes 2020):
           sets grow where the model is unsure, coverage is more even over cases
    raps   aps + penalty * max(0, rank(y) - free_rank) (Angelopoulos et al. 2021): fewer unlikely options

The deterministic forms are used, without the randomisation that makes APS exact: a robot that is asked the
same thing twice should do the same thing twice. They cover at least as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from handrail.decide.conformal import INFINITY, confidences, label_of, nonconformity
from handrail.domain.option import Score
from handrail.errors import ConfigError

Name = Literal["lac", "aps", "raps"]


@dataclass(frozen=True, slots=True)
class Method:
    """A nonconformity over a list of option probabilities.

    Attributes:
        name: "lac", "aps" or "raps".
        penalty: what each rank beyond `free_rank` costs (raps only), at least 0.
        free_rank: how many options go without penalty (raps only).
    """

    name: Name = "lac"
    penalty: float = 0.0
    free_rank: int = 1

    def __post_init__(self) -> None:
        if self.name not in ("lac", "aps", "raps"):
            raise ConfigError(f"unknown calibration method '{self.name}'; valid: lac, aps, raps")
        if not (self.penalty >= 0 and math.isfinite(self.penalty)) or self.free_rank < 0:
            raise ConfigError("raps needs a finite penalty >= 0 and a free_rank >= 0")
        if self.name != "raps" and self.penalty:
            raise ConfigError(f"a penalty goes with raps, not with {self.name}")

    def strangeness(self, probabilities: Sequence[float]) -> list[float]:
        """The nonconformity of every option; NaN for all where the probabilities are unusable.

        Equal probabilities share one cumulative sum, so that the order of the options is irrelevant.
        """
        plain = [nonconformity(p) for p in probabilities]
        if self.name == "lac" or any(v != v for v in plain):
            return plain if self.name == "lac" else [math.nan] * len(plain)
        order = sorted(range(len(plain)), key=lambda i: -probabilities[i])
        out = [0.0] * len(plain)
        total, start = 0.0, 0
        while start < len(order):
            end = start
            while end < len(order) and probabilities[order[end]] == probabilities[order[start]]:
                total += probabilities[order[end]]
                end += 1
            extra = self.penalty * max(0, end - self.free_rank)
            for position in range(start, end):
                out[order[position]] = total + extra
            start = end
        return out

    def case_score(self, probabilities: Sequence[float], acceptable: Iterable[int]) -> float:
        """The calibration score of one case; infinite where no acceptable option has a usable score."""
        label = label_of(probabilities, acceptable)
        if label is None:
            return INFINITY
        value = self.strangeness(probabilities)[label]
        return INFINITY if value != value else value

    def score_of(self, scores: Sequence[Score], acceptable: Iterable[int], temperature: float = 1.0) -> float:
        """The calibration score of one case from scorers' numbers, upper bounds read as the worst.

        An acceptable option whose number is only an upper bound (a letter that a list left out) could be anything below
        it: it counts for nothing here, while in use its bound keeps it in the set. Both err towards asking.
        """
        known = [i for i in acceptable if not scores[i].upper_bound]
        return self.case_score(confidences(scores, temperature), known)

    def members(self, probabilities: Sequence[float], limit: float) -> list[int]:
        """Indices of the prediction set; options without a usable score stay in."""
        if limit != limit:
            raise ConfigError("the threshold is not a number; the calibration is damaged")
        return [i for i, s in enumerate(self.strangeness(probabilities)) if not s > limit]


LAC = Method()
