"""`handrail runs`: list, show, export and prune recorded runs; and what the other commands about runs share."""

from __future__ import annotations

import getpass
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from handrail.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from handrail.record.store import RunInfo, RunStore

app = typer.Typer(name="runs", help="Recorded runs: list, show, export, prune.", no_args_is_help=True)

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="a run's id or its beginning; 'last' for the newest")]
RunsOption = Annotated[Path | None, typer.Option("--runs", help="folder of run records")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="configuration file in place of handrail.toml")]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON for machines")]
ByOption = Annotated[str | None, typer.Option("--by", help="who you are, for the record; your user name by default")]


def store(runs: Path | None, config: Path | None = None) -> RunStore:
    """The run store that the options and the configuration name."""
    from handrail.cli.config import load
    from handrail.record.store import RunStore

    settings = load({"runs": str(runs) if runs is not None else None}, config)
    return RunStore(Path(settings.runs) / "runs.sqlite")


def who(by: str | None) -> str:
    """Who acts, for the record."""
    return by or f"{getpass.getuser()} at another terminal"


def print_json(body: Any) -> None:
    """JSON for machines."""
    typer.echo(json.dumps(body, ensure_ascii=False, indent=2))


def say(text: str) -> None:
    """A line for people, exactly as it is."""
    Console().print(Text(text), soft_wrap=True)


def live(found: RunStore, run: str | None) -> RunInfo:
    """The run that is meant: the one named, or the only one that is running.

    Raises:
        ConfigError: several are running.
        StoreError: none is.
    """
    if run is not None:
        return found.find(run)
    running = found.runs(status="running", limit=20)
    alive = [r for r in running if r.status == "running"]
    if len(alive) == 1:
        return alive[0]
    if not alive:
        with_host = [r for r in running if r.host]
        if len(with_host) == 1:
            return with_host[0]
        raise StoreError(f"no run is going on in {found.path}")
    raise ConfigError(f"several runs are going on; say which: {', '.join(r.id for r in alive)}")


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="how many")] = 20,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """The newest runs."""
    found = store(runs, config).runs(limit)
    if as_json:
        print_json([_info(r) for r in found])
        return
    table = Table("run", "when", "request", "world", "how it went", "events")
    for r in found:
        when = datetime.fromtimestamp(r.created).strftime("%Y-%m-%d %H:%M")
        table.add_row(r.id, when, Text(r.request), r.world, r.ended or r.status, str(r.events))
    Console().print(table)


def _info(r: RunInfo) -> dict[str, Any]:
    return {name: getattr(r, name) for name in r.__dataclass_fields__}


@app.command()
def show(
    run: RunArgument = "last",
    kind: Annotated[str, typer.Option("--kind", help="only events whose kind begins so, such as execute.step")] = "",
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """The events of a run."""
    found = store(runs, config)
    info = found.find(run)
    events = [e for e in found.events(info.id) if e.kind.startswith(kind)]
    if as_json:
        print_json({"run": _info(info), "events": [e.to_json() for e in events]})
        return
    say(f"Run {info.id}: {info.request or 'no request'} · {info.ended or info.status}")
    began = events[0].time if events else 0.0
    for e in events:
        text = json.dumps(e.body, ensure_ascii=False)
        shown = text if len(text) <= 160 else text[:157] + "..."
        Console().print(Text(f"{e.seq:5} {e.time - began:8.3f} s  {e.kind:<20} {shown}"), soft_wrap=True)


@app.command()
def export(
    run: RunArgument,
    out: Annotated[Path, typer.Argument(help="the file to write; .mcap for MCAP, anything else for JSON lines")],
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run as JSON lines or MCAP."""
    from handrail.record.export import to_jsonl, to_mcap

    found = store(runs, config)
    info = found.find(run)
    write = to_mcap if out.suffix == ".mcap" else to_jsonl
    n = write(info, found.events(info.id), out)
    if as_json:
        print_json({"run": info.id, "file": str(out), "events": n})
    else:
        say(f"{n} events of run {info.id} written to {out}")


@app.command()
def prune(
    older_than: Annotated[
        float | None, typer.Option("--older-than", help="remove runs that began more than so many days ago")
    ] = None,
    keep: Annotated[int | None, typer.Option("--keep", help="keep the newest so many in any case")] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="only say what would go")] = False,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove old runs with all their events; one that is still going on is never touched."""
    from handrail.record.retention import prune as remove

    found = remove(store(runs, config), older_than, keep, dry)
    if as_json:
        print_json(
            {"runs": list(found.runs), "events": found.events, "kept_running": list(found.kept_running), "dry_run": dry}
        )
        return
    verb = "would go" if dry else "removed"
    say(
        f"{len(found.runs)} runs with {found.events} events {verb}"
        + (f": {', '.join(found.runs)}" if found.runs else "")
    )
    if found.kept_running:
        say(f"Still going on, so kept: {', '.join(found.kept_running)}")
