"""Pick something up: choose a stance and a grasp, approach, close, lift, and draw back."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import CLOSED, Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked, outward
from handrail.world.mujoco.navigation import Floor
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.reach import Reached, Search, line, search
from handrail.world.mujoco.sim import Pose, Sim
from handrail.world.mujoco.view import Held, View, held_in

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

GAP = 0.004
"""Room that must be left when the gripper is fully open [m]."""
APPROACH = 0.10
SLACK = 0.0015
"""Room that planned postures keep to everything but the thing itself [m]."""
LIFT = 0.10
NUDGE = 0.025
FRONT_APPROACH = 0.08
INSERT = (0.34, 0.26)
"""How far outside a closed-in place the base starts, best first [m]."""
CHECKS = 60
"""Postures examined closely at most."""
COSTS = {"top": 0.05, "side": 0.0, "low": 0.05, "slant": 0.1, "rim": 0.25, "knob": 0.0}
"""What a kind of grasp costs beside the driving [m]: rims hold a thing off its centre."""
UNLEVEL = 0.6
"""What holding a vessel other than from the side costs more [m]: it can be neither poured from nor put into a closed-in place."""


@dataclass(frozen=True)
class Approach:
    """Postures of one way to take something: from `pre` along `line` to the grasp, then `lift`, then back to `exit`.

    For a closed-in place (`front`) the hand goes in and out with the base, which starts at `entry`.
    """

    base: Floats
    entry: Floats
    pre: Floats
    line: Floats
    lift: Floats
    exit: Floats
    rel: Pose
    aperture: float
    kind: str
    front: bool


def screen(sim: Sim, thing: str) -> None:
    """The checks that need no search: width, weight, doors, what is in the hand.

    Raises:
        SkillFailure: HAND_FULL, TOO_HEAVY, TOO_WIDE, DOOR_CLOSED.
    """
    scene = sim.scene
    item, profile = scene.spec.items[thing], scene.profile
    held = sim.held()
    if held is not None:
        raise SkillFailure(Code.HAND_FULL, f"The hand already holds the {spoken(held)}.", (held,))
    if item.mass > profile.payload:
        raise SkillFailure(
            Code.TOO_HEAVY,
            f"The {spoken(thing)} weighs {item.mass:g} kg; this robot lifts {profile.payload:g} kg.",
            (thing,),
        )
    narrowest = float(shapes.grasps(item.shape).width.min())
    if narrowest > profile.opening - GAP:
        raise SkillFailure(
            Code.TOO_WIDE,
            f"The {spoken(thing)} is {narrowest * 100:.1f} cm at its narrowest; the gripper takes "
            f"{(profile.opening - GAP) * 100:.1f} cm.",
            (thing,),
        )
    where = sim.place_of(thing)
    door = scene.places[where].door if where in scene.places else None
    if door is not None and not sim.is_open(door):
        raise SkillFailure(
            Code.DOOR_CLOSED, f"The {spoken(door)} is closed, and the {spoken(thing)} is in it.", (door,)
        )


def plan(act: Act, thing: str, pose: Pose, floor: Floor) -> Approach:
    """The first way of taking a thing that holds up, nearest and simplest first.

    Raises:
        SkillFailure: why there is none.
    """
    sim, scene = act.sim, act.scene
    where = sim.place_of(thing)
    place = scene.places.get(where) if where else None
    front = place is not None and place.access == "front"
    options = shapes.grasps(scene.spec.items[thing].shape)
    options = options.take(np.flatnonzero(options.width <= scene.profile.opening - GAP))
    p = pose.p + (pose.r @ options.position.T).T
    r = pose.r @ options.rotation
    vessel = scene.spec.items[thing].content is not None
    penalty = np.array([COSTS[k] + (0.0 if k in ("side", "low") or not vessel else UNLEVEL) for k in options.kind])
    if place is not None and front:
        inward = -outward(sim, place)
        level = r[:, :2, 2]
        along = (level @ inward) / np.maximum(np.linalg.norm(level, axis=1), 1e-9)
        usable = np.flatnonzero((along > 0.8) & (np.linalg.norm(level, axis=1) > 0.5))
        options, p, r, penalty = options.take(usable), p[usable], r[usable], penalty[usable]
    found, reasons = Search(), []
    view = View(sim, believed={thing: pose})
    for k, reached in enumerate(search(sim, floor, p, r, penalty, pose.p, found)):
        if k >= CHECKS:
            break
        got = _check(act, view, thing, pose, reached, options, floor, outward(sim, place) if front and place else None)
        if isinstance(got, Approach):
            blocker = act.routed(got.entry, floor)
            if blocker is None:
                act.notes["grasp"] = got.kind
                return got
            reasons.append(blocker)
            continue
        reasons.append(scene.owner[scene.geom[got]])
    raise blocked(found, reasons, f"the {spoken(thing)}", where)


def _check(
    act: Act,
    view: View,
    thing: str,
    pose: Pose,
    reached: Reached,
    options: shapes.Grasps,
    floor: Floor,
    out: Floats | None,
) -> Approach | str:
    """The whole way for one posture, or the geom that spoils it."""
    scene = act.scene
    width = float(options.width[reached.index])
    aperture = min(scene.profile.opening / 2, width / 2 + shapes.APERTURE_MARGIN)
    base, arm, grip = reached.base, reached.arm, reached.grip
    rel = pose.inverse() @ grip
    if hits := view.near(base, arm, SLACK, aperture=aperture, touch=(thing,)):
        return hits[0]
    kind = options.kind[reached.index]
    held = Held(thing, rel.inverse())
    poses = _approach_poses(grip, out is not None)
    back = line(scene, base, arm, poses[:-1][::-1])
    if back is None:
        return "robot.l5"
    steps = np.concatenate([back[::-1], arm[None]])
    if hits := view.near(base, steps[0], SLACK, aperture=aperture):
        return hits[0]
    for q in steps[1:-1]:
        if hits := view.near(base, q, SLACK, aperture=aperture, touch=(thing,)):
            return hits[0]
    up = line(scene, base, arm, [_raised(grip, (LIFT if out is None else NUDGE) * k / 3) for k in (1, 2, 3)])
    if up is None:
        return "robot.l5"
    start = base
    if out is not None:
        entry = act.exit_pose(view, base, steps[0], out, INSERT, floor, aperture)
        if entry is None:
            return _why(view, base, steps[0], out)
        start = entry
    loaded = View(act.sim, held)
    for q in up[1:]:
        if hits := loaded.hits(base, q):
            return hits[0]
    direction = np.array([-np.cos(base[2]), -np.sin(base[2])]) if out is None else out
    exit_ = act.exit_pose(loaded, base, up[-1], direction, (0.22, 0.15, 0.0) if out is None else INSERT, floor)
    if exit_ is None:
        return _why(loaded, base, up[-1], direction)
    pre = steps[0]
    view = View(act.sim, believed={thing: pose})
    finder = ArmPath(view, start, aperture)
    if finder.find(scene.ready, pre, budget=40) is None:
        return finder.blockers[0] if finder.blockers else "robot.l5"
    return Approach(base, start, pre, steps, up, exit_, rel, aperture, kind, out is not None)


def _approach_poses(grip: Pose, front: bool) -> list[Pose]:
    """The hand's way to a grasp: straight along its approach, or level where a ceiling is close."""
    along, length = grip.r[:, 2], APPROACH
    if front:
        along, length = along * (1, 1, 0), FRONT_APPROACH
        along = along / np.linalg.norm(along)
    return [Pose(grip.p - along * length * (1 - k / 4), grip.r) for k in range(5)]


def _raised(grip: Pose, by: float) -> Pose:
    return Pose(grip.p + np.array([0, 0, by]), grip.r)


def _why(view: View, base: Floats, arm: Floats, direction: Floats) -> str:
    for d in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        hits = view.hits(base + d * np.array([direction[0], direction[1], 0.0]), arm)
        if hits:
            return hits[0]
    return "wall.0"


def pick(act: Act, thing: str) -> Motion:
    """Take `thing` from where it rests.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    sim, scene = act.sim, act.scene
    screen(sim, thing)
    yield from act.tidy()
    floor = act.floor()
    way = plan(act, thing, sim.sense(thing), floor)
    yield from act.go(way.entry, floor)
    yield from motion.squeeze(sim, way.aperture, 0.1)
    way = _aim(act, thing, way, floor)
    yield from act.arm_to(way.pre, View(sim), aperture=way.aperture, via=(scene.ready,))
    act.touch = {thing}
    before = sim.pose(thing).p[2]
    if way.front:
        yield from motion.drive(sim, way.base, 0.35)
    yield from motion.track(sim, way.line, 0.22, APPROACH)
    yield from motion.squeeze(sim, CLOSED, 0.4)
    left, right = sim.pad_touch()
    if thing not in left or thing not in right:
        yield from _let_go(act, way)
        sides = "neither pad" if thing not in left | right else "only one pad"
        raise SkillFailure(
            Code.NO_GRASP, f"The fingers closed on the {spoken(thing)}, but {sides} touches it.", (thing,)
        )
    place = sim.place_of(thing)
    act.touch |= {place} if place else set()
    act.holding = held_in(sim)
    up = line(scene, sim.base, sim.arm, [_raised(sim.grip, (NUDGE if way.front else LIFT) * k / 3) for k in (1, 2, 3)])
    path = way.lift if up is None else up
    yield from motion.track(sim, np.concatenate([sim.data.ctrl[scene.arm_u][None], path]), 0.2, 0.12)
    wanted = NUDGE if way.front else LIFT
    yield from motion.wait(sim, 0.1)
    rose = sim.pose(thing).p[2] - before
    if rose < 0.5 * wanted or sim.held() != thing:
        act.holding, act.guarded = None, False
        yield from _let_go(act, way)
        raise SkillFailure(
            Code.SLIPPED, f"The {spoken(thing)} slid from the fingers: it rose {max(0, rose) * 100:.0f} of {wanted * 100:.0f} cm.",
            (thing,), rose=float(rose),
        )  # fmt: skip
    act.holding = held_in(sim)
    act.guarded = True
    act.touch = {thing}
    yield from motion.drive(sim, way.exit, 0.5)
    yield from act.draw_in()
    act.bystanders({thing})


def _aim(act: Act, thing: str, way: Approach, floor: Floor) -> Approach:
    """Look again from the stance and correct for where the base and the thing really are."""
    sim, scene = act.sim, act.scene
    pose = sim.look(thing)
    base = sim.base + (way.base - way.entry)
    solved = line(scene, base, way.line[-1], _approach_poses(pose @ way.rel, way.front)[::-1], jump=1.0)
    if solved is None:
        return plan_again(act, thing, pose, floor)
    steps = solved[::-1]
    view = View(sim, believed={thing: pose})
    if view.hits(base, steps[0], aperture=way.aperture) or view.hits(
        base, steps[-1], aperture=way.aperture, touch=(thing,)
    ):
        return plan_again(act, thing, pose, floor)
    return replace(way, base=base, entry=sim.base, pre=steps[0], line=steps)


def plan_again(act: Act, thing: str, pose: Pose, floor: Floor) -> Approach:
    """The thing is not where it was seen from afar: plan from this very stance.

    Raises:
        SkillFailure: when there is no way from here.
    """
    sim, scene = act.sim, act.scene
    options = shapes.grasps(scene.spec.items[thing].shape)
    options = options.take(np.flatnonzero(options.width <= scene.profile.opening - GAP))
    p = pose.p + (pose.r @ options.position.T).T
    found, reasons = Search(), []
    where = sim.place_of(thing)
    place = scene.places.get(where) if where else None
    if place is None or place.access != "front":
        view = View(sim, believed={thing: pose})
        for k, reached in enumerate(
            search(sim, floor, p, pose.r @ options.rotation, np.array([COSTS[k] for k in options.kind]), pose.p, found,
                   fixed=sim.base[None])
        ):  # fmt: skip
            if k >= CHECKS:
                break
            got = _check(act, view, thing, pose, reached, options, floor, None)
            if isinstance(got, Approach):
                return got
            reasons.append(scene.owner[scene.geom[got]])
    raise blocked(found, reasons, f"the {spoken(thing)}", where)


def _let_go(act: Act, way: Approach) -> Motion:
    """Open and draw back the way the hand came."""
    sim = act.sim
    yield from motion.squeeze(sim, way.aperture, 0.3)
    yield from motion.track(sim, np.concatenate([sim.data.ctrl[act.scene.arm_u][None], way.line[::-1]]), 0.25, 0.2)
    yield from motion.drive(sim, way.entry if way.front else way.exit, 0.4)
    act.touch = set(act.scene.items)
    yield from act.tidy()
