"""From a configuration to the parts of a mission: domain, world host, model, person, store."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.cli.config import Config
from handrail.domain.domain import Domain
from handrail.errors import ConfigError, HandrailError, MissingExtra

if TYPE_CHECKING:
    from handrail.decide.calibration import Calibration
    from handrail.domain.state import State
    from handrail.domain.text.scenes import Scene
    from handrail.execute.person import Person
    from handrail.language.model import Model
    from handrail.mission import Mission
    from handrail.record.store import RunStore
    from handrail.world.remote import RemoteHost


def domain_path(config: Config) -> Path:
    """The domain file a configuration names: a path, or a shipped domain's name.

    Raises:
        ConfigError: neither.
    """
    from handrail import domains

    given = Path(config.domain)
    return given if given.is_file() else Path(domains.path(config.domain))


def load(config: Config) -> tuple[Domain, Scene]:
    """The domain with its profile, and the scene."""
    from handrail.domain.files import load_scene

    domain = Domain.load(domain_path(config))
    if config.profile:
        domain = domain.with_profile(config.profile)
    return domain, load_scene(domain, config.scene)


def world_kind(config: Config, domain: Domain) -> str:
    """What `auto` stands for (mujoco or symbolic); otherwise what was asked for."""
    if config.world != "auto":
        return config.world
    has = importlib.util.find_spec("mujoco") is not None and domain.extra.get("physical") is not None
    return "mujoco" if has else "symbolic"


def model_of(config: Config, note: Callable[[str], None] = lambda _: None) -> Model | None:
    """The language model; None for `none`, and for `auto` where none is at hand (which is said, not hidden).

    Raises:
        MissingExtra, ModelError, ConfigError: one that was asked for can't be had.
    """
    from handrail import models

    if config.model == "none":
        return None
    if config.model == "auto":
        try:
            return models.embedded()
        except (MissingExtra, HandrailError) as e:
            note(f"no language model: {e}")
            return None
    if config.model.startswith(("http://", "https://")):
        key = os.environ.get(config.api_key_env)
        return models.endpoint(config.model, config.model_name, key=key)
    return models.named(config.model)


def store_of(config: Config) -> RunStore:
    """The run store in the configured folder."""
    from handrail.record.store import RunStore

    return RunStore(Path(config.runs) / "runs.sqlite")


@contextmanager
def host(
    config: Config,
    domain: Domain,
    faults: Mapping[str, Any] | None = None,
    pictures: Path | None = None,
    view: bool = False,
) -> Iterator[RemoteHost]:
    """A world in a process of its own: it outlives a killed runner, and stops by itself when the lease lapses."""
    from handrail.domain.files import load_scene
    from handrail.world.remote import HostProcess

    kind = world_kind(config, domain)
    args: dict[str, Any] = {
        "domain": str(domain_path(config)),
        "scene": config.scene,
        "profile": config.profile,
        "seed": config.seed,
    }
    if kind == "symbolic":
        factory = "handrail.worlds:host_symbolic"
        args["faults"] = dict(faults or {})
    elif kind == "mujoco":
        factory = "handrail.worlds:host_mujoco"
        args |= {"faults": dict(faults or {}), "pictures": str(pictures) if pictures else None, "view": view}
    elif ":" in kind:
        factory, args = kind, {}
    else:
        raise ConfigError(f"world '{kind}' is not known; valid: auto, symbolic, mujoco, or module:factory of your own")
    if view and kind != "mujoco":
        raise ConfigError(f"--view shows the simulated home; the world '{kind}' has nothing to show")
    with HostProcess(factory, args) as process:
        yield process.connect(load_scene(domain, config.scene).objects)


@dataclass
class Parts:
    """What a command made a mission of, for showing."""

    mission: Mission
    domain: Domain
    model: Model | None
    kind: str


@contextmanager
def mission(
    config: Config,
    person: Person,
    say: Callable[[str, str], None],
    *,
    faults: Mapping[str, Any] | None = None,
    pictures: Path | None = None,
    view: bool = False,
    model_plans: bool = False,
    calibrated: bool = True,
) -> Iterator[Parts]:
    """A mission as the configuration says, its world in a process of its own, its model's answers in the run log."""
    from handrail import worlds
    from handrail.assembly import assemble
    from handrail.execute.budget import Budgets
    from handrail.propose.proposal import Effort

    domain, scene = load(config)
    kind = world_kind(config, domain)
    model = model_of(config, lambda text: say("note", text))
    dry = (worlds.dry_run(),) if kind == "mujoco" and config.dry_run else ()
    calibration = _calibration(config, scene.state, model, say) if calibrated else None
    with host(config, domain, faults, pictures, view) as remote:
        made = assemble(
            domain,
            remote,
            model=model,
            person=person,
            calibration=calibration,
            dry_runs=dry,
            store=store_of(config),
            budgets=Budgets(replans=config.replans, answer_seconds=config.answer_seconds),
            effort=Effort(calls=max(1, min(config.model_calls, 3))),
            model_plans=model_plans,
            say=say,
            seed=config.seed,
            copies=config.copies,
            answer_seconds=config.answer_seconds,
        )
        yield Parts(made, domain, model, kind)


def _calibration(
    config: Config, state: State, model: Model | None, say: Callable[[str, str], None]
) -> Calibration | None:
    """The calibration to use, or None; a shipped one that does not fit is left out, and that is said."""
    from handrail.decide.calibration import Calibration

    if config.calibration is not None:
        return Calibration.load(Path(config.calibration))
    from handrail import calibrations

    decider, why = calibrations.shipped(state, model)
    say("note", why)
    return decider.calibration if decider is not None else None


def read_faults(text: str | None) -> dict[str, Any]:
    """Faults from a command line: JSON.

    Raises:
        ConfigError: not a JSON object.
    """
    if not text:
        return {}
    try:
        body = json.loads(text)
    except ValueError as e:
        raise ConfigError(f'--faults must be a JSON object, such as \'{{"2": "slip"}}\': {e}') from None
    if not isinstance(body, dict):
        raise ConfigError('--faults must be a JSON object, such as \'{"2": "slip"}\'')
    return body
