"""Our own exact search: best-first branch and bound on landmarks. Needs no solver, for networks with a small gap.

A node of the search tree fixes some units as used (free from then on) and some as banned. Its bound is LM-cut's. It is
branched on the smallest cut: one child for each unit of it, used there and banned in the children after it, so no plan
is looked at twice.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

from handrail.network.retrieve.incumbent import extract, knuth, prune
from handrail.network.retrieve.lmcut import INFINITE, Cuts, lmcut
from handrail.network.retrieve.reduce import Reduced, ceil_to


@dataclass(slots=True)
class Branched:
    """What the search found.

    Attributes:
        plan: the best plan met, better than the given one, or None.
        bound: a lower bound on the cost of every plan cheaper than the best; the best cost where it is proved.
        proved: the whole tree was searched.
        nodes: search nodes opened.
    """

    plan: set[int] | None
    bound: int
    proved: bool
    nodes: int


def branch(
    query: Reduced,
    best: int,
    first: Cuts,
    nodes: int,
    stopped: Callable[[], bool],
) -> Branched:
    """Search for a plan cheaper than `best`.

    Args:
        query: the reduced query.
        best: cost of the incumbent.
        first: LM-cut of the query under its own costs.
        nodes: open at most this many nodes.
        stopped: asked at every node.
    """
    grain = query.grain
    plan: set[int] | None = None
    count = 0
    ticket = 0
    heap: list[tuple[int, int, tuple[int, ...], frozenset[int]]] = [(ceil_to(first.bound, grain), 0, (), frozenset())]
    while heap:
        bound, _, used, banned = heapq.heappop(heap)
        if bound > best - grain:
            return Branched(plan, best, True, count)
        if count >= nodes or stopped():
            return Branched(plan, bound, False, count)
        count += 1
        cost: list[float] = list(query.cost)
        for u in used:
            cost[u] = 0
        for u in banned:
            cost[u] = INFINITE
        paid = sum(query.cost[u] for u in used)
        cuts = lmcut(query, cost, enough=best - grain - paid + 1) if used or banned else first
        if ceil_to(paid + cuts.bound, grain) > best - grain if cuts.bound != INFINITE else True:
            continue
        found = _complete(query, cost, used)
        if found is not None and query.total(found) < best:
            plan, best = found, query.total(found)
        if not cuts.cuts:
            continue  # the units in use make the goal already: `found` is this node's optimum
        slack = best - grain - paid - cuts.bound
        dead = set(banned)
        for u in range(len(query.ins)):
            if cost[u] != INFINITE and cuts.residual[u] + max(cuts.value[i] for i in query.ins[u]) > slack + 1e-6:
                dead.add(u)
        cut = min(cuts.cuts, key=lambda c: (sum(u not in dead for u in c), c))
        below = ceil_to(paid + cuts.bound, grain)
        for u in sorted(cut, key=lambda u: (query.cost[u], u)):
            if u not in dead:
                ticket += 1
                heapq.heappush(heap, (below, ticket, (*used, u), frozenset(dead)))
                dead.add(u)
    return Branched(plan, best, True, count)


def _complete(query: Reduced, cost: list[float], used: tuple[int, ...]) -> set[int] | None:
    banned = [u for u, c in enumerate(cost) if c == INFINITE]
    values, maker = knuth(query, cost, banned)
    if values[query.goal] is None:
        return None
    plan = extract(query, maker)
    return None if plan is None else prune(query, plan | set(used))
