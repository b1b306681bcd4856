"""How soon alarms tell that a certificate is no longer true, and how often they are wrong, in the symbolic world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handrail.decide.certificate import Setting
from handrail.decide.drift.detector import run_length
from handrail.decide.drift.monitor import MEAN_TASKS_TO_FALSE_ALARM
from handrail.decide.drift.streams import ASK, FIRST_TRY, HAND_OVER, SILENT, TASK, WRONG_GIVEN_DONE, baseline
from handrail.evaluate.task_cells import (
    CELLS,
    COPIES,
    SKILLS,
    STRICT,
    Bools,
    Cell,
    Population,
    acts,
    goal_right,
    populate,
    tried,
)

BASE = CELLS[1]
SETTING = Setting(0.93, read_back=True, copies=COPIES, passes=2, replans=6, strictness=STRICT)
AT, TASKS = 500, 2500
AUDITS = (0.1, 0.2, 1.0)

CHANGES: dict[str, Cell] = {
    "skills fail twice as often": replace(BASE, easiest=2 * BASE.easiest, hardest=2 * BASE.hardest),
    "verifier passes 15 % of failures": replace(BASE, false_positive=0.15),
    "more ambiguous requests": replace(BASE, ambiguous=0.35),
}


@dataclass(frozen=True)
class Stream:
    """What every stream would see of each task of a population, (n,) and for first tries (n, 8)."""

    handed: Bools
    asked: Bools
    silent: Bools
    task: Bools
    first_failed: Bools
    skill: NDArray[np.int64]
    active: Bools

    @classmethod
    def of(cls, p: Population, s: Setting) -> Stream:
        """Observations under one setting."""
        asks = (p.confidence < s.ask) & p.active
        right, _ = goal_right(p, asks, s.read_back)
        done = acts(p, s)
        meant = right & ~p.flaw_silent & ~tried(p, s).wrong
        asked = asks.any(axis=1) | (p.irreversible & s.read_back)
        return cls(~done, asked, done & ~meant, ~(done & meant), p.first_failed, p.skill, p.active)


def alarms(size: int, runs: int, rng: np.random.Generator, calibration: int = 1000) -> dict[str, Any]:
    """Delays after each change, and false alarms without one.

    Args:
        size: population per world.
        runs: deployments simulated per change.
        rng: source of all draws.
        calibration: episodes from which baselines are taken.

    Returns:
        `rows` [{change, stream, median_delay, delay_90, detected, false_rate}] (delays in tasks, None where fewer
        than half, or nine tenths, of the runs saw an alarm; `false_rate` is the share of runs without a change with an
        alarm within 2500 tasks), and `risks` before and after each change.
    """
    before = Stream.of(populate(BASE, size, rng), SETTING)
    levels = _baselines(before, rng.integers(0, size, calibration))
    budget = MEAN_TASKS_TO_FALSE_ALARM * len(levels)
    quiet = _first_alarms(before, before, levels, budget, runs, rng)
    rows, risks = [], {"before": _risks(before)}
    for change, cell in CHANGES.items():
        after = Stream.of(populate(cell, size, rng), SETTING)
        risks[change] = _risks(after)
        found = _first_alarms(before, after, levels, budget, runs, rng)
        for name, first in found.items():
            true = first > AT
            delay = np.where(true, first - AT, np.iinfo(np.int64).max)
            considered = delay[(first == 0) | true]  # a false alarm before the change is no detection
            rows.append(
                {
                    "change": change,
                    "stream": name,
                    "median_delay": _quantile(considered, 0.5),
                    "delay_90": _quantile(considered, 0.9),
                    "detected": round(float(true.mean()), 4),
                    "false_rate": round(float((quiet[name] > 0).mean()), 4),
                }
            )
    return {"rows": rows, "risks": risks, "streams": len(levels), "threshold": budget, "runs": runs}


def _quantile(delays: NDArray[np.int64], q: float) -> int | None:
    if not delays.size:
        return None
    value = int(np.sort(delays)[min(delays.size - 1, int(np.ceil(q * delays.size)) - 1)])
    return None if value > TASKS else value


def _risks(s: Stream) -> dict[str, float]:
    done = ~s.handed
    return {
        "silent": round(float(s.silent.mean()), 4),
        "task": round(float(s.task.mean()), 4),
        "wrong_given_done": round(float(s.silent.sum() / done.sum()), 4),
        "asked": round(float(s.asked.mean()), 4),
        "handed_over": round(float(s.handed.mean()), 4),
    }


def _baselines(s: Stream, drawn: NDArray[np.int64]) -> dict[str, float]:
    """Unchanged rates as `streams_of` takes them: the limits, and exact bounds of what calibration saw."""
    n, done = drawn.size, int((~s.handed[drawn]).sum())
    silent = int(s.silent[drawn].sum())
    levels = {SILENT: BASE.limits.silent, TASK: BASE.limits.task}
    counts = [(HAND_OVER, n - done, n), (ASK, int(s.asked[drawn].sum()), n), (WRONG_GIVEN_DONE, silent, done)]
    for k in range(SKILLS):
        mine = s.active[drawn] & (s.skill[drawn] == k)
        counts.append((f"{FIRST_TRY}{k}", int(s.first_failed[drawn][mine].sum()), int(mine.sum())))
    levels.update({name: baseline(name, *pair).unchanged for name, *pair in counts})
    return levels


def _first_alarms(
    before: Stream, after: Stream, levels: dict[str, float], budget: float, runs: int, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """The task of the first alarm (0: none) in every run, per stream; and of any free stream, of any stream at 10 %."""
    early = rng.integers(0, before.handed.size, (runs, AT))
    late = rng.integers(0, after.handed.size, (runs, TASKS - AT))

    def seen(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(before, name)[early], getattr(after, name)[late]], axis=1)

    clock = np.broadcast_to(np.arange(1, TASKS + 1), (runs, TASKS))
    everything = np.ones((runs, TASKS), dtype=bool)
    found = {
        HAND_OVER: _alarm(seen("handed"), everything, clock, levels[HAND_OVER], budget),
        ASK: _alarm(seen("asked"), everything, clock, levels[ASK], budget),
    }
    found["first try, any skill"] = _first_tries(seen, clock, levels, budget, runs)
    free = list(found)
    for share in AUDITS:
        audited = rng.random((runs, TASKS)) < share
        label = f", {100 * share:.0f} % audits"
        # The budget is in tasks, and an audited stream is seen in a share of them.
        found[SILENT + label] = _alarm(seen("silent"), audited, clock, levels[SILENT], budget * share)
        found[TASK + label] = _alarm(seen("task"), audited, clock, levels[TASK], budget * share)
        done = audited & ~seen("handed").astype(bool)
        found[WRONG_GIVEN_DONE + label] = _alarm(seen("silent"), done, clock, levels[WRONG_GIVEN_DONE], budget * share)
    found["any free stream"] = _earliest([found[n] for n in free])
    tenth = [n for n in found if n.endswith(", 10 % audits")]
    found["any stream, 10 % audits"] = _earliest([found[n] for n in [*free, *tenth]])
    return found


def _first_tries(
    seen: Any, clock: NDArray[np.int64], levels: dict[str, float], budget: float, runs: int
) -> NDArray[np.int64]:
    skill, active, failed = seen("skill"), seen("active").astype(bool), seen("first_failed")
    steps = np.repeat(clock, skill.shape[2], axis=1)
    flat = [x.reshape(runs, -1) for x in (skill, active, failed)]
    each = [_alarm(flat[2], flat[1] & (flat[0] == k), steps, levels[f"{FIRST_TRY}{k}"], budget) for k in range(SKILLS)]
    return _earliest(each)


def _alarm(
    x: NDArray[np.generic], observed: Bools, clock: NDArray[np.int64], level: float, budget: float
) -> NDArray[np.int64]:
    """First alarm per row on the clock, using only observed entries in their order."""
    order = np.argsort(~observed, axis=1, kind="stable")
    length = int(observed.sum(axis=1).max())
    values = np.take_along_axis(x.astype(np.float64), order, axis=1)[:, :length]
    times = np.take_along_axis(np.asarray(clock), order, axis=1)[:, :length]
    first = run_length(values, level, budget)
    counts = observed.sum(axis=1)
    first = np.where(first > counts, 0, first)
    return np.where(first > 0, times[np.arange(len(first)), np.maximum(first, 1) - 1], 0)


def _earliest(firsts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    far = np.iinfo(np.int64).max
    best = np.min([np.where(f > 0, f, far) for f in firsts], axis=0)
    return np.where(best == far, 0, best)
