"""The embedded physical world, on MuJoCo: a home and a table top in contact physics.

    description (YAML) ─▶ Scene ─▶ Sim ─▶ skills (a generator each) ─▶ Outcome
                                    │
                                    ├─ fork ─▶ MujocoDryRun        the check pipeline's third layer
                                    └─ MujocoWorld ─ perception ─▶ observations

Names are resolved when they are used, so that importing this package alone loads neither MuJoCo nor the description.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "Album": "album",
    "Fault": "faults",
    "Faults": "faults",
    "MujocoDryRun": "dryrun",
    "MujocoWorld": "world",
    "Noise": "sim",
    "Perception": "perception",
    "Physical": "spec",
    "Snapshot": "snapshot",
    "exclude": "dryrun",
    "read_physical": "spec",
    "rehearse": "dryrun",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
