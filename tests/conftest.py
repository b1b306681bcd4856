"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of recorded public data; tests that need it are skipped, saying so, where it is absent."""
    folder = os.environ.get("HANDRAIL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("recorded data not found: set $HANDRAIL_DATA to the folder that holds planbench/ and the rest")
    return Path(folder)
