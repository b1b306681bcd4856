"""Verdicts: values with a reason code and a sentence; never a bare bool, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from handrail.domain.values import Atom, show_atom


class Code(StrEnum):
    """Reason codes of the schema, symbolic and safety checks. Physics has its own closed list, see `world`."""

    # layer 1: text to plan
    NOT_A_PLAN = "NOT_A_PLAN"
    BAD_JSON = "BAD_JSON"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    EMPTY_PLAN = "EMPTY_PLAN"
    TOO_LONG = "TOO_LONG"
    UNKNOWN_SKILL = "UNKNOWN_SKILL"
    UNKNOWN_OBJECT = "UNKNOWN_OBJECT"
    WRONG_ARGUMENTS = "WRONG_ARGUMENTS"
    WRONG_TYPE = "WRONG_TYPE"
    # layer 2: symbols
    PRECONDITION = "PRECONDITION"
    UNKNOWN_FACT = "UNKNOWN_FACT"
    RANGE = "RANGE"
    EFFECT_CONFLICT = "EFFECT_CONFLICT"
    HOOK = "HOOK"
    GOAL_NOT_REACHED = "GOAL_NOT_REACHED"
    KEEP_BROKEN = "KEEP_BROKEN"
    ORDER = "ORDER"
    EXCLUDED = "EXCLUDED"
    # layer 2: safety
    RULE_BROKEN = "RULE_BROKEN"
    OBLIGATION_OPEN = "OBLIGATION_OPEN"
    FORBIDDEN = "FORBIDDEN"
    NO_GO = "NO_GO"
    LIMIT = "LIMIT"
    # flags: worth saying, not a refusal
    NO_OP = "NO_OP"
    AFTER_GOAL = "AFTER_GOAL"
    REPEATED_STATE = "REPEATED_STATE"
    # the pipeline itself
    LAYER_BROKEN = "LAYER_BROKEN"


@dataclass(frozen=True)
class Reason:
    """One finding.

    Attributes:
        code: from a closed vocabulary.
        sentence: what a person reads.
        step: index of the step it is about, from 0; None for the plan as a whole.
        fact: the ground fluent that decided it.
        changed_by: index of the earlier step that last changed that fact; None if it was so at the start.
        hint: what would help, fit to be fed back to a model.
        line: in the text that was read, from 1; 0 unknown.
        column: in that line, from 1; 0 unknown.
        details: figures and names for machines.
    """

    code: str
    sentence: str
    step: int | None = None
    fact: Atom | None = None
    changed_by: int | None = None
    hint: str = ""
    line: int = 0
    column: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A plain dict, without what is empty."""
        out: dict[str, Any] = {"code": str(self.code), "sentence": self.sentence}
        if self.step is not None:
            out["step"] = self.step
        if self.fact is not None:
            out["fact"] = show_atom(self.fact)
        if self.changed_by is not None:
            out["changed_by"] = self.changed_by
        if self.hint:
            out["hint"] = self.hint
        if self.line:
            out["line"], out["column"] = self.line, self.column
        if self.details:
            out["details"] = dict(self.details)
        return out


@dataclass(frozen=True)
class LayerResult:
    """What one layer of checks found.

    Attributes:
        layer: "schema", "symbolic", "physics" or a user's own.
        passed: whether the plan got through.
        reasons: why not; empty exactly where it passed.
        flags: worth saying, not a refusal.
        figures: measured along the way, such as clearance or seconds.
    """

    layer: str
    passed: bool
    reasons: tuple[Reason, ...] = ()
    flags: tuple[Reason, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "layer": self.layer,
            "passed": self.passed,
            "reasons": [r.to_json() for r in self.reasons],
            "flags": [r.to_json() for r in self.flags],
            "figures": dict(self.figures),
        }


@dataclass(frozen=True)
class Verdict:
    """The result of the checks on one plan.

    Attributes:
        accepted: every layer that ran passed, and every layer that must run did.
        layers: in the order they ran; after the first failure none runs.
        unchecked: layers that did not run, by name. They are shown to whoever approves.
    """

    accepted: bool
    layers: tuple[LayerResult, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it was refused."""
        return tuple(r for layer in self.layers for r in layer.reasons)

    @property
    def flags(self) -> tuple[Reason, ...]:
        """Findings that refuse nothing."""
        return tuple(r for layer in self.layers for r in layer.flags)

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "accepted": self.accepted,
            "layers": [layer.to_json() for layer in self.layers],
            "unchecked": list(self.unchecked),
        }
