"""The shipped home, compiled once; every test gets its own fresh state of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("mujoco")

from handrail.domain.files import load_domain, load_scene
from handrail.domain.state import State
from handrail.domains import path
from handrail.evaluate.home_parts import physical
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.spec import Physical


@pytest.fixture(scope="session")
def spec() -> Physical:
    return physical()


@pytest.fixture(scope="session")
def scene(spec: Physical) -> Scene:
    return Scene.compile(spec)


@pytest.fixture(scope="session")
def _fresh(scene: Scene) -> Sim:
    return Sim(scene)


@pytest.fixture
def sim(_fresh: Sim) -> Iterator[Sim]:
    fork = _fresh.fork()
    yield fork
    fork.disturb = None
    _fresh.release(fork)


@pytest.fixture(scope="session")
def evening() -> State:
    return load_scene(load_domain(path("home")), "evening").state
