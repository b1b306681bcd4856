"""All commands in one app, and what errors turn into."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from handrail import __version__
from handrail.cli import again, calibrate, certify, live, network, runs, tree, world
from handrail.cli import domain as domain_commands
from handrail.cli import model as model_commands
from handrail.cli.demo import demo
from handrail.cli.doctor import doctor
from handrail.cli.evaluate import evaluate
from handrail.cli.exits import TABLE, Exit
from handrail.cli.run import check, plan, run
from handrail.errors import ConfigError, HandrailError, InputError, MissingExtra, ModelError, UnprovenError

app = typer.Typer(
    name="handrail",
    help="From a request to a proven plan to a finished task.",
    epilog=f"Exit codes:\n\n{TABLE}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_LINE = "The line"
_RUNS = "Runs"
_ASKING = "Asking and certifying"
_PARTS = "Parts"

for line in (run, plan, check, demo):
    app.command(rich_help_panel=_LINE)(line)
for command in (live.stop, live.answer, live.approve, live.pending, again.replay, again.resume):
    app.command(rich_help_panel=_RUNS)(command)
app.add_typer(runs.app, name="runs", rich_help_panel=_RUNS)
app.command(rich_help_panel=_ASKING)(calibrate.label)
app.command(rich_help_panel=_ASKING)(calibrate.calibrate)
app.command("decide", rich_help_panel=_ASKING)(calibrate.decide_command)
app.add_typer(certify.certify_app, name="certify", rich_help_panel=_ASKING)
app.add_typer(certify.certificate_app, name="certificate", rich_help_panel=_ASKING)
app.command(rich_help_panel=_ASKING)(certify.judge)
app.command("init", rich_help_panel=_PARTS)(domain_commands.init)
app.add_typer(domain_commands.app, name="domain", rich_help_panel=_PARTS)
app.add_typer(model_commands.app, name="model", rich_help_panel=_PARTS)
app.add_typer(world.app, name="world", rich_help_panel=_PARTS)
app.add_typer(tree.app, name="tree", rich_help_panel=_PARTS)
app.add_typer(network.app, name="network", rich_help_panel=_PARTS)
app.command(rich_help_panel=_PARTS)(doctor)
app.command("eval", rich_help_panel=_PARTS)(evaluate)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """From a request to a proven plan to a finished task."""
    if version:
        typer.echo(f"handrail {__version__}")
        raise typer.Exit(0)


def run_app(argv: list[str] | None = None) -> int:
    """Run a command line; returns its exit code."""
    try:
        app(args=argv)
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else int(Exit.OK if e.code is None else Exit.BROKEN)
    except HandrailError as e:
        Console(stderr=True).print(str(e), markup=False, highlight=False, soft_wrap=True)
        return int(_code(e))
    return int(Exit.OK)


def _code(e: HandrailError) -> Exit:
    if isinstance(e, (InputError, ConfigError)):
        return Exit.USAGE
    if isinstance(e, MissingExtra):
        return Exit.MISSING
    if isinstance(e, ModelError):
        return Exit.MODEL
    if isinstance(e, UnprovenError):
        return Exit.REFUSED
    return Exit.BROKEN
