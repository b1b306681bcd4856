"""Averages against chance: over the order of the options, and over the examples in the prompt.

Models prefer some letters whatever stands there. Scoring the same options in several orders and averaging the
*probabilities* by option takes that out, at one model call per order (Zheng et al., arXiv 2309.03882).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from handrail.domain.option import Option, Score
from handrail.errors import ConfigError
from handrail.intent.scores.letters import LABELS, Letters
from handrail.intent.scores.prompts import EXAMPLES, lettered_example
from handrail.intent.scores.scorer import Context, Scorer, provenance
from handrail.language.model import Model


def rotations(n: int, orders: int | None = None) -> list[list[int]]:
    """Orders of n options in which each option stands at each place equally often: n rotations, or the first few."""
    count = n if orders is None else min(orders, n)
    return [[(i + shift) % n for i in range(n)] for shift in range(count)]


def mean_probability(lists: Sequence[Sequence[float]]) -> list[float]:
    """Log of the mean over lists of softmax probabilities; each list is one scoring, in option order.

    A list that can't be normalised makes all of it NaN: an average over what is left would depend on what failed.
    """
    n = len(lists[0])
    total = [0.0] * n
    for values in lists:
        top = max(values)
        if math.isinf(top) or any(v != v for v in values):
            return [math.nan] * n
        weights = [math.exp(v - top) for v in values]
        mass = sum(weights)
        for i, w in enumerate(weights):
            total[i] += w / mass
    return [math.log(t / len(lists)) if t > 0 else -math.inf for t in total]


class Permuted:
    """Averages a scorer over orders of the options.

    Args:
        inner: scores one order; its scores must be on the log scale.
        orders: how many rotations; None for as many as there are options.
    """

    def __init__(self, inner: Letters, orders: int | None = None) -> None:
        if orders is not None and orders < 1:
            raise ConfigError("at least one order is needed")
        self.inner, self.orders = inner, orders
        self.kind = f"{inner.kind}, {orders or 'all'} orders"
        parts = dict(inner.provenance.parts)
        self.provenance = provenance(self.kind, **{k: v for k, v in parts.items() if k != "score"})

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`."""
        lists, bounds = [], [False] * len(options)
        for order in rotations(len(options), self.orders):
            scores = self.inner.score(context, [options[i] for i in order])
            values = [0.0] * len(options)
            for place, index in enumerate(order):
                values[index] = scores[place].value
                bounds[index] = bounds[index] or scores[place].upper_bound
            lists.append(values)
        means = mean_probability(lists)
        return [Score(v, self.kind, "log", b, self.provenance) for v, b in zip(means, bounds, strict=True)]


class Ensemble:
    """The same question after different examples: each prompt votes for its likeliest option.

    Scores are vote shares; with `soft` they are mean probabilities.

    Args:
        model: gives next-token probabilities.
        subsets: which of the pool's examples each prompt holds (see `decide.baselines.example_subsets`).
        soft: average the probabilities instead of counting votes.
    """

    def __init__(self, model: Model, subsets: Sequence[Sequence[int]], *, soft: bool = False) -> None:
        if not subsets:
            raise ConfigError("an ensemble needs at least one prompt")
        self.subsets, self.soft = tuple(tuple(s) for s in subsets), soft
        self.kind = "ensemble" if soft else "ensemble votes"
        self.members = [Letters(model, examples_of(s, i)) for i, s in enumerate(self.subsets)]
        parts = dict(self.members[0].provenance.parts)
        parts = {k: v for k, v in parts.items() if k not in ("score", "examples")}
        self.provenance = provenance(self.kind, **parts, examples=str(self.subsets))

    def votes(self, context: Context, options: Sequence[Option]) -> list[int | None]:
        """Each prompt's likeliest option; None where it gave nothing usable."""
        return [_top(m.score(context, options)) for m in self.members]

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`."""
        if self.soft:
            lists = [[s.value for s in m.score(context, options)] for m in self.members]
            return [Score(v, self.kind, "log", False, self.provenance) for v in mean_probability(lists)]
        votes = [v for v in self.votes(context, options) if v is not None]
        shares = [votes.count(i) / len(votes) if votes else math.nan for i in range(len(options))]
        return [Score(v, self.kind, "probability", False, self.provenance) for v in shares]


def _top(scores: Sequence[Score]) -> int | None:
    values = [s.value for s in scores]
    if any(v != v for v in values) or math.isinf(max(values)):
        return None
    return max(range(len(values)), key=lambda i: (values[i], -i))


def examples_of(subset: Sequence[int], turn: int) -> list[str]:
    """Worked questions for a prompt; the right letter moves from one to the next, so that none is favoured."""
    labels = LABELS[:5]
    return [lettered_example(EXAMPLES[i], labels, (turn + place) % 4) for place, i in enumerate(subset)]


def average(scorers: Sequence[Scorer], context: Context, options: Sequence[Option]) -> list[float]:
    """Mean log-probability over different scorers on the log scale."""
    return mean_probability([[s.value for s in scorer.score(context, options)] for scorer in scorers])
