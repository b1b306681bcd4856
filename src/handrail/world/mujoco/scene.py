"""A compiled scene: the MuJoCo model of a `physical:` part, and the names and addresses that the skills need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handrail.errors import MissingExtra
from handrail.world.mujoco import fixtures, robots, shapes
from handrail.world.mujoco.fixtures import Door, Place
from handrail.world.mujoco.kinematics import Chain
from handrail.world.mujoco.spec import Physical, Profile

try:
    import mujoco
except ImportError as error:  # pragma: no cover - exercised by the import test in a subprocess
    raise MissingExtra("the physical simulator", "sim", "mujoco") from error

Floats = NDArray[np.float64]

UNSEEN = "unknown_crate"
"""An obstacle that neither map nor planner knows of."""
PARKED_Y = 8.0
"""Where it waits until a fault puts it in the way [m]."""
CONTROL_PERIOD = 0.02
"""Time between two commands to the drives [s]; a stop or cancel takes effect within one."""


def compose(spec: Physical) -> tuple[str, dict[str, Place], dict[str, Door], list[str]]:
    """The MJCF text of a scene with its places, doors and levers."""
    (robot,) = spec.robots.values()
    profile = spec.profiles[robot.profile]
    places: dict[str, Place] = {}
    doors: dict[str, Door] = {}
    levers: list[str] = []
    parts = [
        '<light pos="-1.8 0 3.2" dir="0 0 -1" diffuse=".5 .5 .5" castshadow="true"/>',
        '<light pos="1.8 0 3.2" dir="0 0 -1" diffuse=".4 .4 .4" castshadow="false"/>',
        '<geom name="floor" type="plane" size="6 5 .1" rgba=".75 .68 .6 1"/>',
        '<camera name="over" pos="0 -4.6 4.8" xyaxes="1 0 0 0 .74 .67" fovy="55"/>',
        '<camera name="kitchen" pos="-.3 -2.6 2.6" xyaxes=".86 .5 0 -.25 .42 .87" fovy="65"/>',
        '<camera name="living" pos=".2 -2.6 2.6" xyaxes=".86 -.5 0 .25 .42 .87" fovy="65"/>',
        fixtures.walls(spec),
    ]
    builds = [fixtures.build_fixture(n, f) for n, f in spec.fixtures.items()]
    builds += [fixtures.build_person(n, p) for n, p in spec.people.items()]
    for built in builds:
        parts.append(built.xml)
        places |= {p.name: p for p in built.places}
        doors |= {d.fixture: d for d in built.doors}
        levers += built.levers
    for name, item in spec.items.items():
        parts.append(f'<body name="{name}"><freejoint name="{name}"/>{shapes.geoms(name, item)}</body>')
    if profile.kind == "mobile_arm":
        # Something heavy that no map knows: parked outside until a fault puts it in the way.
        parts.append(
            f'<body name="{UNSEEN}" pos="0 {PARKED_Y} .25"><freejoint name="{UNSEEN}"/><geom name="{UNSEEN}.body" class="item" type="box" '
            'size=".25 .30 .25" mass="40" rgba=".5 .4 .6 1"/></body>'
        )
    make = robots.mobile_arm if profile.kind == "mobile_arm" else robots.gantry
    body, rest = make(profile, robot)
    xml = f"""<mujoco model="handrail">
<compiler angle="radian" autolimits="true"/>
<option timestep="{spec.timestep}" integrator="implicitfast" cone="elliptic" impratio="100" noslip_iterations="0">
  <flag sleep="enable"/></option>
<size memory="32M"/>
<visual><quality shadowsize="1024" offsamples="0"/><global offwidth="1280" offheight="960"/>
  <headlight ambient=".45 .45 .45" diffuse=".5 .5 .5"/></visual>
{robots.DEFAULTS}
<worldbody>{"".join(parts)}{body}</worldbody>{rest}
</mujoco>"""
    return xml, places, doors, levers


@dataclass(eq=False)
class Scene:
    """Everything about a scene that does not change while it runs; shared by the live run and its forks."""

    spec: Physical
    model: Any
    places: dict[str, Place]
    doors: dict[str, Door]
    levers: list[str]

    @classmethod
    def compile(cls, spec: Physical) -> Scene:
        """Compile once; `Sim` resets cheaply."""
        xml, places, doors, levers = compose(spec)
        return cls(spec, mujoco.MjModel.from_xml_string(xml), places, doors, levers)

    @cached_property
    def profile(self) -> Profile:
        """The robot's limits."""
        return self.spec.profiles[self.robot.profile]

    @cached_property
    def robot(self) -> Any:
        """The robot's placement."""
        return next(iter(self.spec.robots.values()))

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Names of the movable things."""
        return tuple(self.spec.items)

    @cached_property
    def substeps(self) -> int:
        """Physics steps in a control period."""
        return max(1, round(CONTROL_PERIOD / self.spec.timestep))

    @cached_property
    def body(self) -> dict[str, int]:
        """Body ids by name."""
        return {self.model.body(i).name: i for i in range(self.model.nbody)}

    @cached_property
    def geom_name(self) -> list[str]:
        """Geom names by id."""
        return [self.model.geom(i).name for i in range(self.model.ngeom)]

    @cached_property
    def geom(self) -> dict[str, int]:
        """Geom ids by name."""
        return {n: i for i, n in enumerate(self.geom_name)}

    @cached_property
    def owner(self) -> list[str]:
        """By geom id, the item, fixture, person, `robot`, `wall` or `floor` that a geom belongs to (for people's eyes)."""
        return [n.split(".")[0] for n in self.geom_name]

    @cached_property
    def geom_body(self) -> NDArray[np.int32]:
        """By geom id, its body."""
        return np.asarray(self.model.geom_bodyid).copy()

    @cached_property
    def robot_geom(self) -> NDArray[np.bool_]:
        """By geom id, whether it is part of the robot."""
        return np.array([o == "robot" for o in self.owner])

    @cached_property
    def hand_geom(self) -> NDArray[np.bool_]:
        """By geom id, whether it is part of the gripper."""
        parts = ("robot.palm", "robot.left", "robot.right", "robot.cup", "robot.rod")
        return np.array([n.startswith(parts) for n in self.geom_name])

    @cached_property
    def finger_geom(self) -> NDArray[np.bool_]:
        """By geom id, whether it is part of what may touch a thing on purpose: fingers, pads, suction cup."""
        parts = ("robot.left", "robot.right", "robot.cup")
        return np.array([n.startswith(parts) for n in self.geom_name])

    @cached_property
    def pads(self) -> tuple[int, int]:
        """Geom ids of the two pads."""
        return self.geom["robot.left.pad"], self.geom["robot.right.pad"]

    @cached_property
    def item_qpos(self) -> dict[str, int]:
        """First address of an item's seven pose values in qpos."""
        return {n: int(self.model.joint(n).qposadr[0]) for n in self.items}

    @cached_property
    def item_qvel(self) -> dict[str, int]:
        """First address of an item's six velocities in qvel."""
        return {n: int(self.model.joint(n).dofadr[0]) for n in self.items}

    @cached_property
    def item_body(self) -> NDArray[np.int32]:
        """Body ids of the items, in the order of `items`."""
        return np.array([self.body[n] for n in self.items], dtype=np.int32)

    @cached_property
    def body_item(self) -> dict[int, str]:
        """Item name by body id."""
        return {self.body[n]: n for n in self.items}

    def qpos_of(self, joint: str) -> int:
        """Address of a one-value joint in qpos."""
        return int(self.model.joint(joint).qposadr[0])

    @cached_property
    def arm_joints(self) -> tuple[str, ...]:
        """Lift (if there is one) and arm joints, in order."""
        return (("robot.lift",) if self.profile.lift > 0 else ()) + robots.ARM_JOINTS

    @cached_property
    def base_q(self) -> NDArray[np.intp]:
        """Addresses of base x, y, heading in qpos."""
        return np.array([self.qpos_of(j) for j in self.base_joints])

    @cached_property
    def base_joints(self) -> tuple[str, ...]:
        """Joints of the base, or the three slides of a gantry."""
        return robots.BASE_JOINTS if self.profile.kind == "mobile_arm" else ("robot.x", "robot.y", "robot.z")

    @cached_property
    def base_v(self) -> NDArray[np.intp]:
        """Addresses of the base's velocities in qvel."""
        return np.array([int(self.model.joint(j).dofadr[0]) for j in self.base_joints])

    @cached_property
    def robot_v(self) -> NDArray[np.intp]:
        """Addresses of all the robot's velocities in qvel."""
        m = self.model
        return np.array([int(m.jnt_dofadr[j]) for j in range(m.njnt) if m.joint(j).name.startswith("robot.")])

    @cached_property
    def arm_q(self) -> NDArray[np.intp]:
        """Addresses of lift and arm in qpos."""
        return np.array([self.qpos_of(j) for j in self.arm_joints])

    @cached_property
    def finger_q(self) -> NDArray[np.intp]:
        """Addresses of the two fingers in qpos."""
        return np.array([self.qpos_of("robot.left"), self.qpos_of("robot.right")])

    @cached_property
    def base_u(self) -> slice:
        """The base's place in ctrl."""
        return slice(0, 3)

    @cached_property
    def arm_u(self) -> slice:
        """The place of lift and arm in ctrl."""
        return slice(3, 3 + len(self.arm_joints))

    @cached_property
    def grip_u(self) -> int:
        """The gripper's place in ctrl."""
        return 3 + len(self.arm_joints)

    @cached_property
    def ready(self) -> Floats:
        """Lift and arm with empty hands."""
        return np.array(robots.ready_posture(self.profile))

    @cached_property
    def carry(self) -> Floats:
        """Lift and arm with something held."""
        return np.array(robots.carry_posture(self.profile))

    @cached_property
    def arm(self) -> Chain:
        """From the base's frame to the grip, over lift and arm."""
        return Chain.extract(self.model, self.arm_joints, "robot.grip", "robot.base")

    @cached_property
    def whole(self) -> Chain:
        """From the world to the grip, over base, lift and arm."""
        return Chain.extract(self.model, robots.BASE_JOINTS + self.arm_joints, "robot.grip", "world")

    @cached_property
    def reach(self) -> tuple[float, float, float]:
        """Lowest and highest shoulder height and the largest distance from shoulder to the wrist's axis point [m].

        The wrist's axis point lies `FLANGE + FINGER_REACH` behind the grip along the approach; the bound is the sum of
        the link lengths between, so it is necessary, never sufficient.
        """
        m = self.model
        shoulder = float(m.body("robot.carriage").pos[2] + m.body("robot.link1").pos[2])
        length = sum(
            math.hypot(*(float(v) for v in pair))
            for pair in (
                (m.body("robot.link3").pos[1], m.body("robot.link4").pos[0]),
                tuple(m.body("robot.link5").pos[:2]),
            )
        )
        return shoulder, shoulder + self.profile.lift, length + float(m.body("robot.link7").pos[0])


EMPTY = Physical.model_validate(
    {
        "rooms": {"room": {"low": (-1, -1), "high": (1, 1)}},
        "fixtures": {},
        "profiles": {"arm": {}},
        "robots": {"robot": {"profile": "arm", "at": (0, 0, 0)}},
    }
)
"""The smallest scene: a robot in a room."""
