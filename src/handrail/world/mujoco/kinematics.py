"""Forward and inverse kinematics of a serial chain, for many targets at once.

A plan has to look at hundreds of (stance, grasp, wrist flip) combinations, so the chain is evaluated in batches with
numpy instead of one at a time on the simulator's data; nothing here touches the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def quat_matrix(q: Floats) -> Floats:
    """Rotation matrix of a (normalised here) quaternion w, x, y, z."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_quat(r: Floats) -> Floats:
    """Unit quaternion (w, x, y, z) of a rotation matrix (Shepperd's method)."""
    t = np.array([r[0, 0] + r[1, 1] + r[2, 2], r[0, 0], r[1, 1], r[2, 2]])
    i = int(np.argmax(t))
    if i == 0:
        q = np.array([1 + t[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    elif i == 1:
        q = np.array([r[2, 1] - r[1, 2], 1 + 2 * t[1] - t[0], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]])
    elif i == 2:
        q = np.array([r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 + 2 * t[2] - t[0], r[1, 2] + r[2, 1]])
    else:
        q = np.array([r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 + 2 * t[3] - t[0]])
    return np.asarray(q / np.linalg.norm(q))


def rot_z(a: float | Floats) -> Floats:
    """Rotation about z by `a` [rad]; (..., 3, 3)."""
    a = np.asarray(a, float)
    c, s, o, i = np.cos(a), np.sin(a), np.zeros_like(a), np.ones_like(a)
    return np.stack([np.stack([c, -s, o], -1), np.stack([s, c, o], -1), np.stack([o, o, i], -1)], -2)


def axis_rotation(axis: Floats, angle: float) -> Floats:
    """Rotation about a unit axis by `angle` [rad] (Rodrigues)."""
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k))


def rotation_error(target: Floats, now: Floats) -> Floats:
    """Rotation vector (scaled sine, saturated near half a turn) that takes `now` to `target`; (B, 3)."""
    e = target @ now.transpose(0, 2, 1)
    v = 0.5 * np.stack([e[:, 2, 1] - e[:, 1, 2], e[:, 0, 2] - e[:, 2, 0], e[:, 1, 0] - e[:, 0, 1]], -1)
    c = (np.trace(e, axis1=1, axis2=2) - 1) / 2
    far = c < -0.2
    if far.any():
        n = np.linalg.norm(v[far], axis=1, keepdims=True)
        v[far] = np.where(n > 1e-6, v[far] / np.maximum(n, 1e-9) * 2.0, np.array([2.0, 0.0, 0.0]))
    return v


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial chain of n one-degree joints.

    Attributes:
        offsets: (n + 1, 3) fixed translations before each joint and before the tip [m].
        turns: (n + 1, 3, 3) fixed rotations, likewise.
        axes: (n, 3) joint axes in the joint's frame.
        slides: (n,) whether a joint translates.
        low, high: (n,) joint ranges [rad or m]; infinite for a base joint.
    """

    offsets: Floats
    turns: Floats
    axes: Floats
    slides: Bools
    low: Floats
    high: Floats

    @classmethod
    def extract(cls, model: Any, joints: Sequence[str], site: str, root: str) -> Chain:
        """Read the chain from a compiled model, from body `root` (its own joints excluded) to `site`."""
        site_id = model.site(site).id
        root_id = model.body(root).id
        path = []
        body = int(model.site_bodyid[site_id])
        while body != root_id:
            path.append(body)
            body = int(model.body_parentid[body])
        offsets, turns, axes, slides, ranges = [], [], [], [], []
        p, r = np.zeros(3), np.eye(3)
        for body in reversed(path):
            p = p + r @ model.body_pos[body]
            r = r @ quat_matrix(np.asarray(model.body_quat[body]))
            first = int(model.body_jntadr[body])
            for j in range(first, first + int(model.body_jntnum[body])):
                if model.joint(j).name not in joints:
                    continue
                offsets.append(p)
                turns.append(r)
                p, r = np.zeros(3), np.eye(3)
                axes.append(np.asarray(model.jnt_axis[j], float).copy())
                slides.append(int(model.jnt_type[j]) == 2)  # mjJNT_SLIDE; enum comparison is unsafe (pybind 3.1)
                limited = bool(model.jnt_limited[j])
                ranges.append(np.asarray(model.jnt_range[j], float) if limited else np.array([-np.inf, np.inf]))
        offsets.append(p + r @ model.site_pos[site_id])
        turns.append(r @ quat_matrix(np.asarray(model.site_quat[site_id])))
        span = np.array(ranges)
        return cls(np.array(offsets), np.array(turns), np.array(axes), np.array(slides), span[:, 0], span[:, 1])

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.axes)

    def forward(self, q: Floats) -> tuple[Floats, Floats]:
        """Tip position (B, 3) and rotation (B, 3, 3) in the root's frame for joint values q (B, n)."""
        p, r, _ = self._run(q, False)
        return p, r

    def jacobian(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Tip position, rotation, and Jacobian (B, 6, n): linear rows, then angular."""
        p, r, cols = self._run(q, True)
        return p, r, cols

    def _run(self, q: Floats, want: bool) -> tuple[Floats, Floats, Floats]:
        count = len(q)
        p = np.zeros((count, 3))
        r = np.broadcast_to(np.eye(3), (count, 3, 3))
        origins, directions = np.empty((self.n, count, 3)), np.empty((self.n, count, 3))
        cos, sin = np.cos(q), np.sin(q)
        for i in range(self.n):
            p = p + r @ self.offsets[i]
            r = r @ self.turns[i]
            d = r @ self.axes[i]
            origins[i], directions[i] = p, d
            if self.slides[i]:
                p = p + d * q[:, i, None]
            else:
                r = r @ self._turn(i, cos[:, i], sin[:, i])
        p = p + r @ self.offsets[-1]
        r = r @ self.turns[-1]
        if not want:
            return p, r, np.empty(0)
        jac = np.zeros((count, 6, self.n))
        linear = np.cross(directions, p[None] - origins)
        linear[self.slides] = directions[self.slides]
        jac[:, :3] = linear.transpose(1, 2, 0)
        directions[self.slides] = 0
        jac[:, 3:] = directions.transpose(1, 2, 0)
        return p, r, jac

    def _turn(self, i: int, c: Floats, s: Floats) -> Floats:
        x, y, z = self.axes[i]
        k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.asarray(np.eye(3) + s[:, None, None] * k + (1 - c)[:, None, None] * (k @ k))

    def solve(
        self,
        position: Floats,
        rotation: Floats,
        start: Floats,
        rest: Floats,
        *,
        iterations: int = 40,
        weights: Floats | None = None,
        bias: float = 0.05,
        tolerance: tuple[float, float] = (1e-3, 1e-2),
    ) -> tuple[Floats, Bools]:
        """Damped least squares to B targets at once (Nakamura and Hanafusa 1986), with a fading pull towards `rest`.

        Args:
            position: (B, 3) in the root's frame [m].
            rotation: (B, 3, 3).
            start: (B, n) where each search begins.
            rest: (n,) or (B, n) preferred posture, followed in the null space with a factor 0.85^iteration.
            iterations: budget, a count.
            weights: (n,) how readily a joint moves; 1 for all by default.
            bias: strength of the pull at first.
            tolerance: what counts as there: [m], [rad].

        Returns:
            Joint values (B, n) and whether each target was reached (B,).
        """
        q = np.clip(np.array(start, float), self.low + 0.01, self.high - 0.01)
        done = np.zeros(len(q), bool)
        live = np.arange(len(q))
        w = np.ones(self.n) if weights is None else weights
        pull = np.broadcast_to(rest, q.shape)
        eye6, eye = 1e-4 * np.eye(6), np.eye(self.n)
        for it in range(iterations + 1):
            if not len(live):
                break
            x = q[live]
            p, r, jac = self.jacobian(x)
            ep = position[live] - p
            er = rotation_error(rotation[live], r)
            np_, nr = np.linalg.norm(ep, axis=1), np.linalg.norm(er, axis=1)
            hit = (np_ < tolerance[0]) & (nr < tolerance[1])
            if hit.any():
                done[live[hit]] = True
                keep = ~hit
                live, x, jac = live[keep], x[keep], jac[keep]
                ep, er, np_, nr = ep[keep], er[keep], np_[keep], nr[keep]
                if not len(live):
                    break
            if it == iterations:
                break
            jac = jac * w
            jac[:, 3:] *= 0.3
            e = np.concatenate(
                [ep * np.minimum(1, 0.2 / np.maximum(np_, 1e-9))[:, None],
                 0.3 * er * np.minimum(1, 0.8 / np.maximum(nr, 1e-9))[:, None]], axis=1,
            )  # fmt: skip
            jt = jac.transpose(0, 2, 1)
            inverse = jt @ np.linalg.inv(jac @ jt + eye6)
            step = (inverse @ e[:, :, None])[:, :, 0]
            if bias > 0 and it < 25:
                towards = (bias * 0.85**it) * (pull[live] - x)
                step = step + ((eye - inverse @ jac) @ towards[:, :, None])[:, :, 0]
            q[live] = np.clip(x + np.clip(step * w, -0.3, 0.3), self.low + 0.01, self.high - 0.01)
        return q, done
