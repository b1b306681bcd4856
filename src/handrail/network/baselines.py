"""What the exact retrieval is measured against: the paper's search, substitution, greedy, one proposal as it is."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from handrail.network.kinds import Kinds, kinds
from handrail.network.model import FunctionalUnit, ObjectNode, TaskTree
from handrail.network.retrieve.hypergraph import Hypergraph

PATH_CAP = 1000
"""The paper's code stops once it has more than this many paths."""


@dataclass(frozen=True)
class PathSearch:
    """Paths found by the paper's search.

    Attributes:
        paths: each a list of units in the order in which the search would execute them.
        finished: how many reached the kitchen before the cap stopped the search.
        capped: the cap struck.
    """

    paths: tuple[tuple[int, ...], ...]
    finished: int
    capped: bool


def path_search(
    graph: Hypergraph, start: frozenset[int], goal: int, cap: int = PATH_CAP, product_cap: int = 20_000
) -> PathSearch:
    """The consolidation paper's search, re-implemented from its description.

    Each unit that makes the goal is a root. A path's last layer is a set of units; its inputs that are not in the
    kitchen and were not looked at before are each given a producer, in every combination (a Cartesian product), and
    each combination is a child. Paths run from root to leaf; the search goes on breadth first and stops once there are
    more than `cap` paths, with the half-built ones among its answers. A path is executed from its last layer back.
    """
    queue: deque[tuple[tuple[int, ...], frozenset[int], frozenset[int]]] = deque()
    for root in graph.producers[goal]:
        queue.append(((root,), frozenset({goal}), frozenset({root})))
    done: list[tuple[int, ...]] = []
    capped = False
    while queue:
        if len(queue) + len(done) > cap:
            capped = True
            break
        path, looked_at, layer = queue.popleft()
        wanted: list[int] = []
        for u in sorted(layer):
            for n in graph.ins[u]:
                if n not in start and n not in looked_at and n not in wanted:
                    wanted.append(n)
        makers = [graph.producers[n] for n in wanted]
        makers = [m for m in makers if m]
        if not makers:
            done.append(path)
            continue
        seen = looked_at | set(wanted)
        for count, choice in enumerate(product(*makers)):
            if count >= product_cap or len(queue) + len(done) > 20 * cap:
                capped = True
                break
            new = frozenset(choice) - set(path)
            queue.append(((*path, *sorted(new)), seen, new))
    finished = len(done)
    paths = [tuple(reversed(p)) for p in done] + [tuple(reversed(p)) for p, _, _ in queue]
    return PathSearch(tuple(paths), finished, capped)


def greedy(graph: Hypergraph, start: Iterable[int], goal: int) -> tuple[int, ...] | None:
    """Paulius et al. 2016: backwards, the first unit that makes each missing item; None where that is no plan."""
    here = set(start)
    plan: dict[int, None] = {}
    seen = {goal}
    queue = deque([goal])
    while queue:
        node = queue.popleft()
        if not graph.producers[node]:
            return None
        unit = graph.producers[node][0]
        if unit in plan:
            continue
        plan[unit] = None
        for n in graph.ins[unit]:
            if n not in here and n not in seen:
                seen.add(n)
                queue.append(n)
    reached, order = graph.fire(plan, here)
    return tuple(order) if goal in reached else None


def foods(tree: TaskTree, vocabulary: Kinds | None = None) -> set[str]:
    """Labels of a tree's leaves that are no tools, and what packages among the leaves contain."""
    known = vocabulary or kinds()
    names: set[str] = set()
    for node in tree.used_before_made():
        if known.stays(node.label):
            names |= node.ingredients
        else:
            names.add(node.label)
    return names


def substitute(
    recipes: Sequence[TaskTree], wanted: set[str], vocabulary: Kinds | None = None
) -> tuple[TaskTree, dict[str, str]]:
    """FOON with substitution: the most similar recipe, its other ingredients swapped for those that are wanted.

    Similarity of recipes is Jaccard on ingredients. A swapped pair is the one whose states, motions and containers in
    the knowledge base overlap most.

    Returns:
        (the new tree, what was put in the place of what)
    """
    contents = [foods(r, vocabulary) for r in recipes]
    best = max(range(len(recipes)), key=lambda k: (len(contents[k] & wanted) / max(1, len(contents[k] | wanted)), -k))
    profile: dict[str, Counter[str]] = {}
    for recipe in recipes:
        for unit in recipe.units:
            for node in unit.objects():
                counts = profile.setdefault(node.label, Counter())
                counts.update(node.states)
                counts[unit.motion] += 1
                counts.update(r.container for r in node.relations)
    swaps: dict[str, str] = {}
    spare = sorted(contents[best] - wanted)
    for name in sorted(wanted - contents[best]):
        if not spare:
            break
        mine = profile.get(name, Counter())
        other = max(spare, key=lambda s: (sum((mine & profile.get(s, Counter())).values()), s))
        spare.remove(other)
        swaps[other] = name

    def swap(node: ObjectNode) -> ObjectNode:
        return node.but(
            label=swaps.get(node.label, node.label), ingredients=(swaps.get(i, i) for i in node.ingredients)
        )

    units: list[FunctionalUnit] = [
        u.but(inputs=map(swap, u.inputs), outputs=map(swap, u.outputs)) for u in recipes[best].units
    ]
    return TaskTree(tuple(units), None, f"{recipes[best].name} with substitutions"), swaps
