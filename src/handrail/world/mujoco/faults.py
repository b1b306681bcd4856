"""Faults of the physical world, drawn from one seed: forces, pushes and misplaced things, never edits of the outcome.

A fault acts through the drives, through applied forces, or by a person moving something, just before a control period.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from handrail.errors import ConfigError
from handrail.world.mujoco import shapes
from handrail.world.mujoco.fixtures import SHUT_PUSH
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.sim import Pose, Sim


class Fault(StrEnum):
    """What can go wrong in the simulated home."""

    SLIP = "slip"
    """The fingers lose their force for a moment while they hold something."""
    MOVED = "moved"
    """A person puts the step's object (or another one) elsewhere on the same surface while the robot is on its way."""
    SHUT = "shut"
    """Someone pushes an open door shut."""
    BLOCKED = "blocked"
    """Something that no map knows stands in a doorway, or in front of the robot where there is none."""
    WEAK = "weak"
    """The gripper closes with a fraction of its force for the whole step."""
    DRIFT = "drift"
    """The wheels slip: the base drifts by a few centimetres from where it believes to be."""
    STOP = "stop"
    """An emergency stop in the middle of the step."""


@dataclass(frozen=True)
class Faults:
    """How often each fault strikes: probabilities per step started.

    Attributes:
        script: number of a started step (from 0) to the fault that strikes it, whatever the probabilities say.
    """

    slip: float = 0.0
    moved: float = 0.0
    shut: float = 0.0
    blocked: float = 0.0
    weak: float = 0.0
    drift: float = 0.0
    stop: float = 0.0
    script: Mapping[int, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for fault in Fault:
            p = getattr(self, fault.value)
            if isinstance(p, bool) or not isinstance(p, int | float) or math.isnan(p) or not 0 <= p <= 1:
                raise ConfigError(f"fault '{fault.value}' is a probability in [0, 1], not {p!r}")

    def drawn(self, seed: int, attempt: int) -> Fault | None:
        """The fault that strikes the step started as number `attempt`, if any."""
        if attempt in self.script:
            return self.script[attempt]
        rng = np.random.default_rng((seed, 7, attempt))
        for fault in Fault:
            if rng.random() < getattr(self, fault.value):
                return fault
        return None


class Disturbance:
    """One fault at work on one step; assign it to `Sim.disturb`.

    Attributes:
        struck: whether it has had its moment yet (a slip needs something in the hand).
        stop_now: set when an emergency stop is due; whoever drives the simulation looks at it.
    """

    def __init__(self, fault: Fault, seed: int, attempt: int, thing: str | None = None) -> None:
        self.fault, self.thing = fault, thing
        self.rng = np.random.default_rng((seed, 11, attempt))
        self.delay = int(self.rng.integers(20, 160))
        self.left = 0
        self.struck = False
        self.stop_now = False
        self.target: str | None = None
        self.push = np.zeros(3)
        self.wanted = self.weakened = math.nan

    def __call__(self, sim: Sim) -> None:
        """Act before a control period."""
        if self.left > 0:
            self._go_on(sim)
            self.left -= 1
            if self.left == 0:
                sim.data.qfrc_applied[:] = 0.0
            return
        if self.struck and self.fault is not Fault.WEAK:
            return
        if self.fault is Fault.SLIP and sim.held() is None:
            return
        self.delay -= 1
        if self.delay <= 0 or self.fault is Fault.WEAK:
            self._strike(sim)

    def _strike(self, sim: Sim) -> None:
        scene = sim.scene
        match self.fault:
            case Fault.SLIP:
                self.left = 12
            case Fault.WEAK:
                # A drive that gives a fifth: command just past where the fingers are.
                weak = scene.profile.grip_newton / 5 / 1500
                now = float(sim.data.ctrl[scene.grip_u])
                if now != self.weakened:
                    self.wanted = now
                self.weakened = max(self.wanted, sim.aperture - weak)
                sim.data.ctrl[scene.grip_u] = self.weakened
            case Fault.MOVED:
                self._move(sim)
            case Fault.SHUT:
                doors = [d for d in scene.doors if sim.opening(d) > 0.3]
                if not doors:
                    return
                self.target = doors[int(self.rng.integers(len(doors)))]
                self.left = 150
            case Fault.BLOCKED:
                self._block(sim)
            case Fault.DRIFT:
                angle = float(self.rng.uniform(0, math.tau))
                self.push = (
                    np.array([math.cos(angle) * 0.03, math.sin(angle) * 0.03, float(self.rng.uniform(-0.04, 0.04))])
                    / 50
                )
                self.left = 50
            case Fault.STOP:
                self.stop_now = True
        self.struck = True

    def _go_on(self, sim: Sim) -> None:
        scene = sim.scene
        match self.fault:
            case Fault.SLIP:
                sim.data.ctrl[scene.grip_u] = scene.profile.opening / 2
                if self.left == 1:
                    sim.data.ctrl[scene.grip_u] = -0.012
            case Fault.SHUT:
                assert self.target is not None
                door = scene.doors[self.target]
                dof = int(scene.model.joint(door.joint).dofadr[0])
                force = SHUT_PUSH[door.kind]
                # Push until it moves at a walking hand's pace, not faster.
                sim.data.qfrc_applied[dof] = -force if sim.data.qvel[dof] > -1.0 else 0.0
            case Fault.DRIFT:
                sim.data.ctrl[scene.base_u] += self.push

    def _move(self, sim: Sim) -> None:
        """Someone puts a thing (the step's own, if it rests somewhere open) elsewhere on its surface."""
        scene = sim.scene
        held = sim.held()
        able = [n for n in scene.items if n != held and (p := sim.place_of(n)) and scene.places[p].access == "top"]
        name = self.thing if self.thing in able else None
        if name is None and able:
            name = able[int(self.rng.integers(len(able)))]
        if name is None:
            return
        place = scene.places[sim.place_of(name) or ""]
        surface = sim.surface(place)
        radius = shapes.footprint(scene.spec.items[name].shape)
        for _ in range(60):
            at = self.rng.uniform(-1, 1, 2) * np.maximum(np.array(place.half) - 0.02, 0.0)
            p = surface.p + surface.r @ np.array([*at, 0.002])
            others = [(sim.pose(n).p, shapes.footprint(scene.spec.items[n].shape)) for n in scene.items if n != name]
            if all(np.linalg.norm(p[:2] - q[:2]) > r + radius + 0.03 or abs(q[2] - p[2]) > 0.3 for q, r in others):
                sim.put(name, Pose(p, surface.r @ rot_z(float(self.rng.uniform(-math.pi, math.pi)))))
                return

    def _block(self, sim: Sim) -> None:
        scene = sim.scene
        doors = scene.spec.doorways
        if doors:
            x, y = doors[int(self.rng.integers(len(doors)))].at
        else:
            x, y = sim.base[:2] + np.array([math.cos(sim.base[2]), math.sin(sim.base[2])])
        if np.linalg.norm(sim.base[:2] - np.array([x, y])) < 0.65:
            return
        a = int(scene.model.joint(UNSEEN).qposadr[0])
        v = int(scene.model.joint(UNSEEN).dofadr[0])
        sim.data.qpos[a : a + 7] = (x, y, 0.251, 1, 0, 0, 0)
        sim.data.qvel[v + 2] = -1e-6
