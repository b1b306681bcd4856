"""The commands of `handrail certify` and `handrail certificate` that take recorded runs.

handrail certify begin FOLDER --cluster 'hall, 3 May' --request '...' --meant '...'     before a run: it counts from here on
handrail certify end FOLDER EPISODE --run RUN                                           after it
handrail certificate deploy FOLDER                                                      start watching a certified robot
handrail certificate follow FOLDER                                                      take the runs since the last time
handrail certificate audit FOLDER RUN                                                   the result of an audit
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from handrail.cli.certify import Folder, certificate_app, certify_app
from handrail.cli.exits import Exit
from handrail.decide.certificate import CertificateFolder, Ended, Episode, Status
from handrail.decide.certificate.runs import facts_of
from handrail.decide.drift import AuditPlan
from handrail.decide.drift.deployment import Deployment
from handrail.errors import ConfigError
from handrail.record.store import RunStore

Store = Annotated[Path | None, typer.Option(help="the run store; handrail's usual one by default")]


@certify_app.command("begin")
def begin(
    folder: Folder,
    cluster: Annotated[str, typer.Option(help="what this run shares with others: room, person, day")],
    meant: Annotated[str, typer.Option(help="what the person means, written down before the run, for the judge")],
    request: Annotated[str, typer.Option(help="what the person says")] = "",
    group: Annotated[str, typer.Option(help="the part of the tasks it belongs to, where groups were declared")] = "",
) -> None:
    """Write that an episode starts; whatever happens then, it counts. Prints its id."""
    where = CertificateFolder(folder)
    declared, log = where.declaration(), where.log()
    if group not in (declared.groups or ("",)):
        raise ConfigError(
            f"--group must be one of {', '.join(declared.groups) or '(none was declared)'}; got '{group}'"
        )
    name = f"e{len(log.episodes()) + 1}"
    log.start(Episode(name, cluster, declared.collecting, declared.components, request, meant, group))
    typer.echo(name)


@certify_app.command("end")
def end(
    folder: Folder,
    episode: Annotated[str, typer.Argument(help="the id that `begin` gave")],
    run: Annotated[str, typer.Option(help="the recorded run, or the beginning of its id; leave out for a crash")] = "",
    store: Store = None,
) -> None:
    """Write how an episode ended, from its run's log; without a run it counts as failed."""
    where = CertificateFolder(folder)
    if not run:
        where.log().end(episode, Ended.FAILED, why="watchdog: no run was recorded")
        typer.echo(f"{episode}: failed, no run was recorded")
        return
    runs = RunStore(store)
    facts = facts_of(runs.events(runs.find(run).id), where.declaration().collecting.ask)
    where.log().end(
        episode, facts.ended, why=facts.why, asks=facts.asks, trace=facts.trace, first_tries=facts.first_tries
    )
    typer.echo(f"{episode}: {facts.ended}{', ' + facts.why if facts.why else ''}")


@certificate_app.command("deploy")
def deploy(
    folder: Folder,
    audits: Annotated[float, typer.Option(help="share of tasks audited after the first")] = 0.1,
    first: Annotated[int, typer.Option(min=0, help="tasks that are all audited at first")] = 60,
) -> None:
    """Start watching a certified robot: detectors on all streams, random audits."""
    where = CertificateFolder(folder)
    found = [c for c in where.certificates() if c.status is Status.CERTIFIED]
    if len(found) != 1:
        raise ConfigError(f"{folder} has {len(found)} certificates that hold; exactly one is watched in a folder")
    log = where.log().episodes()
    episodes = [e for e in log if not found[0].group or e.group == found[0].group][: found[0].declaration.episodes]
    made = Deployment.begin(folder, found[0], episodes, AuditPlan(secrets.token_hex(8), audits, first))
    typer.echo(f"Watching {len(made.monitor.streams)} streams. Run with: {made.monitor.setting.text()}.")


@certificate_app.command("follow")
def follow(folder: Folder, store: Store = None) -> None:
    """Take the finished runs since the last time; says which are to be audited, and when the certificate is suspended."""
    deployed, runs = Deployment(folder), RunStore(store)
    ask = deployed.monitor.setting.ask
    held = deployed.monitor.holds
    since = datetime.fromisoformat(deployed.monitor.certificate.made).timestamp()
    # A broken run (its process is gone) is finished too: the watchdog counts it as failed.
    found = [r for r in runs.runs(limit=100_000) if r.created > since and r.status != "running"]
    fresh = [r for r in reversed(found) if r.id not in deployed.runs]
    for r in fresh:
        audited, _ = deployed.task(r.id, facts_of(runs.events(r.id), ask))
        if audited:
            typer.echo(f"audit: {r.id}  (handrail certificate audit {folder} {r.id})")
    typer.echo(f"{len(fresh)} new runs, {len(deployed.runs)} in all, {len(deployed.pending)} audits to be carried out.")
    if deployed.monitor.suspension is not None:
        typer.echo(deployed.monitor.suspension.sentence)
        if held:
            raise typer.Exit(Exit.REFUSED)


@certificate_app.command("audit")
def audit(
    folder: Folder,
    run: Annotated[str, typer.Argument(help="the run that was drawn")],
    as_meant: Annotated[
        bool | None,
        typer.Option(
            "--as-meant/--not-as-meant", help="leave out where it could not be carried out: it counts as lost"
        ),
    ] = None,
) -> None:
    """Take the result of an audit: did this run end as the person meant, nothing broken, nothing else moved?"""
    found = Deployment(folder).audit(run, as_meant)
    typer.echo("written" if found is None else found.sentence)
