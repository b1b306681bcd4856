"""Shrinking a query without changing its optimum.

Backward relevance, forward reachability, no-ops, node landmarks with first achievers, dominance. Why it is correct:
in any firing order a landmark of a unit's inputs already holds when the unit fires, so an output that is such a landmark
is never first achieved by it; a unit that costs no more, needs no more than what then holds, and gives at least as much
can take another's place. Landmarks only grow when units are removed, so removing one after another is safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

from handrail.network.retrieve import kernels
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.kernels import Arrays

LANDMARK_NODES = 2000
"""Node landmarks are bit sets, quadratic in the nodes: 5 s at 6,000."""


@dataclass(slots=True)
class Reduced:
    """A compact query: node 0 is the start, node `goal` is made by the last unit, which needs all goals and is free.

    Attributes:
        ins: inputs of each unit (at least one; node 0 where nothing else is needed).
        outs: outputs, never empty.
        cost: of each unit; the last one costs 0.
        orig: the unit's number in the hypergraph; -1 for the goal unit.
        producers: units that make a node.
        consumers: units that need a node.
        goal: number of the goal node, the highest.
        grain: greatest common divisor of the costs; every bound can be rounded up to a multiple of it.
    """

    ins: list[tuple[int, ...]]
    outs: list[tuple[int, ...]]
    cost: list[int]
    orig: list[int]
    producers: list[list[int]]
    consumers: list[list[int]]
    goal: int
    grain: int
    index: dict[int, int] = field(default_factory=dict)
    """original unit -> reduced unit"""
    number: dict[int, int] = field(default_factory=dict)
    """original node -> reduced node; empty for large queries"""
    _arrays: Arrays | None = field(default=None, repr=False)

    def arrays(self) -> Arrays:
        """The query as flat arrays, built when first asked for."""
        if self._arrays is None:
            self._arrays = Arrays(self)
        return self._arrays

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.goal + 1

    @property
    def last(self) -> int:
        """The goal unit."""
        return len(self.ins) - 1

    def total(self, plan: Iterable[int]) -> int:
        """Sum of the costs of reduced units."""
        return sum(self.cost[u] for u in plan)

    def original(self, plan: Iterable[int]) -> frozenset[int]:
        """The plan in the hypergraph's numbers, without the goal unit."""
        return frozenset(self.orig[u] for u in plan if self.orig[u] >= 0)


def ceil_to(value: float, grain: int) -> int:
    """The least multiple of `grain` that is not below `value` (1e-6 is forgiven to floating point)."""
    return -int(-(value - 1e-6) // grain) * grain


def _fire(
    ins: Mapping[int, frozenset[int]], outs: Mapping[int, frozenset[int]], units: Iterable[int]
) -> tuple[set[int], list[int]]:
    reached: set[int] = set()
    missing: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    ready: list[int] = []
    for unit in units:
        missing[unit] = len(ins[unit])
        if not missing[unit]:
            ready.append(unit)
        for n in ins[unit]:
            waiting.setdefault(n, []).append(unit)
    position = 0
    while position < len(ready):
        unit = ready[position]
        position += 1
        for n in outs[unit]:
            if n not in reached:
                reached.add(n)
                for other in waiting.get(n, ()):
                    missing[other] -= 1
                    if not missing[other]:
                        ready.append(other)
    return reached, ready


def _landmarks(
    ins: Mapping[int, frozenset[int]], outs: Mapping[int, frozenset[int]], order: list[int], reached: set[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Greatest fixpoint of LM(n) = {n} + AND over producers u of OR over inputs i of LM(i), as bit sets.

    Returns:
        (bit of each node, landmarks of each unit's inputs)
    """
    bit = {n: 1 << k for k, n in enumerate(sorted(reached))}
    of_node: dict[int, int] = {}
    of_unit: dict[int, int] = {}
    users: dict[int, list[int]] = {}
    for unit in order:
        for n in ins[unit]:
            users.setdefault(n, []).append(unit)
    queue = deque(order)
    queued = set(order)
    while queue:
        unit = queue.popleft()
        queued.discard(unit)
        mask = 0
        ready = True
        for n in ins[unit]:
            value = of_node.get(n)
            if value is None:
                ready = False
                break
            mask |= value
        if not ready:
            continue
        of_unit[unit] = mask
        for n in outs[unit]:
            old = of_node.get(n)
            new = mask | bit[n] if old is None else old & (mask | bit[n])
            if new != old:
                of_node[n] = new
                for other in users.get(n, ()):
                    if other not in queued:
                        queued.add(other)
                        queue.append(other)
    return bit, of_unit


def _dominated(
    alive: list[int],
    ins: Mapping[int, frozenset[int]],
    outs: Mapping[int, frozenset[int]],
    cost: tuple[int, ...],
    bit: Mapping[int, int],
    of_unit: Mapping[int, int],
) -> set[int]:
    """Units that another can replace, removed one at a time, dearest first, so that ties don't remove both."""
    makers: dict[int, set[int]] = {}
    for unit in alive:
        for n in outs[unit]:
            makers.setdefault(n, set()).add(unit)
    dead: set[int] = set()
    for unit in sorted(alive, key=lambda u: (-cost[u], u)):
        rivals: set[int] | None = None
        for n in outs[unit]:
            rivals = set(makers[n]) if rivals is None else rivals & makers[n]
        mask = of_unit.get(unit)
        for other in sorted(rivals or ()):
            if other == unit or other in dead or cost[other] > cost[unit]:
                continue
            if ins[other] <= ins[unit] or (mask is not None and all(mask & bit[i] for i in ins[other])):
                dead.add(unit)
                break
    return dead


def reduce(
    graph: Hypergraph,
    start: frozenset[int] | set[int],
    goals: Iterable[int],
    keep: Iterable[int] | None = None,
    dominance: bool = True,
    achievers: bool = True,
    landmark_nodes: int = LANDMARK_NODES,
) -> Reduced | None:
    """The compact form of a query, or None where the goals can't be reached.

    Args:
        graph: the network.
        start: nodes that are there.
        goals: nodes that are wanted.
        keep: only these units; None: all.
        dominance: drop dominated units. Must be off for k best plans and where things are used up.
        achievers: drop outputs that a unit can never achieve first. Must be off where things are used up.
        landmark_nodes: no landmarks above this many nodes.
    """
    wanted = [g for g in dict.fromkeys(goals) if g not in start]
    if len(graph.ins) >= kernels.LARGE and kernels.wanted(len(graph.ins)):
        shrunk = kernels.shrink(graph.arrays(), start, wanted, keep if keep is None else list(keep))
        if shrunk is None:
            return None
        if len(shrunk.units) >= kernels.LARGE:
            last = tuple(sorted(shrunk.goals.values())) or (0,)
            return _finish(graph, shrunk.units, [i or (0,) for i in shrunk.ins], shrunk.outs, last, shrunk.nodes)
        units = shrunk.units
    else:
        units = graph.relevant(start, wanted)
    if keep is not None:
        allowed = keep if isinstance(keep, set | frozenset) else set(keep)
        units = [u for u in units if u in allowed]
    ins: dict[int, frozenset[int]] = {}
    outs: dict[int, frozenset[int]] = {}
    alive: list[int] = []
    for u in units:
        made = frozenset(n for n in graph.outs[u] if n not in start)
        if made:
            outs[u] = made
            ins[u] = frozenset(n for n in graph.ins[u] if n not in start)
            alive.append(u)
    bit: dict[int, int] = {}
    of_unit: dict[int, int] = {}
    dominated = not dominance
    size = (-1, -1)
    while True:
        reached, order = _fire(ins, outs, alive)
        if any(g not in reached for g in wanted):
            return None
        alive, used = _relevant(ins, outs, order, wanted)
        for u in alive:
            if not outs[u] <= used:
                outs[u] = outs[u] & used
        if achievers and len(used) <= landmark_nodes:
            reached, order = _fire(ins, outs, alive)
            bit, of_unit = _landmarks(ins, outs, order, reached)
            for u in alive:
                mask = of_unit[u]
                if any(mask & bit[n] for n in outs[u]):
                    outs[u] = frozenset(n for n in outs[u] if not mask & bit[n])
            alive = [u for u in alive if outs[u]]
        now = (len(alive), sum(len(outs[u]) for u in alive))
        if now != size:
            size = now
            continue
        if dominated:
            break
        dominated = True
        dead = _dominated(alive, ins, outs, graph.cost, bit, of_unit)
        if not dead:
            break
        alive = [u for u in alive if u not in dead]
    return _compact(graph, alive, ins, outs, wanted)


def _relevant(
    ins: Mapping[int, frozenset[int]], outs: Mapping[int, frozenset[int]], order: list[int], wanted: list[int]
) -> tuple[list[int], set[int]]:
    makers: dict[int, list[int]] = {}
    for u in order:
        for n in outs[u]:
            makers.setdefault(n, []).append(u)
    used = set(wanted)
    stack = list(wanted)
    found: set[int] = set()
    while stack:
        for u in makers.get(stack.pop(), ()):
            if u not in found:
                found.add(u)
                for n in ins[u]:
                    if n not in used:
                        used.add(n)
                        stack.append(n)
    return sorted(found), used


def _compact(
    graph: Hypergraph,
    alive: list[int],
    ins: Mapping[int, frozenset[int]],
    outs: Mapping[int, frozenset[int]],
    wanted: list[int],
) -> Reduced:
    number: dict[int, int] = {}

    def numbered(nodes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(number.setdefault(n, len(number) + 1) for n in sorted(nodes)))

    all_ins = [numbered(ins[u]) or (0,) for u in alive]
    all_outs = [numbered(outs[u]) for u in alive]
    last_in = numbered(wanted) or (0,)
    query = _finish(graph, alive, all_ins, all_outs, last_in, len(number))
    query.number = number
    return query


def _finish(
    graph: Hypergraph,
    alive: list[int],
    all_ins: list[tuple[int, ...]],
    all_outs: list[tuple[int, ...]],
    last_in: tuple[int, ...],
    nodes: int,
) -> Reduced:
    goal = nodes + 1
    all_ins.append(last_in)
    all_outs.append((goal,))
    cost = [graph.cost[u] for u in alive] + [0]
    grain = 0
    for c in cost:
        grain = gcd(grain, c)
    producers: list[list[int]] = [[] for _ in range(goal + 1)]
    consumers: list[list[int]] = [[] for _ in range(goal + 1)]
    for u, needs in enumerate(all_ins):
        for n in needs:
            consumers[n].append(u)
        for n in all_outs[u]:
            producers[n].append(u)
    orig = [*alive, -1]
    return Reduced(
        all_ins, all_outs, cost, orig, producers, consumers, goal, max(1, grain), {o: u for u, o in enumerate(orig)}
    )
