"""CP-SAT on the rows without ordering: a strong source of good plans (its bound stays weak, so none is taken)."""

from __future__ import annotations

import random
from collections.abc import Iterable

from handrail.network.retrieve.incumbent import prune
from handrail.network.retrieve.reduce import Reduced
from handrail.network.retrieve.relaxation import Row, Rows
from handrail.network.retrieve.separate import for_integer, is_plan


def available() -> bool:
    """True where ortools is installed."""
    import importlib.util

    return importlib.util.find_spec("ortools") is not None


def improve(
    query: Reduced,
    best: set[int],
    landmarks: Iterable[Row],
    effort: float,
    seconds: float,
    rng: random.Random,
    rounds: int = 4,
) -> tuple[set[int], list[Row]]:
    """Look for a cheaper plan.

    Args:
        query: the reduced query.
        best: the incumbent, goal unit included; the solver's hint.
        landmarks: rows known so far.
        effort: CP-SAT's deterministic time for all rounds together, so that a loaded machine gives the same plan.
        seconds: wall time at most.
        rng: for the landmarks that are added when an answer does not make the goal.
        rounds: solver calls at most.

    Returns:
        (the best plan, new landmark rows)
    """
    from ortools.sat.python import cp_model

    rows = Rows(query)
    model = cp_model.CpModel()
    variables = [model.new_bool_var("") for _ in range(rows.size)]
    model.add(variables[rows.z[0]] == 1)
    model.add(variables[rows.z[query.goal]] == 1)
    for columns, values, low, high in zip(rows.columns, rows.values, rows.low, rows.high, strict=True):
        expression = sum(v * variables[c] for c, v in zip(columns, values, strict=True))
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
    grain = query.grain
    objective = sum(c // grain * variables[u] for u, c in enumerate(query.cost) if c)
    model.minimize(objective)
    new: list[Row] = []
    spent = 0.0
    for _ in range(rounds):
        if spent >= effort or seconds <= 0.01:
            break
        model.clear_hints()
        for variable, value in zip(variables, rows.point(best), strict=True):
            model.add_hint(variable, value)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = effort - spent
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model)
        spent += max(float(solver.response_proto.deterministic_time), 0.05 * effort)
        seconds -= solver.wall_time
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        used = {u for u in range(len(query.ins)) if solver.value(variables[u])}
        if is_plan(query, used):
            candidate = prune(query, used | {query.last})
            if query.total(candidate) < query.total(best):
                best = candidate
            break
        for row in for_integer(query, used, rng):
            new.append(row)
            landmark(row)
    return best, new
