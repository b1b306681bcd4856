"""The linear relaxation and the mixed-integer programs as stages of the search."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.network.retrieve.incumbent import extract, knuth, prune
from handrail.network.retrieve.lmcut import lmcut
from handrail.network.retrieve.progress import Progress
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Program, Row, Solution
from handrail.network.retrieve.separate import by_flow, by_lmcut, for_integer, is_plan, supporters


class Programs(Progress):
    """Stages that need HiGHS."""

    def relax(self, query: Reduced, program: Program) -> tuple[Reduced, Program, Solution | None]:
        """Cut loop on the linear program, with repair of its solutions into plans and reduced-cost fixing."""
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
            self.repair(query, new.x)
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
