"""Exceptions: only for misuse and broken infrastructure; a bad plan is a verdict, never an exception.

HandrailError
├── InputError          something a person wrote is wrong: what, where, what would be valid
│   ├── DomainError     a domain file or definition
│   ├── ParseError      a text in one of the formats handrail reads (plan, PDDL, FOON, calibration ...)
│   └── ConfigError     configuration, limits, command line values
├── MissingExtra        an optional part is not installed; the command that adds it is in the message
├── ModelError          a language model endpoint failed, lied or timed out
├── WorldError          a world (simulator, robot) broke its protocol
├── StoreError          the run store is damaged, locked or of a newer version
├── StaleError          a calibration, certificate or approval no longer fits what it was made for
└── UnprovenError       something tried to run what was not proven
"""

from __future__ import annotations

from dataclasses import dataclass


class HandrailError(Exception):
    """Base of every exception that handrail raises on purpose."""


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a text. `line` and `column` count from 1; 0 means unknown."""

    source: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """`file:line:column`, as far as known."""
        parts = [self.source or "<text>"]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class InputError(HandrailError):
    """Something a person or a file supplied is wrong."""

    def __init__(self, message: str, where: Where | None = None) -> None:
        self.where = where
        self.message = message
        super().__init__(f"{where}  {message}" if where else message)


class DomainError(InputError):
    """A domain definition is wrong."""


class ParseError(InputError):
    """A text does not follow the format it claims to follow."""


class ConfigError(InputError):
    """A setting, limit or command line value is out of its valid range."""


class MissingExtra(HandrailError):  # noqa: N818 - it names a state of the installation, not a failure
    """An optional part of handrail is not installed."""

    def __init__(self, feature: str, extra: str, package: str = "") -> None:
        self.feature, self.extra = feature, extra
        what = f" (package {package})" if package else ""
        super().__init__(f"{feature} needs the extra '{extra}'{what}: pip install 'handrail[{extra}]'")


class ModelError(HandrailError):
    """A language model endpoint failed: unreachable, timed out, or its answer was not usable."""


class WorldError(HandrailError):
    """A world broke the World protocol or can't be reached."""


class StoreError(HandrailError):
    """The run store can't be read or written."""


class StaleError(HandrailError):
    """A calibration, certificate or approval does not fit what is running now; the message names what changed."""


class UnprovenError(HandrailError):
    """A plan, step or approval that was not made by the check pipeline was handed to something that moves."""


def nearest(name: str, valid: list[str] | tuple[str, ...] | set[str] | frozenset[str], n: int = 3) -> list[str]:
    """The valid names most like `name`, best first; for suggestions only, never for substitution."""
    import difflib

    pool = sorted(valid)
    close = difflib.get_close_matches(name, pool, n=n, cutoff=0.6)
    if not close:
        low = name.lower()
        close = [v for v in pool if low and (low in v.lower() or v.lower() in low)][:n]
    return close


def did_you_mean(name: str, valid: list[str] | tuple[str, ...] | set[str] | frozenset[str]) -> str:
    """A clause ` Did you mean 'x'?`, or what is valid when nothing is near, or nothing when there is nothing."""
    close = nearest(name, valid)
    if close:
        return " Did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    pool = sorted(valid)
    if not pool:
        return ""
    shown = ", ".join(pool[:12]) + (f" and {len(pool) - 12} more" if len(pool) > 12 else "")
    return f" Valid: {shown}."
