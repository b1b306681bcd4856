"""`handrail eval task`: is what the certificate says true, what do other numbers say, how soon do alarms ring?"""

from __future__ import annotations

from typing import Any

import numpy as np

from handrail.decide.certificate import Declaration, Ended, Episode, Limits, Setting, Status, accept, certify, p_value
from handrail.decide.certificate.eprocess import p_process
from handrail.decide.certificate.testing import several_risks
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.task_alarms import alarms
from handrail.evaluate.task_cells import CELLS
from handrail.evaluate.task_methods import CellResult, evaluate_cell

QUICK_CELLS = (0, 1, 3, 4, 8, 10, 11, 12)


def run(options: EvalOptions) -> dict[str, Any]:
    """Run the evaluation in the symbolic world (synthetic: it tests the statistics, not any robot).

    Options of its own (`options.extra`): `deployments` and `population` per cell, `runs` of the alarms.

    Returns:
        `type1` {rate, se, delta, within, kinds, uncorrected}; `methods` {name: {certified, false_rate, help, achieved, silent,
        worst_false_rate}}, means over all cells; `cells`, the same for each; `alarms` [{change, stream, median_delay,
        delay_90, detected, false_rate}]; `alarm_risks`; `table`.
    """
    cells = [CELLS[i] for i in QUICK_CELLS] if options.quick else list(CELLS)
    deployments = int(options.extra.get("deployments", 60 if options.quick else 1000))
    size = int(options.extra.get("population", 8_000 if options.quick else 60_000))
    runs = int(options.extra.get("runs", 40 if options.quick else 300))
    seeds = np.random.SeedSequence(options.seed).spawn(len(cells) + 2)
    options.progress("type-I error at the boundary", 0, len(cells) + 2)
    first = type_one(2000 if options.quick else 10_000, np.random.default_rng(seeds[0]))
    results = []
    for i, cell in enumerate(cells):
        options.progress(cell.name, i + 1, len(cells) + 2)
        results.append(evaluate_cell(cell, size, deployments, np.random.default_rng(seeds[i + 1])))
    options.progress("alarms", len(cells) + 1, len(cells) + 2)
    rung = alarms(max(5_000, size // 3), runs, np.random.default_rng(seeds[-1]))
    return {
        "world": "symbolic (synthetic)",
        "type1": first,
        "methods": overall(results),
        "cells": [r.to_json() for r in results],
        "alarms": rung["rows"],
        "alarm_risks": rung["risks"],
        "alarm_budget": {k: rung[k] for k in ("streams", "threshold", "runs")},
        "table": table(results),
    }


def overall(results: list[CellResult]) -> dict[str, dict[str, float | None]]:
    """Means over cells, and the worst cell's false rate; means of settings only where there was one."""
    found: dict[str, dict[str, float | None]] = {}
    for name in results[0].methods:
        summaries = [r.methods[name].summary() for r in results]
        row: dict[str, float | None] = {}
        for key in ("certified", "false_rate", "help", "achieved", "silent"):
            values = [v for s in summaries if (v := s[key]) is not None]
            row[key] = round(float(np.mean(values)), 4) if values else None
        row["worst_false_rate"] = max(s["false_rate"] or 0.0 for s in summaries)
        found[name] = row
    return found


def table(results: list[CellResult]) -> list[dict[str, Any]]:
    """One row per cell and method, for people."""
    return [
        {"cell": r.cell.name, "limits": f"{r.cell.limits.silent:g}/{r.cell.limits.task:g}", "N": r.cell.episodes}
        | {"method": name}
        | tally.summary()
        for r in results
        for name, tally in r.methods.items()
    ]


def type_one(calibrations: int, rng: np.random.Generator) -> dict[str, Any]:
    """False certificates when every candidate is exactly at its limit (any acceptance is then an error).

    Four kinds: one setting through `certify` on episode records; 20 settings with independent losses by four fixed
    sequences, Bonferroni and the graphical test; the sequential test looked at after every episode.

    Returns:
        `rate` and `se` of the kind with the highest rate, `within` (every kind's rate <= delta + 3 se), `kinds`, and
        for comparison `uncorrected`, any of the 20 at full delta.
    """
    delta, limits, n, m = 0.05, Limits(0.05, 0.20), 400, 20
    settings = tuple(Setting(i / m) for i in range(m))
    path = tuple(range(m))
    starts = tuple(path[i * m // 4 :] for i in range(4))
    records = min(calibrations, 2000)
    hits = {
        "one setting, from episode records": (_from_records(records, rng), records),
        "sequential, looked at after every episode": (_sequential(calibrations, rng, delta), calibrations),
    }
    silent = rng.binomial(n, limits.silent, (calibrations, m))
    task = np.minimum(n, silent + rng.binomial(n - silent, 0.05))
    p = several_risks([p_value(silent, n, limits.silent), p_value(task, n, limits.task)])
    for procedure in ("starts", "graphical", "bonferroni"):
        declaration = _declaration(limits, settings, n, delta, procedure, starts)
        hits[f"20 settings, {procedure}"] = (sum(bool(accept(declaration, row)) for row in p), calibrations)
    kinds = {name: _share(k, trials) for name, (k, trials) in hits.items()}
    worst = max(kinds.values(), key=lambda kind: kind["rate"])
    return {
        **worst,
        "delta": delta,
        "within": all(kind["rate"] <= delta + 3 * kind["se"] for kind in kinds.values()),
        "kinds": kinds,
        "uncorrected": _share(int((p <= delta).any(axis=1).sum()), calibrations),
    }


def _share(hits: int, trials: int) -> dict[str, float]:
    """A rate with its binomial standard error (of one hit, where there was none)."""
    rate = hits / trials
    return {"rate": rate, "se": round(float(np.sqrt(max(rate, 1 / trials) * (1 - rate) / trials)), 5), "trials": trials}


def _declaration(
    limits: Limits,
    settings: tuple[Setting, ...],
    n: int,
    delta: float,
    procedure: Any = "starts",
    starts: tuple[tuple[int, ...], ...] = ((0,),),
) -> Declaration:
    return Declaration(
        name="boundary",
        place="synthetic",
        population="synthetic tasks whose risk is exactly the limit",
        limits=limits,
        settings=settings,
        judge="the generator",
        clusters="every episode its own",
        world="simulated",
        people="simulated",
        components={},
        made="",
        delta=delta,
        share=delta,
        episodes=n,
        procedure=procedure,
        starts=() if procedure == "bonferroni" else starts,
    )


def _from_records(calibrations: int, rng: np.random.Generator) -> int:
    """One setting at the limit of both risks, through the real `certify` on episode records."""
    limits, n = Limits(0.10, 0.25), 104
    setting = Setting(1.0)
    declaration = _declaration(limits, (setting,), n, 0.05)
    kinds = {
        "wrong": Episode("x", "x", setting, ended=Ended.DONE, truth=False),
        "over": Episode("x", "x", setting, ended=Ended.HANDED_OVER),
        "right": Episode("x", "x", setting, ended=Ended.DONE, truth=True),
    }
    pools = {
        k: [Episode(f"{k}{i}", f"{k}{i}", e.setting, ended=e.ended, truth=e.truth) for i in range(n)]
        for k, e in kinds.items()
    }
    hits = 0
    for _ in range(calibrations):
        wrong = int(rng.binomial(n, limits.silent))
        over = int(rng.binomial(n - wrong, 0.02))
        episodes = pools["wrong"][:wrong] + pools["over"][:over] + pools["right"][: n - wrong - over]
        hits += certify(declaration, episodes).status is Status.CERTIFIED
    return hits


def _sequential(calibrations: int, rng: np.random.Generator, delta: float) -> int:
    hits = 0
    for start in range(0, calibrations, 500):
        x = (rng.random((min(500, calibrations - start), 3000)) < 0.05).astype(np.float64)
        hits += int((p_process(x, 0.05)[:, -1] <= delta).sum())
    return hits
