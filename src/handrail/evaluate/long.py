"""`make eval-long`: the full evaluations, one after another, resumable.

What is done is kept in the cache folder with a fingerprint of the source it was measured with; running the command again goes on
where it was cut off. Results are written to `results/` as dated JSON with the machine, so that every figure can be traced.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError
from handrail.evaluate.options import EvalOptions, save

TASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("planbench", {}),
    ("virtualhome", {}),
    ("saycan", {}),
    ("coverage", {}),
    ("logits", {}),
    ("foon", {}),
    ("task", {}),
    ("task_home", {}),
    ("safety", {"model": "embedded"}),
    ("loop", {}),
    ("approaches", {}),
    ("consolidate", {}),
    ("knowno", {}),
    ("home", {}),
    ("kills", {}),
    ("fuzz", {}),
    ("mutation", {}),
)


def fingerprint() -> str:
    """Hash of all source files, so that a result is known to be of this version."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def main(argv: list[str]) -> int:
    """Run what is missing. Arguments: names, `--again` to do all anew, `--data DIR`, `--jobs N`."""
    import os

    again = "--again" in argv
    data = _value(argv, "--data") or os.environ.get("HANDRAIL_DATA")
    jobs = int(_value(argv, "--jobs") or os.cpu_count() or 1)
    skip = {_value(argv, "--data"), _value(argv, "--jobs")}
    names = [a for a in argv if not a.startswith("-") and a not in skip]
    cache, results = Path("eval-cache"), Path("results")
    marks = cache / "long"
    marks.mkdir(parents=True, exist_ok=True)
    version = fingerprint()
    failed = 0
    for name, more in TASKS:
        if names and name not in names:
            continue
        mark = marks / f"{name}.json"
        if mark.exists() and not again and json.loads(mark.read_text())["source"] == version:
            print(f"{name}: done before with this source", flush=True)  # noqa: T201 - a command's progress
            continue
        began = time.monotonic()
        print(f"{name}: started", flush=True)  # noqa: T201
        try:
            module = importlib.import_module(f"handrail.evaluate.{name}")
            options = EvalOptions(data=Path(data) if data else None, jobs=jobs, cache=cache, model=more.get("model"), extra=more)
            path = save(results, name, module.run(options))
        except (HandrailError, ModuleNotFoundError) as e:
            failed += 1
            print(f"{name}: not measured: {e}", flush=True)  # noqa: T201
            continue
        mark.write_text(json.dumps({"source": version, "result": str(path)}))
        print(f"{name}: {time.monotonic() - began:.0f} s, {path}", flush=True)  # noqa: T201
    return 1 if failed else 0


def _value(argv: list[str], name: str) -> str | None:
    return argv[argv.index(name) + 1] if name in argv and argv.index(name) + 1 < len(argv) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
