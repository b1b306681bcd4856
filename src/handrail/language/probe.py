"""What an endpoint really does, found out by asking it; its documentation and its models list don't say.

Each answer is kept in a small file per endpoint and model, so that a later start asks nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from handrail.errors import HandrailError
from handrail.language import forced, weights, wire
from handrail.language.faults import ModelAnswerError, ModelCancelledError, ModelRefusedError, ModelTimeoutError
from handrail.language.model import Call, Model
from handrail.language.reading import read
from handrail.language.records import Capabilities, JsonRequest, LetterScores, Message, data_of

if TYPE_CHECKING:
    from handrail.language.endpoint import Endpoint

FORMAT = 1
_LIMITS = (100, 20, 10, 5, 1)
_LETTERS = ("A", "B", "C", "D", "E")
_MCQ = "Which option is correct?\nA) N/A\nB) N/A\nC) N/A\nD) N/A\nE) N/A\nAnswer with a single letter."
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["mauve", "teal"]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}


@dataclass(slots=True)
class _Probe:
    endpoint: Endpoint
    timeout: float
    notes: list[str] = field(default_factory=list)

    def call(self) -> Call:
        return Call(self.timeout)

    def attempt(self, what: str, act: Any) -> Any:
        """The result of one question, or None with a note where the endpoint can't answer it."""
        try:
            return act()
        except (ModelTimeoutError, ModelCancelledError):
            raise
        except HandrailError as error:
            self.notes.append(f"{what}: {str(error)[:200]}")
            return None


def probe(endpoint: Endpoint, timeout: float = 60.0) -> Capabilities:
    """Ask an endpoint what it does; about ten short requests.

    Args:
        endpoint: which.
        timeout: seconds for each request.

    Raises:
        ModelError: it can't be reached, refuses the key or the model's name, or takes too long.
    """
    name = endpoint.name
    p = _Probe(endpoint, timeout)
    hello = endpoint.transport.post(
        "/chat/completions",
        {"model": name, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4, "temperature": 0},
        p.call(),
    )
    wire.written(hello, 0.0, "", constrained=False)
    top = _top_logprobs(p)
    ids = p.attempt("tokenise", lambda: endpoint.tokenise(" yes", p.call(), add=False, parse=False))
    bias = _bias(p, ids[0] if ids else None)
    return Capabilities(
        chat=True,
        json_schema=_schema(p, name),
        likelihoods=_likelihoods(p, ids, bias),
        top_logprobs=top,
        logit_bias=bias,
        tokenise=bool(ids),
        letter_bias=_letter_bias(p, top),
        notes=tuple(p.notes),
    )


def probed(endpoint: Endpoint, cache: Path | None = None, *, refresh: bool = False) -> Capabilities:
    """The kept result of an earlier probe, or a new one, which is kept.

    Raises:
        ModelError: as `probe`.
    """
    path = _place(endpoint, cache)
    kept = None if refresh else _kept(path)
    if kept is not None:
        return kept
    found = probe(endpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "probe": FORMAT, "url": endpoint.url, "model": endpoint.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"), "capabilities": data_of(found),
    }  # fmt: skip
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(path)
    return found


def letter_shares(scores: LetterScores) -> tuple[float, ...]:
    """Each label's share of the probability on labels, all spellings added up; empty where none was listed."""
    sums = [
        math.fsum(math.exp(t.logprob) for t in scores.tokens if t.token.strip() == label.strip())
        for label in scores.labels
    ]
    total = math.fsum(sums)
    return tuple(s / total for s in sums) if total > 0 else ()


def letter_bias(model: Model, timeout: float = 60.0) -> tuple[float, ...]:
    """A model's shares of A..E for a question without content; 0.2 each would be no bias.

    Raises:
        ModelError: it failed or gives no next-token probabilities.
    """
    return letter_shares(model.letters((Message("user", _MCQ),), _LETTERS, timeout=timeout))


def _top_logprobs(p: _Probe) -> int:
    for limit in _LIMITS:
        try:
            answer = p.endpoint.first_token((Message("user", _MCQ),), limit, p.call())
            listed = len(wire.next_tokens(answer))
        except ModelRefusedError as error:  # beyond its limit: try a smaller one
            p.notes.append(f"top_logprobs={limit}: {str(error)[:120]}")
            continue
        except ModelAnswerError as error:
            p.notes.append(f"top_logprobs={limit}: {str(error)[:120]}")
            return 0
        if listed:
            return min(listed, limit)
    return 0


def _bias(p: _Probe, token: int | None) -> Literal["pre", "post", "none", "unknown"]:
    """Push one unlikely token: does it come out, and do the log-probabilities know of the push?"""
    if token is None:
        return "unknown"
    ask = (Message("user", "Count: one, two,"),)

    def pushed() -> Literal["pre", "post", "none", "unknown"]:
        plain = p.endpoint.first_token(ask, 5, p.call())
        before = _first(plain)
        answer = p.endpoint.first_token(ask, 5, p.call(), logit_bias={str(token): 100})
        text, logprob = _first(answer)
        if text == before[0]:
            return "none"
        return "post" if logprob > -0.1 else "pre"

    return p.attempt("logit_bias", pushed) or "unknown"


def _first(answer: dict[str, Any]) -> tuple[str, float]:
    logprobs = wire.choice(answer).get("logprobs")
    try:
        content = logprobs["content"][0]  # type: ignore[index]
        return str(content["token"]), wire.number(content["logprob"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelAnswerError(f"no log-probability of the generated token ({error!r})") from error


def _schema(p: _Probe, name: str) -> bool:
    """Ask for prose under a schema: only one that is enforced gives JSON."""
    request = JsonRequest((Message("user", "Write one line about the sea."),), max_tokens=60, schema=_SCHEMA)
    body = {**wire.chat_body(name, request), "response_format": wire.schema_format(request)}

    def held() -> bool:
        answer = p.endpoint.transport.post("/chat/completions", body, p.call())
        value = read(wire.written(answer, 0.0, "", constrained=True).text).plain()
        return isinstance(value, dict) and value.get("colour") in ("mauve", "teal") and isinstance(value["count"], int)

    return bool(p.attempt("json_schema", held))


def _likelihoods(p: _Probe, ids: list[int] | None, bias: str) -> Literal["forced", "stepwise", "echo", ""]:
    endpoint = p.endpoint

    def echo() -> bool:
        body = {"model": endpoint.name, "prompt": "The sea is blue", "max_tokens": 1, "temperature": 0}
        answer = endpoint.transport.post("/completions", {**body, "echo": True, "logprobs": 1}, p.call())
        return wire.echoed(answer, "The sea is", " blue")[1] >= 1

    if p.attempt("echo", echo):
        return "echo"
    if not ids or bias == "post":
        return ""

    def complete(body: Any) -> dict[str, Any]:
        return endpoint.transport.post("/completions", {"model": endpoint.name, **body}, p.call())

    def prompt() -> list[int]:
        return endpoint.tokenise("The sea is", p.call(), add=True, parse=False)

    def wanted() -> list[int]:
        return endpoint.tokenise(" not yes", p.call(), add=False, parse=False)

    if p.attempt("forced likelihoods", lambda: forced.forced(complete, prompt(), wanted())) is not None:
        return "forced"
    if p.attempt("stepwise likelihoods", lambda: forced.stepwise(complete, prompt(), wanted())) is not None:
        return "stepwise"
    return ""


def _letter_bias(p: _Probe, top: int) -> tuple[float, ...]:
    if not top:
        return ()

    def shares() -> tuple[float, ...]:
        answer = p.endpoint.first_token((Message("user", _MCQ),), top, p.call())
        return letter_shares(LetterScores(_LETTERS, tuple(wire.next_tokens(answer)), False, 0.0))

    return p.attempt("letter bias", shares) or ()


def _place(endpoint: Endpoint, cache: Path | None) -> Path:
    mark = hashlib.sha256(f"{endpoint.url} {endpoint.name}".encode()).hexdigest()[:24]
    return (cache or weights.cache_dir()) / "probes" / f"{mark}.json"


def _kept(path: Path) -> Capabilities | None:
    """An earlier result; a file that can't be read is as good as none, since asking again is cheap and safe."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["probe"] != FORMAT:
            return None
        can = record["capabilities"]
        return Capabilities(**{**can, "letter_bias": tuple(can["letter_bias"]), "notes": tuple(can["notes"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
