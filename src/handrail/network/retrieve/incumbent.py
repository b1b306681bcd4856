"""Good plans fast: Knuth's generalisation of Dijkstra, reverse deletion, and a ban-one local search.

Knuth (1977) finds the cheapest *tree* (shared steps paid every time); taking each of its units once gives a plan.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from handrail.network.retrieve import kernels
from handrail.network.retrieve.reduce import Reduced


def knuth(query: Reduced, cost: Sequence[float], banned: Collection[int] = ()) -> tuple[list[float | None], list[int]]:
    """Cheapest derivation trees.

    Returns:
        (value of each node or None, the unit that makes it or -1), for nodes settled before the goal.
    """
    if kernels.wanted(len(query.ins)):
        values, makers = kernels.knuth(query, cost, banned)
        reached_nodes: list[float | None] = [v if v != float("inf") else None for v in values.tolist()]
        return reached_nodes, makers.tolist()
    missing = [len(i) for i in query.ins]
    total = list(cost)
    value: list[float | None] = [None] * query.nodes
    maker = [-1] * query.nodes
    for unit in banned:
        missing[unit] = -1
    outs, consumers, goal = query.outs, query.consumers, query.goal
    heap: list[tuple[float, int, int]] = [(0, 0, -1)]
    while heap:
        distance, node, unit = heapq.heappop(heap)
        if value[node] is not None:
            continue
        value[node] = distance
        maker[node] = unit
        if node == goal:
            break
        for other in consumers[node]:
            total[other] += distance
            missing[other] -= 1
            if not missing[other]:
                reached = total[other]
                for n in outs[other]:
                    if value[n] is None:
                        heapq.heappush(heap, (reached, n, other))
    return value, maker


def extract(query: Reduced, maker: Sequence[int]) -> set[int] | None:
    """The units of the goal's derivation tree, each once; None where the goal was not reached."""
    plan: set[int] = set()
    stack = [query.goal]
    seen = {0}
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        unit = maker[node]
        if unit < 0:
            return None
        if unit not in plan:
            plan.add(unit)
            stack.extend(query.ins[unit])
    return plan


def derives(query: Reduced, plan: Iterable[int]) -> bool:
    """True where the units, in some order, make the goal from the start."""
    return query.goal in closure(query, plan, stop=True)[0]


def closure(query: Reduced, plan: Iterable[int], stop: bool = False) -> tuple[set[int], list[int]]:
    """Nodes reached from the start by the units, and those that fired, in order; `stop`: end at the goal."""
    missing: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    ready: list[int] = []
    reached = {0}
    ins, outs, goal = query.ins, query.outs, query.goal
    for unit in plan:
        count = 0
        for n in ins[unit]:
            if n:
                count += 1
                waiting.setdefault(n, []).append(unit)
        missing[unit] = count
        if not count:
            ready.append(unit)
    position = 0
    while position < len(ready):
        unit = ready[position]
        position += 1
        for n in outs[unit]:
            if n not in reached:
                reached.add(n)
                if stop and n == goal:
                    return reached, ready
                for other in waiting.get(n, ()):
                    missing[other] -= 1
                    if not missing[other]:
                        ready.append(other)
    return reached, ready


REVERSE_LIMIT = 1500
"""Reverse deletion is quadratic in the plan: 3 s at 700 units; above this many only the used units are kept."""


def prune(query: Reduced, plan: Iterable[int], cost: Sequence[float] | None = None) -> set[int]:
    """An inclusion-minimal plan inside `plan`: units are left out, dearest first, while the goal is still made."""
    prices = query.cost if cost is None else cost
    if kernels.wanted(len(query.ins)):
        order = np.lexsort((np.arange(len(prices)), -np.asarray(prices)))
        return kernels.prune(query, set(plan), order, REVERSE_LIMIT)
    kept = _used(query, closure(query, sorted(plan))[1])
    if len(kept) > REVERSE_LIMIT:
        return kept
    for unit in sorted(kept, key=lambda u: (-prices[u], u)):
        if unit in kept and query.orig[unit] >= 0:
            kept.discard(unit)
            if not derives(query, kept):
                kept.add(unit)
    return kept


def _used(query: Reduced, order: list[int]) -> set[int]:
    """Units needed backwards from the goal when each node is made by the first unit in `order` that makes it."""
    first: dict[int, int] = {}
    for unit in order:
        for n in query.outs[unit]:
            first.setdefault(n, unit)
    kept: set[int] = set()
    stack = [query.goal]
    seen = {0}
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        unit = first[node]
        if unit not in kept:
            kept.add(unit)
            stack.extend(query.ins[unit])
    return kept


def cheapest_tree_plan(query: Reduced, cost: Sequence[float] | None = None) -> set[int] | None:
    """Knuth under some costs, each unit once, pruned under the real costs."""
    _, maker = knuth(query, query.cost if cost is None else cost)
    plan = extract(query, maker)
    return None if plan is None else prune(query, plan)


def ban_one(query: Reduced, plan: set[int], rng: random.Random, tries: int, stopped: Callable[[], bool]) -> set[int]:
    """Local search: ban one unit of the plan, let the others be free, complete by Knuth, prune; first improvement."""
    best = set(plan)
    value = query.total(best)
    improved = True
    while improved and tries > 0:
        improved = False
        order = sorted(u for u in best if query.orig[u] >= 0)
        rng.shuffle(order)
        for unit in order:
            if tries <= 0 or stopped():
                return best
            if unit not in best:
                continue
            tries -= 1
            cost: list[float] = list(query.cost)
            for other in best:
                cost[other] = 0
            values, maker = knuth(query, cost, (unit,))
            reached = values[query.goal]
            if reached is None or reached > 2 * query.cost[unit]:
                continue
            more = extract(query, maker)
            if more is None:
                continue
            candidate = prune(query, more | (best - {unit}))
            total = query.total(candidate)
            if total < value:
                best, value, improved = candidate, total, True
    return best
