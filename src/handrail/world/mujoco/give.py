"""Hand something to a person: set it on the palm they hold out; they take it."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from handrail.world.mujoco import motion, place, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.fixtures import tray_of
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.sim import Pose


def hand_over(act: Act, thing: str, person: str) -> Generator[None, None, None]:
    """Put the held `thing` on the palm of `person`.

    The person is scripted: once the thing lies on the palm they move it to the table beside them, which no robot does.

    Raises:
        SkillFailure: NOBODY_THERE, or one of `place`'s.
    """
    sim, scene = act.sim, act.scene
    if person not in scene.spec.people:
        raise SkillFailure(Code.NOBODY_THERE, f"There is no {spoken(person)} here.", (person,))
    where = place.screen(sim, thing, person)
    yield from act.tidy()
    floor = act.floor()
    way = place.plan(act, thing, where, floor)
    yield from place.put_down(act, thing, where, way, floor)
    _take(act, thing, person)
    yield from motion.wait(sim, 0.2)


def _take(act: Act, thing: str, person: str) -> None:
    """The person puts the thing on their own table, where there is room (on the floor beside it when there is none)."""
    sim, scene = act.sim, act.scene
    tray = scene.places[tray_of(person)]
    surface = sim.surface(tray)
    radius = shapes.footprint(scene.spec.items[thing].shape)
    others = [(sim.pose(n).p, shapes.footprint(i.shape)) for n, i in scene.spec.items.items() if n != thing]
    spots = [(x, y) for y in np.linspace(-0.1, 0.1, 5) for x in np.linspace(-0.07, 0.07, 3)]
    best, room = surface.p, -1.0
    for x, y in spots:
        p = surface.p + surface.r @ np.array([x, y, 0.0])
        gap = min((float(np.linalg.norm(p[:2] - q[:2])) - r - radius for q, r in others), default=1.0)
        if gap > room:
            best, room = p, gap
    if room <= 0:
        best = np.array([*(surface.p[:2] + surface.r[:2, 0] * 0.3), 0.0])
    sim.put(thing, Pose(best + np.array([0, 0, 0.002]), np.array(surface.r)))
