"""What a search has so far: a plan, its cost, a lower bound, and its budgets."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from handrail.errors import ConfigError
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.incumbent import ban_one, cheapest_tree_plan
from handrail.network.retrieve.lmcut import Cuts, lmcut
from handrail.network.retrieve.reduce import Reduced, ceil_to, reduce
from handrail.network.retrieve.separate import is_plan

MIN_FIX = 0.03
"""Fixing is repeated while at least this share of the units goes."""


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


class Done(Exception):  # noqa: N818 - leaves the stages early
    """The search is over: proved, or out of budget."""


class Progress:
    """The state that all stages share. Plans are kept in the hypergraph's numbers, so that stages can reduce anew."""

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
        self.note = ""

    def out_of_time(self) -> bool:
        """True once the wall time is used up."""
        return time.perf_counter() - self.began > self.effort.seconds

    def left(self) -> float:
        """Seconds of wall time left."""
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
        """Note the moment of an improvement."""
        self.trace.append((time.perf_counter() - self.began, self.cost, self.bound))

    def proved(self) -> None:
        """The incumbent is the optimum: end the search."""
        self.bound = self.cost
        self.record()
        raise Done

    def check(self) -> None:
        """End the search where the bound has met the cost, or the time is up."""
        if self.bound >= self.cost:
            raise Done
        if self.out_of_time():
            self.stop = "time"
            raise Done

    def reduced(self, keep: Iterable[int] | None = None) -> Reduced | None:
        """The query reduced to these units."""
        return reduce(self.graph, self.start, self.goals, keep)

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

    def inside(self, query: Reduced) -> set[int] | None:
        """The incumbent in the query's numbers, with the goal unit; None where a unit of it was removed."""
        units = [query.index.get(o) for o in sorted(self.best)]
        if any(u is None for u in units):
            return cheapest_tree_plan(query)
        plan = {u for u in units if u is not None} | {query.last}
        return plan if is_plan(query, plan) else cheapest_tree_plan(query)
