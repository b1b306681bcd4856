"""All commands in one app, and what errors turn into."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from handrail import __version__
from handrail.cli import again, live
from handrail.cli import domain as domain_commands
from handrail.cli import model as model_commands
from handrail.cli import runs as runs_commands
from handrail.cli import world as world_commands
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

app.command()(run)
app.command()(plan)
app.command()(check)
app.command()(demo)
app.command()(doctor)
for command in (live.stop, live.answer, live.approve, live.pending, again.replay, again.resume):
    app.command()(command)
app.command(name="eval")(evaluate)
app.command(name="init")(domain_commands.init)
app.add_typer(domain_commands.app, name="domain")
app.add_typer(model_commands.app, name="model")
app.add_typer(runs_commands.app, name="runs")
app.add_typer(world_commands.app, name="world")


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
