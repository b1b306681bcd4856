"""The home and its evening scene, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

import handrail
from handrail.domain import Domain
from handrail.domain.files import load_scene
from handrail.domain.text.scenes import Scene


@pytest.fixture(scope="session")
def home() -> Domain:
    return Domain.load(Path(handrail.__file__).parent / "domains" / "home.yaml")


@pytest.fixture(scope="session")
def evening(home: Domain) -> Scene:
    return load_scene(home, "evening")
