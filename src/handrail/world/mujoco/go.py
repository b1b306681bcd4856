"""Drive the base to a place."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.act import Act
from handrail.world.mujoco.blame import outward
from handrail.world.mujoco.navigation import STAND, Floor, stances
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.sim import Sim

Floats = NDArray[np.float64]

NEAR = (0.62, 0.70, 0.78, 0.86, 0.94, 1.02)


TRIES = 6


def stands(sim: Sim, to: str, floor: Floor) -> Floats:
    """Base poses (N, 3) facing a place, near it but with room around and near to where the robot is, best first.

    Raises:
        SkillFailure: NO_PATH when no such spot is connected to where the robot is.
    """
    place = sim.scene.places[to]
    target = sim.surface(place).p
    where = stances(floor, target, NEAR)
    if len(where) and place.access == "front":
        to_robot = where[:, :2] - target[:2]
        ahead = (to_robot @ outward(sim, place)) / np.linalg.norm(to_robot, axis=1)
        where = where[ahead > 0.8]
    if not len(where):
        raise SkillFailure(Code.NO_PATH, f"There is no free spot to stand near the {spoken(to)}.", (to,))
    where = where[floor.connected(sim.base[:2], where[:, :2])]
    if not len(where):
        raise SkillFailure(Code.NO_PATH, f"The base finds no free way to the {spoken(to)}.", (to,))
    far = np.linalg.norm(where[:, :2] - target[:2], axis=1)
    travel = np.linalg.norm(where[:, :2] - sim.base[:2], axis=1)
    room = np.minimum(floor.gap(where[:, :2]), STAND + 0.15)
    score = 0.3 * travel + np.abs(far - 0.8) - 2.0 * room
    return np.asarray(where[np.argsort(score, kind="stable")])


def navigate_to(act: Act, to: str) -> Generator[None, None, None]:
    """Drive to `to`.

    Raises:
        SkillFailure: NO_PATH, BASE_STALLED, COLLISION.
    """
    yield from act.tidy()
    floor = act.floor()
    options = stands(act.sim, to, floor)
    # The best few, spread out: what blocks one way in often leaves another.
    picks = options[:: max(1, len(options) // TRIES)][:TRIES]
    goal = next((p for p in picks if act.routed(p, floor) is None), picks[0])
    yield from act.go(goal, floor)
    act.arrived(to)
    act.bystanders({act.holding.name} if act.holding else set())
