"""Pick and place with a suction cup on a gantry, for table tops."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.robots import GANTRY_HEIGHT
from handrail.world.mujoco.spec import Box, Cup
from handrail.world.mujoco.view import Held

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

HIGH = 0.20
"""Height of the cup over the table while it travels [m]."""
SPEED = 0.5
PRESS = 0.002
"""How far the cup is commanded into what it takes [m]."""
LAG = 0.06


def move(act: Act, target: Floats, speed: float = SPEED) -> Motion:
    """Bring the cup's rim to a point, straight."""
    sim, scene = act.sim, act.scene
    origin = np.array([scene.robot.at[0], scene.robot.at[1], GANTRY_HEIGHT - 0.04])
    start, goal = np.array(sim.data.ctrl[scene.base_u]), target - origin
    n = max(3, round(1.5 * float(np.linalg.norm(goal - start)) / speed / sim.period))
    for k in range(1, n + 1):
        s, ds = motion.smooth(k / n)
        sim.data.ctrl[scene.base_u] = start + s * (goal - start) + LAG * (goal - start) * ds / (n * sim.period)
        yield
    sim.data.ctrl[scene.base_u] = goal
    yield from motion.wait(sim, 0.12)


def _table(act: Act) -> float:
    return max(f.size[2] for f in act.scene.spec.fixtures.values())


def pick(act: Act, thing: str) -> Motion:
    """Take `thing` from above.

    Raises:
        SkillFailure: HAND_FULL, TOO_HEAVY, GRASP_BLOCKED, NO_GRASP, SLIPPED.
    """
    sim, scene = act.sim, act.scene
    held = sim.held()
    if held is not None:
        raise SkillFailure(Code.HAND_FULL, f"The cup already holds the {spoken(held)}.", (held,))
    item = scene.spec.items[thing]
    if item.mass > scene.profile.payload:
        raise SkillFailure(
            Code.TOO_HEAVY,
            f"The {spoken(thing)} weighs {item.mass:g} kg; the cup lifts {scene.profile.payload:g} kg.",
            (thing,),
        )
    if not isinstance(item.shape, Box):
        raise SkillFailure(Code.NO_GRASP, f"The {spoken(thing)} has no flat top for the cup.", (thing,))
    above = [n for n in scene.items if n != thing and sim.support_of(n) == thing]
    if above:
        raise SkillFailure(Code.GRASP_BLOCKED, f"The {spoken(above[0])} lies on the {spoken(thing)}.", tuple(above))
    pose = sim.look(thing)
    top = pose.p + np.array([0, 0, shapes.height(item.shape)])
    high = max(_table(act) + HIGH, float(top[2]) + 0.06)
    yield from move(act, np.array([*sim.grip.p[:2], high]))
    yield from move(act, np.array([*top[:2], high]))
    act.touch = {thing}
    sim.data.ctrl[3] = 1.0
    yield from move(act, top - np.array([0, 0, PRESS]), 0.2)
    if sim.held() != thing:
        sim.data.ctrl[3] = 0.0
        yield from move(act, np.array([*top[:2], high]))
        raise SkillFailure(Code.NO_GRASP, f"The cup did not get hold of the {spoken(thing)}.", (thing,))
    yield from move(act, np.array([*top[:2], high]), 0.3)
    if sim.held() != thing:
        sim.data.ctrl[3] = 0.0
        raise SkillFailure(Code.SLIPPED, f"The {spoken(thing)} fell from the cup.", (thing,))
    act.holding = Held(thing, sim.grip.inverse() @ sim.pose(thing))
    act.bystanders({thing})


def place(act: Act, thing: str, to: str) -> Motion:
    """Set the held `thing` down on a place, on another item, or into a bowl.

    Raises:
        SkillFailure: NOT_HOLDING, NO_ROOM, PLACE_BLOCKED, DROPPED, UNSTABLE_PLACE.
    """
    sim, scene = act.sim, act.scene
    if sim.held() != thing:
        raise SkillFailure(Code.NOT_HOLDING, f"The cup does not hold the {spoken(thing)}.", (thing,))
    act.holding, act.guarded = Held(thing, sim.grip.inverse() @ sim.pose(thing)), True
    spot = _spot(act, thing, to)
    rel = act.holding.rel
    high = max(_table(act) + HIGH, float(spot[2]) + 0.10)
    grip = sim.grip
    lowered = spot - grip.r @ rel.p
    yield from move(act, np.array([*grip.p[:2], high]))
    yield from move(act, np.array([*lowered[:2], high]))
    act.touch = {thing, to, *scene.spec.fixtures}
    yield from move(act, lowered + np.array([0, 0, 0.003]), 0.2)
    act.guarded, act.holding = False, None
    sim.data.ctrl[3] = 0.0
    yield from motion.wait(sim, 0.1)
    yield from move(act, np.array([*lowered[:2], high]), 0.4)
    yield from motion.wait(sim, 0.3)
    if sim.support_of(thing) != to and sim.place_of(thing) != to:
        raise SkillFailure(Code.UNSTABLE_PLACE, f"The {spoken(thing)} did not stay on the {spoken(to)}.", (thing,))
    act.bystanders({thing})


def _spot(act: Act, thing: str, to: str) -> Floats:
    """Where the thing's underside goes."""
    sim, scene = act.sim, act.scene
    radius = shapes.footprint(scene.spec.items[thing].shape)
    others = [(sim.sense(n).p, shapes.footprint(i.shape)) for n, i in scene.spec.items.items() if n not in (thing, to)]
    if to in scene.items:
        shape = scene.spec.items[to].shape
        pose = sim.sense(to)
        if isinstance(shape, Cup):
            inside = [(p, r) for p, r in others if math.hypot(*(p[:2] - pose.p[:2])) < shape.radius]
            reach = shape.radius - radius - 0.004
            ring = [
                (0.0, 0.0),
                *((reach * math.cos(a), reach * math.sin(a)) for a in np.linspace(0, math.tau, 8, endpoint=False)),
            ]
            best = max(
                ring,
                key=lambda o: min(
                    (math.hypot(*(pose.p[:2] + o - p[:2])) for p, _ in inside), default=1.0 - math.hypot(*o)
                ),
            )
            return np.asarray(pose.p + np.array([*best, 0.012]))
        above = [n for n in scene.items if n not in (thing, to) and sim.support_of(n) == to]
        if above:
            raise SkillFailure(Code.PLACE_BLOCKED, f"The {spoken(above[0])} lies on the {spoken(to)}.", tuple(above))
        return np.asarray(pose.p + np.array([0, 0, shapes.height(shape)]))
    place = scene.places[to]
    surface = sim.surface(place)
    best_spot, room = None, 0.01
    for x in np.linspace(-place.half[0], place.half[0], 9):
        for y in np.linspace(-place.half[1], place.half[1], 5):
            p = surface.p + surface.r @ np.array([x, y, 0.0])
            gap = min((math.hypot(*(p[:2] - q[:2])) - r - radius for q, r in others), default=1.0)
            if gap > room:
                best_spot, room = p, gap
    if best_spot is None:
        raise SkillFailure(Code.NO_ROOM, f"There is no free spot for the {spoken(thing)} on the {spoken(to)}.", (to,))
    return np.asarray(best_spot)
