"""What each way of quoting a number would have told its user, over many simulated deployments of one cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handrail.decide.certificate import Limits, Losses, Setting, p_value, starts_from_simulator
from handrail.decide.certificate.testing import bonferroni, several_risks, several_starts
from handrail.decide.conformal import threshold
from handrail.evaluate.task_cells import (
    COPIES,
    LOGGED,
    SETTINGS,
    STRICT,
    Cell,
    Floats,
    Population,
    acts,
    goal_right,
    populate,
    replayed,
    run_all,
)
from handrail.evaluate.task_parts import Components, execution_risk, product_bounds, union_bounds

DELTA = 0.05
STARTS = 4


@dataclass
class Tally:
    """Outcomes of one method over deployments.

    Attributes:
        said: it gave the user a number.
        false: it did, and a risk was above what was said.
        help: true help of the setting it chose, summed over the deployments where it gave one.
        achieved: true share of tasks done as meant, likewise.
        silent: true silent failure, likewise.
        total: deployments.
    """

    said: int = 0
    false: int = 0
    help: float = 0.0
    achieved: float = 0.0
    silent: float = 0.0
    total: int = 0

    def add(self, said: bool, false: bool = False, numbers: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Count one deployment; `numbers` are (help, achieved, silent)."""
        self.total += 1
        if said:
            self.said += 1
            self.false += int(false)
            self.help += numbers[0]
            self.achieved += numbers[1]
            self.silent += numbers[2]

    def summary(self) -> dict[str, float | None]:
        """Shares and means; means are None where the method never gave a number."""
        mean = [round(x / self.said, 4) if self.said else None for x in (self.help, self.achieved, self.silent)]
        return {
            "certified": round(self.said / self.total, 4),
            "false_rate": round(self.false / self.total, 4),
            "help": mean[0],
            "achieved": mean[1],
            "silent": mean[2],
        }


@dataclass(frozen=True)
class Truth:
    """Exact risks of all settings on a population: (settings,) each."""

    silent: Floats
    task: Floats
    help: Floats

    @classmethod
    def of(cls, losses: Losses) -> Truth:
        """Means over the population."""
        return cls(*(np.asarray(x.mean(axis=1), dtype=np.float64) for x in (losses.silent, losses.task, losses.help)))

    def numbers(self, i: int) -> tuple[float, float, float]:
        """(help, achieved, silent) of setting `i`."""
        return float(self.help[i]), float(1 - self.task[i]), float(self.silent[i])

    def broken(self, i: int, limits: Limits) -> bool:
        """Some limit is really passed by setting `i`."""
        return bool(self.silent[i] > limits.silent or self.task[i] > limits.task)


@dataclass(frozen=True)
class KnowNo:
    """KnowNo on a grid of thresholds: the truth behind its number, (thresholds,) each, and its scores, (n,)."""

    scores: Floats
    grid: Floats
    covered: Floats
    open_loop: Floats
    success: Floats
    silent: Floats
    help: Floats

    @classmethod
    def of(cls, p: Population, points: int = 300) -> KnowNo:
        """Coverage and outcomes at quantiles of the episodes' nonconformity (minimum over steps, eq. 4)."""
        true = np.where(p.own_right, p.confidence, np.where(p.listed, p.second, 0.0))
        scores = np.asarray(np.where(p.active, 1 - true, 0.0).max(axis=1), dtype=np.float64)
        grid = np.unique(np.append(np.quantile(scores, np.linspace(0, 1, points)), np.inf))
        rows = [_knowno_at(p, scores, q) for q in grid]
        return cls(scores, grid, *(np.array(x) for x in zip(*rows, strict=True)))

    def at(self, q: float) -> int:
        """Index of the largest grid threshold that is at most `q`."""
        return max(0, int(np.searchsorted(self.grid, q, side="right")) - 1)


def _knowno_at(p: Population, scores: Floats, q: float) -> tuple[float, float, float, float, float]:
    alone = (p.confidence >= 1 - q) & (p.second < 1 - q)
    asks = ~alone & p.active
    right, _ = goal_right(p, asks, read_back=False)
    first_try = ~p.first_failed.any(axis=1)
    opened = right & first_try & ~p.flaw_seen & ~p.flaw_silent & ~p.strict.wrong
    setting = Setting(0.0, read_back=False, copies=COPIES, passes=2, replans=6, strictness=STRICT)
    done = acts(p, setting)
    meant = right & ~p.flaw_silent & ~p.strict.wrong
    helped = asks.any(axis=1) | ~done
    return (
        float((scores <= q).mean()),
        float(opened.mean()),
        float((done & meant).mean()),
        float((done & ~meant).mean()),
        float(helped.mean()),
    )


@dataclass
class CellResult:
    """All methods in one cell."""

    cell: Cell
    methods: dict[str, Tally] = field(default_factory=dict)
    coverage: float = 0.0
    coverage_missed: float = 0.0
    statement_false: dict[str, float] = field(default_factory=dict)
    oracle_help: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "cell": self.cell.name,
            "limits": {"silent": self.cell.limits.silent, "task": self.cell.limits.task},
            "episodes": self.cell.episodes,
            "deployments": next(iter(self.methods.values())).total,
            "oracle_help": self.oracle_help,
            "knowno_coverage": round(self.coverage, 4),
            "knowno_coverage_missed": round(self.coverage_missed, 4),
            "statement_false": {k: round(v, 4) for k, v in self.statement_false.items()},
            "methods": {name: tally.summary() for name, tally in self.methods.items()},
        }


def optimistic(cell: Cell) -> Cell:
    """The simulator that orders the settings: fewer failures, a better verifier, no blind spots, nothing stays hard."""
    return Cell(
        cell.name,
        cell.limits,
        cell.episodes,
        false_positive=cell.false_positive * 0.5,
        human_error=cell.human_error * 0.5,
        blind=0.0,
        easiest=cell.easiest * 0.7,
        hardest=cell.hardest * 0.7,
        steps=cell.steps,
    )


def evaluate_cell(cell: Cell, size: int, deployments: int, rng: np.random.Generator) -> CellResult:
    """All methods over `deployments` calibrations drawn from a population of `size` episodes."""
    p = populate(cell, size, rng)
    losses = run_all(p)
    logged = replayed(p, [SETTINGS[i] for i in LOGGED])
    truth = Truth.of(losses)
    log_truth = Truth(*(x[list(LOGGED)] for x in (truth.silent, truth.task, truth.help)))
    sim = Truth.of(run_all(populate(optimistic(cell), max(5000, size // 3), rng)))
    log_sim = Truth(*(x[list(LOGGED)] for x in (sim.silent, sim.task, sim.help)))
    starts, log_starts = _orders(cell, sim), _orders(cell, log_sim)
    knowno, parts = KnowNo.of(p), Components.measure(cell, p, SETTINGS)
    result = CellResult(cell)
    ok = (truth.silent <= cell.limits.silent) & (truth.task <= cell.limits.task)
    result.oracle_help = round(float(truth.help[ok].min()), 4) if ok.any() else None
    columns = {
        name: tuple(np.ascontiguousarray(x.T) for x in (found.silent, found.task, found.help))
        for name, found in (("logged", logged), ("own runs", losses))
    }
    reference = int(np.argmin(np.where(ok, truth.help, np.inf))) if ok.any() else int(np.argmin(truth.task))
    execution = execution_risk(p, SETTINGS[reference])
    broken: Counter[str] = Counter()
    covered = missed = 0.0
    for _ in range(deployments):
        drawn = rng.integers(0, p.size, cell.episodes)
        counts = {name: tuple(x[drawn].sum(axis=0, dtype=np.int64) for x in c) for name, c in columns.items()}
        _learn_then_test(result, cell, counts["logged"], log_truth, log_starts, "certificate", extras=True)
        _learn_then_test(result, cell, counts["own runs"], truth, starts, "certificate, a run per setting")
        _best_looking(result, cell, counts["own runs"], truth)
        coverage = _knowno(result, cell, knowno, drawn)
        covered += coverage
        missed += coverage < 1 - cell.limits.task
        for name, composed in (("union bound", union_bounds), ("per-skill product", product_bounds)):
            bound = composed(parts, DELTA, rng)
            _bounds(result, cell, name, bound.silent, bound.task, truth)
            too_low = bound.silent[reference] < truth.silent[reference] or bound.task[reference] < truth.task[reference]
            broken[name] += int(too_low)
            broken[f"{name}, carrying out alone"] += int(bound.execution[reference] < execution)
    result.coverage, result.coverage_missed = covered / deployments, missed / deployments
    result.statement_false = {name: n / deployments for name, n in broken.items()}
    return result


def _orders(cell: Cell, t: Truth) -> tuple[tuple[int, ...], ...]:
    return starts_from_simulator(t.silent, t.task, t.help, cell.limits, cell.episodes, STARTS)


Counts = tuple[NDArray[np.int64], ...]


def _learn_then_test(
    result: CellResult,
    cell: Cell,
    counts: Counts,
    truth: Truth,
    starts: tuple[tuple[int, ...], ...],
    name: str,
    extras: bool = False,
) -> None:
    silent, task, helped = counts
    p = several_risks(
        [p_value(silent, cell.episodes, cell.limits.silent), p_value(task, cell.episodes, cell.limits.task)]
    )
    accepted = {name: several_starts(p, starts, DELTA)}
    if extras:
        accepted[f"{name}, one start"] = several_starts(p, starts[:1], DELTA)
        accepted[f"{name}, Bonferroni"] = bonferroni(p, DELTA)
    for method, found in accepted.items():
        tally = result.methods.setdefault(method, Tally())
        if not found:
            tally.add(False)
            continue
        # A false certificate is one where *any* accepted setting breaks a limit: the user may pick each of them.
        chosen = min(found, key=lambda i: (helped[i], silent[i]))
        tally.add(True, any(truth.broken(i, cell.limits) for i in found), truth.numbers(chosen))


def _best_looking(result: CellResult, cell: Cell, counts: Counts, truth: Truth) -> None:
    silent, task, helped = (c / cell.episodes for c in counts)
    fits = np.flatnonzero((silent <= cell.limits.silent) & (task <= cell.limits.task))
    tally = result.methods.setdefault("best-looking setting", Tally())
    if not fits.size:
        tally.add(False)
        return
    chosen = int(fits[np.argmin(helped[fits])])
    tally.add(True, truth.broken(chosen, cell.limits), truth.numbers(chosen))


def _knowno(result: CellResult, cell: Cell, knowno: KnowNo, drawn: NDArray[np.int64]) -> float:
    """KnowNo's number read as task success, open loop and inside our loop; its true coverage."""
    i = knowno.at(threshold(knowno.scores[drawn], cell.limits.task, DELTA))
    target = 1 - cell.limits.task
    opened, success, silent = (float(x[i]) for x in (knowno.open_loop, knowno.success, knowno.silent))
    helped = float(knowno.help[i])
    result.methods.setdefault("KnowNo alone, open loop", Tally()).add(
        True, opened < target, (helped, opened, 1 - opened)
    )
    tally = result.methods.setdefault("KnowNo alone, in this loop", Tally())
    tally.add(True, success < target, (helped, success, silent))
    return float(knowno.covered[i])


def _bounds(result: CellResult, cell: Cell, name: str, silent: Floats, task: Floats, truth: Truth) -> None:
    fits = np.flatnonzero((silent <= cell.limits.silent) & (task <= cell.limits.task))
    tally = result.methods.setdefault(name, Tally())
    if not fits.size:
        tally.add(False)
        return
    chosen = int(fits[np.argmin(truth.help[fits])])
    tally.add(True, truth.broken(chosen, cell.limits), truth.numbers(chosen))
