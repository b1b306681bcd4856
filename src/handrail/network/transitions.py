"""State and place changes learned per motion from a knowledge base, with a three-valued verdict on new ones.

A transition is (motion, states lost, states gained) of one object between a unit's inputs and outputs. Objects of one
label are paired by largest overlap, because a unit may hold a raw and a beaten egg. A change is

* `known` where the same motion made it in the knowledge base,
* `contradicted` where it undoes a change that nothing undoes: a shipped list (chopped -> whole), or one learned (seen at
  least `MIN_SEEN` times one way, never the other, by any motion),
* `unknown` otherwise: kept, dearer, flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from handrail.network.model import FunctionalUnit, ObjectNode, TaskTree
from handrail.network.names import DATA, load_yaml

MIN_SEEN = 5
"""Sightings one way, with none the other way, that make a learned change irreversible."""


class Truth(StrEnum):
    """What the knowledge base says about a change."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verdict on one change and what it rests on."""

    truth: Truth
    text: str
    seen: int = 0
    irreversible: bool = False


Delta = tuple[frozenset[str], frozenset[str]]


def pairs(unit: FunctionalUnit) -> Iterator[tuple[ObjectNode, ObjectNode]]:
    """(before, after) of each object that a unit has on both sides, every node used once, best overlap first."""
    after: dict[str, list[ObjectNode]] = {}
    for node in unit.outputs:
        after.setdefault(node.label, []).append(node)
    before: dict[str, list[ObjectNode]] = {}
    for node in unit.inputs:
        before.setdefault(node.label, []).append(node)
    for label, olds in before.items():
        news = list(after.get(label, ()))
        olds = list(olds)
        while olds and news:
            old, new = max(
                ((o, n) for o in olds for n in news),
                key=lambda p: (len(p[0].states & p[1].states), len(p[0].ingredients & p[1].ingredients)),
            )
            olds.remove(old)
            news.remove(new)
            yield old, new


def delta(before: ObjectNode, after: ObjectNode) -> Delta:
    """States lost and states gained; a treatment (`seasoned {salt}`) counts by its word."""
    old = before.states | {word for word, _ in before.treatments}
    new = after.states | {word for word, _ in after.treatments}
    return old - new, new - old


@dataclass
class Transitions:
    """What a knowledge base shows about changes.

    Attributes:
        changes: (motion, lost, gained) -> sightings.
        steps: (motion, one state lost, one state gained) -> sightings.
        directions: (one state lost, one state gained) -> sightings, whatever the motion.
        places: (motion, place before, place after) -> sightings.
        examples: a change -> where it was first seen.
        undoable_not: shipped (before, after) pairs that nothing undoes.
    """

    changes: Counter[tuple[str, frozenset[str], frozenset[str]]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    directions: Counter[tuple[str, str]] = field(default_factory=Counter)
    gains: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    motions: Counter[str] = field(default_factory=Counter)
    examples: dict[tuple[str, frozenset[str], frozenset[str]], str] = field(default_factory=dict)
    undoable_not: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def learn(cls, trees: Iterable[TaskTree], shipped: bool = True) -> Transitions:
        """Count the changes in all units of the trees.

        Args:
            trees: the knowledge base.
            shipped: also use the shipped list of irreversible changes.
        """
        known = cls(undoable_not=_irreversible() if shipped else frozenset())
        for tree in trees:
            for unit in tree.units:
                known.add(unit)
        return known

    def add(self, unit: FunctionalUnit) -> None:
        """Count one unit."""
        motion = unit.motion.rstrip("*")
        self.motions[motion] += 1
        for before, after in pairs(unit):
            lost, gained = delta(before, after)
            key = (motion, lost, gained)
            if lost or gained:
                self.changes[key] += 1
                self.examples.setdefault(key, f"{unit.source}: {before.label}")
                for new in gained:
                    self.gains[motion, new] += 1
                    for old in lost:
                        self.steps[motion, old, new] += 1
                        self.directions[old, new] += 1
            if before.place != after.place:
                self.places[motion, before.place, after.place] += 1

    def judge(self, motion: str, before: ObjectNode, after: ObjectNode) -> Evidence:
        """The verdict on one object's change of state."""
        lost, gained = delta(before, after)
        motion = motion.rstrip("*")
        if not lost and not gained:
            return Evidence(Truth.KNOWN, "no change of state")
        shown = f"{_show(lost)} -> {_show(gained)} by {motion}"
        for new in sorted(gained):
            for old in sorted(before.states):
                evidence = self._undoes(old, new, lost)
                if evidence:
                    return Evidence(Truth.CONTRADICTED, f"{shown}: {evidence}")
        seen = self.changes[motion, lost, gained]
        final = any(self.irreversible(old, new) for old in lost for new in gained)
        if seen:
            where = self.examples[motion, lost, gained]
            return Evidence(Truth.KNOWN, f"{shown}: seen {seen} times, first in {where}", seen, final)
        parts = [self.steps[motion, old, new] for new in gained for old in lost] or [
            self.gains[motion, new] for new in gained
        ]
        if gained and parts and all(any(self.steps[motion, o, n] for o in lost) for n in gained):
            return Evidence(Truth.KNOWN, f"{shown}: each part seen, at least {min(p for p in parts if p)} times",
                            min(p for p in parts if p), final)  # fmt: skip
        if gained and not lost and all(parts):
            return Evidence(
                Truth.KNOWN, f"{shown}: gained by this motion before, {min(parts)} times", min(parts), final
            )
        known = self.motions[motion]
        why = f"never seen with this motion ({known} units of it known)" if known else "motion never seen"
        return Evidence(Truth.UNKNOWN, f"{shown}: {why}", 0, final)

    def irreversible(self, before: str, after: str) -> bool:
        """True where a change from one state to another is never undone."""
        if (before, after) in self.undoable_not:
            return True
        return self.directions[before, after] >= MIN_SEEN and not self.directions[after, before]

    def _undoes(self, old: str, new: str, lost: frozenset[str]) -> str:
        """Why going from `old` back to `new` is impossible; empty where it isn't."""
        if (new, old) in self.undoable_not:
            return f"nothing makes {old} things {new} again"
        if old in lost and self.directions[new, old] >= MIN_SEEN and not self.directions[old, new]:
            return f"{new} -> {old} was seen {self.directions[new, old]} times, the other way never"
        return ""


def _show(states: frozenset[str]) -> str:
    return "{" + ", ".join(sorted(states)) + "}"


@cache
def _irreversible() -> frozenset[tuple[str, str]]:
    raw = load_yaml(DATA / "transitions.yaml")["irreversible"]
    return frozenset((str(a), str(b)) for a, b in raw)
