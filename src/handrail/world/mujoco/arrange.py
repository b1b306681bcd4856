"""Brings the symbolic start and the physical description together: one scene, no drift between the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from handrail.domain.state import State
from handrail.domain.values import UNKNOWN, Value
from handrail.errors import ConfigError, DomainError, did_you_mean
from handrail.world.mujoco import shapes
from handrail.world.mujoco.scene import Scene, compose
from handrail.world.mujoco.spec import Content, Item, Physical


def physical_of(state: State) -> Any:
    """The `physical:` part of a state's domain, as plain data.

    Raises:
        DomainError: the domain has none.
    """
    part = state.objects.domain.extra.get("physical")
    if part is None:
        raise DomainError(f"the domain '{state.objects.domain.name}' has no `physical:` part, so it can't be simulated")
    return part


def arrange(spec: Physical, state: State) -> Physical:
    """The physical description with the items, doors, switches and contents of a symbolic state.

    Items that the state does not know are left out. An item that the state puts on another place than the description does gets
    a free spot there.

    Raises:
        DomainError: the state has an item or place that the description lacks.
        ConfigError: the state starts in a way the simulator can't, such as with something in the hand.
    """
    objects, domain = state.objects, state.objects.domain
    places = spec.places()
    movable = domain.fluents["on"].params[0].types if "on" in domain.fluents else ()
    names = set(objects.members(*movable)) | {n for n in spec.items if n in objects}
    for name in names:
        if name not in spec.items:
            raise DomainError(f"item '{name}' has no physical description.{did_you_mean(name, set(spec.items))}")
    for name in (
        domain.fluents["on"].types and objects.members(*domain.fluents["on"].types) if "on" in domain.fluents else ()
    ):
        if name not in places and name not in spec.items:
            raise DomainError(f"place '{name}' has no physical description.{did_you_mean(name, set(places))}")
    robot = next(iter(spec.robots.values()))
    if "holding" in domain.fluents and state.get(("holding", robot.hand)) not in (None, UNKNOWN):
        raise ConfigError("the simulated robot starts with an empty hand; put the held thing on a place")
    items = {n: _item(spec, state, n) for n in spec.items if n in names}
    moved = [n for n in items if items[n].on != spec.items[n].on]
    made = spec.model_copy(update={"items": items, "fixtures": _fixtures(spec, state)})
    stacked = {n for n in moved if items[n].on in items}
    for name in stacked:
        items[name] = items[name].model_copy(update={"at": (0.0, 0.0), "yaw": 0.0})
    if moved:
        made = _spread(made, [n for n in moved if n not in stacked])
    at = state.get(("at", next(iter(spec.robots)))) if "at" in domain.fluents else UNKNOWN
    if isinstance(at, str) and at != robot.place:
        name = next(iter(spec.robots))
        made = made.model_copy(update={"robots": {name: robot.model_copy(update={"place": at, "moved": True})}})
    return made


def _item(spec: Physical, state: State, name: str) -> Item:
    item, domain = spec.items[name], state.objects.domain
    changes: dict[str, Any] = {}
    on: Value = state.get(("on", name)) if "on" in domain.fluents else item.on
    given = state.get(("given", name)) if "given" in domain.fluents else None
    if isinstance(given, str):
        on = given
    if isinstance(on, str) and on != item.on:
        changes["on"] = on
    if item.content is not None and ("portions", name) in state.values:
        count = state.get(("portions", name))
        kind = state.get(("contents", name)) if "contents" in domain.fluents else item.content.of
        if isinstance(count, int):
            ml = min(count * spec.portion_ml, item.content.capacity_ml)
            changes["content"] = Content(
                of=kind if isinstance(kind, str) else None, ml=ml, capacity_ml=item.content.capacity_ml
            )
    return item.model_copy(update=changes) if changes else item


def _fixtures(spec: Physical, state: State) -> dict[str, Any]:
    out = dict(spec.fixtures)
    fluents = state.objects.domain.fluents
    for name, fixture in spec.fixtures.items():
        if name not in state.objects:
            continue
        changes = {}
        if "open" in fluents and ("open", name) in state.values:
            changes["open"] = state.get(("open", name)) is True
        if "running" in fluents and ("running", name) in state.values:
            changes["on"] = state.get(("running", name)) is True
        if changes:
            out[name] = fixture.model_copy(update=changes)
    return out


def _spread(spec: Physical, moved: list[str]) -> Physical:
    """Free spots for items that are not where the description has them."""
    _, places, _, _ = compose(spec)
    items = dict(spec.items)
    for name in moved:
        item = items[name]
        place = places[item.on]
        radius = shapes.footprint(item.shape)
        taken = [
            (i.at, shapes.footprint(i.shape))
            for n, i in items.items()
            if n != name and n not in moved and i.on == item.on
        ]
        taken += [
            (items[n].at, shapes.footprint(items[n].shape))
            for n in moved[: moved.index(name)]
            if items[n].on == item.on
        ]
        best, room = (0.0, 0.0), -np.inf
        for x in np.linspace(-place.half[0], place.half[0], 15):
            for y in np.linspace(-place.half[1], place.half[1], 7):
                gap = min((float(np.hypot(x - a[0], y - a[1])) - r - radius for a, r in taken), default=1.0)
                if gap > room + 1e-9:
                    best, room = (float(x), float(y)), gap
        if room < 0:
            raise ConfigError(f"there is no room for '{name}' on '{item.on}' beside what is there")
        items[name] = item.model_copy(update={"at": best, "yaw": 0.0})
    return spec.model_copy(update={"items": items})


def compile_for(state: State, spec: Physical) -> Scene:
    """The compiled scene for a symbolic start."""
    return Scene.compile(arrange(spec, state))
