"""What a skill's physical execution can end with: one closed vocabulary, each with a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """Why a skill ended. `DONE` is the only success."""

    DONE = "DONE"
    UNREACHABLE = "UNREACHABLE"  # no stance brings the hand there
    TOO_WIDE = "TOO_WIDE"  # every way to hold it is wider than the gripper opens
    TOO_HEAVY = "TOO_HEAVY"  # heavier than the robot may lift
    GRASP_BLOCKED = "GRASP_BLOCKED"  # the hand would touch something else on its way
    PLACE_BLOCKED = "PLACE_BLOCKED"  # no free spot the hand can set it down on
    NO_ROOM = "NO_ROOM"  # the place is full
    NO_GRASP = "NO_GRASP"  # the pads closed and did not hold it
    SLIPPED = "SLIPPED"  # held at first, then lost while lifting
    DROPPED = "DROPPED"  # lost on the way
    NO_PATH = "NO_PATH"  # the base finds no way there
    ARM_BLOCKED = "ARM_BLOCKED"  # the arm finds no way there
    BASE_STALLED = "BASE_STALLED"  # something not in the map stops the base
    COLLISION = "COLLISION"  # hit something, or knocked it away
    UNSTABLE_PLACE = "UNSTABLE_PLACE"  # set down, and did not stay
    DOOR_CLOSED = "DOOR_CLOSED"  # a door is in between
    DOOR_STUCK = "DOOR_STUCK"  # pulled or pushed, and it did not move enough
    SWITCH_STUCK = "SWITCH_STUCK"  # the lever did not change
    NOT_SWITCHABLE = "NOT_SWITCHABLE"  # there is no lever on it
    NOT_OPENABLE = "NOT_OPENABLE"  # there is no door on it
    HAND_FULL = "HAND_FULL"  # something is in the hand already
    NOT_HOLDING = "NOT_HOLDING"  # the thing is not in the hand
    NOT_SEEN = "NOT_SEEN"  # perception does not see the thing
    NOTHING_TO_POUR = "NOTHING_TO_POUR"  # the vessel is empty
    WOULD_OVERFLOW = "WOULD_OVERFLOW"  # the target can't take it
    SPILLED = "SPILLED"  # something went beside
    NOT_WIPED = "NOT_WIPED"  # the sponge did not touch enough of the surface
    NOBODY_THERE = "NOBODY_THERE"  # no such person in the scene
    TIMEOUT = "TIMEOUT"  # the skill's budget of control periods ran out
    CANCELLED = "CANCELLED"  # cancelled by whoever started it
    STOPPED = "STOPPED"  # emergency stop


@dataclass(frozen=True)
class Outcome:
    """How one skill ended.

    Attributes:
        code: from the closed vocabulary.
        sentence: for a person.
        blockers: names of what was in the way, most frequent first.
        seconds: simulated time it took.
        work: mechanical work of the drives [J].
        clearance: smallest distance between the moving robot (with what it holds) and anything it was not meant to
            touch [m], sampled five times a second; infinite if nothing came near.
        details: figures behind the verdict.
    """

    code: Code
    sentence: str
    blockers: tuple[str, ...] = ()
    seconds: float = 0.0
    work: float = 0.0
    clearance: float = float("inf")
    details: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the skill did what it is for."""
        return self.code is Code.DONE


class SkillFailure(Exception):  # noqa: N818 - control flow inside a skill; `Skills.run` turns it into an Outcome
    """Ends a skill early; never leaves this package."""

    def __init__(self, code: Code, sentence: str, blockers: tuple[str, ...] = (), **details: float | str) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code, self.sentence, self.blockers, self.details = code, sentence, blockers, details


def spoken(name: str) -> str:
    """A name as people say it."""
    return name.replace("_", " ")
