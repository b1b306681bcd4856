"""Named cases of the physical home: what is possible and what is not, each with the verdict that must come out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.world.mujoco.faults import Disturbance, Fault
from handrail.world.mujoco.kinematics import rot_z
from handrail.world.mujoco.scene import UNSEEN, Scene
from handrail.world.mujoco.sim import Pose, Sim
from handrail.world.mujoco.skills import Running
from handrail.world.mujoco.spec import Fixture, Physical

Steps = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Case:
    """Steps to run one after the other, and how the last one that runs must end.

    Attributes:
        profile: of the robot; the description's own by default.
        change: alters the description before it is compiled.
        setup: alters the start state.
        fault: strikes the last step.
        limit: control periods for each step.
    """

    name: str
    steps: Steps
    expected: str = "DONE"
    profile: str = ""
    change: Callable[[Physical], Physical] | None = None
    setup: Callable[[Sim], None] | None = None
    fault: Fault | None = None
    limit: int = 6000
    more: Mapping[str, Any] = field(default_factory=dict)


def _move(name: str, place: str, x: float, y: float, yaw: float = 0.0) -> Callable[[Sim], None]:
    def do(sim: Sim) -> None:
        surface = sim.surface(sim.scene.places[place])
        sim.put(name, Pose(surface.p + surface.r @ (x, y, 0.002), surface.r @ rot_z(math.radians(yaw))))

    return do


def _all(*parts: Callable[[Sim], None]) -> Callable[[Sim], None]:
    def do(sim: Sim) -> None:
        for part in parts:
            part(sim)

    return do


def _crate_in_door(sim: Sim) -> None:
    a = int(sim.model.joint(UNSEEN).qposadr[0])
    v = int(sim.model.joint(UNSEEN).dofadr[0])
    sim.data.qpos[a : a + 3] = (0.0, 0.0, 0.251)
    sim.data.qvel[v + 2] = -1e-6


def _known_block(spec: Physical) -> Physical:
    block = Fixture(kind="block", at=(0.0, 0.0), size=(0.6, 1.0, 0.6))
    return spec.model_copy(update={"fixtures": {**spec.fixtures, "chest": block}})


def _mass(name: str, kg: float) -> Callable[[Physical], Physical]:
    def do(spec: Physical) -> Physical:
        item = spec.items[name].model_copy(update={"mass": kg})
        return spec.model_copy(update={"items": {**spec.items, name: item}})

    return do


def _filled(name: str, ml: float) -> Callable[[Physical], Physical]:
    def do(spec: Physical) -> Physical:
        content = spec.items[name].content
        assert content is not None
        item = spec.items[name].model_copy(update={"content": content.model_copy(update={"ml": ml})})
        return spec.model_copy(update={"items": {**spec.items, name: item}})

    return do


def _strong(spec: Physical) -> Physical:
    """A robot that believes it can lift anything."""
    return spec.model_copy(
        update={"profiles": {n: p.model_copy(update={"payload": 50.0}) for n, p in spec.profiles.items()}}
    )


_OPEN_FRIDGE = (("navigate_to", "fridge"), ("open", "fridge"))

CASES: tuple[Case, ...] = (
    Case("mug from counter to table", (("pick", "mug"), ("place", "mug", "table"))),
    Case("bottle from counter to table", (("pick", "water"), ("place", "water", "table"))),
    Case("milk onto the low shelf", (("pick", "milk"), ("place", "milk", "shelf_low"))),
    Case("bowl by its rim to the counter", (("pick", "bowl"), ("place", "bowl", "counter"))),
    Case("plate by its rim to the counter", (("pick", "plate"), ("place", "plate", "counter"))),
    Case("apple into the bin", (("pick", "apple"), ("place", "apple", "bin"))),
    Case("cube from the low table", (("pick", "cube"), ("place", "cube", "counter"))),
    Case("sponge out of the sink", (("pick", "sponge"), ("place", "sponge", "counter"))),
    Case("book from the shelf to the table", (("pick", "book"), ("place", "book", "table"))),
    Case("jar of spoons to the table", (("pick", "spoon_jar"), ("place", "spoon_jar", "table"))),
    Case("cube on cube", (("pick", "cube"), ("place", "cube", "cube_2"))),
    Case(
        "cola out of the fridge", (*_OPEN_FRIDGE, ("pick", "cola"), ("place", "cola", "counter"), ("close", "fridge"))
    ),
    Case("milk into the fridge", (*_OPEN_FRIDGE, ("pick", "milk"), ("place", "milk", "fridge"), ("close", "fridge"))),
    Case(
        "knife out of the drawer",
        (("open", "drawer"), ("pick", "knife"), ("place", "knife", "counter"), ("close", "drawer")),
    ),
    Case(
        "sponge into the drawer",
        (("open", "drawer"), ("pick", "sponge"), ("place", "sponge", "drawer"), ("close", "drawer")),
    ),
    Case(
        "mug into the microwave, door shut, switched on",
        (
            ("open", "microwave"),
            ("pick", "mug"),
            ("place", "mug", "microwave"),
            ("close", "microwave"),
            ("switch_on", "microwave"),
        ),
    ),
    Case("stove on and off", (("switch_on", "stove"), ("switch_off", "stove"))),
    Case("two portions of water into the mug", (("pick", "water"), ("pour", "water", "mug"), ("pour", "water", "mug"))),
    Case("milk into the bowl", (("pick", "milk"), ("pour", "milk", "bowl"))),
    Case("wipe the counter", (("pick", "sponge"), ("wipe", "sponge", "counter"))),
    Case("wipe the table", (("pick", "sponge"), ("wipe", "sponge", "table"))),
    Case("hand over the bottle", (("pick", "water"), ("navigate_to", "table"), ("hand_over", "water", "person_1"))),
    Case("compact robot takes the cube", (("pick", "cube"), ("place", "cube", "table")), profile="compact"),
    Case("compact robot takes the mug by its rim", (("pick", "mug"), ("place", "mug", "table")), profile="compact"),
    Case("pot too heavy", (("pick", "pot"),), "TOO_HEAVY"),
    Case("pot lifted anyway slips", (("pick", "pot"),), "SLIPPED", change=_strong),
    Case("box too wide", (("pick", "box"),), "TOO_WIDE"),
    Case("carton too wide for the compact robot", (("pick", "milk"),), "TOO_WIDE", profile="compact"),
    Case("can too wide for the compact robot", (("open", "fridge"), ("pick", "cola")), "TOO_WIDE", profile="compact"),
    Case("vase on the high shelf", (("pick", "vase"),), "UNREACHABLE"),
    Case("mug onto the high shelf", (("pick", "mug"), ("place", "mug", "shelf_high")), "UNREACHABLE"),
    Case("cola behind the closed door", (("pick", "cola"),), "DOOR_CLOSED"),
    Case("milk into the closed fridge", (("pick", "milk"), ("place", "milk", "fridge")), "DOOR_CLOSED"),
    Case(
        "bowl held from above into the microwave",
        (("open", "microwave"), ("pick", "bowl"), ("place", "bowl", "microwave")),
        "PLACE_BLOCKED",
    ),
    Case(
        "vase does not fit into the microwave",
        (("open", "microwave"), ("pick", "vase"), ("place", "vase", "microwave")),
        "NO_ROOM",
        setup=_move("vase", "table", 0.4, 0.2),
        change=lambda s: s.model_copy(
            update={
                "items": {
                    **s.items,
                    "vase": s.items["vase"].model_copy(
                        update={"shape": s.items["vase"].shape.model_copy(update={"height": 0.34})}
                    ),
                }
            }
        ),
    ),
    Case(
        "plate too wide for the open part of the drawer",
        (("open", "drawer"), ("pick", "plate"), ("place", "plate", "drawer")),
        "PLACE_BLOCKED",
    ),
    Case("second thing with a full hand", (("pick", "cube"), ("pick", "cube_2")), "HAND_FULL"),
    Case("place with an empty hand", (("place", "mug", "table"),), "NOT_HOLDING"),
    Case("open the sink", (("open", "sink"),), "NOT_OPENABLE"),
    Case("switch on the sink", (("switch_on", "sink"),), "NOT_SWITCHABLE"),
    Case(
        "pour from an empty bottle",
        (("pick", "water"), ("pour", "water", "mug")),
        "NOTHING_TO_POUR",
        change=_filled("water", 20),
    ),
    Case("third portion overflows the mug", (("pick", "water"), *((("pour", "water", "mug"),) * 3)), "WOULD_OVERFLOW"),
    Case(
        "cube walled in",
        (("pick", "cube"),),
        "GRASP_BLOCKED",
        setup=_all(
            _move("cube", "table", 0.3, -0.15),
            _move("book", "table", 0.3, -0.085),
            _move("vase", "table", 0.385, -0.15),
            _move("milk", "table", 0.215, -0.15),
            _move("water", "table", 0.3, -0.225),
            _move("cola", "table", 0.245, -0.215),
            _move("spoon_jar", "table", 0.36, -0.22),
        ),
    ),
    Case("doorway blocked by a known chest", (("navigate_to", "table"),), "NO_PATH", change=_known_block),
    Case("doorway blocked by something unknown", (("navigate_to", "table"),), "BASE_STALLED", setup=_crate_in_door),
    Case(
        "unknown block, then planned around",
        (("navigate_to", "table"), ("navigate_to", "table")),
        "NO_PATH",
        setup=_crate_in_door,
    ),
    Case("carton on an apple topples", (("pick", "milk"), ("place", "milk", "apple")), "UNSTABLE_PLACE"),
    Case("grip lost while carrying", (("pick", "cube"), ("navigate_to", "counter")), "DROPPED", fault=Fault.SLIP),
    Case("weak drive, heavy carton", (("pick", "milk"),), "SLIPPED", fault=Fault.WEAK, change=_mass("milk", 1.9)),
    Case("out of time", (("navigate_to", "table"),), "TIMEOUT", limit=60),
)


def play(case: Case, spec: Physical, seed: int = 0) -> dict[str, Any]:
    """Run one case.

    Returns:
        name, expected, actual, cpu_s, sim_s, rtf (simulated per CPU second of the whole case) and the last sentence.
    """
    if case.profile:
        spec = spec.with_profile(case.profile)
    if case.change is not None:
        spec = case.change(spec)
    sim = Sim(Scene.compile(spec), seed)
    if case.setup is not None:
        case.setup(sim)
        for _ in range(25):
            sim.tick()
    begin, clock = time.process_time(), sim.time
    actual, sentence, last = "DONE", "", 0.0
    for k, step in enumerate(case.steps):
        final = k == len(case.steps) - 1
        sim.disturb = Disturbance(case.fault, seed, k) if case.fault is not None and final else None
        start = time.process_time()
        outcome = Running(sim, *step, limit=case.limit).run()
        last = time.process_time() - start
        actual, sentence = str(outcome.code), outcome.sentence
        if not outcome.ok and not (case.name.startswith("unknown block") and k == 0):
            break
    cpu = time.process_time() - begin
    return {
        "name": case.name, "expected": case.expected, "actual": actual, "cpu_s": round(cpu, 3),
        "last_step_cpu_s": round(last, 4), "sim_s": round(sim.time - clock, 2),
        "rtf": round((sim.time - clock) / max(cpu, 1e-6), 1), "sentence": sentence,
    }  # fmt: skip
