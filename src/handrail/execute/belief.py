"""What the runner believes: the newest sight of each fact, and doubt where a step may have changed it since."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from handrail.domain.rules import RuleKind
from handrail.domain.state import FactSource, Observation, State
from handrail.domain.task import Task
from handrail.domain.types import Objects
from handrail.domain.values import UNKNOWN, Atom, Value


class Belief:
    """Facts with their source and time.

    A fact is unknown from the start of a step that may change it until an observation that is newer than the step's end. A fact that
    an observation doesn't show keeps the value that was last seen, if nothing of ours can have changed it since.

    Attributes:
        objects: of the scene, with those discovered.
        values: facts; what is not listed has its default.
        sources: where a listed fact comes from, and the world's time of it in seconds.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.values: dict[Atom, Value] = {}
        self.sources: dict[Atom, tuple[FactSource, float]] = {}
        self._doubt: dict[Atom, float] = {}
        self._told: dict[Atom, Value] = {}

    @property
    def state(self) -> State:
        """The facts as a state."""
        return State(self.objects, self.values)

    def begin(self, atoms: Iterable[Atom]) -> None:
        """A step that may change these fluents starts."""
        for a in atoms:
            self.values[a] = UNKNOWN
            self._doubt[a] = math.inf
            self._told.pop(a, None)

    def ended(self, atoms: Iterable[Atom], time: float) -> None:
        """It ended, at the world's time in seconds."""
        for a in atoms:
            if a in self._doubt:
                self._doubt[a] = time

    def see(self, seen: Observation) -> tuple[Atom, ...]:
        """Take in an observation; returns the fluents whose believed value it contradicts, sorted.

        A fact that is older than the observation (`ages`) counts from when it was really seen.
        """
        self.objects = seen.state.objects
        ages = seen.ages or {}
        surprises: list[Atom] = []
        for atom in {*seen.state.values, *self.values}:
            value = seen.state.get(atom)
            when = seen.time - ages.get(atom, 0.0)
            if when < self._doubt.get(atom, -math.inf) or (value is not UNKNOWN and when < self._seen_at(atom)):
                continue
            if value is UNKNOWN:
                continue  # what was last seen, or doubted, stays
            if atom in self._told:
                if atom not in seen.state.values:
                    continue  # the world says nothing of it; the person did
                del self._told[atom]
            old = self.values.get(atom, value)
            if old is not UNKNOWN and old != value:
                surprises.append(atom)
            self.values[atom] = value
            self.sources[atom] = (FactSource.SEEN, when)
            self._doubt.pop(atom, None)
        for atom, value in seen.state.values.items():
            if value is UNKNOWN:
                self.values.setdefault(atom, UNKNOWN)
        return tuple(sorted(surprises))

    def _seen_at(self, atom: Atom) -> float:
        return self.sources.get(atom, (FactSource.DEFAULT, -math.inf))[1]

    def tell(self, facts: Mapping[Atom, Value], time: float) -> None:
        """Take in what a person said; it holds until it is seen otherwise."""
        for atom, value in facts.items():
            self.values[atom] = value
            self.sources[atom] = (FactSource.TOLD, time)
            self._told[atom] = value
            self._doubt.pop(atom, None)

    def get(self, atom: Atom) -> Value:
        """The believed value, UNKNOWN where in doubt."""
        return self.state.get(atom)


def carry(task: Task, carried: Mapping[Atom, Value], values: Mapping[Atom, Value], stepped: bool) -> dict[Atom, Value]:
    """Monitor values after an observation: what the run has seen so far, as the rules count it.

    Unlike an operator's effects these go by what was *observed*: a promise is kept when its condition is seen, a subgoal is
    reached when it is seen. A promise whose steps have run out stays open with one step left, so that it is still hurried after.

    Args:
        task: rules and goal.
        carried: values before.
        values: observed facts.
        stepped: whether a step was attempted since.
    """
    out: dict[Atom, Value] = {}
    for r in task.rules:
        if r.rule.kind is RuleKind.BEFORE:
            out[r.atom] = carried.get(r.atom) is True or r.first.holds(values)
        elif r.rule.kind is RuleKind.AFTER:
            before = carried.get(r.atom, 0)
            left = before if isinstance(before, int) else 0
            if r.second.holds(values):
                out[r.atom] = 0
            elif left:
                out[r.atom] = max(1, left - 1) if stepped else left
            else:
                out[r.atom] = r.rule.within if r.first.holds(values) else 0
    reached = True
    for i, sub in enumerate(task.subgoals):
        atom: Atom = ("$goal", str(i))
        reached = reached and (carried.get(atom) is True or sub.holds(values))
        out[atom] = reached
    return out
