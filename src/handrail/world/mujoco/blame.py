"""Puts what a search ran into into a reason and a sentence."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from handrail.world.mujoco.fixtures import Place
from handrail.world.mujoco.outcome import Code, SkillFailure, spoken
from handrail.world.mujoco.reach import Search
from handrail.world.mujoco.sim import Sim

Floats = NDArray[np.float64]


def the(owner: str) -> str:
    """An owner as part of a sentence."""
    return {"robot": "itself", "floor": "the floor", "wall": "a wall"}.get(owner, f"the {spoken(owner)}")


def ranked(names: Iterable[str]) -> tuple[str, ...]:
    """Distinct names, most frequent first."""
    count: dict[str, int] = {}
    for n in names:
        count[n] = count.get(n, 0) + 1
    return tuple(sorted(count, key=lambda n: (-count[n], n)))


def outward(sim: Sim, place: Place) -> Floats:
    """Unit vector (2,) from a place's front into the room."""
    r = sim.data.xmat[sim.scene.body[place.body]].reshape(3, 3)
    v = -r[:2, 1]
    return np.asarray(v / np.linalg.norm(v))


def blocked(found: Search, reasons: list[str], what: str, place: str | None) -> SkillFailure:
    """The failure that fits what a search saw."""
    where = f" on the {spoken(place)}" if place else ""
    if found.stances == 0:
        return SkillFailure(Code.NO_PATH, f"There is no free spot to stand near {what}{where}.", ())
    if found.connected == 0:
        return SkillFailure(Code.NO_PATH, f"The base finds no free way to {what}{where}.", ())
    if found.solved == 0:
        return SkillFailure(
            Code.UNREACHABLE, f"The arm does not reach {what}{where} from any free spot.", (),
            stances=found.connected, tried=found.tried,
        )  # fmt: skip
    names = ranked(reasons)
    return SkillFailure(
        Code.GRASP_BLOCKED, f"The arm can't get to {what}{where}: {the(names[0]) if names else 'something'} is in the way.",
        names, tried=found.tried, solved=found.solved,
    )  # fmt: skip
