"""Robot models, written as primitives: a mobile arm with two fingers, and a gantry with a suction cup.

The arm has the link lengths and joint ranges of the published Franka Panda kinematics (modified Denavit-Hartenberg
parameters), drawn as capsules. Every robot body is gravity-compensated; what it holds is not, so payload is felt.
"""

from __future__ import annotations

import math

from handrail.world.mujoco.spec import Profile, Robot

ARM_JOINTS = tuple(f"robot.j{i}" for i in range(1, 8))
BASE_JOINTS = ("robot.x", "robot.y", "robot.turn")
FINGER_REACH = 0.1034
"""Distance from the hand's frame to the point between the pads [m]."""
FLANGE = 0.107
"""Distance from the last joint to the hand's frame [m]."""

BASE_LAG, LIFT_LAG, ARM_LAG = 0.1, 0.125, 0.06
"""kv / kp of the position servos [s]: how far a drive trails a moving command unless it is told the speed."""

# The pads' gap reports a touch up to 1 mm away without a force, so that a grip that trembles by micrometres is still seen as one.
GANTRY_HEIGHT = 0.9
"""Height of a gantry's rod over the floor with its slides at zero [m]; the cup's rim is 4 cm below."""

DEFAULTS = """
<default>
  <geom friction=".7 .01 .001"/>
  <default class="robot"><geom contype="2" conaffinity="1" rgba=".93 .93 .95 1" friction=".5 .01 .001"/></default>
  <default class="basej"><joint damping="100" armature="5"/></default>
  <default class="arm"><joint axis="0 0 1" damping="1" armature="1"/>
    <default class="wrist"><joint axis="0 0 1" damping=".5" armature=".3"/></default></default>
  <default class="finger"><joint type="slide" damping="20" armature=".1"/></default>
  <default class="pad"><geom type="box" contype="2" conaffinity="1" friction=".8 .02 .001" condim="4" solref=".01 1"
    solimp=".95 .99 .001" gap=".001" rgba=".15 .15 .15 1"/></default>
  <default class="item"><geom friction=".6 .01 .001" condim="4" solref=".01 1" solimp=".95 .99 .001"/></default>
</default>
"""


def mobile_arm(profile: Profile, robot: Robot) -> tuple[str, str]:  # noqa: ARG001 - one shape for all kinds
    """The robot's body and its actuators as MJCF: (worldbody part, other sections).

    Without a lift the arm stands on the column at a fixed height (half of a usual lift's travel).
    """
    half = profile.opening / 2
    lift_joint = (
        f'<joint name="robot.lift" type="slide" axis="0 0 1" range="0 {profile.lift}" damping="200" armature="20"/>'
        if profile.lift > 0
        else ""
    )
    column = profile.column if profile.lift > 0 else profile.column + 0.2
    tall = (column + 0.39) / 2
    # Outer extents shrink with the gripper, so a small hand also fits narrower gaps.
    palm = half + 0.06
    body = f"""
<body name="robot.base" childclass="robot" gravcomp="1">
  <joint name="robot.x" class="basej" type="slide" axis="1 0 0"/>
  <joint name="robot.y" class="basej" type="slide" axis="0 1 0"/>
  <joint name="robot.turn" class="basej" type="hinge" axis="0 0 1" damping="30"/>
  <geom name="robot.foot" type="cylinder" pos="0 0 .17" size=".25 .15" mass="60" rgba=".25 .27 .3 1"/>
  <geom name="robot.column" type="box" pos="-.10 0 {tall + 0.15:.3f}" size=".07 .12 {tall - 0.15:.3f}" mass="15"
    rgba=".9 .9 .92 1"/>
  <body name="robot.carriage" pos="0.02 0 {column}" gravcomp="1">{lift_joint}
    <geom name="robot.plate" type="box" pos="-.03 0 -.02" size=".09 .09 .03" mass="6" rgba=".4 .42 .45 1"/>
    <geom name="robot.l0" type="capsule" fromto="0 0 .02 0 0 .20" size=".06" mass="3"/>
    <body name="robot.link1" pos="0 0 .333" gravcomp="1"><joint name="robot.j1" class="arm" range="-2.8973 2.8973"/>
      <geom name="robot.l1" type="capsule" fromto="0 0 -.12 0 0 0" size=".06" mass="3"/>
      <body name="robot.link2" quat="1 -1 0 0" gravcomp="1"><joint name="robot.j2" class="arm" range="-1.7628 1.7628"/>
        <geom name="robot.l2" type="capsule" fromto="0 0 0 0 -.16 0" size=".058" mass="3"/>
        <body name="robot.link3" pos="0 -.316 0" quat="1 1 0 0" gravcomp="1">
          <joint name="robot.j3" class="arm" range="-2.8973 2.8973"/>
          <geom name="robot.l3" type="capsule" fromto="0 0 -.12 0 0 0" size=".055" mass="2"/>
          <geom name="robot.l3b" type="capsule" fromto="0 0 0 .0825 0 0" size=".052" mass=".5"/>
          <body name="robot.link4" pos=".0825 0 0" quat="1 1 0 0" gravcomp="1">
            <joint name="robot.j4" class="arm" range="-3.0718 -.0698"/>
            <geom name="robot.l4" type="capsule" fromto="0 0 0 -.0825 .10 0" size=".052" mass="2"/>
            <body name="robot.link5" pos="-.0825 .384 0" quat="1 -1 0 0" gravcomp="1">
              <joint name="robot.j5" class="wrist" range="-2.8973 2.8973"/>
              <geom name="robot.l5" type="capsule" fromto="0 .02 -.24 0 .05 -.05" size=".048" mass="2"/>
              <body name="robot.link6" quat="1 1 0 0" gravcomp="1"><joint name="robot.j6" class="wrist" range="-.0175 3.7525"/>
                <geom name="robot.l6" type="capsule" fromto="0 0 0 .088 0 0" size=".045" mass="1.5"/>
                <body name="robot.link7" pos=".088 0 0" quat="1 1 0 0" gravcomp="1">
                  <joint name="robot.j7" class="wrist" range="-2.8973 2.8973"/>
                  <geom name="robot.l7" type="capsule" fromto="0 0 -.02 0 0 .06" size=".04" mass=".5"/>
                  <body name="robot.hand" pos="0 0 {FLANGE}" quat=".9238795 0 0 -.3826834" gravcomp="1">
                    <geom name="robot.palm" type="box" pos="0 0 .03" size=".022 {palm:.4f} .03" mass=".6"
                      rgba=".9 .9 .92 1"/>
                    <site name="robot.grip" pos="0 0 {FINGER_REACH}" size=".006" rgba="1 0 0 .6"/>
                    <camera name="wrist" pos=".06 0 .02" euler="3.14159 0 1.5708" fovy="70"/>
                    {_finger("left", 1, half)}
                    {_finger("right", -1, half)}
                  </body></body></body></body></body></body></body></body></body></body>"""
    lift_drive = (
        f'<position name="robot.lift" joint="robot.lift" kp="20000" kv="2500" forcerange="-600 600" '
        f'ctrlrange="0 {profile.lift}"/>'
        if profile.lift > 0
        else ""
    )
    # Damping times the time step must stay below the joint's inertia (armature): the contact solver does not know the servo's
    # implicit damping, and whatever the hand holds would creep through the pads whenever the arm moves.
    gains = ((2500, 87), (2500, 87), (2500, 87), (2500, 87), (800, 20), (800, 20), (800, 20))
    arm_drives = "".join(
        f'<position name="{j}" joint="{j}" kp="{kp}" kv="{kp * ARM_LAG:g}" forcerange="-{f} {f}"/>'
        for j, (kp, f) in zip(ARM_JOINTS, gains, strict=True)
    )
    grip = profile.grip_newton
    rest = f"""
<equality><joint joint1="robot.left" joint2="robot.right" polycoef="0 1 0 0 0" solref=".009 1" solimp=".95 .99 .001"/></equality>
<actuator>
  <position name="robot.x" joint="robot.x" kp="40000" kv="4000" forcerange="-500 500"/>
  <position name="robot.y" joint="robot.y" kp="40000" kv="4000" forcerange="-500 500"/>
  <position name="robot.turn" joint="robot.turn" kp="12000" kv="1200" forcerange="-250 250"/>
  {lift_drive}{arm_drives}
  <position name="robot.grip" joint="robot.left" kp="1500" kv="60" forcerange="-{grip} {grip}" ctrlrange="-.02 {half}"/>
</actuator>
<contact>{_self_pairs()}</contact>"""
    return body, rest


def _finger(side: str, sign: int, half: float) -> str:
    return f"""<body name="robot.{side}" pos="0 0 .0584" gravcomp="1">
  <joint name="robot.{side}" class="finger" axis="0 {sign} 0" range="0 {half}"/>
  <geom name="robot.{side}.finger" type="box" pos="0 {sign * 0.014} .022" size=".009 .007 .022" mass=".04"/>
  <geom name="robot.{side}.pad" class="pad" pos="0 {sign * 0.0075} .045" size=".010 .0075 .012" mass=".01"/></body>"""


def _self_pairs() -> str:
    """Robot parts that can reach each other: forearm, wrist and hand against foot and column."""
    moving = ("robot.l5", "robot.l6", "robot.l7", "robot.palm")
    return "".join(
        f'<pair geom1="{a}" geom2="{b}" condim="1"/>'
        for a in moving
        for b in ("robot.foot", "robot.column", "robot.l0")
    )


def gantry(profile: Profile, robot: Robot) -> tuple[str, str]:
    """Three slides and a suction cup, for table tops; its frame hangs above the robot's `at`."""
    x, y, _ = robot.at
    body = f"""
<body name="robot.base" pos="{x} {y} {GANTRY_HEIGHT}" childclass="robot" gravcomp="1">
  <joint name="robot.x" type="slide" axis="1 0 0" damping="20"/>
  <joint name="robot.y" type="slide" axis="0 1 0" damping="20"/>
  <joint name="robot.z" type="slide" axis="0 0 1" damping="20"/>
  <geom name="robot.rod" type="cylinder" size=".012 .03" mass=".3"/>
  <body name="robot.cup" pos="0 0 -.035" gravcomp="1">
    <geom name="robot.cup" type="cylinder" size=".012 .005" mass=".02" margin=".002" condim="4" friction="1 .02 .001"
      solref=".01 1" rgba=".15 .15 .15 1"/>
    <site name="robot.grip" pos="0 0 -.005" size=".003"/></body></body>"""
    rest = f"""
<actuator>
  <position name="robot.x" joint="robot.x" kp="2000" kv="120"/>
  <position name="robot.y" joint="robot.y" kp="2000" kv="120"/>
  <position name="robot.z" joint="robot.z" kp="2000" kv="120"/>
  <adhesion name="robot.suction" body="robot.cup" ctrlrange="0 1" gain="{profile.grip_newton}"/>
</actuator>"""
    return body, rest


def ready_posture(profile: Profile) -> list[float]:
    """Lift (where there is one) and arm angles [m, rad] in which the robot starts and drives with empty hands."""
    arm = [0.0, -0.9, 0.0, -2.4, 0.0, 1.6, math.pi / 4]
    return ([profile.lift * 0.55] if profile.lift > 0 else []) + arm


def carry_posture(profile: Profile) -> list[float]:
    """Lift and arm angles [m, rad] with the hand drawn in, for driving with something in it."""
    arm = [0.0, -1.2, 0.0, -2.7, 0.0, 1.75, math.pi / 4]
    return ([profile.lift * 0.55] if profile.lift > 0 else []) + arm
