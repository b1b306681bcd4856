from __future__ import annotations

from pathlib import Path

import pytest

from handrail.domain import State
from handrail.domain.files import load_domain, load_scene

PANTRY = Path(__file__).parents[1] / "execute" / "pantry.yaml"


@pytest.fixture(scope="session")
def pantry_path() -> Path:
    return PANTRY


@pytest.fixture
def state() -> State:
    return load_scene(load_domain(PANTRY)).state
