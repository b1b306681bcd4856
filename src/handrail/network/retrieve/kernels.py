"""Compiled twins of Knuth, closure, pruning and LM-cut (numba, optional), for networks of many hundred units.

Each does exactly what its plain twin in `incumbent` and `lmcut` does, with the same order among equals, so that an
installation with numba and one without find the same plan. Compiled code is kept on disk: only the first use on a
machine takes seconds.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from handrail.network.retrieve.reduce import Reduced

COLD_UNITS = 1200
"""From this many units on it pays to load numba (about half a second)."""
WARM_UNITS = 60
"""From this many units on the compiled twin is faster once it is loaded."""

_enabled: bool | None = None


def use(on: bool | None) -> None:
    """Force compiled code on or off; None decides by size and by what is installed."""
    global _enabled
    _enabled = on


def wanted(units: int) -> bool:
    """Should a query of this size use compiled code?"""
    if _enabled is not None:
        return _enabled
    if "handrail.network.retrieve._compiled" in sys.modules:
        return units >= WARM_UNITS
    return units >= COLD_UNITS and importlib.util.find_spec("numba") is not None


class Arrays:
    """A reduced query as flat arrays (pointer, index) for inputs, outputs, consumers and producers."""

    def __init__(self, query: Reduced) -> None:
        self.ins = _flat(query.ins)
        self.outs = _flat(query.outs)
        self.consumers = _flat(query.consumers)
        self.producers = _flat(query.producers)
        self.goal = query.goal
        self.cost = np.array(query.cost, dtype=np.float64)
        self.free = np.array([o < 0 for o in query.orig], dtype=np.bool_)


def _flat(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    pointer = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(r) for r in rows], out=pointer[1:])
    index = np.fromiter((n for r in rows for n in r), dtype=np.int64, count=int(pointer[-1]))
    return pointer, index


def compiled() -> Any:
    """The module of compiled functions; importing it loads numba."""
    from handrail.network.retrieve import _compiled

    return _compiled


def knuth(query: Reduced, cost: Sequence[float], banned: Collection[int]) -> tuple[Any, Any]:
    """See `incumbent.knuth`; values are infinite where not reached."""
    a = query.arrays()
    ban = np.zeros(len(query.ins), dtype=np.bool_)
    for u in banned:
        ban[u] = True
    value, maker = compiled().knuth(
        *a.ins, *a.outs, *a.consumers, a.goal, np.asarray(cost, dtype=np.float64), ban
    )
    return value, maker


def prune(query: Reduced, plan: Collection[int], order: np.ndarray, limit: int) -> set[int]:
    """See `incumbent.prune`; `order` lists all units, those to be left out first in front."""
    a = query.arrays()
    inside = np.zeros(len(query.ins), dtype=np.bool_)
    inside[list(plan)] = True
    kept = compiled().prune(*a.ins, *a.outs, a.goal, inside, a.free, order, limit)
    return set(np.flatnonzero(kept).tolist())


def lmcut(query: Reduced, cost: Sequence[float], limit: int, enough: float, zero: float) -> tuple[Any, ...]:
    """See `lmcut.lmcut`: (bound, cuts, residual, value, complete)."""
    a = query.arrays()
    left = np.array(cost, dtype=np.float64)
    bound, units, pointer, value, complete = compiled().lmcut(
        *a.ins, *a.outs, *a.consumers, *a.producers, a.goal, left, limit, float(enough), zero
    )
    cuts = [tuple(units[pointer[k] : pointer[k + 1]].tolist()) for k in range(len(pointer) - 1)]
    return float(bound), cuts, left, value, bool(complete)

