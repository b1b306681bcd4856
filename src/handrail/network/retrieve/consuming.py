"""The cheapest plan where what is used up is gone: counts, repeats, tools that return.

Semantics: a unit needs at least one of each input; inputs that it does not put out again lose one, the others stay;
each new output gains one; units repeat and pay each time; surplus is allowed. Start nodes are unlimited unless a count
is given. Nodes in `returning` (tools) are never used up.

Method: an integer program on how often each unit fires (state equations, landmarks on use), then a search for an order
of those firings. Where there is none, a row demands that some unit fires more often: the vector was a cheapest relaxed
one, so every plan below it would be cheaper still (operator counting with sequencing cuts, after Davies et al.,
"Sequencing Operator Counts", ICAPS 2015). Caps on the counts follow from the best plan's cost, so that an answer is
proved without a cap of its own.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping

from handrail.network.retrieve import cpsat
from handrail.network.retrieve.firing import Consumed, replay, tree_firings
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import derives, knuth
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.reduce import Reduced, ceil_to, reduce
from handrail.network.retrieve.separate import for_integer

FIRST_CAP = 12
FREE_CAP = 10_000
"""Firings of a unit where no bound on its count is known: it costs nothing, or there is no plan yet."""
ORDER_STATES = 20_000


__all__ = ["Consumed", "replay", "solve"]


class _Program:
    """Counts of firings under state equations; rows are added as orders fail."""

    def __init__(self, problem: _Problem, caps: list[int], below: int | None) -> None:
        cp = cpsat.module()
        self.problem = problem
        self.model = cp.CpModel()
        query = problem.query
        units = range(len(query.ins) - 1)
        self.count = [self.model.new_int_var(0, caps[u], "") for u in units]
        self.used = [self.model.new_bool_var("") for _ in units]
        self.least: dict[tuple[int, int], object] = {}
        self.caps = caps
        for u in units:
            self.model.add(self.count[u] >= 1).only_enforce_if(self.used[u])
            self.model.add(self.count[u] == 0).only_enforce_if(~self.used[u])
            # A firing of u at least needs some maker of each input.
            for n in query.ins[u]:
                if n and not problem.stock.get(n):
                    makers = [self.used[p] for p in query.producers[n] if p != u]
                    self.model.add_bool_or([*makers, ~self.used[u]])
        for n in range(1, query.nodes - 1):
            made = [self.count[u] for u in query.producers[n]]
            eaten = [self.count[u] for u in problem.eaters[n]]
            demand = 1 if n in problem.wanted else 0
            if eaten or demand:
                self.model.add(sum(made) + problem.stock.get(n, 0) - sum(eaten) >= demand)
        for cut in problem.landmarks:
            self.landmark(cut)
        cost = cp.LinearExpr.weighted_sum(self.count, [query.cost[u] // query.grain for u in units])
        if below is not None:
            self.model.add(cost <= below // query.grain)
        self.model.minimize(cost)

    def landmark(self, cut: Iterable[int]) -> None:
        self.model.add_bool_or([self.used[u] for u in cut])

    def more_than(self, vector: list[int]) -> None:
        """Some unit fires more often than in `vector`."""
        literals: list[object] = []
        for u, n in enumerate(vector):
            if n >= self.caps[u]:
                continue
            if n == 0:
                literals.append(self.used[u])
                continue
            if (u, n + 1) not in self.least:
                literal = self.model.new_bool_var("")
                self.model.add(self.count[u] >= n + 1).only_enforce_if(literal)
                self.model.add(self.count[u] <= n).only_enforce_if(~literal)
                self.least[u, n + 1] = literal
            literals.append(self.least[u, n + 1])
        self.model.add_bool_or(literals)

    def solve(self, seconds: float) -> tuple[str, list[int], float]:
        cp = cpsat.module()
        solver = cpsat.quiet_solver(seconds, None)
        status = solver.solve(self.model)
        if status == cp.INFEASIBLE:
            return "infeasible", [], 0.0
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            return "limit", [], 0.0
        bound = solver.best_objective_bound * self.problem.query.grain
        return ("optimal" if status == cp.OPTIMAL else "feasible"), [solver.value(c) for c in self.count], bound


class _Problem:
    """The reduced query with what each unit uses up."""

    def __init__(self, graph: Hypergraph, query: Reduced, stays: set[int], counts: Mapping[int, int],
                 number: Mapping[int, int], goals: Iterable[int]) -> None:  # fmt: skip
        self.query = query
        self.landmarks: list[tuple[int, ...]] = []
        self.stock = {number[n]: c for n, c in counts.items() if n in number}
        self.wanted = {number[g] for g in goals if g in number}
        back = {k: n for n, k in number.items()}
        self.eats: list[tuple[int, ...]] = []
        self.eaters: list[list[int]] = [[] for _ in range(query.nodes)]
        for u, o in enumerate(query.orig[:-1]):
            kept = set(graph.kept[o])
            eaten = tuple(n for n in query.ins[u] if n and back[n] not in kept and back[n] not in stays)
            self.eats.append(eaten)
            for n in eaten:
                self.eaters[n].append(u)

    def order(self, vector: list[int]) -> tuple[list[int] | None, bool]:
        """An order in which firings within `vector` make the goal; (None, True) where there is none.

        Depth first with memory. Units that use up nothing made go first, those that would starve a user of a catalyst
        last. Not all firings need to happen.
        """
        query = self.query
        start = Counter(self.stock)
        dead: set[tuple[int, ...]] = set()
        path: list[int] = []
        budget = ORDER_STATES

        def enabled(left: list[int], have: Counter[int]) -> list[int]:
            ready = [u for u, n in enumerate(left) if n and all(not i or have[i] > 0 for i in query.ins[u])]
            starving = {
                u for u in ready
                if any(have[n] == 1 and any(left[w] - (w == u) > 0 for w in query.consumers[n] if w < len(left))
                       for n in self.eats[u])
            }  # fmt: skip
            return sorted(ready, key=lambda u: (u in starving, len(self.eats[u]) > 0, u))

        left, have = list(vector), start
        stack: list[tuple[list[int], int]] = [(enabled(left, have), 0)]
        while True:
            if all(have[g] > 0 for g in self.wanted):
                return list(path), True
            options, position = stack[-1]
            if position == 0 and (tuple(left) in dead or budget <= 0):
                options = []
            moved = False
            while position < len(options):
                u = options[position]
                position += 1
                stack[-1] = (options, position)
                left[u] -= 1
                if tuple(left) in dead:
                    left[u] += 1
                    continue
                for n in self.eats[u]:
                    have[n] -= 1
                for n in query.outs[u]:
                    have[n] += 1
                path.append(u)
                budget -= 1
                free = not self.eats[u]
                if free:
                    # Firing a unit that uses nothing up never hurts, so its siblings need not be tried.
                    stack[-1] = (options[:position], position)
                stack.append((enabled(left, have), 0))
                moved = True
                break
            if moved:
                continue
            dead.add(tuple(left))
            stack.pop()
            if not stack:
                return None, budget > 0
            u = path.pop()
            left[u] += 1
            for n in self.eats[u]:
                have[n] += 1
            for n in query.outs[u]:
                have[n] -= 1


def solve(
    graph: Hypergraph,
    start: Iterable[int],
    goals: Iterable[int],
    seconds: float = 10.0,
    counts: Mapping[int, int] | None = None,
    returning: Iterable[int] = (),
    seed: int = 0,
) -> Consumed:
    """The cheapest firing sequence.

    Args:
        graph: the network with its costs.
        start: nodes that are there without limit, except where `counts` says how many.
        goals: nodes of which one is wanted at the end.
        seconds: wall time at most.
        counts: start node -> how many of it there are.
        returning: nodes that are never used up.
        seed: for the choice of landmarks.

    Raises:
        MissingExtra: ortools is not installed.
    """
    began = time.perf_counter()
    given = dict(counts or {})
    here = frozenset(start)
    free = here - given.keys()
    wanted = list(dict.fromkeys(goals))
    # Limited nodes are no start nodes of the reduced query: pretend units that hand them out for nothing.
    rest = [g for g in wanted if g not in free]
    if not rest:
        return Consumed((), 0, 0, "proved")
    handed = sorted(given)
    units = [(graph.ins[u], (*graph.outs[u], *graph.kept[u])) for u in range(len(graph.ins))]
    wide = Hypergraph.build(
        [*units, *(((), (n,)) for n in handed)], [*graph.cost, *(0 for _ in handed)], graph.nodes
    ) if handed else graph  # fmt: skip
    query = reduce(wide, free, rest, dominance=False, achievers=False)
    if query is None:
        return Consumed(None, 0, 0, "unreachable", seconds=time.perf_counter() - began)
    return _Solver(graph, wide, query, free, rest, set(returning), given, seconds, seed, began).run()


class _Solver:
    def __init__(
        self, graph: Hypergraph, wide: Hypergraph, query: Reduced, free: frozenset[int], goals: list[int],
        stays: set[int], given: dict[int, int], seconds: float, seed: int, began: float,
    ) -> None:  # fmt: skip
        self.graph, self.query, self.free, self.goals, self.given = graph, query, free, goals, given
        self.end = began + seconds
        self.began = began
        self.stays = stays
        self.rng = random.Random(seed)  # noqa: S311 - a seeded search, no secret
        self.handing = {u: wide.outs[o][0] for u, o in enumerate(query.orig) if o >= len(graph.ins)}
        # The stock enters through the handing units, whose firings are capped by the count.
        self.problem = _Problem(wide, query, stays, {}, query.number, goals)
        self.best: list[int] | None = None
        self.cost = 0
        self.bound = 0

    def run(self) -> Consumed:
        query, problem = self.query, self.problem
        value, maker = knuth(query, query.cost)
        additive = value[query.goal]
        tree = tree_firings(query, maker)
        if tree is not None and not self.given:
            self.take(tree)
        problem.landmarks = [c for c in lmcut(query, query.cost).cuts if query.last not in c]
        self.bound = ceil_to(lmcut(query, query.cost).bound, query.grain)
        top = int(additive or 0)
        cap = FIRST_CAP
        status = "open"
        while time.perf_counter() < self.end:
            status, _proved = self.capped(cap, None if self.best is None else self.cost)
            if status == "optimal":
                break
            if status == "infeasible":
                if self.best is not None or cap >= FREE_CAP or self.enough(cap, top):
                    break
                cap = min(FREE_CAP, cap * 8)
                continue
            break
        if status in ("optimal", "infeasible") and self.best is not None:
            if self.enough(cap, self.cost):
                self.bound = self.cost
            elif time.perf_counter() < self.end:
                # Is there anything cheaper with more firings? Caps that no cheaper plan can exceed, and a lower cost.
                status, _ = self.capped(None, self.cost - query.grain)
                if status == "infeasible" and all(
                    c for u, c in enumerate(self.query.cost[:-1]) if u not in self.handing
                ):
                    self.bound = self.cost
                elif status == "infeasible":
                    cap = FREE_CAP
            return self.answer("proved" if self.bound >= self.cost else "capped", cap)
        if status == "infeasible":
            return Consumed(None, 0, 0, "unreachable", cap, time.perf_counter() - self.began)
        return self.answer("feasible" if self.best is not None else "open", cap)

    def take(self, firings: list[int]) -> None:
        cost = self.query.total(firings)
        if self.best is None or cost < self.cost:
            self.best, self.cost = firings, cost

    def enough(self, cap: int, cost: int) -> bool:
        """No plan of at most `cost - grain` fires a paid unit more than `cap` times."""
        most = max(0, cost - self.query.grain)
        paid = ((u, c) for u, c in enumerate(self.query.cost[:-1]) if u not in self.handing)
        return all(c and most // c <= cap for _, c in paid)

    def caps(self, cap: int | None) -> list[int]:
        result: list[int] = []
        for u, c in enumerate(self.query.cost[:-1]):
            most = FREE_CAP if not c or self.best is None else max(1, self.cost // c)
            limit = most if cap is None else min(cap, most)
            if u in self.handing:
                limit = min(self.given[self.handing[u]], limit)
            result.append(limit)
        return result

    def capped(self, cap: int | None, below: int | None) -> tuple[str, bool]:
        """Solve with a cap; `optimal`, `infeasible` or `limit`. Better plans go to `best`."""
        program = _Program(self.problem, self.caps(cap), below)
        while (left := self.end - time.perf_counter()) > 0.01:
            status, vector, bound = program.solve(left)
            if status == "infeasible":
                return "infeasible", True
            if not vector:
                return "limit", False
            if cap is None and self.best is not None:
                self.bound = max(self.bound, min(ceil_to(bound, self.query.grain), self.cost))
            used = {u for u, n in enumerate(vector) if n}
            if not derives(self.query, {*used, self.query.last}):
                for row in for_integer(self.query, used, self.rng):
                    units = tuple(u for u in row.units if u != self.query.last)
                    program.landmark(units)
                    self.problem.landmarks.append(units)
                continue
            order, certain = self.problem.order(vector)
            if order is not None:
                self.take(order)
                if status == "optimal":
                    return "optimal", True
                return "limit", False
            if not certain or status != "optimal":
                return "limit", False
            program.more_than(vector)
        return "limit", False

    def answer(self, status: str, cap: int) -> Consumed:
        seconds = time.perf_counter() - self.began
        if self.best is None:
            return Consumed(None, 0, self.bound, status, cap, seconds)
        order = tuple(self.query.orig[u] for u in self.best if u not in self.handing)
        copies: Counter[int] = Counter()
        for u in order:
            for n in self.graph.ins[u]:
                if (n in self.free or n in self.given) and n not in self.graph.kept[u] and n not in self.stays:
                    copies[n] += 1
        return Consumed(
            order, self.cost, min(self.bound, self.cost), status, cap, seconds, dict(sorted(copies.items()))
        )
