"""SayCan's 99 published plans (Ahn et al. 2022, arXiv:2204.01691, data CC BY 4.0) against our office kitchen.

A plan is a numbered line such as `1. find a coke, 2. pick up the coke, 3. bring it to you, 4. put down the coke, 5. done.` Each phrase
becomes a step of the office domain. Where the published start states have one for the very request that places everything the plan
touches, the plan is run from it. Elsewhere the weakest start is derived: only what some step asks for is settled, the rest stays
unknown, so the plan works from every completion of it. A plan that works from no start at all is refused with the step and reason.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain import UNKNOWN, Atom, Obj, Plan, State, Step, Task, Value
from handrail.domain.state import check_fact
from handrail.domain.values import show_fact
from handrail.errors import DomainError
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.saycan_office import ROBOT, Office, consistent, usual
from handrail.evaluate.weakest import all_atoms, weakest_start


def judge(office: Office, request: str, text: str, start: tuple[str, str] | None) -> dict[str, Any]:
    """One plan: read, placed, checked.

    Args:
        office: domain and words.
        request: what was asked for; where it says from where, a derived start says so too.
        text: the numbered plan.
        start: the published start of the robot and of the things, if there is one for this request.
    """
    read = office.read(text)
    row: dict[str, Any] = {"steps": len(read.steps), "start": "none", "accepted": False}
    if read.problem:
        return {**row, "code": "NOT_READ", "reason": read.problem}
    steps = tuple(read.steps)
    if start is not None:
        given = office.published(*start)
        missing = [
            o for o in read.objects if given is None or not (("on", o) in given or given.get(("holding", ROBOT)) == o)
        ]
        if given is not None and not missing:
            objects = office.domain.objects(*read.objects.values(), *_others(office, given, read.objects))
            return {**row, "start": "published", **_checked(steps, Task(objects), given)}
        row["unfit"] = (
            f"the published start has no {' and no '.join(m.replace('_', ' ') for m in missing) or 'such things'}"
        )
    objects = office.domain.objects(*read.objects.values())
    task = Task(objects)
    told: dict[Atom, Value] = {("on", o): office.whence(request) for o in read.objects if office.whence(request)}
    derived = weakest_start(task, steps, told, usual, consistent)
    if derived is None and told:
        row["against_words"] = True
        derived = weakest_start(task, steps, {}, usual, consistent)
    if derived is None:
        return {**row, **_first_impossible(office, task, steps)}
    facts = ", ".join(show_fact(a, v) for a, v in sorted(derived.items()))
    return {
        **row,
        "start": "derived",
        "facts": facts or "anything",
        "n_facts": len(derived),
        **_checked(steps, task, _open(task, derived)),
    }


def _open(task: Task, facts: Mapping[Atom, Value]) -> dict[Atom, Value]:
    """Facts with everything else unknown."""
    return {**dict.fromkeys(all_atoms(task.objects), UNKNOWN), **facts}


def _without_one(ran: tuple[tuple[Step, ...], Task, dict[Atom, Value]]) -> tuple[int, int]:
    """How many of the plans with one step left out are refused, and how many there are: can this check refuse at all?"""
    steps, task, facts = ran
    results = [
        check_symbolic(Plan(steps[:i] + steps[i + 1 :]), task, State(task.objects, facts))
        for i in range(len(steps) - 1)
    ]
    return sum(not r.passed for r in results), len(results)


def _others(office: Office, facts: Mapping[Atom, Value], have: Mapping[str, Obj]) -> Iterable[Obj]:
    """Things that a published start names and the plan does not touch."""
    named = {a[1] for a in facts if a[0] == "on"}
    kinds = {o.name: o for o in office.things.values()}
    return [kinds[n] for n in sorted(named - set(have))]


def _checked(steps: tuple[Step, ...], task: Task, facts: Mapping[Atom, Value]) -> dict[str, Any]:
    for atom, value in facts.items():
        if value is not UNKNOWN:
            check_fact(task.objects, atom, value)
    result = check_symbolic(Plan(steps, source="published"), task, State(task.objects, facts))
    if result.passed:
        flags = {str(f.code) for f in result.flags} - {"AFTER_GOAL"}  # there is no goal to be after
        return {"accepted": True, "flags": sorted(flags), "ran": (steps, task, dict(facts))}
    return {"accepted": False, "code": str(result.reasons[0].code), "reason": result.reasons[0].sentence}


def _first_impossible(office: Office, task: Task, steps: tuple[Step, ...]) -> dict[str, Any]:
    """The step that spoils the longest prefix that still works from somewhere."""
    for n in range(len(steps), 0, -1):
        facts = weakest_start(Task(task.objects), steps[: n - 1], {}, usual, consistent)
        if facts is not None:
            return _checked(steps[:n], task, _open(task, facts))
    raise DomainError(f"no start state at all for the domain '{office.domain.name}'")


def run(options: EvalOptions) -> dict[str, Any]:
    """All published plans.

    Returns:
        `plans`, `accepted`, `refused`, `same_words` (requests with a published start), `published_start` (it places everything the plan
        touches, and was used), `unfit` (it does not, with what is missing), `derived_start`, `no_start`, `against_words` (no start that
        agrees with the place the request names), `steps`, `facts_derived` (mean number of facts that a derived start settles),
        `flags` (code to plans), `reasons` (code to count), `refusals`, `one_step_left_out` (plans made by leaving out one step that is
        not the last: refused, of), `ms_per_plan` (reading, deriving and checking), `table` (one row per plan).
    """
    folder = options.need_data("saycan")
    plans = _rows(folder / "saycan_plan_v0_l.tsv")
    starts: dict[str, tuple[str, str]] = {}
    normal = re.compile(r"[^a-z0-9 ]")
    for cells in _rows(folder / "saycan_initial_condition_for_dataset_v0.tsv"):
        _, query, robot, env = (*cells, "", "", "", "")[:4]
        starts.setdefault(normal.sub("", query.lower()).strip(), (robot, env))
    office = Office()
    rows: list[dict[str, Any]] = []
    spoiled = [0, 0]
    seconds = 0.0
    for i, (request, text, *_) in enumerate(plans):
        options.progress("plans", i, len(plans))
        begin = time.perf_counter()
        same = starts.get(normal.sub("", request.lower()).strip())
        rows.append({"request": request.strip(), "same_words": same is not None, **judge(office, request, text, same)})
        seconds += time.perf_counter() - begin
        if rows[-1]["accepted"]:
            spoiled = [a + b for a, b in zip(spoiled, _without_one(rows[-1].pop("ran")), strict=True)]
    refused = [r for r in rows if not r["accepted"]]
    derived = [r for r in rows if r["start"] == "derived"]
    return {
        "plans": len(rows),
        "accepted": len(rows) - len(refused),
        "refused": len(refused),
        "same_words": sum(r["same_words"] for r in rows),
        "published_start": sum(r["start"] == "published" for r in rows),
        "unfit": [{"request": r["request"], "why": r["unfit"]} for r in rows if "unfit" in r],
        "derived_start": len(derived),
        "no_start": sum(r["start"] == "none" for r in rows),
        "steps": sum(r["steps"] for r in rows),
        "against_words": sum("against_words" in r for r in rows),
        "facts_derived": round(sum(r["n_facts"] for r in derived) / max(1, len(derived)), 2),
        "flags": dict(sorted(Counter(f for r in rows for f in r.get("flags", ())).items())),
        "reasons": dict(sorted(Counter(r["code"] for r in refused).items())),
        "refusals": [{k: r[k] for k in ("request", "code", "reason")} for r in refused],
        "one_step_left_out": {"refused": spoiled[0], "of": spoiled[1]},
        "ms_per_plan": round(1000 * seconds / max(1, len(rows)), 2),
        "table": [
            {
                "request": r["request"],
                "steps": r["steps"],
                "start": r.get("facts", r["start"]),
                "verdict": "accepted" if r["accepted"] else r["reason"],
            }
            for r in rows
        ],
    }


def _rows(file: Any) -> list[list[str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:] if line.strip()]
