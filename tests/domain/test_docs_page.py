"""The page on domain files names every key that the reader knows, and no other section."""

from __future__ import annotations

import re
from pathlib import Path

from handrail.domain.text.frame import SECTIONS
from handrail.domain.text.skills import KEYS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "domain-files.md").read_text(encoding="utf-8")


def test_every_section_and_key_is_there() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert tuple(named) == SECTIONS
    assert all(f"`{key}`" in PAGE for key in KEYS)
