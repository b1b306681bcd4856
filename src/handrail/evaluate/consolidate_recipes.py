"""The 24 recipes with up to five recorded trees of a large model: one tree against two to five merged.

Rules, stated because the runs differ: a tree's goal is its last unit's main output (the one with the most ingredients that
is new). Where the runs of a recipe end in different nodes, making *any* of them counts as done; how many recipes that
concerns is reported. Two kitchens: `as_given` holds everything that some tree of the recipe takes as given, `strict` only
raw things and tools among it, so that a dangling intermediate makes a plan incomplete. Units that a check finds wrong are
dropped before merging; unknown changes are kept at a higher price.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from handrail.evaluate.options import EvalOptions
from handrail.network.baselines import foods, path_search, substitute
from handrail.network.costs import SCALE, CostProfile
from handrail.network.document import Document, read_all
from handrail.network.edits import review
from handrail.network.kinds import kinds
from handrail.network.library import as_knowledge
from handrail.network.lines import lines_of
from handrail.network.model import FunctionalUnit, Identity, LeafKind, ObjectNode, TaskTree
from handrail.network.names import Names
from handrail.network.network import Network, merge
from handrail.network.retrieval import Prices
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.search import solve
from handrail.network.transitions import Transitions
from handrail.network.units import Fault, Status, UnitCheck, gaps

DOUBT = 0.1
MOST = 5


@dataclass(frozen=True)
class _Material:
    recipes: dict[str, list[TaskTree]]
    documents: list[Document]
    knowledge: list[TaskTree]
    check: UnitCheck
    strict: UnitCheck
    profile: CostProfile


def _load(options: EvalOptions) -> _Material:
    folder = options.need_data("foon_mit")
    base = [d.tree for d in read_all([folder / "foon_subgraphs" / "JSON"])]
    names = Names.load(known={n.label for t in base for u in t.units for n in u.objects()})
    knowledge = [as_knowledge(names.normalise(t).tree) for t in base]
    recipes: dict[str, list[TaskTree]] = {}
    documents: list[Document] = []
    for run in range(1, MOST + 1):
        for document in read_all([folder / "generated_trees" / str(run)]):
            documents.append(document)
            tree = names.normalise(document.tree).tree
            units = [u.but(source=_as(u, f"run {run}")) for u in tree.units]
            recipes.setdefault(tree.name, []).append(TaskTree(tuple(units), None, tree.name, tree.source))
    transitions = Transitions.learn(knowledge)
    profile = CostProfile.from_table(folder / "motion_cost.json").renamed(lambda m: names.motion(m)[0])
    return _Material(
        dict(sorted(recipes.items())),
        documents,
        knowledge,
        UnitCheck(transitions),
        UnitCheck(transitions, True),
        profile,
    )


def _as(unit: FunctionalUnit, name: str) -> Any:
    from dataclasses import replace

    return replace(unit.source, name=name)


@dataclass(frozen=True)
class _Plan:
    """Outcome of one retrieval: units, cost in [0, ...), whether the goal was reached, seconds of CPU."""

    units: tuple[FunctionalUnit, ...]
    cost: float
    reached: bool
    proved: bool
    seconds: float


def _retrieve(
    material: _Material, trees: list[TaskTree], stock: set[ObjectNode], goals: list[ObjectNode], base: bool, drop: bool
) -> _Plan:
    """The cheapest plan for any of the goals among the trees' units that pass the check."""
    kept: list[TaskTree] = []
    for tree in trees:
        units = [u for u in tree.units if not drop or material.check.judge(u).status is not Status.WRONG]
        kept.append(TaskTree(tuple(units), tree.goal, tree.name, tree.source))
    began = time.process_time()
    network = merge([*kept, *(material.knowledge if base else ())], Identity.PLACE)
    doubtful = frozenset(
        k
        for k, u in enumerate(network.units)
        if not network.from_knowledge(k) and material.check.judge(u).status is Status.DOUBTFUL
    )
    costs = Prices(material.profile, doubt=DOUBT, doubtful=doubtful).of(network)
    targets = sorted({n for g in goals if (n := network.find(g)) is not None})
    start = {n for s in stock if (n := network.find(s)) is not None}
    if base:
        start |= network.stock()
    start -= set(targets)
    done = len(network.nodes)
    graph = Hypergraph.build(
        [*zip(network.ins, network.outs, strict=True), *(((t,), (done,)) for t in targets)],
        [*costs, *(0 for _ in targets)],
        done + 1,
    )
    if not targets:
        return _Plan((), 0.0, False, True, 0.0)
    answer = solve(graph, start, [done])
    seconds = time.process_time() - began
    if answer.order is None:
        return _Plan((), 0.0, False, True, seconds)
    bad = graph.executable(answer.order, start, [done])
    taken = tuple(network.units[u] for u in answer.order if u < len(network.units))
    return _Plan(taken, answer.cost / SCALE, not bad, answer.proved, seconds)


def _stock(trees: list[TaskTree], strict: bool) -> set[ObjectNode]:
    known = kinds()
    given = {Identity.PLACE.project(n) for t in trees for n in t.used_before_made()}
    return {n for n in given if not strict or known.leaf(n) is not LeafKind.COMPOSITE}


def _goals(trees: list[TaskTree]) -> list[ObjectNode]:
    return list(dict.fromkeys(Identity.PLACE.project(t.target) for t in trees if t.target is not None))


def run(options: EvalOptions) -> dict[str, Any]:
    """Everything about recipes; see the module."""
    material = _load(options)
    recipes = dict(list(material.recipes.items())[:6]) if options.quick else material.recipes
    out: dict[str, Any] = {
        "recipes_read": len(recipes),
        "trees_read": sum(map(len, recipes.values())),
        "goal_rule": "main output of the last unit; any run's goal counts",
        "goals_differ": sum(len(_goals(t)) > 1 for t in recipes.values()),
        "goal_labels_differ": sum(len({g.label for g in _goals(t)}) > 1 for t in recipes.values()),
    }
    for kitchen in ("as_given", "strict"):
        for base in (False, True):
            key = f"{kitchen}{'_with_foon' if base else ''}"
            out[key] = _counts(options, material, recipes, kitchen == "strict", base)
    out["recipes"] = out["as_given"]["trees"]
    out["accuracy"] = _accuracy(options, material, recipes)
    return {**out, "wrong_units": _wrong(material, recipes)}


def _counts(
    options: EvalOptions, material: _Material, recipes: dict[str, list[TaskTree]], strict: bool, base: bool
) -> dict[str, Any]:
    rows: dict[int, list[dict[str, Any]]] = {k: [] for k in range(1, MOST + 1)}
    times: list[float] = []
    single: list[float] = []
    for index, (name, trees) in enumerate(recipes.items()):
        options.progress(f"consolidate {name}", index, len(recipes))
        goals = _goals(trees)
        stock = _stock(trees, strict)
        alone = [_retrieve(material, [t], stock, goals, False, True) for t in trees]
        first = alone[0]
        reached = [a.cost for a in alone if a.reached]
        for k in range(1, min(MOST, len(trees)) + 1):
            plan = _retrieve(material, trees[:k], stock, goals, base, True) if k > 1 or base else first
            times.append(plan.seconds)
            rows[k].append(
                {
                    "valid": plan.reached,
                    "proved": plan.proved,
                    "cheaper": plan.reached and (not first.reached or plan.cost < first.cost - 1e-9),
                    "ratio": plan.cost / first.cost if plan.reached and first.reached and first.cost else None,
                    "below_best_single": bool(reached) and plan.reached and plan.cost < min(reached[:]) - 1e-9,
                }
            )
        if reached and first.reached and first.cost:
            single.append(min(reached) / first.cost)
    return {
        "trees": {str(k): _row(done) for k, done in rows.items() if done},
        "best_single_cost_ratio": round(statistics.mean(single), 4) if single else None,
        "median_ms": round(1000 * statistics.median(times), 2),
        "worst_ms": round(1000 * max(times), 1),
    }


def _row(done: list[dict[str, Any]]) -> dict[str, Any]:
    n = len(done)
    ratios = [d["ratio"] for d in done if d["ratio"] is not None]
    return {
        "recipes": n,
        "cheaper": round(sum(d["cheaper"] for d in done) / n, 4),
        "valid": round(sum(d["valid"] for d in done) / n, 4),
        "proved": sum(d["proved"] for d in done),
        "cost_ratio": round(statistics.mean(ratios), 4) if ratios else None,
        "below_best_single": round(sum(d["below_best_single"] for d in done) / n, 4),
    }


def _wrong(material: _Material, recipes: dict[str, list[TaskTree]]) -> dict[str, Any]:
    """Faults of the recorded units by kind; the paper's taxonomy first."""
    kinds_found: Counter[str] = Counter()
    status: Counter[str] = Counter()
    strict: Counter[str] = Counter()
    malformed = sum(f.kind.name == "MALFORMED_UNIT" for d in material.documents for f in d.found)
    missing = 0
    for trees in recipes.values():
        for tree in trees:
            for unit in tree.units:
                verdict = material.check.judge(unit)
                status[verdict.status.value] += 1
                kinds_found.update(f.value for f in verdict.faults)
                strict[material.strict.judge(unit).status.value] += 1
            missing += len(gaps(tree))
    paper = (Fault.SEVERAL_MOTIONS, Fault.FROM_NOTHING, Fault.IMPROPER_CHANGE)
    return {
        **{f.value: kinds_found[f.value] for f in paper},
        Fault.MISSING_ACTION.value: missing,
        "malformed": malformed,
        **{f.value: kinds_found[f.value] for f in Fault if f not in paper and f is not Fault.MISSING_ACTION},
        "units": dict(status),
        "units_strict": dict(strict),
    }


def _accuracy(options: EvalOptions, material: _Material, recipes: dict[str, list[TaskTree]]) -> dict[str, Any]:
    """Share of recipes whose every progress line passes the rule-based pre-check, per method.

    No person marked these lines, so the figures compare methods and are no accuracy against a person's judgement.
    """
    good: Counter[str] = Counter()
    lines: dict[str, list[float]] = {}
    per_recipe: dict[str, dict[str, bool]] = {}

    def judge(method: str, name: str, units: tuple[FunctionalUnit, ...], reached: bool) -> None:
        tree = TaskTree(units, None, name)
        rows = lines_of(tree)
        bad = review(rows, material.check, tree) if units else ((0, "no plan"),)
        right = reached and bool(units) and not bad
        good[method] += right
        per_recipe.setdefault(name, {})[method] = right
        lines.setdefault(method, []).append(1 - len(bad) / max(1, len(rows.lines)))

    for index, (name, trees) in enumerate(recipes.items()):
        options.progress(f"accuracy {name}", index, len(recipes))
        goals, stock = _goals(trees), _stock(trees, True)
        judge("first tree", name, trees[0].units, True)
        merged = _retrieve(material, trees, stock, goals, False, True)
        judge("consolidated", name, merged.units, merged.reached)
        with_base = _retrieve(material, trees, stock, goals, True, True)
        judge("consolidated with FOON", name, with_base.units, with_base.reached)
        swapped, _ = substitute(material.knowledge, foods(trees[0]))
        judge("FOON with substitution", name, swapped.units, True)
        path = _paper_path(material, trees, goals)
        judge("paper's search", name, path, bool(path))
    n = len(recipes)
    return {
        "rule": "a recipe is right where no progress line is flagged by rule and the plan is complete from raw things",
        "marked_by": "rules only; no person marked these lines",
        "recipes": n,
        "right": {m: round(good[m] / n, 4) for m in lines},
        "lines_unflagged": {m: round(statistics.mean(v), 4) for m, v in lines.items()},
        "per_recipe": per_recipe,
    }


def _paper_path(material: _Material, trees: list[TaskTree], goals: list[ObjectNode]) -> tuple[FunctionalUnit, ...]:
    """The cheapest path of the paper's search in the merged trees, whether or not it is a plan."""
    network: Network = merge(trees, Identity.PLACE)
    graph = Hypergraph.build(
        zip(network.ins, network.outs, strict=True), material.profile.integers(network.units), len(network.nodes)
    )
    start = frozenset(n for s in _stock(trees, False) if (n := network.find(s)) is not None)
    best: tuple[int, tuple[int, ...]] | None = None
    for goal in goals:
        number = network.find(goal)
        if number is None:
            continue
        for path in path_search(graph, start - {number}, number).paths:
            cost = graph.total(set(path))
            if best is None or cost < best[0]:
                best = (cost, path)
    return () if best is None else tuple(network.units[u] for u in best[1])
