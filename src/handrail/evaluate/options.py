"""What every evaluation is given, and what it leaves behind."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from handrail.errors import ConfigError

Progress = Callable[[str, int, int], None]
"""Called with (what, done, total)."""


def quiet(what: str, done: int, total: int) -> None:
    """A progress callback that says nothing."""


@dataclass(frozen=True)
class EvalOptions:
    """Options shared by all `handrail eval` commands.

    Attributes:
        data: folder that holds planbench/, virtualhome_eval/ and the rest; None when it was not given.
        seed: every random choice derives from it.
        quick: a smaller run, under a minute on two cores.
        model: name of the language model ('embedded', a URL ...) or None for the evaluation's default.
        cache: folder for results of expensive calls, reused by later runs.
        jobs: worker processes at most.
        progress: called as work gets done.
        extra: options of one evaluation only.
    """

    data: Path | None = None
    seed: int = 0
    quick: bool = False
    model: str | None = None
    cache: Path | None = None
    jobs: int = 1
    progress: Progress = quiet
    extra: dict[str, Any] = field(default_factory=dict)

    def need_data(self, *parts: str) -> Path:
        """The path of a data set, or a clear error that says where it was looked for.

        Raises:
            ConfigError: no data folder given, or the set is not in it.
        """
        if self.data is None:
            raise ConfigError("this evaluation reads recorded data: give --data DIR or set $HANDRAIL_DATA")
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise ConfigError(f"no {'/'.join(parts)} in the data folder {self.data}; --data must hold {parts[0]}/")
        return path


def machine() -> dict[str, Any]:
    """What a figure was measured on, for the committed results."""
    cpu = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": cpu or platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def save(path: Path, name: str, result: dict[str, Any]) -> Path:
    """Write a result as dated JSON with the machine it was measured on; returns the file's path."""
    path.mkdir(parents=True, exist_ok=True)
    target = path / f"{date.today().isoformat()}-{name}.json"
    body = {"eval": name, "date": date.today().isoformat(), "machine": machine(), "result": result}
    target.write_text(json.dumps(body, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return target
