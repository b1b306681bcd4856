"""Checking functional units one by one, and the steps missing between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from handrail.network.kinds import Kinds, kinds
from handrail.network.model import FunctionalUnit, LeafKind, ObjectNode, TaskTree
from handrail.network.transitions import Transitions, Truth, delta, pairs


class Fault(StrEnum):
    """Kinds of finding. `FATAL` lists those that make a unit wrong."""

    SYNTAX = "syntax"
    SEVERAL_MOTIONS = "several motions in one unit"
    NO_STATE = "object without a state"
    FROM_NOTHING = "missing object"
    UNLISTED = "content not listed before"
    LOST = "object lost"
    NO_OP = "nothing changes"
    IMPROPER_CHANGE = "improper state change"
    UNKNOWN_CHANGE = "unknown state change"
    IRREVERSIBLE = "irreversible"
    MISSING_ACTION = "missing action"


FATAL = frozenset({Fault.SYNTAX, Fault.SEVERAL_MOTIONS, Fault.FROM_NOTHING, Fault.NO_OP, Fault.IMPROPER_CHANGE})


class Status(StrEnum):
    """The verdict on a unit."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    """Kept, dearer, flagged: something about it was never seen."""
    WRONG = "wrong"
    """Dropped before merging."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing noted about a unit, with its evidence."""

    fault: Fault
    text: str


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """Is this unit usable, and why."""

    unit: FunctionalUnit
    status: Status
    findings: tuple[Finding, ...] = ()

    @property
    def faults(self) -> frozenset[Fault]:
        """Kinds found."""
        return frozenset(f.fault for f in self.findings)

    @property
    def sentence(self) -> str:
        """Motion, status and what was found."""
        where = f"{self.unit.source}  " if self.unit.source.name else ""
        return f"{where}{self.unit.motion}: {self.status.value}" + "".join(f"; {f.text}" for f in self.findings)


JOINED = (" and ", " then ", ",", ";", "+", "/")


@dataclass(frozen=True)
class UnitCheck:
    """Judges units against a knowledge base.

    Attributes:
        transitions: what is known about state changes.
        strict: the paper's rule: a transition that the knowledge base lacks is an error, and every object needs a state,
            an ingredient or a place. Otherwise what is unknown is only doubtful.
        vocabulary: which labels stay when used.
    """

    transitions: Transitions
    strict: bool = False
    vocabulary: Kinds | None = None

    @property
    def _kinds(self) -> Kinds:
        return self.vocabulary or kinds()

    def judge(self, unit: FunctionalUnit) -> UnitVerdict:
        """Syntax, states, conservation and transitions of one unit."""
        found: list[Finding] = []
        self._syntax(unit, found)
        self._conservation(unit, found)
        for before, after in pairs(unit):
            evidence = self.transitions.judge(unit.motion, before, after)
            text = f"{before.label} {evidence.text}"
            if evidence.truth is Truth.CONTRADICTED:
                found.append(Finding(Fault.IMPROPER_CHANGE, text))
            elif evidence.truth is Truth.UNKNOWN:
                found.append(Finding(Fault.UNKNOWN_CHANGE, text))
            elif evidence.irreversible:
                found.append(Finding(Fault.IRREVERSIBLE, text))
        faults = {f.fault for f in found}
        fatal = FATAL | ({Fault.UNKNOWN_CHANGE, Fault.NO_STATE} if self.strict else set())
        if faults & fatal:
            status = Status.WRONG
        elif faults & {Fault.UNKNOWN_CHANGE, Fault.LOST, Fault.UNLISTED, Fault.NO_STATE}:
            status = Status.DOUBTFUL
        else:
            status = Status.GOOD
        return UnitVerdict(unit, status, tuple(found))

    def _syntax(self, unit: FunctionalUnit, found: list[Finding]) -> None:
        if not unit.inputs:
            found.append(Finding(Fault.SYNTAX, "nothing goes in"))
        if not unit.outputs:
            found.append(Finding(Fault.SYNTAX, "nothing comes out"))
        known = self.transitions.motions
        if unit.motion.rstrip("*") not in known and any(j in unit.motion for j in JOINED):
            found.append(Finding(Fault.SEVERAL_MOTIONS, f"'{unit.motion}' is more than one motion"))
        if unit.outputs and unit.no_op:
            found.append(Finding(Fault.NO_OP, "no output differs from the inputs"))
        found.extend(
            Finding(Fault.NO_STATE, f"{node.label} has neither state, content nor place")
            for node in dict.fromkeys(unit.objects())
            if node.bare and not self._kinds.stays(node.label)
        )

    def _conservation(self, unit: FunctionalUnit, found: list[Finding]) -> None:
        """What comes out was there before, or something was consumed for it; what goes in comes out or is used up."""
        have = content(unit.inputs)
        come = content(unit.outputs)
        food_in = {n.label for n in unit.inputs if not self._kinds.stays(n.label)}
        new_labels = {n.label for n in unit.outputs} - have
        new = {name for name in come - have if not self._kinds.stays(name)}
        used_up = {name for name in have - {n.label for n in unit.outputs} if not self._kinds.stays(name)}
        changed = any(any(delta(b, a)) for b, a in pairs(unit))
        spelled = {
            name for n in unit.outputs if n.label in have and not self._kinds.stays(n.label) for name in n.ingredients
        }
        for name in sorted(new):
            if name in spelled:
                # A composite that was there before gets its content written out: FOON does this when it serves.
                found.append(Finding(Fault.UNLISTED, f"{name} is only now listed as content"))
                continue
            if name in self._blended(unit):
                continue
            made = name in new_labels and (used_up or food_in or any(n.ingredients for n in unit.inputs))
            listed = any(name in n.ingredients and n.label in new_labels for n in unit.outputs)
            if not made and not listed and not (changed and name in new_labels):
                found.append(Finding(Fault.FROM_NOTHING, f"{name} comes out, but nothing with it goes in"))
        if not new_labels:
            found.extend(
                Finding(Fault.LOST, f"{name} goes in and is nowhere afterwards") for name in sorted(food_in - come)
            )
        places = _places(unit.inputs)
        found.extend(
            Finding(Fault.FROM_NOTHING, f"{node.label} comes out, but does not go in")
            for node in unit.outputs
            if self._kinds.stays(node.label) and node.label not in have and node.label not in places
        )

    @staticmethod
    def _blended(unit: FunctionalUnit) -> set[str]:
        """Ingredients that stand for others: a container loses some of its content and lists a new name instead."""
        found: set[str] = set()
        for before, after in pairs(unit):
            if before.ingredients - after.ingredients:
                found |= after.ingredients - before.ingredients
        return found


def content(nodes: Iterable[ObjectNode]) -> set[str]:
    """Labels and ingredients of the nodes, and what states were done with."""
    names: set[str] = set()
    for node in nodes:
        names.add(node.label)
        names |= node.ingredients
        for _, items in node.treatments:
            names |= items
    return names


def _places(nodes: Iterable[ObjectNode]) -> set[str]:
    return {r.container for n in nodes for r in n.relations}


@dataclass(frozen=True, slots=True)
class Gap:
    """A step missing in a tree: a unit needs an object in a condition that no earlier unit left it in."""

    unit: int
    node: ObjectNode
    text: str


def gaps(tree: TaskTree, vocabulary: Kinds | None = None) -> tuple[Gap, ...]:
    """Places where a tree jumps: used objects that were never made and that no kitchen is stocked with.

    An object already handled by an earlier unit that turns up in another condition is a missing action; so is a leaf
    of kind composite.
    """
    known = vocabulary or kinds()
    made: set[ObjectNode] = set()
    handled: dict[str, ObjectNode] = {}
    found: list[Gap] = []
    for index, unit in enumerate(tree.units):
        for node in unit.inputs:
            if node in made:
                continue
            last = handled.get(node.label)
            if last is not None and not known.stays(node.label):
                found.append(Gap(index, node, f"step {index + 1} needs {node!r}, but it was left as {last!r}"))
            elif known.leaf(node) is LeafKind.COMPOSITE:
                found.append(Gap(index, node, f"step {index + 1} needs {node!r}, which nothing makes"))
        for node in unit.outputs:
            made.add(node)
            handled[node.label] = node
    return tuple(found)
