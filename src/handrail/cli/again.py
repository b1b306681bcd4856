"""`handrail replay` and `resume`: a run from its record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from handrail.cli.exits import Exit
from handrail.cli.runs import ConfigOption, JsonOption, RunArgument, RunsOption, print_json, say, store
from handrail.errors import ConfigError, StoreError, WorldError

if TYPE_CHECKING:
    from handrail.cli.config import Config
    from handrail.domain.types import Objects
    from handrail.world.remote import RemoteHost


def replay(
    run: RunArgument = "last",
    domain: Annotated[
        Path | None, typer.Option("--domain", "-d", help="the domain, where the record has no text of it")
    ] = None,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take every decision of a run again from its record alone, without model, simulator or person, and compare."""
    from handrail.domain import Domain
    from handrail.execute.replay import replay as again
    from handrail.execute.replay import sections
    from handrail.replaying import replay_preparation

    found = store(runs, config)
    info = found.find(run)
    given = Domain.load(domain) if domain is not None else None
    events = found.events(info.id)
    before = replay_preparation(events, given)
    parts = sections(events)
    results = [again(s, given) for s in parts]
    same = not before.diverged and all(r.same for r in results)
    body = {
        "run": info.id,
        "same": same,
        "before_the_approval": {"decisions": before.decisions, "diverged": before.diverged},
        "executions": [
            {
                "decisions": r.decisions,
                "ended": r.outcome.reason if r.outcome else "",
                "sentence": r.outcome.sentence if r.outcome else "",
                "diverged": r.diverged,
            }
            for r in results
        ],
    }
    if as_json:
        print_json(body)
    else:
        if before.diverged:
            say(f"Not the same before the approval: {before.diverged}")
        else:
            say(f"The same, {before.decisions} events from the request to the proven plan.")
        if not parts:
            say(f"Run {info.id} has no execution: nothing moved in it.")
        for r in results:
            if r.diverged:
                say(f"Not the same: {r.diverged}")
            elif r.outcome is None:
                say(f"The same, {r.decisions} decisions, to where the record breaks off: handrail resume {info.id}")
            else:
                say(f"The same, all {r.decisions} decisions. {r.outcome.sentence}")
    raise typer.Exit(Exit.OK if same else Exit.REFUSED)


def resume(
    run: RunArgument = "last",
    yes: Annotated[
        str, typer.Option("--yes", help="say yes without asking, by commas: approve, fact, outcome, step")
    ] = "",
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run whose process was killed: look first, and repeat nothing whose effect is there."""
    from handrail import worlds
    from handrail.check import Pipeline
    from handrail.cli import run as running
    from handrail.cli.config import load
    from handrail.execute.packed import unpack_scene
    from handrail.execute.replan import PlannerFirst
    from handrail.execute.replay import resume as go_on
    from handrail.execute.replay import sections
    from handrail.execute.runner import Runner
    from handrail.record.log import RunLog
    from handrail.solve.astar import solve

    found = store(runs, config)
    info = found.find(run)
    parts = sections(found.events(info.id))
    if not parts:
        raise StoreError(
            f'run {info.id} was killed before anything could move; start it again: handrail run "{info.request}"'
        )
    section = parts[-1]
    if section.ended:
        raise StoreError(f"run {info.id} has ended ({section.ended}); there is nothing to go on with")
    objects = unpack_scene(section.begin["scene"])
    settings = load({"runs": str(runs) if runs is not None else None}, config)
    console = Console(stderr=as_json)
    who = running.person(settings, yes, console)
    control = found.path.parent / "control"
    control.mkdir(mode=0o700, parents=True, exist_ok=True)
    with RunLog(found, info.id) as log, host_again(settings, objects, info.host) as host:
        found.update_run(info.id, status="running")
        with Runner(host, log, who, control=control) as runner, runner.ctrl_c():
            ran = {layer["layer"] for layer in section.begin["verdict"]["layers"]}
            dry = (worlds.dry_run(),) if "physics" in ran and runner.host.capabilities.forks else ()
            outcome = go_on(section, runner, PlannerFirst(solve), Pipeline(dry, runner.notary))
            runner.trace("run.end", {"reason": outcome.reason, "sentence": outcome.sentence})
        found.update_run(info.id, status="ended", ended=outcome.reason)
    if as_json:
        print_json(
            {"run": info.id, "reason": outcome.reason, "sentence": outcome.sentence, "spent": outcome.spent.to_json()}
        )
    else:
        say(outcome.sentence)
    raise typer.Exit(running.exit_of(outcome.reason))


@contextmanager
def host_again(settings: Config, objects: Objects, path: str) -> Iterator[RemoteHost]:
    """The world host of a run that was killed, where it still waits; otherwise a new one as the configuration says.

    Raises:
        ConfigError: the old host is gone, and the configuration names another domain than the run's.
    """
    from handrail.cli import make
    from handrail.world.remote import RemoteHost

    try:
        old = RemoteHost(path, objects) if path else None
    except WorldError:
        old = None
    if old is not None:
        try:
            yield old
        finally:
            old.quit()
        return
    domain, _ = make.load(settings)
    if domain.fingerprint != objects.domain.fingerprint:
        raise ConfigError(
            f"the run's world is gone, and the configuration names the domain '{domain.name}', which is not the run's; "
            "give the run's configuration with --config"
        )
    with make.host(settings, domain) as fresh:
        yield fresh
