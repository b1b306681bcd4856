"""Goals: what a request was read to mean, apart from any plan."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from handrail.domain.formula import TRUE, Condition


class GoalSource(StrEnum):
    """Where a goal came from."""

    PERSON = "person"
    CHOSEN = "chosen"
    MODEL = "model"
    FILE = "file"


@dataclass(frozen=True)
class Goal:
    """A final condition, ordered subgoals and things to keep as they are.

    Attributes:
        final: holds when the plan ends.
        subgoals: each must hold at some point, in this order (two may hold at the same moment).
        keep: hold in every state that the plan passes through.
        strict: a later subgoal may not come about before the one ahead of it was reached: "first this, then that". Without it only
            the moments at which they are counted are in order.
        source: who decided it.
        text: the goal in a person's words, for showing.
    """

    final: Condition = TRUE
    subgoals: tuple[Condition, ...] = ()
    keep: tuple[Condition, ...] = ()
    source: GoalSource = GoalSource.FILE
    text: str = ""
    strict: bool = False

    def __str__(self) -> str:
        first = "strictly first" if self.strict else "first"
        parts = [f"{first} {s}" for s in self.subgoals] + [str(self.final)] + [f"keep {k}" for k in self.keep]
        return "; ".join(parts)

    @property
    def goal_id(self) -> str:
        """Hash of what the goal asks for; its source and words don't matter."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:16]
