"""Numbers with units: `0.5 m/s`, `40 N`, `3 s`. A bound without a unit, or one that is no finite positive number, is refused."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from handrail.domain.text.document import plain

UNITS: Final[dict[str, dict[str, float]]] = {
    "speed": {"m/s": 1.0, "cm/s": 0.01, "mm/s": 0.001, "km/h": 1 / 3.6},
    "force": {"N": 1.0, "kN": 1000.0},
    "duration": {"s": 1.0, "ms": 0.001, "min": 60.0, "h": 3600.0},
}
"""Quantity to its units, each with its factor to the first."""

_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*")


def read_quantity(value: Any, quantity: str) -> float:
    """A finite positive number in the quantity's base unit.

    Raises:
        ValueError: with a sentence that says what is wrong and what would be valid.
    """
    units = UNITS[quantity]
    base = next(iter(units))
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"a {quantity} is a number with a unit, such as '0.5 {base}', not {plain(value)!r}")
    if isinstance(value, (int, float)):
        raise ValueError(f"the {quantity} {value} has no unit; write '{value} {base}'")
    found = _NUMBER.fullmatch(value)
    if found is None:
        raise ValueError(f"'{value}' is not a {quantity}; write a number and a unit, such as '0.5 {base}'")
    number, unit = float(found.group(1)), found.group(2)
    if unit not in units:
        said = f"has no unit; write '{found.group(1)} {base}'" if not unit else f"has the unknown unit '{unit}'"
        raise ValueError(f"the {quantity} '{value}' {said}; valid: {', '.join(units)}")
    if not math.isfinite(number) or number <= 0:
        raise ValueError(f"the {quantity} '{value}' must be finite and above 0")
    return number * units[unit]
