"""The OpenAI interface as servers really speak it: bodies out, both shapes of log-probabilities in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.language.faults import ModelAnswerError
from handrail.language.inert import inert
from handrail.language.records import Answer, ChatRequest, Finish, JsonRequest, Message, TokenScore

_FINISH: dict[str, Finish] = {
    "stop": "stop", "eos": "stop", "length": "length", "max_tokens": "length", "content_filter": "filter",
}  # fmt: skip


def chat_body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The body of a chat request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }
    if request.stop:
        body["stop"] = list(request.stop)
    return body


def messages(turns: Sequence[Message]) -> list[dict[str, str]]:
    """A conversation in which no content can open a turn of its own."""
    return [{"role": m.role, "content": inert(m.content)} for m in turns]


def schema_format(request: JsonRequest) -> dict[str, Any]:
    """The `response_format` that asks to be held to the schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(request.schema)}}


def choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice.

    Raises:
        ModelAnswerError: there is none.
    """
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelAnswerError("the endpoint's answer has no choices")
    first: Mapping[str, Any] = choices[0]
    return first


def written(answer: Mapping[str, Any], seconds: float, fingerprint: str, constrained: bool) -> Answer:
    """A chat answer.

    Raises:
        ModelAnswerError: no choice, or no text in it.
    """
    first = choice(answer)
    message = first.get("message")
    text = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(text, str):
        refusal = message.get("refusal") if isinstance(message, Mapping) else None
        if isinstance(refusal, str) and refusal:
            return Answer(refusal, 0, 0, seconds, fingerprint, "filter")
        raise ModelAnswerError("the endpoint's answer holds no text")
    given = answer.get("usage")
    usage: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    return Answer(
        text,
        _count(usage.get("completion_tokens")),
        _count(usage.get("prompt_tokens")),
        seconds,
        fingerprint,
        _FINISH.get(str(first.get("finish_reason")), "unknown"),
        constrained,
    )


def next_tokens(answer: Mapping[str, Any]) -> list[TokenScore]:
    """The listed next tokens at the first generated place, from either shape of log-probabilities.

    The chat shape is `logprobs.content[0].top_logprobs: [{token, logprob}]`; the older one of completions is
    `logprobs.top_logprobs: [{token: logprob}]`.

    Raises:
        ModelAnswerError: no log-probabilities, or not numbers.
    """
    given = choice(answer).get("logprobs")
    if not isinstance(given, Mapping):
        raise ModelAnswerError("the endpoint's answer has no log-probabilities, though they were asked for")
    try:
        if given.get("content"):
            top = given["content"][0].get("top_logprobs") or []
            return [TokenScore(str(t["token"]), number(t["logprob"])) for t in top]
        listed = given.get("top_logprobs") or []
        return [TokenScore(str(t), number(p)) for t, p in listed[0].items()] if listed else []
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ModelAnswerError(f"the endpoint's log-probabilities can't be read ({error!r})") from error


def echoed(answer: Mapping[str, Any], prompt: str, text: str) -> tuple[float, int]:
    """Log-probability and number of tokens of `text` from an answer that echoes prompt and text in the older shape.

    Raises:
        ModelAnswerError: no echo, or a token lies across the border between prompt and text.
    """
    given = choice(answer).get("logprobs")
    if not isinstance(given, Mapping):
        raise ModelAnswerError("the endpoint does not echo log-probabilities")
    try:
        tokens, values, starts = given["tokens"], given["token_logprobs"], given["text_offset"]
        base = starts[0]
        border, end = len(prompt), len(prompt) + len(text)
        inside = [i for i, at in enumerate(starts) if border <= at - base < end]
        if not inside or starts[inside[0]] - base != border or sum(len(tokens[i]) for i in inside) != len(text):
            raise ModelAnswerError("a token lies across the border between prompt and text")
        return math.fsum(number(values[i]) for i in inside), len(inside)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelAnswerError(f"the endpoint does not echo log-probabilities ({error!r})") from error


def number(value: Any) -> float:
    """A log-probability.

    Raises:
        ValueError: not a number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is no log-probability")
    result = float(value)
    if math.isnan(result):
        raise ValueError("a log-probability is not a number")
    return result


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
