"""Worlds to act in: `hr.worlds.symbolic(domain)`, `hr.worlds.mujoco(domain)`; your own is a class with the World protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handrail.errors import MissingExtra

if TYPE_CHECKING:
    from handrail.domain.domain import Domain
    from handrail.world.protocol import World
    from handrail.world.symbolic import SymbolicWorld

__all__ = ["mujoco", "symbolic"]


def symbolic(
    domain: Domain, scene: str | None = None, *, seed: int = 0, pace: float = 0.0, faults: Mapping[str, Any] | None = None
) -> SymbolicWorld:
    """A world that does what the domain says, or what its faults say instead.

    Args:
        domain: read from a file that has scenes.
        scene: which of them; the first by default.
        seed: of the faults.
        pace: seconds per second of a skill's declared duration; 0 acts at once.
        faults: fields of `handrail.world.faults.Faults`.
    """
    from handrail.domain.files import load_scene
    from handrail.world.factory import faults as read_faults
    from handrail.world.symbolic import SymbolicWorld

    return SymbolicWorld(load_scene(domain, scene).state, read_faults(faults or {}), seed=seed, pace=pace)


def mujoco(domain: Domain, scene: str | None = None, *, seed: int = 0, **more: Any) -> World:
    """The physical home in MuJoCo, from the domain file's `physical:` part.

    Raises:
        MissingExtra: `pip install 'handrail[sim]'` is needed.
    """
    try:
        from handrail.world.mujoco.world import MujocoWorld
    except ModuleNotFoundError as e:
        if e.name != "mujoco":
            raise
        raise MissingExtra("the physical home", "sim", "mujoco") from None
    from handrail.domain.files import load_scene

    world: World = MujocoWorld(domain, load_scene(domain, scene), seed=seed, **more)
    return world
