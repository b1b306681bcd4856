"""Makes worlds from plain values, for a host process or a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.domain.domain import Domain
from handrail.domain.files import load_scene
from handrail.errors import ConfigError, did_you_mean
from handrail.world.faults import Fault, Faults
from handrail.world.symbolic import SymbolicWorld


def faults(given: Mapping[str, Any]) -> Faults:
    """Faults from plain values, as a configuration file or a command line has them.

    Args:
        given: fields of `Faults`; lists for its tuples; `script` as {"3": "slip"}.

    Raises:
        ConfigError: a field or a fault that there is not.
    """
    known = set(Faults.__dataclass_fields__)
    for name in given:
        if name not in known:
            raise ConfigError(f"the symbolic world has no fault '{name}'.{did_you_mean(name, known)}")
    made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    if "script" in made:
        try:
            made["script"] = {int(k): Fault(v) for k, v in made["script"].items()}
        except ValueError as e:
            raise ConfigError(f"script maps attempt numbers to faults ({', '.join(Fault)}): {e}") from e
    return Faults(**made)


def symbolic(
    domain: str,
    scene: str | None = None,
    seed: int = 0,
    pace: float = 0.0,
    given: Mapping[str, Any] | None = None,
    name: str = "symbolic",
) -> SymbolicWorld:
    """A symbolic world for a scene of a domain file.

    Args:
        domain: path of the file.
        scene: name of the scenario; the first by default.
        seed: of the faults.
        pace: see `SymbolicWorld`.
        given: see `faults`.
        name: of the world.
    """
    return SymbolicWorld(
        load_scene(Domain.load(domain), scene).state, faults(given or {}), seed=seed, pace=pace, name=name
    )
