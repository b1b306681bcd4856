"""HTTP to an OpenAI-compatible endpoint: one deadline, capped retries, and a cancel that closes the connection.

The openai SDK carries the requests. Its client runs on an event loop in a thread of its own, because only there can
a request that hangs be ended at once from another thread; callers see plain blocking calls.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import math
import threading
import time
from collections.abc import Coroutine, Mapping
from typing import Any
from urllib.parse import urlsplit

from handrail.errors import ConfigError, MissingExtra, ModelError
from handrail.language.cassette import redact
from handrail.language.faults import ModelAnswerError, ModelRefusedError, ModelTimeoutError
from handrail.language.model import Call

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_POLL = 0.05
MAX_BODY = 32_000_000
"""Bytes of an answer at most; a server that sends without end is cut off."""


class Transport:
    """Posts JSON to one endpoint.

    Args:
        url: the base URL, such as `http://localhost:11434/v1`; http or https, without user name, query or fragment.
        key: the key to send; '' sends none that matters.
        retries: further tries after the first, 0..10.
        backoff: seconds before the second try, doubled each time up to `max_backoff`; a Retry-After header counts
            instead where it is given and not longer than `max_backoff`.
        max_backoff: seconds.

    Raises:
        ConfigError: an argument is out of range.
        MissingExtra: the openai SDK is not installed.
    """

    def __init__(
        self, url: str, key: str = "", *, retries: int = 3, backoff: float = 0.5, max_backoff: float = 8.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"a model endpoint is an http or https URL, not {url!r}")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ConfigError(
                "a model endpoint's URL has no user name, query or fragment; keys go into the environment"
            )
        if not 0 <= retries <= 10:
            raise ConfigError(f"retries must lie in 0..10, got {retries}")
        for name, value in (("backoff", backoff), ("max_backoff", max_backoff)):
            if not (math.isfinite(value) and 0 <= value <= 600):
                raise ConfigError(f"{name} must lie in 0..600 seconds, got {value}")
        try:
            import openai
        except ImportError as error:
            raise MissingExtra("an OpenAI-compatible endpoint", "endpoint", "openai") from error
        self._openai = openai
        self.url = url.rstrip("/")
        self.root = self.url.removesuffix("/v1")
        self.retries, self.backoff, self.max_backoff = retries, backoff, max_backoff
        self._key = key or "none"
        self._local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._guard = threading.Lock()
        self.sent = 0

    def post(self, path: str, body: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """POST under the base URL, or under the server's root where `path` begins with `//`; the answer's object.

        Raises:
            ModelTimeoutError: the call's time is up.
            ModelCancelledError: it was cancelled.
            ModelRefusedError: the server refuses (4xx), or keeps failing (429, 5xx) after all retries.
            ModelAnswerError: it answers with something else than a JSON object, or cuts its answer, after all retries.
            ModelError: it can't be reached after all retries.
        """
        return self._again(lambda: self._once("POST", path, body), call)

    def get(self, path: str, call: Call) -> dict[str, Any]:
        """GET, like `post`."""
        return self._again(lambda: self._once("GET", path, None), call)

    def close(self) -> None:
        """Close connections and end the thread."""
        with self._guard:
            loop, client = self._loop, self._client
            self._loop = self._client = None
        if loop is None:
            return
        if client is not None:
            asyncio.run_coroutine_threadsafe(client.close(), loop).result(timeout=5)
        loop.call_soon_threadsafe(loop.stop)

    def _again(self, attempt: Any, call: Call) -> dict[str, Any]:
        for tries in range(self.retries + 1):
            call.check()
            try:
                return self._wait(attempt(), call)
            except ModelTimeoutError:
                raise
            except _TransientError as error:
                if tries == self.retries:
                    raise error.final(tries + 1) from error
                pause = min(self.backoff * 2**tries, self.max_backoff)
                if error.after is not None:
                    if error.after > self.max_backoff or error.after >= call.left:
                        raise error.final(tries + 1) from error
                    pause = max(pause, error.after)
                self._pause(pause, call)
        raise AssertionError("unreachable")

    def _pause(self, seconds: float, call: Call) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            call.check()
            time.sleep(min(_POLL, max(0.0, end - time.monotonic())))

    def _wait(self, task: Coroutine[Any, Any, dict[str, Any]], call: Call) -> dict[str, Any]:
        """Run on the loop's thread and look up now and then for a cancel or the end of the time."""
        future = asyncio.run_coroutine_threadsafe(task, self._running())
        try:
            while True:
                try:
                    return future.result(timeout=min(_POLL, max(call.left, 0.001)))
                except concurrent.futures.TimeoutError:
                    if future.done():
                        raise
                    call.check()
        finally:
            future.cancel()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="handrail-endpoint", daemon=True).start()
            return self._loop

    async def _once(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        openai = self._openai
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self.url,
                max_retries=0,
                timeout=None,  # the call's own deadline counts
                default_headers={"Accept-Encoding": "identity"},
                http_client=openai.DefaultAsyncHttpxClient(
                    trust_env=not self._local, timeout=None, event_hooks={"response": [_limit]}
                ),
            )
        where = self.root + path[1:] if path.startswith("//") else self.url + path
        self.sent += 1
        try:
            content = await self._exchange(method, where, body)
        except openai.APIStatusError as error:
            raise self._status(error) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _TransientError(ModelError, f"can't reach {self.url}: {self._clean(cause)}") from error
        except _TooLongError as error:
            raise ModelAnswerError(f"{self.url} sent more than {MAX_BODY} bytes") from error
        return self._object(content)

    async def _exchange(self, method: str, where: str, body: Mapping[str, Any] | None) -> bytes:
        kind = self._openai.HttpxBinaryResponseContent
        if method == "POST":
            response = await self._client.post(where, cast_to=kind, body=dict(body or {}))
        else:
            response = await self._client.get(where, cast_to=kind)
        return bytes(response.content)

    def _status(self, error: Any) -> Exception:
        status = int(error.status_code)
        body = error.body
        said = body.get("message") if isinstance(body, dict) else None
        message = f"{self.url} answered {status}: {self._clean(said or body or error.message)}"
        if status in _AGAIN or status >= 500:
            return _TransientError(ModelRefusedError, message, status, _retry_after(error.response.headers))
        if status in (401, 403):
            message += " (is the key right? set HANDRAIL_API_KEY)"
        return ModelRefusedError(message, status)

    def _object(self, content: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            text = content[:80].decode("utf-8", "replace")
            what = "HTML" if text.lstrip()[:1] == "<" else "no JSON"
            message = f"{self.url} answered with {what}: {self._clean(text)!r}"
            raise _TransientError(ModelAnswerError, message) from error
        if not isinstance(answer, dict):
            message = f"{self.url} answered with {type(answer).__name__} instead of an object"
            raise _TransientError(ModelAnswerError, message)
        if answer.get("error"):
            fault = answer["error"]
            said = fault.get("message") if isinstance(fault, dict) else fault
            raise _TransientError(ModelAnswerError, f"{self.url} answered 200 with an error: {self._clean(said)}")
        return answer

    def _clean(self, said: Any) -> str:
        """What a server or library said, short, and without the key should it repeat it."""
        text = f"{type(said).__name__}: {said}" if isinstance(said, BaseException) else str(said)
        if len(self._key) >= 8:
            text = text.replace(self._key, "[redacted]")
        return redact(text)[:300]


class _TransientError(Exception):
    """A failure that may pass; `final` is what it becomes when it does not."""

    def __init__(self, kind: type[ModelError], message: str, status: int = 0, after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.status, self.after = kind, message, status, after

    def final(self, tries: int) -> ModelError:
        message = f"{self.message} ({tries} tries)" if tries > 1 else self.message
        if self.kind is ModelRefusedError:
            return ModelRefusedError(message, self.status)
        return self.kind(message)


class _TooLongError(Exception):
    pass


async def _limit(response: Any) -> None:
    """Cut off an answer that goes on for ever; a response hook of the HTTP client."""
    inner = response.stream
    # The SDK has moved from httpx to httpx2: take the stream class of whichever is in use.
    base: Any = next(c for c in type(inner).__mro__ if c.__name__ == "AsyncByteStream")

    class Limited(base):  # type: ignore[misc]
        async def __aiter__(self) -> Any:
            total = 0
            async for chunk in inner:
                total += len(chunk)
                if total > MAX_BODY:
                    raise _TooLongError
                yield chunk

        async def aclose(self) -> None:
            await inner.aclose()

    response.stream = Limited()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
