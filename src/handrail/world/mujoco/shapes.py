"""Items as primitives, and where a gripper may take them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.spec import Ball, Bottle, Box, Can, Cup, Item, Pot, Shape

Floats = NDArray[np.float64]

PAD_HALF_HEIGHT = 0.012
APERTURE_MARGIN = 0.014
"""Room left on either side when the fingers close around something [m]."""


def geoms(name: str, item: Item) -> str:
    """MJCF geoms of an item in its own frame (origin at the middle of the underside)."""
    shape, mass = item.shape, item.mass
    rgba = " ".join(f"{c:g}" for c in item.colour) + " 1"

    def geom(part: str, kind: str, size: str, pos: str, share: float, extra: str = "") -> str:
        return (
            f'<geom name="{name}.{part}" class="item" type="{kind}" size="{size}" pos="{pos}" mass="{mass * share:.6f}" '
            f'rgba="{rgba}" {extra}/>'
        )

    match shape:
        case Box(size=(x, y, z)):
            return geom("body", "box", f"{x / 2} {y / 2} {z / 2}", f"0 0 {z / 2}", 1)
        case Can(radius=r, height=h):
            return geom("body", "cylinder", f"{r} {h / 2}", f"0 0 {h / 2}", 1)
        case Ball(radius=r):
            # Rolling friction (condim 6) lets an apple lie still; without it a sphere never rests.
            return geom("body", "sphere", f"{r}", f"0 0 {r}", 1, 'condim="6" friction=".6 .01 .004"')
        case Bottle(radius=r, height=h, neck_radius=n, neck_height=k):
            body = h - k
            return geom("body", "cylinder", f"{r} {body / 2}", f"0 0 {body / 2}", 0.9) + geom(
                "neck", "cylinder", f"{n} {k / 2}", f"0 0 {body + k / 2}", 0.1
            )
        case Pot(radius=r, height=h):
            return geom("body", "cylinder", f"{r} {h / 2}", f"0 0 {h / 2}", 0.98) + geom(
                "knob", "box", ".03 .012 .025", f"0 0 {h + 0.025}", 0.02
            )
        case Cup(radius=r, height=h, wall=wall, handle=handle):
            # A ring of boxes. The walls stay 4 mm above the underside: only the disc touches the table, which keeps
            # the number of contacts (and the solver's time) small.
            n = 12  # a flat face every 30 degrees, where the grasps are
            half = r * math.tan(math.pi / n)
            parts = [geom("disc", "cylinder", f"{r} .004", "0 0 .004", 0.25 if not handle else 0.2)]
            for i in range(n):
                a = 2 * math.pi * i / n
                pos = f"{r * math.cos(a):.5f} {r * math.sin(a):.5f} {0.004 + h / 2:.5f}"
                size = f"{wall / 2} {half:.5f} {h / 2 - 0.004:.5f}"
                parts.append(geom(f"wall{i}", "box", size, pos, 0.75 / n, f'euler="0 0 {a:.5f}"'))
            if handle:
                parts.append(geom("ear", "box", ".014 .005 .025", f"{r + 0.018} 0 {h / 2}", 0.05))
            return "".join(parts)
    raise AssertionError(shape)  # pragma: no cover - the union above is closed


def height(shape: Shape) -> float:
    """Full height [m]."""
    match shape:
        case Box(size=size):
            return size[2]
        case Ball(radius=r):
            return 2 * r
        case Pot(height=h):
            return h + 0.05
        case _:
            return shape.height


def footprint(shape: Shape) -> float:
    """Radius of the circle that the item covers from above [m]."""
    match shape:
        case Box(size=(x, y, _)):
            return math.hypot(x, y) / 2
        case Cup(radius=r, wall=wall, handle=handle):
            return r + wall / 2 + (0.03 if handle else 0)
        case _:
            return shape.radius


def base_radius(shape: Shape) -> float:
    """Radius of the largest circle inside the underside [m]: how far a support may be off-centre."""
    match shape:
        case Box(size=(x, y, _)):
            return min(x, y) / 2
        case Ball(radius=r):
            return 0.3 * r
        case _:
            return shape.radius


def mouth(shape: Shape) -> float:
    """Radius of the opening through which something can be poured in [m]; 0 for things without one."""
    match shape:
        case Cup(radius=r, wall=wall):
            return r - wall / 2
        case Bottle(neck_radius=r):
            return r
        case Can(radius=r):
            return 0.5 * r
        case _:
            return 0.0


def lip(shape: Shape) -> tuple[float, float]:
    """Where a liquid leaves a tilted vessel: (distance from the axis, height above the underside) [m]."""
    match shape:
        case Bottle(neck_radius=r, height=h):
            return r, h
        case Cup(radius=r, height=h):
            return r, h
        case Can(radius=r, height=h):
            return 0.5 * r, h
        case Box(size=(x, y, z)):
            return 0.4 * min(x, y), z
        case _:
            return 0.0, height(shape)


@dataclass(frozen=True)
class Grasps:
    """Candidate poses of the point between the pads in an item's frame, N of them.

    Attributes:
        position: (N, 3) [m].
        rotation: (N, 3, 3); column 2 is the direction of approach, column 1 the direction in which the fingers open.
        width: (N,) what must fit between the pads [m].
        kind: top, side, low, slant, rim or knob, one for each.
    """

    position: Floats
    rotation: Floats
    width: Floats
    kind: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, index: NDArray[np.intp]) -> Grasps:
        """The candidates at `index`."""
        return Grasps(
            self.position[index], self.rotation[index], self.width[index], tuple(self.kind[int(i)] for i in index)
        )


def frame(approach: Floats, opening: Floats) -> Floats:
    """The rotation whose column 2 is `approach` and column 1 `opening` (made orthogonal), (3, 3)."""
    z = approach / np.linalg.norm(approach)
    y = opening - z * (opening @ z)
    y = y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


class _Builder:
    def __init__(self) -> None:
        self.rows: list[tuple[Floats, Floats, float, str]] = []

    def top(self, at: tuple[float, float, float], width: float, yaw: float, kind: str = "top") -> None:
        opening = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        self.rows.append((np.array(at), frame(np.array([0.0, 0.0, -1.0]), opening), width, kind))

    def side(self, z: float, top: float, width: float, azimuth: float, depth: float = 0.0) -> None:
        """Approach level at height `z`, and from 22 and 45 degrees above, coming from direction `azimuth` of the item.

        A slanted hand has to take it near its upper end `top`, or the palm (4 cm behind the pads) would press on it.
        """
        toward = np.array([-math.cos(azimuth), -math.sin(azimuth), 0.0])
        opening = np.array([-toward[1], toward[0], 0.0])
        self.rows.append((np.array([0, 0, z]) - toward * depth, frame(toward, opening), width, "side"))
        position = np.array([0, 0, max(z, top - 0.022)]) - toward * depth
        # The wrist hangs 9 cm below a level hand, so over a worktop only a slanted one has room.
        for kind, degrees in (("low", 22), ("slant", 45)):
            c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            self.rows.append((position, frame(toward * c - np.array([0, 0, s]), opening), width, kind))

    def done(self) -> Grasps:
        return Grasps(
            np.array([r[0] for r in self.rows]),
            np.array([r[1] for r in self.rows]),
            np.array([r[2] for r in self.rows]),
            tuple(r[3] for r in self.rows),
        )


def grasps(shape: Shape) -> Grasps:
    """Every grasp that the shape itself offers, whatever the gripper: widths are checked later."""
    out = _Builder()
    match shape:
        case Box(size=(x, y, z)):
            grip = z / 2 if z <= 0.05 else z - 0.03
            for yaw in (0, math.pi):
                out.top((0, 0, max(grip, 0.016)), x, yaw)
                out.top((0, 0, max(grip, 0.016)), y, yaw + math.pi / 2)
            level = max(z / 2, min(0.055, z - 0.015))
            for k in range(4):
                across, along = (y, x) if k % 2 == 0 else (x, y)
                out.side(level, z, across, k * math.pi / 2, max(0.0, along / 2 - 0.03))
        case Can(radius=r, height=h):
            _round(out, r, h)
        case Ball(radius=r):
            for k in range(8):
                out.top((0, 0, r), 2 * r, k * math.pi / 4)
            for k in range(12):
                out.side(r, r, 2 * r, k * math.pi / 6)
        case Bottle(radius=r, height=h, neck_radius=n, neck_height=k):
            body = h - k
            for i in range(12):
                out.side(0.55 * body, body, 2 * r, i * math.pi / 6)
            for i in range(8):
                out.top((0, 0, h - 0.02), 2 * n, i * math.pi / 4)
        case Pot(height=h):
            for k in range(2):
                out.top((0, 0, h + 0.028), 0.024, math.pi / 2 + k * math.pi, "knob")
        case Cup():
            _cup(out, shape)
    return out.done()


def _round(out: _Builder, radius: float, tall: float) -> None:
    for k in range(8):
        out.top((0, 0, tall - 0.025), 2 * radius, k * math.pi / 4)
    for k in range(12):
        out.side(max(0.55 * tall, min(0.055, tall - 0.015)), tall, 2 * radius, k * math.pi / 6)


def _cup(out: _Builder, cup: Cup) -> None:
    outer = 2 * cup.radius + cup.wall
    if cup.height > 0.05:
        if cup.handle:
            out.top((0, 0, cup.height - 0.018), outer, math.pi / 2)
            out.top((0, 0, cup.height - 0.018), outer, -math.pi / 2)
        else:
            for k in range(12):
                out.top((0, 0, cup.height - 0.018), outer, k * math.pi / 6)
        for k in range(12):
            azimuth = k * math.pi / 6
            # The ear points to azimuth 0: keep palm and fingers 35 degrees away from it.
            if (
                cup.handle
                and min(abs(math.remainder(azimuth - b, math.tau)) for b in (0, math.pi / 2, -math.pi / 2)) < 0.61
            ):
                continue
            out.side(0.55 * cup.height, cup.height, outer, azimuth)
    for k in range(12):
        azimuth = k * math.pi / 6
        if cup.handle and abs(math.remainder(azimuth, math.tau)) < 0.6:
            continue
        at = (cup.radius * math.cos(azimuth), cup.radius * math.sin(azimuth), cup.height - PAD_HALF_HEIGHT)
        out.top(at, cup.wall + 0.003, azimuth, "rim")
