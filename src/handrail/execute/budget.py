"""Budgets: everything that may repeat has an end, and its end has a name."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from handrail.errors import ConfigError


@dataclass(frozen=True)
class Budgets:
    """How much may be tried before a person is called.

    Attributes:
        replans: new plans asked for after the first; refused ones count too.
        retries: times that a step is tried again while its plan is still proven from where things stand.
        looks: further observations when the first does not show what is needed.
        questions: about facts and outcomes.
        steps: starts in all.
        escalations: times that a person may say "try again", which renews the budgets.
        lapses: times that the lease may lapse and be taken again.
        answer_seconds: how long a person is waited for; None for as long as it takes.
        step_seconds: one end-to-end deadline for every step; None: three times its declared duration plus 10 s, or 60 s.
        cancel_seconds: how long the end of a cancelled step is awaited before everything is stopped.

    Raises:
        ConfigError: a negative or infinite bound.
    """

    replans: int = 3
    retries: int = 2
    looks: int = 3
    questions: int = 5
    steps: int = 200
    escalations: int = 2
    lapses: int = 3
    answer_seconds: float | None = None
    step_seconds: float | None = None
    cancel_seconds: float = 5.0

    def __post_init__(self) -> None:
        for name in ("replans", "retries", "looks", "questions", "steps", "escalations", "lapses"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigError(f"budget '{name}' must be a whole number, at least 0, not {value!r}")
        for name in ("answer_seconds", "step_seconds", "cancel_seconds"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ConfigError(f"budget '{name}' must be a positive number of seconds, not {value!r}")

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return asdict(self)


class Ended(StrEnum):
    """Why a run came to its end, or to a person."""

    DONE = "DONE"
    """The goal was seen to hold."""
    STOPPED = "STOPPED"
    """Somebody stopped it."""
    REPLANS = "REPLANS"
    """No more replans in the budget."""
    NO_PLAN = "NO_PLAN"
    """No plan was found from where things stand."""
    STALL = "STALL"
    """The same plan from the same situation failed more often than it may."""
    UNSURE = "UNSURE"
    """It is not known whether a step that must not be repeated has had its effect."""
    QUESTIONS = "QUESTIONS"
    """No more questions in the budget."""
    STEPS = "STEPS"
    """No more steps in the budget."""
    LEASE = "LEASE"
    """The lease lapsed too often."""
    NO_ANSWER = "NO_ANSWER"
    """A person did not answer in time."""
    REFUSED = "REFUSED"
    """A person refused the plan or gave up."""
    WORLD = "WORLD"
    """The world can't be reached or broke its protocol."""


@dataclass
class Spent:
    """What a run has used up.

    Attributes:
        replans: new plans asked for.
        rejections: of these, how many the checks refused.
        retries: steps tried again under the same plan.
        questions: asked.
        steps: started.
        failures: steps that failed or did not have their effect.
        escalations: times a person was called.
        lapses: of the lease.
        cost: of the steps started, in the domain's unit.
    """

    replans: int = 0
    rejections: int = 0
    retries: int = 0
    questions: int = 0
    steps: int = 0
    failures: int = 0
    escalations: int = 0
    lapses: int = 0
    cost: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return asdict(self)


class Stalls:
    """Counts how often the same plan fails from the same kernel with the same exclusions."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: Counter[tuple[str, ...]] = Counter()

    def failed(self, *situation: str) -> bool:
        """Count one failure; whether it is one more than may be."""
        self._seen[situation] += 1
        return self._seen[situation] > self._most + 1

    def clear(self) -> None:
        """Start anew, because a person said so."""
        self._seen.clear()
