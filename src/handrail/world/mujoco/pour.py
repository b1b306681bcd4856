"""Pour one portion: hold the lip over the target's mouth, tilt until the portion has left, tilt back."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import liquid, motion, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked
from handrail.world.mujoco.kinematics import axis_rotation, rot_z
from handrail.world.mujoco.navigation import Floor
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.pick import CHECKS
from handrail.world.mujoco.reach import Search, in_base, line, search, weights
from handrail.world.mujoco.sim import Pose
from handrail.world.mujoco.view import View, held_in

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

OVER = 0.04
"""Least height of the lip above the target's rim [m]."""
STEEPEST = math.radians(100)
SLACK = math.radians(8)
WAYPOINTS = 10
TILT_SPEED = 0.5
"""[rad/s]"""
SPILL = 10.0
"""Millilitres beside the target that count as spilled."""


@dataclass(frozen=True)
class Tilt:
    """Postures from upright over the target to steepest."""

    base: Floats
    pre: Floats
    arms: Floats


def pour(act: Act, source: str, target: str) -> Motion:
    """Pour one portion of the held `source` into `target`.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    sim, scene = act.sim, act.scene
    portion = scene.spec.portion_ml
    if sim.held() != source or act.holding is None:
        raise SkillFailure(Code.NOT_HOLDING, f"The hand does not hold the {spoken(source)}.", (source,))
    have = sim.memory.ml.get(source, 0.0)
    into = scene.spec.items[target].content
    if have < 0.5 * portion:
        raise SkillFailure(Code.NOTHING_TO_POUR, f"There is no portion left in the {spoken(source)}.", (source,))
    if into is None or into.capacity_ml - sim.memory.ml.get(target, 0.0) < 0.9 * portion:
        raise SkillFailure(Code.WOULD_OVERFLOW, f"The {spoken(target)} has no room for another portion.", (target,))
    if shapes.mouth(scene.spec.items[target].shape) < 0.025:
        raise SkillFailure(
            Code.WOULD_OVERFLOW, f"The mouth of the {spoken(target)} is too narrow to pour into.", (target,)
        )
    yield from act.tidy()
    act.holding = held_in(sim)
    steepest = _needed(act, source, have - min(portion, have))
    act.notes["tilt"] = steepest
    floor = act.floor()
    pose = sim.sense(target)
    way = _plan(act, source, target, pose, floor)
    yield from act.go(way.base, floor)
    act.holding = held_in(sim)
    again = _arc(act, source, target, sim.sense(target), sim.base, way.arms[0], None)
    arms = way.arms if again is None else again
    yield from act.arm_to(arms[0], View(sim, act.holding), factor=0.7)
    before, into_before = sim.memory.ml[source], sim.memory.ml.get(target, 0.0)
    spilled_before = sum(sim.memory.spilled.values())
    wanted = min(portion, before)
    reached = 0.0
    step = TILT_SPEED * sim.period / (steepest / WAYPOINTS)
    while before - sim.memory.ml[source] < 0.93 * wanted and reached < WAYPOINTS:
        flowing = before - sim.memory.ml[source]
        # Once it flows, tilt on slowly: the flow follows the tilt.
        reached = min(WAYPOINTS, reached + (step if flowing == 0 else step * 0.25))
        i = min(int(reached), WAYPOINTS - 1)
        sim.data.ctrl[scene.arm_u] = arms[i] + (reached - i) * (arms[i + 1] - arms[i])
        yield
    i = min(int(reached), WAYPOINTS - 1)
    here = arms[i] + (reached - i) * (arms[i + 1] - arms[i])
    # As one smooth motion with feed-forward: lift and arm must stay in step, or the base of the vessel dips onto the target.
    yield from motion.track(
        sim, np.concatenate([here[None], arms[: i + 1][::-1]]), 0.2, 0.25 * steepest * reached / WAYPOINTS
    )
    yield from motion.wait(sim, 0.3)
    grip = sim.grip
    up = line(scene, sim.base, sim.arm, [Pose(grip.p + np.array([0, 0, 0.06]), grip.r)])
    if up is not None:
        yield from motion.track(sim, np.concatenate([sim.data.ctrl[scene.arm_u][None], up]), 0.2, 0.06)
    yield from act.back_off(View(sim, act.holding), act._away())
    yield from act.draw_in(0.7)
    left = before - sim.memory.ml[source]
    arrived = sim.memory.ml.get(target, 0.0) - into_before
    spilled = sum(sim.memory.spilled.values()) - spilled_before
    act.notes |= {"left_ml": left, "arrived_ml": arrived, "spilled_ml": spilled}
    if spilled > SPILL:
        raise SkillFailure(Code.SPILLED, f"{spilled:.0f} ml went beside the {spoken(target)}.", (target,))
    if arrived < 0.6 * wanted:
        raise SkillFailure(
            Code.SPILLED, f"Only {arrived:.0f} of {wanted:.0f} ml arrived in the {spoken(target)}.", (target,)
        )
    act.bystanders({source, target})


def _needed(act: Act, source: str, left: float) -> float:
    """The tilt at which only `left` millilitres stay in the source, and a little more [rad]."""
    item = act.scene.spec.items[source]
    assert item.content is not None
    share = 2 * shapes.base_radius(item.shape) / shapes.height(item.shape)
    tilt = 0.1
    while tilt < STEEPEST and liquid.holds(share, tilt) * item.content.capacity_ml > left:
        tilt += 0.02
    return min(STEEPEST, tilt + SLACK)


def _item_poses(act: Act, source: str, target: str, pose: Pose, yaw: float, toward: float) -> list[Pose]:
    """Poses of the source from upright to steepest, its lip over the middle of the target's mouth.

    The lip comes down as the source tilts: its underside has to stay above the target's rim.
    """
    spec = act.scene.spec.items
    radius, tall = shapes.lip(spec[source].shape)
    bulge = shapes.footprint(spec[source].shape) - radius
    rim = pose.p + pose.r @ np.array([0, 0, shapes.height(spec[target].shape)])
    upright = rot_z(yaw)
    d = np.array([math.cos(toward), math.sin(toward), 0.0])
    axis = np.cross([0, 0, 1.0], d)
    edge = upright.T @ d * radius + np.array([0, 0, tall])
    out = []
    steepest = float(act.notes["tilt"])
    for k in range(WAYPOINTS + 1):
        tilt = steepest * k / WAYPOINTS
        r = axis_rotation(axis, tilt) @ upright
        above = max(OVER, tall * math.cos(tilt) + bulge * math.sin(tilt) + 0.03)
        out.append(Pose(rim + np.array([0, 0, above]) - r @ edge, r))
    return out


def _arc(
    act: Act, source: str, target: str, pose: Pose, base: Floats, arm: Floats, choice: tuple[float, float] | None
) -> Floats | None:
    """Arm postures for the whole tilt, each found from the one before; None when it leaves the arm's reach."""
    choice = choice or act.__dict__.get("_pour_choice")
    if choice is None or act.holding is None:
        return None
    chain, q = act.scene.arm, arm
    rows: list[Floats] = []
    for item in _item_poses(act, source, target, pose, *choice):
        grip = item @ act.holding.rel.inverse()
        p, r = in_base(base[None], grip.p[None], grip.r[None])
        out, ok = chain.solve(p, r, q[None], q, weights=weights(act.scene), bias=0.0, iterations=30)
        if not ok[0] or (rows and np.max(np.abs(out[0] - q)) > 0.9):
            return None
        q = out[0]
        rows.append(q)
    return np.array(rows)


def _plan(act: Act, source: str, target: str, pose: Pose, floor: Floor) -> Tilt:
    sim, scene = act.sim, act.scene
    assert act.holding is not None
    back = act.holding.rel.inverse()
    choices, p, r = [], [], []
    for k in range(12):
        yaw = k * math.tau / 12
        hand = rot_z(yaw) @ back.r
        across = math.atan2(hand[1, 1], hand[0, 1])
        ahead = math.atan2(hand[1, 2], hand[0, 2])
        # Rolling the wrist (towards either side of the opening) is the natural way; tipping forward the second best.
        for cost, toward in ((0.0, across), (0.0, across + math.pi), (0.1, ahead), (0.1, ahead + math.pi)):
            grip = _item_poses(act, source, target, pose, yaw, toward)[0] @ back
            choices.append((cost, yaw, toward))
            p.append(grip.p)
            r.append(grip.r)
    found, reasons = Search(), []
    view = View(sim, act.holding)
    costs = np.array([c[0] for c in choices])
    for n, reached in enumerate(search(sim, floor, np.array(p), np.array(r), costs, pose.p, found, flip=False)):
        if n >= CHECKS:
            break
        _, yaw, toward = choices[reached.index]
        arms = _arc(act, source, target, pose, reached.base, reached.arm, (yaw, toward))
        if arms is None:
            reasons.append("robot")
            continue
        bad = next((h for q in arms if (h := view.hits(reached.base, q))), None)
        if (
            bad is None
            and ArmPath(view, reached.base, upright=act.upright()).find(sim.arm, arms[0], budget=30) is not None
        ):
            act.__dict__["_pour_choice"] = (yaw, toward)
            return Tilt(reached.base, arms[0], arms)
        reasons.append(scene.owner[scene.geom[bad[0]]] if bad else "robot")
    raise blocked(found, reasons, f"the {spoken(target)} to pour", sim.place_of(target))
