"""What vessels hold, tracked by tilt and time.

No fluid is simulated. A vessel is a straight tube of its capacity's volume; tilted by t, it can hold at most

    V(t) / V(0) = 1 - (r / h) tan t        while the surface still meets the far wall, tan t <= h / (2 r),
                  (h / (4 r)) / tan t      beyond (a wedge), and zero from 90 degrees on

and what is above that leaves over the lip at no more than `RATE`. It lands in a vessel if the lip's point, moved on by the
jet's fall, is inside that vessel's mouth and above its rim; otherwise it is spilled on what lies below.

Where this is wrong: no sloshing, splashing, dripping or gurgling (a narrow neck pours as evenly as a cup), the wedge formula is
that of a tube with square cross-section, and the vessel's mass stays what the description says whatever is poured.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco import shapes

if TYPE_CHECKING:
    from handrail.world.mujoco.sim import Sim

RATE = 120.0
"""Fastest flow over a lip [ml/s]."""
FALL = 0.25
"""Longest fall of a jet that still hits what is below it [m]."""
_FREE_TILT = math.cos(math.radians(8))


def holds(share_of_height: float, tilt: float) -> float:
    """Largest share of its capacity that a tube of (diameter / height) = `share_of_height` holds at `tilt` [rad]."""
    if tilt <= 0:
        return 1.0
    if tilt >= math.pi / 2:
        return 0.0
    slope = math.tan(tilt) * share_of_height / 2
    return 1 - slope if slope <= 0.5 else 0.25 / slope


def flow(sim: Sim) -> None:
    """Let one control period's worth of content leave every vessel that is tilted too far."""
    memory, scene = sim.memory, sim.scene
    ml = memory.ml
    if not ml:
        return
    bodies = [(name, amount, scene.body[name]) for name, amount in ml.items() if amount > 0]
    changed: dict[str, float] | None = None
    kinds: dict[str, str | None] | None = None
    spilled: dict[str, float] | None = None
    for name, amount, body in bodies:
        up = sim.data.xmat[body][8]
        if up > _FREE_TILT:
            continue
        item = scene.spec.items[name]
        assert item.content is not None
        tilt = math.acos(max(-1.0, min(1.0, float(up))))
        radius, tall = shapes.lip(item.shape)
        limit = holds(2 * shapes.base_radius(item.shape) / tall, tilt) * item.content.capacity_ml
        out = min(max(0.0, amount - limit), RATE * sim.period, amount)
        if out <= 0:
            continue
        changed = changed if changed is not None else dict(ml)
        changed[name] = amount - out
        r = sim.data.xmat[body].reshape(3, 3)
        down = r.T @ np.array([0, 0, -1.0])
        side = down[:2] / max(float(np.linalg.norm(down[:2])), 1e-9)
        spout = sim.data.xpos[body] + r @ np.array([radius * side[0], radius * side[1], tall])
        target = _below(sim, name, spout)
        if target is not None:
            content = scene.spec.items[target].content
            assert content is not None
            room = content.capacity_ml - changed.get(target, 0.0)
            taken = min(out, max(0.0, room))
            changed[target] = changed.get(target, 0.0) + taken
            if memory.of.get(target) != memory.of.get(name):
                kinds = kinds if kinds is not None else dict(memory.of)
                kinds[target] = memory.of.get(name)
            out -= taken
        if out > 1e-9:
            spilled = spilled if spilled is not None else dict(memory.spilled)
            where = sim.place_of(target or name) or "floor"
            spilled[where] = spilled.get(where, 0.0) + out
    if changed is not None:
        sim.memory = replace(
            sim.memory,
            ml=changed,
            spilled=spilled if spilled is not None else memory.spilled,
            of=kinds if kinds is not None else memory.of,
        )


def _below(sim: Sim, source: str, spout: NDArray[np.float64]) -> str | None:
    """The vessel whose mouth is under the spout; the jet is taken to fall straight within `FALL`."""
    for name, item in sim.scene.spec.items.items():
        radius = shapes.mouth(item.shape)
        if name == source or item.content is None or radius == 0:
            continue
        body = sim.scene.body[name]
        if sim.data.xmat[body][8] < 0.9:
            continue
        dx, dy, dz = spout - sim.data.xpos[body]
        if math.hypot(dx, dy) < radius and 0 < dz - shapes.height(item.shape) < FALL:
            return name
    return None
