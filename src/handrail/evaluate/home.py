"""`handrail eval home`: the physical home, measured.

Parts: named cases with the verdict each must have; pick and place over fresh seeds; requests end to end with faults; dry-run
verdicts against what then happened; and what symbolic checks alone miss. Everything runs as shards: with a cache folder each
finished shard is kept and a later run goes on from there; with several jobs they run in worker processes.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from handrail.errors import MissingExtra
from handrail.evaluate.options import EvalOptions
from handrail.numbers import wilson

TARGETS = ("mug", "can", "bowl", "bottle", "sponge", "cube")
"""Objects with a target (98 % or more); further ones are measured in the long run."""
SEEDS = 100
BLOCK = 10
"""Seeds in a shard of pick and place."""


@dataclass(frozen=True)
class Shard:
    """A piece of work: which part, with which arguments."""

    part: str
    args: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Of its file in the cache."""
        return "-".join(str(a) for a in (self.part, *self.args)) + ".json"


def digest() -> str:
    """Hash of everything that a shard's result depends on, so that a cache never mixes versions of simulator or description."""
    import hashlib

    import handrail.world.mujoco as simulator
    from handrail.evaluate.home_parts import home, physical

    here = Path(__file__)
    files = [*sorted(Path(simulator.__file__).parent.glob("*.py")), *sorted(here.parent.glob("home*.py"))]
    text = hashlib.sha256(b"".join(f.read_bytes() for f in files if f != here))
    text.update(physical().model_dump_json().encode())
    text.update(str(sorted(home().skills)).encode())
    return text.hexdigest()[:10]


def work(shard: Shard) -> dict[str, Any]:
    """Do one shard; also what worker processes run."""
    from handrail.evaluate import home_parts as parts

    table: dict[str, Callable[..., dict[str, Any]]] = {
        "case": parts.case_part,
        "pick": parts.pick_part,
        "request": parts.request_part,
        "agree": parts.agreement_part,
        "missed": parts.missed_part,
    }
    return table[shard.part](*shard.args)


def shards(quick: bool, seed: int) -> list[Shard]:
    """Everything there is to do."""
    from handrail.evaluate.home_cases import CASES
    from handrail.evaluate.home_parts import PICK

    cases = [Shard("case", (i,)) for i in range(len(CASES))]
    if quick:
        few = [Shard("pick", (name, 0, 2, seed)) for name in TARGETS]
        few += [Shard("request", (i, 0, 1, seed)) for i in (2, 6)]
        return [*cases, *few, Shard("agree", (0, 1, seed)), Shard("missed", (0, 3, seed))]
    pick = [Shard("pick", (name, k, BLOCK, seed)) for k in range(0, SEEDS, BLOCK) for name in PICK]
    asked = [Shard("request", (i, k, 5, seed)) for k in range(0, 20, 5) for i in range(10)]
    agree = [Shard("agree", (k, 2, seed)) for k in range(0, 60, 2)]
    missed = [Shard("missed", (k, 10, seed)) for k in range(20)]
    # In turns, so that a run that is cut short has something of everything.
    turns = [x for row in zip_longest(pick[len(PICK) :], asked, agree, missed) for x in row if x is not None]
    return [*cases, *pick[: len(PICK)], *turns]


def run(options: EvalOptions) -> dict[str, Any]:
    """Measure the physical home.

    With `extra={"finished_only": True}` nothing is computed: the shards that a run left in the cache are summed up.

    Returns:
        `cases` [{name, expected, actual, cpu_s, last_step_cpu_s, sim_s, rtf, sentence}], `cases_ok`;
        `pick_place` {object: {n, ok, low, high, cpu_s, failures}}; `requests` {n, finished, escalated, wrongly_done, by_request, faults};
        `shards` {done, of};
        `agreement` {n, yes_yes, yes_no, no_yes, no_no, bitwise_n, bitwise_equal}; `missed` {n, refused, share, by_reason, forced,
        forced_succeeded}.

    Raises:
        MissingExtra: MuJoCo is not installed.
    """
    if importlib.util.find_spec("mujoco") is None:
        raise MissingExtra("this evaluation", "sim", "mujoco")
    todo = shards(options.quick, options.seed)
    found: dict[str, list[dict[str, Any]]] = {}
    for n, (shard, result) in enumerate(_results(todo, options), 1):
        options.progress(f"home: {shard.part}", n, len(todo))
        found.setdefault(shard.part, []).append(result)
    cases = found.get("case", [])
    return {
        "shards": {"done": sum(map(len, found.values())), "of": len(todo)},
        "cases": cases,
        "cases_ok": sum(c["actual"] == c["expected"] for c in cases),
        "pick_place": _pick_place(found.get("pick", [])),
        "requests": _requests(found.get("request", [])),
        "agreement": _agreement(found.get("agree", [])),
        "missed": _missed(found.get("missed", [])),
    }


def _results(todo: list[Shard], options: EvalOptions) -> Iterator[tuple[Shard, dict[str, Any]]]:
    """Results in the order of `todo`: from the cache where they are there, else worked out and kept."""
    cache = None if options.cache is None else options.cache / f"home-{digest()}"
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)

    def known(shard: Shard) -> dict[str, Any] | None:
        if cache is None or not (cache / shard.name).exists():
            return None
        body: dict[str, Any] = json.loads((cache / shard.name).read_text(encoding="utf-8"))
        return body

    def keep(shard: Shard, result: dict[str, Any]) -> dict[str, Any]:
        if cache is not None:
            part = cache / (shard.name + ".part")
            part.write_text(json.dumps(result), encoding="utf-8")
            part.replace(cache / shard.name)
        return result

    if options.extra.get("finished_only"):
        for shard in todo:
            if (done := known(shard)) is not None:
                yield shard, done
        return
    if options.jobs <= 1:
        for shard in todo:
            result = known(shard)
            yield shard, result if result is not None else keep(shard, work(shard))
        return
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        pending = [(s, known(s)) for s in todo]
        futures = {s: pool.submit(work, s) for s, ready in pending if ready is None}
        for shard, ready in pending:
            yield shard, ready if ready is not None else keep(shard, futures[shard].result())


def _pick_place(results: list[dict[str, Any]]) -> dict[str, Any]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for r in results:
        rows.setdefault(r["object"], []).extend(r["rows"])
    out = {}
    for name, found in rows.items():
        ok = sum(r["ok"] for r in found)
        low, high = wilson(ok, len(found))
        out[name] = {
            "n": len(found), "ok": ok, "low": round(low, 4), "high": round(high, 4),
            "cpu_s": round(sum(r["cpu_s"] for r in found) / len(found), 3),
            "rtf": round(sum(r["sim_s"] for r in found) / max(1e-9, sum(r["cpu_s"] for r in found)), 1),
            "failures": [r for r in found if not r["ok"]],
        }  # fmt: skip
    return out


def _requests(results: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [row for r in results for row in r["rows"]]
    by: dict[str, Counter[str]] = {}
    for row in rows:
        by.setdefault(row["request"], Counter())[row["ended"]] += 1
    done = [r for r in rows if r["ended"] == "DONE"]
    return {
        "n": len(rows),
        "finished": sum(r["true"] for r in done),
        "escalated": len(rows) - len(done),
        "wrongly_done": sum(not r["true"] for r in done),
        "replans": sum(r.get("replans", 0) for r in rows),
        "faults": dict(Counter(f for r in rows for f in r["faults"]).most_common()),
        "by_request": {k: dict(v) for k, v in by.items()},
        "wrong": [r for r in done if not r["true"]],
        "cpu_s": round(sum(r["cpu_s"] for r in rows), 1),
    }


def _agreement(results: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [row for r in results for row in r["rows"]]
    bits = [b for r in results for b in r["bitwise"]]
    count = Counter((bool(said), bool(did)) for _, said, did, _, _ in rows)
    skills = Counter(f"{skill}: said {said}, did {did}" for skill, said, did, _, _ in rows if said != did)
    return {
        "n": len(rows),
        "yes_yes": count[True, True], "yes_no": count[True, False],
        "no_yes": count[False, True], "no_no": count[False, False],
        "disagreements": dict(skills.most_common()),
        "codes": dict(Counter(code for *_, code in rows).most_common()),
        "bitwise_n": len(bits), "bitwise_equal": sum(bits),
    }  # fmt: skip


def _missed(results: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [row for r in results for row in r["rows"]]
    refused = [r for r in rows if not r["ok"]]
    forced = [r for r in refused if r.get("forced") is not None]
    low, high = wilson(len(refused), len(rows))
    return {
        "n": len(rows),
        "refused": len(refused),
        "share": round(len(refused) / max(1, len(rows)), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "by_reason": dict(Counter(r["code"] for r in refused).most_common()),
        "forced": len(forced),
        "forced_succeeded": sum(bool(r["forced"]) for r in forced),
        "forced_anyway": [r["step"] + ": " + r["code"] for r in forced if r["forced"]],
        "cpu_s": round(sum(r["cpu_s"] for r in rows) / max(1, len(rows)), 3),
    }
