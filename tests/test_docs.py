"""The code in the documentation runs, in the order in which it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["docs/python-api.md"])
def test_code_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    space: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), space)
    said = capsys.readouterr().out
    assert "True DONE" in said
    assert "VerifiedPlan" in said
