"""The seam: a scorer gives each option one number, with where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from handrail.domain.option import Fingerprint, Option, Score

if TYPE_CHECKING:
    from handrail.language.model import Model


@dataclass(frozen=True, slots=True)
class Context:
    """What a scorer is told about the situation; all of it is data, never an instruction.

    Attributes:
        scene: what is there, as a phrase without a full stop.
        request: the person's words.
        done: what was done before, as texts, oldest first.
    """

    scene: str
    request: str
    done: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # a line break would end the line that a prompt gives the text, and begin one of its own making
        for name in ("scene", "request"):
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))
        object.__setattr__(self, "done", tuple(" ".join(d.split()) for d in self.done))


class Scorer(Protocol):
    """Whatever scores options."""

    @property
    def provenance(self) -> Fingerprint:
        """What its numbers depend on, known before it scores anything."""

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """One score per option, in the same order, of one scale and provenance.

        Raises:
            ModelError: a model was needed and failed.
        """


def digest(*texts: str) -> str:
    """Twelve hexadecimal digits that name some texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def model_parts(model: Model) -> dict[str, object]:
    """What identifies a model in a score's provenance, part by part, so that a mismatch can be named."""
    made = model.fingerprint
    return {
        "model": made.model,
        "weights": made.weights[:16],
        "quantisation": made.quantisation,
        "backend": made.backend,
        "threads": made.threads,
        "batching": made.batching,
    }


def provenance(kind: str, **parts: object) -> Fingerprint:
    """The fingerprint of a scorer: its kind and whatever its numbers depend on."""
    return Fingerprint.of({"score": kind, **parts})
