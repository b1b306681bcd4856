"""The published JSON Schema of a domain file's frame, for editors and other programs.

It covers keys and kinds of values. What is inside the strings, and whether names are declared, only the reader knows: `handrail
domain lint FILE`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "domain.schema.json"
"""The schema's file (JSON Schema, draft 2020-12)."""


def frame_schema() -> dict[str, Any]:
    """The schema as plain data."""
    made: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return made


__all__ = ["PATH", "frame_schema"]
