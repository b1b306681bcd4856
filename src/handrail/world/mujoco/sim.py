"""A running scene: its state, one control period at a time, and exact cheap forks of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handrail.errors import DomainError
from handrail.world.mujoco import liquid, shapes
from handrail.world.mujoco.fixtures import DOOR_OPEN, LEVER_ON, Place
from handrail.world.mujoco.kinematics import matrix_quat, rot_z
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.spec import Cup, Item

Floats = NDArray[np.float64]

NEAR = 1.2
"""Distance between base and surface up to which the robot counts as being at a place [m]."""


@dataclass(frozen=True)
class Pose:
    """Position (3,) [m] and rotation (3, 3) in the world."""

    p: Floats
    r: Floats

    def __matmul__(self, other: Pose) -> Pose:
        """This pose, then `other` in its frame."""
        return Pose(self.p + self.r @ other.p, self.r @ other.r)

    def inverse(self) -> Pose:
        """The pose that undoes this one."""
        return Pose(-self.r.T @ self.p, self.r.T)

    @property
    def yaw(self) -> float:
        """Heading of the x axis [rad]."""
        return math.atan2(self.r[1, 0], self.r[0, 0])


@dataclass(frozen=True)
class Noise:
    """How far a perceived pose may be off: standard deviations in the plane and upwards [m], and in yaw [rad]."""

    plane: float = 0.0
    height: float = 0.0
    yaw: float = 0.0

    @property
    def none(self) -> bool:
        """Whether poses are perceived exactly."""
        return self.plane == self.height == self.yaw == 0.0


@dataclass(frozen=True)
class Memory:
    """What the state holds beside MuJoCo's own data; immutable, so that a fork shares it safely.

    Attributes:
        ml: content of each vessel.
        of: what that content is, by vessel.
        spilled: millilitres spilled so far, by place name or `floor`.
        wet: places wiped clean.
        base_at: the place the robot last drove to.
        bumps: where (x, y) and when [s] the base was stopped by something unseen; it plans around these for a while.
        looks: number of perceptions so far; seeds their noise.
        ticks: control periods so far.
        work: mechanical work of the drives so far [J].
    """

    ml: Mapping[str, float] = field(default_factory=dict)
    of: Mapping[str, str | None] = field(default_factory=dict)
    spilled: Mapping[str, float] = field(default_factory=dict)
    wet: frozenset[str] = frozenset()
    base_at: str | None = None
    bumps: tuple[tuple[float, float, float], ...] = ()
    looks: int = 0
    ticks: int = 0
    work: float = 0.0


class Sim:
    """One state of a scene and the physics that moves it on.

    A fork copies MuJoCo's data (10-20 us) and shares the immutable rest, so a dry-run sees the live state bit for bit
    and can't touch it. `mj_setState` would not do: sleeping objects' state is not part of MuJoCo's state vector.
    """

    def __init__(self, scene: Scene, seed: int = 0, noise: Noise | None = None) -> None:
        self.scene = scene
        self.model = scene.model
        self.data: Any = mujoco.MjData(scene.model)
        self.scratch: Any = mujoco.MjData(scene.model)
        self.seed = seed
        self.noise = noise or Noise()
        self.memory = Memory()
        self.disturb: Callable[[Sim], None] | None = None
        """Called before every control period: injected faults. Never copied into a fork."""
        self.on_tick: Callable[[Sim], None] | None = None
        """Called after every control period: a viewer or a camera. Never copied into a fork."""
        self._spare: list[Sim] = []
        self.reset()

    # -- life ----------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Back to the poses of the description, settled for half a second."""
        scene, data = self.scene, self.data
        mujoco.mj_resetData(self.model, data)
        mujoco.mj_kinematics(self.model, data)
        for door in scene.doors.values():
            if scene.spec.fixtures[door.fixture].open:
                data.qpos[scene.qpos_of(door.joint)] = door.travel
        for name in scene.levers:
            data.qpos[scene.qpos_of(f"{name}.lever")] = 0.42 if scene.spec.fixtures[name].on else -0.42
        mujoco.mj_kinematics(self.model, data)
        set_down: dict[str, Pose] = {}
        waiting = dict(scene.spec.items)
        while waiting:
            ready = [n for n, i in waiting.items() if i.on in scene.places or i.on in set_down]
            if not ready:
                raise DomainError(f"items rest on each other in a circle: {', '.join(waiting)}")
            for name in ready:
                item = waiting.pop(name)
                set_down[name] = self._resting(item, set_down)
                self.put(name, set_down[name])
        if scene.profile.kind == "mobile_arm":
            x, y, heading = scene.robot.at
            data.qpos[scene.base_q] = (x, y, math.radians(heading))
            data.qpos[scene.arm_q] = scene.ready
            data.qpos[scene.finger_q] = scene.profile.opening / 2
            data.ctrl[scene.base_u] = data.qpos[scene.base_q]
            data.ctrl[scene.arm_u] = scene.ready
            data.ctrl[scene.grip_u] = scene.profile.opening / 2
        else:
            data.ctrl[scene.base_u] = 0.0
        mujoco.mj_forward(self.model, data)
        vessels = {n: i.content for n, i in scene.spec.items.items() if i.content}
        self.memory = Memory(ml={n: c.ml for n, c in vessels.items()}, of={n: c.of for n, c in vessels.items()})
        for _ in range(25):
            mujoco.mj_step(self.model, data, scene.substeps)
        if scene.robot.place is not None:
            self.memory = replace(self.memory, base_at=scene.robot.place)
            if scene.robot.moved:
                self._stand(scene.robot.place)

    def _resting(self, item: Item, others: Mapping[str, Pose]) -> Pose:
        """Where an item stands at first: on a place, on another item, or in a bowl."""
        turn = rot_z(math.radians(item.yaw))
        if item.on in self.scene.places:
            surface = self.surface(self.scene.places[item.on])
            return Pose(surface.p + surface.r @ np.array([item.at[0], item.at[1], 0.001]), surface.r @ turn)
        below = others[item.on]
        shape = self.scene.spec.items[item.on].shape
        rise = 0.009 if isinstance(shape, Cup) else shapes.height(shape) + 0.0005
        return Pose(below.p + below.r @ np.array([item.at[0], item.at[1], rise]), below.r @ turn)

    def _stand(self, place: str) -> None:
        """Put the robot at a free stance near a place; for set-up only."""
        from handrail.world.mujoco.go import stands
        from handrail.world.mujoco.navigation import Floor

        scene, data = self.scene, self.data
        data.qpos[scene.base_q] = stands(self, place, Floor(self))[0]
        data.ctrl[scene.base_u] = data.qpos[scene.base_q]
        for _ in range(10):
            mujoco.mj_step(self.model, data, scene.substeps)

    def fork(self) -> Sim:
        """An independent copy of the state; give it back with `release` so that the next fork is as cheap."""
        other = self._spare.pop() if self._spare else self._blank()
        mujoco.mj_copyData(other.data, self.model, self.data)
        other.memory, other.seed, other.noise = self.memory, self.seed, self.noise
        return other

    def release(self, fork: Sim) -> None:
        """Keep a fork's buffers for the next one."""
        self._spare.append(fork)

    def _blank(self) -> Sim:
        other = object.__new__(Sim)
        other.scene, other.model = self.scene, self.model
        other.data, other.scratch = mujoco.MjData(self.model), mujoco.MjData(self.model)
        other.disturb, other.on_tick, other._spare = None, None, []
        return other

    def tick(self) -> None:
        """One control period of physics."""
        if self.disturb is not None:
            self.disturb(self)
        data = self.data
        mujoco.mj_step(self.model, data, self.scene.substeps)
        power = float(np.abs(data.actuator_force * data.actuator_velocity).sum())
        memory = self.memory
        self.memory = replace(
            memory, ticks=memory.ticks + 1, work=memory.work + power * self.scene.substeps * self.model.opt.timestep
        )
        liquid.flow(self)
        if self.on_tick is not None:
            self.on_tick(self)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.data.time)

    @property
    def period(self) -> float:
        """Length of a control period [s]."""
        return float(self.scene.substeps * self.model.opt.timestep)

    # -- robot ---------------------------------------------------------------------------------------------------------

    @property
    def base(self) -> Floats:
        """Where the base is: x, y [m], heading [rad]."""
        return np.array(self.data.qpos[self.scene.base_q])

    @property
    def arm(self) -> Floats:
        """Lift (if any) [m] and arm angles [rad]."""
        return np.array(self.data.qpos[self.scene.arm_q])

    @property
    def aperture(self) -> float:
        """How far each finger is from the middle [m]."""
        return float(self.data.qpos[self.scene.finger_q[0]])

    @property
    def grip(self) -> Pose:
        """Pose of the point between the pads (or of the suction cup)."""
        site = self.data.site("robot.grip")
        return Pose(site.xpos.copy(), site.xmat.reshape(3, 3).copy())

    def contact_pairs(self) -> NDArray[np.int32]:
        """Geom ids of every active contact, (n, 2)."""
        data = self.data
        if not data.ncon:
            return np.empty((0, 2), np.int32)
        contact = data.contact
        return np.asarray(contact.geom)[np.asarray(contact.dist) < 0.0005]

    def contact_forces(self) -> tuple[NDArray[np.int32], Floats]:
        """Geom ids (n, 2) and normal forces (n,) [N] of the contacts that the solver sees."""
        data = self.data
        if not data.ncon:
            return np.empty((0, 2), np.int32), np.empty(0)
        contact = data.contact
        address = np.asarray(contact.efc_address)
        seen = address >= 0
        # With an elliptic cone the first of a contact's rows is its normal force.
        return np.asarray(contact.geom)[seen], np.asarray(data.efc_force)[address[seen]]

    def pad_touch(self) -> tuple[set[str], set[str]]:
        """Names of the items (or geoms of fixtures) that the left and the right pad touch."""
        pairs = self.contact_pairs()
        out: tuple[set[str], set[str]] = (set(), set())
        for side, pad in enumerate(self.scene.pads):
            rows = pairs[(pairs == pad).any(axis=1)]
            for a, b in rows:
                other = int(b if a == pad else a)
                out[side].add(self.scene.body_item.get(int(self.scene.geom_body[other]), self.scene.geom_name[other]))
        return out

    def held(self) -> str | None:
        """The item in the hand: what both pads touch, or what the suction cup lifts; None when there is none."""
        if self.scene.profile.kind == "gantry":
            if self.data.ctrl[3] < 0.5:
                return None
            cup = self.scene.geom["robot.cup"]
            # Adhesion acts through the cup's margin, so whatever the cup has a contact with is drawn to it.
            rows = np.asarray(self.data.contact.geom).reshape(-1, 2)
            rows = rows[(rows == cup).any(axis=1)]
            names = [self.scene.body_item.get(int(self.scene.geom_body[g])) for g in rows.ravel() if g != cup]
            return next((n for n in names if n), None)
        left, right = self.pad_touch()
        both = [n for n in self.scene.items if n in left and n in right]
        return both[0] if both else None

    # -- things --------------------------------------------------------------------------------------------------------

    def pose(self, item: str) -> Pose:
        """True pose of an item (its frame's origin is the middle of its underside)."""
        body = self.scene.body[item]
        return Pose(self.data.xpos[body].copy(), self.data.xmat[body].reshape(3, 3).copy())

    def sense(self, item: str) -> Pose:
        """Pose of an item as a camera would give it: the true one with this simulation's noise."""
        pose = self.pose(item)
        if self.noise.none:
            return pose
        rng = np.random.default_rng((self.seed, self.memory.looks))
        self.memory = replace(self.memory, looks=self.memory.looks + 1)
        noise = rng.normal(size=4) * (self.noise.plane, self.noise.plane, self.noise.height, self.noise.yaw)
        return Pose(pose.p + noise[:3], rot_z(float(noise[3])) @ pose.r)

    def look(self, item: str, times: int = 4) -> Pose:
        """Mean of several perceptions of a thing at rest, as one takes before closing the hand on it.

        The noise of each is drawn independently, so the mean's is smaller by the square root of their number.
        """
        if self.noise.none:
            return self.pose(item)
        seen = [self.sense(item) for _ in range(times)]
        first = seen[0]
        turn = float(np.mean([math.remainder(s.yaw - first.yaw, math.tau) for s in seen]))
        return Pose(np.mean([s.p for s in seen], axis=0), rot_z(turn) @ first.r)

    def put(self, item: str, pose: Pose) -> None:
        """Set an item's pose at rest, wherever that is. For scene set-up and injected faults, never for a skill."""
        a, v = self.scene.item_qpos[item], self.scene.item_qvel[item]
        self.data.qpos[a : a + 3] = pose.p
        self.data.qpos[a + 3 : a + 7] = matrix_quat(pose.r)
        # A sleeping object wakes for a velocity, not for a pose: give it one that moves nothing.
        self.data.qvel[v : v + 6] = (0.0, 0.0, -1e-6, 0.0, 0.0, 0.0)

    def surface(self, place: Place) -> Pose:
        """Pose of the middle of a place's surface; z is up, -y its front."""
        body = self.scene.body[place.body]
        r = self.data.xmat[body].reshape(3, 3).copy()
        return Pose(self.data.xpos[body] + r @ np.array(place.centre), r)

    def opening(self, door: str) -> float:
        """How far a door or drawer is open, as a share of its useful travel."""
        d = self.scene.doors[door]
        return float(self.data.qpos[self.scene.qpos_of(d.joint)] / d.travel)

    def is_open(self, door: str) -> bool:
        """Whether a door or drawer is open far enough to reach in; things without a door always are."""
        return door not in self.scene.doors or self.opening(door) >= DOOR_OPEN

    def is_on(self, fixture: str) -> bool | None:
        """Whether a lever is on; None in between, or when there is none."""
        if fixture not in self.scene.levers:
            return None
        angle = float(self.data.qpos[self.scene.qpos_of(f"{fixture}.lever")])
        return True if angle > LEVER_ON else False if angle < -LEVER_ON else None

    def robot_place(self) -> str | None:
        """The place the robot is at: the one it last drove to while that is still within reach, else the nearest one."""

        def gap(name: str) -> float:
            place = self.scene.places[name]
            surface = self.surface(place)
            x, y, _ = surface.r.T @ (np.array([*self.base[:2], 0.0]) - surface.p)
            return math.hypot(max(0.0, abs(x) - place.half[0]), max(0.0, abs(y) - place.half[1]))

        last = self.memory.base_at
        if last is not None and gap(last) <= NEAR:
            return last
        if self.scene.profile.kind != "mobile_arm":
            return None
        near = [(gap(n), n) for n in self.scene.places if n not in self.scene.spec.people and "." not in n]
        best = min(near)
        return best[1] if best[0] <= NEAR else None

    def support_of(self, item: str) -> str | None:
        """What an item stands on or lies in: another item or a place."""
        p = self.pose(item).p
        best: tuple[float, str] | None = None
        for name, other in self.scene.spec.items.items():
            if name == item:
                continue
            q = self.pose(name)
            off, rise = float(np.hypot(*(p[:2] - q.p[:2]))), float(p[2] - q.p[2])
            opening, tall = shapes.mouth(other.shape), shapes.height(other.shape)
            inside = isinstance(other.shape, Cup) and off < opening and -0.005 < rise < tall
            on_top = (
                not isinstance(other.shape, Cup) and off < shapes.base_radius(other.shape) and abs(rise - tall) < 0.01
            )
            if (inside or on_top) and (best is None or rise < best[0]):
                best = (rise, name)
        return best[1] if best else self.place_of(item)

    def place_of(self, item: str) -> str | None:
        """The place on whose surface an item stands (directly or on other things), judged by geometry."""
        p = self.pose(item).p
        best: tuple[float, str] | None = None
        for place in self.scene.places.values():
            surface = self.surface(place)
            x, y, z = surface.r.T @ (p - surface.p)
            slack = 0.09 if place.access != "drop" else 0.02
            tall = min(place.ceiling, 0.4) if place.access != "drop" else place.rim
            if abs(x) <= place.half[0] + slack and abs(y) <= place.half[1] + slack and -0.05 < z < tall:
                score = abs(z)
                if best is None or score < best[0]:
                    best = (score, place.name)
        return best[1] if best else None
