"""What a network is made of: the commonest motions, ingredients, utensils and states (the paper's Figure 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from handrail.network.kinds import Kinds, kinds
from handrail.network.model import TaskTree
from handrail.network.network import Network, merge


def shares(counter: Counter[str], top: int) -> list[tuple[str, int, float]]:
    """(name, how often, share), commonest first, ties by name."""
    total = sum(counter.values())
    ranked = sorted(counter.items(), key=lambda p: (-p[1], p[0]))[:top]
    return [(name, n, round(n / total, 4)) for name, n in ranked]


def of(trees: Iterable[TaskTree], top: int = 10, vocabulary: Kinds | None = None) -> dict[str, Any]:
    """Counts of a set of trees; every occurrence in a unit counts once per unit."""
    known = vocabulary or kinds()
    trees = list(trees)
    motions: Counter[str] = Counter()
    foods: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for tree in trees:
        for unit in tree.units:
            motions[unit.motion] += 1
            for label in {n.label for n in unit.objects()}:
                (tools if known.stays(label) else foods)[label] += 1
            for state in {s for n in unit.objects() for s in n.states}:
                states[state] += 1
    network: Network = merge(trees)
    leaves = network.leaves(known)
    return {
        "trees": len(trees),
        "units_written": sum(motions.values()),
        "units": len(network.units),
        "nodes": len(network.nodes),
        "leaves": {kind.value: len(nodes) for kind, nodes in leaves.items()},
        "motions": shares(motions, top),
        "ingredients": shares(foods, top),
        "utensils": shares(tools, top),
        "states": shares(states, top),
    }
