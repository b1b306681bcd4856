"""The reader's own fit as a scorer, and a default mix of it with a model's likelihoods."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.domain.option import Option, Score
from handrail.domain.state import State
from handrail.intent.readings import RequestReader
from handrail.intent.scores.fusion import Fusion, Weights
from handrail.intent.scores.scorer import Context, digest, provenance
from handrail.intent.scores.texts import Texts
from handrail.language.model import Model

SHARPNESS = 20.0
"""Turns a difference of 0.05 in fit (a mention matched by a part of its name) into e on the probability scale."""

PMI_WEIGHT = 0.15
"""What a nat of PMI counts beside it: enough to choose between equal fits, too little to overrule a better one."""


class Fit:
    """How well the words fit (see `readings`), as a log score.

    Args:
        state: the scene.
        reader: the reader whose options are scored.
    """

    kind = "fit"

    def __init__(self, state: State, reader: RequestReader | None = None) -> None:
        self.state, self.reader = state, reader or RequestReader()
        self.provenance = provenance(self.kind, reader=digest(repr(self.reader)), sharpness=SHARPNESS)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`. An option that the words don't suggest at all gets the score of no fit."""
        fits = {o.key: fit for fit, o in self.reader.fits(context.request, self.state.objects.domain, self.state)}
        least = self.reader.least / 2  # where nothing fits, "not listed" is likeliest
        values = [least if o.is_not_listed else fits.get(o.key, 0.0) for o in options]
        return [Score(SHARPNESS * v, self.kind, "log", False, self.provenance) for v in values]


def default_scorer(state: State, model: Model | None = None, reader: RequestReader | None = None) -> Fusion:
    """Fit alone, or with a model's PMI as the lesser part; uncalibrated, so that its choice is read back or asked.

    Args:
        state: the scene.
        model: gives likelihoods; None for words alone.
        reader: the reader whose options are scored.
    """
    fit = Fit(state, reader)
    if model is None or not model.capabilities().likelihoods:
        return Fusion([fit], Weights(("fit",), (1.0,)))
    return Fusion([fit, Texts(model, "pmi")], Weights(("fit", "pmi"), (1.0, PMI_WEIGHT)))
