"""The linear relaxation without ordering variables, its rows, and the mixed-integer programs built on it (HiGHS).

Variables: x[u] unit u is used; z[n] node n is made; y[u, n] unit u makes n first (x[u] itself for a unit with one
output). Rows: z[goal] = 1; z[n] = sum of y over n's producers; y <= x; x[u] <= sum of its y; for multi-output units
x[u] <= z[i] for its inputs i; for each node n and input i: sum of y[u, n] over producers u of n that need i <= z[i];
and for each landmark L: sum of x over L >= 1 (or >= z[t] for a landmark of node t). No row says that nodes are made in
some order: loops are excluded by landmarks, added as they are needed. Every inclusion-minimal plan satisfies all rows.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handrail.errors import MissingExtra
from handrail.network.retrieve.incumbent import closure
from handrail.network.retrieve.reduce import Reduced


def highs() -> Any:
    """The module highspy.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import highspy
    except ImportError as error:
        raise MissingExtra("exact retrieval by linear programming", "network", "highspy") from error
    return highspy


@contextlib.contextmanager
def _banner_to_stderr() -> Iterator[None]:
    """HiGHS prints a banner when a solver is made, before it can be silenced; standard output may be our JSON."""
    sys.stdout.flush()
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


@dataclass(frozen=True, slots=True)
class Row:
    """A landmark row: sum of x over `units` >= 1, or >= z[node] where a node is given."""

    units: tuple[int, ...]
    node: int = -1


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution of the relaxation or a mixed-integer program.

    Attributes:
        status: `optimal`, `infeasible`, `limit`.
        objective: value of the solution; NaN where there is none.
        bound: valid lower bound of the program.
        x: use of each unit; None where there is no solution.
        z: how far each node is made.
        reduced: reduced cost of each unit (linear programs only).
    """

    status: str
    objective: float
    bound: float
    x: list[float] | None
    z: list[float] | None
    reduced: list[float] | None


class Rows:
    """The rows in solver-independent form: used by HiGHS here and by CP-SAT in `cpsat`."""

    def __init__(self, query: Reduced) -> None:
        self.query = query
        m = len(query.ins)
        self.z = list(range(m, m + query.nodes))
        self.y: dict[tuple[int, int], int] = {}
        size = m + query.nodes
        for u, outs in enumerate(query.outs):
            if len(outs) == 1:
                self.y[u, outs[0]] = u
            else:
                for n in outs:
                    self.y[u, n] = size
                    size += 1
        self.size = size
        self.columns: list[list[int]] = []
        self.values: list[list[int]] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self._build()

    def _row(self, columns: list[int], values: list[int], low: float, high: float) -> None:
        self.columns.append(columns)
        self.values.append(values)
        self.low.append(low)
        self.high.append(high)

    def _build(self) -> None:
        query, y, z = self.query, self.y, self.z
        infinite = float("inf")
        for n in range(1, query.nodes):
            makers = query.producers[n]
            self._row([y[u, n] for u in makers] + [z[n]], [1] * len(makers) + [-1], 0, 0)
            needing: dict[int, list[int]] = {}
            for u in makers:
                for i in query.ins[u]:
                    if i:
                        needing.setdefault(i, []).append(u)
            for i, users in needing.items():
                self._row([y[u, n] for u in users] + [z[i]], [1] * len(users) + [-1], -infinite, 0)
        for u, outs in enumerate(query.outs):
            if len(outs) > 1:
                for n in outs:
                    self._row([y[u, n], u], [1, -1], -infinite, 0)
                self._row([y[u, n] for n in outs] + [u], [1] * len(outs) + [-1], 0, infinite)
                for i in query.ins[u]:
                    if i:
                        self._row([u, z[i]], [1, -1], -infinite, 0)

    def point(self, plan: Iterable[int]) -> list[int]:
        """The 0/1 point of a plan (goal unit included): first achievers in firing order."""
        values = [0] * self.size
        values[self.z[0]] = 1
        made = {0}
        for u in closure(self.query, plan)[1]:
            first = [n for n in self.query.outs[u] if n not in made]
            for n in first:
                made.add(n)
                values[self.z[n]] = 1
                values[self.y[u, n]] = 1
            if first:
                values[u] = 1
        return values


class Program:
    """The rows in HiGHS, as a linear or a mixed-integer program, with rows added while it runs."""

    def __init__(self, query: Reduced, landmarks: Iterable[Sequence[int]] = ()) -> None:
        module = highs()
        self.query = query
        self.rows = Rows(query)
        self.landmarks: dict[Row, None] = {}
        m = len(query.ins)
        rows = self.rows
        lp = module.HighsLp()
        lp.num_col_ = rows.size
        lp.num_row_ = len(rows.low)
        cost = np.zeros(rows.size)
        cost[:m] = query.cost
        low = np.zeros(rows.size)
        low[rows.z[query.goal]] = 1
        low[rows.z[0]] = 1
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, np.ones(rows.size)
        infinite = module.kHighsInf
        lp.row_lower_ = np.array([v if v > -1e30 else -infinite for v in rows.low])
        lp.row_upper_ = np.array([v if v < 1e30 else infinite for v in rows.high])
        starts = np.zeros(len(rows.low) + 1, dtype=np.int32)
        np.cumsum([len(c) for c in rows.columns], out=starts[1:])
        lp.a_matrix_.format_ = module.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = starts
        lp.a_matrix_.index_ = np.array([c for row in rows.columns for c in row], dtype=np.int32)
        lp.a_matrix_.value_ = np.array([v for row in rows.values for v in row], dtype=float)
        with _banner_to_stderr():
            solver = module.Highs()
        solver.silent()
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("random_seed", 0)
        solver.passModel(lp)
        self._solver = solver
        self._module = module
        self._units = m
        for cut in landmarks:
            self.add(Row(tuple(sorted(cut))))

    def add(self, row: Row) -> bool:
        """Add a landmark row; False where it is there already."""
        if row in self.landmarks:
            return False
        self.landmarks[row] = None
        columns, values = list(row.units), [1.0] * len(row.units)
        if row.node >= 0:
            columns.append(self.rows.z[row.node])
            values.append(-1.0)
        self._solver.addRow(
            1.0 if row.node < 0 else 0.0, self._module.kHighsInf, len(columns), np.array(columns), np.array(values)
        )
        return True

    def forbid(self, plan: Iterable[int]) -> None:
        """Exclude the plan and everything that contains it."""
        units = sorted(u for u in plan if self.query.orig[u] >= 0)
        self._solver.addRow(-self._module.kHighsInf, len(units) - 1.0, len(units), np.array(units), np.ones(len(units)))

    def relax(self, seconds: float) -> Solution:
        """Solve the linear program."""
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, seconds))
        self._solver.run()
        status = self._status()
        if status != "optimal":
            return Solution(status, float("nan"), float("-inf"), None, None, None)
        solution = self._solver.getSolution()
        values = [float(v) for v in solution.col_value]
        objective = float(self._solver.getInfo().objective_function_value)
        z = values[self._units : self._units + self.query.nodes]
        return Solution(
            status, objective, objective, values[: self._units], z, [float(v) for v in solution.col_dual][: self._units]
        )

    def make_integer(self) -> None:
        """From now on x and y are 0 or 1; the gap is closed to one grain of cost."""
        for column in [*range(self._units), *(c for c in self.rows.y.values() if c >= self._units)]:
            self._solver.changeColIntegrality(column, self._module.HighsVarType.kInteger)
        self._solver.setOptionValue("mip_rel_gap", 0.0)
        self._solver.setOptionValue("mip_abs_gap", self.query.grain * 0.99)

    def fix(self, units: Iterable[int], free: bool = False) -> None:
        """Fix units to unused, or free them again."""
        for u in units:
            self._solver.changeColBounds(u, 0.0, 1.0 if free else 0.0)

    def minimise(self, seconds: float, start: Iterable[int] | None = None, nodes: int | None = None) -> Solution:
        """Solve the mixed-integer program.

        Args:
            seconds: wall time at most.
            start: a plan (goal unit included) to start from.
            nodes: search nodes at most.
        """
        solver = self._solver
        solver.clearSolver()
        solver.setOptionValue("time_limit", max(0.05, seconds))
        solver.setOptionValue("mip_max_nodes", 2**31 - 1 if nodes is None else nodes)
        if start is not None:
            point = self._module.HighsSolution()
            point.col_value = [float(v) for v in self.rows.point(start)]
            solver.setSolution(point)
        solver.run()
        status = self._status()
        info = solver.getInfo()
        bound = float(info.mip_dual_bound)
        x = None
        if info.primal_solution_status == 2:
            x = [float(v) for v in solver.getSolution().col_value][: self._units]
        objective = float(info.objective_function_value) if x is not None else float("nan")
        return Solution(status, objective, bound, x, None, None)

    def _status(self) -> str:
        status = self._solver.getModelStatus()
        if status == self._module.HighsModelStatus.kOptimal:
            return "optimal"
        if status == self._module.HighsModelStatus.kInfeasible:
            return "infeasible"
        return "limit"
