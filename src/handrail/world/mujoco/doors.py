"""Open and close doors and drawers by pinching the handle and moving it along its arc with base, lift and arm together."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import CLOSED, Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked, ranked, the
from handrail.world.mujoco.fixtures import DOOR_OPEN, Door
from handrail.world.mujoco.kinematics import axis_rotation
from handrail.world.mujoco.navigation import Floor
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.reach import Reached, Search, line, search
from handrail.world.mujoco.sim import Pose, Sim
from handrail.world.mujoco.view import View

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

APPROACH = 0.10
CHECKS = 72
PER_STANCE = 4
"""Grips tried from one stance: if these fail for the arc, its neighbours mostly do too."""
ARC_STEPS = 8
SPEED = 0.25
"""Of the handle along its way [m/s]."""
SHUT = 0.04
"""Share of the travel below which a door counts as closed."""


@dataclass(frozen=True)
class Swing:
    """Postures of one way to move a door: `line` to the handle, then base and arm along the arc."""

    base: Floats
    line: Floats
    bases: Floats
    arms: Floats
    aperture: float
    grip: Pose


def screen(sim: Sim, what: str) -> Door:
    """The checks that need no search.

    Raises:
        SkillFailure: NOT_OPENABLE, HAND_FULL.
    """
    door = sim.scene.doors.get(what)
    if door is None:
        raise SkillFailure(Code.NOT_OPENABLE, f"The {spoken(what)} has nothing to open or close.", (what,))
    held = sim.held()
    if held is not None:
        raise SkillFailure(Code.HAND_FULL, f"The hand holds the {spoken(held)} and can't take the handle.", (held,))
    return door


def handle_poses(sim: Sim, door: Door, target: float, steps: int) -> list[Pose]:
    """The handle's pose from where it is now to the joint value `target`: the door turned (or drawn) about its joint."""
    scene, data = sim.scene, sim.data
    geom = scene.geom[door.handle]
    joint = scene.model.joint(door.joint).id
    start = Pose(data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3).copy())
    axis, anchor = data.xaxis[joint].copy(), data.xanchor[joint].copy()
    now = float(data.qpos[scene.qpos_of(door.joint)])
    out = []
    for k in range(steps + 1):
        by = (target - now) * k / steps
        if door.kind == "hinge":
            turn = axis_rotation(axis, by)
            out.append(Pose(anchor + turn @ (start.p - anchor), turn @ start.r))
        else:
            out.append(Pose(start.p + axis * by, start.r))
    return out


def _grips(sim: Sim, door: Door) -> list[Pose]:
    """Ways to pinch the handle now: approach against its outward normal, fingers across the bar, a few angles."""
    scene, data = sim.scene, sim.data
    handle = scene.geom[door.handle]
    body = scene.geom_body[handle]
    r = data.xmat[body].reshape(3, 3)
    inward = r[:, 1]  # a door's outer face looks along its body's -y
    centre = data.geom_xpos[handle]
    bar = np.array([0, 0, 1.0]) if door.upright else r[:, 0]
    out = []
    for turn in (0.0, 0.45, -0.45, 0.8, -0.8):
        for slide in (0.0, 0.08, -0.08, 0.15, -0.15) if door.upright else (0.0,):
            span = scene.model.geom_size[handle][1] - 0.02
            if abs(slide) > span:
                continue
            z = axis_rotation(bar, turn) @ inward
            out.append(Pose(centre + bar * slide, shapes.frame(z, np.cross(bar, z))))
    return out


def plan(act: Act, door: Door, target: float, floor: Floor) -> Swing:
    """A stance, a grip of the handle, and the whole arc, checked for reach and touch.

    Raises:
        SkillFailure: why there is none.
    """
    sim, scene = act.sim, act.scene
    grips = _grips(sim, door)
    p, r = np.array([g.p for g in grips]), np.array([g.r for g in grips])
    penalty = np.array([0.02 * k for k in range(len(grips))])
    handles = handle_poses(sim, door, target, ARC_STEPS)
    found, reasons = Search(), []
    view = View(sim)
    what = f"the handle of the {spoken(door.fixture)}"
    # Where the handle will be says where it is best to stand: between its first and its last place.
    facing = handles[0].p
    tried: dict[tuple[float, ...], int] = {}
    for reached in search(sim, floor, p, r, penalty, facing, found):
        stance = tuple(np.round(reached.base, 3))
        tried[stance] = tried.get(stance, 0) + 1
        if tried[stance] > PER_STANCE:
            continue
        if sum(min(n, PER_STANCE) for n in tried.values()) > CHECKS:
            break
        got = _check(act, view, door, target, reached, handles)
        if isinstance(got, Swing):
            blocker = act.routed(got.base, floor)
            if blocker is None:
                return got
            reasons.append(blocker)
            continue
        reasons.append(scene.owner[scene.geom[got]])
    raise blocked(found, reasons, what, None)


def _check(act: Act, view: View, door: Door, target: float, reached: Reached, handles: list[Pose]) -> Swing | str:
    sim, scene = act.sim, act.scene
    aperture = min(scene.profile.opening / 2, 0.012 + shapes.APERTURE_MARGIN)
    base, arm, grip = reached.base, reached.arm, reached.grip
    joint = scene.qpos_of(door.joint)
    now = float(sim.data.qpos[joint])
    view.data.qpos[joint] = now
    touch = (door.handle,)
    if hits := view.hits(base, arm, aperture=aperture, touch=touch):
        return hits[0]
    poses = [Pose(grip.p - grip.r[:, 2] * APPROACH * (1 - k / 4), grip.r) for k in range(4)]
    back = line(scene, base, arm, poses[::-1])
    if back is None:
        return "robot.l5"
    steps = np.concatenate([back[::-1], arm[None]])
    for q in steps[:-1]:
        if hits := view.hits(base, q, aperture=aperture, touch=touch):
            return hits[0]
    rel = handles[0].inverse() @ grip
    arc = follow_arc(sim, base, arm, [h @ rel for h in handles])
    if arc is None:
        return "robot.l4"
    bases, arms = arc
    for k in range(1, len(bases)):
        view.data.qpos[joint] = now + (target - now) * k / (len(bases) - 1)
        hits = view.hits(bases[k], arms[k], aperture=0.012, touch=touch)
        view.data.qpos[joint] = now
        if hits:
            return hits[0]
    if ArmPath(view, base, aperture).find(scene.ready, steps[0], budget=30) is None:
        return "robot.l5"
    return Swing(base, steps, bases, arms, aperture, grip)


def follow_arc(sim: Sim, base: Floats, arm: Floats, poses: list[Pose]) -> tuple[Floats, Floats] | None:
    """Base and arm postures for a sequence of hand poses, each found from the one before; None when one is out of reach."""
    chain = sim.scene.whole
    lift = [0.6] if sim.scene.profile.lift > 0 else []
    weights = np.array([0.45, 0.45, 0.4, *lift, *([1.0] * 7)])
    q = np.concatenate([base, arm])
    rest = q.copy()
    rows = [q]
    for pose in poses[1:]:
        out, ok = chain.solve(
            pose.p[None], pose.r[None], q[None], rest, weights=weights, bias=0.02, iterations=40, tolerance=(2e-3, 2e-2)
        )
        if not ok[0] or np.max(np.abs(out[0] - q)[3:]) > 1.0:
            return None
        q = out[0]
        rows.append(q)
    table = np.array(rows)
    return table[:, :3], table[:, 3:]


def swing(act: Act, what: str, share: float) -> Motion:
    """Bring a door to `share` of its useful travel.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    sim, scene = act.sim, act.scene
    door = screen(sim, what)
    yield from act.tidy()
    floor = act.floor()
    target = share * door.travel
    way = plan(act, door, target, floor)
    yield from act.go(way.base, floor)
    yield from motion.squeeze(sim, way.aperture, 0.1)
    # Aim anew from where the base really stands.
    steps = line(
        scene,
        sim.base,
        way.line[-1],
        [Pose(way.grip.p - way.grip.r[:, 2] * APPROACH * k / 4, way.grip.r) for k in range(5)],
    )
    steps = way.line if steps is None else steps[::-1]
    yield from act.arm_to(steps[0], View(sim), aperture=way.aperture, via=(scene.ready,))
    act.touch = {door.handle, what}
    yield from motion.track(sim, steps, 0.2, APPROACH)
    yield from motion.squeeze(sim, CLOSED, 0.35)
    left, right = sim.pad_touch()
    if door.handle not in left or door.handle not in right:
        yield from _leave(act, way.aperture)
        raise SkillFailure(Code.NO_GRASP, f"The fingers did not get hold of the handle of the {spoken(what)}.", (what,))
    handles = handle_poses(sim, door, target, ARC_STEPS * 3)
    rel = handles[0].inverse() @ sim.grip
    arc = follow_arc(sim, sim.base, sim.arm, [h @ rel for h in handles])
    bases, arms = arc if arc is not None else (way.bases, way.arms)
    bases = bases - bases[0] + sim.data.ctrl[scene.base_u]
    length = float(sum(np.linalg.norm(b.p - a.p) for a, b in pairwise(handles)))
    yield from motion.track(sim, arms, SPEED, length, base=bases)
    yield from _leave(act, scene.profile.opening / 2)
    opening = sim.opening(what)
    wanted = opening >= DOOR_OPEN if share > 0.5 else opening <= SHUT
    if not wanted:
        verb = "open" if share > 0.5 else "closed"
        raise SkillFailure(
            Code.DOOR_STUCK, f"The {spoken(what)} is {opening * 100:.0f} % open after moving its handle, not {verb}.", (what,),
            opening=opening,
        )  # fmt: skip


def _leave(act: Act, aperture: float) -> Motion:
    """Let the handle go, draw the hand back, move away and bring the arm home."""
    sim, scene = act.sim, act.scene
    yield from motion.squeeze(sim, aperture, 0.25)
    grip = sim.grip
    off = line(scene, sim.base, sim.arm, [Pose(grip.p - grip.r[:, 2] * 0.11 * k / 3, grip.r) for k in (1, 2, 3)])
    if off is not None:
        yield from motion.track(sim, np.concatenate([sim.data.ctrl[scene.arm_u][None], off]), 0.25, 0.11)
    view = View(sim)
    approach = grip.r[:2, 2] / max(float(np.linalg.norm(grip.r[:2, 2])), 1e-6)
    goal = act.exit_pose(view, sim.base, sim.arm, -approach, (0.25, 0.15, 0.08), act.floor(), touch=act.touch)
    if goal is not None:
        yield from motion.drive(sim, goal, 0.5)
    finder = ArmPath(View(sim), sim.base, touch=act.touch)
    path = finder.find(sim.arm, scene.ready)
    if path is None:
        names = ranked(scene.owner[scene.geom[b]] for b in finder.blockers)
        raise SkillFailure(
            Code.ARM_BLOCKED,
            f"The arm finds no way back from the handle past {the(names[0]) if names else 'itself'}.",
            names,
        )
    yield from motion.follow(sim, path)


def open_(act: Act, what: str) -> Motion:
    """Open a door or drawer."""
    yield from swing(act, what, 1.0)


def close(act: Act, what: str) -> Motion:
    """Close a door or drawer."""
    door = screen(act.sim, what)
    inside = [n for n in act.scene.items if _in_the_way(act.sim, door, n)]
    if inside:
        raise SkillFailure(
            Code.COLLISION, f"The {spoken(inside[0])} stands in the way of the {spoken(what)}'s door.", tuple(inside)
        )
    yield from swing(act, what, 0.0)


def _in_the_way(sim: Sim, door: Door, item: str) -> bool:
    """Whether an item sticks out of a hinged door's frame, so that the door would hit it."""
    if door.kind != "hinge":
        return False
    place = sim.scene.places[door.fixture]
    if sim.place_of(item) != place.name:
        return False
    surface = sim.surface(place)
    front = math.inf
    local = surface.r.T @ (sim.pose(item).p - surface.p)
    depth = sim.scene.spec.fixtures[door.fixture].size[1]
    front = -depth / 2 - place.centre[1]
    return bool(local[1] - shapes.footprint(sim.scene.spec.items[item].shape) < front - 0.01)
