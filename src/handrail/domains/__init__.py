"""The domains that handrail ships: `home`, `office`, `tabletop`, and the `starter` that `handrail init` writes."""

from __future__ import annotations

from pathlib import Path

from handrail.errors import ConfigError, did_you_mean

NAMES = ("home", "office", "tabletop")
"""Domains to plan in, by name."""


def path(name: str) -> Path:
    """The file of a shipped domain.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in (*NAMES, "starter"):
        raise ConfigError(f"no shipped domain '{name}'.{did_you_mean(name, set(NAMES))}")
    return Path(__file__).parent / f"{name}.yaml"


def find(name_or_path: str) -> Path:
    """The file that a person means by a shipped domain's name or a path.

    Raises:
        ConfigError: it is neither; the message says what would be valid.
    """
    given = Path(name_or_path)
    if given.suffix or "/" in name_or_path or given.exists():
        if not given.is_file():
            raise ConfigError(
                f"there is no domain file '{name_or_path}'; a shipped domain is one of {', '.join(NAMES)}"
            )
        return given
    return path(name_or_path)


__all__ = ["NAMES", "find", "path"]
