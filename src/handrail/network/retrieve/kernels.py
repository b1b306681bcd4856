"""Compiled twins of Knuth, closure, pruning and LM-cut (numba, optional), for networks of many hundred units.

Each does exactly what its plain twin in `incumbent` and `lmcut` does, with the same order among equals, so that an
installation with numba and one without find the same plan. Compiled code is kept on disk: only the first use on a
machine takes seconds.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from handrail.network.retrieve.reduce import Reduced

COLD_UNITS = 1200
"""From this many units on it pays to load numba (about half a second)."""
WARM_UNITS = 60
"""From this many units on the compiled twin is faster once it is loaded."""

LARGE = 5000
"""From this many units on whole networks are walked by compiled code."""

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
    return units >= COLD_UNITS and _loads()


@cache
def _loads() -> bool:
    """Can numba be used here? An installed one may not fit the installed numpy; the plain twins do the same work."""
    if importlib.util.find_spec("numba") is None:
        return False
    try:
        compiled()
    except ImportError:
        return False
    return True


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
    value, maker = compiled().knuth(*a.ins, *a.outs, *a.consumers, a.goal, np.asarray(cost, dtype=np.float64), ban)
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


class GraphArrays:
    """A whole hypergraph as flat arrays."""

    def __init__(
        self,
        ins: Sequence[Sequence[int]],
        outs: Sequence[Sequence[int]],
        consumers: Sequence[Sequence[int]],
        producers: Sequence[Sequence[int]],
    ) -> None:
        self.ins, self.outs, self.consumers, self.producers = map(_flat, (ins, outs, consumers, producers))
        self.nodes = len(consumers)
        self.units = len(ins)

    def mask(self, nodes: Collection[int]) -> np.ndarray:
        """Nodes as a boolean array."""
        mask = np.zeros(self.nodes, dtype=np.bool_)
        mask[list(nodes)] = True
        return mask


def tree_plan(
    arrays: GraphArrays, start: Collection[int], goals: Sequence[int], cost: Sequence[int], ins: Sequence[Sequence[int]]
) -> set[int] | None:
    """Units of the cheapest derivation trees of the goals in the whole network, each once; None if out of reach."""
    here = arrays.mask(start)
    maker, reached = compiled().tree_plan(
        *arrays.ins, *arrays.outs, *arrays.consumers, here, np.array(goals, dtype=np.int64),
        np.array(cost, dtype=np.float64),
    )  # fmt: skip
    if not reached:
        return None
    plan: set[int] = set()
    stack = [g for g in goals if not here[g]]
    seen = set(stack)
    while stack:
        unit = int(maker[stack.pop()])
        if unit not in plan:
            plan.add(unit)
            for n in ins[unit]:
                if not here[n] and n not in seen:
                    seen.add(n)
                    stack.append(n)
    return plan


def shrink(
    arrays: GraphArrays, start: Collection[int], goals: Sequence[int], keep: Collection[int] | None
) -> Shrunk | None:
    """Units that are needed and can fire, with their useful edges; None where the goals are out of reach.

    Nodes are renumbered from 1 in ascending order of their old number.
    """
    module = compiled()
    here = arrays.mask(start)
    wanted = np.array(goals, dtype=np.int64)
    allowed = np.ones(arrays.units, dtype=np.bool_)
    if keep is not None:
        allowed[:] = False
        allowed[list(keep)] = True
    allowed, _ = module.needed(*arrays.ins, *arrays.producers, here, wanted, allowed)
    allowed, reached = module.fired(*arrays.ins, *arrays.outs, *arrays.consumers, here, allowed)
    if not reached[wanted].all():
        return None
    found, used = module.needed(*arrays.ins, *arrays.producers, here, wanted, allowed)
    number = np.cumsum(used)
    out_unit = np.repeat(np.arange(arrays.units), np.diff(arrays.outs[0]))
    keep_out = found[out_unit] & used[arrays.outs[1]]
    out_unit, out_node = out_unit[keep_out], number[arrays.outs[1][keep_out]]
    units, sizes = np.unique(out_unit, return_counts=True)
    alive = np.zeros(arrays.units, dtype=np.bool_)
    alive[units] = True
    in_unit = np.repeat(np.arange(arrays.units), np.diff(arrays.ins[0]))
    keep_in = alive[in_unit] & ~here[arrays.ins[1]]
    in_unit, in_node = in_unit[keep_in], number[arrays.ins[1][keep_in]]
    position = np.cumsum(alive) - 1
    in_sizes = np.bincount(position[in_unit], minlength=len(units))
    return Shrunk(
        units.tolist(),
        _rows(in_sizes, in_node),
        _rows(sizes, out_node),
        {n: int(number[n]) for n in goals if not here[n]},
        int(number[-1]) if len(number) else 0,
    )


class Shrunk(NamedTuple):
    """What `shrink` leaves: unit numbers, inputs, outputs (renumbered), new number of each goal, number of nodes."""

    units: list[int]
    ins: list[tuple[int, ...]]
    outs: list[tuple[int, ...]]
    goals: dict[int, int]
    nodes: int


def _rows(sizes: np.ndarray, flat: np.ndarray) -> list[tuple[int, ...]]:
    ends = np.cumsum(sizes).tolist()
    values = flat.tolist()
    begin = 0
    rows: list[tuple[int, ...]] = []
    for end in ends:
        rows.append(tuple(values[begin:end]))
        begin = end
    return rows
