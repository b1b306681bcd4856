"""Steps and plans."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.domain.values import show_atom


@dataclass(frozen=True, slots=True)
class Step:
    """A ground skill call: the skill's name and one object for each of its parameters, in their order."""

    skill: str
    args: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """`(skill, *args)`."""
        return (self.skill, *self.args)

    def __str__(self) -> str:
        return show_atom(self.key)


@dataclass(frozen=True)
class Plan:
    """A totally ordered plan and where it came from. Nothing is proven about it.

    Attributes:
        steps: ground steps.
        reasoning: the proposer's own words; data, shown quoted, never acted on.
        source: who proposed it: "model", "planner", "person", "network", a file ...
        provenance: details, such as the model's fingerprint or, per step, which proposal it was taken from.
    """

    steps: tuple[Step, ...]
    reasoning: str = ""
    source: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def plan_id(self) -> str:
        """Hash of the canonical ground steps: equal steps, equal id, whoever wrote them."""
        text = json.dumps([s.key for s in self.steps], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def of(cls, *steps: Step | tuple[str, ...], source: str = "person") -> Plan:
        """A plan from steps or `(skill, *args)` tuples."""
        made = tuple(s if isinstance(s, Step) else Step(s[0], tuple(s[1:])) for s in steps)
        return cls(made, source=source)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))


def steps_of(keys: Iterable[tuple[str, ...]]) -> tuple[Step, ...]:
    """Steps from `(skill, *args)` tuples."""
    return tuple(Step(k[0], tuple(k[1:])) for k in keys)
