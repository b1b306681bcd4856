"""`handrail eval saycan_choice`: SayCan's own way of choosing steps, on its 99 published requests.

Every request is planned from the office's morning scene by usefulness (the model's likelihood of each skill sentence) times
affordance (what the checker allows), step by step until "done". It is compared with the published plan where that plan works
from the same scene: the same steps, or at least the same things in the same places at the end. Choosing at random among the
possible steps is the floor.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.domain import Atom, State, Step, Task, Value
from handrail.domain.files import load_scene
from handrail.domain.option import Option, Score
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.saycan_office import Office
from handrail.intent.scores.scorer import Context, Scorer, provenance
from handrail.numbers import wilson
from handrail.propose.saycan import SayCan

MOST_OPTIONS = 8
"""Possible steps scored at each turn; the words choose them, and what they leave out is counted."""


class Chance:
    """Scores at random, from a seed: the floor."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - not for secrets
        self.provenance = provenance("chance", seed=seed)

    def score(self, _context: Context, options: Sequence[Option]) -> list[Score]:
        """One random number per option."""
        return [Score(math.log(self._random.random() + 1e-9), "chance", "log", False, self.provenance) for _ in options]


def run(options: EvalOptions) -> dict[str, Any]:
    """Plan the requests.

    Args:
        options: `model` names the model, None for chance alone; `extra["n"]` limits the requests (spread over the file).

    Returns:
        `requests`, `comparable` (published plans that work from the scene), `rows` by method: `same_steps`, `same_end` with
        Wilson intervals, `ended` (chose "done" itself), `steps`, `turns`, `seconds` per request, `left_out` per turn; `plans`.
    """
    path = options.need_data("saycan") / "saycan_plan_v0_l.tsv"
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:] if line.strip()]
    wanted = int(options.extra.get("n", 4 if options.quick else len(lines)))
    picked = [lines[i * len(lines) // wanted] for i in range(min(wanted, len(lines)))]
    office = Office()
    state = load_scene(office.domain, "morning").state
    result: dict[str, Any] = {"published": len(lines), "requests": len(picked), "most_options": MOST_OPTIONS, "rows": []}
    scorers: dict[str, Scorer] = {"chance": Chance(options.seed)}
    model = None
    if options.model is not None:
        from handrail import models
        from handrail.intent.scores.texts import Texts

        model = models.named(options.model)
        scorers[f"SayCan ({model.fingerprint.model})"] = Texts(model, "sum")
    result["plans"] = []
    for name, scorer in scorers.items():
        result["rows"].append(_method(name, scorer, picked, office, state, options, result["plans"]))
    if model is not None:
        model.close()
    result["comparable"] = result["rows"][0]["comparable"]
    return result


def _method(
    name: str,
    scorer: Scorer,
    picked: Sequence[Sequence[str]],
    office: Office,
    state: State,
    options: EvalOptions,
    plans: list[dict[str, Any]],
) -> dict[str, Any]:
    planner = SayCan(scorer, most_options=MOST_OPTIONS)
    found: list[dict[str, Any]] = []
    for index, (request, text, *_) in enumerate(picked):
        options.progress(name, index, len(picked))
        began = time.perf_counter()
        steps, turns, ended = planner.plan(request.strip(), state)
        seconds = time.perf_counter() - began
        published = tuple(office.read(text).steps)
        end = end_of(published, state)
        row = {
            "method": name,
            "request": request.strip(),
            "plan": [str(s) for s in steps],
            "ended": ended,
            "turns": len(turns),
            "left_out": sum(t.left_out for t in turns),
            "seconds": seconds,
            "comparable": end is not None,
            "same_steps": end is not None and tuple(steps) == published,
            "same_end": end is not None and end_of(steps, state) == end,
        }
        found.append(row)
        plans.append(row)
    comparable = [r for r in found if r["comparable"]]
    out: dict[str, Any] = {"method": name, "comparable": len(comparable)}
    for key in ("same_steps", "same_end"):
        good = sum(r[key] for r in comparable)
        out[key] = good
        out[f"{key}_interval"] = list(wilson(good, len(comparable)))
    for key in ("ended", "turns", "seconds"):
        out[key] = sum(float(r[key]) for r in found) / max(1, len(found))
    out["left_out_per_turn"] = sum(r["left_out"] for r in found) / max(1, sum(r["turns"] for r in found))
    return out


def end_of(steps: Sequence[Step], state: State) -> Mapping[Atom, Value] | None:
    """Where things are after a plan: what changed of `on` and `holding`; None where the plan doesn't work from here."""
    task = Task(state.objects)
    values = task.start(state)
    for step in steps:
        if any(arg not in state.objects for arg in step.args):
            return None
        operator = task.operator(step)
        if not operator.applicable(values):
            return None
        values = {**values, **operator.changes(values)}
    return {a: v for a, v in values.items() if a[0] in ("on", "holding") and v != state.get(a)}
