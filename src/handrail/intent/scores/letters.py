"""Option letters: the probability that the model's next token names an option.

All spellings of a letter count (" B", "B", "b)", "(B"): their probabilities are added *before* a temperature is
applied; afterwards the order of the two would matter. What is no letter is left out. A letter that a top-k list
doesn't hold has at most the probability of the list's last token, and at most what is missing from the list's sum: the
score is that bound and says so, so that calibration reads it as the worst and a decision keeps the option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from handrail.domain.option import Fingerprint, Option, Score
from handrail.errors import ConfigError
from handrail.intent.scores.prompts import LETTERED_DIGEST, lettered
from handrail.intent.scores.scorer import Context, model_parts, provenance
from handrail.language.model import Model
from handrail.language.records import LetterScores

LABELS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SPELLING = re.compile(r"^[\s\u2581\u0120(\[\"'*]*([A-Za-z])[\s)\].:,\"'*]*$")


def label_of_token(token: str) -> str | None:
    """The letter that a token spells, in upper case, or None: " B", "(b", "B)" spell B; "Be" and "" nothing."""
    found = _SPELLING.match(token)
    return found.group(1).upper() if found else None


def log_masses(reply: LetterScores, labels: Sequence[str]) -> list[tuple[float, bool]]:
    """For each label the log of its summed probability, and whether that is only an upper bound.

    A label that was seen in one spelling may have more in unseen ones; that rest is left out, alike in calibration and
    in use.
    """
    sums = dict.fromkeys(labels, 0.0)
    for token in reply.tokens:
        label = label_of_token(token.token)
        if label in sums:
            sums[label] += math.exp(min(0.0, token.logprob))
    unseen = reply.unseen_each
    return [(math.log(s), False) if s > 0 else (unseen, not reply.complete) for s in sums.values()]


def letter_scores(reply: LetterScores, labels: Sequence[str], kind: str, made: Fingerprint) -> list[Score]:
    """Scores on the log scale, in the labels' order."""
    return [Score(value, kind, "log", bound, made) for value, bound in log_masses(reply, labels)]


class Letters:
    """Scores options by their letters, in the order given.

    Args:
        model: gives next-token probabilities.
        examples: worked questions put before (see `prompts.lettered_example`).
    """

    kind = "letters"

    def __init__(self, model: Model, examples: Sequence[str] = ()) -> None:
        self.model, self.examples = model, tuple(examples)
        extra = {"examples": len(self.examples)} if self.examples else {}
        self.provenance = provenance(self.kind, **model_parts(model), prompt=LETTERED_DIGEST, **extra)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`; 26 options at most.

        Raises:
            ConfigError: more options than letters.
        """
        if not 1 <= len(options) <= len(LABELS):
            raise ConfigError(f"1 to {len(LABELS)} options can have letters, got {len(options)}")
        labels = LABELS[: len(options)]
        prompt = lettered(context, [o.text for o in options], labels, self.examples)
        reply = self.model.letters(prompt, labels)
        return letter_scores(reply, labels, self.kind, self.provenance)
