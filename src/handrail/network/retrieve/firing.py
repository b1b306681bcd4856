"""Sequences of firings where things are used up: the answer, its replay, and the plan that makes everything anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.reduce import Reduced

LONGEST = 5_000
"""Firings in a plan that is written out."""


@dataclass(frozen=True)
class Consumed:
    """A plan under consuming semantics.

    Attributes:
        order: units in firing order, with repeats; None where there is no plan or none was found.
        cost: sum over all firings.
        bound: no plan costs less.
        status: `proved`, `capped` (cheapest with at most `cap` firings of a unit), `feasible`, `open`,
            `unreachable` (no plan fires a unit more than 10,000 times).
        cap: firings per unit allowed in the program that gave the answer.
        copies: start node -> how many of it are used up.
    """

    order: tuple[int, ...] | None
    cost: int
    bound: int
    status: str
    cap: int = 0
    seconds: float = 0.0
    copies: dict[int, int] = field(default_factory=dict)


def replay(
    graph: Hypergraph,
    order: Iterable[int],
    start: Iterable[int],
    goals: Iterable[int],
    counts: Mapping[int, int] | None = None,
    returning: Iterable[int] = (),
) -> str:
    """Fire a sequence: empty text where it works and the goals are there at the end, else what is wrong."""
    stays = set(returning)
    free = set(start) - set(counts or {})
    have: Counter[int] = Counter(counts or {})
    for position, unit in enumerate(order):
        for n in graph.ins[unit]:
            if n not in free and have[n] < 1:
                return f"step {position + 1} (unit {unit}) needs node {n}, of which none is left"
        kept = set(graph.kept[unit])
        for n in graph.ins[unit]:
            if n not in kept and n not in stays and n not in free:
                have[n] -= 1
        for n in graph.outs[unit]:
            have[n] += 1
    for g in goals:
        if g not in free and have[g] < 1:
            return f"goal node {g} is not there at the end"
    return ""


def tree_firings(query: Reduced, maker: list[int]) -> list[int] | None:
    """The derivation tree written out: firings in order, everything made as often as it is used; None if too long."""
    order: list[int] = []
    stack: list[tuple[int, bool]] = [(query.goal, False)]
    while stack:
        if len(order) > LONGEST or len(stack) > 10 * LONGEST:
            return None
        node, ready = stack.pop()
        unit = maker[node]
        if ready:
            if query.orig[unit] >= 0:
                order.append(unit)
            continue
        stack.append((node, True))
        stack.extend((n, False) for n in query.ins[unit] if n)
    return order
