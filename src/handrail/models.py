"""Language models to choose from: `hr.models.embedded()`, `endpoint(...)`, `replay(...)`, `canned(...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import ConfigError

if TYPE_CHECKING:
    from handrail.language.canned import Canned, Scores
    from handrail.language.cassette import Cassette
    from handrail.language.embedded import Embedded
    from handrail.language.endpoint import Endpoint
    from handrail.language.model import Model
    from handrail.language.records import Message
    from handrail.language.watch import Recorder, Watched

__all__ = ["cached", "canned", "embedded", "endpoint", "named", "record", "replay", "watched"]


def embedded(path: str | Path | None = None, *, context: int = 4096, threads: int = 1, reuse: bool = False) -> Embedded:
    """The model in this process (SmolLM2-135M by default, see `handrail model pull`), or a GGUF file of your own.

    Args:
        path: a GGUF file; None takes the default model, verified by its sha256.
        context: tokens of prompt and answer together at most.
        threads: of the CPU; keep to the cores that are free.
        reuse: keep evaluated prompts between calls; faster, but scores then depend a little on earlier calls.

    Raises:
        MissingExtra: `pip install 'handrail[local]'` is needed.
        ModelError: the default model is not on this machine yet.
    """
    from handrail.language.embedded import Embedded

    return Embedded(path, context=context, threads=threads, reuse=reuse)


def endpoint(url: str, name: str = "", *, key: str | None = None, retries: int = 3) -> Endpoint:
    """A model behind any OpenAI-compatible URL: hosted, vLLM, Ollama, llama.cpp, a proxy.

    Args:
        url: the base URL, such as `http://localhost:11434/v1`.
        name: the model's name there; '' takes the only one that the endpoint lists.
        key: the API key; None takes $HANDRAIL_API_KEY (and $OPENAI_API_KEY for OpenAI's own host only).
        retries: further tries after a failure that may pass, 0..10.

    Raises:
        ConfigError: not such a URL.
        MissingExtra: `pip install 'handrail[endpoint]'` is needed.
    """
    from handrail.language.endpoint import Endpoint

    return Endpoint(url, name, key=key, retries=retries)


def replay(path: str | Path) -> Cassette:
    """The answers recorded in a cassette; a request that it does not hold is an error.

    Raises:
        ModelError: there is no such file.
        ParseError: it is damaged.
    """
    from handrail.language.cassette import Cassette

    return Cassette(path)


def record(path: str | Path, model: Model) -> Cassette:
    """A model whose answers are recorded in a new cassette."""
    from handrail.language.cassette import Cassette

    return Cassette(path, model, "record")


def cached(path: str | Path, model: Model) -> Cassette:
    """A model that is asked only for what the cassette does not hold yet."""
    from handrail.language.cassette import Cassette

    return Cassette(path, model, "cache")


def canned(
    answers: Sequence[str] | Callable[[tuple[Message, ...]], str] = (),
    *,
    scores: Scores | Mapping[str, float] | None = None,
    name: str = "canned",
) -> Canned:
    """A model whose answers and scores were written down before; for tests and demonstrations."""
    from handrail.language.canned import Canned

    return Canned(answers, scores=scores, name=name)


def watched(model: Model, recorder: Recorder) -> Watched:
    """A model that tells `recorder` about each request and answer."""
    from handrail.language.watch import Watched

    return Watched(model, recorder)


def named(text: str) -> Model:
    """A model from one line of configuration.

    Args:
        text: `embedded`, a path that ends in `.gguf`, `replay:FILE`, or `URL` or `URL#NAME` of an endpoint.

    Raises:
        ConfigError: none of these.
    """
    if text == "embedded":
        return embedded()
    if text.startswith("replay:"):
        return replay(text.removeprefix("replay:"))
    if text.startswith(("http://", "https://")):
        url, _, name = text.partition("#")
        return endpoint(url, name)
    if text.endswith(".gguf"):
        return embedded(text)
    raise ConfigError(f"{text!r} names no model. Valid: embedded, FILE.gguf, replay:FILE, http(s)://HOST/v1[#NAME]")
