"""Every request and answer, told to whoever keeps the record."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handrail.errors import HandrailError
from handrail.language.model import Call, Model, Wrapper
from handrail.language.records import Answer, Reply, Request, data_of, kind_of


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and how it ended.

    Attributes:
        kind: 'chat', 'json', 'likelihoods' or 'letters'.
        request: what was asked, as JSON-ready data; it holds no key or address.
        reply: what came back, as JSON-ready data; None where it failed.
        error: '' or what went wrong.
        seconds: wall time.
        tokens: generated (chat, json) or scored (likelihoods) tokens; 0 where not known.
        prompt_tokens: of the prompt; 0 where not known.
        fingerprint: digest of the model's fingerprint.
        model: the model's name.
    """

    kind: str
    request: dict[str, Any]
    reply: Any
    error: str
    seconds: float
    tokens: int
    prompt_tokens: int
    fingerprint: str
    model: str


Recorder = Callable[[Exchange], None]
"""Called once for each request, in the thread that asked, before the answer is handed on."""


class Watched(Wrapper):
    """A model that tells a recorder about each request; a failure is told too, then raised again."""

    def __init__(self, inner: Model, recorder: Recorder) -> None:
        super().__init__(inner)
        self.recorder = recorder

    def ask(self, request: Request, call: Call) -> Reply:
        """Ask the inner model and tell."""
        began = time.monotonic()
        try:
            reply = self.inner.ask(request, call)
        except HandrailError as error:
            self._tell(request, None, f"{type(error).__name__}: {error}", time.monotonic() - began)
            raise
        self._tell(request, reply, "", time.monotonic() - began)
        return reply

    def _tell(self, request: Request, reply: Reply | None, error: str, seconds: float) -> None:
        tokens = prompt_tokens = 0
        if isinstance(reply, Answer):
            tokens, prompt_tokens = reply.tokens, reply.prompt_tokens
        elif isinstance(reply, tuple):
            tokens = sum(score.tokens for score in reply)
        mark = self.inner.fingerprint
        data = None if reply is None else data_of(reply)
        self.recorder(
            Exchange(
                kind_of(request), data_of(request), data, error, seconds, tokens, prompt_tokens, mark.digest, mark.model
            )
        )


LISTED = 32
"""Next tokens of a letters reply that a run log keeps; the whole vocabulary would drown everything else."""


class RunRecorder:
    """A recorder that writes to the log of whichever run is going on, as `model.answer` events.

    It is made once with the model; a mission points it at a run's log with `to` and takes it away at the end. Between
    runs nothing is written.
    """

    def __init__(self) -> None:
        self._append: Callable[[str, dict[str, Any]], Any] | None = None
        self._guard = threading.Lock()

    def to(self, append: Callable[[str, dict[str, Any]], Any] | None) -> None:
        """Write to this from now on; None for nowhere. `append` takes a kind and a body and may be called anywhere."""
        with self._guard:
            self._append = append

    def __call__(self, exchange: Exchange) -> None:
        """Write one exchange down."""
        with self._guard:
            append = self._append
        if append is None:
            return
        body = data_of(exchange)
        if exchange.kind == "letters" and isinstance(body["reply"], dict):
            body["reply"] = {**body["reply"], "tokens": body["reply"]["tokens"][:LISTED]}
        append("model.answer", body)
