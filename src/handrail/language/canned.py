"""A model whose answers were written down before: for tests, examples and demonstrations without any model."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence

from handrail.errors import ConfigError
from handrail.language.faults import MissError
from handrail.language.model import Call, Model
from handrail.language.records import (
    Answer,
    Capabilities,
    ChatRequest,
    Fingerprint,
    LetterScores,
    LikelihoodRequest,
    Message,
    Prompt,
    Reply,
    Request,
    TextScore,
    TokenScore,
    letter_scores,
)

Scores = Callable[[Prompt, str], float]
"""Natural log-probability that this fake gives to a text (or label) after a prompt."""


class Canned(Model):
    """Answers from a list, in order, or from a function; scores from a function or a table.

    Args:
        answers: texts given one after the other, or a function of the conversation. When a list is used up, asking
            again is an error: nothing is invented.
        scores: log-probability of a text or label, by text or by a function of prompt and text; without it the model
            can't score.
        name: what to call it.
    """

    def __init__(
        self,
        answers: Sequence[str] | Callable[[tuple[Message, ...]], str] = (),
        *,
        scores: Scores | Mapping[str, float] | None = None,
        name: str = "canned",
    ) -> None:
        if isinstance(answers, str):
            raise ConfigError("answers are a list of texts, not one text")
        self._answers = answers if callable(answers) else list(answers)
        self._scores = scores
        self._name = name
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    @property
    def fingerprint(self) -> Fingerprint:
        """Its name; a canned model has no weights."""
        return Fingerprint(self._name, backend="canned")

    def capabilities(self) -> Capabilities:
        """Whatever was canned."""
        scoring = self._scores is not None
        return Capabilities(
            chat=True,
            json_schema=True,
            likelihoods="forced" if scoring else "",
            top_logprobs=1000 if scoring else 0,
            logit_bias="none",
        )

    def ask(self, request: Request, call: Call) -> Reply:
        """The next canned answer or the canned scores.

        Raises:
            MissError: no answer or score is left for this request.
        """
        call.check()
        with self._lock:
            self.requests.append(request)
            if isinstance(request, ChatRequest):
                text = self._next(request)
                return Answer(text, len(text.split()), 0, 0.0, self.fingerprint.digest, "stop")
        if self._scores is None:
            raise self.cannot(request)
        if isinstance(request, LikelihoodRequest):
            return tuple(TextScore(t, self._score(request.prompt, t), max(1, len(t.split()))) for t in request.texts)
        return self._letters(request.prompt, request.labels)

    def _next(self, request: ChatRequest) -> str:
        if callable(self._answers):
            return self._answers(request.messages)
        if not self._answers:
            raise MissError(
                f"the canned model {self._name!r} has no answer left ({len(self.requests)} requests so far)"
            )
        return self._answers.pop(0)

    def _score(self, prompt: Prompt, text: str) -> float:
        if callable(self._scores):
            return float(self._scores(prompt, text))
        assert self._scores is not None
        if text not in self._scores:
            raise MissError(f"the canned model {self._name!r} has no score for {text!r}")
        return float(self._scores[text])

    def _letters(self, prompt: Prompt, labels: tuple[str, ...]) -> LetterScores:
        tokens = [TokenScore(label, self._score(prompt, label)) for label in labels]
        mass = math.fsum(math.exp(t.logprob) for t in tokens)
        if mass > 1 + 1e-6:
            raise ConfigError(f"canned label probabilities add up to {mass:.3f}, more than 1")
        return letter_scores(labels, tokens, complete=False)
