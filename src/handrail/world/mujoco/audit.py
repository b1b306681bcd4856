"""Is a state physically sound? Checked by program for every state that a picture shows."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.sim import Sim

DEEPEST = 0.002
"""Largest penetration that passes [m]."""
MOVING = 0.05
"""Speed above which an item counts as moving, not resting [m/s]."""


@dataclass(frozen=True)
class Audit:
    """What was found.

    Attributes:
        deepest: largest penetration between two geoms [m], and which.
        floating: resting items that nothing supports.
        loose: an item that nothing but the robot supports without both pads holding it, if any.
    """

    deepest: float
    pair: tuple[str, str]
    floating: tuple[str, ...]
    loose: str | None

    @property
    def sound(self) -> bool:
        """Whether everything holds."""
        return self.deepest <= DEEPEST and not self.floating and self.loose is None


def audit(sim: Sim) -> Audit:
    """Look at the contacts of a copy in which nothing sleeps (sleeping objects' contacts are not computed)."""
    scene, model = sim.scene, sim.model
    awake = sim.__dict__.get("_audit")
    if awake is None:
        import copy

        other = copy.copy(model)
        other.opt.enableflags = 0
        awake = sim.__dict__["_audit"] = (other, mujoco.MjData(other))
    other, data = awake
    data.qpos[:], data.qvel[:], data.ctrl[:] = sim.data.qpos, sim.data.qvel, sim.data.ctrl
    mujoco.mj_fwdPosition(other, data)
    contact = data.contact
    geoms, dist = np.asarray(contact.geom).reshape(-1, 2), np.asarray(contact.dist).reshape(-1)
    deepest, pair = 0.0, ("", "")
    if len(dist):
        # The fingers squeeze on purpose: their pads' elastic press is no penetration error, so the pads have the same bound.
        i = int(np.argmin(dist))
        deepest, pair = max(0.0, float(-dist[i])), (scene.geom_name[geoms[i, 0]], scene.geom_name[geoms[i, 1]])
    touching = geoms[dist < 0.0008]
    owner = scene.geom_body[touching]
    held = sim.held()
    floating = []
    for name in scene.items:
        body = scene.body[name]
        v = scene.item_qvel[name]
        if float(np.linalg.norm(sim.data.qvel[v : v + 3])) > MOVING or name == UNSEEN:
            continue
        if not (owner == body).any():
            floating.append(name)
    return Audit(deepest, pair, tuple(floating), _loose(sim, touching, owner, held))


def _loose(sim: Sim, touching: NDArray[np.int32], owner: NDArray[np.int32], held: str | None) -> str | None:
    """An item that hangs on the robot alone without both pads holding it."""
    scene = sim.scene
    for name in scene.items:
        mine = (owner == scene.body[name]).any(axis=1)
        if name == held or not mine.any():
            continue
        others = [
            int(b if oa == scene.body[name] else a) for (a, b), (oa, _) in zip(touching[mine], owner[mine], strict=True)
        ]
        if all(scene.robot_geom[g] for g in others):
            return name
    return None
