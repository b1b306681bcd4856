"""What a proposer hands on: a plan or what it said instead, and how it came about. Nothing about it is proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from handrail.check.schema import Declined
from handrail.domain.domain import Domain
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.verdict import Reason
from handrail.errors import ConfigError


@dataclass(frozen=True)
class Effort:
    """How much a proposer may spend, in counts, so that a busy machine gives the same plan.

    Attributes:
        calls: answers of a model at most, the first one included; ≥ 1.
        expansions: states that a planner may expand.
    """

    calls: int = 3
    expansions: int = 5_000

    def __post_init__(self) -> None:
        if self.calls < 1 or self.expansions < 1:
            raise ConfigError(f"an effort is at least 1 call and 1 expansion, not {self.calls} and {self.expansions}")


@dataclass(frozen=True)
class Attempt:
    """One answer of a model and what was wrong with it.

    Attributes:
        text: the answer as it came.
        reasons: why it was refused; empty for an answer that passed.
        tokens: generated.
        prompt_tokens: read.
        seconds: wall time.
        plan: the plan it held, where one could be read.
    """

    text: str
    reasons: tuple[Reason, ...] = ()
    tokens: int = 0
    prompt_tokens: int = 0
    seconds: float = 0.0
    plan: Plan | None = None


@dataclass(frozen=True)
class Proposal:
    """A plan, a question or a refusal.

    Attributes:
        source: "model" or "planner".
        plan: None where there is none.
        declined: a question or a refusal with its words; data to be shown, never success.
        why: a sentence where there is neither.
        attempts: a model's answers in order.
        provenance: what it depends on.
    """

    source: str
    plan: Plan | None = None
    declined: Declined | None = None
    why: str = ""
    attempts: tuple[Attempt, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)


class Proposer(Protocol):
    """Proposes for a goal that was read and decided before; it never supplies its own."""

    def propose(
        self, goal: Goal, request: str, domain: Domain, state: State, effort: Effort | None = None
    ) -> list[Proposal]:
        """One or more proposals, the best first.

        Raises:
            ModelError: a model was needed and failed.
        """
        ...
