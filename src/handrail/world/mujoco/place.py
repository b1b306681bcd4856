"""Set something down: choose a free spot, a turn and a stance, lower it, let go, and see whether it stays."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked, outward
from handrail.world.mujoco.fixtures import Place
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.navigation import Floor
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.pick import INSERT, SLACK
from handrail.world.mujoco.reach import Search, line, search
from handrail.world.mujoco.sim import Pose, Sim
from handrail.world.mujoco.spec import Ball
from handrail.world.mujoco.view import View, held_in

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

RELEASE = 0.004
"""Height above the surface at which the hand lets go [m]."""
ABOVE = 0.10
MARGIN = 0.02
"""Free room to other things on the surface [m]."""
SPOTS = 14
CHECKS = 90
PER_STANCE = 8
"""Spots and turns examined closely from one stance."""
TURNS = 12
TILTED = 0.95
"""Cosine of the largest lean of something that counts as standing."""


@dataclass(frozen=True)
class Release:
    """Postures of one way to set something down."""

    base: Floats
    entry: Floats
    pre: Floats
    line: Floats
    retreat: Floats
    exit: Floats
    target: Pose
    drop: bool
    front: bool


def screen(sim: Sim, thing: str, to: str) -> Place:
    """The checks that need no search.

    Raises:
        SkillFailure: NOT_HOLDING, DOOR_CLOSED, NO_ROOM.
    """
    scene = sim.scene
    if sim.held() != thing:
        raise SkillFailure(Code.NOT_HOLDING, f"The hand does not hold the {spoken(thing)}.", (thing,))
    if to in scene.items:
        # On top of another thing: its upper side is the surface, one spot in the middle.
        return Place(to, to, to, (0.0, 0.0, shapes.height(scene.spec.items[to].shape)), (0.0, 0.0))
    place = scene.places[to]
    if place.door is not None and not sim.is_open(place.door):
        raise SkillFailure(Code.DOOR_CLOSED, f"The {spoken(place.door)} is closed.", (place.door,))
    tall = shapes.height(scene.spec.items[thing].shape)
    if tall + 0.01 > place.ceiling:
        raise SkillFailure(
            Code.NO_ROOM,
            f"The {spoken(thing)} is {tall * 100:.0f} cm tall; the {spoken(to)} has {place.ceiling * 100:.0f} cm.",
            (to,),
        )
    return place


def spots(sim: Sim, thing: str, place: Place) -> list[Floats]:
    """Free spots on a place's surface (world position of the thing's underside), most convenient first.

    Raises:
        SkillFailure: NO_ROOM when everything is taken.
    """
    scene = sim.scene
    surface = sim.surface(place)
    if place.access == "drop":
        return [surface.p]
    radius = shapes.footprint(scene.spec.items[thing].shape)
    others = []
    for name, item in scene.spec.items.items():
        if name in (thing, place.name):
            continue
        local = surface.r.T @ (sim.sense(name).p - surface.p)
        if -0.05 < local[2] < 0.3:
            others.append((local[0], local[1], shapes.footprint(item.shape)))
    nx, ny = max(1, int(place.half[0] / 0.05)), max(1, int(place.half[1] / 0.05))
    xs = np.linspace(-place.half[0], place.half[0], 2 * nx + 1) if place.half[0] > 0.02 else np.zeros(1)
    ys = np.linspace(-place.half[1], place.half[1], 2 * ny + 1) if place.half[1] > 0.02 else np.zeros(1)
    scored = []
    for x in xs:
        for y in ys:
            gap = min((math.hypot(x - a, y - b) - c - radius for a, b, c in others), default=1.0)
            if gap < MARGIN:
                continue
            p = surface.p + surface.r @ np.array([x, y, 0.0])
            # Room for the fingers counts until 6 cm, then the way to go; near the front edge is easier to reach.
            way = 0.4 * float(np.linalg.norm(p[:2] - sim.base[:2])) + 0.3 * abs(x) + 0.5 * (y + place.half[1])
            scored.append((-min(gap, 0.06) * 8 + way, tuple(p)))
    if not scored:
        on = [n for n in scene.items if n != thing and sim.place_of(n) == place.name]
        raise SkillFailure(
            Code.NO_ROOM, f"There is no free spot for the {spoken(thing)} on the {spoken(place.name)}.", tuple(on)
        )
    chosen: list[Floats] = []
    for _, q in sorted(scored):
        p = np.array(q)
        if all(np.linalg.norm(p - c) > 0.07 for c in chosen):
            chosen.append(p)
        if len(chosen) >= SPOTS:
            break
    return chosen


def plan(act: Act, thing: str, place: Place, floor: Floor) -> Release:
    """The first way of setting a thing down that holds up.

    Raises:
        SkillFailure: why there is none.
    """
    return plan_at(act, thing, place, floor, spots(act.sim, thing, place))


def plan_at(act: Act, thing: str, place: Place, floor: Floor, targets: list[Floats]) -> Release:
    """As `plan`, for given spots."""
    sim, scene = act.sim, act.scene
    assert act.holding is not None
    rel = act.holding.rel
    drop = place.access == "drop"
    # Into a bin things are dropped: from just above its rim, or from higher where the hand does not get so low.
    heights = tuple(place.rim + more for more in (0.03, 0.15, 0.28)) if drop else (RELEASE,)
    poses, penalty = [], []
    for k, spot in enumerate(targets):
        for up in heights:
            for turn in range(TURNS):
                poses.append(Pose(spot + np.array([0, 0, up]), rot_z(turn * math.tau / TURNS)))
                penalty.append(0.12 * k + (up - heights[0]))
    grips = [t @ rel.inverse() for t in poses]
    p, r = np.array([g.p for g in grips]), np.array([g.r for g in grips])
    cost = np.array(penalty)
    out = outward(sim, place) if place.access == "front" else None
    if out is not None:
        level = r[:, :2, 2]
        along = -(level @ out) / np.maximum(np.linalg.norm(level, axis=1), 1e-9)
        usable = np.flatnonzero((along > 0.8) & (np.linalg.norm(level, axis=1) > 0.5))
        if not len(usable):
            raise SkillFailure(
                Code.PLACE_BLOCKED, f"The {spoken(thing)} is held from above, and the {spoken(place.name)} can only be reached "
                "into from the front.", (place.name,),
            )  # fmt: skip
        poses, p, r, cost = [poses[i] for i in usable], p[usable], r[usable], cost[usable]
    found, reasons = Search(), []
    view = View(sim, act.holding)
    tried: dict[tuple[float, ...], int] = {}
    for reached in search(sim, floor, p, r, cost, targets[0], found, flip=False):
        stance = tuple(np.round(reached.base, 3))
        tried[stance] = tried.get(stance, 0) + 1
        if tried[stance] > PER_STANCE:
            continue
        if sum(min(n, PER_STANCE) for n in tried.values()) > CHECKS:
            break
        got = _check(act, view, reached.base, reached.arm, reached.grip, poses[reached.index], floor, out, drop)
        if isinstance(got, Release):
            blocker = act.routed(got.entry, floor)
            if blocker is None:
                return got
            reasons.append(blocker)
            continue
        reasons.append(scene.owner[scene.geom[got]])
    failure = blocked(found, reasons, f"a spot for the {spoken(thing)}", place.name)
    if failure.code is Code.GRASP_BLOCKED:
        failure.code = Code.PLACE_BLOCKED
    raise failure


def _check(
    act: Act,
    view: View,
    base: Floats,
    arm: Floats,
    grip: Pose,
    target: Pose,
    floor: Floor,
    out: Floats | None,
    drop: bool,
) -> Release | str:
    scene = act.scene
    if hits := view.near(base, arm, SLACK):
        # A thing held at a slant may dig its rim into the surface: let go a little higher.
        higher = None
        for more in (0.008, 0.016):
            raised = line(scene, base, arm, [Pose(grip.p + np.array([0, 0, more]), grip.r)])
            if raised is not None and not view.near(base, raised[0], SLACK):
                higher = raised[0]
                grip = Pose(grip.p + np.array([0, 0, more]), grip.r)
                break
        if higher is None:
            return hits[0]
        arm = higher
    heading = np.array([-np.cos(base[2]), -np.sin(base[2])])
    if out is not None:
        high = line(scene, base, arm, [Pose(grip.p + np.array([0, 0, 0.02]), grip.r)])
        if high is None:
            return "robot.l5"
        entry = act.exit_pose(view, base, high[0], out, INSERT, floor)
        if entry is None:
            return "wall.0"
        level = grip.r[:, 2] * (1, 1, 0)
        off = line(
            scene, base, arm, [Pose(grip.p - level / np.linalg.norm(level) * 0.09 * k / 3, grip.r) for k in (1, 2, 3)]
        )
        if off is None:
            return "robot.l5"
        pre, steps, retreat, exit_ = high[0], np.stack([high[0], arm]), off, entry
    else:
        n = 2 if drop else 4
        back = line(scene, base, arm, [Pose(grip.p + np.array([0, 0, ABOVE * k / n]), grip.r) for k in range(1, n + 1)])
        if back is None:
            return "robot.l5"
        for q in back:
            if hits := view.near(base, q, SLACK):
                return hits[0]
        away = -grip.r[:, 2] if abs(grip.r[2, 2]) < 0.9 else np.array([0, 0, 1.0])
        off = line(scene, base, arm, [Pose(grip.p + away * 0.11 * k / 3, grip.r) for k in (1, 2, 3)])
        if off is None:
            return "robot.l5"
        empty = View(act.sim)
        # Where the thing will stand is not where the simulation has it: judge the empty hand against the rest.
        if hits := [
            h for q in off for h in empty.hits(base, q, aperture=scene.profile.opening / 2) if not _is_held(act, h)
        ]:
            return hits[0]
        exit_pose = act.exit_pose(empty, base, off[-1], heading, (0.22, 0.15, 0.0), floor)
        if exit_pose is None:
            return "wall.0"
        view = View(act.sim, act.holding)
        pre, steps, retreat, entry, exit_ = back[-1], np.concatenate([back[::-1], arm[None]]), off, base, exit_pose
    view = View(act.sim, act.holding)
    finder = ArmPath(view, entry, upright=act.upright())
    if finder.find(act.sim.arm, pre, budget=40) is None:
        return finder.blockers[0] if finder.blockers else "robot.l5"
    return Release(base, entry, pre, steps, retreat, exit_, target, drop, out is not None)


def _is_held(act: Act, geom: str) -> bool:
    return act.holding is not None and act.scene.owner[act.scene.geom[geom]] == act.holding.name


def place(act: Act, thing: str, to: str) -> Motion:
    """Set the held `thing` down on or in `to`.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    where = screen(act.sim, thing, to)
    yield from act.tidy()
    floor = act.floor()
    way = plan(act, thing, where, floor)
    yield from put_down(act, thing, where, way, floor)


def put_down(act: Act, thing: str, where: Place, way: Release, floor: Floor) -> Motion:
    """Carry out a planned release and verify that the thing stays."""
    sim, scene = act.sim, act.scene
    assert act.holding is not None
    yield from act.go(way.entry, floor)
    # What is held may have shifted on the way: aim anew from here.
    act.holding = held_in(sim) or act.holding
    steps = _aim(act, way)
    view = View(sim, act.holding)
    yield from act.arm_to(steps[0], view, factor=0.8)
    act.touch = {thing, where.name, where.fixture}
    if way.front:
        yield from motion.drive(sim, way.base + (sim.base - way.entry), 0.3)
    yield from motion.track(sim, steps, 0.15, ABOVE if len(steps) > 2 else 0.025)
    act.guarded = False
    yield from motion.squeeze(sim, scene.profile.opening / 2, 0.3)
    act.holding = None
    yield from motion.track(sim, np.concatenate([sim.data.ctrl[scene.arm_u][None], way.retreat]), 0.25, 0.11)
    yield from motion.drive(sim, way.exit, 0.5)
    yield from act.arm_to(scene.ready, View(sim))
    yield from motion.wait(sim, 0.3)
    _verify(act, thing, where, way)
    act.bystanders({thing})


def _aim(act: Act, way: Release) -> Floats:
    sim, scene = act.sim, act.scene
    assert act.holding is not None
    base = sim.base + (way.base - way.entry)
    grip = way.target @ act.holding.rel.inverse()
    n = len(way.line) - 1
    top = 0.02 if way.front else ABOVE
    heights = [top * (1 - k / n) for k in range(n + 1)]
    solved = line(
        scene, base, way.line[-1], [Pose(grip.p + np.array([0, 0, h]), grip.r) for h in heights[::-1]], jump=1.2
    )
    return way.line if solved is None else solved[::-1]


def _verify(act: Act, thing: str, where: Place, way: Release) -> None:
    sim = act.sim
    pose = sim.pose(thing)
    surface = sim.surface(where)
    local = surface.r.T @ (pose.p - surface.p)
    if way.drop:
        if abs(local[0]) > where.half[0] + 0.02 or abs(local[1]) > where.half[1] + 0.02 or local[2] > where.rim:
            raise SkillFailure(
                Code.UNSTABLE_PLACE, f"The {spoken(thing)} fell beside the {spoken(where.name)}.", (thing,)
            )
        return
    error = pose.p - way.target.p
    off = float(np.linalg.norm(error[:2]))
    up = float(pose.r[2, 2])
    rolling = isinstance(act.scene.spec.items[thing].shape, Ball)
    if (up < TILTED and not rolling) or off > 0.06 or abs(error[2]) > 0.03:
        fate = "tipped over" if up < TILTED else "did not stay where it was put"
        raise SkillFailure(
            Code.UNSTABLE_PLACE, f"The {spoken(thing)} {fate} on the {spoken(where.name)}.", (thing,), off=off, up=up
        )
    act.notes["off"] = off
