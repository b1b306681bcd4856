"""The exact likelihood of a given text, from a server that only generates: make it generate just that text.

Two ways, both on llama.cpp's completion interface with its log-probabilities before any bias or grammar:

- *forced*: one request per text under a grammar of token ids. The ids that come back are compared, because the server
  drops a grammar that it can't follow and goes on unconstrained without a word.
- *stepwise*: one request per token, pushed onto the wanted id by a logit bias. Slower, and it always works.

Never force by a string: other tokenisations of the same string are accepted then, with far lower probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handrail.language.faults import ModelAnswerError
from handrail.language.records import TokenScore

Complete = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a body to the completion interface and gives its answer."""

_PUSH = 1e4


def grammar(ids: Sequence[int]) -> str:
    """An llguidance grammar that accepts exactly these token ids."""
    return "%llguidance {}\nstart: " + " ".join(f"<[{i}]>" for i in ids) + "\n"


def forced(complete: Complete, prompt: Sequence[int], ids: Sequence[int]) -> float | None:
    """Sum of the log-probabilities of `ids` after `prompt` in one request; None when the server left the track."""
    answer = complete({
        "prompt": list(prompt), "n_predict": len(ids), "temperature": 0, "n_probs": 1, "cache_prompt": True,
        "grammar": grammar(ids),
    })  # fmt: skip
    steps = generated(answer)[: len(ids)]
    if [step_id for step_id, _ in steps] != list(ids):
        return None
    return math.fsum(logprob for _, logprob in steps)


def stepwise(complete: Complete, prompt: Sequence[int], ids: Sequence[int]) -> float:
    """The same with one request per token.

    Raises:
        ModelAnswerError: the server generated another token in spite of the bias.
    """
    total = 0.0
    context = list(prompt)
    for wanted in ids:
        answer = complete({
            "prompt": context, "n_predict": 1, "temperature": 0, "n_probs": 1, "cache_prompt": True,
            "logit_bias": [[wanted, _PUSH]],
        })  # fmt: skip
        steps = generated(answer)
        if not steps or steps[0][0] != wanted:
            raise ModelAnswerError(f"the server does not keep to a logit bias: wanted token {wanted}, got {steps[:1]}")
        total += steps[0][1]
        context.append(wanted)
    return total


def generated(answer: Mapping[str, Any]) -> list[tuple[int, float]]:
    """(id, log-probability) of each generated token.

    Raises:
        ModelAnswerError: the answer has no such list.
    """
    try:
        content = answer["choices"][0]["logprobs"]["content"]
        return [(int(token["id"]), _number(token["logprob"])) for token in content]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelAnswerError(f"the answer carries no token ids with log-probabilities ({error!r})") from error


def next_tokens(answer: Mapping[str, Any]) -> list[TokenScore]:
    """The listed alternatives for the first generated token.

    Raises:
        ModelAnswerError: the answer has no such list.
    """
    try:
        top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return [TokenScore(str(token["token"]), _number(token["logprob"])) for token in top]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelAnswerError(f"the answer carries no list of next tokens ({error!r})") from error


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError("a log-probability is not a number")
    return number
