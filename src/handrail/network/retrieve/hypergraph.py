"""A network of units as integers: built once, searched many times.

A unit turns input nodes into output nodes at a cost. The semantics here is *monotone* (FOON's): nothing is used up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from handrail.errors import ConfigError
from handrail.network.retrieve.kernels import GraphArrays


@dataclass(frozen=True)
class Hypergraph:
    """Units over nodes 0..n-1.

    Attributes:
        ins: inputs of each unit, distinct.
        outs: outputs of each unit that are not among its inputs; empty for a unit that changes nothing.
        kept: inputs that are outputs too (catalysts): they stay also where things are used up.
        cost: non-negative integers.
        nodes: number of nodes.
        producers: units that make a node.
        consumers: units that need a node.
    """

    ins: tuple[tuple[int, ...], ...]
    outs: tuple[tuple[int, ...], ...]
    kept: tuple[tuple[int, ...], ...]
    cost: tuple[int, ...]
    nodes: int
    producers: tuple[tuple[int, ...], ...] = field(repr=False)
    consumers: tuple[tuple[int, ...], ...] = field(repr=False)
    _arrays: list[GraphArrays] = field(default_factory=list, repr=False, compare=False)

    def arrays(self) -> GraphArrays:
        """The network as flat arrays, built when first asked for and shared by re-priced copies."""
        if not self._arrays:
            self._arrays.append(GraphArrays(self.ins, self.outs, self.consumers, self.producers))
        return self._arrays[0]

    @classmethod
    def build(
        cls, units: Iterable[tuple[Iterable[int], Iterable[int]]], cost: Sequence[int], nodes: int = 0
    ) -> Hypergraph:
        """Index units given as (inputs, outputs).

        Raises:
            ConfigError: a cost is negative or no integer, or the numbers of units and costs differ.
        """
        ins: list[tuple[int, ...]] = []
        outs: list[tuple[int, ...]] = []
        kept: list[tuple[int, ...]] = []
        top = nodes
        for inputs, outputs in units:
            i = tuple(dict.fromkeys(inputs))
            o = tuple(dict.fromkeys(outputs))
            ins.append(i)
            outs.append(tuple(n for n in o if n not in i))
            kept.append(tuple(n for n in o if n in i))
            top = max(top, 1 + max(i, default=-1), 1 + max(o, default=-1))
        if len(cost) != len(ins):
            raise ConfigError(f"{len(ins)} units but {len(cost)} costs")
        for unit, value in enumerate(cost):
            if not isinstance(value, int) or value < 0:
                raise ConfigError(f"unit {unit}: a cost is a non-negative integer, got {value!r}")
        producers: list[list[int]] = [[] for _ in range(top)]
        consumers: list[list[int]] = [[] for _ in range(top)]
        for unit, nodes_in in enumerate(ins):
            for n in nodes_in:
                consumers[n].append(unit)
            for n in outs[unit]:
                producers[n].append(unit)
        return cls(
            tuple(ins), tuple(outs), tuple(kept), tuple(cost), top,
            tuple(map(tuple, producers)), tuple(map(tuple, consumers)),
        )  # fmt: skip

    def priced(self, cost: Sequence[int]) -> Hypergraph:
        """The same network under other costs; the index is shared."""
        if len(cost) != len(self.ins):
            raise ConfigError(f"{len(self.ins)} units but {len(cost)} costs")
        return Hypergraph(
            self.ins, self.outs, self.kept, tuple(cost), self.nodes, self.producers, self.consumers, self._arrays
        )

    def relevant(self, start: set[int] | frozenset[int], goals: Iterable[int]) -> list[int]:
        """Units on some backward path from the goals, not looking behind start nodes; sorted."""
        found: set[int] = set()
        seen = {g for g in goals if g not in start}
        stack = list(seen)
        while stack:
            for unit in self.producers[stack.pop()]:
                if unit not in found:
                    found.add(unit)
                    for n in self.ins[unit]:
                        if n not in seen and n not in start:
                            seen.add(n)
                            stack.append(n)
        return sorted(found)

    def fire(self, units: Iterable[int], start: Iterable[int]) -> tuple[set[int], list[int]]:
        """Everything that the units can make from the start, and the units that fired, in an executable order."""
        reached = set(start)
        missing: dict[int, int] = {}
        waiting: dict[int, list[int]] = {}
        ready: list[int] = []
        for unit in units:
            count = 0
            for n in self.ins[unit]:
                if n not in reached:
                    count += 1
                    waiting.setdefault(n, []).append(unit)
            missing[unit] = count
            if not count:
                ready.append(unit)
        order: list[int] = []
        position = 0
        while position < len(ready):
            unit = ready[position]
            position += 1
            order.append(unit)
            for n in self.outs[unit]:
                if n not in reached:
                    reached.add(n)
                    for other in waiting.get(n, ()):
                        missing[other] -= 1
                        if not missing[other]:
                            ready.append(other)
        return reached, order

    def executable(self, order: Sequence[int], start: Iterable[int], goals: Iterable[int]) -> str:
        """Replay a sequence: empty text where every unit finds its inputs and all goals are made, else what is wrong."""
        have = set(start)
        for position, unit in enumerate(order):
            for n in self.ins[unit]:
                if n not in have:
                    return f"step {position + 1} (unit {unit}) needs node {n}, which is not there yet"
            have.update(self.outs[unit])
        for g in goals:
            if g not in have:
                return f"goal node {g} is not made"
        return ""

    def total(self, units: Iterable[int]) -> int:
        """Sum of the costs."""
        return sum(self.cost[u] for u in units)
