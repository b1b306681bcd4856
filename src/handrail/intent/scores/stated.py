"""Scores for models that give no log-probabilities: how often, and how sure they say they are.

Both are valid scores once calibrated, and weaker ones: models state too much confidence (arXiv 2306.13063), and a
frequency over n samples has steps of 1 / n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from handrail.domain.option import Option, Score
from handrail.errors import ConfigError
from handrail.intent.scores.answers import stated_letters, stated_percentages
from handrail.intent.scores.letters import LABELS
from handrail.intent.scores.prompts import LETTERED_DIGEST, lettered
from handrail.intent.scores.scorer import Context, digest, model_parts, provenance
from handrail.language.model import Model
from handrail.language.records import Message

_ASK_SURE = (
    "Answer with one line for each option: its letter, a colon and your probability in percent that it is right."
)


class Sampling:
    """How often a model names an option, among several answers at a temperature above 0.

    Answers that name none or several options count for none: what is missing from the sum is mass on "no option".

    Args:
        model: writes answers.
        samples: how many, at least 2.
        temperature: above 0.
        seed: of the first sample; later ones count up.
    """

    kind = "sampling"

    def __init__(self, model: Model, samples: int = 20, temperature: float = 1.0, seed: int = 0) -> None:
        if samples < 2 or not temperature > 0:
            raise ConfigError("sampling needs at least 2 samples and a temperature above 0")
        self.model, self.samples, self.temperature, self.seed = model, samples, temperature, seed
        self.provenance = provenance(
            self.kind,
            **model_parts(model),
            prompt=LETTERED_DIGEST,
            samples=samples,
            sampling=f"temperature {temperature:g}, seed {seed}",
        )

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`; NaN for all where no answer named an option."""
        labels = LABELS[: len(options)]
        prompt = lettered(context, [o.text for o in options], labels)
        counts = [0] * len(options)
        for turn in range(self.samples):
            answer = self.model.chat(
                [Message("user", prompt)], max_tokens=8, temperature=self.temperature, seed=self.seed + turn
            )
            named = stated_letters(answer.text, labels)
            if len(named) == 1:
                counts[named[0]] += 1
        total = sum(counts)
        shares = [c / self.samples if total else math.nan for c in counts]
        return [Score(s, self.kind, "probability", False, self.provenance) for s in shares]


class Verbalised:
    """The probabilities that a model states in words; one chat per decision."""

    kind = "verbalised"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.provenance = provenance(self.kind, **model_parts(model), prompt=LETTERED_DIGEST + digest(_ASK_SURE))

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`; an option that isn't stated is NaN, so that the decision asks."""
        labels = LABELS[: len(options)]
        prompt = lettered(context, [o.text for o in options], labels).removesuffix("\nAnswer:")
        answer = self.model.chat([Message("user", f"{prompt}\n{_ASK_SURE}")], max_tokens=12 * len(options))
        values = stated_percentages(answer.text, labels)
        return [Score(v, self.kind, "probability", False, self.provenance) for v in values]
