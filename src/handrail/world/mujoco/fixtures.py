"""Fixtures as primitives, and the places they offer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from handrail.world.mujoco.spec import Fixture, Person, Physical

Access = Literal["top", "front", "drop"]
LEVER_ON = 0.2
"""Angle beyond which a lever counts as on, and below whose negative it counts as off [rad]."""
DOOR_OPEN = 0.8
"""Share of its useful travel from which a door or drawer counts as open."""
SHUT_PUSH = {"hinge": 8.0, "slide": 15.0}
"""Torque [N m] or force [N] with which a person pushes a door or drawer shut."""


@dataclass(frozen=True)
class Place:
    """A surface that things can rest on.

    Attributes:
        body: the MuJoCo body it is fixed to; the values below are in that body's frame.
        centre: middle of the usable surface [m].
        half: half extents of the usable surface (x, y) [m].
        access: from above, from the front (a ceiling is close), or by dropping into it.
        ceiling: free height above the surface [m].
        rim: for `drop`, height of the rim above the surface [m].
        door: name of the door that must be open, if any.
    """

    name: str
    fixture: str
    body: str
    centre: tuple[float, float, float]
    half: tuple[float, float]
    access: Access = "top"
    ceiling: float = math.inf
    rim: float = 0.0
    door: str | None = None


@dataclass(frozen=True)
class Door:
    """Something that opens: a hinged door or a drawer.

    Attributes:
        joint: MuJoCo joint; `travel` is the value that counts as fully open [rad or m].
        handle: geom to pinch; `upright` says whether its bar is vertical.
    """

    fixture: str
    joint: str
    travel: float
    handle: str
    upright: bool
    kind: Literal["hinge", "slide"]


@dataclass
class Built:
    """What a fixture contributes to a scene."""

    xml: str
    places: list[Place]
    doors: list[Door]
    levers: list[str]


def _box(
    name: str, pos: tuple[float, float, float], size: tuple[float, float, float], rgba: str, extra: str = ""
) -> str:
    """A box by its middle and full extents."""
    p = " ".join(f"{v:.5g}" for v in pos)
    s = " ".join(f"{v / 2:.5g}" for v in size)
    return f'<geom name="{name}" type="box" pos="{p}" size="{s}" rgba="{rgba}" {extra}/>'


def _lever(name: str, front: float, z: float) -> str:
    """A lever on the front: down is on. Friction holds it where it was pushed."""
    return f"""<body name="{name}.lever" pos="0 {front} {z}">
  <joint name="{name}.lever" type="hinge" axis="1 0 0" range="-.45 .45" frictionloss=".12" damping=".05" armature=".001"
    ref="0"/>
  <geom name="{name}.lever" type="box" pos="0 -.045 0" size=".022 .035 .006" mass=".05" rgba=".8 .1 .1 1"/></body>"""


def _counter(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".55 .40 .30")
    xml = _box(f"{name}.top", (0, 0, h / 2), (w, d, h), rgba)
    return Built(xml, [Place(name, name, name, (0, -d / 2 + 0.21, h), (w / 2 - 0.06, 0.15))], [], [])


def _stove(name: str, f: Fixture) -> Built:
    built = _counter(name, f)
    _, d, h = f.size
    built.xml += (
        f'<geom name="{name}.ring" type="cylinder" pos="0 {-d / 2 + 0.21:.4g} {h + 0.001}" size=".11 .001" rgba=".1 .1 .1 1" '
        'contype="0" conaffinity="0"/>'
    )
    return built


def _table(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".60 .45 .30")
    xml = _box(f"{name}.top", (0, 0, h - 0.02), (w, d, 0.04), rgba)
    for i, (a, b) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        xml += _box(
            f"{name}.leg{i}", (a * (w / 2 - 0.05), b * (d / 2 - 0.05), h / 2 - 0.02), (0.05, 0.05, h - 0.04), rgba
        )
    return Built(xml, [Place(name, name, name, (0, 0, h), (w / 2 - 0.06, d / 2 - 0.06))], [], [])


def _shelf(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".50 .35 .25")
    xml = _box(f"{name}.left", (-w / 2, 0, h / 2), (0.024, d, h), rgba) + _box(
        f"{name}.right", (w / 2, 0, h / 2), (0.024, d, h), rgba
    )
    places = []
    heights = sorted(f.levels.values())
    for place, z in f.levels.items():
        xml += _box(f"{place}.board", (0, 0, z - 0.012), (w, d, 0.024), rgba)
        above = [v for v in heights if v > z]
        gap = (above[0] - 0.024 - z) if above else math.inf
        access: Access = "top" if gap > 0.6 else "front"
        places.append(Place(place, name, name, (0, 0, z), (w / 2 - 0.08, d / 2 - 0.05), access, gap))
    return Built(xml, places, [], [])


def _hinged(
    name: str,
    hinge: tuple[float, float],
    w: float,
    z: tuple[float, float],
    grip: tuple[float, float],
    m: float,
    friction: float,
    rgba: str,
) -> str:
    """A door whose hinge is at its left edge, opening towards local -y; `grip` is the handle's vertical span."""
    out = 0.075
    x = w - 0.08
    bar = ".3 .3 .3 1"
    return f"""<body name="{name}.door" pos="{hinge[0]} {hinge[1]} 0">
  <joint name="{name}.hinge" type="hinge" axis="0 0 -1" range="0 2.1" damping="{friction}" frictionloss="{friction}"/>
  {_box(f"{name}.panel", (w / 2, -0.02, (z[0] + z[1]) / 2), (w, 0.04, z[1] - z[0]), rgba, f'mass="{m}"')}
  <geom name="{name}.handle" type="capsule" fromto="{x} {-out} {grip[0]} {x} {-out} {grip[1]}" size=".012" mass=".2"
    rgba="{bar}" friction="1 .01 .001"/>
  <geom name="{name}.post0" type="capsule" fromto="{x} -.04 {grip[0]} {x} {-out} {grip[0]}" size=".009" mass=".02" rgba="{bar}"/>
  <geom name="{name}.post1" type="capsule" fromto="{x} -.04 {grip[1]} {x} {-out} {grip[1]}" size=".009" mass=".02" rgba="{bar}"/>
</body>"""


def _fridge(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".85 .88 .90")
    shelf = f.height or 0.9
    inner = w - 0.08
    floor = shelf - 0.2
    front = -d / 2
    xml = (
        _box(f"{name}.back", (0, d / 2 - 0.02, h / 2), (w, 0.04, h), rgba)
        + _box(f"{name}.left", (-w / 2 + 0.02, 0, h / 2), (0.04, d, h), rgba)
        + _box(f"{name}.right", (w / 2 - 0.02, 0, h / 2), (0.04, d, h), rgba)
        + _box(f"{name}.base", (0, 0, floor / 2), (inner, d, floor), rgba)
        + _box(f"{name}.roof", (0, 0, h - 0.02), (inner, d, 0.04), rgba)
        + _box(f"{name}.shelf", (0, 0.02, shelf - 0.01), (inner, d - 0.08, 0.02), ".7 .8 .85 1")
        + _hinged(name, (-w / 2, front - 0.003), w, (0.05, h), (0.9, 1.3), 12, 1.5, ".80 .84 .88 1")
    )
    ceiling = h - 0.04 - shelf
    place = Place(name, name, name, (0, front + 0.19, shelf), (inner / 2 - 0.08, 0.11), "front", ceiling, door=name)
    return Built(xml, [place], [Door(name, f"{name}.hinge", 1.4, f"{name}.handle", True, "hinge")], [])


def _microwave(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".75 .75 .78")
    stand = f.height or 0.85
    front = -d / 2
    top = stand + h
    xml = (
        _box(f"{name}.stand", (0, 0, stand / 2), (w, d, stand), ".5 .45 .4 1")
        + _box(f"{name}.back", (0, d / 2 - 0.01, stand + h / 2), (w, 0.02, h), rgba)
        + _box(f"{name}.left", (-w / 2 + 0.01, 0, stand + h / 2), (0.02, d, h), rgba)
        + _box(f"{name}.right", (w / 2 - 0.01, 0, stand + h / 2), (0.02, d, h), rgba)
        + _box(f"{name}.roof", (0, 0, top - 0.01), (w - 0.04, d, 0.02), rgba)
        + _hinged(
            name, (-w / 2, front - 0.003), w, (stand + 0.01, top), (stand + 0.06, top - 0.05), 1.2, 0.3, ".3 .3 .33 1"
        )
    )
    place = Place(name, name, name, (0, front + 0.16, stand), (w / 2 - 0.14, 0.06), "front", h - 0.02, door=name)
    return Built(xml, [place], [Door(name, f"{name}.hinge", 1.5, f"{name}.handle", True, "hinge")], [])


def _drawer(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".62 .50 .38")
    travel = 0.30
    floor = h - 0.22
    xml = (
        _box(f"{name}.top", (0, 0, h - 0.015), (w, d, 0.03), rgba)
        + _box(f"{name}.left", (-w / 2 + 0.01, 0, h / 2), (0.02, d, h - 0.03), rgba)
        + _box(f"{name}.right", (w / 2 - 0.01, 0, h / 2), (0.02, d, h - 0.03), rgba)
        + _box(f"{name}.back", (0, d / 2 - 0.01, h / 2), (w - 0.04, 0.02, h - 0.03), rgba)
        + _box(f"{name}.base", (0, 0, (floor - 0.03) / 2), (w - 0.04, d, floor - 0.03), rgba)
    )
    iw, front, bar = w - 0.07, -d / 2, ".3 .3 .3 1"
    z = floor + 0.09
    xml += f"""<body name="{name}.box" pos="0 0 0">
  <joint name="{name}.slide" type="slide" axis="0 -1 0" range="0 {travel + 0.03}" damping="8" frictionloss="3"/>
  {_box(f"{name}.floor", (0, 0, floor), (iw, d - 0.04, 0.012), rgba, 'mass="1"')}
  {_box(f"{name}.wall_l", (-iw / 2 + 0.006, 0, floor + 0.05), (0.012, d - 0.04, 0.09), rgba, 'mass=".2"')}
  {_box(f"{name}.wall_r", (iw / 2 - 0.006, 0, floor + 0.05), (0.012, d - 0.04, 0.09), rgba, 'mass=".2"')}
  {_box(f"{name}.wall_b", (0, d / 2 - 0.03, floor + 0.05), (iw, 0.012, 0.09), rgba, 'mass=".2"')}
  {_box(f"{name}.front", (0, front - 0.012, h - 0.13), (w, 0.02, 0.2), rgba, 'mass=".6"')}
  <geom name="{name}.handle" type="capsule" fromto="-.09 {front - 0.08} {z} .09 {front - 0.08} {z}" size=".011" mass=".1"
    rgba="{bar}" friction="1 .01 .001"/>
  <geom name="{name}.post0" type="capsule" fromto="-.09 {front - 0.02} {z} -.09 {front - 0.08} {z}" size=".008" mass=".02" rgba="{bar}"/>
  <geom name="{name}.post1" type="capsule" fromto=".09 {front - 0.02} {z} .09 {front - 0.08} {z}" size=".008" mass=".02" rgba="{bar}"/>
</body>"""
    place = Place(
        name, name, f"{name}.box", (0, front + 0.14, floor + 0.006), (iw / 2 - 0.07, 0.08), "top", math.inf, door=name
    )
    return Built(xml, [place], [Door(name, f"{name}.slide", travel, f"{name}.handle", False, "slide")], [])


def _sink(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".70 .72 .75")
    deep, iw, idp = 0.10, w - 0.10, 0.36
    front = -d / 2
    near = 0.05
    far = d - near - idp
    xml = (
        _box(f"{name}.base", (0, 0, (h - deep) / 2), (w, d, h - deep), rgba)
        + _box(f"{name}.near", (0, front + near / 2, h - deep / 2), (w, near, deep), rgba)
        + _box(f"{name}.far", (0, d / 2 - far / 2, h - deep / 2), (w, far, deep), rgba)
        + _box(f"{name}.left", (-w / 2 + 0.025, front + near + idp / 2, h - deep / 2), (0.05, idp, deep), rgba)
        + _box(f"{name}.right", (w / 2 - 0.025, front + near + idp / 2, h - deep / 2), (0.05, idp, deep), rgba)
    )
    place = Place(name, name, name, (0, front + near + idp / 2, h - deep), (iw / 2 - 0.1, idp / 2 - 0.09), "top")
    return Built(xml, [place], [], [])


def _bin(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    rgba = _rgba(f, ".20 .50 .30")
    t = 0.016
    xml = (
        _box(f"{name}.floor", (0, 0, 0.01), (w, d, 0.02), rgba)
        + _box(f"{name}.left", (-w / 2 + t / 2, 0, h / 2), (t, d, h), rgba)
        + _box(f"{name}.right", (w / 2 - t / 2, 0, h / 2), (t, d, h), rgba)
        + _box(f"{name}.near", (0, -d / 2 + t / 2, h / 2), (w - 2 * t, t, h), rgba)
        + _box(f"{name}.far", (0, d / 2 - t / 2, h / 2), (w - 2 * t, t, h), rgba)
    )
    return Built(xml, [Place(name, name, name, (0, 0, 0.02), (w / 2 - t, d / 2 - t), "drop", rim=h - 0.02)], [], [])


def _block(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    return Built(_box(f"{name}.body", (0, 0, h / 2), (w, d, h), _rgba(f, ".45 .50 .60")), [], [], [])


def _tabletop(name: str, f: Fixture) -> Built:
    w, d, h = f.size
    xml = _box(f"{name}.top", (0, 0, h / 2), (w, d, h), _rgba(f, ".75 .72 .68"))
    places = [Place(name, name, name, (0, 0, h), (w / 2 - 0.05, d / 2 - 0.05))]
    for zone, (x, y, hx, hy) in f.zones.items():
        xml += (
            f'<geom name="{zone}.mark" type="box" pos="{x} {y} {h + 0.0002}" size="{hx} {hy} .0002" contype="0" '
            'conaffinity="0" rgba=".55 .60 .65 1"/>'
        )
        places.append(Place(zone, name, name, (x, y, h), (hx - 0.03, hy - 0.03)))
    return Built(xml, places[::-1], [], [])


def _rgba(f: Fixture, default: str) -> str:
    return (" ".join(f"{c:g}" for c in f.colour) if f.colour else default) + " 1"


_KINDS: dict[str, Callable[[str, Fixture], Built]] = {
    "counter": _counter, "table": _table, "shelf": _shelf, "fridge": _fridge, "microwave": _microwave,
    "drawer": _drawer, "sink": _sink, "stove": _stove, "bin": _bin, "block": _block,
    "tabletop": _tabletop,
}  # fmt: skip


def build_fixture(name: str, fixture: Fixture) -> Built:
    """The fixture as one MuJoCo body named like itself."""
    built = _KINDS[fixture.kind](name, fixture)
    if fixture.switch:
        z = (fixture.height or 0.85) - 0.12 if fixture.kind == "microwave" else fixture.size[2] - 0.14
        built.xml += _lever(name, -fixture.size[1] / 2, z)
        built.levers.append(name)
    x, y = fixture.at
    built.xml = f'<body name="{name}" pos="{x} {y} 0" euler="0 0 {math.radians(fixture.yaw):.6f}">{built.xml}</body>'
    return built


def build_person(name: str, person: Person) -> Built:
    """Someone standing still with a hand held out, palm up, 0.4 m in front."""
    z = person.palm_height
    skin, cloth = ".85 .68 .55 1", ".30 .35 .55 1"
    xml = f"""<body name="{name}" pos="{person.at[0]} {person.at[1]} 0" euler="0 0 {math.radians(person.yaw):.6f}">
  <geom name="{name}.legs" type="cylinder" pos="0 0 .42" size=".13 .42" rgba=".25 .25 .3 1"/>
  <geom name="{name}.torso" type="capsule" fromto="0 0 .95 0 0 1.35" size=".14" rgba="{cloth}"/>
  <geom name="{name}.head" type="sphere" pos="0 0 1.62" size=".11" rgba="{skin}"/>
  <geom name="{name}.arm" type="capsule" fromto=".12 -.1 {z + 0.08} .03 -.34 {z - 0.035}" size=".035" rgba="{cloth}"/>
  {_box(f"{name}.tray", (0.36, 0.02, person.tray_height - 0.015), (0.3, 0.36, 0.03), ".6 .45 .3 1")}
  {_box(f"{name}.post", (0.36, 0.02, person.tray_height / 2 - 0.015), (0.05, 0.05, person.tray_height - 0.03), ".6 .45 .3 1")}
  {_box(f"{name}.palm", (0, -0.42, z - 0.012), (0.15, 0.15, 0.024), skin, 'friction="1 .02 .001"')}
</body>"""
    palm = Place(name, name, name, (0, -0.42, z), (0.015, 0.015))
    tray = Place(tray_of(name), name, name, (0.36, 0.02, person.tray_height), (0.1, 0.12))
    return Built(xml, [palm, tray], [], [])


def tray_of(person: str) -> str:
    """Name of the place where a person puts what they were given."""
    return f"{person}.tray"


def walls(spec: Physical) -> str:
    """Walls around the rooms, with gaps at the doorways. Those in front of the camera are low, so that one can see in."""
    drawn: set[tuple[str, float, float, float]] = set()
    xml: list[str] = []
    for room in spec.rooms.values():
        (x0, y0), (x1, y1) = room.low, room.high
        edges = [("y", y0, x0, x1), ("y", y1, x0, x1), ("x", x0, y0, y1), ("x", x1, y0, y1)]
        for axis, at, low, high in edges:
            key = (axis, round(at, 3), round(low, 3), round(high, 3))
            if key in drawn:
                continue
            drawn.add(key)
            tall = 2.4 if (axis == "y" and at == y1) else (0.30 if axis == "y" else 1.3)
            pieces = [(low, high)]
            for door in spec.doorways:
                across, along = (door.at[0], door.at[1]) if axis == "x" else (door.at[1], door.at[0])
                if abs(across - at) < 0.05:
                    left, right = along - door.width / 2, along + door.width / 2
                    pieces = [
                        q
                        for p in pieces
                        for q in ((p[0], min(left, p[1])), (max(right, p[0]), p[1]))
                        if q[1] - q[0] > 0.01
                    ]
            for a, b in pieces:
                middle = (a + b) / 2
                pos = (middle, at, tall / 2) if axis == "y" else (at, middle, tall / 2)
                size = (b - a + 0.1, 0.1, tall) if axis == "y" else (0.1, b - a, tall)
                xml.append(_box(f"wall.{len(xml)}", pos, size, ".93 .93 .90 1"))
    return "".join(xml)
