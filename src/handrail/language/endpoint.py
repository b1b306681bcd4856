"""Any OpenAI-compatible endpoint as a model: hosted, vLLM, Ollama, llama.cpp, a proxy.

Such servers differ in what they really do, so capabilities are probed (see `probe`) and kept; a kind of request that
the endpoint can't do says so instead of degrading.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handrail.errors import ConfigError
from handrail.language import forced, wire
from handrail.language.faults import IncapableError, ModelAnswerError, ModelRefusedError
from handrail.language.model import Call, Model
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
    Prompt,
    Reply,
    Request,
    TextScore,
    letter_scores,
)
from handrail.language.transport import Transport

KEY_VARIABLE = "HANDRAIL_API_KEY"
_OLD_LIMIT = 5
_OPENAI_HOST = "api.openai.com"


def key_for(url: str, environment: Mapping[str, str] = os.environ) -> str:
    """The key for an endpoint: $HANDRAIL_API_KEY, or $OPENAI_API_KEY, which goes to OpenAI's own host and no other."""
    key = environment.get(KEY_VARIABLE, "")
    if not key and urlsplit(url).hostname == _OPENAI_HOST:
        key = environment.get("OPENAI_API_KEY", "")
    return key


class Endpoint(Model):
    """A model behind an OpenAI-compatible URL.

    Args:
        url: the base URL, usually ending in `/v1`.
        name: the model's name there; '' takes the only one that the endpoint lists.
        key: the API key; by default from the environment, see `key_for`.
        retries: further tries after a failure that may pass (429, 5xx, cut or unusable answers), 0..10.
        backoff: seconds before the second try, doubled each time.
        cache: folder where the probe's result is kept; the user's cache folder by default.
        capabilities: what it can do, where that is known; otherwise it is probed when first needed.

    Raises:
        ConfigError: an argument is out of range.
        MissingExtra: the openai SDK is not installed.
    """

    def __init__(
        self,
        url: str,
        name: str = "",
        *,
        key: str | None = None,
        retries: int = 3,
        backoff: float = 0.5,
        cache: Path | None = None,
        capabilities: Capabilities | None = None,
    ) -> None:
        self.transport = Transport(url, key_for(url) if key is None else key, retries=retries, backoff=backoff)
        self.url = self.transport.url
        self._name = name
        self._cache = cache
        self._known = capabilities
        self._refuses_schema = False

    @property
    def name(self) -> str:
        """The model's name at the endpoint.

        Raises:
            ConfigError: none was given and the endpoint lists several.
            ModelError: the endpoint can't be asked.
        """
        if not self._name:
            listed = self.listed()
            if len(listed) != 1:
                offers = ", ".join(listed) or "none"
                raise ConfigError(f"{self.url} offers several models or none; name one of: {offers}")
            self._name = listed[0]
        return self._name

    @property
    def fingerprint(self) -> Fingerprint:
        """Name and address; the weights of a remote model can't be seen."""
        return Fingerprint(model=self.name, backend=self.url, hosted=True)

    def capabilities(self) -> Capabilities:
        """As given, as kept from an earlier probe, or probed now."""
        if self._known is None:
            from handrail.language.probe import probed

            self._known = probed(self, self._cache)
        if self._refuses_schema and self._known.json_schema:
            self._known = replace(self._known, json_schema=False)
        return self._known

    def close(self) -> None:
        """Close connections."""
        self.transport.close()

    def listed(self, timeout: float = 20.0) -> list[str]:
        """Names of the models that the endpoint offers.

        Raises:
            ModelError: it can't be asked.
        """
        data = self.transport.get("/models", Call(timeout)).get("data")
        if not isinstance(data, list):
            raise ModelAnswerError(f"{self.url}/models lists no models")
        return [str(m["id"]) for m in data if isinstance(m, Mapping) and "id" in m]

    def ask(self, request: Request, call: Call) -> Reply:
        """One request; several threads may ask at once.

        Raises:
            ModelError: see `Transport.post`; `IncapableError` for what the endpoint can't do.
        """
        if isinstance(request, ChatRequest):
            return self._write(request, call)
        if isinstance(request, LikelihoodRequest):
            return self._score(request, call)
        return self._next(request, call)

    def _write(self, request: ChatRequest, call: Call) -> Answer:
        body = wire.chat_body(self.name, request)
        held = False
        if isinstance(request, JsonRequest):
            held = not self._refuses_schema
            if held:
                body["response_format"] = wire.schema_format(request)
            else:
                body["messages"] = _told(request)
        try:
            answer = self._choices("/chat/completions", body, call)
        except ModelRefusedError as error:
            if not held or not _about_schema(error):
                raise
            # Such endpoints stay useful: the schema is told instead, and `Answer.constrained` says so.
            self._refuses_schema = True
            return self._write(request, call)
        seconds = time.monotonic() - call.began
        return wire.written(answer, seconds, self.fingerprint.digest, held)

    def _choices(self, path: str, body: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Post; an answer without choices is asked for once more."""
        answer = self.transport.post(path, body, call)
        if not answer.get("choices") and self.transport.retries:
            answer = self.transport.post(path, body, call)
        wire.choice(answer)
        return answer

    def _next(self, request: LettersRequest, call: Call) -> LetterScores:
        can = self.capabilities()
        if not can.letters:
            raise self.cannot(request)
        tokens = wire.next_tokens(self.first_token(request.prompt, can.top_logprobs, call))
        if not tokens:
            raise ModelAnswerError(f"{self.url} listed no next tokens, though its probe said it does")
        return letter_scores(request.labels, tokens, complete=False)

    def first_token(self, prompt: Prompt, top: int, call: Call, **more: Any) -> dict[str, Any]:
        """The raw answer of one greedy token with its `top` alternatives."""
        body: dict[str, Any] = {"model": self.name, "max_tokens": 1, "temperature": 0, **more}
        if isinstance(prompt, str):
            body["prompt"] = prompt
            try:
                return self._choices("/completions", {**body, "logprobs": top}, call)
            except ModelRefusedError as error:
                if top <= _OLD_LIMIT or error.status not in (400, 422):
                    raise
                # the older interface lists fewer than the chat one; the bound on unseen tokens covers the rest
                return self._choices("/completions", {**body, "logprobs": _OLD_LIMIT}, call)
        listed = {"messages": wire.messages(prompt), "logprobs": True, "top_logprobs": top}
        return self._choices("/chat/completions", {**body, **listed}, call)

    def _score(self, request: LikelihoodRequest, call: Call) -> tuple[TextScore, ...]:
        can = self.capabilities()
        if not can.likelihoods:
            raise self.cannot(request)
        text = self._text(request.prompt, call)
        scores: dict[str, TextScore] = {}
        if can.likelihoods == "echo":
            for option in request.texts:
                scores[option] = scores.get(option) or self._echo(text, option, call)
            return tuple(scores[option] for option in request.texts)
        template = not isinstance(request.prompt, str)
        prompt = self.tokenise(text, call, add=not template, parse=template)
        for option in request.texts:
            if option not in scores:
                scores[option] = self._force(can, prompt, text, option, template, call)
        return tuple(scores[option] for option in request.texts)

    def _echo(self, prompt: str, option: str, call: Call) -> TextScore:
        body = {"model": self.name, "prompt": prompt + option, "max_tokens": 1, "temperature": 0}
        answer = self._choices("/completions", {**body, "echo": True, "logprobs": 1}, call)
        logprob, tokens = wire.echoed(answer, prompt, option)
        return TextScore(option, logprob, tokens)

    def _force(
        self, can: Capabilities, prompt: list[int], text: str, option: str, template: bool, call: Call
    ) -> TextScore:
        ids = self.tokenise(option, call, add=False, parse=False)
        if not template:
            joined = self.tokenise(text + option, call, add=True, parse=False)
            if joined[: len(prompt)] == prompt and len(joined) > len(prompt):
                ids = joined[len(prompt) :]

        def complete(body: Mapping[str, Any]) -> Mapping[str, Any]:
            return self.transport.post("/completions", {"model": self.name, **body}, call)

        logprob = forced.forced(complete, prompt, ids) if can.likelihoods == "forced" else None
        if logprob is None:
            logprob = forced.stepwise(complete, prompt, ids)
        return TextScore(option, logprob, len(ids))

    def tokenise(self, text: str, call: Call, *, add: bool, parse: bool) -> list[int]:
        """Token ids by the server's own `/tokenize` (llama.cpp's, or vLLM's).

        Raises:
            IncapableError: it has none.
        """
        body = {
            "content": text, "model": self.name, "prompt": text, "add_special": add, "add_special_tokens": add,
            "parse_special": parse,
        }  # fmt: skip
        try:
            tokens = self.transport.post("//tokenize", body, call).get("tokens")
        except (ModelRefusedError, ModelAnswerError) as error:
            raise IncapableError(f"{self.url} does not show how it cuts texts into tokens: {error}") from error
        if not isinstance(tokens, list) or not all(isinstance(t, int) for t in tokens):
            raise IncapableError(f"{self.url} does not show how it cuts texts into tokens")
        return tokens

    def _text(self, prompt: Prompt, call: Call) -> str:
        if isinstance(prompt, str):
            return prompt
        try:
            text = self.transport.post("//apply-template", {"messages": wire.messages(prompt)}, call).get("prompt")
        except (ModelRefusedError, ModelAnswerError) as error:
            raise IncapableError(
                f"{self.url} does not show its chat template; score texts after a plain prompt"
            ) from error
        if not isinstance(text, str):
            raise IncapableError(f"{self.url} does not show its chat template; score texts after a plain prompt")
        return text


def _told(request: JsonRequest) -> list[dict[str, str]]:
    schema = json.dumps(dict(request.schema), sort_keys=True)
    rule = f"Answer with one JSON object and nothing else. It keeps to this JSON Schema: {schema}"
    first, *rest = request.messages
    if first.role == "system":  # many chat templates allow only one
        return wire.messages((Message("system", f"{first.content}\n\n{rule}"), *rest))
    return wire.messages((Message("system", rule), *request.messages))


def _about_schema(error: ModelRefusedError) -> bool:
    said = str(error).lower()
    return error.status in (400, 404, 415, 422, 501) and any(
        word in said for word in ("response_format", "json_schema", "schema", "grammar", "structured")
    )
