"""`handrail world`: try a world adapter of your own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.cli.exits import Exit
from handrail.cli.runs import JsonOption, print_json, say
from handrail.errors import ConfigError

if TYPE_CHECKING:
    from handrail.domain.plan import Step

app = typer.Typer(name="world", help="Worlds: try an adapter of your own.", no_args_is_help=True)


@app.callback()
def _world() -> None:
    """Worlds: try an adapter of your own."""


@app.command("check")
def check(
    factory: Annotated[str, typer.Argument(help="module:name of what makes the world, such as my_robot.world:make")],
    args: Annotated[str, typer.Option("--args", help="keyword arguments for it, as a JSON object")] = "{}",
    step: Annotated[
        list[str] | None, typer.Option("--step", help="a step to try, such as 'go(robot_1, table)'; may be repeated")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="how long a step may take")] = 60.0,
    real: Annotated[bool, typer.Option("--real", help="real things may move for this")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the conformance kit on a world: it will move. Each check that fails says what was found."""
    from handrail.world.conformance import check_world
    from handrail.world.serve import load_factory

    sys.path.insert(0, "")  # a module in this folder, as `python -m` would find it
    try:
        given = json.loads(args)
        world = load_factory(factory)(**given)
    except (ValueError, TypeError) as e:
        raise ConfigError(f"--args does not fit {factory}: {e}") from e
    findings = check_world(world, tuple(read_step(s) for s in step or ()), real, seconds)
    failed = [f for f in findings if f.outcome == "failed"]
    if as_json:
        rows = [{"check": f.check, "outcome": f.outcome, "sentence": f.sentence} for f in findings]
        print_json({"world": world.name, "passed": not failed, "checks": rows})
    else:
        marks = {"passed": "✓", "failed": "✗", "skipped": "–"}
        for f in findings:
            say(f"{marks[f.outcome]} {f.check}" + (f": {f.sentence}" if f.sentence else ""))
        count = sum(f.outcome == "passed" for f in findings)
        say(f"{count} passed, {len(failed)} failed, {len(findings) - count - len(failed)} skipped")
    raise typer.Exit(Exit.REFUSED if failed else Exit.OK)


def read_step(text: str) -> Step:
    """A step from `skill(a, b)`.

    Raises:
        ConfigError: it has another form.
    """
    from handrail.domain.plan import Step

    name, paren, rest = text.strip().partition("(")
    if not paren or not rest.endswith(")") or not name.strip():
        raise ConfigError(f"'{text}' is no step; write it as skill(object, ...)")
    inner = rest[:-1].strip()
    return Step(name.strip(), tuple(a.strip() for a in inner.split(",")) if inner else ())
