"""One run of the whole loop as the certificate sees it: how it ended, what was really so, and what it passed through.

How a run *ended* is the robot's word; the *truth* is judged apart from the robot and its verifier. The trace
holds the points at which another setting could have gone another way, which is what replay needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from handrail.decide.certificate.setting import Setting
from handrail.errors import ConfigError


class Ended(StrEnum):
    """How a started run ended, in the robot's own words."""

    DONE = "done"
    """The robot said that it was done."""
    HANDED_OVER = "handed over"
    """It gave the task, or a question that nobody answered, to a person."""
    FAILED = "failed"
    """It said that it failed, or the watchdog said so: crash, time-out, no report."""
    DROPPED = "dropped"
    """It was started and nothing is known of its end; counts as lost for every setting."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The robot chose among readings or next steps.

    Attributes:
        confidence: what the ask threshold is compared with, in [0, 1].
        own: the option it would act on by itself; None when it has none (it then asks at every threshold).
        asked: whether it asked.
        answer: what the person chose; None when not asked or not answered.
    """

    confidence: float
    own: str | None
    asked: bool
    answer: str | None = None
    kind: Literal["choice"] = "choice"


@dataclass(frozen=True, slots=True)
class ReadBack:
    """The goal was read back before the first irreversible step; `confirmed` is None when nobody answered."""

    confirmed: bool | None
    kind: Literal["read back"] = "read back"


@dataclass(frozen=True, slots=True)
class DryRun:
    """A plan was run in copies of the world; one entry per copy, in order. Logged, not obeyed, while collecting."""

    passed: tuple[bool, ...]
    kind: Literal["dry-run"] = "dry-run"


@dataclass(frozen=True, slots=True)
class Replan:
    """The loop planned again for the `number`-th time, counted as the replan cap counts."""

    number: int
    kind: Literal["replan"] = "replan"


@dataclass(frozen=True, slots=True)
class Verified:
    """The verifier scored a finished step, in [0, 1]; accepted where at least the collecting strictness."""

    score: float
    step: str = ""
    kind: Literal["verified"] = "verified"


Point = Annotated[Choice | ReadBack | DryRun | Replan | Verified, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Episode:
    """One started run.

    Attributes:
        id: unique in its log.
        cluster: what it shares with other episodes and makes them alike (room, person, day); never empty.
        setting: the knobs it ran with.
        components: name -> hash of everything that the certificate is tied to (model, prompt, skills, ...).
        request: what the person said.
        intent: what the person meant, written down before the run, for the judge.
        group: the part of the population it belongs to, when groups are certified apart.
        started: ISO 8601 time.
        ended: how it ended.
        why: the robot's reason, or the watchdog's.
        seconds: how long it took; 0 when unknown.
        asks: questions put to the person, read-backs included.
        truth: the world ended as the person meant, nothing broken, nothing else moved; None while unjudged.
        trace: points at which a setting matters, in order.
        first_tries: per skill, (failed, tried) counting only the first try of each step.
    """

    id: str
    cluster: str
    setting: Setting
    components: Mapping[str, str] = field(default_factory=dict)
    request: str = ""
    intent: str = ""
    group: str = ""
    started: str = ""
    ended: Ended = Ended.DROPPED
    why: str = ""
    seconds: float = 0.0
    asks: int = 0
    truth: bool | None = None
    trace: tuple[Point, ...] = ()
    first_tries: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an episode without id or cluster.

        Raises:
            ConfigError: one of them is empty.
        """
        if not self.id:
            raise ConfigError("an episode needs an id")
        if not self.cluster:
            raise ConfigError(
                f"episode '{self.id}' needs a cluster: the room, person or day it shares with others "
                "(its own id when it shares nothing)"
            )

    @property
    def losses(self) -> tuple[int, int, int]:
        """(silent, task, help) of the run as it was: an unjudged *done* counts as lost."""
        if self.ended is Ended.DROPPED:
            return 1, 1, 1
        if self.ended is not Ended.DONE:
            return 0, 1, 1
        lost = 0 if self.truth is True else 1
        return lost, lost, int(self.asks > 0)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge found, apart from the robot's own verifier.

    Attributes:
        episode: the episode's id.
        goal: the world ended as the recorded intent says.
        broken: something was broken, spilled or put in danger.
        moved: something else was moved or changed that should have stayed.
        judge: who or what judged.
        at: ISO 8601 time.
        note: free text.
    """

    episode: str
    goal: bool
    judge: str
    broken: bool = False
    moved: bool = False
    at: str = ""
    note: str = ""

    @property
    def as_meant(self) -> bool:
        """The goal holds and no unstated constraint was broken."""
        return self.goal and not self.broken and not self.moved
