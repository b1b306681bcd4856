"""Wipe a surface with a held sponge: press it down and stroke over a patch; what it touched is what counts."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked
from handrail.world.mujoco.fixtures import Place
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.pick import CHECKS
from handrail.world.mujoco.reach import Search, line, search
from handrail.world.mujoco.sim import Pose
from handrail.world.mujoco.spec import Box
from handrail.world.mujoco.view import View, held_in

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

PATCH = (0.12, 0.05)
"""Half extents of the patch that stands for the surface [m]; a whole table is not swept."""
MARGIN = 0.02
CELL = 0.02
ENOUGH = 0.8
"""Share of the patch that the sponge must have pressed on."""
PRESS = 0.004
"""How deep the sponge's underside is commanded below the surface [m]."""


def wipe(act: Act, tool: str, where: str) -> Motion:
    """Wipe a patch of `where` with the held `tool`.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    sim, scene = act.sim, act.scene
    if sim.held() != tool or act.holding is None:
        raise SkillFailure(Code.NOT_HOLDING, f"The hand does not hold the {spoken(tool)}.", (tool,))
    place = scene.places[where]
    if place.door is not None and not sim.is_open(place.door):
        raise SkillFailure(Code.DOOR_CLOSED, f"The {spoken(place.door)} is closed.", (place.door,))
    yield from act.tidy()
    act.holding = held_in(sim)
    assert act.holding is not None
    floor = act.floor()
    targets = _patches(act, tool, place)
    back = act.holding.rel.inverse()
    grips = [_strokes(c, yaw, 0.0)[0] @ back for c, yaw in targets]
    found, reasons = Search(), []
    view = View(sim, act.holding)
    chosen = None
    cost = np.array([0.05 * (i // 2) for i in range(len(targets))])
    for n, reached in enumerate(
        search(
            sim,
            floor,
            np.array([g.p for g in grips]),
            np.array([g.r for g in grips]),
            cost,
            targets[0][0],
            found,
            flip=False,
        )
    ):
        if n >= CHECKS:
            break
        centre, yaw = targets[reached.index]
        above = [Pose(x.p + np.array([0, 0, 0.006]), x.r) @ back for x in _strokes(centre, yaw, 0.0)]
        qs = line(scene, reached.base, reached.arm, above)
        pre = line(scene, reached.base, reached.arm, [Pose(above[0].p + np.array([0, 0, 0.08]), above[0].r)])
        if qs is None or pre is None:
            reasons.append("robot")
            continue
        bad = next((h for q in [pre[0], *qs] if (h := view.hits(reached.base, q))), None)
        if bad:
            reasons.append(scene.owner[scene.geom[bad[0]]])
            continue
        if ArmPath(view, reached.base).find(sim.arm, pre[0], budget=30) is None:
            reasons.append("robot")
            continue
        chosen = (reached, centre, yaw, pre)
        break
    if chosen is None:
        raise blocked(found, reasons, "a patch to wipe", where)
    reached, centre, yaw, pre = chosen
    yield from act.go(reached.base, floor)
    act.holding = held_in(sim) or act.holding
    back = act.holding.rel.inverse()
    start = _strokes(centre, yaw, 0.0)[0] @ back
    poses = [Pose(start.p + np.array([0, 0, 0.08]), start.r)]
    poses += [Pose(x.p - np.array([0, 0, PRESS]), x.r) @ back for x in _strokes(centre, yaw, 0.0)]
    q = line(scene, sim.base, pre[0], poses, jump=1.2)
    if q is None:
        raise SkillFailure(
            Code.UNREACHABLE, f"The arm does not reach the patch on the {spoken(where)} from here.", (where,)
        )
    yield from act.arm_to(q[0], View(sim, act.holding), factor=0.8)
    act.touch = {tool, where, place.fixture}
    yield from motion.track(sim, q[:2], 0.15, 0.08)
    touched: set[tuple[int, int]] = set()
    surface = sim.surface(place)
    for a, b, length in _legs(q[1:]):
        yield from motion.track(
            sim, np.stack([a, b]), 0.2, length, watch=lambda: _mark(act, tool, place, surface, touched)
        )
    yield from motion.track(sim, np.stack([q[-1], *_lifted(act, q[-1])]), 0.2, 0.08)
    yield from act.back_off(View(sim, act.holding), act._away())
    yield from act.draw_in(0.8)
    share = _covered(centre, yaw, surface, touched)
    act.notes["wiped_share"] = share
    if share < ENOUGH:
        raise SkillFailure(
            Code.NOT_WIPED,
            f"The {spoken(tool)} touched {share * 100:.0f} % of the patch on the {spoken(where)}.",
            (where,),
        )
    sim.memory = replace(sim.memory, wet=sim.memory.wet | {where})
    act.bystanders({tool})


def _patches(act: Act, tool: str, place: Place) -> list[tuple[Floats, float]]:
    """Middles and directions [rad] of patches with nothing on them, nearest first."""
    sim, scene = act.sim, act.scene
    surface = sim.surface(place)
    others = []
    for n, i in scene.spec.items.items():
        if n != tool and sim.place_of(n) == place.name:
            local = surface.r.T @ (sim.sense(n).p - surface.p)
            others.append((local[0], local[1], shapes.footprint(i.shape)))
    scored = []
    long, short = PATCH[0] + MARGIN, PATCH[1] + MARGIN
    for turn, (hx, hy) in ((0.0, (long, short)), (math.pi / 2, (short, long))):
        wx, wy = (max(0.0, h - s + 0.08) for h, s in zip(place.half, (hx, hy), strict=True))
        for x in np.linspace(-wx, wx, 9):
            for y in np.linspace(-wy, wy, 5):
                if any(math.hypot(max(0.0, abs(a - x) - hx), max(0.0, abs(b - y) - hy)) < r for a, b, r in others):
                    continue
                p = surface.p + surface.r @ np.array([x, y, 0.0])
                scored.append((round(float(np.linalg.norm(p[:2] - sim.base[:2])), 4), tuple(p), surface.yaw + turn))
    if not scored:
        raise SkillFailure(Code.NO_ROOM, f"There is no free patch on the {spoken(place.name)} to wipe.", (place.name,))
    return [(np.array(q), yaw + half) for _, q, yaw in sorted(scored)[:8] for half in (0.0, math.pi)]


def _strokes(centre: Floats, yaw: float, dip: float) -> list[Pose]:
    """Poses of the sponge at the ends of the strokes: two lanes there and back."""
    r = rot_z(yaw)
    corners = [(-1, -1), (0, -1), (1, -1), (1, 1), (0, 1), (-1, 1)]
    # The sponge itself is 10 by 7 cm, so its middle stays within the patch.
    return [Pose(centre + r @ np.array([a * 0.075, b * 0.028, -dip]), r) for a, b in corners]


def _legs(q: Floats) -> list[tuple[Floats, Floats, float]]:
    lengths = (0.075, 0.075, 0.056, 0.075, 0.075)
    return [(a, b, n) for a, b, n in zip(q[:-1], q[1:], lengths, strict=True)]


def _lifted(act: Act, q: Floats) -> list[Floats]:
    p, r = act.scene.whole.forward(np.concatenate([act.sim.base, q])[None])
    up = line(act.scene, act.sim.base, q, [Pose(p[0] + np.array([0, 0, 0.08]), r[0])])
    return [q] if up is None else [up[0]]


def _mark(act: Act, tool: str, place: Place, surface: Pose, touched: set[tuple[int, int]]) -> None:
    """Note which cells of the surface are under the sponge while the two touch."""
    sim, scene = act.sim, act.scene
    body = scene.body[tool]
    pairs = sim.contact_pairs()
    owners = scene.geom_body[pairs]
    mine = pairs[(owners == body).any(axis=1)]
    if not any(scene.owner[g] == place.fixture for g in mine.ravel()):
        return
    pose = sim.pose(tool)
    shape = scene.spec.items[tool].shape
    hx, hy = (shape.size[0] / 2, shape.size[1] / 2) if isinstance(shape, Box) else (0.03, 0.03)
    for x in np.arange(-hx, hx + 1e-9, CELL / 2):
        for y in np.arange(-hy, hy + 1e-9, CELL / 2):
            local = surface.r.T @ (pose.p + pose.r @ np.array([x, y, 0.0]) - surface.p)
            touched.add((math.floor(local[0] / CELL), math.floor(local[1] / CELL)))


def _covered(centre: Floats, yaw: float, surface: Pose, touched: set[tuple[int, int]]) -> float:
    r = rot_z(yaw)
    cells = set()
    for x in np.arange(-PATCH[0], PATCH[0] + 1e-9, CELL / 2):
        for y in np.arange(-PATCH[1], PATCH[1] + 1e-9, CELL / 2):
            local = surface.r.T @ (centre + r @ np.array([x, y, 0.0]) - surface.p)
            cells.add((math.floor(local[0] / CELL), math.floor(local[1] / CELL)))
    return len(cells & touched) / len(cells)
