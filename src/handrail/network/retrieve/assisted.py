"""The cheapest plan in which a person may do up to m of the steps.

Paulius et al., "Task Planning with a Weighted Functional Object-Oriented Network" (ICRA 2021) lets a human take m
steps over. Every unit gets a twin at the person's price; at most m twins are used. A cheapest such plan never uses a
unit and its twin, so it is inclusion-minimal and the rows hold.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handrail.errors import ConfigError
from handrail.network.retrieve import cpsat
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import prune
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.reduce import reduce
from handrail.network.retrieve.relaxation import Row
from handrail.network.retrieve.separate import for_integer, is_plan


@dataclass(frozen=True)
class Assisted:
    """A plan with the steps that a person does.

    Attributes:
        order: units in an executable order; None: out of reach, or not settled in time.
        person: the units among them that the person does.
        cost: robot steps at the robot's price, the others at the person's.
        proved: no such plan is cheaper.
    """

    order: tuple[int, ...] | None
    person: frozenset[int]
    cost: int
    proved: bool


def solve(
    graph: Hypergraph,
    start: Iterable[int],
    goals: Iterable[int],
    steps: int,
    person: Sequence[int],
    seconds: float = 10.0,
    seed: int = 0,
) -> Assisted:
    """The cheapest plan with at most `steps` units done by a person.

    Args:
        graph: the network at the robot's prices.
        start: nodes that are there.
        goals: nodes that are wanted.
        steps: how many units a person may do.
        person: each unit's price for the person.
        seconds: wall time at most.
        seed: for the choice of landmarks.

    Raises:
        MissingExtra: ortools is not installed.
    """
    if steps < 0:
        raise ConfigError(f"a person can do 0 or more steps, got {steps}")
    here = frozenset(start)
    n = len(graph.ins)
    units = [(graph.ins[u], (*graph.outs[u], *graph.kept[u])) for u in range(n)]
    twins = Hypergraph.build([*units, *units], [*graph.cost, *person], graph.nodes)
    query = reduce(twins, here, goals, dominance=False)
    if query is None:
        return Assisted(None, frozenset(), 0, True)
    if len(query.ins) == 1:
        return Assisted((), frozenset(), 0, True)
    rng = random.Random(seed)  # noqa: S311 - a seeded search, no secret
    model = cpsat.Model(query, [Row(tuple(sorted(c))) for c in lmcut(query, query.cost).cuts])
    model.at_most([u for u, o in enumerate(query.orig) if o >= n], steps)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        found = model.solve(end - time.perf_counter())
        if found.used is None:
            return Assisted(None, frozenset(), 0, found.status == "infeasible")
        if is_plan(query, found.used):
            plan = query.original(prune(query, found.used | {query.last}))
            order = graph.fire(sorted({o % n for o in plan}), here)[1]
            return Assisted(
                tuple(order), frozenset(o - n for o in plan if o >= n), twins.total(plan), found.status == "optimal"
            )
        for row in for_integer(query, found.used, rng, 30, 5):
            model.add(row)
    return Assisted(None, frozenset(), 0, False)
