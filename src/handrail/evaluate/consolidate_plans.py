"""PlanBench: the recorded zero-shot Blocksworld plans of three models, merged per problem."""

from __future__ import annotations

import gzip
import json
import statistics
import tarfile
import time
from typing import Any

from handrail.domain import Plan, Task
from handrail.domain.pddl import read_domain, read_plan, read_problem
from handrail.errors import ParseError
from handrail.evaluate.options import EvalOptions
from handrail.network.consolidate import consolidate
from handrail.solve.astar import Budget, solve

MODELS = ("gpt-4_chat", "gpt-4-turbo_chat", "gpt-4o_chat")
MORE_MODELS = ("claude-3-opus", "gemini-1.5-pro", "llama-3.1-405b_aws", "gemini-1.5-flash", "llama3-70b-8192_groq")
SET = "blocksworld"
VARIANT = "zero_shot"
ROOT = "llm_planning_analysis/instances/blocksworld"


def run(options: EvalOptions) -> dict[str, Any]:
    """The three GPT-4 models, then those and five more; the planner's plan where the steps don't reach the goal."""
    folder = options.need_data("planbench")
    plans: dict[int, dict[str, Plan]] = {}
    wanted = {*MODELS, *MORE_MODELS}
    with gzip.open(folder / f"responses_{SET}.jsonl.gz", "rt", encoding="utf-8") as rows:
        for line in rows:
            row = json.loads(line)
            if row["variant"] != VARIANT or row["model"] not in wanted:
                continue
            text = row["extracted_plan"]
            text = "\n".join(text) if isinstance(text, list) else text
            try:
                plan = read_plan(text or "")
            except ParseError:
                plan = Plan(())
            plans.setdefault(row["instance"], {})[row["model"]] = Plan(plan.steps, source=row["model"])
    files: dict[str, str] = {}
    with tarfile.open(folder / "instances_blocksworld.tar.gz") as tar:
        for member in tar:
            found = tar.extractfile(member) if member.isfile() and member.name.startswith(ROOT + "/generated") else None
            if found is not None:
                files[member.name] = found.read().decode("utf-8")
    domain = read_domain(files[f"{ROOT}/generated_domain.pddl"], "generated_domain.pddl")
    numbers = sorted(plans)
    if options.quick:
        numbers = numbers[:: max(1, len(numbers) // 40)][:40]
    out: dict[str, Any] = {}
    for label, models in (("three", MODELS), ("eight", (*MODELS, *MORE_MODELS))):
        out[label] = _merge(options, domain, files, plans, numbers, models)
    return {**out["three"], "eight_models": out["eight"]}


def _merge(
    options: EvalOptions, domain: Any, files: dict[str, str], plans: dict[int, dict[str, Plan]], numbers: list[int],
    models: tuple[str, ...],
) -> dict[str, Any]:  # fmt: skip
    single = dict.fromkeys(models, 0)
    any_valid = merged = spliced = with_planner = cheaper = open_cases = 0
    ratios: list[float] = []
    best_ratios: list[float] = []
    seconds: list[float] = []
    for index, number in enumerate(numbers):
        options.progress("consolidate planbench", index, len(numbers))
        name = f"{ROOT}/generated_basic/instance-{number}.pddl"
        problem = read_problem(files[name], domain, name)
        state, goal = problem.state, problem.goal
        proposals = [plans[number].get(m, Plan((), source=m)) for m in models]
        began = time.process_time()
        done = consolidate(proposals, state, goal)
        seconds.append(time.process_time() - began)
        own = [c for c in done.own if c is not None]
        for model, cost in zip(models, done.own, strict=True):
            single[model] += cost is not None
        any_valid += bool(own)
        optimum = solve(Task(state.objects, goal), state, budget=Budget(expansions=20_000))
        if done.plan is not None:
            merged += 1
            with_planner += 1
            spliced += not own
            if own and done.cost < min(own) - 1e-9:
                cheaper += 1
            if optimum.proved and optimum.cost > 0:
                ratios.append(done.cost / optimum.cost)
                if own:
                    best_ratios.append(min(own) / optimum.cost)
        else:
            with_planner += optimum.plan is not None
            open_cases += not done.proved
    n = len(numbers)
    return {
        "models": list(models),
        "problems": n,
        "single": {m: round(k / n, 4) for m, k in single.items()},
        "any_valid": round(any_valid / n, 4),
        "merged": round(merged / n, 4),
        "gain_by_splicing": round(spliced / n, 4),
        "cheaper_than_best_single": round(cheaper / n, 4),
        "with_planner": round(with_planner / n, 4),
        "cost_ratio": round(statistics.mean(ratios), 4) if ratios else None,
        "best_single_cost_ratio": round(statistics.mean(best_ratios), 4) if best_ratios else None,
        "not_settled": open_cases,
        "median_ms": round(1000 * statistics.median(seconds), 2),
        "worst_ms": round(1000 * max(seconds), 1),
    }
