"""A network: the distinct units of many trees with where each came from and how many voices agree on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from handrail.network.kinds import Kinds, kinds
from handrail.network.model import FunctionalUnit, Identity, LeafKind, ObjectNode, Origin, Source, TaskTree


@dataclass(frozen=True)
class Network:
    """Merged trees. Built by `merge`; treat as immutable.

    Attributes:
        units: distinct units, in order of first appearance. Inputs and outputs are under the identity rule.
        sources: for each unit, every occurrence it stands for.
        nodes: distinct object nodes, in order of first appearance.
        number: node -> its position in `nodes`.
        ins: for each unit the numbers of its distinct input nodes, in written order.
        outs: the same for outputs.
        identity: the rule that was used.
        first_used: nodes that some tree uses before it makes them.
    """

    units: tuple[FunctionalUnit, ...]
    sources: tuple[tuple[Source, ...], ...]
    nodes: tuple[ObjectNode, ...]
    number: dict[ObjectNode, int] = field(repr=False)
    ins: tuple[tuple[int, ...], ...] = field(repr=False)
    outs: tuple[tuple[int, ...], ...] = field(repr=False)
    identity: Identity = Identity.FULL
    first_used: frozenset[int] = frozenset()

    def votes(self, unit: int) -> int:
        """How many different voices contain the unit; a voice that says it twice counts once."""
        return len({s.name for s in self.sources[unit]})

    def from_knowledge(self, unit: int) -> bool:
        """True where only a knowledge base has the unit."""
        return all(s.origin is Origin.KNOWLEDGE for s in self.sources[unit])

    def find(self, node: ObjectNode) -> int | None:
        """The node's number under the identity rule, or None."""
        return self.number.get(self.identity.project(node))

    def like(self, label: str) -> list[ObjectNode]:
        """Nodes with a label, in order of appearance."""
        return [n for n in self.nodes if n.label == label]

    def never_made(self) -> set[int]:
        """Numbers of nodes that are an input somewhere and an output nowhere."""
        made = {n for outs in self.outs for n in outs}
        return {n for ins in self.ins for n in ins} - made

    def leaves(self, vocabulary: Kinds | None = None) -> dict[LeafKind, set[int]]:
        """Nodes that nothing makes, by kind."""
        known = vocabulary or kinds()
        result: dict[LeafKind, set[int]] = {kind: set() for kind in LeafKind}
        for number in self.never_made():
            result[known.leaf(self.nodes[number])].add(number)
        return result

    def stock(self, kitchen: Iterable[ObjectNode] = (), vocabulary: Kinds | None = None) -> set[int]:
        """What a kitchen has: nodes of kind raw or tool that some tree takes as given, plus what is listed.

        A composite that a tree takes as given is a dangling intermediate and not in stock: otherwise the cheapest plan
        would be the tree with most of its steps missing.
        """
        known = vocabulary or kinds()
        have = {n for n in self.first_used if known.leaf(self.nodes[n]) is not LeafKind.COMPOSITE}
        for node in kitchen:
            number = self.find(node)
            if number is not None:
                have.add(number)
        return have


def merge(trees: Iterable[TaskTree], identity: Identity = Identity.FULL) -> Network:
    """Put trees together; equal units become one, which remembers all of its occurrences.

    Args:
        trees: proposals and knowledge bases, each unit with its source.
        identity: when two nodes are one.
    """
    number: dict[ObjectNode, int] = {}
    nodes: list[ObjectNode] = []
    seen: dict[tuple[str, frozenset[int], frozenset[int]], int] = {}
    units: list[FunctionalUnit] = []
    sources: list[list[Source]] = []
    ins: list[tuple[int, ...]] = []
    outs: list[tuple[int, ...]] = []
    projected: dict[ObjectNode, int] = {}

    def numbered(node: ObjectNode) -> int:
        found = projected.get(node)
        if found is None:
            stands = identity.project(node)
            found = number.get(stands)
            if found is None:
                found = number[stands] = len(nodes)
                nodes.append(stands)
            projected[node] = found
        return found

    first_used: set[int] = set()
    for tree in trees:
        made: set[int] = set()
        for unit in tree.units:
            i = tuple(dict.fromkeys(map(numbered, unit.inputs)))
            o = tuple(dict.fromkeys(map(numbered, unit.outputs)))
            first_used.update(n for n in i if n not in made)
            made.update(o)
            key = (unit.motion, frozenset(i), frozenset(o))
            at = seen.get(key)
            if at is None:
                seen[key] = len(units)
                if identity is not Identity.FULL:
                    unit = unit.but(inputs=(nodes[n] for n in i), outputs=(nodes[n] for n in o))
                units.append(unit)
                sources.append([unit.source])
                ins.append(i)
                outs.append(o)
            else:
                sources[at].append(unit.source)
    return Network(
        tuple(units),
        tuple(map(tuple, sources)),
        tuple(nodes),
        number,
        tuple(ins),
        tuple(outs),
        identity,
        frozenset(first_used),
    )
