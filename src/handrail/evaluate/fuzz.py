"""Mutated model outputs through reading and checking: nothing may crash, nothing may hang, nothing unproven may pass.

Two mutators: one knows the grammar (drops, doubles and swaps tokens, keys, names, whole steps) and one only knows bytes. Every
output that still reads as a plan is checked; one that passes is run again by the plain simulator here, which must agree.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from handrail.check import Declined, accepts, check_symbolic, read_plan
from handrail.domain import Plan, State, Task
from handrail.domain.files import load_domain, load_scene
from handrail.domains import path
from handrail.evaluate.options import EvalOptions

SLOW_MS = 2000.0
"""A single output that takes longer than this counts as a hang."""

_NOISE = ('"', "'", "{", "}", "[", "]", ",", ":", "\\", "```", "```json\n", "<|eot_id|>", "null", "NaN", "1e999", "\x00", "\u202e", "é")
_KEYS = ("skill", "args", "steps", "reasoning", "ask", "refuse", "plan", "")


def _seeds(state: State) -> list[str]:
    """Well-formed answers to start from: short plans over the scene's own skills and objects, in several spellings."""
    rng = random.Random(0)  # noqa: S311 - seeded on purpose
    objects = state.objects
    out = []
    skills = sorted(objects.domain.skills.values(), key=lambda s: s.name)
    for _ in range(60):
        steps = []
        for _ in range(rng.randint(1, 8)):
            s = rng.choice(skills)
            names = {p.name: rng.choice(objects.of(*p.types) or ("nothing",)) for p in s.params}
            steps.append({"skill": s.name, "args": names if rng.random() < 0.8 else list(names.values())})
        body: Any = {"reasoning": "because", "steps": steps} if rng.random() < 0.8 else steps
        text = json.dumps(body, indent=rng.choice((None, 1, 2)))
        out.append(f"```json\n{text}\n```" if rng.random() < 0.3 else text)
    return out


def mutate_text(text: str, rng: random.Random, names: list[str]) -> str:
    """One to four grammar-aware mutations."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(8)
        at = rng.randrange(len(text) + 1)
        if kind == 0:
            text = text[:at] + rng.choice(_NOISE) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randint(1, 12) :]
        elif kind == 2:
            text = text[:at]
        elif kind == 3:
            text = text.replace(rng.choice(names), rng.choice(names), 1)
        elif kind == 4:
            text = text.replace(f'"{rng.choice(_KEYS)}"', f'"{rng.choice(_KEYS)}"', 1)
        elif kind == 5:
            end = at + rng.randint(1, 80)
            text = text[:end] + text[at:end] + text[end:]
        elif kind == 6:
            text = text.replace('"', "'") if rng.random() < 0.5 else text.upper()
        else:
            text = rng.choice(("Sure! ", "[" * rng.randint(1, 300), "{" * rng.randint(1, 300), "<think>")) + text
    return text


def mutate_bytes(text: str, rng: random.Random) -> str:
    """One to sixteen random byte edits; what is no longer UTF-8 is replaced, as an HTTP client does."""
    raw = bytearray(text.encode())
    for _ in range(rng.randint(1, 16)):
        if not raw:
            break
        at = rng.randrange(len(raw))
        kind = rng.randrange(3)
        if kind == 0:
            raw[at] = rng.randrange(256)
        elif kind == 1:
            del raw[at]
        else:
            raw.insert(at, rng.randrange(256))
    return raw.decode("utf-8", errors="replace")


def _shard(job: tuple[int, int, int]) -> dict[str, Any]:
    seed, first, count = job
    domain = load_domain(path("home"))
    scene = load_scene(domain)
    state = scene.state
    task = Task(state.objects)
    seeds = _seeds(state)
    names = [*domain.skills, *state.objects.names()]
    codes: Counter[str] = Counter()
    crashes: list[str] = []
    disagreements: list[str] = []
    slowest = 0.0
    slow = 0
    for i in range(first, first + count):
        rng = random.Random(f"{seed}/{i}")  # noqa: S311 - seeded on purpose
        base = rng.choice(seeds)
        text = mutate_bytes(base, rng) if i % 2 else mutate_text(base, rng, names)
        began = time.process_time()
        try:
            codes[_one(text, state, task, disagreements)] += 1
        except Exception as e:
            crashes.append(f"{type(e).__name__}: {e} on {text[:200]!r}")
        took = (time.process_time() - began) * 1000
        slowest = max(slowest, took)
        slow += took > SLOW_MS
    return {
        "codes": dict(codes),
        "crashes": crashes[:20],
        "n_crashes": len(crashes),
        "disagreements": disagreements[:20],
        "slowest_ms": slowest,
        "hangs": slow,
    }


def _one(text: str, state: State, task: Task, disagreements: list[str]) -> str:
    out = read_plan(text, state.objects)
    if isinstance(out, Declined):
        return f"declined: {out.kind}"
    if not isinstance(out, Plan):
        return str(out.reasons[0].code)
    result = check_symbolic(out, task, state)
    if result.passed != accepts(task, task.start(state), out.steps) and all(s.skill not in _hooked(state) for s in out.steps):
        disagreements.append(text[:300])
    return "accepted" if result.passed else str(result.reasons[0].code)


def _hooked(state: State) -> set[str]:
    return {s.name for s in state.objects.domain.skills.values() if s.hook is not None}


def run(options: EvalOptions) -> dict[str, Any]:
    """Fuzz; keys: outputs, crashes, hangs, disagreements, slowest_ms, codes."""
    total = 10_000 if options.quick else int(options.extra.get("outputs", 1_000_000))
    size = min(20_000, max(1, total // max(1, options.jobs)))
    jobs = [(options.seed, first, min(size, total - first)) for first in range(0, total, size)]
    codes: Counter[str] = Counter()
    crashes: list[str] = []
    disagreements: list[str] = []
    n_crashes = hangs = done = 0
    slowest = 0.0
    with ProcessPoolExecutor(max_workers=options.jobs) as pool:
        for job, part in zip(jobs, pool.map(_shard, jobs), strict=True):
            codes.update(part["codes"])
            crashes += part["crashes"]
            disagreements += part["disagreements"]
            n_crashes += part["n_crashes"]
            hangs += part["hangs"]
            slowest = max(slowest, part["slowest_ms"])
            done += job[2]
            options.progress("outputs", done, total)
    return {
        "outputs": total,
        "crashes": n_crashes,
        "crash_examples": crashes[:20],
        "hangs": hangs,
        "disagreements": len(disagreements),
        "slowest_ms": round(slowest, 1),
        "codes": dict(sorted(codes.items())),
    }
