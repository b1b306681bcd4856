"""What every skill works with: the simulation, what may be touched right now, and the motions that all of them share."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import liquid, motion, shapes
from handrail.world.mujoco.armpath import ArmPath
from handrail.world.mujoco.blame import ranked, the
from handrail.world.mujoco.carry import carry_posture, level_path
from handrail.world.mujoco.navigation import STAND, Floor
from handrail.world.mujoco.outcome import Code, Outcome, SkillFailure, spoken
from handrail.world.mujoco.scene import UNSEEN
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.view import CLEARANCE_LIMIT, Held, View, held_in

Floats = NDArray[np.float64]
Motion = Generator[None, None, None]

HARD = 40.0
"""Normal force at which an unplanned touch counts as a collision [N]."""
MOVED = 0.06
"""How far a bystander may shift before the skill counts as having knocked it [m]."""
SWEEP_MARGINS = (0.05, 0.02)
"""Room to everything else while driving, the wide one first [m]."""
CLEARANCE_EVERY = 10
CLOSED = -0.012
"""Commanded finger position that squeezes [m]."""


class Act:
    """One skill at work."""

    def __init__(self, sim: Sim, limit: int) -> None:
        self.sim, self.scene = sim, sim.scene
        self.limit = limit
        self.touch: set[str] = set()
        self.holding: Held | None = held_in(sim)
        self.guarded = self.holding is not None
        """Whether losing what is held ends the skill."""
        self.lost = 0
        self.clearance = math.inf
        self.ticks = 0
        self.start_time, self.start_work = sim.time, sim.memory.work
        self.before = self._resting()
        self.notes: dict[str, float | str] = {}

    # -- watching ------------------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """After every control period: collisions, losing the load, the budget, and now and then the clearance."""
        self.ticks += 1
        if self.ticks > self.limit:
            raise SkillFailure(Code.TIMEOUT, f"It was not done after {self.limit * self.sim.period:.0f} s.")
        scene, sim = self.scene, self.sim
        geoms, force = sim.contact_forces()
        hard = force > HARD
        if hard.any():
            self._judge(geoms[hard])
        if self.guarded and self.holding is not None:
            self.lost = 0 if self._still_held(geoms) else self.lost + 1
            if self.lost > 5:
                name = self.holding.name
                raise SkillFailure(Code.DROPPED, f"The {spoken(name)} was lost on the way.", (name,))
        if scene.profile.kind == "mobile_arm" and self.ticks % CLEARANCE_EVERY == 0:
            self.sample_clearance()

    def _still_held(self, geoms: NDArray[np.int32]) -> bool:
        assert self.holding is not None
        if self.scene.profile.kind == "gantry":
            return self.sim.held() == self.holding.name
        body = self.scene.body[self.holding.name]
        owner = self.scene.geom_body[geoms]
        mine = geoms[(owner == body).any(axis=1)]
        return all((mine == pad).any() for pad in self.scene.pads)

    def _judge(self, geoms: NDArray[np.int32]) -> None:
        scene = self.scene
        body = self.scene.body[self.holding.name] if self.holding else -1
        for a, b in geoms:
            for ours, other in ((a, b), (b, a)):
                load = scene.geom_body[ours] == body
                if not (scene.robot_geom[ours] or load) or scene.robot_geom[other] or scene.geom_body[other] == body:
                    continue
                name, owner = scene.geom_name[other], scene.owner[other]
                if (name in self.touch or owner in self.touch) and (scene.hand_geom[ours] or load):
                    continue
                if owner == "floor" and scene.robot_geom[ours]:
                    continue
                if owner == UNSEEN and scene.robot_geom[ours] and not scene.hand_geom[ours]:
                    motion.bump(self.sim, owner)
                what = f"The {spoken(self.holding.name)}" if load and self.holding else "The robot"
                raise SkillFailure(Code.COLLISION, f"{what} hit {the(owner)}.", (owner,))

    def sample_clearance(self) -> None:
        """Distance to the nearest thing that is not meant to be touched."""
        view = View(self.sim, self.holding if self.guarded else None)
        view.pose(None, None)
        self.clearance = min(self.clearance, view.clearance(self.touch))

    def _resting(self) -> dict[str, Floats]:
        return {n: self._relative(n) for n in self.scene.items if self.holding is None or n != self.holding.name}

    def _relative(self, item: str) -> Floats:
        """An item's position in the frame of what may carry it (a drawer moves with what is in it)."""
        p = self.sim.data.xpos[self.scene.body[item]].copy()
        for place in self.scene.places.values():
            if place.body != place.fixture:
                surface = self.sim.surface(place)
                x, y, z = surface.r.T @ (p - surface.p)
                if abs(x) < place.half[0] + 0.1 and abs(y) < place.half[1] + 0.2 and -0.02 < z < 0.2:
                    return np.array([x, y, z])
        return np.asarray(p)

    def bystanders(self, ours: Iterable[str]) -> None:
        """Check at the end that nothing else was knocked away.

        Raises:
            SkillFailure: COLLISION, naming what moved.
        """
        ours = set(ours)
        moved = []
        for name, before in self.before.items():
            if name not in ours and float(np.linalg.norm(self._relative(name) - before)) > MOVED:
                moved.append(name)
        if moved:
            names = ", ".join(spoken(n) for n in moved)
            raise SkillFailure(Code.COLLISION, f"It knocked the {names} away.", tuple(moved))

    def finish(self, code: Code, sentence: str, blockers: tuple[str, ...] = (), **details: float | str) -> Outcome:
        """The outcome with the figures of this run."""
        return Outcome(
            code, sentence, blockers,
            seconds=round(self.sim.time - self.start_time, 6),
            work=self.sim.memory.work - self.start_work,
            clearance=self.clearance if self.clearance < CLEARANCE_LIMIT else math.inf,
            details={**self.notes, **details},
        )  # fmt: skip

    # -- shared motions ------------------------------------------------------------------------------------------------

    def rest_posture(self, view: View) -> Floats:
        """Where the arm belongs while driving: drawn in, and what it holds upright."""
        if self.holding is None:
            return self.scene.ready
        return carry_posture(self.sim, view, self.holding) if not self.tucked() else self.sim.arm

    def tucked(self) -> bool:
        """Whether what is held is already drawn in and upright."""
        if self.holding is None:
            return bool(np.max(np.abs(self.sim.arm - self.scene.ready)) < 0.05)
        grip = self.sim.grip.p
        near = math.hypot(*(grip[:2] - self.sim.base[:2])) < 0.56 and grip[2] > 0.95
        return near and float(self.sim.pose(self.holding.name).r[2, 2]) > self.upright()

    def upright(self) -> float:
        """Smallest cosine of the load's lean that neither spills nor tips it; -1 when it does not matter."""
        if self.holding is None:
            return -1.0
        item = self.scene.spec.items[self.holding.name]
        amount = self.sim.memory.ml.get(self.holding.name, 0.0)
        if item.content is None or amount <= 0:
            return -1.0
        radius, tall = shapes.base_radius(item.shape), shapes.height(item.shape)
        lean = 0.0
        while lean < 1.5 and liquid.holds(2 * radius / tall, lean + 0.12) * item.content.capacity_ml >= amount:
            lean += 0.05
        return math.cos(max(lean, 0.12))

    def go(self, goal: Floats, floor: Floor | None = None) -> Motion:
        """Drive to a base pose around what is known to be in the way.

        Raises:
            SkillFailure: NO_PATH, BASE_STALLED.
        """
        sim = self.sim
        yield from self.tidy()
        for pose in self.route(goal, floor or self.floor()):
            yield from motion.drive(sim, pose)
        if np.linalg.norm(sim.base[:2] - goal[:2]) > 0.05:
            raise SkillFailure(Code.BASE_STALLED, "The base did not get where it should.", ())

    def route(self, goal: Floats, floor: Floor) -> list[Floats]:
        """Base poses to drive through to a goal, with the arm as it is.

        Raises:
            SkillFailure: NO_PATH.
        """
        start = self.sim.base
        path: list[Floats] | None = [start[:2], np.asarray(goal[:2], float)]
        if np.linalg.norm(goal[:2] - start[:2]) > 0.03:
            path = floor.path(start[:2], goal[:2])
        if path is None:
            raise SkillFailure(
                Code.NO_PATH, f"There is no free way for the base to ({goal[0]:.1f}, {goal[1]:.1f}).", ()
            )
        return self._headings(path, goal)

    def routed(self, goal: Floats, floor: Floor) -> str | None:
        """None when there is a way to `goal`; otherwise what is in it."""
        try:
            self.route(goal, floor)
        except SkillFailure as failure:
            return failure.blockers[0] if failure.blockers else "wall"
        return None

    def _headings(self, path: list[Floats], goal: Floats) -> list[Floats]:
        """Base poses along a path, turning in a way in which neither arm nor load touches anything.

        Raises:
            SkillFailure: NO_PATH, naming what the arm or the load would hit.
        """
        start = float(self.sim.base[2])
        turn = math.remainder(float(goal[2]) - start, math.tau)
        lengths = [float(np.linalg.norm(b - a)) for a, b in pairwise(path)]
        share = np.cumsum(lengths) / max(sum(lengths), 1e-9)
        travel = [math.atan2(*(b - a)[::-1]) for a, b in pairwise(path)]
        steady = [np.array([*p, start + turn * s]) for p, s in zip(path[1:], share, strict=True)]
        ahead = [
            x for k, p in enumerate(path[1:]) for x in (np.array([*path[k], travel[k]]), np.array([*p, travel[k]]))
        ]
        behind = [x - np.array([0, 0, math.pi]) for x in ahead]
        late = [np.array([*p, start]) for p in path[1:]]
        early = [np.array([*path[0], goal[2]])] + [np.array([*p, goal[2]]) for p in path[1:]]
        view = View(self.sim, self.holding)
        arm = self.sim.arm
        worst: list[str] = []
        for margin in SWEEP_MARGINS:
            known = set(view.near(self.sim.base, arm, margin)) | set(view.near(goal, arm, margin))
            known -= set(view.hits(goal, arm))
            for poses in (steady, early, late, ahead, behind):
                poses = [*poses, np.array(goal, float)]
                hits = self._sweep(view, arm, poses, known, margin)
                if not hits:
                    return poses
                worst += hits
        names = ranked(self.scene.owner[self.scene.geom[h]] for h in worst)
        what = f"the {spoken(self.holding.name)}" if self.holding else "the arm"
        raise SkillFailure(Code.NO_PATH, f"On the way {what} would hit {the(names[0])}.", names)

    def _sweep(self, view: View, arm: Floats, poses: list[Floats], known: set[str], margin: float) -> list[str]:
        """What the robot comes closer to than `margin` on its way, `known` neighbours of start and goal aside."""
        at = np.array(self.sim.base)
        for pose in poses:
            delta = pose - at
            delta[2] = math.remainder(float(delta[2]), math.tau)
            n = max(1, int(max(np.linalg.norm(delta[:2]) / 0.05, abs(delta[2]) / 0.1)))
            for k in range(1, n + 1):
                hits = [h for h in view.near(at + delta * k / n, arm, margin) if h not in known]
                if hits:
                    return hits
            at = at + delta
        return []

    def floor(self) -> Floor:
        """The floor as it is now."""
        return Floor(self.sim, frozenset([self.holding.name]) if self.holding else frozenset())

    def tidy(self) -> Motion:
        """Bring the arm to its driving posture if it is not there (after a skill that was cut short)."""
        sim = self.sim
        if self.tucked():
            return
        view = View(sim, self.holding)
        hits = view.hits(sim.base, sim.arm)
        near = set(hits) | {self.scene.owner[self.scene.geom[n]] for n in hits}
        if near:
            yield from self.back_off(view, self._away(), near)
        yield from self.arm_to(self.rest_posture(view), View(sim, self.holding), touch=near, via=(self.scene.ready,))

    def _away(self) -> Floats:
        heading = self.sim.base[2]
        return np.array([-math.cos(heading), -math.sin(heading)])

    def exit_pose(
        self,
        view: View,
        base: Floats,
        arm: Floats,
        direction: Floats,
        distances: tuple[float, ...],
        floor: Floor,
        aperture: float | None = None,
        touch: Iterable[str] = (),
    ) -> Floats | None:
        """The furthest base pose along `direction` that is reached without touching anything; None if none is."""
        for d in distances:
            goal = np.array([base[0] + d * direction[0], base[1] + d * direction[1], base[2]])
            if floor.gap(goal[None, :2])[0] < STAND - 0.015:
                continue
            n = max(2, int(d / 0.05))
            if all(
                view.clear(base + (goal - base) * k / n, arm, aperture=aperture, touch=touch) for k in range(1, n + 1)
            ):
                return goal
        return None

    def back_off(self, view: View, direction: Floats, touch: Iterable[str] = ()) -> Motion:
        """Move the base back a little, as far as there is room."""
        sim = self.sim
        goal = self.exit_pose(view, sim.base, sim.arm, direction, (0.25, 0.18, 0.1), self.floor(), touch=touch)
        if goal is not None:
            yield from motion.drive(sim, goal, 0.4)

    def arm_to(
        self,
        target: Floats,
        view: View,
        touch: Iterable[str] = (),
        via: tuple[Floats, ...] = (),
        factor: float = 1.0,
        aperture: float | None = None,
    ) -> Motion:
        """Move the arm to a posture without touching anything.

        Raises:
            SkillFailure: ARM_BLOCKED, naming what is in the way.
        """
        sim = self.sim
        finder = ArmPath(view, sim.base, aperture, touch, self.upright())
        path = finder.find(sim.arm, target, via)
        if path is None:
            names = ranked(self.scene.owner[self.scene.geom[b]] for b in finder.blockers)
            raise SkillFailure(
                Code.ARM_BLOCKED, f"The arm finds no way past {the(names[0]) if names else 'itself'}.", names
            )
        yield from motion.follow(sim, path, factor)

    def draw_in(self, factor: float = 0.8) -> Motion:
        """Bring what was just taken to where it is carried, upright: straight there, or up and back while level.

        Raises:
            SkillFailure: ARM_BLOCKED.
        """
        sim = self.sim
        self.holding = held_in(sim) or self.holding
        if self.tucked() or self.holding is None:
            return
        view = View(sim, self.holding)
        finder = ArmPath(view, sim.base, upright=self.upright())
        path = None
        try:
            path = finder.find(sim.arm, carry_posture(sim, view, self.holding), budget=40)
        except SkillFailure:
            path = None
        path = path or level_path(sim, finder)
        if path is None:
            names = ranked(self.scene.owner[self.scene.geom[b]] for b in finder.blockers)
            raise SkillFailure(
                Code.ARM_BLOCKED,
                f"The arm can't draw in the {spoken(self.holding.name)} past {the(names[0]) if names else 'itself'}.",
                names,
            )
        yield from motion.follow(sim, path, factor)
        self.holding = held_in(sim) or self.holding

    def arrived(self, place: str) -> None:
        """Remember where the base drove to."""
        self.sim.memory = replace(self.sim.memory, base_at=place)
