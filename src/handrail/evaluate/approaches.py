"""`handrail eval approaches`: the same home requests on both roads, by words, by a model, and by both.

Each request is read into goals; the reading is decided by an uncalibrated rule (act on a reading whose share is at
least 0.6, else ask); then a road gives the plan, in symbols, without physics. Asking is not success: what a scripted
person's answer leads to is counted apart. Nothing here executes.

Two sets of requests: those in the home's file, with which the reader was developed, and held-out ones that were
written before it had seen any of them.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain.goal import Goal
from handrail.domain.option import Option
from handrail.domain.plan import Plan
from handrail.domain.task import Task
from handrail.domain.text.scenes import Expect
from handrail.evaluate.approach_cases import Case, Planned, all_cases, reaches
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.strong_model import strong_model
from handrail.intent.fit import default_scorer
from handrail.intent.readings import RequestReader
from handrail.intent.scene import context
from handrail.intent.scores.texts import Texts
from handrail.language.cassette import Cassette
from handrail.language.faults import MissError
from handrail.language.model import Model
from handrail.language.watch import Exchange, Watched
from handrail.models import cached, embedded, named, replay
from handrail.numbers import wilson
from handrail.propose.json_plan import JsonPlanner
from handrail.propose.proposal import Attempt, Effort, Proposal, Proposer
from handrail.propose.saycan import SayCan

ACT = 0.6
"""Share of the softmax from which the uncalibrated rule acts instead of asking."""
_OFFERED = 6
_EFFORT = Effort(calls=2, expansions=2_500)
_TOLD, _ANSWER = 500, 320
_FOLDER = Path(__file__).parent / "recorded" / "smollm2-135m"
_RECORDED = (_FOLDER / "approaches-scores.jsonl.gz", _FOLDER / "approaches-answers.jsonl.gz")
STRONG_RATE = 0.3


@dataclass
class Outcome:
    """How one request ended on one road.

    Attributes:
        kind: "acted", "asked", "refused" (with a reason), "not understood", or "no plan".
        plan: what would be carried out.
        offered: the readings that a person is asked about.
        told: why it is refused.
        proposal: what the road gave.
    """

    kind: str
    plan: Plan | None = None
    offered: tuple[Option, ...] = ()
    told: str = ""
    proposal: Proposal | None = None


@dataclass
class Road:
    """One approach.

    Attributes:
        name: for the table.
        reading: how readings are scored: "words", "model" (PMI alone) or "both".
        plan: "planner", "saycan", "json", "json without examples" or "strong".
        model: None where no model is used.
        every: n takes every n-th request; long prompts are slow on a small machine.
    """

    name: str
    reading: str
    plan: str
    model: Model | None = None
    every: int = 1
    spent: list[Exchange] = field(default_factory=list)
    planner: Planned = field(default_factory=Planned)


def run(options: EvalOptions) -> dict[str, Any]:
    """Measure every approach.

    Returns:
        `requests`; `rows`: per approach and set of requests {approach, requests, n, valid, reached, reached_low,
        reached_high, asked, reached_after_answer, wrong, no_plan, false_refusals} over the requests that should be
        carried out, {ambiguous, asked_rightly, acted_on_ambiguous} over those to be asked about, {to_refuse, refused,
        not_understood, asked_first, acted_instead, by_physics_only} over those to be refused, and means per request {calls,
        tokens, prompt_tokens, seconds}, and {not_recorded}, requests that the recording does not hold;
        `rejections`: per approach whose plans are not the
        planner's, how often each reason code was given; `model`; `wrong`: each wrong act.
    """
    cases = all_cases()
    if options.quick:
        cases = cases[::3]
    models, source = _models(options)
    rows: list[dict[str, Any]] = []
    rejections: dict[str, dict[str, int]] = {}
    wrong: list[dict[str, Any]] = []
    roads = _roads(models)
    for number, road in enumerate(roads):
        counts: dict[str, Counter[str]] = {}
        codes: Counter[str] = Counter()
        chosen = list(enumerate(cases))[:: road.every]
        for done, (i, case) in enumerate(chosen):
            options.progress(f"approaches: {road.name}", done, len(chosen))
            one, found, seen = Counter[str](), Counter[str](), list[dict[str, Any]]()
            try:
                _measure(case, road, options.seed + i, one, found, seen)
            except MissError:  # the recording is of other prompts: told in the row, and left out of it
                one, found, seen = Counter({"not_recorded": 1}), Counter(), []
            counts.setdefault(case.part, Counter()).update(one)
            codes.update(found)
            wrong += seen
        rows += [_row(road.name, part, one) for part, one in counts.items()]
        if road.plan != "planner":
            rejections[road.name] = dict(codes.most_common())
        options.progress("approaches", number + 1, len(roads))
    for model in models:
        model.close()
    return {
        "requests": len(cases),
        "act_from": ACT,
        "model": source,
        "rows": rows,
        "rejections": rejections,
        "wrong": wrong,
    }


def _roads(models: tuple[Model, ...]) -> list[Road]:
    """Approaches; those with a model only where there is one."""
    roads = [Road("words, planner", "words", "planner")]
    if models:
        scoring, writing = models
        roads += [
            Road("model alone, planner", "model", "planner", scoring, 3),
            Road("words and model, planner", "both", "planner", scoring, 3),
            Road("words, SayCan by the model", "words", "saycan", scoring, 9),
            Road("words, JSON plan by the model", "words", "json", writing, 5),
            Road("words, JSON plan by the model, no examples", "words", "json without examples", writing, 5),
        ]
    roads.append(Road(f"words, JSON plan by a stand-in with {STRONG_RATE:.0%} mistakes", "words", "strong"))
    planner = Planned()
    for road in roads:
        road.planner = planner
        if road.model is not None:
            road.model = Watched(road.model, road.spent.append)
    return roads


def _models(options: EvalOptions) -> tuple[tuple[Model, ...], str]:
    """A model for scores and one for writing: the one asked for, else the shipped recording, else none.

    The embedded model writes with its evaluated prompts kept, since its long prompts differ only at the end.
    """
    if options.model is None:
        if not all(p.exists() for p in _RECORDED):
            return (), "none: no recording is here; give --model embedded"
        recorded = tuple(replay(p) for p in _RECORDED)
        mark = recorded[0].fingerprint
        return recorded, f"recorded {mark.model} ({mark.digest})"
    if options.model == "embedded":
        pair: tuple[Model, ...] = (embedded(), embedded(context=6144, reuse=True))
    else:
        pair = (named(options.model),) * 2
    mark = pair[0].fingerprint
    if options.cache is not None:
        files = [options.cache / f"{p.stem.removesuffix('.jsonl')}-{mark.digest}.jsonl.gz" for p in _RECORDED]
        pair = tuple(cached(file, model) for file, model in zip(files, pair, strict=True))
    return pair, f"{mark.model} ({mark.digest})"


def _measure(
    case: Case, road: Road, seed: int, one: Counter[str], codes: Counter[str], wrong: list[dict[str, Any]]
) -> None:
    road.spent.clear()
    road.planner.saved = 0.0
    played, began = _played(road), time.perf_counter()
    outcome = carry_out(case, road, seed)
    seconds = time.perf_counter() - began + road.planner.saved + _played(road) - played
    one["n"] += 1
    one["microseconds"] += round(1e6 * seconds)
    for exchange in road.spent:
        one["calls"] += 1
        one["tokens"] += exchange.tokens
        one["prompt_tokens"] += exchange.prompt_tokens
    proposal = outcome.proposal
    for attempt in proposal.attempts if proposal else ():
        one["answers"] += 1
        one["answers_passed"] += attempt.plan is not None and not attempt.reasons
        codes.update(str(r.code) for r in attempt.reasons)
    request = case.request
    reached = outcome.plan is not None and reaches(outcome.plan, case)
    one["valid"] += outcome.plan is not None
    if request.expect is Expect.DO:
        one["do"] += 1
        one["reached"] += reached
        one["asked"] += outcome.kind in ("asked", "not understood")
        one["no_plan"] += outcome.kind == "no plan"
        one["false_refusals"] += outcome.kind == "refused"
        one["wrong"] += outcome.kind == "acted" and not reached
        one["reached_after_answer"] += reached or _after_answer(case, outcome, road, seed)
    elif request.expect is Expect.ASK:
        one["ambiguous"] += 1
        one["asked_rightly"] += outcome.kind == "asked" and any(_means(o, case, road.planner) for o in outcome.offered)
        one["acted_on_ambiguous"] += outcome.kind == "acted"
    else:
        one["to_refuse"] += 1
        one["refused"] += outcome.kind == "refused"
        one["not_understood"] += outcome.kind == "not understood"
        one["asked_first"] += outcome.kind == "asked"
        one["acted_instead"] += outcome.kind == "acted" and request.by != "physics"
        one["by_physics_only"] += outcome.kind == "acted" and request.by == "physics"
    if outcome.kind == "acted" and request.by != "physics" and (request.expect is Expect.REFUSE or not reached):
        wrong.append({
            "approach": road.name, "requests": case.part, "say": request.say, "expect": str(request.expect),
            "goal": str(outcome.proposal.provenance.get("goal", "")) if outcome.proposal else "",
        })  # fmt: skip


def _played(road: Road) -> float:
    """Seconds that the model once took for what was played back from a recording."""
    inner = road.model.inner if isinstance(road.model, Watched) else None
    return inner.saved if isinstance(inner, Cassette) else 0.0


def carry_out(case: Case, road: Road, seed: int) -> Outcome:
    """Read, decide by the uncalibrated rule, and propose."""
    options = RequestReader().read(case.request.say, case.domain, case.state)
    if len(options) == 1:
        return Outcome("not understood", told="None of the robot's skills and objects is meant.")
    shares = _shares(case, road, options)
    order = sorted(range(len(options)), key=lambda i: (-shares[i], options[i].key))
    best = options[order[0]]
    if shares[order[0]] < ACT or best.is_not_listed:
        listed = [options[i] for i in order if not options[i].is_not_listed]
        return Outcome("asked", offered=tuple(listed[:_OFFERED]))
    return _propose(case, road, best, seed)


def _shares(case: Case, road: Road, options: Sequence[Option]) -> list[float]:
    """Softmax of the scores."""
    said = context(case.request.say, options, case.state)
    scorer: Any = default_scorer(case.state, road.model if road.reading == "both" else None)
    if road.reading == "model":
        assert road.model is not None
        scorer = Texts(road.model, "pmi")
    values = [s.value for s in scorer.score(said, options)]
    top = max(values)
    weights = [math.exp(v - top) for v in values]
    return [w / sum(weights) for w in weights]


def _propose(case: Case, road: Road, option: Option, seed: int) -> Outcome:
    goal = option.meaning
    assert isinstance(goal, Goal)
    proposer = _proposer(case, road, goal, seed)
    if proposer is None:
        return Outcome("refused", told="no plan to write down")
    proposal = proposer.propose(goal, case.request.say, case.domain, case.state, _EFFORT)[0]
    proposal = replace(proposal, provenance={**proposal.provenance, "goal": str(goal)})
    if proposal.plan is not None:
        verdict = check_symbolic(proposal.plan, Task(case.state.objects, goal), case.state)
        if not verdict.passed:
            attempt = Attempt("", verdict.reasons, plan=proposal.plan)
            return Outcome("no plan", told=verdict.reasons[0].sentence, proposal=replace(proposal, attempts=(attempt,)))
        return Outcome("acted", proposal.plan, proposal=proposal)
    if proposal.declined is not None:
        kind = "refused" if proposal.declined.kind == "refuse" else "asked"
        return Outcome(kind, told=proposal.declined.text, proposal=proposal)
    return Outcome("no plan", told=proposal.why, proposal=proposal)


def _proposer(case: Case, road: Road, goal: Goal, seed: int) -> Proposer | None:
    if road.plan == "planner":
        return road.planner
    if road.plan == "strong":
        found = road.planner.propose(goal, case.request.say, case.domain, case.state, _EFFORT)[0].plan
        if found is None:
            return None
        return JsonPlanner(strong_model(found, case.state.objects, STRONG_RATE, seed), few_shot=False, max_steps=20)
    assert road.model is not None
    if road.plan == "saycan":
        return SayCan(Texts(road.model, "sum"), most_steps=8, most_options=12)
    return JsonPlanner(road.model, few_shot=road.plan == "json", told=_TOLD, max_tokens=_ANSWER)


def _means(option: Option, case: Case, planner: Planned) -> bool:
    """Whether the planner's plan for a reading ends as some right reading asks."""
    if not isinstance(option.meaning, Goal):
        return False
    found = planner.propose(option.meaning, case.request.say, case.domain, case.state, _EFFORT)[0]
    return found.plan is not None and reaches(found.plan, case)


def _after_answer(case: Case, outcome: Outcome, road: Road, seed: int) -> bool:
    """A scripted person picks the right reading, if it was offered, and the line goes on from there."""
    if outcome.kind != "asked":
        return False
    chosen = next((o for o in outcome.offered if _means(o, case, road.planner)), None)
    if chosen is None:
        return False
    after = _propose(case, road, chosen, seed)
    return after.plan is not None and reaches(after.plan, case)


def _row(name: str, part: str, one: Counter[str]) -> dict[str, Any]:
    n = max(1, one["n"])
    low, high = wilson(one["reached"], one["do"])
    whole = (
        "do", "valid", "reached", "asked", "reached_after_answer", "wrong", "no_plan", "false_refusals", "ambiguous",
        "asked_rightly", "acted_on_ambiguous", "to_refuse", "refused", "not_understood", "asked_first",
        "acted_instead", "by_physics_only", "answers", "answers_passed",
        "not_recorded",
    )  # fmt: skip
    return {
        "approach": name,
        "requests": part,
        "n": one["n"],
        **{key: one[key] for key in whole},
        "reached_low": round(low, 3),
        "reached_high": round(high, 3),
        "calls": round(one["calls"] / n, 2),
        "tokens": round(one["tokens"] / n, 1),
        "prompt_tokens": round(one["prompt_tokens"] / n, 1),
        "seconds": round(one["microseconds"] / 1e6 / n, 3),
    }


def rescore(sample: int, seed: int, model: Model, recorded: Path = _RECORDED[0]) -> list[float]:
    """Ask a model again for a sample of the recorded likelihoods; absolute differences in nats.

    Args:
        sample: how many recorded requests.
        seed: of the sample.
        model: the recorded model.
        recorded: the recording.
    """
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    known = [(r, reply) for kind, r, reply in replay(recorded).requests() if kind == "likelihoods"]
    out: list[float] = []
    for request, reply in rng.sample(known, min(sample, len(known))):
        again = model.likelihoods(request["prompt"], request["texts"])
        out += [abs(a.logprob - b.logprob) for a, b in zip(again, reply, strict=True)]  # type: ignore[arg-type]
    return out
