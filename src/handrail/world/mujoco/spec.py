"""The `physical:` part of a domain file: rooms, fixtures, items, people and robots, with poses and shapes.

Lengths are metres, masses kilograms, angles degrees, volumes millilitres. A fixture's frame has its origin on the floor at
the middle of its footprint and its front towards local -y, so `yaw: 0` faces south, 90 east, 180 north, -90 west.
An item's frame has its origin at the middle of its underside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from handrail.errors import DomainError, did_you_mean

Metres = Annotated[float, Field(gt=0, lt=20, allow_inf_nan=False)]
Coordinate = Annotated[float, Field(gt=-50, lt=50, allow_inf_nan=False)]
Degrees = Annotated[float, Field(ge=-360, le=360, allow_inf_nan=False)]
Pair = tuple[Coordinate, Coordinate]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Box(_Strict):
    """A cuboid: `size` is its full extent in x, y, z."""

    kind: Literal["box"]
    size: tuple[Metres, Metres, Metres]


class Can(_Strict):
    """A solid cylinder standing on its base."""

    kind: Literal["can"]
    radius: Metres
    height: Metres


class Ball(_Strict):
    """A sphere."""

    kind: Literal["ball"]
    radius: Metres


class Cup(_Strict):
    """A hollow round vessel; `handle` adds an ear towards local +x. A bowl or a plate is a wide, low cup."""

    kind: Literal["cup"]
    radius: Metres
    height: Metres
    wall: Metres = 0.005
    handle: bool = False


class Bottle(_Strict):
    """A cylinder with a thinner neck."""

    kind: Literal["bottle"]
    radius: Metres
    height: Metres
    neck_radius: Metres = 0.014
    neck_height: Metres = 0.05


class Pot(_Strict):
    """A wide cylinder that can only be lifted by the knob on its lid."""

    kind: Literal["pot"]
    radius: Metres
    height: Metres


Shape = Annotated[Box | Can | Ball | Cup | Bottle | Pot, Field(discriminator="kind")]


class Content(_Strict):
    """What a vessel holds at first. The level is tracked by tilt and time (see `handrail.world.mujoco.liquid`)."""

    of: str | None = None
    ml: Annotated[float, Field(ge=0, le=20000)] = 0.0
    capacity_ml: Annotated[float, Field(gt=0, le=20000)]

    @model_validator(mode="after")
    def _fits(self) -> Content:
        if self.ml > self.capacity_ml:
            raise ValueError(f"{self.ml} ml does not fit a capacity of {self.capacity_ml} ml")
        return self


class Item(_Strict):
    """A movable object.

    Attributes:
        on: the place (or person) where it rests at first.
        at: its offset (x, y) from the middle of that place, in the place's frame.
        looks_like: items that perception may confuse with it.
    """

    shape: Shape
    mass: Annotated[float, Field(gt=0, le=200, allow_inf_nan=False)]
    colour: tuple[float, float, float] = (0.7, 0.7, 0.7)
    on: str
    at: Pair = (0.0, 0.0)
    yaw: Degrees = 0.0
    content: Content | None = None
    sponge: bool = False
    looks_like: tuple[str, ...] = ()


class Room(_Strict):
    """A rectangular room given by its corners (x, y)."""

    low: Pair
    high: Pair


class Doorway(_Strict):
    """An opening in the wall that two rooms share; `at` is its middle."""

    between: tuple[str, str]
    at: Pair
    width: Metres = 1.0


class Fixture(_Strict):
    """Something that stands still, with the places it offers.

    Attributes:
        kind: which model is built.
        at: middle of the footprint.
        size: full width (x), depth (y) and height (z).
        levels: for a shelf, the place names and the heights of their boards.
        zones: for a table top, further places on it: middle x, y and half extents x, y.
        height: for a fridge, the height of its inner shelf; for a microwave, of its stand.
        switch: whether it has a lever that turns it on and off.
        on, open: its state at first.
    """

    kind: Literal[
        "counter", "table", "shelf", "fridge", "microwave", "drawer", "sink", "stove", "bin", "block", "tabletop"
    ]
    at: Pair
    yaw: Degrees = 0.0
    size: tuple[Metres, Metres, Metres]
    levels: dict[str, Metres] = {}
    zones: dict[str, tuple[Coordinate, Coordinate, Metres, Metres]] = {}
    height: Metres | None = None
    switch: bool = False
    on: bool = False
    open: bool = False
    colour: tuple[float, float, float] | None = None


class Person(_Strict):
    """Someone with a hand held out, palm up, facing local -y; what they take goes to the small table beside them."""

    at: Pair
    yaw: Degrees = 0.0
    palm_height: Metres = 1.0
    tray_height: Metres = 0.7


class Profile(_Strict):
    """What a robot is built like: every limit that a plan may depend on.

    Attributes:
        kind: `mobile_arm` (planar base, lift, 7-DoF arm, two parallel fingers) or `gantry` (suction cup on three slides).
        lift: how far the lift travels [m]; 0 for a robot without one.
        column: height of the lift's lower end above the floor [m].
        opening: widest thing that fits between the pads [m].
        grip_newton: what the gripper's drive can give [N], shared by both fingers.
        payload: heaviest thing it may lift [kg].
    """

    kind: Literal["mobile_arm", "gantry"] = "mobile_arm"
    lift: Annotated[float, Field(ge=0, le=2)] = 0.45
    column: Metres = 0.55
    opening: Metres = 0.08
    grip_newton: Annotated[float, Field(gt=0, le=500)] = 60.0
    payload: Annotated[float, Field(gt=0, le=100)] = 2.0
    base_speed: Metres = 0.9
    arm_speed: Metres = 1.6


class Robot(_Strict):
    """A robot in its starting pose.

    Attributes:
        place: where that is in symbols.
        moved: whether `at` no longer fits `place`, so that a free stance near it has to be chosen.
        hand: name of the gripper in the symbolic part.
    """

    profile: str
    place: str | None = None
    moved: bool = False
    at: tuple[Coordinate, Coordinate, Degrees]
    hand: str = "hand_1"


class Physical(_Strict):
    """The whole `physical:` part.

    Attributes:
        timestep: of the physics [s].
        portion_ml: what one portion of the symbolic part stands for.
    """

    timestep: Annotated[float, Field(gt=0.0005, le=0.005)] = 0.004
    portion_ml: Annotated[float, Field(gt=0, le=1000)] = 100.0
    rooms: dict[str, Room]
    doorways: tuple[Doorway, ...] = ()
    fixtures: dict[str, Fixture]
    people: dict[str, Person] = {}
    profiles: dict[str, Profile]
    robots: dict[str, Robot]
    items: dict[str, Item] = {}

    def places(self) -> list[str]:
        """Names that an item can rest on: fixtures' places and people."""
        found: list[str] = []
        for name, fixture in self.fixtures.items():
            if fixture.kind == "shelf":
                found += list(fixture.levels)
            elif fixture.kind != "block":
                found += [name, *fixture.zones]
        return found + list(self.people)

    @model_validator(mode="after")
    def _names(self) -> Physical:
        places = self.places()
        if len(set(places)) != len(places):
            raise ValueError("a place name is used twice")
        if len(self.robots) != 1:
            raise ValueError(f"this simulator has exactly one robot in a scene, got {len(self.robots)}")
        for name, item in self.items.items():
            if item.on not in places:
                raise ValueError(f"item '{name}' is on '{item.on}', which is no place.{did_you_mean(item.on, places)}")
            for other in item.looks_like:
                if other not in self.items:
                    raise ValueError(
                        f"item '{name}' looks like unknown '{other}'.{did_you_mean(other, set(self.items))}"
                    )
        for name, robot in self.robots.items():
            if robot.profile not in self.profiles:
                raise ValueError(
                    f"robot '{name}' has unknown profile '{robot.profile}'.{did_you_mean(robot.profile, set(self.profiles))}"
                )
            if robot.place is not None and robot.place not in places:
                raise ValueError(
                    f"robot '{name}' is at '{robot.place}', which is no place.{did_you_mean(robot.place, places)}"
                )
        for door in self.doorways:
            for room in door.between:
                if room not in self.rooms:
                    raise ValueError(f"a doorway leads to unknown room '{room}'.{did_you_mean(room, set(self.rooms))}")
        for name, fixture in self.fixtures.items():
            if fixture.kind == "shelf" and not fixture.levels:
                raise ValueError(f"shelf '{name}' needs levels: {{place: height}}")
        return self

    def with_profile(self, profile: str) -> Physical:
        """The same world with another robot in it."""
        name, robot = next(iter(self.robots.items()))
        return self.model_copy(update={"robots": {name: robot.model_copy(update={"profile": profile})}})


def read_physical(data: Mapping[str, Any]) -> Physical:
    """Check a plain mapping, such as the `physical:` part of a domain file.

    Raises:
        DomainError: something is missing, unknown or out of range; the message names the path to it.
    """
    try:
        return Physical.model_validate(data)
    except ValidationError as error:
        lines = [f"physical.{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5]]
        raise DomainError("; ".join(lines)) from None
