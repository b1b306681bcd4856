"""Every example runs, in a process of its own, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9][0-9]_*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path), "PYTHONWARNINGS": "error::UserWarning", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=env, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
