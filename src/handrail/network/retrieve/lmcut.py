"""LM-cut: a lower bound and disjunctive landmarks for minimum-cost derivation.

Helmert and Domshlak, "Landmarks, Critical Paths and Abstractions: What's the Difference Anyway?" (ICAPS 2009). Each cut
is a set of units of which every plan uses at least one; the cuts partition the costs, so their sum is a lower bound.
Choosing one input per unit (its h-max supporter) turns the network into an ordinary graph in which any plan contains a
path from start to goal; the cut meets it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handrail.network.retrieve import kernels
from handrail.network.retrieve.reduce import Reduced

INFINITE = float("inf")


@dataclass(slots=True)
class Cuts:
    """Result of LM-cut.

    Attributes:
        bound: sum of the cuts' costs; infinite where the goal is out of reach.
        cuts: the landmarks, in the order found.
        residual: what each unit's cost has left.
        value: h-max of each node under the residual costs; bound + residual[u] + max over inputs of value is a bound
            for all plans that use u.
        complete: False where it was stopped before h-max of the goal was 0.
    """

    bound: float
    cuts: list[tuple[int, ...]]
    residual: list[float]
    value: list[float]
    complete: bool = True


def lmcut(
    query: Reduced,
    cost: Sequence[float],
    limit: int = 1_000_000,
    enough: float = INFINITE,
    stopped: Callable[[], bool] | None = None,
    zero: float = 0.0,
) -> Cuts:
    """Run LM-cut.

    Args:
        query: the reduced query.
        cost: integer or real costs; for real ones give `zero` about 1e-9, else rounding keeps it busy for ever.
        limit: stop after this many cuts.
        enough: stop once the bound is this high.
        stopped: asked after every cut; stop where it says True.
        zero: costs up to this count as 0.
    """
    if kernels.wanted(len(query.ins)):
        bound, cuts, residual, value, complete = kernels.lmcut(query, cost, limit, enough, zero)
        return Cuts(bound, cuts, residual.tolist(), value.tolist(), complete)
    left = list(cost)
    ins, outs, consumers, _producers, goal = query.ins, query.outs, query.consumers, query.producers, query.goal
    value = [INFINITE] * query.nodes
    supporter = [-1] * len(ins)
    missing = [len(i) for i in ins]
    value[0] = 0
    heap: list[tuple[float, int]] = [(0, 0)]
    done = bytearray(query.nodes)
    while heap:
        distance, node = heapq.heappop(heap)
        if done[node]:
            continue
        done[node] = 1
        for unit in consumers[node]:
            missing[unit] -= 1
            if not missing[unit]:
                supporter[unit] = node
                reached = distance + left[unit]
                for n in outs[unit]:
                    if reached < value[n]:
                        value[n] = reached
                        heapq.heappush(heap, (reached, n))
    cuts = []
    bound = 0.0
    if value[goal] == INFINITE:
        return Cuts(INFINITE, cuts, left, value)
    while value[goal] > zero:
        if len(cuts) >= limit or bound >= enough or (stopped is not None and stopped()):
            return Cuts(bound, cuts, left, value, False)
        zone = _zone(query, left, supporter, zero)
        cut = _front(query, supporter, zone)
        if not cut:  # only rounding is left between the start and the goal
            break
        least = min(left[u] for u in cut)
        bound += least
        cuts.append(tuple(cut))
        heap = []
        for unit in cut:
            left[unit] -= least
            reached = value[supporter[unit]] + left[unit]
            for n in outs[unit]:
                if reached < value[n] - 1e-12:
                    value[n] = reached
                    heap.append((reached, n))
        heapq.heapify(heap)
        while heap:
            distance, node = heapq.heappop(heap)
            if distance > value[node]:
                continue
            for unit in consumers[node]:
                if supporter[unit] != node:
                    continue
                best, most = node, distance
                for i in ins[unit]:
                    if value[i] > most:
                        best, most = i, value[i]
                supporter[unit] = best
                reached = most + left[unit]
                for n in outs[unit]:
                    if reached < value[n] - 1e-12:
                        value[n] = reached
                        heapq.heappush(heap, (reached, n))
    return Cuts(bound, cuts, left, value)


def _zone(query: Reduced, left: Sequence[float], supporter: Sequence[int], zero: float) -> bytearray:
    """Nodes from which the goal is reached at no cost through supporters."""
    zone = bytearray(query.nodes)
    zone[query.goal] = 1
    stack = [query.goal]
    producers = query.producers
    while stack:
        for unit in producers[stack.pop()]:
            if left[unit] <= zero:
                node = supporter[unit]
                if node >= 0 and not zone[node]:
                    zone[node] = 1
                    stack.append(node)
    return zone


def _front(query: Reduced, supporter: Sequence[int], zone: bytearray) -> list[int]:
    """Units that lead from the start's side into the zone."""
    seen = bytearray(query.nodes)
    seen[0] = 1
    stack = [0]
    cut: list[int] = []
    outs, consumers = query.outs, query.consumers
    while stack:
        node = stack.pop()
        for unit in consumers[node]:
            if supporter[unit] == node:
                for n in outs[unit]:
                    if zone[n]:
                        cut.append(unit)
                        break
                else:
                    for n in outs[unit]:
                        if not seen[n]:
                            seen[n] = 1
                            stack.append(n)
    return cut
