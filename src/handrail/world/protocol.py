"""The World protocol: what handrail asks of a simulator or a robot, and nothing more.

An adapter is one class with these methods. It needs no lease, no lock, no record and no memory of plans: the world host
(`handrail.world.host`) wraps every adapter in those. `handrail world check module:factory` runs the conformance kit on one.

Threads. The host calls everything from one thread at a time, except `stop`, `time` and `running`, which may be called from any thread
at any moment, also while `start` has not returned yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from handrail.domain.plan import Step
from handrail.domain.state import Observation


class Status(StrEnum):
    """Where a started step stands."""

    PENDING = "pending"
    """Handed to the robot, not acknowledged yet. Not to be retried; it may still begin to move."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    """The world *claims* success; handrail believes the observation that follows, not the claim."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """The world doesn't know this handle (it was restarted, or never heard of it): what was done is unknown."""

    @property
    def terminal(self) -> bool:
        """Whether nothing more will happen under this handle."""
        return self not in (Status.PENDING, Status.RUNNING)


class Failure(StrEnum):
    """Why a step failed. Adapters may use codes of their own; these are the ones that handrail knows."""

    REFUSED = "REFUSED"
    """The world would not begin it: unknown skill or place, not admitted, wrong arguments."""
    NOT_READY = "NOT_READY"
    """A precondition does not hold in the world."""
    UNREACHABLE = "UNREACHABLE"
    BLOCKED = "BLOCKED"
    NOT_FOUND = "NOT_FOUND"
    SLIPPED = "SLIPPED"
    COLLISION = "COLLISION"
    FORCE = "FORCE"
    """A force or torque limit was met."""
    NO_EFFECT = "NO_EFFECT"
    """Reported done, but its effect was not seen. Set by handrail, never by a world."""
    TIME_OUT = "TIME_OUT"
    """It had to be cancelled because its deadline passed. Set by handrail."""
    NO_ANSWER = "NO_ANSWER"
    """Nobody answered: neither refused nor done."""
    STOPPED = "STOPPED"
    LEASE = "LEASE"
    """The runner's lease lapsed and the world stopped by itself."""
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a world says about a started step.

    Attributes:
        status: see `Status`.
        code: why it failed; a `Failure` or the adapter's own code; empty unless it failed.
        sentence: the same for a person.
        time: the world's clock, in seconds, when this status began to hold. For a terminal status an observation newer than
            this time shows what the step really did.
        fraction: how far it is, in [0, 1]; None where the world can't say.
        details: figures for machines, such as the height at which a grasp slipped.
    """

    status: Status
    code: str = ""
    sentence: str = ""
    time: float = 0.0
    fraction: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Stopped(StrEnum):
    """Whether one robot stands still. "No answer" is UNKNOWN: it is neither refused nor done."""

    STOPPED = "stopped"
    NOT_STOPPED = "not_stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StopVerdict:
    """The result of a stop, for each robot.

    Attributes:
        robots: robot's name to whether it stands still.
        sentence: what a person should know, such as which motion is still under way.
        time: the world's clock, in seconds, when it was found out.
    """

    robots: Mapping[str, Stopped]
    sentence: str = ""
    time: float = 0.0

    @property
    def overall(self) -> Stopped:
        """The worst of them: one robot that moves decides it, then one that nobody knows of. No robot at all is UNKNOWN."""
        found = set(self.robots.values())
        if Stopped.NOT_STOPPED in found:
            return Stopped.NOT_STOPPED
        return Stopped.STOPPED if found == {Stopped.STOPPED} else Stopped.UNKNOWN

    @classmethod
    def every(cls, robots: tuple[str, ...], found: Stopped, sentence: str = "", time: float = 0.0) -> StopVerdict:
        """The same finding for all robots."""
        return cls(dict.fromkeys(robots, found), sentence, time)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a world can do.

    Attributes:
        robots: names of the robots that move; `stop` speaks for each of them.
        skills: names of the skills it can start; empty means every skill of the domain.
        forks: whether `fork` works.
        real: whether real things move. Nothing scripted approves for a real world unless it is told so by name.
        partial: whether `observe` may leave facts unknown.
    """

    robots: tuple[str, ...]
    skills: tuple[str, ...] = ()
    forks: bool = False
    real: bool = False
    partial: bool = False


@runtime_checkable
class World(Protocol):
    """A simulator or robot.

    Attributes:
        name: names the world among all worlds on this machine; one run at a time drives it.
    """

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    def time(self) -> float:
        """The world's monotonic clock in seconds; simulated time in a simulator."""

    def observe(self) -> Observation:
        """What is seen now; facts that it does not see are UNKNOWN. Must not block for longer than 2 s.

        Raises:
            WorldError: nothing could be observed at all.
        """

    def start(self, step: Step, goal_id: str) -> str:
        """Begin a step; returns its handle.

        A second start with the same `goal_id` never runs it again: it gives the handle of the first, so that a runner which
        came back from a crash finds what it had started. A step that can't begin gives a handle whose status is FAILED with
        a code; it does not raise. Must not wait for the motion; where the acknowledgement takes long the status is PENDING.

        Raises:
            WorldError: the world can't be reached.
        """

    def poll(self, handle: str) -> Progress:
        """Where a step stands; also how a simulator is driven on. An unknown handle is LOST. Once terminal it stays so."""

    def cancel(self, handle: str) -> None:
        """Ask for one step to end, as its skill's `on_stop` says. `poll` tells when it has. No effect on one that has ended."""

    def stop(self) -> StopVerdict:
        """End all motion at once, whatever is under way, and say what was found. May be called twice."""

    def running(self) -> tuple[str, ...]:
        """Goal ids of the steps that have not ended: what a runner that comes back has to look after."""


@runtime_checkable
class Forks(Protocol):
    """A world whose present state can be copied for a dry-run."""

    def fork(self) -> Any:
        """A snapshot that can be pickled and that nothing done to the world afterwards changes."""


def goal_id(run: str, step: int, attempt: int) -> str:
    """The name of one attempt at one step on the wire, the same whenever it is derived again.

    Args:
        run: the run's id.
        step: how many steps the run had begun before this one, from 0; it goes on counting over replans.
        attempt: from 0.
    """
    return f"{run}/{step}/{attempt}"
