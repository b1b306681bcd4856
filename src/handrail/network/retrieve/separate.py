"""Landmarks that a given solution violates: the lazy rows of the relaxation."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import numpy as np

from handrail.network.retrieve.incumbent import derives
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Row

FLOW_SCALE = 1_000_000
NODE_TARGETS = 25
CLEARLY_MADE = 0.2


def by_lmcut(query: Reduced, x: Sequence[float], rounds: int = 40) -> list[Row]:
    """LM-cut under the fractional use as cost: each cut used less than once is violated."""
    cost = [0.0 if v < 1e-6 else float(v) for v in x]
    cuts = lmcut(query, cost, limit=rounds, zero=1e-9)
    return [Row(tuple(sorted(c))) for c in cuts.cuts if sum(x[u] for u in c) < 1 - 1e-3]


def supporters(query: Reduced, x: Sequence[float], z: Sequence[float], mode: str, rng: random.Random) -> list[int]:
    """One input for each unit: by h-max under `x`, the least made one, or a random one."""
    if mode == "hmax":
        value = lmcut(query, [max(0.0, float(v)) for v in x], limit=0).value
        return [max(nodes, key=lambda n: (value[n], n)) for nodes in query.ins]
    if mode == "made":
        return [min(nodes, key=lambda n: (z[n], n)) for nodes in query.ins]
    return [rng.choice(nodes) for nodes in query.ins]


def by_flow(
    query: Reduced, x: Sequence[float], z: Sequence[float], chosen: Sequence[int], targets: Iterable[int]
) -> list[Row]:
    """Minimum cuts in the ordinary graph that the chosen inputs make.

    With one input chosen for every unit, any plan that makes node t contains a path from the start to t, so each set of
    units that separates them is used at least z[t] times.
    """
    from scipy.sparse import csr_matrix  # takes longer to import than most searches take
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    m, n = len(query.ins), query.nodes
    tails: list[int] = []
    heads: list[int] = []
    capacity: list[int] = []
    big = 4 * FLOW_SCALE
    for u in range(m):
        into, out = n + 2 * u, n + 2 * u + 1
        tails += (chosen[u], into)
        heads += (into, out)
        capacity += (big, round(max(0.0, float(x[u])) * FLOW_SCALE))
        for node in query.outs[u]:
            tails.append(out)
            heads.append(node)
            capacity.append(big)
    size = n + 2 * m
    graph = csr_matrix((np.array(capacity, dtype=np.int32), (tails, heads)), shape=(size, size))
    found: list[Row] = []
    for target in targets:
        need = 1.0 if target == query.goal else float(z[target])
        flow = maximum_flow(graph, 0, target, method="dinic")
        if flow.flow_value >= (need - 1e-3) * FLOW_SCALE:
            continue
        residual = graph - flow.flow
        residual.data = np.maximum(residual.data, 0)
        residual.eliminate_zeros()
        side = np.zeros(size, dtype=bool)
        side[breadth_first_order(residual, 0, return_predecessors=False)] = True
        cut = tuple(u for u in range(m) if side[n + 2 * u] and not side[n + 2 * u + 1])
        if cut:
            found.append(Row(cut, -1 if target == query.goal else target))
    return found


def minimal_landmark(query: Reduced, used: set[int], order: Sequence[int]) -> tuple[int, ...]:
    """A minimal landmark that `used` misses: `used` grows while the goal stays out of reach; the refused units."""
    reached = {0}
    missing = [sum(1 for i in nodes if i) for nodes in query.ins]
    inside = bytearray(len(query.ins))

    def absorb(units: Iterable[int], reached: set[int], undo: list[int]) -> bool:
        """Fire what can fire; False where the goal would be reached."""
        ready = [u for u in units if inside[u] and not missing[u]]
        position = 0
        while position < len(ready):
            u = ready[position]
            position += 1
            for node in query.outs[u]:
                if node not in reached:
                    if node == query.goal:
                        return False
                    reached.add(node)
                    undo.append(node)
                    for other in query.consumers[node]:
                        missing[other] -= 1
                        if inside[other] and not missing[other]:
                            ready.append(other)
        return True

    for u in used:
        inside[u] = 1
    if not absorb(sorted(used), reached, []):
        return ()
    refused: list[int] = []
    for u in order:
        if inside[u]:
            continue
        inside[u] = 1
        undo: list[int] = []
        if not absorb((u,), reached, undo):
            inside[u] = 0
            for node in undo:
                reached.discard(node)
                for other in query.consumers[node]:
                    missing[other] += 1
            refused.append(u)
    return tuple(sorted(refused))


def for_integer(query: Reduced, used: set[int], rng: random.Random, cuts: int = 60, minimal: int = 10) -> list[Row]:
    """Landmarks missed by a set of units that does not make the goal."""
    cost = [0.0 if u in used else float(c) for u, c in enumerate(query.cost)]
    # Free units outside `used` would hide cuts of cost 0, so they get a small price here.
    cost = [c if c or u in used or query.orig[u] < 0 else query.grain / 2 for u, c in enumerate(cost)]
    found = [Row(tuple(sorted(c))) for c in lmcut(query, cost, limit=cuts).cuts]
    order = [u for u in range(len(query.ins)) if u not in used]
    for _ in range(minimal):
        rng.shuffle(order)
        landmark = minimal_landmark(query, used | {query.last}, [u for u in order if u != query.last])
        if landmark:
            found.append(Row(landmark))
    return found


def is_plan(query: Reduced, used: Iterable[int]) -> bool:
    """True where the units with the goal unit make the goal."""
    return derives(query, {*used, query.last})
