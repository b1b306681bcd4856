"""Adversarial merged networks: several trees for one dish that share most steps, with random back edges.

The draws come in the order of the generator whose figures the research note gives (seeds 1000 n + 0..4), so that the
networks are the same ones.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from handrail.network.retrieve.hypergraph import Hypergraph

PRICES = (100, 150, 200, 300, 400, 500, 600, 700, 800, 850, 900)
BACK_PRICES = (100, 200, 300)


@dataclass(frozen=True)
class Instance:
    name: str
    graph: Hypergraph
    start: frozenset[int]
    goals: tuple[int, ...]


Key = tuple[object, ...]


def _tree(rng: random.Random, size: int, dish: int, leaves: list[Key], variant: int, share: float) -> list[tuple]:
    units: list[tuple[list[Key], list[Key], int]] = []
    around: list[Key] = []
    for k in range(size):
        name: Key = ("s", dish, k) if rng.random() < share else ("v", dish, variant, k)
        count = rng.choice([1, 1, 2])
        ins = list(rng.sample(leaves, min(len(leaves), count)))
        if around:
            count = rng.choice([1, 1, 2, 2, 3])
            ins += rng.sample(around, min(len(around), count))
        outs = [name]
        if rng.random() < 0.5:
            outs.append(("b", dish, k, variant if rng.random() > share else -1))
        if k == size - 1:
            outs.append(("goal", dish))
        units.append((ins, outs, rng.choice(PRICES)))
        for node in list(around):
            if rng.random() < 0.35 and len(around) > 2:
                around.remove(node)
        around += [o for o in outs if o not in around]
    return units


def merged(seed: int, size: int, trees: int = 5, dishes: int = 1, share: float = 0.6, back: float = 0.02) -> Instance:
    """`dishes` x `trees` trees of `size` units; the goal is the first dish."""
    rng = random.Random(seed)
    leaves: list[Key] = [("leaf", k) for k in range(max(20, size // 3))]
    units: list[tuple[list[Key], list[Key], int]] = []
    for dish in range(dishes):
        for variant in range(trees):
            units += _tree(rng, size, dish, leaves, variant, share)
    produced = [o for _, outs, _ in units for o in outs]
    for _ in range(int(len(units) * back)):
        source, target = rng.choice(produced), rng.choice(produced)
        units.append(([source], [target], rng.choice(BACK_PRICES)))
    number: dict[Key, int] = {}
    indexed = [
        ([number.setdefault(n, len(number)) for n in ins], [number.setdefault(n, len(number)) for n in outs])
        for ins, outs, _ in units
    ]
    graph = Hypergraph.build(indexed, [c for *_, c in units], len(number))
    start = frozenset(number[leaf] for leaf in leaves if leaf in number)
    return Instance(f"{trees}x{size}x{dishes}/{seed}", graph, start, (number["goal", 0],))
