"""What-if questions about a state: would the robot touch something in this posture, and how close would it come?

A view works on a copy of the model in which nothing but the robot (and what it holds) collides, and nothing sleeps, so a query
costs a fraction of a physics step and never touches the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.kinematics import matrix_quat
from handrail.world.mujoco.scene import UNSEEN, Scene
from handrail.world.mujoco.sim import Pose, Sim

Floats = NDArray[np.float64]

TOUCH = -0.0005
"""Deeper than this counts as touching [m]."""
CLEARANCE_LIMIT = 0.10
"""Clearances beyond this are not told apart [m]."""


class _Buffers:
    """The planning model and its data; one per `Sim`, made when first needed."""

    def __init__(self, scene: Scene) -> None:
        import copy

        self.model: Any = copy.copy(scene.model)
        self.model.opt.enableflags = 0
        robot = scene.robot_geom
        solid = np.asarray(scene.model.geom_contype) > 0
        blind = np.array([o == UNSEEN for o in scene.owner])
        self.model.geom_contype[blind] = 0
        self.affinity = np.where(robot & solid, 1, 0).astype(np.int32)
        self.model.geom_conaffinity[:] = self.affinity
        self.data: Any = mujoco.MjData(self.model)
        self.user: View | None = None


@dataclass(frozen=True)
class Held:
    """What is in the hand: its name and its pose in the grip's frame."""

    name: str
    rel: Pose


def held_in(sim: Sim) -> Held | None:
    """What the hand holds, with the pose it has there."""
    name = sim.held()
    return None if name is None else Held(name, sim.grip.inverse() @ sim.pose(name))


class View:
    """Collision queries against one state.

    Args:
        sim: the state.
        held: what moves along with the hand.
        believed: things taken to be where they were perceived, not where they are.
    """

    def __init__(self, sim: Sim, held: Held | None = None, believed: Mapping[str, Pose] | None = None) -> None:
        self.scene = sim.scene
        buffers = sim.__dict__.get("_view_buffers")
        if buffers is None:
            buffers = sim.__dict__["_view_buffers"] = _Buffers(sim.scene)
        self._buffers = buffers
        self.model, self.data = buffers.model, buffers.data
        self._qpos = sim.data.qpos.copy()
        for name, pose in (believed or {}).items():
            q = self.scene.item_qpos[name]
            self._qpos[q : q + 3] = pose.p
            self._qpos[q + 3 : q + 7] = matrix_quat(pose.r)
        self.held = held
        affinity = buffers.affinity
        if held is not None:
            affinity = affinity.copy()
            affinity[self.scene.geom_body == self.scene.body[held.name]] = 1
            self.held_body = self.scene.body[held.name]
            self.held_q = self.scene.item_qpos[held.name]
        else:
            self.held_body = -1
        self._affinity = affinity
        self._install()
        self.site = self.model.site("robot.grip").id
        self.checks = 0

    def _install(self) -> None:
        """Make the shared buffers this view's, where another view used them in between."""
        if self._buffers.user is not self:
            self._buffers.user = self
            self.data.qpos[:] = self._qpos
            self.model.geom_conaffinity[:] = self._affinity

    def pose(self, base: Floats | None, arm: Floats | None, aperture: float | None = None) -> None:
        """Put the robot (and what it holds) into a posture and compute where everything is."""
        self._install()
        data, scene = self.data, self.scene
        if base is not None:
            data.qpos[scene.base_q] = base
        if arm is not None:
            data.qpos[scene.arm_q] = arm
        if aperture is not None:
            data.qpos[scene.finger_q] = aperture
        mujoco.mj_kinematics(self.model, data)
        if self.held is not None:
            r = data.site_xmat[self.site].reshape(3, 3)
            rel = self.held.rel
            q = self.held_q
            data.qpos[q : q + 3] = data.site_xpos[self.site] + r @ rel.p
            data.qpos[q + 3 : q + 7] = matrix_quat(r @ rel.r)
            mujoco.mj_kinematics(self.model, data)

    def hits(
        self,
        base: Floats | None,
        arm: Floats | None,
        *,
        aperture: float | None = None,
        touch: Iterable[str] = (),
    ) -> list[str]:
        """Geoms that the robot or what it holds would touch in a posture; the fingers (and the load) may touch what `touch` names.

        Names in `touch` are items, fixtures or geoms. Robot parts touching each other are reported as `robot`.
        """
        self.pose(base, arm, aperture)
        self.checks += 1
        return [name for name, _ in self._contacts(frozenset(touch), TOUCH)]

    def near(self, base: Floats | None, arm: Floats | None, margin: float, *, aperture: float | None = None,
             touch: Iterable[str] = ()) -> list[str]:  # fmt: skip
        """As `hits`, but also what would come closer than `margin` [m]."""
        self.pose(base, arm, aperture)
        self.checks += 1
        self.model.opt.enableflags = 1
        self.model.opt.o_margin = margin
        try:
            return [name for name, _ in self._contacts(frozenset(touch), margin)]
        finally:
            self.model.opt.enableflags = 0

    def lean(self) -> float:
        """Cosine of the angle between the load's axis and the vertical in the posture set last; 1 with nothing held."""
        return 1.0 if self.held is None else float(self.data.xmat[self.held_body][8])

    def clear(self, base: Floats | None, arm: Floats | None, **kw: Any) -> bool:
        """Whether `hits` finds nothing."""
        return not self.hits(base, arm, **kw)

    def clearance(self, touch: Iterable[str] = ()) -> float:
        """Smallest distance to anything in the posture set last [m], at most `CLEARANCE_LIMIT`."""
        self.model.opt.enableflags = 1  # mjENBL_OVERRIDE: every contact gets the margin below
        self.model.opt.o_margin = CLEARANCE_LIMIT
        try:
            found = self._contacts(frozenset(touch), CLEARANCE_LIMIT)
        finally:
            self.model.opt.enableflags = 0
        return min((d for _, d in found), default=CLEARANCE_LIMIT)

    def _contacts(self, touch: frozenset[str], below: float) -> list[tuple[str, float]]:
        data, scene = self.data, self.scene
        mujoco.mj_collision(self.model, data)
        if not data.ncon:
            return []
        contact = data.contact
        dist = np.asarray(contact.dist)
        near = np.flatnonzero(dist < below)
        if not len(near):
            return []
        geoms = np.asarray(contact.geom)[near]
        out = []
        for (a, b), d in zip(geoms, dist[near], strict=True):
            a, b = int(a), int(b)
            held_a, held_b = scene.geom_body[a] == self.held_body, scene.geom_body[b] == self.held_body
            robot_a, robot_b = scene.robot_geom[a], scene.robot_geom[b]
            if not (robot_a or robot_b or held_a or held_b):
                continue
            if robot_a and robot_b:
                out.append((scene.geom_name[b], float(d)))
                continue
            if (held_a and robot_b and scene.hand_geom[b]) or (held_b and robot_a and scene.hand_geom[a]):
                continue
            ours, other = (a, b) if robot_a or (held_a and not robot_b) else (b, a)
            name = scene.geom_name[other]
            if (name in touch or scene.owner[other] in touch) and (
                scene.finger_geom[ours] or scene.geom_body[ours] == self.held_body
            ):
                continue
            if name == "floor" and scene.robot_geom[ours]:
                continue
            out.append((name, float(d)))
        return out
