"""Exclusions: steps that evidence says won't work, for as long as the facts behind that evidence stay as they are.

An exclusion is evidence for search, never a proof that something is impossible: a can behind a closed door comes back when the door
opens. Because it becomes a guard on the step's operator (see `Task`), checker, planner and kernels all honour it in the same way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.domain.plan import Step
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_fact


@dataclass(frozen=True)
class Exclusion:
    """One excluded step.

    Attributes:
        step: the ground step.
        because: facts under which it was seen to fail; the exclusion ends when any of them changes. Empty: it holds until removed.
        evidence: a sentence for people, such as the dry-run's reason.
        code: the reason code of that evidence.
    """

    step: Step
    because: tuple[tuple[Atom, Value], ...] = ()
    evidence: str = ""
    code: str = "EXCLUDED"

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "step": list(self.step.key),
            "because": [[list(a), v] for a, v in self.because],
            "evidence": self.evidence,
            "code": self.code,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Exclusion:
        """Read what `to_json` wrote."""
        key = body["step"]
        because = tuple((tuple(a), v) for a, v in body["because"])
        return cls(Step(key[0], tuple(key[1:])), because, body["evidence"], body["code"])

    def __str__(self) -> str:
        facts = " and ".join(show_fact(a, v) for a, v in self.because)
        return f"{self.step}{f' while {facts}' if facts else ''}: {self.evidence}"


@dataclass
class Exclusions:
    """A growing set of exclusions. `snapshot_id` freezes it for fingerprints."""

    items: list[Exclusion] = field(default_factory=list)

    def add(
        self, step: Step, because: Mapping[Atom, Value] | None = None, evidence: str = "", code: str = "EXCLUDED"
    ) -> Exclusion:
        """Exclude a step while the given facts stay as they are. Unknown facts can't carry an exclusion and are left out."""
        facts = tuple(
            sorted(((a, v) for a, v in (because or {}).items() if v is not UNKNOWN), key=lambda i: show_atom(i[0]))
        )
        made = Exclusion(step, facts, evidence, code)
        if made not in self.items:
            self.items.append(made)
        return made

    def of(self, step: Step) -> tuple[Exclusion, ...]:
        """Every exclusion of a step, whether or not it is in force in some state."""
        return tuple(e for e in self.items if e.step == step)

    def active(self, step: Step, values: Mapping[Atom, Value]) -> Exclusion | None:
        """The first exclusion of the step that is in force in a state; a fact that the state does not list counts as changed."""
        return next((e for e in self.of(step) if all(values.get(a, UNKNOWN) == v for a, v in e.because)), None)

    def extend(self, more: Iterable[Exclusion]) -> None:
        """Add exclusions that are not there yet."""
        self.items.extend(e for e in more if e not in self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Exclusion]:
        return iter(self.items)

    @property
    def snapshot_id(self) -> str:
        """Hash of the exclusions, whatever their order."""
        text = json.dumps(sorted(json.dumps(e.to_json(), sort_keys=True) for e in self.items))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
