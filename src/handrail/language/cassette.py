"""Record a model's answers and play them back, keyed by the exact request.

A cassette is a file of JSON lines: a head with the model's fingerprint and capabilities, then one line per request.
Playing back needs neither the model nor a network; a request that was not recorded is an error, never a guess. Keys
and tokens never enter a request; texts that look like one are redacted before they are written all the same.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from handrail.errors import ModelError, ParseError, Where
from handrail.language.faults import MissError
from handrail.language.model import Call, Model
from handrail.language.records import (
    Answer,
    Capabilities,
    Fingerprint,
    LetterScores,
    Reply,
    Request,
    TextScore,
    TokenScore,
    canonical,
    data_of,
    kind_of,
)

Mode = Literal["replay", "record", "cache"]
FORMAT = 1

_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|github_pat|glpat|AKIA|AIza|xox[abp])[-_A-Za-z0-9]{16,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/=-]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|\b[Aa]pi[-_ ]?[Kk]ey[\"']?\s*[:=]\s*[\"']?[A-Za-z0-9._-]{8,}"
)


def redact(text: str) -> str:
    """The text with anything that looks like a key, bearer token or JWT replaced by `[redacted]`."""
    return _SECRET.sub("[redacted]", text)


def request_key(request: Request) -> str:
    """Names a request: sha256 of its kind and canonical form, after redaction."""
    return hashlib.sha256(f"{kind_of(request)} {redact(canonical(request))}".encode()).hexdigest()[:32]


class Cassette(Model):
    """A recording, with or without the model behind it.

    Args:
        path: the file; a name that ends in `.gz` is compressed.
        inner: the model to record; None to play back only.
        mode: 'replay' asks no model; 'record' asks for everything anew and starts the file over; 'cache' plays back
            what is there and records what is not.

    Raises:
        ModelError: replay without a file, recording without a model, or a cache made with another model.
        ParseError: the file is damaged.
    """

    def __init__(self, path: Path | str, inner: Model | None = None, mode: Mode = "replay") -> None:
        self.path = Path(path)
        self.inner = inner
        self.mode = mode
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self._seconds: dict[str, float] = {}
        self.hits = self.misses = 0
        self.saved = 0.0
        """Seconds that the model took for what was played back instead, in all."""
        if mode != "replay" and inner is None:
            raise ModelError(f"to {mode} a cassette a model is needed")
        head = None if mode == "record" else self._load()
        if head is None:
            if inner is None:
                raise ModelError(f"there is no recording {self.path}")
            self._fingerprint, self._capabilities = inner.fingerprint, inner.capabilities()
            self._begin()
        else:
            self._fingerprint, self._capabilities = head
            if inner is not None and inner.fingerprint != self._fingerprint:
                raise ModelError(
                    f"{self.path} was recorded with {self._fingerprint.model} ({self._fingerprint.digest}), "
                    f"not {inner.fingerprint.model} ({inner.fingerprint.digest}); use another file"
                )

    @property
    def fingerprint(self) -> Fingerprint:
        """The recorded model's."""
        return self._fingerprint

    def capabilities(self) -> Capabilities:
        """The recorded model's."""
        return self._capabilities

    def __len__(self) -> int:
        return len(self._replies)

    def ask(self, request: Request, call: Call) -> Reply:
        """From the recording, or from the model where the mode allows it.

        Raises:
            MissError: not recorded, and there is no model to ask.
        """
        call.check()
        key = request_key(request)
        with self._lock:
            known = self._replies.get(key)
            if known is not None:
                self.hits += 1
                self.saved += self._seconds.get(key, 0.0)
                return known
            self.misses += 1
        if self.inner is None or self.mode == "replay":
            raise MissError(
                f"{self.path.name} holds no answer to this {kind_of(request)} request ({key}); it holds "
                f"{len(self._replies)} others. Record it again with the model {self._fingerprint.model!r}: "
                f"{redact(canonical(request))[-160:]}"
            )
        began = time.monotonic()
        reply = self.inner.ask(request, call)
        seconds = round(time.monotonic() - began, 4)
        with self._lock:
            if key not in self._replies:
                self._replies[key], self._seconds[key] = reply, seconds
                record = {"key": key, "kind": kind_of(request), "request": data_of(request), "reply": data_of(reply)}
                self._append({**record, "seconds": seconds})
        return reply

    def requests(self) -> list[tuple[str, dict[str, Any], Reply]]:
        """(kind, request as data, reply) of everything recorded, in the file's order.

        Raises:
            ParseError: the file is damaged.
        """
        out = []
        with self._lock, self._open("rt") as stream:
            next(stream)
            for line in stream:
                record = json.loads(line)
                out.append((str(record["kind"]), record["request"], self._replies[record["key"]]))
        return out

    def compact(self) -> Path:
        """Write the file anew in one piece, which compresses far better than many appended ones."""
        with self._lock:
            with self._open("rt") as stream:
                text = stream.read()
            part = self.path.with_name(f"{self.path.name}.part")
            if self.path.suffix == ".gz":
                with part.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                    packed.write(text.encode())
            else:
                part.write_text(text, encoding="utf-8")
            part.replace(self.path)
        return self.path

    def close(self) -> None:
        """Close the model behind it."""
        if self.inner is not None:
            self.inner.close()

    def _begin(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self._append({
            "cassette": FORMAT,
            "fingerprint": data_of(self._fingerprint),
            "capabilities": data_of(self._capabilities),
        })  # fmt: skip

    def _append(self, record: Mapping[str, Any]) -> None:
        line = redact(json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)) + "\n"
        with self._open("at") as stream:
            stream.write(line)

    def _open(self, mode: Literal["rt", "at"]) -> Any:
        if self.path.suffix == ".gz":
            return gzip.open(self.path, mode, encoding="utf-8")
        return self.path.open(mode, encoding="utf-8")

    def _load(self) -> tuple[Fingerprint, Capabilities] | None:
        if not self.path.is_file():
            return None
        head: tuple[Fingerprint, Capabilities] | None = None
        number = 0
        try:
            with self._open("rt") as stream:
                for number, line in enumerate(stream, 1):
                    record = json.loads(line)
                    if number == 1:
                        head = _head(record)
                    else:
                        self._replies[record["key"]] = reply_of(record["kind"], record["reply"])
                        self._seconds[record["key"]] = float(record.get("seconds", 0.0))
        except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError) as error:
            raise ParseError(f"not a cassette, or a damaged one: {error}", Where(str(self.path), number)) from error
        return head


def _head(record: Any) -> tuple[Fingerprint, Capabilities]:
    if record.get("cassette") != FORMAT:
        raise ValueError(f"format {record.get('cassette')!r}; this version reads {FORMAT}")
    can = record["capabilities"]
    for name in ("letter_bias", "notes"):
        can[name] = tuple(can[name])
    return Fingerprint(**record["fingerprint"]), Capabilities(**can)


def reply_of(kind: str, data: Any) -> Reply:
    """A reply from its JSON-ready data."""
    if kind in ("chat", "json"):
        return Answer(**data)
    if kind == "likelihoods":
        return tuple(TextScore(s["text"], _number(s["logprob"]), int(s["tokens"])) for s in data)
    tokens = tuple(TokenScore(t["token"], _number(t["logprob"])) for t in data["tokens"])
    return LetterScores(tuple(data["labels"]), tokens, bool(data["complete"]), _number(data["unseen"]))


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError("a recorded log-probability is not a number")
    return number
