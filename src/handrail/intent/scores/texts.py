"""Option texts: the likelihood of each option's own words after the request.

- sum: log p(text | request);
- mean: the same per token; long texts lose their handicap, and much of their meaning;
- pmi: log p(text | request) - alpha log p(text | "Do something.") in the same scene: what the request adds. Alpha is
  below 1, since "bring ..." is what a model expects when nothing is asked;
- raw: exp(sum) as it is, not normalised over the options (KnowNo's RawProb);
- fluency: exp(mean) as it is, one over the perplexity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from handrail.domain.option import Option, Scale, Score
from handrail.errors import ConfigError
from handrail.intent.scores.prompts import NOTHING_ASKED, SPOKEN_DIGEST, continuation, spoken
from handrail.intent.scores.scorer import Context, model_parts, provenance
from handrail.language.model import Model
from handrail.language.records import TextScore

Kind = Literal["sum", "mean", "pmi", "raw", "fluency"]
DIGITS = 3
"""Logarithms are rounded to 0.001, below the noise of quantised arithmetic, so that recorded and fresh scores agree."""

ALPHA = 0.75
"""Tuned on 28 scenarios for the embedded model; tune again for another one."""


def value_of(
    kind: Kind, after: TextScore, before: TextScore | None = None, alpha: float = ALPHA
) -> tuple[float, Scale]:
    """One text's score and its scale.

    Args:
        kind: see the module.
        after: the text after the request.
        before: the text after "Do something.", for pmi.
        alpha: weight of the prior.
    """
    if kind == "sum":
        return round(after.logprob, DIGITS), "log"
    if kind == "mean":
        return round(after.mean, DIGITS), "log"
    if kind == "raw":
        return math.exp(min(0.0, after.logprob)), "raw"
    if kind == "fluency":
        return math.exp(min(0.0, after.mean)), "raw"
    if before is None:
        raise ConfigError("pmi needs the text's likelihood without a request")
    return round(after.logprob - alpha * before.logprob, DIGITS), "log"


class Texts:
    """Scores options by their texts; the prompt is evaluated once for all (twice for pmi: with and without request).

    Args:
        model: gives likelihoods of texts.
        kind: see the module.
        alpha: of pmi, in [0, 1].
    """

    def __init__(self, model: Model, kind: Kind = "pmi", alpha: float = ALPHA) -> None:
        if kind not in ("sum", "mean", "pmi", "raw", "fluency"):
            raise ConfigError(f"unknown text score '{kind}'; valid: sum, mean, pmi, raw, fluency")
        if not 0 <= alpha <= 1:
            raise ConfigError(f"alpha must lie in [0, 1], got {alpha}")
        self.model, self.alpha = model, alpha
        self.kind: Kind = kind
        extra = {"alpha": alpha} if kind == "pmi" else {}
        self.provenance = provenance(kind, **model_parts(model), prompt=SPOKEN_DIGEST, **extra)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`."""
        texts = [continuation(o.text) for o in options]
        after = self.model.likelihoods(spoken(context), texts)
        before: Sequence[TextScore | None] = [None] * len(texts)
        if self.kind == "pmi":
            nothing = Context(context.scene, NOTHING_ASKED, context.done)
            before = self.model.likelihoods(spoken(nothing), texts)
        out = []
        for now, prior in zip(after, before, strict=True):
            value, scale = value_of(self.kind, now, prior, self.alpha)
            out.append(Score(value, self.kind, scale, False, self.provenance))
        return out
