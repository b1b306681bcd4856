"""Inclusion-minimal plans in order of cost, one at a time: k best, or all, as a lazy stream.

After each plan a row forbids it together with everything that contains it; whatever contains a found plan is not minimal,
so nothing is missed. First-achiever pruning keeps the closure of every set of units, hence the set of minimal plans;
dominance does not and stays off.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator

from handrail.errors import MissingExtra
from handrail.network.retrieve import cpsat
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import prune
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.progress import Answer
from handrail.network.retrieve.reduce import Reduced, reduce
from handrail.network.retrieve.relaxation import Program, Row
from handrail.network.retrieve.separate import for_integer, is_plan


def plans(
    graph: Hypergraph, start: Iterable[int], goals: Iterable[int], seconds: float = 60.0, seed: int = 0
) -> Iterator[Answer]:
    """Minimal plans, cheapest first; each is the proved cheapest of those not yet given.

    The stream ends when there are no more, or when one takes longer than `seconds`: then its last answer has
    `proved = False` and order None.

    Raises:
        MissingExtra: neither ortools nor highspy is installed.
    """
    here = frozenset(start)
    wanted = tuple(goals)
    query = reduce(graph, here, wanted, dominance=False)
    if query is None:
        return
    if not query.cost[:-1]:
        yield Answer((), 0, 0, True, "nothing to do", "proved")
        return
    rng = random.Random(seed)  # noqa: S311 - a seeded search, no secret
    engine = _engine(query)
    while True:
        began = time.perf_counter()
        used = engine.next(seconds, rng)
        spent = time.perf_counter() - began
        if used is None:
            if not engine.exhausted:
                yield Answer(None, 0, 0, False, "k best", "time", len(query.ins) - 1, spent)
            return
        plan = prune(query, used | {query.last})
        engine.forbid(plan)
        order = tuple(graph.fire(sorted(query.original(plan)), here)[1])
        cost = query.total(plan)
        yield Answer(order, cost, cost, True, "k best", "proved", len(query.ins) - 1, spent)


def _engine(query: Reduced) -> _Cpsat | _Highs:
    if cpsat.available():
        return _Cpsat(query)
    try:
        return _Highs(query)
    except MissingExtra as error:
        raise MissingExtra("k best plans", "network", "ortools or highspy") from error


class _Cpsat:
    """The rows in CP-SAT, asked again after each forbidden plan."""

    def __init__(self, query: Reduced) -> None:
        self.query = query
        self.model = cpsat.Model(query, [Row(tuple(sorted(c))) for c in lmcut(query, query.cost).cuts])
        self.exhausted = False

    def next(self, seconds: float, rng: random.Random) -> set[int] | None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            found = self.model.solve(end - time.perf_counter())
            if found.status == "infeasible":
                self.exhausted = True
                return None
            if found.status != "optimal" or found.used is None:
                return None
            if is_plan(self.query, found.used):
                return found.used
            for row in for_integer(self.query, found.used, rng, 30, 5):
                self.model.add(row)
        return None

    def forbid(self, plan: set[int]) -> None:
        self.model.forbid(plan)


class _Highs:
    """The same with HiGHS."""

    def __init__(self, query: Reduced) -> None:
        self.query = query
        self.program = Program(query, lmcut(query, query.cost).cuts)
        self.program.make_integer()
        self.exhausted = False

    def next(self, seconds: float, rng: random.Random) -> set[int] | None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            found = self.program.minimise(end - time.perf_counter())
            if found.status == "infeasible":
                self.exhausted = True
                return None
            if found.status != "optimal" or found.x is None:
                return None
            used = {u for u in range(len(self.query.ins)) if found.x[u] > 0.5}
            if is_plan(self.query, used):
                return used
            for row in for_integer(self.query, used, rng, 30, 5):
                self.program.add(row)
        return None

    def forbid(self, plan: set[int]) -> None:
        self.program.forbid(plan)
