"""Which stances and wrist angles bring the hand to one of several poses: screened cheaply, then solved in batches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.navigation import Floor, stances
from handrail.world.mujoco.robots import FINGER_REACH, FLANGE
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Pose, Sim

Floats = NDArray[np.float64]

RADII = (0.46, 0.54, 0.62, 0.70, 0.78, 0.86)
CHUNK = 24
BUDGET = 360
"""Combinations of stance and hand pose tried at most (each with two wrist angles): a count, so a loaded machine gives the same plan."""
FLIP = np.diag([-1.0, -1.0, 1.0])
WRIST = FLANGE + FINGER_REACH


@dataclass(frozen=True)
class Reached:
    """A stance and posture that puts the hand at a pose.

    Attributes:
        index: which of the poses asked for.
        base: x, y [m], heading [rad].
        arm: lift and arm joints.
        grip: the hand's pose in the world; its roll may differ from what was asked for by half a turn.
    """

    index: int
    base: Floats
    arm: Floats
    grip: Pose


@dataclass
class Search:
    """What a search looked at: evidence for the verdict when nothing was found."""

    stances: int = 0
    connected: int = 0
    screened: int = 0
    tried: int = 0
    solved: int = 0


def weights(scene: Scene) -> Floats:
    """How readily each joint moves in a solution; the lift less than the arm."""
    return np.array(([0.6] if scene.profile.lift > 0 else []) + [1.0] * 7)


def in_base(base: Floats, p: Floats, r: Floats) -> tuple[Floats, Floats]:
    """World positions (N, 3) and rotations (N, 3, 3) in the frame of base poses (N, 3)."""
    turn = rot_z(-base[:, 2])
    offset = p.copy()
    offset[:, :2] -= base[:, :2]
    return (turn @ offset[:, :, None])[:, :, 0], turn @ r


UPPER = (0.0825, 0.316)
FOREARM = (0.0825, 0.384)
WRIST_OFFSET = 0.088
LIFTS = (0.10, 0.32, -0.12)
"""Heights of the shoulder above the wrist to start from [m]; the search then moves the lift as it needs."""


def starts(scene: Scene, p: Floats, r: Floats, variant: int) -> Floats:
    """Postures (N, joints) from which to search for hand poses given in the base's frame.

    With joints 3 and 5 at zero the arm is planar: two links and a wrist, solved in closed form (elbow up). That is exact where
    the approach lies in the vertical plane through the shoulder, such as for every grasp from above, and near elsewhere.
    """
    n = len(p)
    axis = p - WRIST * r[:, :, 2]
    yaw = np.arctan2(axis[:, 1], axis[:, 0] - 0.02)
    yaw = np.clip(yaw + (0.0, 0.35, -0.35)[variant % 3] * (scene.profile.lift == 0), -2.5, 2.5)
    low, high, _ = scene.reach
    shoulder = np.clip(axis[:, 2] + LIFTS[variant % 3], low + 0.01, max(high - 0.01, low + 0.01))
    psi = np.arcsin(np.clip(-r[:, 2, 2], -1, 1)) - math.pi / 2
    x = np.hypot(axis[:, 0] - 0.02, axis[:, 1]) - WRIST_OFFSET * np.cos(psi)
    z = axis[:, 2] - shoulder + WRIST_OFFSET * np.sin(psi)
    a, b = math.hypot(*UPPER), math.hypot(*FOREARM)
    d = np.clip(np.hypot(x, z), abs(a - b) + 0.03, a + b - 0.003)
    toward = np.arctan2(x, z)
    u = toward - np.arccos(np.clip((a * a + d * d - b * b) / (2 * a * d), -1, 1))
    v = toward + np.arccos(np.clip((b * b + d * d - a * a) / (2 * b * d), -1, 1))
    arm = np.zeros((n, 7))
    arm[:, 0] = yaw
    arm[:, 1] = u - math.atan2(*UPPER)
    arm[:, 3] = arm[:, 1] - math.atan2(*FOREARM) - v
    arm[:, 5] = arm[:, 1] - arm[:, 3] - psi
    q = np.concatenate([(shoulder - low)[:, None], arm], axis=1) if scene.profile.lift > 0 else arm
    _, now = scene.arm.forward(q)
    m = now.transpose(0, 2, 1) @ r
    q[:, -1] = np.arctan2(m[:, 1, 0] - m[:, 0, 1], m[:, 0, 0] + m[:, 1, 1])
    return np.clip(q, scene.arm.low + 0.01, scene.arm.high - 0.01)


def search(
    sim: Sim,
    floor: Floor,
    p: Floats,
    r: Floats,
    penalty: Floats,
    facing: Floats,
    found: Search,
    *,
    budget: int = BUDGET,
    fixed: Floats | None = None,
    flip: bool = True,
) -> Iterator[Reached]:
    """Stance and posture for any of N hand poses, best first; lazily, so that whoever checks them may stop early.

    Args:
        sim: where the robot is now (nearer stances are preferred).
        floor: where it may stand.
        p: (N, 3) positions of the grip in the world.
        r: (N, 3, 3) its rotations.
        penalty: (N,) what using each pose costs, in metres of driving.
        facing: (3,) the point that the base turns to.
        found: counts what was looked at.
        budget: combinations at most.
        fixed: use only these stances (M, 3).
        flip: whether half a turn about the approach is as good; not so when something is held.
    """
    scene = sim.scene
    where = stances(floor, facing, RADII) if fixed is None else fixed
    found.stances = len(where)
    if fixed is None and len(where):
        where = where[floor.connected(sim.base[:2], where[:, :2])]
    found.connected = len(where)
    if not len(where):
        return
    s, g = (a.ravel() for a in np.meshgrid(np.arange(len(where)), np.arange(len(p)), indexing="ij"))
    bp, br = in_base(where[s], p[g], r[g])
    wrist = bp - WRIST * br[:, :, 2]
    low, high, length = scene.reach
    shoulder_z = np.clip(wrist[:, 2], low, high)
    across = np.hypot(wrist[:, 0] - 0.02, wrist[:, 1])
    span = np.hypot(across, wrist[:, 2] - shoulder_z)
    level = np.hypot(br[:, 0, 2], br[:, 1, 2])
    ahead = np.where(level > 0.3, br[:, 0, 2] / np.maximum(level, 1e-9), 1.0)
    possible = (span <= length) & (span > 0.18) & (ahead > 0.2)
    found.screened = int(possible.sum())
    travel = np.linalg.norm(where[s, :2] - sim.base[:2], axis=1)
    score = penalty[g] + 0.25 * travel + 2.0 * np.abs(across - 0.42) + 0.3 * (1 - ahead)
    order = np.flatnonzero(possible)
    order = order[np.argsort(score[order], kind="stable")][:budget]
    w = weights(scene)
    for begin in range(0, len(order), CHUNK):
        part = order[begin : begin + CHUNK]
        found.tried += len(part)
        yield from _solve(scene, where, s[part], g[part], bp[part], br[part], p, r, w, found, flip)


def _solve(
    scene: Scene, where: Floats, s: NDArray[np.intp], g: NDArray[np.intp], bp: Floats, br: Floats, p: Floats, r: Floats,
    w: Floats, found: Search, flip: bool,
) -> Iterator[Reached]:  # fmt: skip
    """Each combination (with both wrist angles), from two starting postures; in the order given."""
    n = len(s)
    pp, rr = (np.concatenate([bp, bp]), np.concatenate([br, br @ FLIP])) if flip else (bp, br)
    q, ok = scene.arm.solve(pp, rr, starts(scene, pp, rr, 0), scene.ready, weights=w, iterations=30)
    if not ok.all():
        again = np.flatnonzero(~ok)
        q2, ok2 = scene.arm.solve(
            pp[again], rr[again], starts(scene, pp[again], rr[again], 1), scene.ready, weights=w, iterations=30
        )
        q[again], ok[again] = q2, ok2
    for i in range(n):
        options = [k for k in ((i, i + n) if flip else (i,)) if ok[k]]
        # The wrist angle nearer to the middle of joint 7's range leaves room for what comes after.
        for k in sorted(options, key=lambda k: abs(q[k, -1])):
            found.solved += 1
            grip = Pose(p[g[i]], r[g[i]] if k < n else r[g[i]] @ FLIP)
            yield Reached(int(g[i]), where[s[i]], q[k], grip)


def line(scene: Scene, base: Floats, arm: Floats, poses: list[Pose], jump: float = 0.8) -> Floats | None:
    """Postures for hand poses along a short line, near `arm`; None if one is out of reach or the arm would swing.

    Returns:
        (len(poses), joints).
    """
    n = len(poses)
    p, r = in_base(np.repeat(base[None], n, 0), np.array([x.p for x in poses]), np.array([x.r for x in poses]))
    q = np.repeat(arm[None], n, 0)
    out, ok = scene.arm.solve(p, r, q, arm, bias=0.0, weights=weights(scene), iterations=30)
    if not ok.all():
        return None
    steps = np.abs(np.diff(np.concatenate([arm[None], out]), axis=0))
    return out if steps.max() < jump else None
