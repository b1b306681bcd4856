"""Options to choose among, and the numbers that scorers give them.

An option is one reading of what a person wants: a next step, a goal or a whole plan. What it *means* is
symbolic, so that two wordings of one thing are one option; what it *says* is what a person or a model reads.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from handrail.errors import ConfigError

NOT_LISTED = "not-listed"
"""Key of the option that stands for everything the list does not hold."""

NOT_LISTED_TEXT = "an option not listed here"

Scale = Literal["log", "probability", "raw"]
"""How a score's value is read: a logarithm to be put through a softmax over the options; a probability to be
normalised over them; or a number in [0, 1] that is taken as it is."""


class MarkCode(StrEnum):
    """What a check found about an option. A marked option stays in the list, for all to see."""

    IMPOSSIBLE = "impossible"
    """The checker refutes it in the present state."""
    UNSAFE = "unsafe"
    """A rule or a stated danger speaks against it; it is never carried out on this request alone."""
    NEEDS_CARE = "needs-care"
    """It may be done, and the person should hear why to take care."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One finding about an option: a code, and a sentence for a person."""

    code: MarkCode
    sentence: str


@dataclass(frozen=True, slots=True)
class Option:
    """One reading of a request.

    Attributes:
        key: names the meaning; unique in a list of options, equal for equal meanings.
        text: what a person or a model reads, without a letter before it.
        meaning: the goal, step or plan itself; hashable; None for the not-listed option.
        marks: what checks found about it.
        attributes: what tells it from others, as (name, value), such as ("object", "metal bowl"),
            ("material", "metal"), ("place", "top drawer"). Questions are asked about these.
    """

    key: str
    text: str
    meaning: Hashable = None
    marks: tuple[Mark, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def is_not_listed(self) -> bool:
        """Whether this is the option that stands for everything else."""
        return self.key == NOT_LISTED

    @property
    def unsafe(self) -> bool:
        """Whether a rule or stated danger speaks against it."""
        return any(m.code is MarkCode.UNSAFE for m in self.marks)

    @property
    def impossible(self) -> bool:
        """Whether the checker refutes it in the present state."""
        return any(m.code is MarkCode.IMPOSSIBLE for m in self.marks)

    def attribute(self, name: str) -> str | None:
        """The value of an attribute, or None."""
        for key, value in self.attributes:
            if key == name:
                return value
        return None

    def marked(self, code: MarkCode, sentence: str) -> Option:
        """The same option with one finding more."""
        return replace(self, marks=(*self.marks, Mark(code, sentence)))


def not_listed() -> Option:
    """The option that stands for everything the list does not hold."""
    return Option(NOT_LISTED, NOT_LISTED_TEXT)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a score depends on, by name: model, prompt, temperature, option generator, skills ...

    Two scores are comparable only where their fingerprints are equal.

    Attributes:
        parts: (name, value) sorted by name; values are digests or short plain texts.
    """

    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, parts: Mapping[str, object] | None = None, /, **more: object) -> Fingerprint:
        """From named parts; values are turned into text."""
        merged = {**(dict(parts) if parts else {}), **more}
        return cls(tuple(sorted((str(k), str(v)) for k, v in merged.items())))

    def merged(self, other: Fingerprint) -> Fingerprint:
        """Both together; a name in both with different values is refused.

        Raises:
            ConfigError: the two disagree on a part.
        """
        mine, theirs = dict(self.parts), dict(other.parts)
        for name in mine.keys() & theirs.keys():
            if mine[name] != theirs[name]:
                raise ConfigError(f"two values for '{name}' in one fingerprint: {mine[name]} and {theirs[name]}")
        return Fingerprint.of({**mine, **theirs})

    def changes(self, now: Fingerprint) -> list[str]:
        """What differs in `now`, as sentences; empty where both are equal."""
        if self.parts == now.parts:
            return []
        was, isnow = dict(self.parts), dict(now.parts)
        out = []
        for name in sorted(was.keys() | isnow.keys()):
            before, after = was.get(name), isnow.get(name)
            if before == after:
                continue
            if after is None:
                out.append(f"{name} was {before} and is not known now")
            elif before is None:
                out.append(f"{name} was not recorded and is {after} now")
            else:
                out.append(f"{name} was {before} and is {after} now")
        return out


@dataclass(frozen=True, slots=True)
class Score:
    """How well one option fits, as a number; higher is better.

    Attributes:
        value: a natural logarithm (any finite number or -inf) or a number in [0, 1], by `scale`.
        kind: which scorer made it, such as "letters" or "pmi".
        scale: how `value` is read; all scores of one list share it.
        upper_bound: True where the exact value is not known and is at most `value`
            (a letter that a top-k list left out).
        provenance: what the value depends on.
    """

    value: float
    kind: str
    scale: Scale = "log"
    upper_bound: bool = False
    provenance: Fingerprint = Fingerprint()


def check_options(options: Sequence[Option]) -> None:
    """Refuse an empty list of options or two options of one meaning.

    Raises:
        ConfigError: no option, or a key twice.
    """
    if not options:
        raise ConfigError("no options to choose among; at least the not-listed option is needed")
    seen: dict[str, Option] = {}
    for option in options:
        if option.key in seen:
            raise ConfigError(
                f"two options mean the same ('{option.key}': '{seen[option.key].text}' and '{option.text}'); "
                "merge them before they are scored"
            )
        seen[option.key] = option
