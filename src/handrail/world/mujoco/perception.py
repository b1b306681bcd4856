"""Perception: the facts that cameras and encoders would give of a scene, with noise, misses and mix-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from handrail.domain.state import State
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import ConfigError
from handrail.world.mujoco.fixtures import tray_of
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Noise, Sim

SEEN = ("at", "holding", "on", "given", "open", "running", "dirty", "portions", "contents")
"""Fluents that are perceived; whatever else the domain has is kept as the world was told."""


@dataclass(frozen=True)
class Perception:
    """How well the robot sees.

    Attributes:
        noise: of perceived poses, which the skills aim by.
        miss: probability that an item is not seen in a look; where it is, is then unknown.
        confuse: probability that two items that look alike (`looks_like`) are taken for each other, in an observation and when
            something is picked up.
    """

    noise: Noise = field(default_factory=Noise)
    miss: float = 0.0
    confuse: float = 0.0

    def __post_init__(self) -> None:
        for name in ("miss", "confuse"):
            p = getattr(self, name)
            if not 0 <= p <= 1:
                raise ConfigError(f"perception's '{name}' is a probability in [0, 1], not {p!r}")

    def identities(self, scene: Scene, seed: int, look: int) -> dict[str, str]:
        """For each item, the one whose body is taken for it in this look."""
        taken = {n: n for n in scene.items}
        if not self.confuse:
            return taken
        rng = np.random.default_rng((seed, 13, look))
        for name, item in scene.spec.items.items():
            for other in item.looks_like:
                if name < other and taken[name] == name and taken[other] == other and rng.random() < self.confuse:
                    taken[name], taken[other] = other, name
        return taken

    def missed(self, scene: Scene, seed: int, look: int) -> frozenset[str]:
        """Items that are not seen in this look."""
        if not self.miss:
            return frozenset()
        rng = np.random.default_rng((seed, 17, look))
        return frozenset(n for n in scene.items if rng.random() < self.miss)


def facts(sim: Sim, template: State, hand: str, robot: str) -> dict[Atom, Value]:
    """The true facts of a simulated scene, for the fluents of `SEEN` that the domain has.

    Args:
        sim: the scene.
        template: says which objects and fluents there are, and what was dirty at first.
        hand: name of the gripper.
        robot: name of the robot.
    """
    domain, objects, scene = template.objects.domain, template.objects, sim.scene
    has = {n for n in SEEN if n in domain.fluents}
    out: dict[Atom, Value] = {}
    held = sim.held()
    if "at" in has:
        place = sim.robot_place() if robot in objects else None
        out["at", robot] = place if place is not None else UNKNOWN
    if "holding" in has:
        out["holding", hand] = held
    # Where things can be on things (blocks, bowls) what is right below counts, otherwise the place.
    stacks = "on" in has and any(objects.members(t) & set(scene.items) for t in domain.fluents["on"].types)
    people = set(scene.spec.people)
    trays = {tray_of(p): p for p in people}
    for item in scene.items:
        if "on" in has and not _is(template, item, "on"):
            continue
        where = None if item == held else sim.support_of(item) if stacks else sim.place_of(item)
        person = trays.get(where or "", where if where in people else None)
        if "on" in has:
            out["on", item] = None if person else where
        if "given" in has:
            out["given", item] = person
        if "portions" in has and _is(template, item, "portions"):
            out["portions", item] = max(0, min(9, round(sim.memory.ml.get(item, 0.0) / scene.spec.portion_ml)))
        if "contents" in has and _is(template, item, "contents"):
            some = sim.memory.ml.get(item, 0.0) >= scene.spec.portion_ml / 2
            kind = sim.memory.of.get(item)
            out["contents", item] = kind if some and kind in objects else None
    for place in scene.places:
        if place not in objects:
            continue
        if "open" in has and place in scene.doors:
            out["open", place] = sim.is_open(place)
        if "running" in has and place in scene.levers:
            on = sim.is_on(place)
            out["running", place] = UNKNOWN if on is None else on
        if "dirty" in has and _is(template, place, "dirty"):
            out["dirty", place] = bool(template.get(("dirty", place))) and place not in sim.memory.wet
    return out


def _is(template: State, item: str, fluent: str) -> bool:
    """Whether an item is of the type that a one-place fluent is about."""
    kinds = template.objects.domain.fluents[fluent].params[0].types
    return item in template.objects and item in template.objects.members(*kinds)


def perceived(true: Mapping[Atom, Value], identities: Mapping[str, str], missed: frozenset[str]) -> dict[Atom, Value]:
    """What is believed after a look: alike items under each other's names, missed ones nowhere."""
    back = {body: name for name, body in identities.items()}
    out: dict[Atom, Value] = {}
    for atom, value in true.items():
        name = (atom[0], *(back.get(a, a) for a in atom[1:]))
        seen = back.get(value, value) if isinstance(value, str) else value
        if any(a in missed for a in atom[1:]) and atom[0] in ("on", "given", "portions", "contents"):
            seen = UNKNOWN
        out[name] = seen
    return out
