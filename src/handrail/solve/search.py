"""Search on compact states: A* that proves, and a greedy search that finds something quickly."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from handrail.solve.lmcut import LmCut
from handrail.solve.program import Compact, Program


@dataclass
class Best:
    """The cheapest plan so far.

    Attributes:
        cost: in millionths; None where there is none yet.
        moves: its actions by index.
    """

    cost: int | None = None
    moves: tuple[int, ...] = ()

    def offer(self, cost: int, moves: tuple[int, ...]) -> None:
        """Take a plan if it is cheaper, or as cheap and shorter."""
        if self.cost is None or (cost, len(moves)) < (self.cost, len(self.moves)):
            self.cost, self.moves = cost, moves


_Node: TypeAlias = tuple[int, int, int, int, Compact, bool]
"""(f, h, order, cost so far, state, whether h is its own estimate rather than what its parent's says); order is unique."""


class AStar:
    """A* with a lazily computed admissible estimate; states are reopened when a cheaper way to them turns up.

    A new state first waits with what its parent's estimate says about it and is estimated itself only when its turn comes. Of equal
    states in the queue the one estimated nearest comes first, then the newest, so the search is deterministic.
    """

    def __init__(self, program: Program, estimate: LmCut) -> None:
        self.program = program
        self._estimate = estimate
        self._known: dict[Compact, int | None] = {}
        self._cost: dict[Compact, int] = {program.start: 0}
        self._from: dict[Compact, tuple[Compact, int] | None] = {program.start: None}
        self._order = 0
        self._heap: list[_Node] = [(0, 0, 0, 0, program.start, False)]
        self.expanded = 0
        self.bound = 0
        self.exhausted = False
        """Whether the whole space was searched (below the best plan's cost)."""

    def estimate(self, state: Compact) -> int | None:
        """The estimate, remembered."""
        if state not in self._known:
            self._known[state] = self._estimate(state)
        return self._known[state]

    def run(self, budget: int, best: Best) -> None:
        """Expand at most `budget` more states; ends early when the best plan is proved cheapest or no plan can exist."""
        limit = self.expanded + budget
        heap, costs = self._heap, self._cost
        while heap:
            node = heappop(heap)
            f, h, _, cost, state, exact = node
            self.bound = max(self.bound, f)
            if best.cost is not None and f >= best.cost:
                self.bound = best.cost
                self.exhausted = True
                return
            if cost > costs[state]:
                continue
            if not exact:
                own = self.estimate(state)
                if own is None:
                    continue
                better = max(f, cost + own)
                if better > f or own > h:
                    heappush(heap, (better, own, self._next(), cost, state, True))
                    continue
            if self.program.at_goal(state):
                best.offer(cost, self._path(state))
                self.bound = cost
                self.exhausted = True
                return
            if self.expanded >= limit:
                heappush(heap, node)
                return
            self.expanded += 1
            self._expand(f, h, cost, state, best)
        self.exhausted = True
        if best.cost is not None:
            self.bound = best.cost

    def _next(self) -> int:
        self._order -= 1
        return self._order

    def _expand(self, above: int, estimate: int, spent: int, state: Compact, best: Best) -> None:
        moves = self.program.moves
        for i, after in self.program.successors(state):
            price = moves[i].action.cost
            cost = spent + price
            old = self._cost.get(after)
            if old is not None and old <= cost:
                continue
            exact = after in self._known
            h = self._known[after] if exact else max(0, estimate - price)
            if h is None:
                continue
            f = max(above, cost + h)
            if best.cost is not None and f >= best.cost:
                continue
            self._cost[after] = cost
            self._from[after] = (state, i)
            heappush(self._heap, (f, h, self._next(), cost, after, exact))

    def _path(self, state: Compact) -> tuple[int, ...]:
        out: list[int] = []
        step = self._from[state]
        while step is not None:
            out.append(step[1])
            step = self._from[step[0]]
        return tuple(reversed(out))


def greedy(program: Program, estimate: LmCut, budget: int, best: Best, weight: int) -> int:
    """Weighted best-first search on relaxed plans; offers every plan it finds and returns how many states it expanded.

    Args:
        program: actions and start.
        estimate: gives relaxed plans.
        budget: states to expand at most.
        best: the cheapest plan so far, which also cuts what is dearer.
        weight: how many times the estimate counts beside the cost so far; 0 leaves the cost out altogether.
    """
    first = estimate.greedy(program.start)
    if first is None:
        return 0
    order = 0
    costs: dict[Compact, int] = {program.start: 0}
    back: dict[Compact, tuple[Compact, int] | None] = {program.start: None}
    heap: list[tuple[int, int, int, Compact]] = [(0, first, 0, program.start)]
    expanded = 0
    while heap and expanded < budget:
        state = heappop(heap)[3]
        cost = costs[state]
        if best.cost is not None and cost >= best.cost:
            continue
        if program.at_goal(state):
            moves: list[int] = []
            step = back[state]
            while step is not None:
                moves.append(step[1])
                step = back[step[0]]
            best.offer(cost, tuple(reversed(moves)))
            return expanded
        expanded += 1
        for i, after in program.successors(state):
            new = cost + program.moves[i].action.cost
            if after in costs and costs[after] <= new:
                continue
            found = estimate.greedy(after)
            if found is None or (best.cost is not None and new >= best.cost):
                continue
            costs[after] = new
            back[after] = (state, i)
            order += 1
            rank = found if not weight else new + weight * found
            heappush(heap, (rank, found, order, after))
    return expanded
