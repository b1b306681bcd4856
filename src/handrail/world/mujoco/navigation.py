"""Where the base may stand and how it gets there: a distance field over the floor, A*, and string pulling."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, label

from handrail.world.mujoco.scene import UNSEEN, Scene
from handrail.world.mujoco.sim import Sim

Floats = NDArray[np.float64]

CELL = 0.05
RADIUS = 0.25
"""Of the base [m]."""
STAND = RADIUS + 0.04
"""Distance to anything from which the base may stand [m]."""
COMFORT = 0.48
"""Distance from which driving past costs nothing extra: arm and load stick out this far [m]."""
BUMP = 0.2
"""Half the size of the square that stands for something unseen that stopped the base [m]."""
PASS = RADIUS + 0.035
"""Least distance while driving: overshoot and lag take up to 2 cm [m]."""
FORGET = 180.0
"""After this long the spot of a bump is tried again [s]."""
HIGH = 0.95
"""Things above this pass over the base and its column [m]."""
_STEPS = tuple((dx, dy, math.hypot(dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)


class Floor:
    """Distance to the nearest obstacle for every cell of the floor, for one state."""

    def __init__(self, sim: Sim, ignore: frozenset[str] = frozenset()) -> None:
        scene = sim.scene
        rooms = scene.spec.rooms.values()
        self.low = np.array([min(r.low[i] for r in rooms) for i in (0, 1)])
        high = np.array([max(r.high[i] for r in rooms) for i in (0, 1)])
        self.shape = tuple(round(float(v)) for v in (high - self.low) / CELL)
        still, occupied = self._static(scene)
        occupied = occupied.copy()
        moving = [
            r
            for g in _moving(scene)
            if scene.owner[g] not in ignore and (r := _rectangle(sim.data, scene.model, g)) is not None
        ]
        moving += [np.array([x, y, 1.0, 0.0, BUMP, BUMP]) for x, y, t in sim.memory.bumps if sim.time - t < FORGET]
        for r in moving:
            self._mark(occupied, r)
        self.rectangles = np.concatenate([still, np.array(moving)]) if moving else still
        self.distance = distance_transform_edt(~occupied) * CELL
        self.area, _ = label(self.distance >= STAND + CELL / 4, structure=np.ones((3, 3), int))

    def _static(self, scene: Scene) -> tuple[Floats, NDArray[np.bool_]]:
        """Footprints of what never moves and the cells they cover; worked out once for each scene."""
        cached = scene.__dict__.get("_floor_static")
        if cached is not None:
            return cached  # type: ignore[no-any-return]
        import mujoco

        data = mujoco.MjData(scene.model)
        mujoco.mj_kinematics(scene.model, data)
        occupied = np.zeros(self.shape, bool)
        x, y = self._axes()
        still = np.asarray(scene.model.body_weldid) == 0
        found = []
        for g in range(scene.model.ngeom):
            if still[scene.geom_body[g]] and scene.geom_name[g] != "floor":
                r = _rectangle(data, scene.model, g)
                if r is not None:
                    found.append(r)
                    self._mark(occupied, r)
        inside = np.zeros(self.shape, bool)
        for room in scene.spec.rooms.values():
            inside |= ((x > room.low[0]) & (x < room.high[0]))[:, None] & ((y > room.low[1]) & (y < room.high[1]))[None]
        occupied |= ~inside
        scene.__dict__["_floor_static"] = np.array(found), occupied
        return np.array(found), occupied

    def _axes(self) -> tuple[Floats, Floats]:
        return (
            self.low[0] + (np.arange(self.shape[0]) + 0.5) * CELL,
            self.low[1] + (np.arange(self.shape[1]) + 0.5) * CELL,
        )

    def _mark(self, occupied: NDArray[np.bool_], rectangle: Floats) -> None:
        cx, cy, c, s, hx, hy = rectangle
        reach = math.hypot(hx, hy)
        lo = np.floor((np.array([cx, cy]) - reach - self.low) / CELL).astype(int).clip(0, self.shape)
        hi = np.ceil((np.array([cx, cy]) + reach - self.low) / CELL).astype(int).clip(0, self.shape)
        if (lo >= hi).any():
            return
        x, y = self._axes()
        gx, gy = x[lo[0] : hi[0], None] - cx, y[None, lo[1] : hi[1]] - cy
        occupied[lo[0] : hi[0], lo[1] : hi[1]] |= (np.abs(gx * c + gy * s) <= hx + CELL / 2) & (
            np.abs(gy * c - gx * s) <= hy + CELL / 2
        )

    def cell(self, p: Floats) -> tuple[int, int]:
        """The cell that holds a point."""
        c = np.floor((np.asarray(p)[:2] - self.low) / CELL).astype(int)
        return int(min(max(c[0], 0), self.shape[0] - 1)), int(min(max(c[1], 0), self.shape[1] - 1))

    def gap(self, points: Floats) -> Floats:
        """Exact distance from each point (N, 2) to the nearest footprint [m]; 0 outside the rooms."""
        cx, cy, c, s, hx, hy = self.rectangles.T[:, None, :]
        gx, gy = points[:, :1] - cx, points[:, 1:2] - cy
        dx = np.maximum(np.abs(gx * c + gy * s) - hx, 0)
        dy = np.maximum(np.abs(gy * c - gx * s) - hy, 0)
        cell = np.floor((points - self.low) / CELL).astype(int)
        inside = ((cell >= 0) & (cell < np.array(self.shape))).all(axis=1)
        return np.where(inside, np.hypot(dx, dy).min(axis=1), 0.0)

    def connected(self, start: Floats, points: Floats) -> NDArray[np.bool_]:
        """Which of the points (N, 2) the base can drive to from `start`, which may itself be close to something."""
        i, j = self.cell(start)
        near = self.area[max(0, i - 4) : i + 5, max(0, j - 4) : j + 5]
        here = {int(v) for v in np.unique(near)} - {0}
        own = int(self.area[i, j])
        allowed = [own] if own else sorted(here)
        c = np.floor((points - self.low) / CELL).astype(int)
        good = np.zeros(len(points), bool)
        # A stance may lie a cell closer to things than where one drives.
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                n = (c + np.array([dx, dy])).clip(0, np.array(self.shape) - 1)
                good |= np.isin(self.area[n[:, 0], n[:, 1]], allowed)
        return good

    def path(self, start: Floats, goal: Floats) -> list[Floats] | None:
        """A short path with room to spare, as corner points (2,) from start to goal; None when there is none.

        Cells closer than `COMFORT` to something cost up to five times as much. The start may be closer to things than
        one may stand, since that is where the robot is.
        """
        a, b = self.cell(start), self.cell(goal)
        d = self.distance
        if d[b] < RADIUS - CELL / 2:
            return None
        near_start = min(STAND, float(d[a]))
        cost = 1 + 4 * np.clip((COMFORT - d) / (COMFORT - STAND), 0, 1)
        best = {a: 0.0}
        came: dict[tuple[int, int], tuple[int, int]] = {}
        queue: list[tuple[float, tuple[int, int]]] = [(0.0, a)]
        closed = set()
        nx, ny = self.shape
        while queue:
            _, c = heapq.heappop(queue)
            if c == b:
                break
            if c in closed:
                continue
            closed.add(c)
            g = best[c]
            for dx, dy, w in _STEPS:
                n = (c[0] + dx, c[1] + dy)
                if not (0 <= n[0] < nx and 0 <= n[1] < ny) or n in closed:
                    continue
                here = d[n]
                if (
                    here < STAND + CELL / 4
                    and not (here >= near_start and max(abs(n[0] - a[0]), abs(n[1] - a[1])) <= 6)
                    and max(abs(n[0] - b[0]), abs(n[1] - b[1])) > 1
                ):
                    continue
                total = g + w * cost[n]
                if total < best.get(n, math.inf):
                    best[n] = total
                    came[n] = c
                    heapq.heappush(queue, (total + math.hypot(n[0] - b[0], n[1] - b[1]), n))
        else:
            return None
        cells = [b]
        while cells[-1] != a:
            cells.append(came[cells[-1]])
        points = [self.low + (np.array(c) + 0.5) * CELL for c in reversed(cells)]
        points[0], points[-1] = np.array(start[:2], float), np.array(goal[:2], float)
        return self._pull(points)

    def _pull(self, points: list[Floats]) -> list[Floats]:
        out, i = [points[0]], 0
        while i < len(points) - 1:
            j = len(points) - 1
            while j > i + 1 and not self._straight(points, i, j):
                j = i + 1 + (j - i - 1) * 2 // 3
            out.append(points[j])
            i = j
        return out

    def _straight(self, points: list[Floats], i: int, j: int) -> bool:
        """Whether the segment keeps at least as much room as the path it would replace."""
        a, b = points[i], points[j]
        n = max(2, int(np.linalg.norm(b - a) / (CELL / 2)))
        line = a + (b - a) * np.linspace(0, 1, n + 1)[:, None]
        along = self.gap(np.array(points[i : j + 1]))
        return bool(self.gap(line).min() >= max(min(COMFORT, along.min()) - 0.03, min(PASS, along.min())))


def _rectangle(data: Any, model: Any, g: int) -> Floats | None:
    """A geom's footprint, if it stands in the base's way: centre x, y, cosine, sine, half extents [m]."""
    if not model.geom_contype[g]:
        return None
    r = data.geom_xmat[g].reshape(3, 3)
    box = model.geom_aabb[g]
    centre = data.geom_xpos[g] + r @ box[:3]
    half = np.abs(r) @ box[3:]
    if centre[2] - half[2] > HIGH or centre[2] + half[2] < 0.03:
        return None
    if abs(r[2, 2]) > 0.99:
        return np.array([centre[0], centre[1], r[0, 0], r[1, 0], box[3], box[4]])
    return np.array([centre[0], centre[1], 1.0, 0.0, half[0], half[1]])


def _moving(scene: Scene) -> list[int]:
    """Geoms of doors, drawers and items; each item's first geom (its body or disc) stands for it."""
    cached = scene.__dict__.get("_floor_moving")
    if cached is None:
        still = np.asarray(scene.model.body_weldid) == 0
        cached, seen = [], set()
        for g in range(scene.model.ngeom):
            body = int(scene.geom_body[g])
            if (
                still[body]
                or scene.robot_geom[g]
                or scene.owner[g] == UNSEEN
                or (body in scene.body_item and body in seen)
            ):
                continue
            seen.add(body)
            cached.append(g)
        scene.__dict__["_floor_moving"] = cached
    return cached


def stances(floor: Floor, target: Floats, radii: tuple[float, ...], around: int = 20) -> Floats:
    """Where the base may stand to face a point: (N, 3) x, y [m], heading [rad], in no particular order."""
    angle = np.arange(around) * (2 * math.pi / around)
    r, a = np.meshgrid(np.array(radii), angle, indexing="ij")
    r, a = r.ravel(), a.ravel()
    xy = np.stack([target[0] + r * np.cos(a), target[1] + r * np.sin(a)], axis=1)
    heading = np.arctan2(target[1] - xy[:, 1], target[0] - xy[:, 0])
    free = floor.gap(xy) >= STAND
    return np.concatenate([xy, heading[:, None]], axis=1)[free]
