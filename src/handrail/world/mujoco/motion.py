"""Moving the robot: each motion is a generator that commands the drives and yields once for every control period.

Whoever runs a skill steps the physics at each yield, so a skill is cancelled by not asking it for more. Commands carry velocity
feed-forward (the position servos' damping would otherwise make the robot lag by kv / kp seconds).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.navigation import BUMP, RADIUS
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.robots import ARM_LAG, BASE_LAG, LIFT_LAG
from handrail.world.mujoco.sim import Sim

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

STALL = 0.10
"""How far the base may fall behind its command before it counts as stalled [m]."""
TURN_SPEED = 1.6
LIFT_SPEED = 0.35


def smooth(u: float) -> tuple[float, float]:
    """Smoothstep and its slope at u in [0, 1]."""
    return u * u * (3 - 2 * u), 6 * u * (1 - u)


def wait(sim: Sim, seconds: float) -> Motion:
    """Hold the current commands."""
    for _ in range(max(1, round(seconds / sim.period))):
        yield


def hold(sim: Sim) -> None:
    """Command the drives to stay where they are; the gripper keeps its grip. This is what a stop does."""
    scene = sim.scene
    if scene.profile.kind == "mobile_arm":
        sim.data.ctrl[scene.base_u] = sim.base
        sim.data.ctrl[scene.arm_u] = sim.arm
    else:
        sim.data.ctrl[scene.base_u] = sim.base


def arm_speed(sim: Sim, factor: float = 1.0) -> Floats:
    """Speed limits of lift and arm [m/s, rad/s]."""
    lift = [LIFT_SPEED] if sim.scene.profile.lift > 0 else []
    return factor * np.array(lift + [sim.scene.profile.arm_speed] * 7)


def _arm_lag(sim: Sim) -> Floats:
    return np.array(([LIFT_LAG] if sim.scene.profile.lift > 0 else []) + [ARM_LAG] * 7)


def follow(sim: Sim, path: Sequence[Floats], factor: float = 1.0, watch: Callable[[], None] | None = None) -> Motion:
    """Drive lift and arm through joint positions, stopping smoothly at each."""
    scene, limit, lag = sim.scene, arm_speed(sim, factor), _arm_lag(sim)
    for a, b in pairwise(path):
        seconds = float(np.max(np.abs(b - a) / limit)) * 1.5 + 0.05
        n = max(1, round(seconds / sim.period))
        for k in range(1, n + 1):
            s, ds = smooth(k / n)
            sim.data.ctrl[scene.arm_u] = a + s * (b - a) + lag * (b - a) * (ds / (n * sim.period))
            yield
            if watch is not None:
                watch()
        sim.data.ctrl[scene.arm_u] = b
    yield from wait(sim, 0.16)


def track(
    sim: Sim,
    points: Floats,
    speed: float,
    length: float,
    watch: Callable[[], None] | None = None,
    base: Floats | None = None,
) -> Motion:
    """Follow closely spaced joint positions (n, joints) as one smooth motion over `length` [m] at about `speed` [m/s].

    With `base` (n, 3) the base follows along.
    """
    scene, lag = sim.scene, _arm_lag(sim)
    n = len(points) - 1
    total = max(2, round(1.5 * length / speed / sim.period))
    previous = np.array(points[0])
    before = None if base is None else np.array(base[0])
    for k in range(1, total + 1):
        u = smooth(k / total)[0] * n
        i = min(int(u), n - 1)
        q = points[i] + (u - i) * (points[i + 1] - points[i])
        sim.data.ctrl[scene.arm_u] = q + lag * (q - previous) / sim.period
        previous = q
        if base is not None:
            b = base[i] + (u - i) * (base[i + 1] - base[i])
            sim.data.ctrl[scene.base_u] = b + BASE_LAG * (b - before) / sim.period
            before = b
        yield
        if watch is not None:
            watch()
    sim.data.ctrl[scene.arm_u] = points[-1]
    if base is not None:
        sim.data.ctrl[scene.base_u] = base[-1]
    yield from wait(sim, 0.16)


def drive(sim: Sim, goal: Floats, speed: float | None = None, watch: Callable[[], None] | None = None) -> Motion:
    """Drive straight to a base pose (x, y, heading).

    Raises:
        SkillFailure: BASE_STALLED when something holds the base back.
    """
    scene = sim.scene
    start = np.array(sim.data.ctrl[scene.base_u])
    # The last command is where the base should be; after a stall or a push start from where it is.
    if np.linalg.norm(start[:2] - sim.base[:2]) > 0.03:
        start = sim.base
    delta = np.array(goal, float) - start
    delta[2] = math.remainder(delta[2], math.tau)
    speed = speed or scene.profile.base_speed
    seconds = 1.5 * max(float(np.linalg.norm(delta[:2])) / speed, abs(delta[2]) / TURN_SPEED) + 0.1
    n = max(1, round(seconds / sim.period))
    for k in range(1, n + 1):
        s, ds = smooth(k / n)
        wanted = start + s * delta
        sim.data.ctrl[scene.base_u] = wanted + BASE_LAG * delta * (ds / (n * sim.period))
        yield
        if np.linalg.norm(sim.base[:2] - wanted[:2]) > STALL:
            bump(sim, base_contact(sim), delta[:2])
        if watch is not None:
            watch()
    sim.data.ctrl[scene.base_u] = start + delta
    yield from settle(sim)


def bump(sim: Sim, blocker: str | None, toward: Floats | None = None) -> None:
    """Something that is not in the map holds the base: stop, remember the spot, and say so.

    Args:
        sim: the simulation.
        blocker: what the base touches, if anything.
        toward: direction of travel (2,); by default the direction of the present command.

    Raises:
        SkillFailure: BASE_STALLED, always.
    """
    scene = sim.scene
    ahead = np.array(sim.data.qvel[scene.base_v][:2]) if toward is None else np.array(toward)
    if np.linalg.norm(ahead) < 1e-3:
        ahead = sim.data.ctrl[scene.base_u][:2] - sim.base[:2]
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
    hold(sim)
    spot = sim.base[:2] + ahead * (RADIUS + BUMP)
    sim.memory = replace(sim.memory, bumps=(*sim.memory.bumps, (float(spot[0]), float(spot[1]), sim.time)))
    what = f"The base pushes against the {spoken(blocker)}," if blocker else "The base is held back by something"
    raise SkillFailure(
        Code.BASE_STALLED,
        f"{what} which is not in the map, near ({sim.base[0]:.1f}, {sim.base[1]:.1f}).",
        (blocker,) if blocker else (),
    )


def settle(sim: Sim, periods: int = 25) -> Motion:
    """Wait until the base stands where it was commanded to, within 1 mm and 1 mm/s, for `periods` at most."""
    scene = sim.scene
    for _ in range(periods):
        yield
        error = np.abs(sim.base - sim.data.ctrl[scene.base_u])
        speed = np.abs(sim.data.qvel[scene.base_v])
        if error.max() < 1e-3 and speed.max() < 1e-2:
            return


def base_contact(sim: Sim) -> str | None:
    """What the robot's body (not its hand) presses against, if anything."""
    scene = sim.scene
    for a, b in sim.contact_pairs():
        for ours, other in ((a, b), (b, a)):
            if scene.robot_geom[ours] and not scene.robot_geom[other] and scene.owner[other] != "floor":
                return str(scene.owner[other])
    return None


def squeeze(sim: Sim, aperture: float, seconds: float = 0.4) -> Motion:
    """Command the fingers to `aperture` from the middle [m]; negative closes them with force."""
    sim.data.ctrl[sim.scene.grip_u] = aperture
    yield from wait(sim, seconds)
