"""Where a load is carried: upright, drawn in before the column, and how to get it there level."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.reach import WRIST, in_base, starts, weights
from handrail.world.mujoco.sim import Pose, Sim
from handrail.world.mujoco.view import Held, View

Floats = NDArray[np.float64]

CARRY_AT = ((0.36, 0.0), (0.40, 0.12), (0.40, -0.12), (0.32, 0.0), (0.46, 0.0), (0.54, 0.0))
CARRY_HEIGHTS = (1.15, 1.28, 1.02)


def carry_posture(sim: Sim, view: View, held: Held) -> Floats:
    """Lift and arm with the load upright in front of the column, the nearest such posture to the present one.

    Raises:
        SkillFailure: ARM_BLOCKED when there is none that touches nothing.
    """
    scene, base = sim.scene, sim.base
    back = held.rel.inverse()
    p, r = [], []
    for z in CARRY_HEIGHTS:
        for x, y in CARRY_AT:
            for k in range(12):
                grip = Pose(np.array([x, y, z]), rot_z(k * math.tau / 12)) @ back
                # Keep the hand itself at the radius asked for.
                p.append(np.array([x, y, z]))
                r.append(grip.r)
    pp, rr = np.array(p), np.array(r)
    out = []
    low, high, length = scene.reach
    wrist = pp - WRIST * rr[:, :, 2]
    span = np.hypot(np.hypot(wrist[:, 0] - 0.02, wrist[:, 1]), wrist[:, 2] - np.clip(wrist[:, 2], low, high))
    index = np.flatnonzero((span < length) & (span > 0.15))
    for begin in range(0, len(index), 48):
        part = index[begin : begin + 48]
        q, ok = scene.arm.solve(
            pp[part], rr[part], np.repeat(sim.arm[None], len(part), 0), sim.arm, weights=weights(scene), iterations=25
        )
        q2, ok2 = scene.arm.solve(
            pp[part], rr[part], starts(scene, pp[part], rr[part], 0), sim.arm, weights=weights(scene), iterations=25
        )
        out += [a for a, good in zip(q, ok, strict=True) if good] + [a for a, good in zip(q2, ok2, strict=True) if good]
        near = sorted(out, key=lambda a: float(np.max(np.abs(a - sim.arm))))
        for a in near[:12]:
            if view.clear(base, a):
                return np.asarray(a)
    raise SkillFailure(Code.ARM_BLOCKED, f"The arm can't draw in the {spoken(held.name)} upright.", (held.name,))


def level_path(sim: Sim, finder: ArmPath) -> list[Floats] | None:
    """Joint positions that lift the hand and pull it in without turning it, or None."""
    scene, base = sim.scene, sim.base
    grip = sim.grip
    p0, r0 = in_base(base[None], grip.p[None], grip.r[None])
    w = weights(scene)
    for z in CARRY_HEIGHTS:
        for x, y in CARRY_AT:
            corner = [np.array([*p0[0, :2], max(z, p0[0, 2])]), np.array([x, y, z])]
            path, q, at = [sim.arm], sim.arm, p0[0]
            for end in corner:
                n = max(1, int(np.linalg.norm(end - at) / 0.05))
                for k in range(1, n + 1):
                    out, ok = scene.arm.solve(
                        (at + (end - at) * k / n)[None], r0, q[None], q, bias=0.0, weights=w, iterations=25
                    )
                    if not ok[0] or not finder.straight(q, out[0]):
                        break
                    q = out[0]
                    path.append(q)
                else:
                    at = end
                    continue
                break
            else:
                return [path[0], *path[1:-1:2], path[-1]]
    return None
