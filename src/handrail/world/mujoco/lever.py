"""Switch something on or off by pushing its lever down or up with the closed fingers."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import motion, shapes
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import blocked
from handrail.world.mujoco.kinematics import axis_rotation
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.pick import CHECKS
from handrail.world.mujoco.reach import Search, line, search
from handrail.world.mujoco.sim import Pose
from handrail.world.mujoco.view import View

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

STROKE = 0.115
"""How far the fingertips move past the lever [m]."""
FINGER = 0.012
"""From the point between the pads to the fingertips [m]."""


def throw(act: Act, what: str, on: bool) -> Motion:
    """Push the lever of `what`.

    Raises:
        SkillFailure: with one of the codes of the vocabulary.
    """
    sim, scene = act.sim, act.scene
    if what not in scene.levers:
        raise SkillFailure(Code.NOT_SWITCHABLE, f"The {spoken(what)} has no switch.", (what,))
    held = sim.held()
    if held is not None:
        raise SkillFailure(Code.HAND_FULL, f"The hand holds the {spoken(held)}.", (held,))
    yield from act.tidy()
    floor = act.floor()
    body = scene.body[f"{what}.lever"]
    pivot = sim.data.xpos[body].copy()
    r = sim.data.xmat[scene.body[what]].reshape(3, 3)
    inward, across = r[:, 1], r[:, 0]
    sign = -1.0 if on else 1.0
    # The lever is 8 cm long; the fingertips pass 5 cm in front of the panel.
    middle = pivot - inward * (0.045 + FINGER)
    top = Pose(middle - np.array([0, 0, sign * STROKE / 2]), np.eye(3))
    grips = []
    for turn in (0.0, 0.4, -0.4):
        for dip in (0.0, 0.5 if on else -0.3):
            z = axis_rotation(np.array([0, 0, 1.0]), turn) @ inward
            z = axis_rotation(across, -dip) @ z
            tip = top.p + inward * FINGER - z * FINGER
            grips.append(Pose(tip, shapes.frame(z, across)))
    p, rr = np.array([g.p for g in grips]), np.array([g.r for g in grips])
    found, reasons = Search(), []
    view = View(sim)
    path = None
    for k, reached in enumerate(search(sim, floor, p, rr, 0.03 * np.arange(len(grips), dtype=float), pivot, found)):
        if k >= CHECKS:
            break
        strokes = [Pose(reached.grip.p + np.array([0, 0, sign * STROKE * i / 6]), reached.grip.r) for i in range(1, 7)]
        qs = line(scene, reached.base, reached.arm, strokes)
        pre = line(
            scene, reached.base, reached.arm, [Pose(reached.grip.p - reached.grip.r[:, 2] * 0.1, reached.grip.r)]
        )
        if qs is None or pre is None:
            reasons.append("robot")
            continue
        lever = f"{what}.lever"
        hits = view.hits(reached.base, pre[0], aperture=0.0, touch=(lever,)) or view.hits(
            reached.base, reached.arm, aperture=0.0, touch=(lever,)
        )
        for q in qs:
            hits = hits or view.hits(reached.base, q, aperture=0.0, touch=(lever,))
        if hits:
            reasons.append(scene.owner[scene.geom[hits[0]]])
            continue
        if ArmPath(view, reached.base, 0.0).find(scene.ready, pre[0], budget=30) is None:
            reasons.append("robot")
            continue
        path = (reached, pre)
        break
    if path is None:
        raise blocked(found, reasons, f"the switch of the {spoken(what)}", None)
    reached, pre = path
    yield from act.go(reached.base, floor)
    yield from motion.squeeze(sim, 0.0, 0.1)
    yield from act.arm_to(pre[0], View(sim), aperture=0.0, via=(scene.ready,))
    act.touch = {what, f"{what}.lever"}
    grip = reached.grip
    poses = [Pose(grip.p - grip.r[:, 2] * 0.1, grip.r), grip]
    poses += [Pose(grip.p + np.array([0, 0, sign * STROKE * i / 6]), grip.r) for i in range(1, 7)]
    q = line(scene, sim.base, pre[0], poses, jump=1.0)
    steps = np.concatenate([pre, reached.arm[None]]) if q is None else q[:2]
    yield from motion.track(sim, steps, 0.2, 0.1)
    if q is not None:
        yield from motion.track(sim, q[1:], 0.12, STROKE)
    off = line(
        scene, sim.base, sim.arm, [Pose(sim.grip.p - sim.grip.r[:, 2] * 0.11 * k / 3, sim.grip.r) for k in (1, 2, 3)]
    )
    if off is not None:
        yield from motion.track(sim, np.concatenate([sim.data.ctrl[scene.arm_u][None], off]), 0.25, 0.11)
    yield from act.back_off(View(sim), act._away())
    yield from motion.squeeze(sim, scene.profile.opening / 2, 0.1)
    act.touch = set()
    yield from act.tidy()
    if sim.is_on(what) is not on:
        raise SkillFailure(
            Code.SWITCH_STUCK, f"The switch of the {spoken(what)} did not go {'on' if on else 'off'}.", (what,)
        )


def switch_on(act: Act, what: str) -> Motion:
    """Switch `what` on."""
    yield from throw(act, what, True)


def switch_off(act: Act, what: str) -> Motion:
    """Switch `what` off."""
    yield from throw(act, what, False)
