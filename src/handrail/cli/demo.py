"""`handrail demo`: the whole line on one request, with a scripted person, one injected failure, and a report. It never waits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from handrail.cli import make
from handrail.cli.config import load
from handrail.cli.run import Narrator, exit_of, headline, report

REQUEST = "Put the milk away, then bring me something to drink."


def demo(
    request: Annotated[str, typer.Argument(help="another request")] = REQUEST,
    world: Annotated[str | None, typer.Option("--world", help="auto, symbolic or mujoco")] = None,
    runs: Annotated[Path, typer.Option(help="folder for the run's record and report")] = Path("runs"),
    seed: Annotated[int, typer.Option(min=0, help="seed of every random choice")] = 0,
    fail: Annotated[bool, typer.Option(help="inject one failure")] = True,
) -> None:
    """Carry out a household request in the embedded simulator, visibly, without waiting for anybody."""
    from handrail.execute.person import Scripted

    console = Console()
    say = Narrator(console)
    settings = load({"domain": "home", "world": world, "runs": str(runs), "seed": seed, "answer_seconds": 5.0})

    def show(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    person = Scripted(
        frozenset({"approve", "goal", "fact", "outcome", "step"}),
        {"put the milk away": "the fridge", "something to drink": "hand the water to alex"},
        say=show,
    )

    def told(stage: str, sentence: str) -> None:
        say(stage, sentence)
        if stage == "card":
            show(sentence)

    runs.mkdir(parents=True, exist_ok=True)
    pictures = runs / ".pictures.html"
    pictures.unlink(missing_ok=True)
    domain, _ = make.load(settings)
    kind = make.world_kind(settings, domain)
    faults: dict[str, object] = {}
    if fail:
        faults = {"5": "shut"} if kind == "mujoco" else {"script": {"3": "slip"}}
    with make.mission(settings, person, told, faults=faults, pictures=pictures) as parts:
        say("handrail", headline(parts))
        if fail:
            what = "somebody pushes the fridge shut while the robot is on its way to it" if kind == "mujoco" else "a grasp slips"
            say("injected", f"one failure: {what}")
        outcome = parts.mission.run(request)
        path = report(parts.mission, outcome, runs, pictures)
    if path is not None:
        say("report", str(path))
    say("again", f"handrail replay {outcome.run}")
    raise typer.Exit(exit_of(outcome.reason))
