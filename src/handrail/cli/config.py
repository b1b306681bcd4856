"""One configuration, four places.

Precedence, strongest first: command line option, environment variable `HANDRAIL_<NAME>`, `handrail.toml` in this folder (or the
file given by `--config`), `~/.config/handrail/config.toml`, built-in default. Every value is validated where it is set; a wrong
one names the place it came from.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from handrail.errors import ConfigError, did_you_mean


class Config(BaseModel):
    """All settings. Unknown names are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    domain: str = Field("home", description="a domain file, or the name of a shipped one: home, office, tabletop")
    scene: str | None = Field(None, description="a scene of the domain file; default: its first")
    world: str = Field("auto", description="auto, symbolic, mujoco, or module:factory of your own")
    profile: str = Field("", description="robot cost profile")
    model: str = Field(
        "auto", description="auto, none, embedded, replay:FILE, or the URL of an OpenAI-compatible endpoint"
    )
    model_name: str = Field("", description="the model's name at an endpoint")
    api_key_env: str = Field("OPENAI_API_KEY", description="environment variable that holds the endpoint's key")
    model_timeout: float = Field(60.0, gt=0, le=3600, description="seconds one model call may take")
    calibration: str | None = Field(None, description="calibration file; default: the shipped one where it fits")
    runs: str = Field("runs", description="folder for run records and reports")
    seed: int = Field(0, ge=0, description="seed of every random choice")
    max_steps: int = Field(12, ge=1, le=100, description="longest plan a model may write")
    replans: int = Field(3, ge=0, le=20, description="replans before a person is called")
    model_calls: int = Field(24, ge=0, le=1000, description="model calls per request")
    answer_seconds: float = Field(300.0, gt=0, description="how long a question or approval waits")
    dry_run: bool = Field(True, description="try plans in the simulator before anything moves")
    copies: int = Field(0, ge=0, le=64, description="perturbed copies per dry-run")
    approve: Literal["ask", "yes", "safe"] = Field(
        "ask", description="ask a person; yes: approve all that is proven; safe: approve only what needs no approval"
    )
    data: str | None = Field(None, description="folder of recorded data for evaluations")


ENV_PREFIX = "HANDRAIL_"


def load(
    options: Mapping[str, Any] | None = None, file: Path | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Read the configuration.

    Args:
        options: command line values; None values are "not given".
        file: a configuration file in place of `handrail.toml`.
        environ: environment; default: the process's.

    Raises:
        ConfigError: an unknown name or invalid value, with where it was set and what would be valid.
    """
    env = os.environ if environ is None else environ
    layers: list[tuple[str, dict[str, Any]]] = []
    home = Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "handrail" / "config.toml"
    if home.is_file():
        layers.append((str(home), _toml(home)))
    local = file or Path("handrail.toml")
    if local.is_file():
        layers.append((str(local), _toml(local)))
    elif file is not None:
        raise ConfigError(f"there is no configuration file {file}")
    names = set(Config.model_fields)
    from_env = {n: env[ENV_PREFIX + n.upper()] for n in sorted(names) if env.get(ENV_PREFIX + n.upper())}
    layers.append(("environment", from_env))
    layers.append(("command line", {k: v for k, v in (options or {}).items() if v is not None}))
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for place, values in layers:
        for name, value in values.items():
            if name not in names:
                raise ConfigError(f"{place}: there is no setting '{name}'.{did_you_mean(name, names)}")
            merged[name] = value
            origin[name] = f"{place} ({ENV_PREFIX + name.upper()})" if place == "environment" else place
    try:
        return Config(**merged)
    except ValidationError as e:
        first = e.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        about = Config.model_fields[name].description if name in names else ""
        where = origin.get(name, "configuration")
        raise ConfigError(f"{where}: {name} = {merged.get(name)!r}: {first['msg'].lower()} ({about})") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{path}: not valid TOML: {e}") from None
    inner = body.get("handrail", body)
    if not isinstance(inner, dict):
        raise ConfigError(f"{path}: [handrail] must be a table")
    return inner
