"""LM-cut: an admissible estimate of what is left to pay (Helmert and Domshlak, "Landmarks, critical paths and abstractions", 2009).

Every round finds a set of actions of which every relaxed plan uses one (a cut between what is reached and the goal), counts its
cheapest cost, takes that cost from all of them, and goes on until the goal is free.
"""

from __future__ import annotations

from heapq import heappop, heappush

from handrail.solve.program import Compact
from handrail.solve.relaxed import FREE, Relaxed

INFINITE = 1 << 60


class LmCut:
    """The estimate for states of one relaxation; also a relaxed plan for greedy search (`additive`)."""

    def __init__(self, relaxed: Relaxed) -> None:
        self.relaxed = relaxed
        rules = relaxed.rules
        self._before = [r.before for r in rules]
        self._after = [r.after for r in rules]
        # the last cost is that of free rules, so that FREE, which is -1, reads it
        self._costs = [*relaxed.costs, 0]
        self._owner = [r.owner for r in rules]
        self._users: list[list[int]] = [[] for _ in range(relaxed.facts)]
        self._givers: list[list[int]] = [[] for _ in range(relaxed.facts)]
        self._of: list[list[int]] = [[] for _ in self._costs]
        for k, r in enumerate(rules):
            for f in r.before:
                self._users[f].append(k)
            for f in r.after:
                self._givers[f].append(k)
            if r.owner != FREE:
                self._of[r.owner].append(k)

    def __call__(self, state: Compact) -> int | None:
        """A lower bound on the cost to the goal, in millionths; None where the goal can't be reached."""
        facts = self.relaxed.of(state)
        goal = self.relaxed.goal
        costs = list(self._costs)
        reach, by, base = self._explore(facts, costs)
        if reach[goal] >= INFINITE:
            return None
        total = 0
        while reach[goal] > 0:
            zone = self._zone(goal, by, costs)
            cut = self._cut(facts, zone, by)
            owners = {self._owner[k] for k in cut}
            least = min(costs[o] for o in owners)
            total += least
            for o in owners:
                costs[o] -= least
            self._lower([k for o in owners for k in self._of[o]], costs, reach, by, base)
        return total

    def _explore(self, facts: list[int], costs: list[int]) -> tuple[list[int], list[int], list[int]]:
        """Per fact the h-max cost; per rule its dearest condition and that one's cost."""
        reach = [INFINITE] * self.relaxed.facts
        by = [-1] * len(self._before)
        base = [INFINITE] * len(self._before)
        waiting = [len(b) for b in self._before]
        heap: list[tuple[int, int]] = []
        for f in facts:
            reach[f] = 0
            heap.append((0, f))
        users, after, owner = self._users, self._after, self._owner
        heap.sort()
        while heap:
            d, f = heappop(heap)
            if d > reach[f]:
                continue
            for k in users[f]:
                waiting[k] -= 1
                if not waiting[k]:
                    by[k] = f
                    base[k] = d
                    new = d + costs[owner[k]]
                    for a in after[k]:
                        if new < reach[a]:
                            reach[a] = new
                            heappush(heap, (new, a))
        return reach, by, base

    def _zone(self, goal: int, by: list[int], costs: list[int]) -> list[bool]:
        """Facts from which the goal costs nothing more, by dearest conditions."""
        zone = [False] * self.relaxed.facts
        zone[goal] = True
        stack = [goal]
        givers, owner = self._givers, self._owner
        while stack:
            f = stack.pop()
            for k in givers[f]:
                b = by[k]
                if b >= 0 and not zone[b] and not costs[owner[k]]:
                    zone[b] = True
                    stack.append(b)
        return zone

    def _cut(self, facts: list[int], zone: list[bool], by: list[int]) -> list[int]:
        """Rules that lead from what is reached before the zone into it."""
        seen = [False] * self.relaxed.facts
        stack = [f for f in facts if not zone[f]]
        for f in stack:
            seen[f] = True
        cut: list[int] = []
        users, after = self._users, self._after
        while stack:
            f = stack.pop()
            for k in users[f]:
                if by[k] != f:
                    continue
                into = False
                for a in after[k]:
                    if zone[a]:
                        into = True
                        break
                if into:
                    cut.append(k)
                    continue
                for a in after[k]:
                    if not seen[a]:
                        seen[a] = True
                        stack.append(a)
        return cut

    def _lower(self, changed: list[int], costs: list[int], reach: list[int], by: list[int], base: list[int]) -> None:
        """Bring h-max up to date after some rules got cheaper."""
        users, after, owner, before = self._users, self._after, self._owner, self._before
        heap: list[tuple[int, int]] = []
        for k in changed:
            if by[k] < 0:
                continue
            new = base[k] + costs[owner[k]]
            for a in after[k]:
                if new < reach[a]:
                    reach[a] = new
                    heappush(heap, (new, a))
        while heap:
            d, f = heappop(heap)
            if d > reach[f]:
                continue
            for k in users[f]:
                if by[k] != f:
                    continue
                top, value = f, d
                for b in before[k]:
                    if reach[b] > value:
                        top, value = b, reach[b]
                by[k] = top
                if value < base[k]:
                    base[k] = value
                    new = value + costs[owner[k]]
                    for a in after[k]:
                        if new < reach[a]:
                            reach[a] = new
                            heappush(heap, (new, a))

    def greedy(self, state: Compact) -> int | None:
        """The cost of a relaxed plan (FF, with cheapest additive supporters); None where there is none.

        Not a lower bound: for finding some plan quickly (Hoffmann and Nebel, "The FF planning system", 2001).
        """
        facts = self.relaxed.of(state)
        reach = [INFINITE] * self.relaxed.facts
        giver = [-1] * self.relaxed.facts
        waiting = [len(b) for b in self._before]
        heap: list[tuple[int, int]] = []
        for f in facts:
            reach[f] = 0
            heap.append((0, f))
        heap.sort()
        done = [False] * self.relaxed.facts
        while heap:
            f = heappop(heap)[1]
            if done[f]:
                continue
            done[f] = True
            for k in self._users[f]:
                waiting[k] -= 1
                if not waiting[k]:
                    # one more than the cost, so that a free action still counts as a step
                    price = self._costs[self._owner[k]] + 1 if self._owner[k] != FREE else 0
                    new = sum(reach[b] for b in self._before[k]) + price
                    for a in self._after[k]:
                        if new < reach[a]:
                            reach[a] = new
                            giver[a] = k
                            heappush(heap, (new, a))
        if reach[self.relaxed.goal] >= INFINITE:
            return None
        used: set[int] = set()
        seen: set[int] = set()
        stack = [self.relaxed.goal]
        while stack:
            f = stack.pop()
            k = giver[f]
            if k < 0 or f in seen:
                continue
            seen.add(f)
            if self._owner[k] != FREE:
                used.add(self._owner[k])
            stack.extend(self._before[k])
        return sum(self._costs[o] + 1 for o in used)
