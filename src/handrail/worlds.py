"""Worlds to act in: `hr.worlds.symbolic(domain)`, `hr.worlds.mujoco(domain)`; your own is a class with the World protocol.

`host_symbolic` and `host_mujoco` make the same from plain values, for a host process (`handrail.world.serve`).
"""

from __future__ import annotations

import atexit
import importlib.util
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.domain.domain import Domain
from handrail.errors import MissingExtra

if TYPE_CHECKING:
    from handrail.check.pipeline import DryRun
    from handrail.world.mujoco.world import MujocoWorld
    from handrail.world.symbolic import SymbolicWorld

__all__ = ["dry_run", "host_mujoco", "host_symbolic", "mujoco", "symbolic"]


def symbolic(
    domain: Domain,
    scene: str | None = None,
    *,
    seed: int = 0,
    pace: float = 0.0,
    faults: Mapping[str, Any] | None = None,
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


def mujoco(
    domain: Domain,
    scene: str | None = None,
    *,
    seed: int = 0,
    faults: Mapping[int, str] | None = None,
    watch: Callable[..., None] | None = None,
    name: str = "mujoco",
) -> MujocoWorld:
    """The physical home in MuJoCo, from the domain file's `physical:` part.

    Args:
        domain: read from a file with a `physical:` part and scenes.
        scene: which of them; the first by default.
        seed: of everything random.
        faults: number of a started step, from 0, to the fault that strikes it.
        watch: called around each step, for pictures; see `handrail.world.mujoco.album`.
        name: of the world.

    Raises:
        MissingExtra: `pip install 'handrail[sim]'` is needed.
        DomainError: the file has no `physical:` part.
    """
    if importlib.util.find_spec("mujoco") is None:
        raise MissingExtra("the physical home", "sim", "mujoco")
    from handrail.domain.files import load_scene
    from handrail.world.mujoco.faults import Fault, Faults
    from handrail.world.mujoco.world import MujocoWorld

    scripted = Faults(script={int(k): Fault(v) for k, v in (faults or {}).items()})
    return MujocoWorld(load_scene(domain, scene).state, seed=seed, faults=scripted, watch=watch, name=name)


def dry_run() -> DryRun:
    """The physics dry-run: tries a whole plan in a copy of the simulated world.

    Raises:
        MissingExtra: `pip install 'handrail[sim]'` is needed.
    """
    if importlib.util.find_spec("mujoco") is None:
        raise MissingExtra("the physics dry-run", "sim", "mujoco")
    from handrail.world.mujoco.dryrun import MujocoDryRun

    made: DryRun = MujocoDryRun()
    return made


def host_symbolic(
    domain: str,
    scene: str | None = None,
    profile: str = "",
    seed: int = 0,
    pace: float = 0.0,
    faults: Mapping[str, Any] | None = None,
) -> SymbolicWorld:
    """`symbolic` from a domain file's path."""
    return symbolic(_load(domain, profile), scene, seed=seed, pace=pace, faults=faults)


def host_mujoco(
    domain: str,
    scene: str | None = None,
    profile: str = "",
    seed: int = 0,
    faults: Mapping[str, str] | None = None,
    pictures: str | None = None,
    view: bool = False,
) -> MujocoWorld:
    """`mujoco` from a domain file's path, for a host process.

    Args:
        domain: path of the file.
        scene: which scene; the first by default.
        profile: robot cost profile.
        seed: of everything random.
        faults: number of a started step, as text, to the fault that strikes it.
        pictures: HTML file into which stills around each step go as they are taken.
        view: open MuJoCo's viewer for as long as the process lives; needs a screen.

    Raises:
        WorldError: `view`, and there is no screen.
    """
    made = _load(domain, profile)
    watch = None
    if pictures is not None:
        from handrail.world.mujoco.album import Album

        album, target = Album(), Path(pictures)

        def watch(sim: Any, step: Any, when: str) -> None:
            album.look(sim, step, when)
            if when == "after":
                target.write_text(album.sections(), encoding="utf-8")

    world = mujoco(made, scene, seed=seed, faults={int(k): v for k, v in (faults or {}).items()}, watch=watch)
    if view:
        from handrail.world.mujoco.viewer import viewer

        window = ExitStack()
        window.enter_context(viewer(world.sim))
        atexit.register(window.close)
    return world


def _load(path: str, profile: str) -> Domain:
    domain = Domain.load(path)
    return domain.with_profile(profile) if profile else domain
