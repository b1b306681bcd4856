"""Skills: what a robot can do, as action schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from handrail.domain.formula import TRUE, Call, Condition, Effect
from handrail.domain.types import Parameter

if TYPE_CHECKING:
    from handrail.domain.state import State


class OnStop(StrEnum):
    """What a stop does to a skill that is running."""

    HOLD = "hold"
    RELEASE = "release"
    RETRACT = "retract"


@dataclass(frozen=True)
class Cost:
    """Cost of a step in the domain's one unit: a base per robot profile plus static numbers, such as a distance.

    Attributes:
        base: profile name to a number >= 0; the key "" is the default.
        terms: pairs (factor, call of a declared number over the skill's parameters).
    """

    base: Mapping[str, float] = field(default_factory=lambda: {"": 1.0})
    terms: tuple[tuple[float, Call], ...] = ()

    def of(self, profile: str) -> float:
        """The base for a profile; the default where the profile is not named."""
        return self.base.get(profile, self.base.get("", 1.0))


Hook = Callable[["State", Mapping[str, str]], str | None]
"""An optional Python guard: given the state and the arguments, a sentence why the step must not run, or None."""


@dataclass(frozen=True)
class Skill:
    """An action schema.

    Attributes:
        name: unique in the domain.
        params: typed parameters, in the order in which steps give their arguments.
        says: the step in plain words, with `{parameter}` slots.
        needs: conditions, each kept apart so that a failure can be named; all must hold.
        makes: effects; all read the state before the step.
        cost: see `Cost`.
        approval: TRUE if a plan with this step always needs a person's approval, FALSE never, else where the condition holds.
        on_stop: what a stop does to the running skill.
        repeatable: whether running it again after an uncertain outcome is harmless.
        asks: whether it is a question to a person rather than a motion.
        speed: highest speed it commands, m/s; None if not declared.
        force: highest force it commands, N; None if not declared.
        duration: typical duration, s; None if not known.
        approval_because: why a person must approve it, in plain words for the card; parameter slots as in `says`.
        true_wins: PDDL's add-after-delete; see `Operator`.
        hook: an optional Python guard that may add a reason, never remove one.
    """

    name: str
    params: tuple[Parameter, ...] = ()
    says: str = ""
    needs: tuple[Condition, ...] = ()
    makes: tuple[Effect, ...] = ()
    cost: Cost = field(default_factory=Cost)
    approval: Condition = TRUE
    on_stop: OnStop = OnStop.HOLD
    repeatable: bool = True
    asks: bool = False
    speed: float | None = None
    force: float | None = None
    duration: float | None = None
    approval_because: str = ""
    true_wins: bool = False
    hook: Hook | None = field(default=None, compare=False)

    def bind(self, args: tuple[str, ...]) -> dict[str, str]:
        """Parameter names to arguments."""
        return {p.name: a for p, a in zip(self.params, args, strict=True)}

    def words(self, args: tuple[str, ...], names: Mapping[str, str] | None = None) -> str:
        """The step in plain words; `names` gives objects friendlier names."""
        names = names or {}
        if not self.says:
            rest = ", ".join(names.get(a, a.replace("_", " ")) for a in args)
            return f"{self.name.replace('_', ' ')} {rest}".strip()
        return self.filled(self.says, args, names)

    def filled(self, text: str, args: tuple[str, ...], names: Mapping[str, str] | None = None) -> str:
        """A text with its `{parameter}` slots filled."""
        for p, a in self.bind(args).items():
            text = text.replace("{" + p + "}", (names or {}).get(a, a.replace("_", " ")))
        return text
