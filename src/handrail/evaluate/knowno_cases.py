"""Scenarios with what a model gave for them, as arrays that every method reads.

Which numbers a method sees is decided here and only here; truth is kept apart from scores.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from handrail.decide.conformal import softmax
from handrail.domain.option import NOT_LISTED, Option
from handrail.evaluate.recordings import Record, context_of
from handrail.evaluate.scenarios.scenario import Scenario
from handrail.intent.scores.averages import mean_probability
from handrail.intent.scores.fusion import Floats, Weights, fit
from handrail.intent.scores.texts import ALPHA, value_of
from handrail.intent.scores.words import Words
from handrail.language.records import TextScore

RECORDED = Path(__file__).parent / "recorded"
"""Recordings that ship with the package, by model and suite."""

FUSED = ("pmi", "sum", "letters", "overlap", "verb", "other")
"""Features of the fusion."""


@dataclass(frozen=True)
class Case:
    """One decision.

    Attributes:
        key: the scenario's.
        category: kind of ambiguity.
        episode: the episode it is a step of, or "".
        right: indices of the options that would do.
        other: index of the not-listed option.
        listed: whether what the person means is among the listed options.
        scores: kind of score -> one log value (or raw number) per option.
        record: what was recorded.
    """

    key: str
    category: str
    episode: str
    right: tuple[int, ...]
    other: int
    listed: bool
    scores: Mapping[str, tuple[float, ...]]
    record: Record = field(repr=False)


RAW = ("raw", "fluency")
"""Kinds that are not put through a softmax."""


def probabilities(case: Case, kind: str, temperature: float = 1.0) -> list[float]:
    """One probability per option, by a kind of score."""
    values = case.scores[kind]
    return list(values) if kind in RAW else softmax(values, temperature)


def case_of(scenario: Scenario, record: Record, draws: int = 20) -> Case:
    """A scenario and its record as one case.

    Args:
        scenario: the truth.
        record: the numbers.
        draws: sampled answers for the sampling score. They are drawn from the recorded letter distribution: what a
            model without log-probabilities would have said.
    """
    options = [scenario.candidates[i] if i >= 0 else Option(NOT_LISTED, "an option not listed here") for i in record.order]
    right = tuple(scenario.right(options))
    scores: dict[str, tuple[float, ...]] = {}
    if record.after:
        priors: Sequence[Sequence[float] | None] = record.before or [None] * len(record.after)
        for kind in ("sum", "mean", "pmi", "raw", "fluency") if record.before else ("sum", "mean", "raw", "fluency"):
            scores[kind] = tuple(_text(kind, a, b) for a, b in zip(record.after, priors, strict=True))
    if record.letters:
        scores["letters"] = tuple(record.letters[0])
        scores["sampling"] = _sampled(record.letters[0], draws, record.request)
    if len(record.letters) == len(options) > 1:
        scores["letters, all orders"] = tuple(mean_probability(record.letters))
    context = context_of(scenario)
    for kind in ("overlap", "verb", "other"):
        words = Words(kind)
        scores[kind] = tuple(words.number(context, o) for o in options)
    # no model: both readings with equal weight; three nats are what a clear match is worth to the fitted fusion
    scores["words"] = tuple(3.0 * (a + b) for a, b in zip(scores["overlap"], scores["verb"], strict=True))
    return Case(
        key=scenario.key,
        category=scenario.category,
        episode=scenario.episode,
        right=right,
        other=record.order.index(-1) if -1 in record.order else -1,
        listed=any(options[i].key in scenario.acceptable for i in right),
        scores=scores,
        record=record,
    )


def _text(kind: str, after: Sequence[float], before: Sequence[float] | None) -> float:
    now = TextScore("", after[0], int(after[1]))
    prior = None if before is None else TextScore("", before[0], int(before[1]))
    return value_of(kind, now, prior, ALPHA)[0]  # type: ignore[arg-type]


def _sampled(letters: Sequence[float], draws: int, seed: str) -> tuple[float, ...]:
    """Log of the share of draws with one added for each option, so that an unseen one is unlikely, not impossible."""
    shares = softmax(letters)
    if any(math.isnan(s) for s in shares):
        return tuple(math.nan for _ in letters)
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    picks = rng.choices(range(len(letters)), shares, k=draws)
    return tuple(math.log((picks.count(i) + 1 / len(letters)) / (draws + 1)) for i in range(len(letters)))


def features(case: Case, names: Sequence[str] = FUSED) -> Floats:
    """Features of all options, shape (options, features); -inf becomes a very low number."""
    return np.array([[max(v, -1e3) for v in case.scores[n]] for n in names]).T


def fused(cases: Sequence[Case], tuning: Sequence[Case]) -> tuple[list[Case], Weights]:
    """The cases with a fitted "fusion" score, and its weights; the tuning cases must be none of them."""
    names = [n for n in FUSED if all(n in c.scores for c in (*cases, *tuning))]
    weights = fit(names, [features(c, names) for c in tuning], [c.right for c in tuning], nonnegative=True)
    out = []
    for case in cases:
        values = weights.utility(features(case, names))
        out.append(with_scores(case, {"fusion": tuple(float(v) for v in values)}))
    return out, weights


def with_scores(case: Case, more: Mapping[str, tuple[float, ...]]) -> Case:
    """The same case with further scores."""
    return Case(
        case.key, case.category, case.episode, case.right, case.other, case.listed, {**case.scores, **more}, case.record
    )


Bend = Callable[[Case, random.Random], Case]


def letter_bias(strength: float) -> Bend:
    """A model that likes earlier letters more: each place down costs `strength` nats, in every recorded order."""

    def bend(case: Case, _: random.Random) -> Case:
        n = len(case.record.order)
        lists = [
            [v - strength * ((i - turn) % n) for i, v in enumerate(values)]
            for turn, values in enumerate(case.record.letters)
        ]
        more = {"letters": tuple(lists[0])}
        if len(lists) == n:
            more["letters, all orders"] = tuple(mean_probability(lists))
        return with_scores(case, more)

    return bend


def longer_texts(spread: float) -> Bend:
    """Options with filler words: a random number of extra tokens (half-normal with this spread), as likely as the rest.

    Each extra token costs the text's own mean log-probability, after the request and without it.
    """

    def bend(case: Case, rng: random.Random) -> Case:
        found: dict[str, list[float]] = {"sum": [], "mean": [], "pmi": []}
        for after, before in zip(case.record.after, case.record.before, strict=True):
            extra = round(abs(rng.gauss(0, spread)))
            longer = [[v + extra * v / n, n + extra] for v, n in (after, before)]
            for kind, values in found.items():
                values.append(_text(kind, longer[0], longer[1]))
        return with_scores(case, {k: tuple(v) for k, v in found.items()})

    return bend
