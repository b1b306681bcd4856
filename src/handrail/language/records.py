"""What is asked of a language model and what comes back: small frozen records.

A request holds everything that decides the answer and nothing else (no time-out, no key), so that its canonical form
can name a recording.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from handrail.errors import ConfigError

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filter", "unknown"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise ConfigError(f"a message's role is one of {', '.join(get_args(Role))}, not {self.role!r}")


Prompt = str | tuple[Message, ...]
"""A text to be continued, or a conversation that the model's own template turns into one."""


def prompt_of(prompt: str | Sequence[Message]) -> Prompt:
    """A prompt in its frozen form."""
    return prompt if isinstance(prompt, str) else tuple(prompt)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Write an answer.

    Attributes:
        messages: at least one.
        max_tokens: ≥ 1.
        temperature: ≥ 0; 0 takes the likeliest token each time.
        seed: for sampling where temperature > 0.
        stop: texts at which to end; they are not part of the answer.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.messages:
            raise ConfigError("a chat request needs at least one message")
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ConfigError(f"temperature must be a number of at least 0, got {self.temperature}")
        if any(not s for s in self.stop):
            raise ConfigError("an empty stop text would end every answer at once")


@dataclass(frozen=True, slots=True)
class JsonRequest(ChatRequest):
    """Write an answer that is JSON under a schema (JSON Schema as a mapping)."""

    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LikelihoodRequest:
    """How likely is each of some texts as the continuation of a prompt?"""

    prompt: Prompt
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts or any(not text for text in self.texts):
            raise ConfigError("likelihoods are asked of one or more non-empty texts")


@dataclass(frozen=True, slots=True)
class LettersRequest:
    """How likely is each label (a letter, say) as the very next token after a prompt?"""

    prompt: Prompt
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.labels or any(not label.strip() for label in self.labels):
            raise ConfigError("labels are one or more non-empty texts")
        if len(set(self.labels)) < len(self.labels):
            raise ConfigError(f"labels must differ from each other, got {', '.join(self.labels)}")


Request = ChatRequest | JsonRequest | LikelihoodRequest | LettersRequest
KINDS: dict[str, type[ChatRequest] | type[LikelihoodRequest] | type[LettersRequest]] = {
    "chat": ChatRequest,
    "json": JsonRequest,
    "likelihoods": LikelihoodRequest,
    "letters": LettersRequest,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A written answer.

    Attributes:
        text: exactly as it came.
        tokens: generated tokens; 0 where the endpoint does not say.
        prompt_tokens: tokens of the prompt; 0 where the endpoint does not say.
        seconds: wall time of the call, retries included.
        fingerprint: digest of the model's `Fingerprint`.
        finish: 'length' means that the answer was cut at max_tokens.
        constrained: the schema of a JSON request bound the model while it wrote; otherwise it was only told of it.
    """

    text: str
    tokens: int
    prompt_tokens: int
    seconds: float
    fingerprint: str
    finish: Finish
    constrained: bool = False


@dataclass(frozen=True, slots=True)
class TextScore:
    """Natural log-probability of a whole text after a prompt, and how many tokens it is (≥ 1)."""

    text: str
    logprob: float
    tokens: int

    @property
    def mean(self) -> float:
        """Log-probability per token."""
        return self.logprob / self.tokens


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token's text, spelling kept (' A' and 'A' are two), and its natural log-probability."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class LetterScores:
    """The likeliest next tokens, raw: all spellings of a label are for the reader to add up.

    Attributes:
        labels: what was asked for.
        tokens: likeliest first; a token text may occur twice (two ids may spell alike).
        complete: whether `tokens` is the whole vocabulary, so that what is not in it has no probability.
        unseen: natural log of an upper bound on the probability of *all* tokens together that are not in `tokens`;
            -inf where complete. One unseen token has at most exp(min(unseen, tokens[-1].logprob)).
    """

    labels: tuple[str, ...]
    tokens: tuple[TokenScore, ...]
    complete: bool
    unseen: float

    @property
    def unseen_each(self) -> float:
        """Natural log of an upper bound on the probability of any single token that is not in the list."""
        if self.complete:
            return -math.inf
        return min(self.unseen, self.tokens[-1].logprob) if self.tokens else self.unseen


def letter_scores(labels: tuple[str, ...], tokens: Sequence[TokenScore], complete: bool) -> LetterScores:
    """`LetterScores` with the bound computed from the listed mass.

    Log-probabilities that are positive by rounding are taken as they are; the listed mass is cut at 1.
    """
    ordered = tuple(sorted(tokens, key=lambda t: -t.logprob))
    mass = math.fsum(math.exp(min(0.0, t.logprob)) for t in ordered)
    # A top-k list is rounded: leave the bound a hair of room rather than claim that nothing is left.
    rest = max(1.0 - mass, 1e-7)
    return LetterScores(labels, ordered, complete, -math.inf if complete else math.log(rest))


Reply = Answer | tuple[TextScore, ...] | LetterScores


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What must stay the same for scores to stay comparable.

    Attributes:
        model: the model's name.
        weights: sha256 of the weights; '' where a host does not show them, and then `hosted` is set.
        quantisation: for instance 'Q4_1'.
        backend: program and build that computes.
        threads: 0 where not known.
        batching: how prompts are cut into batches; sums of quantised products depend on it.
        hosted: the weights can change without notice, so that canary prompts must be scored again.
    """

    model: str
    weights: str = ""
    quantisation: str = ""
    backend: str = ""
    threads: int = 0
    batching: str = ""
    hosted: bool = False

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that name all of it."""
        return hashlib.sha256(canonical(self).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model or endpoint really does, as far as probed.

    Attributes:
        chat: answers conversations.
        json_schema: keeps to a schema that it is given.
        likelihoods: how texts are scored: 'forced' (one request each), 'stepwise' (one request per token), 'echo'
            (log-probabilities of the prompt), '' (not at all).
        top_logprobs: how many next tokens it lists at most; 0 means none; the vocabulary's size means all.
        logit_bias: 'pre' (it steers, log-probabilities are those before the bias), 'post' (those after it),
            'none' (no effect), 'unknown'.
        tokenise: it shows how it cuts a text into tokens.
        letter_bias: for a question without content, each label's share, in order A, B, C ...; empty where unknown.
        notes: what the probe saw, in sentences.
    """

    chat: bool = True
    json_schema: bool = False
    likelihoods: Literal["forced", "stepwise", "echo", ""] = ""
    top_logprobs: int = 0
    logit_bias: Literal["pre", "post", "none", "unknown"] = "unknown"
    tokenise: bool = False
    letter_bias: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def letters(self) -> bool:
        """Whether next-token probabilities are given at all."""
        return self.top_logprobs > 0


def data_of(record: Any) -> Any:
    """A record as JSON-ready data: dataclasses become mappings, tuples lists, non-finite numbers texts."""
    if hasattr(record, "__dataclass_fields__"):
        return {f.name: data_of(getattr(record, f.name)) for f in fields(record)}
    if isinstance(record, Mapping):
        return {str(k): data_of(v) for k, v in record.items()}
    if isinstance(record, list | tuple):
        return [data_of(v) for v in record]
    if isinstance(record, float) and not math.isfinite(record):
        return repr(record)
    return record


def kind_of(request: Request) -> str:
    """'chat', 'json', 'likelihoods' or 'letters'."""
    return next(name for name, kind in KINDS.items() if type(request) is kind)


def canonical(record: Any) -> str:
    """The one JSON text of a record: sorted keys, no blanks."""
    return json.dumps(data_of(record), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
