"""A language model in this process: llama.cpp through xllamacpp, on the CPU, without a network.

Scores are a function of the request alone. llama.cpp's quantised sums depend on how a prompt was cut into batches, and
so on what happened to be cached; here every prompt is evaluated afresh in one go, then kept for its own options, so
that five options cost one prompt evaluation.
"""

from __future__ import annotations

import importlib.metadata
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handrail.errors import ConfigError, MissingExtra
from handrail.language import forced, weights
from handrail.language.faults import ModelAnswerError, ModelCancelledError, ModelRefusedError, ModelTimeoutError
from handrail.language.inert import inert
from handrail.language.model import Call, Model
from handrail.language.records import (
    Answer,
    Capabilities,
    ChatRequest,
    Fingerprint,
    Finish,
    JsonRequest,
    LetterScores,
    LettersRequest,
    LikelihoodRequest,
    Prompt,
    Reply,
    Request,
    TextScore,
    letter_scores,
)

_TOP = 256


class Embedded(Model):
    """An embedded model; loading takes under a second for a small one.

    Args:
        path: a GGUF file of your own; None takes the known model `name`, verified by its sha256.
        name: a known model's name.
        context: tokens of prompt and answer together at most.
        threads: of the CPU; more than the free cores make every call crawl.
        reuse: keep evaluated prompts between calls. Faster where prompts share a beginning, but scores then depend on
            the calls before by up to about 0.1 nat, so the fingerprint differs.

    Raises:
        MissingExtra: xllamacpp is not installed.
        ModelError: the model file is missing or not the one it should be.
        ConfigError: an argument is out of range.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        name: str = weights.DEFAULT,
        context: int = 4096,
        threads: int = 1,
        reuse: bool = False,
    ) -> None:
        if context < 64:
            raise ConfigError(f"a context of {context} tokens is too short; at least 64")
        if not 1 <= threads <= 256:
            raise ConfigError(f"threads must lie in 1..256, got {threads}")
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingExtra("the embedded language model", "local", "xllamacpp") from error
        file = Path(path) if path is not None else weights.verified(name)
        if not file.is_file():
            raise ConfigError(f"there is no model file {file}")
        self.context, self.reuse = context, reuse
        self._lock = threading.Lock()
        self._ids: dict[str, list[int]] = {}
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(file)
        parameters.model_alias = {name if path is None else file.stem}
        parameters.n_ctx = context
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
        parameters.verbosity = -1
        parameters.warmup = False
        try:
            self._server: Any = xllamacpp.Server(parameters)
        except Exception as error:
            raise ModelRefusedError(f"llama.cpp can't load {file}: {error}") from error
        self.address = str(self._server.listening_address)
        about = self._http("/v1/models", None)["data"][0]["meta"]
        self.vocabulary = int(about["n_vocab"])
        build = importlib.metadata.version("xllamacpp")
        self._fingerprint = Fingerprint(
            model=name if path is None else file.stem,
            weights=weights.sha256(file),
            quantisation=str(about.get("ftype", "")),
            backend=f"xllamacpp {build}, {xllamacpp.get_system_info().strip()}",
            threads=threads,
            batching=f"one slot, prompt {'reused' if reuse else 'afresh'}, batch {parameters.n_batch}",
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """Weights by sha256, quantisation, build with CPU features, threads and batching."""
        return self._fingerprint

    def capabilities(self) -> Capabilities:
        """Everything: exact likelihoods, the whole vocabulary, grammars."""
        return Capabilities(
            chat=True, json_schema=True, likelihoods="forced", top_logprobs=self.vocabulary, logit_bias="pre",
            tokenise=True,
        )  # fmt: skip

    def close(self) -> None:
        """Unload the model; the object can't be used afterwards."""
        with self._lock:
            self._server = None

    def ask(self, request: Request, call: Call) -> Reply:
        """One request at a time; others wait their turn within their own time-out.

        Raises:
            ModelRefusedError: the prompt is longer than the context.
            ModelTimeoutError: the time was up; evaluating a prompt is not interrupted, only what follows it.
            ModelCancelledError: cancelled, with the same grain.
        """
        self._enter(call)
        try:
            if self._server is None:
                raise ModelRefusedError("the embedded model was closed")
            if isinstance(request, ChatRequest):
                return self._write(request, call)
            if isinstance(request, LikelihoodRequest):
                return self._score(request, call)
            return self._next(request, call)
        finally:
            self._lock.release()

    def tokenise(self, text: str, *, special: bool = False) -> list[int]:
        """Token ids of a text.

        Args:
            text: any.
            special: read special tokens as such and begin with the model's start token, as for a whole prompt.
        """
        if special:
            return self._tokens(text, add=True, parse=True)
        return self._tokens(text, add=False, parse=False)

    def _enter(self, call: Call) -> None:
        while not self._lock.acquire(timeout=min(0.05, max(call.left, 0.001))):
            call.check()

    def _write(self, request: ChatRequest, call: Call) -> Answer:
        prompt = self._prompt(request.messages)
        body: dict[str, Any] = {
            "prompt": prompt, "n_predict": request.max_tokens, "temperature": request.temperature,
            "seed": request.seed, "stop": list(request.stop), "cache_prompt": self.reuse,
        }  # fmt: skip
        if isinstance(request, JsonRequest):
            # Compact JSON: without this the grammar lets a weak model emit blanks until its tokens run out.
            body["json_schema"] = {**request.schema, "x-guidance": {"whitespace_flexible": False}}
        pieces: list[str] = []
        last: Mapping[str, Any] = {}
        tokens = 0
        for chunk in self._stream(body, call):
            last = chunk
            choice = chunk["choices"][0]
            pieces.append(str(choice.get("text") or ""))
            tokens += 1
        usage = last.get("usage") or {}
        reason = last["choices"][0].get("finish_reason") if last else None
        finish: Finish = reason if reason in ("stop", "length") else "unknown"
        return Answer(
            text="".join(pieces),
            tokens=int(usage.get("completion_tokens", tokens)),
            prompt_tokens=int(usage.get("prompt_tokens", len(prompt))),
            seconds=time.monotonic() - call.began,
            fingerprint=self._fingerprint.digest,
            finish=finish,
            constrained=isinstance(request, JsonRequest),
        )

    def _score(self, request: LikelihoodRequest, call: Call) -> tuple[TextScore, ...]:
        text = self._text(request.prompt)
        prompt = self._whole(request.prompt, text)
        ids = {option: self._continuation(request.prompt, text, prompt, option) for option in request.texts}
        self._fit(len(prompt) + max(map(len, ids.values())))
        # Evaluate the prompt once; each option below then starts from it.
        self._complete({"prompt": prompt, "n_predict": 1, "temperature": 0, "cache_prompt": self.reuse})
        scores: dict[str, TextScore] = {}
        for option, wanted in ids.items():
            call.check()
            logprob = forced.forced(self._complete, prompt, wanted)
            if logprob is None:
                logprob = forced.stepwise(self._complete, prompt, wanted)
            scores[option] = TextScore(option, logprob, len(wanted))
        return tuple(scores[option] for option in request.texts)

    def _next(self, request: LettersRequest, call: Call) -> LetterScores:
        prompt = self._whole(request.prompt, self._text(request.prompt))
        top = self._list(prompt, _TOP, self.reuse)
        found = {token.token.strip() for token in top}
        if all(label.strip() in found for label in request.labels):
            return letter_scores(request.labels, top, complete=False)
        call.check()
        # A label is not among the likeliest: list the whole vocabulary, evaluated afresh in the same way.
        return letter_scores(request.labels, self._list(prompt, self.vocabulary, self.reuse), complete=True)

    def _list(self, prompt: list[int], top: int, reuse: bool) -> list[Any]:
        body = {"prompt": prompt, "n_predict": 1, "temperature": 0, "n_probs": top, "cache_prompt": reuse}
        return list(forced.next_tokens(self._complete(body)))

    def _text(self, prompt: Prompt) -> str:
        if isinstance(prompt, str):
            return prompt
        messages = [{"role": m.role, "content": inert(m.content)} for m in prompt]
        return str(self._http("/apply-template", {"messages": messages})["prompt"])

    def _prompt(self, prompt: Prompt) -> list[int]:
        return self._whole(prompt, self._text(prompt))

    def _whole(self, prompt: Prompt, text: str) -> list[int]:
        """Ids of a prompt: plain text is never read as special tokens, a template's own text is."""
        template = not isinstance(prompt, str)
        ids = self._tokens(text, add=not template, parse=template)
        self._fit(len(ids) + 1)
        if not ids:
            raise ModelRefusedError("an empty prompt")
        return ids

    def _continuation(self, prompt: Prompt, text: str, before: list[int], option: str) -> list[int]:
        """Ids of an option after the prompt, as the model would cut the two together where that keeps the prompt."""
        template = not isinstance(prompt, str)
        if not template:
            joined = self._tokens(text + option, add=True, parse=False)
            if joined[: len(before)] == before and len(joined) > len(before):
                return joined[len(before) :]
        return self._tokens(option, add=False, parse=False)

    def _fit(self, tokens: int) -> None:
        if tokens > self.context:
            raise ModelRefusedError(f"{tokens} tokens are more than the context of {self.context}; shorten the prompt")

    def _tokens(self, text: str, *, add: bool, parse: bool) -> list[int]:
        body = {"content": text, "add_special": add, "parse_special": parse}
        return [int(i) for i in self._http("/tokenize", body)["tokens"]]

    def _complete(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = self._server.handle_completions(dict(body))
        return _unless_error(answer)

    def _stream(self, body: Mapping[str, Any], call: Call) -> list[Mapping[str, Any]]:
        """Generate piece by piece, so that a cancel or the end of the time stops it."""
        chunks: list[Mapping[str, Any]] = []
        stopped: list[Exception] = []

        def take(chunk: Any) -> bool:
            chunks.extend(chunk if isinstance(chunk, list) else [chunk])
            try:
                call.check()
            except (ModelTimeoutError, ModelCancelledError) as error:
                stopped.append(error)
                return True
            return False

        answer = self._server.handle_completions({**body, "stream": True}, take)
        if stopped:
            raise stopped[0]
        if isinstance(answer, dict):
            _unless_error(answer)
        for chunk in chunks:
            _unless_error(chunk)
        if not chunks:
            raise ModelAnswerError("llama.cpp gave no answer")
        return chunks

    def _http(self, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """Tokenising and templates are only offered over the in-process server's loopback address."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - a loopback address that this object made
            self.address + path, data, {"Content-Type": "application/json"}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                answer = json.load(response)
        except (urllib.error.URLError, ValueError, TimeoutError) as error:
            raise ModelAnswerError(f"the in-process llama.cpp server failed at {path}: {error}") from error
        if not isinstance(answer, dict):
            raise ModelAnswerError(f"the in-process llama.cpp server answered {path} with no object")
        return answer


def _unless_error(answer: Any) -> Mapping[str, Any]:
    if not isinstance(answer, Mapping):
        raise ModelAnswerError(f"llama.cpp gave {type(answer).__name__} instead of an answer")
    error = answer.get("error")
    if error:
        what = error if isinstance(error, Mapping) else {"message": str(error)}
        raise ModelRefusedError(f"llama.cpp refused: {what.get('message')}", int(what.get("code") or 0))
    return answer


def available() -> str:
    """'' when the embedded model can be used, else the command that is missing."""
    try:
        importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        return "pip install 'handrail[local]'"
    return "" if weights.locate() else "handrail model pull"
