"""Scenarios: a request in a scene, what could be meant by it, and what the person does mean."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handrail.domain.option import NOT_LISTED, Option
from handrail.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Scenario:
    """One decision to be made, with its truth.

    Attributes:
        key: names it within its suite.
        suite: which generator or file it is from.
        category: the kind of ambiguity.
        scene: what is there, as a phrase: "a cola, an apple and a metal bowl".
        request: the person's words.
        candidates: everything that could be meant, by meaning; without the not-listed option.
        intent: key of what this person means; the not-listed key where it is none of the candidates.
        acceptable: keys of all that this person would be content with; holds the intent, or nothing where it is none.
        done: what was done before, as texts, oldest first.
        episode: the episode it is a step of, or "".
    """

    key: str
    suite: str
    category: str
    scene: str
    request: str
    candidates: tuple[Option, ...]
    intent: str
    acceptable: frozenset[str]
    done: tuple[str, ...] = ()
    episode: str = ""

    def __post_init__(self) -> None:
        keys = [o.key for o in self.candidates]
        if len(set(keys)) != len(keys):
            raise ConfigError(f"scenario {self.key}: two candidates of one meaning")
        if NOT_LISTED in keys:
            raise ConfigError(f"scenario {self.key}: the not-listed option is added later")
        if self.intent == NOT_LISTED:
            if self.acceptable:
                raise ConfigError(f"scenario {self.key}: nothing is acceptable where none of the candidates is meant")
        elif self.intent not in self.acceptable:
            raise ConfigError(f"scenario {self.key}: the intent must be acceptable")
        if not self.acceptable <= set(keys):
            missing = ", ".join(sorted(self.acceptable - set(keys)))
            raise ConfigError(f"scenario {self.key}: acceptable but no candidate: {missing}")

    def right(self, options: Sequence[Option]) -> list[int]:
        """Indices of the options that this person would accept; the not-listed one where no listed one would do."""
        listed = [i for i, o in enumerate(options) if o.key in self.acceptable]
        return listed or [i for i, o in enumerate(options) if o.is_not_listed]


class Episode(ABC):
    """Several decisions in a row; what comes next depends on what was done.

    Calibration walks it along correct actions (`handrail.decide.conformal.episode_score`).
    """

    key: str
    suite: str
    category: str

    @abstractmethod
    def at(self, done: Sequence[str]) -> Scenario | None:
        """The decision after these actions (option keys, oldest first); None when all is done."""


def rng_of(seed: int, *names: object) -> random.Random:
    """A random source that depends on a seed and on names, alike on every machine and version."""
    text = ":".join(str(n) for n in (seed, *names))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))  # noqa: S311


def listed(things: Iterable[str]) -> str:
    """'a cola, an apple and a bowl' from things with their articles."""
    items = list(things)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def article(noun: str) -> str:
    """The noun with 'a' or 'an'."""
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
