"""Which tasks are audited and which questions are checks: drawn at random, apart from everything the robot knows.

Because the draw depends on nothing but a seed and a number, audited tasks have the same risk as all others and are
used unweighted. Complaints and asked tasks are no substitute: they are selected by what went wrong.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from handrail.decide.certificate.binomial import check_share
from handrail.errors import ConfigError
from handrail.numbers import upper_bound


def draw(seed: str, purpose: str, number: int) -> float:
    """A uniform number in [0, 1) that is the same whenever it is asked for, and unlike all others."""
    digest = hashlib.sha256(f"{seed}\x1f{purpose}\x1f{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Audits: all of the first tasks, then each with the same probability; every one drawn is carried out.

    Attributes:
        seed: kept from the robot; the draw follows from it.
        share: probability of an audit after the first tasks, in (0, 1].
        first: tasks that are all audited.
    """

    seed: str
    share: float = 0.1
    first: int = 60

    def __post_init__(self) -> None:
        """Refuse a share outside (0, 1].

        Raises:
            ConfigError: as above, or a negative number of first tasks.
        """
        if not 0 < self.share <= 1 or self.first < 0:
            raise ConfigError(
                f"audits need a share in (0, 1] and at least 0 first tasks, got {self.share}, {self.first}"
            )

    def audited(self, task: int) -> bool:
        """Whether the `task`-th task (from 1) is audited."""
        return task <= self.first or draw(self.seed, "audit", task) < self.share


@dataclass(frozen=True, slots=True)
class CheckQuestions:
    """Questions with known answers among the real ones, to learn how often people answer wrongly.

    Attributes:
        seed: as for audits.
        share: share of questions that are checks; 1 in 20 by default.
    """

    seed: str
    share: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a share outside (0, 1).

        Raises:
            ConfigError: as above.
        """
        check_share("the share of check questions", self.share)

    def due(self, question: int) -> bool:
        """Whether a check question comes before the `question`-th real one (from 1)."""
        return draw(self.seed, "check", question) < self.share


def wrong_answer_bound(wrong: int, checks: int, delta: float = 0.05) -> float:
    """Upper bound of P(an answer is wrong) from check questions, at level 1 - `delta` (1 without any)."""
    return 1.0 if checks == 0 else upper_bound(wrong, checks, delta)
