"""CP-SAT on the rows without ordering variables: good plans and, with its full linear relaxation, proofs.

With time labels for the order of nodes its bound is near 0 in a large cycle. On these rows, with one worker and
`linearization_level = 2`, it proves networks of many hundred units within seconds; answers that are no plan are excluded
by landmarks and it is asked again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from handrail.errors import MissingExtra
from handrail.network.retrieve.incumbent import prune
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Row, Rows
from handrail.network.retrieve.separate import for_integer, is_plan


def available() -> bool:
    """True where ortools is installed."""
    import importlib.util

    return importlib.util.find_spec("ortools") is not None


@dataclass(frozen=True, slots=True)
class Improved:
    """What CP-SAT found.

    Attributes:
        plan: the best plan, goal unit included.
        bound: a lower bound on every plan of the query.
        proved: the plan is the cheapest of the query.
        rows: landmarks that had to be added.
        spent: deterministic time used.
    """

    plan: set[int]
    bound: float
    proved: bool
    rows: tuple[Row, ...]
    spent: float


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
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise MissingExtra("exact retrieval by constraint programming", "network", "ortools") from error

    rows = Rows(query)
    model = cp_model.CpModel()
    variables = [model.new_bool_var("") for _ in range(rows.size)]
    model.add(variables[rows.z[0]] == 1)
    model.add(variables[rows.z[query.goal]] == 1)
    for columns, values, low, high in zip(rows.columns, rows.values, rows.low, rows.high, strict=True):
        expression = cp_model.LinearExpr.weighted_sum([variables[c] for c in columns], values)
        if low == high:
            model.add(expression == int(low))
        elif low == float("-inf"):
            model.add(expression <= int(high))
        else:
            model.add(expression >= int(low))

    def landmark(row: Row) -> None:
        literals = [variables[u] for u in row.units]
        if row.node >= 0:
            literals.append(~variables[rows.z[row.node]])
        model.add_bool_or(literals)

    for row in landmarks:
        landmark(row)
    paid = [u for u, c in enumerate(query.cost) if c]
    weights = [query.cost[u] // query.grain for u in paid]
    objective = cp_model.LinearExpr.weighted_sum([variables[u] for u in paid], weights)
    model.minimize(objective)
    new: list[Row] = []
    bound = 0.0
    proved = False
    spent = 0.0
    while spent < effort and seconds > 0.01:
        model.clear_hints()
        for variable, value in zip(variables, rows.point(best), strict=True):
            model.add_hint(variable, value)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = effort - spent
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model)
        spent += max(float(solver.response_proto.deterministic_time), 1e-3)
        seconds -= solver.wall_time
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        bound = max(bound, solver.best_objective_bound * query.grain)
        used = {u for u in range(len(query.ins)) if solver.value(variables[u])}
        if is_plan(query, used):
            candidate = prune(query, used | {query.last})
            if query.total(candidate) < query.total(best):
                best = candidate
            if status == cp_model.OPTIMAL:
                proved = True
                break
        if status == cp_model.FEASIBLE:
            break
        for row in for_integer(query, used, rng):
            new.append(row)
            landmark(row)
    return Improved(best, bound, proved, tuple(new), spent)
