"""A drawing of a scene where there is no GL: every geom as a flat shape in an oblique view, far ones first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.sim import Sim

Floats = NDArray[np.float64]

_BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_RING = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0, math.tau, 16, endpoint=False)])


def _hull(points: Floats) -> Floats:
    """Convex hull of points (N, 2), in order (Andrew's monotone chain)."""
    pts = sorted({(round(float(x), 5), round(float(y), 5)) for x, y in points})
    if len(pts) < 3:
        return np.array(pts)

    def half(run: list[tuple[float, float]]) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for p in run:
            while len(out) > 1 and (out[-1][0] - out[-2][0]) * (p[1] - out[-2][1]) <= (out[-1][1] - out[-2][1]) * (
                p[0] - out[-2][0]
            ):
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(half(pts) + half(pts[::-1]))


def _corners(kind: int, size: Floats) -> Floats:
    """Points whose hull is the geom, in its own frame. Kinds are MuJoCo's: 2 sphere, 3 capsule, 5 cylinder, 6 box."""
    if kind == 6:
        return np.asarray(_BOX * size)
    if kind == 5:
        ring = _RING * size[0]
        return np.concatenate([np.column_stack([ring, np.full(16, z)]) for z in (-size[1], size[1])])
    radius = size[0]
    ball = np.concatenate([np.column_stack([_RING * math.cos(b), np.full(16, math.sin(b))]) for b in (-0.9, 0.0, 0.9)])
    ball = np.concatenate([ball, [[0, 0, 1.0], [0, 0, -1.0]]]) * radius
    if kind == 2:
        return np.asarray(ball)
    end = np.array([0, 0, size[1]])
    return np.concatenate([ball + end, ball - end])


def draw(sim: Sim, width: int = 640, height: int = 480, *, around: Floats | None = None, span: float = 0.0) -> str:
    """The scene as an SVG text.

    Args:
        sim: the state.
        width: of the picture [px].
        height: of the picture [px].
        around: (3,) what to look at; the whole home by default.
        span: width of what is seen [m]; 0 fits the whole home.
    """
    model, data, scene = sim.model, sim.data, sim.scene
    # Seen from the south and above, a little turned: an oblique parallel projection.
    turn, tilt = math.radians(12), math.radians(48)
    right = np.array([math.cos(turn), math.sin(turn), 0])
    view = np.array([-math.sin(turn) * math.cos(tilt), math.cos(turn) * math.cos(tilt), -math.sin(tilt)])
    up = np.cross(right, view)
    shapes: list[tuple[float, str]] = []
    rooms = scene.spec.rooms.values()
    lows, highs = (
        np.array([f(r.low[i] if f is min else r.high[i] for r in rooms) for i in (0, 1)]) for f in (min, max)
    )
    centre = np.array([*(lows + highs) / 2, 0.4]) if around is None else np.asarray(around)
    scale = width / (span or float(highs[0] - lows[0]) * 1.15)

    def flat(points: Floats) -> Floats:
        rel = points - centre
        return np.column_stack([width / 2 + rel @ right * scale, height / 2 - rel @ up * scale])

    floor = np.array(
        [[*p, 0.0] for p in ((lows[0], lows[1]), (highs[0], lows[1]), (highs[0], highs[1]), (lows[0], highs[1]))]
    )
    shapes.append((math.inf, _polygon(flat(floor), (0.80, 0.74, 0.66), 1.0)))
    for g in range(model.ngeom):
        name = scene.geom_name[g]
        if name == "floor" or (scene.owner[g] == UNSEEN and data.geom_xpos[g][1] > highs[1] + 1):
            continue
        r = data.geom_xmat[g].reshape(3, 3)
        points = data.geom_xpos[g] + _corners(int(model.geom_type[g]), np.asarray(model.geom_size[g])) @ r.T
        rgba = np.asarray(model.geom_rgba[g])
        near = name.startswith("wall") and data.geom_xpos[g][1] < centre[1] + 0.5 and abs(r[0, 0]) > 0.5
        opacity = 0.25 if name.startswith("wall") and (near or model.geom_size[g][0] < 0.1) else 1.0
        depth = float(data.geom_xpos[g] @ view) - 0.02 * data.geom_xpos[g][2]
        if name.startswith("wall"):
            depth += 0.5 if opacity < 1 else 20.0  # the far walls are behind everything
        shapes.append((depth, _polygon(_hull(flat(points)), _shaded(rgba, r), opacity)))
    body = "".join(s for _, s in sorted(shapes, key=lambda x: -x[0]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f'<rect width="{width}" height="{height}" fill="#f4f2ee"/>{body}</svg>'
    )


def _shaded(rgba: Floats, r: Floats) -> tuple[float, float, float]:
    light = 0.82 + 0.18 * abs(float(r[2, 2]))
    return tuple(float(c) * light for c in rgba[:3])  # type: ignore[return-value]


def _polygon(points: Floats, rgb: tuple[float, float, float], opacity: float) -> str:
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    fill = "#" + "".join(f"{int(max(0, min(1, c)) * 255):02x}" for c in rgb)
    line = "#" + "".join(f"{int(max(0, min(1, c * 0.7)) * 255):02x}" for c in rgb)
    extra = f' opacity="{opacity}"' if opacity < 1 else ""
    return f'<polygon points="{at}" fill="{fill}" stroke="{line}" stroke-width="0.6"{extra}/>'


def focus(sim: Sim) -> tuple[Any, float]:
    """What a picture of a step should look at: the hand, with a metre and a half around."""
    return sim.grip.p * (1, 1, 0.8), 2.2
