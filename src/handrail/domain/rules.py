"""Rules over whole plans and the rest of a domain's `safety:` part.

Rules are kept by construction: each becomes monitor fluents and a guard on every ground step (`task.py`), so the checker, the
planner's search and the executor's kernel all obey the same formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from handrail.domain.formula import Condition


class RuleKind(StrEnum):
    """The four forms of a rule.

    NEVER/ALWAYS: over every state after a step. Where the start is bad already, steps that don't touch what the rule reads may still
    run, but none that does may leave it bad. BEFORE `a before b`: whenever b becomes true, a has held in an earlier state.
    AFTER `after a within k steps b`: whenever a holds, b holds at that moment or at most k steps later; a plan may not end with
    the promise open.
    """

    NEVER = "never"
    ALWAYS = "always"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True)
class Rule:
    """A rule over whole plans.

    Attributes:
        kind: see `RuleKind`.
        first: the condition of never/always, or `a`.
        second: `b` of before/after.
        within: k of after, in steps, at least 0.
        because: the author's reason, shown when the rule refuses something.
    """

    kind: RuleKind
    first: Condition
    second: Condition | None = None
    within: int = 0
    because: str = ""

    def __str__(self) -> str:
        if self.kind is RuleKind.BEFORE:
            return f"{self.first} before {self.second}"
        if self.kind is RuleKind.AFTER:
            return f"after {self.first} within {self.within} steps {self.second}"
        return f"{self.kind} {self.first}"


@dataclass(frozen=True)
class Forbid:
    """A skill that must not be called where a condition over its parameters holds, such as handing over sharp things."""

    skill: str
    when: Condition
    because: str = ""

    def __str__(self) -> str:
        return f"never {self.skill} when {self.when}"


@dataclass(frozen=True)
class Safety:
    """The `safety:` part of a domain. Nothing that a model writes can change it.

    Attributes:
        rules: over whole plans.
        forbid: steps that must not be called.
        no_go: places that nothing which moves may be at.
        limits: quantity ("speed" in m/s, "force" in N) to its upper bound; each bound is finite and positive.
    """

    rules: tuple[Rule, ...] = ()
    forbid: tuple[Forbid, ...] = ()
    no_go: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
