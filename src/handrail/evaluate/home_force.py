"""Carry out a refused step regardless: no screens, no collision checks, the nearest posture there is.

This shows that what the dry-run refuses does fail when it is executed. The motion is the best a controller could do that takes the
plan at its word: drive to where the hand gets closest, go there in a straight joint motion, close or open the fingers, lift.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import CLOSED
from handrail.world.mujoco.navigation import Floor, stances
from handrail.world.mujoco.outcome import SkillFailure
from handrail.world.mujoco.reach import in_base, starts, weights
from handrail.world.mujoco.sim import Pose, Sim

RADII = (0.4, 0.5, 0.6, 0.7, 0.8)


def _go(sim: Sim, steps: Generator[None, None, None]) -> None:
    """Run a motion to its end, whatever it pushes against."""
    try:
        for _ in steps:
            sim.tick()
    except SkillFailure:
        return


def _nearest(sim: Sim, poses: list[Pose], target: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Base and arm posture that brings the grip closest to any of the poses, and how far it still is [m]."""
    scene = sim.scene
    where = stances(Floor(sim), target, RADII, 16)
    if not len(where):
        where = np.array([sim.base])
    best = (where[0], scene.ready, math.inf)
    for pose in poses[:12]:
        n = len(where)
        p, r = in_base(where, np.repeat(pose.p[None], n, 0), np.repeat(pose.r[None], n, 0))
        q, _ = scene.arm.solve(p, r, starts(scene, p, r, 0), scene.ready, weights=weights(scene), iterations=60)
        at, _ = scene.arm.forward(q)
        error = np.linalg.norm(at - p, axis=1)
        i = int(np.argmin(error))
        if error[i] < best[2] - 1e-6:
            best = (where[i], q[i], float(error[i]))
    return best


def _drive(sim: Sim, base: np.ndarray) -> None:
    path = Floor(sim).path(sim.base[:2], base[:2])
    for p in (path or [])[1:]:
        _go(sim, motion.drive(sim, np.array([*p, sim.base[2]])))
    if path is not None:
        _go(sim, motion.drive(sim, base))


def force_pick(sim: Sim, thing: str) -> bool:
    """Try to lift `thing`; whether it is in the air between both pads afterwards."""
    scene = sim.scene
    if sim.held() is not None:
        return False
    pose = sim.pose(thing)
    options = shapes.grasps(scene.spec.items[thing].shape)
    order = np.argsort(options.width, kind="stable")
    poses = [Pose(pose.p + pose.r @ options.position[i], pose.r @ options.rotation[i]) for i in order]
    base, arm, _ = _nearest(sim, poses, pose.p)
    z = pose.p[2]
    _drive(sim, base)
    _go(sim, motion.squeeze(sim, scene.profile.opening / 2, 0.2))
    _go(sim, motion.follow(sim, [sim.arm, arm]))
    _go(sim, motion.squeeze(sim, CLOSED, 0.5))
    _go(sim, motion.follow(sim, [arm, _raised(sim, arm)]))
    _go(sim, motion.wait(sim, 0.3))
    return sim.held() == thing and sim.pose(thing).p[2] > z + 0.02


def _raised(sim: Sim, arm: np.ndarray) -> np.ndarray:
    scene = sim.scene
    p, r = scene.arm.forward(arm[None])
    q, _ = scene.arm.solve(p + np.array([0, 0, 0.08]), r, arm[None], arm, weights=weights(scene), iterations=40)
    return np.asarray(q[0])


def force_place(sim: Sim, thing: str, to: str) -> bool:
    """Try to set the held `thing` down at `to`; whether it rests there afterwards."""
    scene = sim.scene
    if sim.held() != thing:
        return False
    surface = sim.surface(scene.places[to])
    rel = sim.grip.inverse() @ sim.pose(thing)
    goals = []
    for k in range(12):
        c, s = math.cos(k * math.tau / 12), math.sin(k * math.tau / 12)
        target = Pose(surface.p + np.array([0, 0, 0.005]), np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]))
        goals.append(target @ rel.inverse())
    base, arm, _ = _nearest(sim, goals, surface.p)
    _drive(sim, base)
    _go(sim, motion.follow(sim, [sim.arm, arm]))
    _go(sim, motion.squeeze(sim, scene.profile.opening / 2, 0.4))
    _go(sim, motion.follow(sim, [arm, _raised(sim, arm)]))
    _go(sim, motion.wait(sim, 0.6))
    return sim.place_of(thing) == to and float(sim.pose(thing).r[2, 2]) > 0.9 and sim.held() is None


def force(sim: Sim, skill: str, args: tuple[str, ...]) -> bool | None:
    """Carry a step out regardless; whether its effect came about. None where there is no such way to force it."""
    if skill == "pick":
        return force_pick(sim, args[0])
    if skill == "place":
        return force_place(sim, args[0], args[1])
    return None
