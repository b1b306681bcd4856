"""CP-SAT on the rows without ordering variables: good plans and, with its full linear relaxation, proofs.

With time labels for the order of nodes its bound is near 0 in a large cycle. On these rows, with one worker and
`linearization_level = 2`, it proves networks of many hundred units within seconds; answers that are no plan are excluded
by landmarks and it is asked again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from handrail.errors import MissingExtra
from handrail.network.retrieve.incumbent import prune
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Row, Rows
from handrail.network.retrieve.separate import for_integer, is_plan


def available() -> bool:
    """True where ortools is installed."""
    import importlib.util

    return importlib.util.find_spec("ortools") is not None


def module() -> Any:
    """The module cp_model.

    Raises:
        MissingExtra: ortools is not installed.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise MissingExtra("exact retrieval by constraint programming", "network", "ortools") from error
    return cp_model


def quiet_solver(seconds: float, effort: float | None) -> Any:
    """One worker with a fixed seed: the same answer every time unless the wall time strikes."""
    solver = module().CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(0.01, seconds)
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
    return solver


@dataclass(frozen=True, slots=True)
class Found:
    """One solver call: status `optimal`, `feasible`, `infeasible` or `limit`; units used; bound; time spent."""

    status: str
    used: set[int] | None
    bound: float
    deterministic: float
    seconds: float


class Model:
    """The rows as a CP-SAT model to which landmarks and forbidden plans are added."""

    def __init__(self, query: Reduced, landmarks: Iterable[Row] = ()) -> None:
        cp = module()
        self.query = query
        self.rows = Rows(query)
        self.model = cp.CpModel()
        self.x = [self.model.new_bool_var("") for _ in range(self.rows.size)]
        x, rows = self.x, self.rows
        self.model.add(x[rows.z[0]] == 1)
        self.model.add(x[rows.z[query.goal]] == 1)
        for columns, values, low, high in zip(rows.columns, rows.values, rows.low, rows.high, strict=True):
            expression = cp.LinearExpr.weighted_sum([x[c] for c in columns], values)
            if low == high:
                self.model.add(expression == int(low))
            elif low == float("-inf"):
                self.model.add(expression <= int(high))
            else:
                self.model.add(expression >= int(low))
        for row in landmarks:
            self.add(row)
        paid = [u for u, c in enumerate(query.cost) if c]
        weights = [query.cost[u] // query.grain for u in paid]
        self.model.minimize(cp.LinearExpr.weighted_sum([x[u] for u in paid], weights))

    def add(self, row: Row) -> None:
        """Add a landmark."""
        literals = [self.x[u] for u in row.units]
        if row.node >= 0:
            literals.append(~self.x[self.rows.z[row.node]])
        self.model.add_bool_or(literals)

    def forbid(self, plan: Iterable[int]) -> None:
        """Exclude a plan and everything that contains it."""
        self.model.add_bool_or([~self.x[u] for u in plan if self.query.orig[u] >= 0])

    def at_most(self, units: Iterable[int], count: int) -> None:
        """At most `count` of these units are used."""
        self.model.add(module().LinearExpr.sum([self.x[u] for u in units]) <= count)

    def hint(self, plan: Iterable[int]) -> None:
        """Start from a plan (goal unit included)."""
        self.model.clear_hints()
        for variable, value in zip(self.x, self.rows.point(plan), strict=True):
            self.model.add_hint(variable, value)

    def solve(self, seconds: float, effort: float | None = None) -> Found:
        """One solver call."""
        cp = module()
        solver = quiet_solver(seconds, effort)
        status = solver.solve(self.model)
        name = {cp.OPTIMAL: "optimal", cp.FEASIBLE: "feasible", cp.INFEASIBLE: "infeasible"}.get(status, "limit")
        used = None
        if name in ("optimal", "feasible"):
            used = {u for u in range(len(self.query.ins)) if solver.value(self.x[u])}
        bound = solver.best_objective_bound * self.query.grain if used is not None else 0.0
        return Found(name, used, bound, float(solver.response_proto.deterministic_time), float(solver.wall_time))


@dataclass(frozen=True, slots=True)
class Improved:
    """What CP-SAT found.

    Attributes:
        plan: the best plan, goal unit included.
        bound: a lower bound on every plan of the query.
        proved: the plan is the cheapest of the query.
        rows: landmarks that had to be added.
    """

    plan: set[int]
    bound: float
    proved: bool
    rows: tuple[Row, ...]


def improve(
    query: Reduced,
    best: set[int],
    landmarks: Iterable[Row],
    effort: float,
    seconds: float,
    rng: random.Random,
) -> Improved:
    """Look for the cheapest plan.

    Args:
        query: the reduced query.
        best: the incumbent, goal unit included; the solver's hint.
        landmarks: rows known so far.
        effort: CP-SAT's deterministic time (about seconds on an idle machine) for all rounds together, so that a loaded
            machine gives the same plan.
        seconds: wall time at most.
        rng: for the landmarks that are added when an answer does not make the goal.

    Raises:
        MissingExtra: ortools is not installed.
    """
    model = Model(query, landmarks)
    new: list[Row] = []
    bound = 0.0
    proved = False
    while effort > 0 and seconds > 0.01:
        model.hint(best)
        found = model.solve(seconds, effort)
        effort -= max(found.deterministic, 1e-3)
        seconds -= found.seconds
        if found.used is None:
            break
        bound = max(bound, found.bound)
        if is_plan(query, found.used):
            candidate = prune(query, found.used | {query.last})
            if query.total(candidate) < query.total(best):
                best = candidate
            if found.status == "optimal":
                proved = True
                break
        if found.status == "feasible":
            break
        for row in for_integer(query, found.used, rng):
            new.append(row)
            model.add(row)
    return Improved(best, bound, proved, tuple(new))
