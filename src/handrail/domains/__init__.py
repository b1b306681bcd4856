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


__all__ = ["NAMES", "path"]
