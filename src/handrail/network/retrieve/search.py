"""The cheapest plan with a proof: stages from instant to exact, each of which may end the search.

Reduce; Knuth and pruning; ban-one; LM-cut; Knuth guided by LM-cut's residual costs; removal of units that no better plan
can use; our own branch and bound; CP-SAT on rows without ordering; linear relaxation with landmark rows; the mixed-integer
program on the most promising units, then on all, with landmarks added until its answer is a plan. At every moment there
is a valid plan, its cost and a lower bound.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence

from handrail.errors import MissingExtra
from handrail.network.retrieve import cpsat, kernels
from handrail.network.retrieve.branch import branch
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import ban_one, cheapest_tree_plan, extract, knuth, prune
from handrail.network.retrieve.lmcut import Cuts, lmcut
from handrail.network.retrieve.programs import Programs
from handrail.network.retrieve.progress import Answer, Done, Effort
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Program, Row, Solution

LP_UNITS = 3500
"""The programs are not tried above this many units (the linear program took over 8 s at 7,000)."""
BRANCH_UNITS = 600
CORES = (500, 1000, 2000, 4000)
"""Sizes of the cores on which large queries are solved first."""
CORE_FROM = 1000
VERY_LARGE = 30_000
"""From here on one LM-cut takes about a second: plans come from cores alone."""


class _Search(Programs):
    """The stages in their order."""

    def first(self) -> None:
        """In a large network: a plan at once, before the query is reduced."""
        graph = self.graph
        if len(graph.ins) < kernels.LARGE or not kernels.wanted(len(graph.ins)):
            return
        units = kernels.tree_plan(graph.arrays(), self.start, self.goals, graph.cost, graph.ins)
        if units is not None:
            query = self.reduced(units)
            if query is not None:
                self.offer(query, prune(query, range(len(query.ins))))

    def run(self) -> Answer:
        self.first()
        query = self.reduced()
        if query is None:
            return Answer(None, 0, 0, True, "reduce", "proved", seconds=time.perf_counter() - self.began)
        size = len(query.ins) - 1
        with contextlib.suppress(Done):
            self.stages(query)
        proved = self.bound >= self.cost
        order = tuple(self.graph.fire(sorted(self.best), self.start)[1])
        return Answer(
            order,
            self.cost,
            min(self.bound, self.cost),
            proved,
            self.by,
            "proved" if proved else self.stop,
            size,
            time.perf_counter() - self.began,
            tuple(self.trace),
            self.note,
        )

    def stages(self, query: Reduced) -> None:
        effort = self.effort
        self.by = "lm-cut"
        plan = cheapest_tree_plan(query)
        self.offer(query, plan)
        cuts = lmcut(query, query.cost, stopped=self.out_of_time)
        if not effort.ignore_bounds:
            self.raise_bound(cuts.bound, query)
            self.check()
        if plan is not None and len(query.ins) < VERY_LARGE:
            self.offer(query, ban_one(query, plan, self.rng, effort.count(30), self.out_of_time))
            if not effort.ignore_bounds:
                self.check()
                self.restarts(query, cuts)
                self.check()
        query, cuts = self.fix(query, cuts)
        query, cuts = self.cores(query, cuts)
        if "branch" in effort.stages and len(query.ins) <= BRANCH_UNITS:
            self.branch(query, cuts, effort.count(60))
        exact = effort.stages & {"cp-sat", "lp", "mip"}
        if exact and len(query.ins) <= LP_UNITS:
            try:
                self.programs(query, cuts)
            except MissingExtra as missing:
                self.note = str(missing)
        self.by = "branch and bound"
        if "branch" in effort.stages and not (exact and not self.note):
            self.branch(query, cuts, effort.count(20_000))

    def restarts(self, query: Reduced, cuts: Cuts) -> None:
        """Knuth under LM-cut's residual costs plus a share of the real ones, from perturbed starts."""
        rng = self.rng
        residual: Sequence[float] = cuts.residual
        # Each turn runs LM-cut again: in large queries the cores are the better use of the time.
        for turn in range(self.effort.count(8) if len(query.ins) < kernels.LARGE else 2):
            weight = rng.choice((0.05, 0.02, 0.1, 0.2, 0.4, 0.0)) if turn else 0.05
            if turn:
                cost = [c * rng.uniform(0.7, 1.3) for c in query.cost]
                if rng.random() < 0.5:
                    for o in sorted(self.best):
                        u = query.index.get(o)
                        if u is not None and rng.random() < 0.6:
                            cost[u] *= 0.3
                residual = lmcut(query, cost, stopped=self.out_of_time, zero=1e-9).residual
            _, maker = knuth(query, [r + weight * c for r, c in zip(residual, query.cost, strict=True)])
            plan = extract(query, maker)
            if plan is not None:
                self.offer(query, prune(query, plan))
            self.check()

    def cores(self, query: Reduced, cuts: Cuts) -> tuple[Reduced, Cuts]:
        """Large queries: solve on the units that LM-cut finds cheapest to use, then fix again with the better plan.

        A unit's score is what using it adds to LM-cut's bound at least; a cheap plan consists of units of low score.
        """
        if not self.effort.fixing or "cp-sat" not in self.effort.stages or not cpsat.available():
            return query, cuts
        for size in CORES:
            if len(query.ins) <= CORE_FROM:
                break
            score = [r + max(cuts.value[i] for i in n) for r, n in zip(cuts.residual, query.ins, strict=True)]
            lowest = sorted(range(len(query.ins)), key=lambda u: (score[u], u))[:size]
            core = self.reduced(query.original(lowest) | self.best)
            if core is None:
                continue
            self.by = "core"
            plan = cheapest_tree_plan(core)
            self.offer(core, plan)
            if plan is None:
                continue
            inner = lmcut(core, core.cost)
            rows = [Row(tuple(sorted(c))) for c in inner.cuts]
            incumbent = self.inside(core) or plan
            found = cpsat.improve(core, incumbent, rows, 0.5 * self.effort.scale, 0.25 * self.left(), self.rng)
            self.offer(core, found.plan)
            query, cuts = self.fix(query, cuts)
            self.check()
        return query, cuts

    def branch(self, query: Reduced, cuts: Cuts, nodes: int) -> None:
        found = branch(query, self.cost, cuts, nodes, self.out_of_time)
        if found.plan is not None:
            self.by = "branch and bound"
            self.offer(query, found.plan)
        if found.proved:
            self.by = "branch and bound"
            self.proved()
        self.raise_bound(found.bound, query)
        self.check()

    def programs(self, query: Reduced, cuts: Cuts) -> None:
        rows: tuple[Row, ...] = tuple(Row(tuple(sorted(c))) for c in cuts.cuts)
        if "cp-sat" in self.effort.stages and cpsat.available():
            rows += self.cpsat(query, rows)
            smaller, cuts = self.fix(query, cuts)
            if smaller is not query:
                query, rows = smaller, tuple(Row(tuple(sorted(c))) for c in cuts.cuts)
        if not self.effort.stages & {"lp", "mip"}:
            return
        program = Program(query, cuts.cuts)
        for row in rows:
            program.add(row)
        self.by = "relaxation"
        solution: Solution | None = None
        if "lp" in self.effort.stages:
            query, program, solution = self.relax(query, program)
        if "mip" in self.effort.stages:
            self.by = "mixed-integer program"
            program.make_integer()
            if solution is not None and solution.x is not None:
                self.core(query, program, solution)
            self.full(query, program)

    def cpsat(self, query: Reduced, rows: Iterable[Row]) -> tuple[Row, ...]:
        """CP-SAT on the query: plans, a bound, often the proof. Returns landmarks that it needed."""
        incumbent = self.inside(query)
        if incumbent is None:
            return ()
        found = cpsat.improve(query, incumbent, rows, 5.0 * self.effort.scale, max(0.05, self.left()), self.rng)
        self.by = "cp-sat"
        self.offer(query, found.plan)
        if found.proved:
            self.proved()
        self.raise_bound(found.bound, query)
        self.check()
        return found.rows


def solve(graph: Hypergraph, start: Iterable[int], goals: Iterable[int], effort: Effort | None = None) -> Answer:
    """The cheapest set of units that makes the goals, each unit paid once, in an executable order.

    Args:
        graph: the network with its costs.
        start: nodes that are there.
        goals: nodes that are wanted.
        effort: budgets; the same budgets give the same answer unless the wall time strikes.
    """
    return _Search(graph, frozenset(start), tuple(goals), effort or Effort()).run()
