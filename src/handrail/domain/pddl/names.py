"""Names that every PDDL tool accepts: letters, digits, `-` and `_`, one meaning each, whatever their case."""

from __future__ import annotations

import re

_RESERVED = frozenset(
    [
        "and",
        "or",
        "not",
        "imply",
        "exists",
        "forall",
        "when",
        "either",
        "object",
        "number",
        "increase",
        "decrease",
        "assign",
        "scale-up",
        "scale-down",
        "define",
        "domain",
        "problem",
        "minimize",
        "maximize",
        "total-time",
        "total-cost",
        "at",
        "over",
        "start",
        "end",
        "all",
        "always",
        "sometime",
        "within",
        "preference",
    ]
)


class Names:
    """Gives each (kind, name) of ours one PDDL name, and takes PDDL names back."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._back: dict[str, tuple[str, str]] = {}

    def __call__(self, kind: str, name: str) -> str:
        """The PDDL name, made on first use and the same ever after."""
        key = (kind, name)
        if key not in self._given:
            plain = re.sub(r"[^a-z0-9_-]", "-", name.lower())
            if not plain or not plain[0].isalpha():
                plain = f"{kind[0]}-{plain}"
            made, n = plain, 2
            while made in self._back or made in _RESERVED:
                made, n = f"{plain}-{n}", n + 1
            self._given[key] = made
            self._back[made] = key
        return self._given[key]

    def back(self, pddl: str) -> tuple[str, str] | None:
        """The (kind, name) that a PDDL name stands for; None for a name that was not given here."""
        return self._back.get(pddl.lower())
