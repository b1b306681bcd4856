"""Mutation testing of the packages that everything rests on, by cosmic-ray, on a seeded sample of mutants.

The source is copied to a scratch folder first, so that nothing here is ever changed. Mutations of `|` are left out: in this code they
stand in type annotations, which are never evaluated.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from handrail.errors import ConfigError, MissingExtra
from handrail.evaluate.options import EvalOptions
from handrail.numbers import wilson

TARGETS: dict[str, tuple[str, str]] = {
    "check": ("src/handrail/check", "tests/check"),
    "domain": ("src/handrail/domain", "tests/check tests/domain"),
    "execute": ("src/handrail/execute", "tests/execute"),
}
"""Package to (what is mutated, the tests that must notice)."""

_CONFIG = """[cosmic-ray]
module-path = "{module}"
timeout = {timeout}
excluded-modules = []
test-command = "{command}"

[cosmic-ray.distributor]
name = "local"
"""


_JOBS = (
    "SELECT job_id, operator_name FROM mutation_specs "
    "ORDER BY module_path, start_pos_row, start_pos_col, operator_name, occurrence"
)


def root() -> Path:
    """The project's folder.

    Raises:
        ConfigError: handrail is not run from its source tree.
    """
    found = Path(__file__).parents[3]
    if not (found / "tests").is_dir() or not (found / "pyproject.toml").is_file():
        raise ConfigError("mutation testing needs the source tree with its tests; run it from a clone")
    return found


def run(options: EvalOptions) -> dict[str, Any]:
    """Keys: packages {name: {mutants, sampled, killed, survived, share, low, high}}, survivors [{...}].

    Raises:
        MissingExtra: cosmic-ray is not installed.
        ConfigError: not run from the source tree.
    """
    if importlib.util.find_spec("cosmic_ray") is None:
        raise MissingExtra("mutation testing", "dev", "cosmic-ray")
    wanted = int(options.extra.get("mutants", 4 if options.quick else 120))
    packages: dict[str, Any] = {}
    survivors: list[dict[str, Any]] = []
    for name, (module, tests) in TARGETS.items():
        with tempfile.TemporaryDirectory(prefix="handrail-mutants-") as folder:
            place = Path(folder)
            for part in ("src", "tests", "examples", "pyproject.toml"):
                source = root() / part
                (shutil.copytree if source.is_dir() else shutil.copy)(source, place / part)
            packages[name], left = _package(place, module, tests, wanted, options, name)
            survivors += [{"package": name, **s} for s in left]
    return {"packages": packages, "survivors": survivors}


def _package(
    place: Path, module: str, tests: str, wanted: int, options: EvalOptions, name: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider -m 'not slow' {tests}"
    (place / "cr.toml").write_text(_CONFIG.format(module=module, timeout=180.0, command=command), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(place / "src"), "OMP_NUM_THREADS": "1", "HYPOTHESIS_PROFILE": "mutation"}
    env.pop("HANDRAIL_DATA", None)
    ray = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*ray, "init", "cr.toml", "session.sqlite"], cwd=place, env=env, check=True, capture_output=True)
    total = _sample(place / "session.sqlite", wanted, options.seed)
    options.progress(f"mutants of {name}", 0, 1)
    subprocess.run([*ray, "exec", "cr.toml", "session.sqlite"], cwd=place, env=env, check=True, capture_output=True)
    options.progress(f"mutants of {name}", 1, 1)
    killed, left = _results(place / "session.sqlite")
    n = killed + len(left)
    low, high = wilson(killed, n)
    counts = {
        "mutants": total,
        "sampled": n,
        "killed": killed,
        "survived": len(left),
        "share": round(killed / max(1, n), 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }
    return counts, left


def _sample(session: Path, wanted: int, seed: int) -> int:
    """Leave a seeded sample of the mutants in a session; returns how many there were."""
    with closing(sqlite3.connect(session)) as db, db:
        jobs = [job for job, operator in db.execute(_JOBS) if "BitOr" not in operator]
        kept = set(random.Random(f"mutants/{seed}").sample(jobs, min(wanted, len(jobs))))  # noqa: S311 - seeded on purpose
        every = [r[0] for r in db.execute("SELECT job_id FROM work_items")]
        gone = [(j,) for j in every if j not in kept]
        db.executemany("DELETE FROM mutation_specs WHERE job_id = ?", gone)
        db.executemany("DELETE FROM work_items WHERE job_id = ?", gone)
    return len(jobs)


def _results(session: Path) -> tuple[int, list[dict[str, Any]]]:
    with closing(sqlite3.connect(session)) as db:
        rows = db.execute(
            "SELECT r.test_outcome, s.module_path, s.start_pos_row, s.operator_name, r.diff FROM work_results r "
            "JOIN mutation_specs s ON s.job_id = r.job_id"
        ).fetchall()
    killed = sum("SURVIVED" not in str(r[0]).upper() for r in rows)
    left = [
        {"module": r[1], "line": r[2], "operator": r[3].removeprefix("core/"), "change": _change(r[4])}
        for r in rows
        if "SURVIVED" in str(r[0]).upper()
    ]
    return killed, left


def _change(diff: str | None) -> str:
    """The changed line of a diff."""
    added = [
        line[1:].strip() for line in (diff or "").splitlines() if line.startswith("+") and not line.startswith("+++")
    ]
    return added[0] if added else ""
