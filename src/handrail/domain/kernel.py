"""Kernels: from which states does the rest of a plan still work?

The kernel of a suffix is the weakest condition under which its steps all run and end in the goal (the preimage of Rintanen and
others; the "kernel" of Fikes' triangle tables). Written out as a formula it grows exponentially in the number of conditional
effects that rules add, so it is kept as the suffix itself and *evaluated by progression*: run the ground operators on the values at
hand and look at every condition on the way. For known facts that is exactly the weakest condition (regression lemma); where facts
are unknown it is never weaker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property

from handrail.domain.ground import Node, Values, atoms, failing
from handrail.domain.operator import Operator
from handrail.domain.values import UNKNOWN, Atom, Value


class Kernel:
    """The weakest condition from which some ground operators, in their order, end in `end`.

    Args:
        operators: the suffix, guarded (rules, goal progress, exclusions).
        end: what must hold after the last of them.
    """

    def __init__(self, operators: tuple[Operator, ...], end: Node) -> None:
        self.operators = operators
        self.end = end

    def holds(self, values: Values) -> bool:
        """Whether the suffix definitely works from these values, monitors included."""
        running = dict(values)
        for op in self.operators:
            if not op.applicable(running):
                return False
            op.apply(running)
        return self.end.holds(running)

    def gaps(self, values: Values) -> tuple[Node, ...]:
        """What keeps it from holding: the failing tests of the first step that could not run, or of the end; empty where it holds."""
        running: dict[Atom, Value] = dict(values)
        for op in self.operators:
            if not op.applicable(running):
                return failing(op.condition, running)
            op.apply(running)
        return failing(self.end, running)

    def reads(self, values: Mapping[Atom, Value]) -> dict[Atom, Value]:
        """The facts of a state on which the suffix depends there: read by a step, or by the end, before any step surely wrote it."""
        written: set[Atom] = set()
        running: dict[Atom, Value] = dict(values)
        found: dict[Atom, Value] = {}

        def look(read: frozenset[Atom]) -> None:
            for atom in read - written:
                if atom in values and atom[0][0] != "$":
                    found.setdefault(atom, values[atom])

        for op in self.operators:
            look(op.reads)
            if not op.applicable(running):
                return dict(sorted(found.items()))
            # An effect that may not fire leaves what was there, so only what surely changed stops being read.
            written |= {a for a, v in op.apply(running).items() if v is not UNKNOWN}
        look(atoms(self.end))
        return dict(sorted(found.items()))

    @cached_property
    def identity(self) -> str:
        """Hash of the operators' conditions and effects and of the end."""
        digest = hashlib.sha256(str(self.end).encode())
        for op in self.operators:
            digest.update("\n".join((*op.name, str(op.condition), *map(str, op.effects))).encode())
        return digest.hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        return f"kernel {self.identity} of {len(self.operators)} steps"
