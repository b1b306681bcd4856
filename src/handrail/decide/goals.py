"""Requests decided in a scene: readings, their scores and the calibration, kept together.

- the reader lists the few goals that a request may mean, and "none of these" (`intent.symbolic`);
- the scorer is a fusion of the model's likelihoods with words, verb and stated facts, or does without any model;
- the calibration says what the decision may promise; its notes hold the fusion's weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.decide.calibration import Calibration
from handrail.decide.policy import Act, Ask, Refuse, decide
from handrail.domain import State
from handrail.domain.option import Option, Score
from handrail.errors import ConfigError
from handrail.intent.scores.fusion import Fusion, Weights
from handrail.intent.scores.scorer import Scorer
from handrail.intent.scores.texts import Texts
from handrail.intent.symbolic import SymbolicReader
from handrail.language.model import Model

WORDS = ("overlap", "verb", "facts", "other", "unexplained")
FEATURES = ("pmi", *WORDS)
"""What is fused with a model; without one, the words alone."""


def scorer_of(reader: SymbolicReader, weights: Weights, model: Model | None) -> Fusion:
    """The fusion for a scene.

    Raises:
        ConfigError: weights that need a model, and none given, or weights for something else.
    """
    scorers: list[Scorer] = list(reader.scorers)
    if "pmi" in weights.names:
        if model is None:
            raise ConfigError("this calibration was made with a language model, and none was given")
        scorers.insert(0, Texts(model, "pmi"))
    return Fusion(scorers, weights)


def weights_of(calibration: Calibration) -> Weights:
    """The fusion's weights from a calibration's notes.

    Raises:
        ConfigError: there are none; it was made for another scorer.
    """
    noted = calibration.notes.get("fusion")
    try:
        return Weights(tuple(noted["names"]), tuple(float(v) for v in noted["values"]), int(noted["cases"]))  # type: ignore[index]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError("this calibration holds no fusion weights, so it doesn't belong to goal readings") from error


@dataclass(frozen=True)
class Decided:
    """A decision with what it was made from.

    Attributes:
        decision: act on a goal, ask, or refuse.
        options: all readings, the not-listed one last.
        scores: one per reading.
    """

    decision: Act | Ask | Refuse
    options: tuple[Option, ...]
    scores: tuple[Score, ...]


class GoalDecider:
    """Decides requests in a scene.

    Args:
        state: the scene.
        calibration: with fusion weights in its notes.
        model: where the weights use one.

    Raises:
        ConfigError: weights and model don't fit together.
    """

    def __init__(self, state: State, calibration: Calibration, model: Model | None = None) -> None:
        self.reader = SymbolicReader(state)
        self.calibration = calibration
        self.scorer = scorer_of(self.reader, weights_of(calibration), model)

    def decide(self, request: str, *, group: str | None = None) -> Decided:
        """Read, score, decide.

        Raises:
            StaleError: model, prompts, generator or skills are not those calibrated.
            ModelError: the model failed.
        """
        options = self.reader.read(request)
        scores = self.scorer.score(self.reader.context(request, options), options)
        made = decide(options, scores, self.calibration, context=self.reader.fingerprint, group=group)
        return Decided(made, tuple(options), tuple(scores))

    def narrow(self, decided: Decided, keys: Sequence[str]) -> Act | Ask | Refuse:
        """The decision after a person's answer left these readings: what the person picked is still looked at.

        One left acts unless it is marked; none left asks openly.
        """
        from handrail.decide.policy import read_set

        probabilities = [1.0 if o.key in keys else 0.0 for o in decided.options]
        kept = [i for i, o in enumerate(decided.options) if o.key in keys]
        return read_set(decided.options, probabilities, kept, self.calibration.digest)
