"""`handrail eval planbench`: recorded plans of language models, checked beside the recorded labels of PlanBench.

Data: PlanBench (Valmeekam et al. 2023, MIT licence), 33,378 recorded answers of 16 models with the verdict of VAL on the plan that
PlanBench's own extractor found in them. The plans go through the same checker as everything else (`handrail.check.symbolic`).
"""

from __future__ import annotations

import gc
import gzip
import json
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.pddl import read_domain, read_plan, read_problem
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.verdict import Code, LayerResult, Reason
from handrail.errors import ParseError
from handrail.evaluate.options import EvalOptions

_ROOT = "llm_planning_analysis/instances/"


@dataclass(frozen=True)
class _Set:
    """Where the PDDL of one set of answers is: an archive, the domain's file, the folder of instances."""

    archive: str
    domain: str
    folder: str


_MAIN = {
    "blocksworld": _Set("blocksworld", "blocksworld/generated_domain.pddl", "blocksworld/generated_basic"),
    "blocksworld_3": _Set("blocksworld", "blocksworld/generated_domain.pddl", "blocksworld/generated_basic_3"),
    "logistics": _Set("logistics", "logistics/generated_domain.pddl", "logistics/generated_basic"),
}
_MYSTERY = "blocksworld/mystery/generated_domain.pddl"
_VARIANTS: dict[str, _Set | None] = {
    "mystery_blocksworld": _Set("blocksworld", _MYSTERY, "blocksworld/mystery/generated_basic"),
    "mystery_blocksworld_3": _Set("blocksworld", _MYSTERY, "blocksworld/mystery/generated_basic_3"),
    "random_blocksworld": _MAIN["blocksworld"],
    "random_blocksworld_3": _MAIN["blocksworld_3"],
    "sokoban": _Set("sokoban", "sokoban/generated_domain.pddl", "sokoban/generated_basic"),
    "unsolvable_blocksworld": _Set(
        "unsolvable_blocksworld",
        "unsolvable_blocksworld/generated_domain.pddl",
        "unsolvable_blocksworld/generated_basic",
    ),
    # these ship their PDDL only inside the prompt of some answers
    "obfuscated_randomized_blocksworld": None,
    "obfuscated_randomized_blocksworld_3": None,
    "obfuscated_randomized_logistics": None,
    "unsolvable_obfuscated_randomized_blocksworld": None,
}
"""Sets with renamed words or other worlds, reported beside."""


@dataclass
class _Instance:
    task: Task
    state: State


def run(options: EvalOptions) -> dict[str, Any]:
    """Check every recorded plan.

    Returns:
        `plans`: rows of blocksworld, blocksworld_3 and logistics; `without_plan`: rows among them that hold no plan; `agree`;
        `disagreements`: each with both verdicts and why; `ms_per_plan`: from extracted plan to verdict, one core, instances parsed
        before; `reasons`: refusals by code; `sets`: per set; `variants`: per renamed set (`rows`, `checked`, `agree`, ...), with
        their disagreements in `variant_disagreements`.
    """
    folder = options.need_data("planbench")
    limit = 400 if options.quick else 0
    total = Counter[str]()
    reasons = Counter[str]()
    found: list[dict[str, Any]] = []
    seconds = 0.0
    sets: dict[str, Any] = {}
    for i, (name, where) in enumerate(_MAIN.items()):
        options.progress(f"planbench {name}", i, len(_MAIN) + len(_VARIANTS))
        one = _check_set(folder, name, where, limit)
        sets[name] = _summary(one)
        for key in ("rows", "without_plan", "agree"):
            total[key] += one[key]
        reasons.update(one["reasons"])
        found += one["disagreements"]
        seconds += one["seconds"]
    variants: dict[str, Any] = {}
    beside: list[dict[str, Any]] = []
    for i, (name, variant) in enumerate(_VARIANTS.items(), len(_MAIN)):
        options.progress(f"planbench {name}", i, len(_MAIN) + len(_VARIANTS))
        one = _check_set(folder, name, variant, limit)
        variants[name] = _summary(one)
        beside += one["disagreements"]
    options.progress("planbench", len(_MAIN) + len(_VARIANTS), len(_MAIN) + len(_VARIANTS))
    return {
        "plans": total["rows"],
        "without_plan": total["without_plan"],
        "agree": total["agree"],
        "disagreements": found,
        "ms_per_plan": round(1000 * seconds / max(1, total["rows"]), 4),
        "reasons": dict(reasons.most_common()),
        "sets": sets,
        "variants": variants,
        "variant_disagreements": beside,
        "table": [{"set": n, **s} for n, s in {**sets, **variants}.items()],
    }


def _summary(one: dict[str, Any]) -> dict[str, Any]:
    keep = ("rows", "checked", "without_plan", "without_pddl", "valid", "agree")
    return {k: one[k] for k in keep} | {"ms_per_plan": round(1000 * one["seconds"] / max(1, one["checked"]), 4)}


def verdict(text: str | None, task: Task, state: State) -> LayerResult:
    """The checker's verdict on an extracted plan, one `(action object ...)` a line; text without a step is refused."""
    if not text or not text.strip():
        return _refuse(Code.EMPTY_PLAN, "the answer holds no plan")
    try:
        plan: Plan = read_plan(text)
    except ParseError as e:
        return _refuse(Code.NOT_A_PLAN, e.message)
    return check_symbolic(plan, task, state)


def _refuse(code: Code, sentence: str) -> LayerResult:
    return LayerResult("schema", False, (Reason(code, sentence),))


def _check_set(folder: Path, name: str, where: _Set | None, limit: int) -> dict[str, Any]:
    rows = _rows(folder, name, limit)
    instances = _prompted(rows) if where is None else _shipped(folder, where, {r["instance"] for r in rows})
    clock = time.process_time  # one core's own time, so that a busy machine does not change the figure
    out: dict[str, Any] = {
        "rows": len(rows), "checked": 0, "without_plan": 0, "without_pddl": 0, "valid": 0, "agree": 0, "seconds": 0.0,
        "reasons": Counter[str](), "disagreements": [],
    }  # fmt: skip
    gc.collect()
    gc.freeze()  # the recorded answers themselves are no part of what is measured
    for r in rows:
        text = r["extracted_plan"]
        if isinstance(text, list):
            text = "\n".join(text)
        if not text or not text.strip():
            out["without_plan"] += 1
        instance = instances.get(r["instance"])
        if instance is None:
            out["without_pddl"] += 1
            continue
        begin = clock()
        result = verdict(text, instance.task, instance.state)
        out["seconds"] += clock() - begin
        out["checked"] += 1
        out["valid"] += result.passed
        out["reasons"].update(str(x.code) for x in result.reasons)
        if result.passed == r["label_correct"]:
            out["agree"] += 1
        else:
            out["disagreements"].append(_explained(r, text, result))
    gc.unfreeze()
    return out


def _explained(row: dict[str, Any], text: str | None, result: LayerResult) -> dict[str, Any]:
    """One disagreement: who says what, and what our verdict rests on."""
    if result.passed:
        steps = len(read_plan(text or "").steps)
        why = f"all {steps} steps can be run in turn and the goal holds at the end, although the label calls the plan wrong"
        if _plain(row["ground_truth_plan"]) == _plain(text):
            why += "; it is step for step the set's own ground-truth plan"
    else:
        why = f"the label calls it right, but {result.reasons[0].sentence}"
        if not text or not text.strip():
            why += "; the label must belong to a plan that the recorded extraction lost"
    keep = ("domain", "model", "variant", "instance")
    return {k: row[k] for k in keep} | {"label": row["label_correct"], "ours": result.passed, "plan": text, "why": why}


def _plain(plan: Any) -> list[str]:
    """A recorded plan's steps, however it is kept: text, a list of lines, or a mapping that holds the text."""
    if isinstance(plan, dict):
        plan = plan.get("plan", "")
    lines = plan if isinstance(plan, list) else str(plan or "").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith(";")]


def _rows(folder: Path, name: str, limit: int) -> list[dict[str, Any]]:
    with gzip.open(folder / f"responses_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    step = max(1, len(rows) // limit) if limit else 1  # spread over all models rather than the first ones
    return rows[::step][:limit] if limit else rows


def _task(domain: Domain, text: str, source: str) -> _Instance:
    problem = read_problem(text, domain, source)
    return _Instance(Task(problem.objects, problem.goal), problem.state)


def _shipped(folder: Path, where: _Set, wanted: set[int]) -> dict[int, _Instance]:
    files = dict(_archive(folder / f"instances_{where.archive}.tar.gz"))
    domain = read_domain(files[_ROOT + where.domain], where.domain)
    out: dict[int, _Instance] = {}
    for n in sorted(wanted):
        path = f"{where.folder}/instance-{n}.pddl"
        text = files.get(_ROOT + path)
        if text is not None:
            out[n] = _task(domain, text, path)
    return out


def _archive(path: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as tar:
        for member in tar:
            if member.isfile() and (f := tar.extractfile(member)) is not None:
                yield member.name, f.read().decode("utf-8")


def _prompted(rows: list[dict[str, Any]]) -> dict[int, _Instance]:
    """Instances whose PDDL stands in a prompt under `[DOMAIN]` and `[QUERY PROBLEM]`."""
    out: dict[int, _Instance] = {}
    domains: dict[str, Domain] = {}
    for r in rows:
        _, mark, rest = r["query"].partition("\n[DOMAIN]\n")
        text, mark2, problem = rest.partition("\n[QUERY PROBLEM]\n")
        if not mark or not mark2 or r["instance"] in out:
            continue
        if text not in domains:
            domains[text] = read_domain(_first_group(text), "prompt")
        out[r["instance"]] = _task(domains[text], _first_group(problem), f"prompt of instance {r['instance']}")
    return out


def _first_group(text: str) -> str:
    """The first group in parentheses; what a prompt has after it, such as a `)` too many and `[PLAN]`, is not PDDL."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == ")" and depth == 0:
            return text[text.index("(") : i + 1]
    return text
