"""Faults of the symbolic world, all drawn from one seed.

Every draw is named by (seed, fault, occasion), so that one fault more or less doesn't shift the draws of another, and a run
that is resumed meets the same world.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fnmatch import fnmatchcase

from handrail.domain.plan import Step
from handrail.domain.values import show_atom
from handrail.errors import ConfigError
from handrail.world.protocol import Failure


class Fault(StrEnum):
    """What can go wrong in the symbolic world."""

    SLIP = "slip"
    """The step fails and changes nothing; it says so."""
    MOVED = "moved"
    """Just before a step, a person puts a thing elsewhere: an object-valued fluent gets another value."""
    SHUT = "shut"
    """Just before a step, something that was open (on, unlocked ...) is shut again: a true fluent becomes false."""
    LIAR = "liar"
    """The step reports success and has changed nothing."""
    DENIER = "denier"
    """The step reports failure although it had its effect."""
    HANG = "hang"
    """The step never ends by itself; it ends when it is cancelled."""
    DEAF = "deaf"
    """The step never ends and ignores the cancel; only a stop ends it."""
    BLOCKED = "blocked"
    """Something that the domain has no name for is in the way of a step; it stays there for some attempts."""
    LOST = "lost"
    """The world forgets the step while it runs: what was done is unknown."""


@dataclass(frozen=True)
class Faults:
    """How often what goes wrong.

    Attributes:
        slip: probability per step started, for steps whose text matches `slips` (shell pattern over `skill(a, b)`).
        slips: which steps can slip.
        moved: probability per step started that a person moves one thing.
        moves: names of the object-valued fluents that a person may change, such as ("on",). Needed with `moved`.
        shut: probability per step started that one true fluent of `shuts` becomes false.
        shuts: names of boolean fluents, such as ("open",). Needed with `shut`.
        liar: probability per step, for steps whose text matches `lies`, that it reports success without effect.
        lies: which steps can.
        denier: probability per step that it reports failure with effect.
        hang: probability per step that it never ends by itself.
        deaf: probability per step that it neither ends nor hears a cancel.
        lost: probability per step that the world forgets it.
        blocked: probability, per kind of step (ground), that something unmodelled is in its way.
        blocked_for: attempts for which it stays there; 0 means for good.
        cut: probability that a step which is cancelled or stopped under way has had its effect by then.
        hidden: probability per fluent and observation that it isn't seen.
        hides: names of fluents that may go unseen; empty means all.
        script: attempt number (from 0, counting all starts) to the fault that strikes it, whatever the probabilities say.

    Raises:
        ConfigError: a probability that is not in [0, 1], or a fault without the fluents it needs.
    """

    slip: float = 0.0
    slips: str = "*"
    moved: float = 0.0
    moves: tuple[str, ...] = ()
    shut: float = 0.0
    shuts: tuple[str, ...] = ()
    liar: float = 0.0
    lies: str = "*"
    denier: float = 0.0
    hang: float = 0.0
    deaf: float = 0.0
    lost: float = 0.0
    blocked: float = 0.0
    blocked_for: int = 0
    cut: float = 0.0
    hidden: float = 0.0
    hides: tuple[str, ...] = ()
    script: Mapping[int, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "blocked_for" or not isinstance(value, float | int):
                continue
            if isinstance(value, bool) or math.isnan(value) or not 0 <= value <= 1:
                raise ConfigError(f"fault '{f.name}' is a probability in [0, 1], not {value!r}")
        if self.blocked_for < 0:
            raise ConfigError(f"blocked_for counts attempts, 0 for good; {self.blocked_for} is not possible")
        scripted = set(self.script.values())
        if (self.moved or Fault.MOVED in scripted) and not self.moves:
            raise ConfigError("fault 'moved' needs `moves`: the object-valued fluents that a person may change")
        if (self.shut or Fault.SHUT in scripted) and not self.shuts:
            raise ConfigError("fault 'shut' needs `shuts`: the boolean fluents that may become false")

    def draw(self, seed: int, fault: str, occasion: str) -> random.Random:
        """The source of chance for one fault on one occasion."""
        return random.Random(f"{seed}|{fault}|{occasion}")  # noqa: S311 - reproducible chance, not secrecy

    def strikes(self, seed: int, fault: Fault, attempt: int, step: Step) -> bool:
        """Whether a fault strikes an attempt at a step.

        Args:
            seed: of the world.
            fault: which one.
            attempt: the how-manieth start it is, from 0.
            step: the step.
        """
        if attempt in self.script:
            return self.script[attempt] is fault
        p: float = getattr(self, fault.value)
        pattern = {Fault.SLIP: self.slips, Fault.LIAR: self.lies}.get(fault, "*")
        if not p or not fnmatchcase(show_atom(step.key), pattern):
            return False
        occasion = show_atom(step.key) if fault is Fault.BLOCKED else str(attempt)
        return self.draw(seed, fault.value, occasion).random() < p


NONE = Faults()
"""Nothing goes wrong."""

SAYS: Mapping[Fault, tuple[str, str]] = {
    Fault.SLIP: (Failure.SLIPPED, "it slipped"),
    Fault.DENIER: (Failure.OTHER, "the controller reports a failure"),
    Fault.BLOCKED: (Failure.BLOCKED, "something that the robot has no name for is in the way"),
}
"""Code and sentence that the world reports for a fault that it reports."""
