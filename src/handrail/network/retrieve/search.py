"""The cheapest plan with a proof: stages from instant to exact, each of which may end the search.

Reduce; Knuth and pruning; ban-one; LM-cut; Knuth guided by LM-cut's residual costs; removal of units that no better plan
can use; our own branch and bound; CP-SAT on rows without ordering; linear relaxation with landmark rows; the mixed-integer
program on the most promising units, then on all, with landmarks added until its answer is a plan. At every moment there
is a valid plan, its cost and a lower bound.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from handrail.errors import ConfigError, MissingExtra
from handrail.network.retrieve import cpsat, kernels
from handrail.network.retrieve.branch import branch
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import ban_one, cheapest_tree_plan, extract, knuth, prune
from handrail.network.retrieve.lmcut import Cuts, lmcut
from handrail.network.retrieve.reduce import Reduced, ceil_to, reduce
from handrail.network.retrieve.relaxation import Program, Row, Solution
from handrail.network.retrieve.separate import by_flow, by_lmcut, for_integer, is_plan, supporters

LP_UNITS = 3500
"""The linear program is not tried above this many units (7,000 took over 8 s)."""
BRANCH_UNITS = 600
MIN_FIX = 0.03
CORES = (500, 1000, 2000, 4000)
"""Sizes of the cores on which large queries are solved first."""
CORE_FROM = 1000
VERY_LARGE = 30_000
"""From here on one LM-cut takes about a second: plans come from cores alone."""


@dataclass(frozen=True)
class Effort:
    """How much work each stage may do, in counts, so that a loaded machine gives the same plan.

    Attributes:
        scale: multiplies every count; 1 is about a second of work at some hundred units.
        seconds: hard stop in wall time; where it strikes the answer says so.
        seed: every random choice derives from it.
        stages: which of `branch`, `cp-sat`, `lp`, `mip` may run; fewer for tests and comparisons.
        fixing: whether units are removed by bounds; off only to exercise the later stages in tests.
        ignore_bounds: don't stop at LM-cut's bound; only to exercise the later stages in tests.
    """

    scale: float = 1.0
    seconds: float = 10.0
    seed: int = 0
    stages: frozenset[str] = frozenset({"branch", "cp-sat", "lp", "mip"})
    fixing: bool = True
    ignore_bounds: bool = False

    def __post_init__(self) -> None:
        if not self.scale > 0 or not self.seconds > 0:
            raise ConfigError(f"effort and seconds must be positive, got {self.scale} and {self.seconds}")
        unknown = self.stages - {"branch", "cp-sat", "lp", "mip"}
        if unknown:
            raise ConfigError(f"unknown stages {sorted(unknown)}; valid: branch, cp-sat, lp, mip")

    def count(self, base: float) -> int:
        """A scaled count, at least 1."""
        return max(1, round(base * self.scale))


@dataclass(frozen=True)
class Answer:
    """A plan with its bound.

    Attributes:
        order: units in an executable order; None where the goals can't be reached.
        cost: sum of their costs.
        bound: no plan costs less.
        proved: cost == bound, or (order None) proved unreachable.
        by: the stage that settled it, or the last one that ran.
        stopped: `proved`, `effort` or `time`.
        size: units after reduction.
        trace: (seconds, cost, bound) whenever one of them improved.
    """

    order: tuple[int, ...] | None
    cost: int
    bound: int
    proved: bool
    by: str
    stopped: str
    size: int = 0
    seconds: float = 0.0
    trace: tuple[tuple[float, int, int], ...] = field(default=(), repr=False)
    note: str = ""

    @property
    def gap(self) -> float:
        """(cost - bound) / cost; 0 where proved."""
        return 0.0 if self.proved or not self.cost else (self.cost - self.bound) / self.cost


class _Done(Exception):  # noqa: N818 - leaves the stages early
    """The search is over: proved, or out of budget."""


class _Search:
    def __init__(self, graph: Hypergraph, start: frozenset[int], goals: tuple[int, ...], effort: Effort) -> None:
        self.graph, self.start, self.goals, self.effort = graph, start, goals, effort
        self.began = time.perf_counter()
        self.rng = random.Random(effort.seed)  # noqa: S311 - a seeded search, no secret
        self.best: frozenset[int] = frozenset()
        self.cost = -1
        self.bound = 0
        self.by = "reduce"
        self.stop = "effort"
        self.trace: list[tuple[float, int, int]] = []
        self.landmarks: list[Row] = []
        self.note = ""

    def out_of_time(self) -> bool:
        return time.perf_counter() - self.began > self.effort.seconds

    def left(self) -> float:
        return self.effort.seconds - (time.perf_counter() - self.began)

    def offer(self, query: Reduced, plan: Iterable[int] | None) -> None:
        """Take a plan if it is better."""
        if plan is None:
            return
        plan = set(plan)
        cost = query.total(plan)
        if self.cost < 0 or cost < self.cost:
            self.cost, self.best = cost, query.original(plan)
            self.record()

    def raise_bound(self, value: float, query: Reduced) -> None:
        """A bound of a reduced query holds for strictly better plans only, so it never passes the incumbent's cost."""
        bound = min(self.cost, ceil_to(value, query.grain)) if value != float("inf") else self.cost
        if bound > self.bound:
            self.bound = bound
            self.record()

    def record(self) -> None:
        self.trace.append((time.perf_counter() - self.began, self.cost, self.bound))

    def proved(self) -> None:
        self.bound = self.cost
        self.record()
        raise _Done

    def check(self) -> None:
        if self.bound >= self.cost:
            raise _Done
        if self.out_of_time():
            self.stop = "time"
            raise _Done

    def reduced(self, keep: Iterable[int] | None = None) -> Reduced | None:
        return reduce(self.graph, self.start, self.goals, keep)

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
        try:
            self.stages(query)
        except _Done:
            pass
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

    def fix(self, query: Reduced, cuts: Cuts) -> tuple[Reduced, Cuts]:
        """Remove units that no plan better than the incumbent uses; repeat while it pays."""
        if not self.effort.fixing:
            return query, cuts
        for _ in range(6):
            most = self.cost - query.grain + 1e-6
            keep = [
                u
                for u in range(len(query.ins))
                if cuts.bound + cuts.residual[u] + max(cuts.value[i] for i in query.ins[u]) <= most
            ]
            if len(keep) >= (1 - MIN_FIX) * len(query.ins):
                break
            smaller = self.reduced(query.original(keep))
            if smaller is None:
                self.by = "lm-cut fixing"
                self.proved()
                raise AssertionError
            query = smaller
            plan = cheapest_tree_plan(query)
            self.offer(query, plan)
            if plan is not None and len(plan) < 400:
                self.offer(query, ban_one(query, plan, self.rng, self.effort.count(30), self.out_of_time))
            cuts = lmcut(query, query.cost, stopped=self.out_of_time)
            self.raise_bound(cuts.bound, query)
            self.check()
        return query, cuts

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

    def relax(self, query: Reduced, program: Program) -> tuple[Reduced, Program, Solution | None]:
        """Cut loop on the linear program, with repair of its solutions into plans and reduced-cost fixing."""
        rng = self.rng
        stall = 0
        last = float("-inf")
        rounds = self.effort.count(15)
        solution: Solution | None = None
        while True:
            new = program.relax(max(0.05, self.left()))
            if new.status == "infeasible":
                self.proved()
            if new.status != "optimal" or new.x is None or new.z is None:
                self.check()
                return query, program, solution
            solution = new
            self.raise_bound(solution.objective, query)
            self.repair(query, solution.x)
            self.check()
            smaller = self.by_reduced_cost(query, program, solution)
            if smaller is not None:
                query, program = smaller
                continue
            stall = stall + 1 if solution.objective < last + query.grain * 0.02 else 0
            last = max(last, solution.objective)
            rounds -= 1
            if rounds <= 0 or stall > 6 or not self.separate(query, program, solution):
                return query, program, solution
        return query, program, solution

    def repair(self, query: Reduced, x: Sequence[float], noisy: int = 2) -> None:
        """Plans near a fractional solution: Knuth with each unit's cost lowered by its use."""
        for turn in range(1 + noisy):
            use = list(x)
            if turn:
                use = [v * self.rng.uniform(0.6, 1) for v in use]
                for o in sorted(self.best):
                    u = query.index.get(o)
                    if u is not None and self.rng.random() < 0.5:
                        use[u] += 0.3
            cost = [max(0.0, c * (1 - v)) for c, v in zip(query.cost, use, strict=True)]
            _, maker = knuth(query, cost)
            plan = extract(query, maker)
            if plan is not None:
                self.offer(query, prune(query, plan))

    def by_reduced_cost(self, query: Reduced, program: Program, solution: Solution) -> tuple[Reduced, Program] | None:
        """Drop units whose reduced cost exceeds the gap, when at least a fifth goes."""
        if not self.effort.fixing or solution.reduced is None:
            return None
        most = self.cost - query.grain + 1e-3
        keep = [
            u
            for u in range(len(query.ins))
            if query.orig[u] < 0 or solution.objective + max(0.0, float(solution.reduced[u])) <= most
        ]
        if len(keep) >= 0.8 * len(query.ins):
            return None
        smaller = self.reduced(query.original(keep))
        if smaller is None:
            self.proved()
            raise AssertionError
        cuts = lmcut(smaller, smaller.cost, stopped=self.out_of_time)
        self.raise_bound(cuts.bound, smaller)
        fresh = Program(smaller, cuts.cuts)
        for row in program.landmarks:
            if row.node >= 0 or query.last in row.units:
                continue
            # A landmark restricted to the units that are left stays one; an empty one means that nothing better is left.
            units = tuple(sorted(smaller.index[o] for u in row.units if (o := query.orig[u]) in smaller.index))
            if not units:
                self.proved()
            fresh.add(Row(units))
        self.check()
        return smaller, fresh

    def separate(self, query: Reduced, program: Program, solution: Solution) -> int:
        """Add rows that the solution violates; returns how many."""
        assert solution.x is not None and solution.z is not None
        x, z = solution.x, solution.z
        added = sum(program.add(row) for row in by_lmcut(query, x))
        wanted = [n for n in range(1, query.nodes) if z[n] > 0.2 and n != query.goal]
        self.rng.shuffle(wanted)
        for turn, mode in enumerate(("hmax", "made", "random", "random")):
            chosen = supporters(query, x, z, mode, self.rng)
            targets = [query.goal, *wanted[25 * turn : 25 * (turn + 1)]]
            added += sum(program.add(row) for row in by_flow(query, x, z, chosen, targets))
            self.check()
        return added

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

    def inside(self, query: Reduced) -> set[int] | None:
        """The incumbent in the query's numbers, with the goal unit; None where a unit of it was removed."""
        units = [query.index.get(o) for o in sorted(self.best)]
        if any(u is None for u in units):
            plan = cheapest_tree_plan(query)
            return plan
        plan = {u for u in units if u is not None} | {query.last}
        return plan if is_plan(query, plan) else cheapest_tree_plan(query)

    def core(self, query: Reduced, program: Program, solution: Solution) -> None:
        """The integer program on the units that the relaxation likes, in three growing sizes."""
        assert solution.x is not None and solution.reduced is not None
        x, d = solution.x, solution.reduced
        order = sorted(range(len(query.ins)), key=lambda u: (-round(float(x[u]), 9), max(0.0, float(d[u])), u))
        support = sum(1 for v in x if v > 1e-6)
        incumbent = self.inside(query) or set()
        for factor in (1.1, 2.0, 3.0):
            core = set(order[: max(30, int(factor * support))]) | incumbent | {query.last}
            if len(core) > 0.9 * len(query.ins):
                return
            outside = [u for u in range(len(query.ins)) if u not in core]
            program.fix(outside)
            finished = False
            for _ in range(4):
                found = program.minimise(min(0.1 * self.effort.seconds, self.left()), incumbent, self.effort.count(500))
                finished = found.status == "optimal"
                if found.x is None or self.lazy(query, program, found) or not finished:
                    break
            program.fix(outside, free=True)
            self.check()
            if not finished:
                return

    def full(self, query: Reduced, program: Program) -> None:
        """The integer program on all units, landmarks added until its answer is a plan."""
        while True:
            self.check()
            found = program.minimise(max(0.05, self.left()), self.inside(query), self.effort.count(5000))
            if found.status == "infeasible":
                self.proved()
            if abs(found.bound) < 1e25:
                self.raise_bound(min(found.bound, self.cost), query)
            self.check()
            if found.x is None:
                return
            if self.lazy(query, program, found):
                if found.status == "optimal":
                    self.proved()
                return

    def lazy(self, query: Reduced, program: Program, found: Solution) -> bool:
        """True where the integer answer is a plan; else rows are added that exclude it."""
        assert found.x is not None
        used = {u for u in range(len(query.ins)) if found.x[u] > 0.5}
        if is_plan(query, used):
            self.offer(query, prune(query, used | {query.last}))
            return True
        self.repair(query, found.x, noisy=0)
        for row in for_integer(query, used, self.rng):
            program.add(row)
        return False


def solve(
    graph: Hypergraph, start: Iterable[int], goals: Iterable[int], effort: Effort | None = None
) -> Answer:
    """The cheapest set of units that makes the goals, each unit paid once, in an executable order.

    Args:
        graph: the network with its costs.
        start: nodes that are there.
        goals: nodes that are wanted.
        effort: budgets; the same budgets give the same answer unless the wall time strikes.
    """
    return _Search(graph, frozenset(start), tuple(goals), effort or Effort()).run()
