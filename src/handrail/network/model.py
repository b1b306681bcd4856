"""Functional units, object nodes, task trees and networks as frozen values with exact identity rules.

*Identity of an object node* is (label, states, ingredients, relations, treatments), all as sets: the order in which a
file lists them means nothing. The state `on` (a device runs) and the relation `on [tray]` are different facts and stay
apart. Ingredients belong to the identity: without them every salad is any bowl. What a file says about an occurrence
only (time, whether the object moved, quantity) is kept but never part of the identity.

*Identity of a functional unit* is (motion, set of input nodes, set of output nodes).

Source of the vocabulary: Paulius et al., "Functional Object-Oriented Network for Manipulation Learning" (IROS 2016).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

PLACE_WORDS = frozenset(
    {"in", "on", "under", "with", "attached to", "from", "below", "over", "covering", "covered", "coated", "at"}
)
"""Words that relate an object to a container. `at` says that a source gave no word (the JSON dialect)."""


class LeafKind(StrEnum):
    """What a node that nothing produces stands for."""

    RAW = "raw"
    """Something a kitchen is stocked with (or a package of it)."""
    TOOL = "tool"
    """A utensil, appliance or empty container: stays when used."""
    COMPOSITE = "composite"
    """Something that somebody must have made: a dangling intermediate unless it is bought."""


class Origin(StrEnum):
    """Where a unit came from."""

    PROPOSAL = "proposal"
    KNOWLEDGE = "knowledge"
    SKILL = "skill"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Source:
    """Provenance of one unit: who said it, and where."""

    name: str = ""
    """File, model run or person; equal names count as one voice."""
    origin: Origin = Origin.PROPOSAL
    index: int = -1
    """Position of the unit in its tree."""
    line: int = 0
    """Line in the file, from 1; 0 unknown."""

    def __str__(self) -> str:
        """`name:line` or `name#index`."""
        if self.line:
            return f"{self.name}:{self.line}"
        return f"{self.name}#{self.index}" if self.index >= 0 else self.name


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """`word [container]`: where an object is."""

    word: str
    container: str

    def __str__(self) -> str:
        """As in the text format: `in [bowl]`."""
        return f"{self.word} [{self.container}]"


Treatment = tuple[str, frozenset[str]]
"""A state with what it was done with: ('seasoned', {salt, herb}) is written `seasoned {salt,herb}`."""


class ObjectNode:
    """An object in a condition. Immutable; equal iff all identity fields are equal.

    Attributes:
        label: the object's name.
        states: physical states such as `chopped`.
        ingredients: what it contains (`contains {a,b}`).
        relations: where it is.
        treatments: states that name what they were done with.
    """

    __slots__ = ("_hash", "ingredients", "label", "relations", "states", "treatments")

    def __init__(
        self,
        label: str,
        states: Iterable[str] = (),
        ingredients: Iterable[str] = (),
        relations: Iterable[Relation] = (),
        treatments: Iterable[Treatment] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "label", label)
        put(self, "states", frozenset(states))
        put(self, "ingredients", frozenset(ingredients))
        put(self, "relations", frozenset(relations))
        put(self, "treatments", frozenset(treatments))
        put(self, "_hash", hash((label, self.states, self.ingredients, self.relations, self.treatments)))

    label: str
    states: frozenset[str]
    ingredients: frozenset[str]
    relations: frozenset[Relation]
    treatments: frozenset[Treatment]
    _hash: int

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: nodes are keys of dictionaries everywhere."""
        raise AttributeError(f"ObjectNode is immutable; use .but({name}=...)")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, ObjectNode)
            and self._hash == other._hash
            and self.label == other.label
            and self.states == other.states
            and self.ingredients == other.ingredients
            and self.relations == other.relations
            and self.treatments == other.treatments
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return ObjectNode, (self.label, self.states, self.ingredients, self.relations, self.treatments)

    def but(
        self,
        *,
        label: str | None = None,
        states: Iterable[str] | None = None,
        ingredients: Iterable[str] | None = None,
        relations: Iterable[Relation] | None = None,
        treatments: Iterable[Treatment] | None = None,
    ) -> ObjectNode:
        """A copy with some fields changed."""
        return ObjectNode(
            self.label if label is None else label,
            self.states if states is None else states,
            self.ingredients if ingredients is None else ingredients,
            self.relations if relations is None else relations,
            self.treatments if treatments is None else treatments,
        )

    @property
    def bare(self) -> bool:
        """True where nothing but the label is known."""
        return not (self.states or self.ingredients or self.relations or self.treatments)

    @property
    def place(self) -> str:
        """Containers, sorted and joined by commas; empty where unknown."""
        return ",".join(sorted(r.container for r in self.relations))

    def sort_key(self) -> tuple[str, ...]:
        """A total order that does not depend on hashing."""
        return (
            self.label,
            "|".join(sorted(self.states)),
            "|".join(sorted(self.ingredients)),
            "|".join(sorted(map(str, self.relations))),
            "|".join(sorted(f"{s}{sorted(w)}" for s, w in self.treatments)),
        )

    def __repr__(self) -> str:
        """`onion (chopped; in [bowl])`."""
        parts = sorted(self.states)
        parts += [f"{s} {{{','.join(sorted(w))}}}" for s, w in sorted(self.treatments, key=lambda t: t[0])]
        if self.ingredients:
            parts.append("contains {" + ",".join(sorted(self.ingredients)) + "}")
        parts += [str(r) for r in sorted(self.relations)]
        return f"{self.label} ({'; '.join(parts)})" if parts else self.label


class Identity(StrEnum):
    """When two object nodes are one node of a network, from finest to coarsest."""

    FULL = "full"
    PLACE = "place"
    """As full, but the relation word is dropped: `in [bowl]` = `on [bowl]` (needed beside the JSON dialect)."""
    NO_INGREDIENTS = "no-ingredients"
    LABEL = "label"

    def project(self, node: ObjectNode) -> ObjectNode:
        """The representative that stands for the node under this rule."""
        if self is Identity.FULL:
            return node
        if self is Identity.LABEL:
            return ObjectNode(node.label)
        if self is Identity.NO_INGREDIENTS:
            return node.but(ingredients=())
        if not node.relations or all(r.word == "at" for r in node.relations):
            return node
        return node.but(relations={Relation("at", r.container) for r in node.relations})


class FunctionalUnit:
    """Inputs, a motion, outputs: one step of a recipe. Immutable; equal iff motion and both node *sets* are equal."""

    __slots__ = ("_key", "end", "inputs", "motion", "moving", "outputs", "source", "start")

    inputs: tuple[ObjectNode, ...]
    motion: str
    outputs: tuple[ObjectNode, ...]
    source: Source
    start: str
    end: str
    moving: tuple[bool, ...]
    _key: tuple[str, frozenset[ObjectNode], frozenset[ObjectNode]]

    def __init__(
        self,
        inputs: Iterable[ObjectNode],
        motion: str,
        outputs: Iterable[ObjectNode],
        source: Source = Source(),
        start: str = "",
        end: str = "",
        moving: Iterable[bool] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "inputs", tuple(inputs))
        put(self, "motion", motion)
        put(self, "outputs", tuple(outputs))
        put(self, "source", source)
        put(self, "start", start)
        put(self, "end", end)
        put(self, "moving", tuple(moving))
        put(self, "_key", (motion, frozenset(self.inputs), frozenset(self.outputs)))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: units are keys of dictionaries."""
        raise AttributeError(f"FunctionalUnit is immutable; use .but({name}=...)")

    @property
    def key(self) -> tuple[str, frozenset[ObjectNode], frozenset[ObjectNode]]:
        """What makes two units the same."""
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionalUnit) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.inputs, self.motion, self.outputs, self.source, self.start, self.end, self.moving)
        return FunctionalUnit, fields

    def but(
        self,
        *,
        inputs: Iterable[ObjectNode] | None = None,
        motion: str | None = None,
        outputs: Iterable[ObjectNode] | None = None,
        source: Source | None = None,
    ) -> FunctionalUnit:
        """A copy with some fields changed; the moving flags are kept only where the objects are still as many."""
        new_in = self.inputs if inputs is None else tuple(inputs)
        new_out = self.outputs if outputs is None else tuple(outputs)
        same = len(new_in) == len(self.inputs) and len(new_out) == len(self.outputs)
        return FunctionalUnit(
            new_in,
            self.motion if motion is None else motion,
            new_out,
            self.source if source is None else source,
            self.start,
            self.end,
            self.moving if same else (),
        )

    @property
    def no_op(self) -> bool:
        """True where no output is new: the unit can never help."""
        return self._key[2] <= self._key[1]

    def objects(self) -> Iterator[ObjectNode]:
        """Inputs, then outputs."""
        yield from self.inputs
        yield from self.outputs

    def __repr__(self) -> str:
        """`pour: a, b -> c`."""
        return f"{self.motion}: {', '.join(map(repr, self.inputs))} -> {', '.join(map(repr, self.outputs))}"


@dataclass(frozen=True, slots=True)
class TaskTree:
    """An ordered list of units that ends in a goal.

    Attributes:
        units: in the order in which they were written or are executed.
        goal: what the tree makes; None: the main output of the last unit (`main_output`).
        name: of the recipe or task.
        source: who wrote it.
    """

    units: tuple[FunctionalUnit, ...]
    goal: ObjectNode | None = None
    name: str = ""
    source: Source = field(default_factory=Source)

    @property
    def target(self) -> ObjectNode | None:
        """The goal node, or the main output of the last unit that has outputs; None for an empty tree."""
        if self.goal is not None:
            return self.goal
        for unit in reversed(self.units):
            if unit.outputs:
                return main_output(unit)
        return None

    def used_before_made(self) -> tuple[ObjectNode, ...]:
        """Nodes that a unit needs and no earlier unit makes, in order of first use."""
        made: set[ObjectNode] = set()
        need: dict[ObjectNode, None] = {}
        for unit in self.units:
            for node in unit.inputs:
                if node not in made:
                    need.setdefault(node)
            made.update(unit.outputs)
        return tuple(need)

    def named(self, name: str) -> TaskTree:
        """The tree under another name."""
        return replace(self, name=name)


def main_output(unit: FunctionalUnit) -> ObjectNode:
    """The output that carries the unit's result.

    Rule: the output that is not among the inputs with the most ingredients; ties go to the one whose label appears in
    no input, then to the first written. An output with many ingredients is what a recipe builds up (the salad in its
    bowl); where nothing has ingredients the new object or state wins.
    """
    inputs = set(unit.inputs)
    labels = {n.label for n in unit.inputs}
    fresh = [n for n in unit.outputs if n not in inputs] or list(unit.outputs)
    return max(enumerate(fresh), key=lambda p: (len(p[1].ingredients), p[1].label not in labels, -p[0]))[1]
