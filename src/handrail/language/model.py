"""The seam to language models: four kinds of request, one class to derive from.

    chat          write an answer
    json          write an answer under a schema
    likelihoods   score given texts as continuations of a prompt
    letters       score the very next token

A model does those it can in `ask` and says of the others that it can't. All calls are blocking and
thread-safe; each has one end-to-end time-out and can be cancelled from another thread.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.errors import ConfigError
from handrail.language.faults import IncapableError, ModelCancelledError, ModelTimeoutError
from handrail.language.records import (
    Answer,
    Capabilities,
    ChatRequest,
    Fingerprint,
    JsonRequest,
    LetterScores,
    LettersRequest,
    LikelihoodRequest,
    Message,
    Reply,
    Request,
    TextScore,
    kind_of,
    prompt_of,
)

DEFAULT_TIMEOUT = 120.0
_DEEDS = {
    "chat": "write answers",
    "json": "be held to a JSON schema",
    "likelihoods": "give the likelihood of a text",
    "letters": "give next-token probabilities",
}


@dataclass(frozen=True, slots=True)
class Call:
    """How long a call may take, and how to stop it; no part of what is asked.

    Attributes:
        timeout: seconds, end to end, retries included; > 0.
        cancel: set it from another thread to end the call with `ModelCancelledError`.
        began: `time.monotonic()` at the call's start.
    """

    timeout: float = DEFAULT_TIMEOUT
    cancel: threading.Event | None = None
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ConfigError(f"a time-out is a number of seconds above 0, got {self.timeout}")

    @property
    def left(self) -> float:
        """Seconds left; may be negative."""
        return self.timeout - (time.monotonic() - self.began)

    def check(self) -> None:
        """Go on only while there is time and nobody cancelled.

        Raises:
            ModelCancelledError: cancelled.
            ModelTimeoutError: the time is up.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise ModelCancelledError("the request was cancelled")
        if self.left <= 0:
            raise ModelTimeoutError(f"no whole answer within {self.timeout:g} s")


class Model(ABC):
    """A language model. Derive from it and write `fingerprint`, `capabilities` and `ask`."""

    @property
    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """What identifies the model and how it computes."""

    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What it can do; may ask the endpoint the first time."""

    @abstractmethod
    def ask(self, request: Request, call: Call) -> Reply:
        """Do one request: an `Answer` for chat and json, scores for the other two.

        Raises:
            ModelError: it failed, timed out or was cancelled; `cannot(request)` for kinds that it can't do.
        """

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        timeout: float = DEFAULT_TIMEOUT,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Write an answer.

        Raises:
            ModelError: it failed, timed out or was cancelled; see `handrail.language.faults`.
            ConfigError: an argument is out of range.
        """
        request = ChatRequest(tuple(messages), max_tokens, temperature, seed, tuple(stop))
        return self._answer(request, Call(timeout, cancel))

    def json(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        timeout: float = DEFAULT_TIMEOUT,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Write an answer that keeps to a JSON Schema, as far as the model can be made to; read it with `reading`.

        Raises:
            ModelError: it failed, timed out or was cancelled; `IncapableError` where it can't be held to a schema.
            ConfigError: an argument is out of range.
        """
        request = JsonRequest(tuple(messages), max_tokens, temperature, seed, tuple(stop), schema)
        return self._answer(request, Call(timeout, cancel))

    def likelihoods(
        self,
        prompt: str | Sequence[Message],
        texts: Sequence[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        cancel: threading.Event | None = None,
    ) -> tuple[TextScore, ...]:
        """Log-probability of each text right after the prompt, in the order given; the prompt is evaluated once.

        A text counts exactly as written: begin it with a blank where one belongs, end it with the token that ends it.

        Raises:
            ModelError: it failed, timed out or was cancelled; `IncapableError` where it can't score texts.
            ConfigError: no text, or an empty one.
        """
        reply = self.ask(LikelihoodRequest(prompt_of(prompt), tuple(texts)), Call(timeout, cancel))
        assert isinstance(reply, tuple)
        return reply

    def letters(
        self,
        prompt: str | Sequence[Message],
        labels: Sequence[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        cancel: threading.Event | None = None,
    ) -> LetterScores:
        """The likeliest next tokens with a bound on what is not listed.

        Raises:
            ModelError: it failed, timed out or was cancelled; `IncapableError` where it gives no log-probabilities.
            ConfigError: no label, or two that are alike.
        """
        reply = self.ask(LettersRequest(prompt_of(prompt), tuple(labels)), Call(timeout, cancel))
        assert isinstance(reply, LetterScores)
        return reply

    def _answer(self, request: ChatRequest, call: Call) -> Answer:
        reply = self.ask(request, call)
        assert isinstance(reply, Answer)
        return reply

    def close(self) -> None:  # noqa: B027 - most models hold nothing
        """Give back what it holds (memory, connections); further calls fail."""

    def cannot(self, request: Request) -> IncapableError:
        """The error for a kind of request that this model can't do."""
        return IncapableError(f"the model {self.fingerprint.model!r} can't {_DEEDS[kind_of(request)]}")


class Wrapper(Model):
    """A model that hands every request to another one; derive and change `ask`."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def fingerprint(self) -> Fingerprint:
        """The inner model's."""
        return self.inner.fingerprint

    def capabilities(self) -> Capabilities:
        """The inner model's."""
        return self.inner.capabilities()

    def close(self) -> None:
        """Close the inner model."""
        self.inner.close()

    def ask(self, request: Request, call: Call) -> Reply:
        """Hand it on."""
        return self.inner.ask(request, call)
