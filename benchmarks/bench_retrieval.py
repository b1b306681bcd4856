"""Optimal retrieval beside its peers, on the same networks in the same run.

`adversarial`: 5 trees x {20, 50, 100, 200} units, five seeds each: proved, cost, bound, seconds for ours, Fast Downward
A* + LM-cut, CP-SAT with time labels, HiGHS with big-M labels, and the paper's capped search. `growth`: the exponent b of
seconds ~ units^b. `large`: 10^4 and 10^5 units: seconds to the first plan, cost, bound, gap, memory. `cross_check`: on how
many networks ours and Fast Downward both proved an optimum, and on how many they differ.

Every engine gets SECONDS of wall time ($HANDRAIL_BENCH_SECONDS); ours and the label models one thread each. `cpu_s` is
what ours used of the processor: on a busy machine wall time says little.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import time
from typing import Any

from benchmarks.networks import Instance, merged
from handrail.errors import MissingExtra
from handrail.network import fastdownward, pddl
from handrail.network.baselines import path_search
from handrail.network.retrieve import kernels
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.progress import Effort
from handrail.network.retrieve.reduce import Reduced, reduce
from handrail.network.retrieve.search import solve

SECONDS = float(os.environ.get("HANDRAIL_BENCH_SECONDS", "10"))
SIZES = (20, 50, 100, 200)
SEEDS = 5


def _row(cost: int | None, bound: float, proved: bool, seconds: float) -> dict[str, Any]:
    return {"cost": cost, "bound": bound, "proved": proved, "seconds": round(seconds, 3)}


def ours(instance: Instance, seconds: float) -> dict[str, Any]:
    cpu = time.process_time()
    answer = solve(instance.graph, instance.start, instance.goals, Effort(scale=3, seconds=seconds))
    cpu = time.process_time() - cpu
    bad = instance.graph.executable(answer.order or (), instance.start, instance.goals)
    assert not bad, bad
    return {**_row(answer.cost, answer.bound, answer.proved, answer.seconds), "by": answer.by, "cpu_s": round(cpu, 3)}


def _graph_of(query: Reduced) -> Hypergraph:
    return Hypergraph.build(zip(query.ins, query.outs, strict=True), query.cost, query.nodes)


def fast_downward(query: Reduced, seconds: float) -> dict[str, Any] | None:
    try:
        found = fastdownward.solve(pddl.write(_graph_of(query), {0}, [query.goal]), seconds)
    except MissingExtra:
        return None
    return _row(found.cost, found.cost if found.solved and found.cost else found.bound, found.solved, found.seconds)


def cpsat_labels(query: Reduced, seconds: float) -> dict[str, Any] | None:
    """The plain model: a unit fires after the nodes it needs, each made node has a maker and a time."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None
    model = cp_model.CpModel()
    units, nodes = range(len(query.ins)), range(query.nodes)
    used = [model.new_bool_var("") for _ in units]
    made = [model.new_bool_var("") for _ in nodes]
    when = [model.new_int_var(0, query.nodes, "") for _ in nodes]
    model.add(made[0] == 1)
    model.add(made[query.goal] == 1)
    for n in nodes:
        makers = []
        for u in query.producers[n]:
            makes = model.new_bool_var("")
            model.add_implication(makes, used[u])
            for i in query.ins[u]:
                model.add(when[n] >= when[i] + 1).only_enforce_if(makes)
            makers.append(makes)
        if n:
            model.add_bool_or([*makers, ~made[n]])
    for u in units:
        for i in query.ins[u]:
            model.add_implication(used[u], made[i])
    model.minimize(sum(c * used[u] for u, c in enumerate(query.cost)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    cost = round(solver.objective_value) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    return _row(cost, solver.best_objective_bound, status == cp_model.OPTIMAL, solver.wall_time)


def highs_labels(query: Reduced, seconds: float) -> dict[str, Any] | None:
    """The same with big-M rows in HiGHS."""
    try:
        import highspy
    except ImportError:
        return None
    h = highspy.Highs()
    h.silent()
    h.setOptionValue("threads", 1)
    h.setOptionValue("time_limit", seconds)
    units, nodes = range(len(query.ins)), range(query.nodes)
    used = [h.addBinary(obj=float(query.cost[u])) for u in units]
    made = [h.addBinary() for _ in nodes]
    when = [h.addVariable(0, query.nodes) for _ in nodes]
    h.addConstr(made[0] == 1)
    h.addConstr(made[query.goal] == 1)
    for n in nodes:
        makers = []
        for u in query.producers[n]:
            makes = h.addBinary()
            h.addConstr(makes <= used[u])
            for i in query.ins[u]:
                h.addConstr(when[n] >= when[i] + 1 - (query.nodes + 1) * (1 - makes))
            makers.append(makes)
        if n and makers:
            h.addConstr(sum(makers) >= made[n])
    for u in units:
        for i in query.ins[u]:
            h.addConstr(used[u] <= made[i])
    began = time.perf_counter()
    h.run()
    info = h.getInfo()
    cost = round(info.objective_function_value) if info.primal_solution_status == 2 else None
    return _row(cost, info.mip_dual_bound, str(h.getModelStatus()).endswith("kOptimal"), time.perf_counter() - began)


def paper(instance: Instance) -> dict[str, Any]:
    """The capped search: the best of its paths that are plans."""
    began = time.perf_counter()
    found = path_search(instance.graph, instance.start, instance.goals[0])
    costs = [
        instance.graph.total(set(p))
        for p in found.paths
        if instance.goals[0] in instance.graph.fire(p, instance.start)[0]
    ]
    return {
        "paths": len(found.paths),
        "plans": len(costs),
        "cost": min(costs, default=None),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _adversarial(sizes: tuple[int, ...], seeds: int, seconds: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    both = differ = 0
    for size in sizes:
        for seed in range(seeds):
            instance = merged(1000 * size + seed, size)
            query = reduce(instance.graph, instance.start, instance.goals)
            assert query is not None
            row: dict[str, Any] = {
                "name": instance.name,
                "units": len(instance.graph.ins),
                "reduced": len(query.ins) - 1,
                "ours": ours(instance, seconds),
                "fast_downward": fast_downward(query, seconds),
                "cp_sat_labels": cpsat_labels(query, seconds),
                "highs_labels": highs_labels(query, seconds),
                "paper_search": paper(instance),
            }
            rows.append(row)
            other = row["fast_downward"]
            if row["ours"]["proved"] and other and other["proved"]:
                both += 1
                differ += row["ours"]["cost"] != other["cost"]
    return rows, {"both_proved": both, "differ": differ}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for engine in ("ours", "fast_downward", "cp_sat_labels", "highs_labels"):
        done = [r[engine] for r in rows if r[engine]]
        if done:
            out[engine] = {
                "instances": len(done),
                "proved": sum(d["proved"] for d in done),
                "median_s": round(statistics.median(d["seconds"] for d in done), 3),
                "worst_s": max(d["seconds"] for d in done),
            }
    found = [r["paper_search"]["cost"] / r["ours"]["cost"] for r in rows if r["paper_search"]["cost"]]
    out["paper_search"] = {
        "instances": len(rows),
        "without_a_plan": sum(r["paper_search"]["cost"] is None for r in rows),
        "mean_cost_ratio": round(statistics.mean(found), 3) if found else None,
    }
    return out


def growth(rows: list[dict[str, Any]], engine: str) -> float | None:
    """Least squares slope of log seconds over log units, of the proved instances."""
    points = [
        (math.log(r["units"]), math.log(max(1e-3, r[engine]["seconds"])))
        for r in rows
        if r[engine] and r[engine]["proved"]
    ]
    if len({x for x, _ in points}) < 2:
        return None
    mx, my = (statistics.mean(v) for v in zip(*points, strict=True))
    return round(sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points), 2)


def _large(quick: bool, seconds: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    wanted = [(20, s) for s in (77, 78, 79, 80)] + [(200, s) for s in (77, 78, 79)]
    for dishes, seed in wanted[:1] if quick else wanted:
        instance = merged(seed, 100, dishes=dishes)
        began = time.perf_counter()
        instance.graph.arrays()
        index = time.perf_counter() - began
        cpu = time.process_time()
        answer = solve(instance.graph, instance.start, instance.goals, Effort(scale=3, seconds=seconds))
        cpu = time.process_time() - cpu
        assert not instance.graph.executable(answer.order or (), instance.start, instance.goals)
        first = answer.trace[0] if answer.trace else (0.0, 0, 0)
        rows.append(
            {
                "units": len(instance.graph.ins),
                "seed": seed,
                "index_s": round(index, 2),
                "first_plan_s": round(first[0], 3),
                "first_cost": first[1],
                "cost": answer.cost,
                "bound": answer.bound,
                "gap": round(answer.gap, 4),
                "proved": answer.proved,
                "by": answer.by,
                "seconds": round(answer.seconds, 2),
                "cpu_s": round(cpu, 2),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
    return rows


def run(quick: bool) -> dict[str, Any]:
    """Everything; see the module."""
    warm = time.perf_counter()
    compiled = kernels.wanted(10_000)
    if compiled:
        tiny = merged(1, 20)
        kernels.use(True)
        solve(tiny.graph, tiny.start, tiny.goals)
        kernels.use(None)
    warm = time.perf_counter() - warm
    seconds = 4.0 if quick else SECONDS
    rows, checked = _adversarial(SIZES[:1] if quick else SIZES, 2 if quick else SEEDS, seconds)
    if not quick:
        for seed in range(12):  # with the 20 above, at least 30 large networks beside Fast Downward
            instance = merged(7000 + seed, 60)
            query = reduce(instance.graph, instance.start, instance.goals)
            assert query is not None
            mine, other = ours(instance, seconds), fast_downward(query, seconds)
            if other and mine["proved"] and other["proved"]:
                checked["both_proved"] += 1
                checked["differ"] += mine["cost"] != other["cost"]
    return {
        "seconds_each": seconds,
        "compiled": compiled,
        "compile_s": round(warm, 2),
        "summary": _summary(rows),
        "growth": {e: growth(rows, e) for e in ("ours", "fast_downward", "cp_sat_labels", "highs_labels")},
        "cross_check": checked,
        "large": _large(quick, seconds),
        "adversarial": rows,
    }
