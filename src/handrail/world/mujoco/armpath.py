"""A way for the arm from one posture to another: straight, by way of a safe posture, or found by RRT-Connect."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.view import View

Floats = NDArray[np.float64]

MARGIN = 0.012
"""Room to everything else on the way [m]: joints trail their commands a little, and not all alike."""
RESOLUTION = 0.04
"""Largest joint step between two collision checks [rad]; the lift's is half of it [m]."""
TREE_BUDGET = 120
"""Extensions of the two trees at most."""


class ArmPath:
    """Paths at one stance (Kuffner and LaValle 2000 for the search)."""

    def __init__(self, view: View, base: Floats, aperture: float | None = None, touch: Iterable[str] = (),
                 upright: float = -1.0) -> None:  # fmt: skip
        self.upright = upright
        """Smallest cosine of the load's lean that is allowed on the way."""
        self.view, self.base, self.aperture, self.touch = view, base, aperture, frozenset(touch)
        self.scene = view.scene
        self.scale = np.array(([2.0] if self.scene.profile.lift > 0 else []) + [1.0] * 7)
        self.blockers: list[str] = []
        self.known: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    def free(self, q: Floats) -> bool:
        """Whether a posture keeps its distance: `MARGIN`, half of it to the neighbours of start and goal, none to what they touch."""
        blocked = [h for h in self._near(q, MARGIN) if h not in self.known[0]]
        if not blocked and self.known[0]:
            blocked = [h for h in self._near(q, MARGIN / 2) if h not in self.known[1]]
            if not blocked and self.known[1]:
                blocked = self.view.hits(self.base, q, aperture=self.aperture, touch=self.touch)
        if blocked:
            if len(self.blockers) < 20:
                self.blockers.append(blocked[0])
            return False
        return self.upright <= -1 or self.view.lean() >= self.upright

    def _near(self, q: Floats, margin: float) -> list[str]:
        return self.view.near(self.base, q, margin, aperture=self.aperture, touch=self.touch)

    def straight(self, a: Floats, b: Floats) -> bool:
        """Whether the segment from a (not checked) to b is free."""
        n = max(1, int(np.ceil(np.max(np.abs(b - a) * self.scale) / RESOLUTION)))
        # From coarse to fine, so that a blocked segment is found out early.
        order = sorted(range(1, n + 1), key=lambda k: (-(k & -k), k)) if n > 2 else range(1, n + 1)
        return all(self.free(a + (b - a) * (k / n)) for k in order)

    def find(
        self, a: Floats, b: Floats, via: tuple[Floats, ...] = (), budget: int = TREE_BUDGET
    ) -> list[Floats] | None:
        """Joint positions from a to b, or None within the budget."""
        wide, close = (frozenset(h for q in (a, b) for h in self._near(q, m)) for m in (MARGIN, MARGIN / 2))
        self.known = wide, close
        if not self.free(b):
            return None
        if self.straight(a, b):
            return [a, b]
        for v in via:
            if self.straight(a, v) and self.straight(v, b):
                return [a, v, b]
        return self._connect(a, b, budget)

    def _connect(self, a: Floats, b: Floats, budget: int) -> list[Floats] | None:
        chain = self.scene.arm
        rng = np.random.default_rng(0)
        trees: list[list[tuple[Floats, int]]] = [[(a, -1)], [(b, -1)]]
        for it in range(budget):
            grow, other = it % 2, 1 - it % 2
            middle = trees[other][0][0]
            sample = (
                rng.uniform(chain.low, chain.high) if rng.random() > 0.3 else middle + rng.normal(size=chain.n) * 0.4
            )
            sample = np.clip(sample, chain.low + 0.01, chain.high - 0.01)
            q, _ = self._extend(trees[grow], sample)
            if q is None:
                continue
            for _ in range(12):
                r, there = self._extend(trees[other], q)
                if r is None:
                    break
                if there:
                    path = self._trace(trees[0])[::-1] + self._trace(trees[1])[1:]
                    return self._shorten(path, rng)
        return None

    def _extend(self, tree: list[tuple[Floats, int]], to: Floats) -> tuple[Floats | None, bool]:
        nodes = np.array([n for n, _ in tree])
        i = int(np.argmin((((nodes - to) * self.scale) ** 2).sum(axis=1)))
        delta = to - nodes[i]
        length = float(np.linalg.norm(delta * self.scale))
        part = min(1.0, 0.6 / max(length, 1e-9))
        q = nodes[i] + delta * part
        if not self.straight(nodes[i], q):
            return None, False
        tree.append((q, i))
        return q, part == 1.0

    @staticmethod
    def _trace(tree: list[tuple[Floats, int]]) -> list[Floats]:
        out, i = [], len(tree) - 1
        while i >= 0:
            out.append(tree[i][0])
            i = tree[i][1]
        return out

    def _shorten(self, path: list[Floats], rng: np.random.Generator) -> list[Floats]:
        for _ in range(20):
            if len(path) < 3:
                break
            i, j = sorted(int(v) for v in rng.integers(0, len(path), 2))
            if j > i + 1 and self.straight(path[i], path[j]):
                path = path[: i + 1] + path[j:]
        return path
