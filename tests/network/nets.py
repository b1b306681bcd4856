"""Networks for tests: small dense ones for brute force, merged ones with cycles like the note's."""

from __future__ import annotations

import heapq
import itertools
import random

from handrail.network.retrieve.hypergraph import Hypergraph

Net = tuple[Hypergraph, frozenset[int], tuple[int, ...]]


def small(seed: int, costs: tuple[int, ...] = (50, 100, 150, 200, 300, 700)) -> Net:
    """At most 10 units over at most 9 nodes; every node is made from ones that came before it or by a back edge."""
    rng = random.Random(seed)
    nodes = rng.randint(5, 9)
    start = rng.randint(1, 2)
    units = [
        (rng.sample(range(n), min(n, rng.choice([1, 1, 2]))), [n]) for n in range(start, nodes) if rng.random() < 0.85
    ]
    while len(units) < rng.randint(6, 10):
        ins = rng.sample(range(nodes), rng.choice([1, 1, 2, 3]))
        outs = rng.sample(range(start, nodes), rng.choice([1, 1, 2]))
        units.append((ins, outs))
    goals = rng.sample(range(start, nodes), rng.choice([1, 1, 2]))
    graph = Hypergraph.build(units, [rng.choice(costs) for _ in units], nodes)
    return graph, frozenset(range(start)), tuple(goals)


def merged(seed: int, trees: int, size: int, share: float = 0.6, back: float = 0.02) -> Net:
    """Several trees for one dish that share steps, with random back edges."""
    rng = random.Random(seed)
    number: dict[tuple[object, ...], int] = {}

    def at(*key: object) -> int:
        return number.setdefault(key, len(number))

    leaves = [at("leaf", k) for k in range(max(20, size // 3))]
    units: list[tuple[list[int], list[int]]] = []
    for variant in range(trees):
        made: list[int] = []
        for k in range(size):
            name = at("s", k) if rng.random() < share else at("v", variant, k)
            ins = rng.sample(leaves, rng.choice([1, 1, 2]))
            if made:
                ins += rng.sample(made, min(len(made), rng.choice([1, 1, 2, 2, 3])))
            outs = [name]
            if rng.random() < 0.5:
                outs.append(at("by", k, variant if rng.random() > share else -1))
            if k == size - 1:
                outs.append(at("goal"))
            units.append((ins, outs))
            made = [m for m in made if len(made) <= 2 or rng.random() >= 0.35]
            made += [o for o in outs if o not in made]
    produced = [o for _, outs in units for o in outs]
    units += [([rng.choice(produced)], [rng.choice(produced)]) for _ in range(int(len(units) * back))]
    costs = [rng.choice([100, 150, 200, 300, 400, 500, 600, 700, 800, 850, 900]) for _ in units]
    return Hypergraph.build(units, costs, len(number)), frozenset(leaves), (number["goal",],)


def brute(net: Net) -> int | None:
    """The cheapest set of units by trying all."""
    graph, start, goals = net
    best: int | None = None
    for size in range(len(graph.ins) + 1):
        for units in itertools.combinations(range(len(graph.ins)), size):
            cost = graph.total(units)
            if (best is None or cost < best) and set(goals) <= graph.fire(units, start)[0]:
                best = cost
    return best


def minimal_plans(net: Net) -> list[tuple[int, tuple[int, ...]]]:
    """All inclusion-minimal plans as (cost, units), sorted."""
    graph, start, goals = net
    found: list[tuple[int, tuple[int, ...]]] = []
    for size in range(len(graph.ins) + 1):
        for units in itertools.combinations(range(len(graph.ins)), size):
            if any(set(p) <= set(units) for _, p in found):
                continue
            if set(goals) <= graph.fire(units, start)[0]:
                found.append((graph.total(units), units))
    return sorted(found)


def cheapest_firing(net: Net, cap: int = 4, limit: int = 40_000) -> int | str | None:
    """Dijkstra over markings with counts capped: the oracle for consuming semantics; 'limit' where it gave up."""
    graph, start, goals = net
    first = (0,) * graph.nodes
    heap = [(0, first)]
    seen: set[tuple[int, ...]] = set()
    while heap:
        cost, marking = heapq.heappop(heap)
        if marking in seen:
            continue
        seen.add(marking)
        if all(g in start or marking[g] for g in goals):
            return cost
        if len(seen) > limit:
            return "limit"
        for u, ins in enumerate(graph.ins):
            if all(n in start or marking[n] for n in ins):
                after = list(marking)
                for n in ins:
                    if n not in start and n not in graph.kept[u]:
                        after[n] -= 1
                for n in graph.outs[u]:
                    if n not in start:
                        after[n] = min(cap, after[n] + 1)
                heapq.heappush(heap, (cost + graph.cost[u], tuple(after)))
    return None
