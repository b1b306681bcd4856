from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from handrail.decide.certificate import Declaration, Ended, Episode, Limits, Setting

# Time is no property of these tests: a loaded machine must not fail them.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))
SETTING = Setting(0.9, read_back=True, copies=5, passes=0, replans=6, strictness=0.5)
COMPONENTS = {"model": "aaa", "skills": "bbb"}


def declaration(**changes: Any) -> Declaration:
    """A valid declaration of one setting, changed as wanted."""
    values: dict[str, Any] = {
        "name": "kitchen",
        "place": "test kitchen",
        "population": "fetch and tidy requests",
        "limits": Limits(0.1, 0.25),
        "settings": (SETTING,),
        "judge": "two people who see the kitchen afterwards",
        "clusters": "one room and day each",
        "world": "real",
        "people": "real",
        "components": COMPONENTS,
        "made": "2026-11-30T10:00:00+00:00",
        "episodes": 100,
        "starts": ((0,),),
    }
    return Declaration(**{**values, **changes})


def episode(i: int, ended: Ended = Ended.DONE, truth: bool | None = True, **changes: Any) -> Episode:
    """One episode in a cluster of its own."""
    values: dict[str, Any] = {
        "id": f"e{i}",
        "cluster": f"c{i}",
        "setting": SETTING,
        "components": COMPONENTS,
        "started": f"2026-12-01T{i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d}+00:00",
        "ended": ended,
        "truth": truth,
    }
    return Episode(**{**values, **changes})


def batch(wrong: int, over: int, right: int, **changes: Any) -> list[Episode]:
    """Episodes: silent failures first, then hand-overs, then good ones."""
    kinds = [(Ended.DONE, False)] * wrong + [(Ended.HANDED_OVER, None)] * over + [(Ended.DONE, True)] * right
    return [episode(i, ended, truth, **changes) for i, (ended, truth) in enumerate(kinds)]


@pytest.fixture(scope="session")
def reference() -> dict[str, Any]:
    """Reference values, derived apart from this code."""
    return REFERENCE


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Makers of small declarations and episodes."""
    return SimpleNamespace(
        declaration=declaration, episode=episode, batch=batch, setting=SETTING, components=COMPONENTS
    )
