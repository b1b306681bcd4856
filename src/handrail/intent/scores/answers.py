"""What a written answer says: which letters, and how sure of each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_LETTER = re.compile(r"(?<![A-Za-z])([A-Z])(?![A-Za-z'’])")
_STATED = re.compile(r"^\s*\(?([A-Z])\)?\s*[:=-]\s*(\d+(?:\.\d+)?)\s*%?\s*$")


def stated_letters(answer: str, labels: Sequence[str]) -> list[int]:
    """Indices of the labels that stand alone in an answer, in the labels' order.

    "A, C" and "(B) or (D)" are read; letters inside words are not, and an "A" or "I" that begins a sentence of
    prose counts only where no word follows it without punctuation.
    """
    first = answer.strip().splitlines()[0] if answer.strip() else ""
    found = set()
    for match in _LETTER.finditer(first):
        after = first[match.end() :]
        if match.group(1) in "AI" and re.match(r" [a-z]", after) and not re.match(r" (and|or|as well)\b", after):
            continue
        found.add(match.group(1))
    return [i for i, label in enumerate(labels) if label in found]


def stated_percentages(answer: str, labels: Sequence[str]) -> list[float]:
    """The stated probability of each label, in [0, 1]; NaN for those not stated or above 100 percent.

    A label stated twice with different numbers is taken as not stated.
    """
    found: dict[str, float] = {}
    for line in answer.splitlines():
        match = _STATED.match(line.upper())
        if match:
            label, value = match.group(1), float(match.group(2)) / 100
            bad = value > 1 or (label in found and found[label] != value)
            found[label] = math.nan if bad else value
    return [found.get(label, math.nan) for label in labels]
