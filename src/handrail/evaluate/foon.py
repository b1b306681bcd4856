"""`handrail eval foon`: the public FOON files, read, merged, and every recipe retrieved with proof.

Start set of a goal: nodes used before they are produced in their own recipe, and leaves (nothing makes them) of kind raw
or tool; the goal itself never counts as being there. The strict set, those leaves alone, is reported beside it.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from handrail.errors import MissingExtra
from handrail.evaluate.options import EvalOptions
from handrail.network.baselines import greedy, path_search
from handrail.network.costs import CostProfile
from handrail.network.document import Document, read_all
from handrail.network.model import Identity, LeafKind
from handrail.network.network import Network, merge
from handrail.network.repairs import NOTES, Repair, count
from handrail.network.retrieve import consuming
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.progress import Effort
from handrail.network.retrieve.search import solve

REFERENCE = {
    "units_raw": 2486,
    "units": 2379,
    "nodes": 4334,
    "nodes_without_ingredients": 2562,
    "labels": 502,
    "motions": 137,
    "states": 157,
}
"""An independent count of the same files, made with another parser."""

QUICK_GOALS = 12
CHANGES_IDENTITY = frozenset(Repair) - NOTES - {Repair.LINE_ENDING, Repair.NO_END, Repair.FLAG}


@dataclass(frozen=True)
class _Data:
    documents: list[Document]
    network: Network
    graph: Hypergraph
    used_first: set[int]
    goals: dict[str, int]
    load_s: float
    merge_s: float
    cpu_s: float


def _load(options: EvalOptions) -> _Data:
    folder = options.need_data("foon_mit", "foon_subgraphs", "TXT")
    costs = CostProfile.from_table(options.need_data("foon_mit", "motion_cost.json"))
    cpu = time.process_time()
    began = time.perf_counter()
    documents = list(read_all([folder]))
    loaded = time.perf_counter()
    network = merge(d.tree for d in documents)
    merged = time.perf_counter()
    cpu = time.process_time() - cpu
    graph = Hypergraph.build(
        zip(network.ins, network.outs, strict=True), costs.integers(network.units), len(network.nodes)
    )
    first: set[int] = set()
    goals: dict[str, int] = {}
    for document in documents:
        first.update(n for node in document.tree.used_before_made() if (n := network.find(node)) is not None)
        target = document.tree.target
        number = None if target is None else network.find(target)
        if number is not None:
            goals[document.tree.name] = number
    return _Data(documents, network, graph, first, goals, loaded - began, merged - loaded, cpu)


def _counts(data: _Data) -> dict[str, int]:
    units = [u for d in data.documents for u in d.units]
    nodes = set(data.network.nodes)
    return {
        "units_raw": len(units),
        "units": len(data.network.units),
        "nodes": len(nodes),
        "nodes_without_ingredients": len({Identity.NO_INGREDIENTS.project(n) for n in nodes}),
        "labels": len({n.label for n in nodes}),
        "motions": len({u.motion for u in data.network.units}),
        "states": len({s for n in nodes for s in n.states}),
    }


def run(options: EvalOptions) -> dict[str, Any]:
    """Everything the issue names; see the module."""
    data = _load(options)
    counts = _counts(data)
    found = [f for d in data.documents for f in d.found]
    leaves = data.network.leaves()
    stock = leaves[LeafKind.RAW] | leaves[LeafKind.TOOL]
    goals = sorted(data.goals.items())
    if options.quick:
        goals = goals[:: max(1, len(goals) // QUICK_GOALS)][:QUICK_GOALS]
    answers = _monotone(data, goals, data.used_first | stock, options)
    strict = _monotone(data, goals, set(stock), options)
    exact = [a["cost"] for a in answers]
    result: dict[str, Any] = {
        "files": len(data.documents),
        "units": counts["units"],
        "nodes": counts["nodes"],
        "motions": counts["motions"],
        "counts": counts,
        "reference": REFERENCE,
        "differences": {k: counts[k] - v for k, v in REFERENCE.items() if counts[k] != v},
        "differences_from": [str(f) for f in found if f.kind in CHANGES_IDENTITY],
        "repairs": count(f for f in found if f.kind not in NOTES),
        "notes": count(f for f in found if f.kind in NOTES),
        "leaves": {kind.value: len(nodes) for kind, nodes in leaves.items()},
        "load_s": round(data.load_s + data.merge_s, 3),
        "load_cpu_s": round(data.cpu_s, 3),
        "read_s": round(data.load_s, 3),
        "merge_s": round(data.merge_s, 3),
        **_summary(answers),
        "strict": _summary(strict),
        "greedy": _greedy(data, goals, data.used_first | stock, exact),
        "consuming": _consuming(data, goals, data.used_first | stock, exact, options),
        "paper_search": _paper(data, goals, data.used_first | stock, exact, options),
        "table": [[name, a["cost"] / 1000, a["size"], a["by"], round(a["ms"], 2)] for (name, _), a in
                  zip(goals, answers, strict=True)],
    }  # fmt: skip
    return result


def _monotone(data: _Data, goals: list[tuple[str, int]], stock: set[int], options: EvalOptions) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for index, (name, goal) in enumerate(goals):
        options.progress(f"retrieve {name}", index, len(goals))
        start = frozenset(stock - {goal})
        cpu = time.process_time()
        answer = solve(data.graph, start, [goal], Effort(seed=options.seed))
        cpu = time.process_time() - cpu
        valid = answer.order is not None and not data.graph.executable(answer.order, start, [goal])
        rows.append(
            {
                "cost": answer.cost if answer.order is not None else -1,
                "proved": answer.proved,
                "valid": valid,
                "ms": 1000 * cpu,
                "by": answer.by,
                "size": answer.size,
                "steps": len(answer.order or ()),
            }
        )
    return rows


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    times = sorted(r["ms"] for r in rows)
    reached = [r for r in rows if r["cost"] >= 0]
    return {
        "goals": len(rows),
        "reached": len(reached),
        "proved": sum(r["proved"] for r in rows),
        "valid": sum(r["valid"] for r in rows),
        "median_ms": round(statistics.median(times), 3),
        "p95_ms": round(times[int(0.95 * (len(times) - 1))], 3),
        "worst_s": round(times[-1] / 1000, 4),
        "by": dict(Counter(r["by"] for r in reached)),
        "mean_steps": round(statistics.mean(r["steps"] for r in reached), 2) if reached else 0.0,
    }


def _greedy(data: _Data, goals: list[tuple[str, int]], stock: set[int], exact: list[int]) -> dict[str, Any]:
    found = ratio = 0.0
    for (_, goal), best in zip(goals, exact, strict=True):
        plan = greedy(data.graph, stock - {goal}, goal)
        if plan is not None and best > 0:
            found += 1
            ratio += data.graph.total(plan) / best
    return {"valid": int(found), "cost_ratio": round(ratio / found, 3) if found else None}


def _consuming(
    data: _Data, goals: list[tuple[str, int]], stock: set[int], exact: list[int], options: EvalOptions
) -> dict[str, Any]:
    """Where things are used up: first with nothing but FOON's own catalysts, then with tools that return."""
    tools = {n for n, node in enumerate(data.network.nodes) if _is_tool(data, n)}
    out: dict[str, Any] = {}
    for name, stays in (("strict", set[int]()), ("tools_return", tools)):
        states: Counter[str] = Counter()
        times: list[float] = []
        valid = dearer = repeats = 0
        open_goals: list[dict[str, Any]] = []
        for index, ((recipe, goal), best) in enumerate(zip(goals, exact, strict=True)):
            options.progress(f"consuming ({name}) {recipe}", index, len(goals))
            start = stock - {goal}
            cpu = time.process_time()
            try:
                limit = 5.0 if options.quick else 30.0
                answer = consuming.solve(data.graph, start, [goal], limit, returning=stays, seed=options.seed)
            except MissingExtra as missing:
                return {"skipped": str(missing)}
            times.append(time.process_time() - cpu)
            states[answer.status] += 1
            if answer.order is not None:
                valid += not consuming.replay(data.graph, answer.order, start, [goal], returning=stays)
                dearer += answer.cost > best
                repeats += len(set(answer.order)) < len(answer.order)
            if answer.status != "proved":
                open_goals.append({"goal": recipe, "status": answer.status, "cost": answer.cost / 1000,
                                   "bound": answer.bound / 1000, "cap": answer.cap})  # fmt: skip
        times.sort()
        out[name] = {
            **{s: states[s] for s in ("proved", "capped", "feasible", "open", "unreachable")},
            "valid": valid,
            "dearer_than_monotone": dearer,
            "with_repeats": repeats,
            "median_s": round(statistics.median(times), 4),
            "worst_s": round(times[-1], 2),
            "not_proved": open_goals,
        }
    return {**out["strict"], "tools_return": out["tools_return"]}


def _is_tool(data: _Data, node: int) -> bool:
    from handrail.network.kinds import kinds

    return kinds().leaf(data.network.nodes[node]) is LeafKind.TOOL


def _paper(
    data: _Data, goals: list[tuple[str, int]], stock: set[int], exact: list[int], options: EvalOptions
) -> dict[str, Any]:
    """The paper's search: how many of its paths are plans, and how dear the best of them is."""
    paths = valid = ordered = none = 0
    ratios: list[float] = []
    cpu = time.process_time()
    for index, ((name, goal), best) in enumerate(zip(goals, exact, strict=True)):
        options.progress(f"paper's search {name}", index, len(goals))
        start = frozenset(stock - {goal})
        found = path_search(data.graph, start, goal)
        costs: list[int] = []
        for path in found.paths:
            paths += 1
            if goal in data.graph.fire(path, start)[0]:
                valid += 1
                costs.append(data.graph.total(set(path)))
                ordered += not data.graph.executable(path, start, [goal])
        if not costs:
            none += 1
        elif best > 0:
            ratios.append(min(costs) / best)
    return {
        "paths": paths,
        "valid": valid,
        "in_executable_order": ordered,
        "goals_without_a_plan": none,
        "best_ratio": round(statistics.mean(ratios), 3) if ratios else None,
        "worst_best_ratio": round(max(ratios), 3) if ratios else None,
        "cpu_s": round(time.process_time() - cpu, 2),
    }
