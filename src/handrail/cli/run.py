"""`handrail run`, `plan` and `check`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from handrail.cli import make
from handrail.cli.config import Config, load
from handrail.cli.exits import Exit
from handrail.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from handrail.execute.card import Card
    from handrail.execute.person import Answer, Deadline, Person, Question, Reply
    from handrail.mission import Outcome, Prepared

DomainOption = Annotated[str | None, typer.Option("--domain", "-d", help="domain file, or home, office, tabletop")]
SceneOption = Annotated[str | None, typer.Option("--scene", help="scene of the domain file")]
WorldOption = Annotated[str | None, typer.Option("--world", help="auto, symbolic, mujoco, or module:factory")]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="auto, none, embedded, replay:FILE, or an endpoint's URL")
]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="robot cost profile")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="seed of every random choice")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="configuration file in place of handrail.toml")]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON for machines")]
ModelPlansOption = Annotated[
    bool, typer.Option("--model-plans", help="let the model write plans too; the checks are the same")
]

_EXITS = {
    "DONE": Exit.OK,
    "ALREADY": Exit.OK,
    "PLANNED": Exit.OK,
    "REFUSED": Exit.REFUSED,
    "IMPOSSIBLE": Exit.REFUSED,
    "NO_PLAN": Exit.HANDED_OVER,
    "UNANSWERED": Exit.UNANSWERED,
    "NOT_APPROVED": Exit.UNANSWERED,
    "UNCLEAR": Exit.HANDED_OVER,
    "STOPPED": Exit.STOPPED,
}


def exit_of(reason: str) -> Exit:
    """The exit code of an outcome's reason; every other end of an execution is a hand-over to a person."""
    return _EXITS.get(reason, Exit.HANDED_OVER)


class Narrator:
    """Shows what happens, in the layout of the run: a stage, then a sentence."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self.console = console
        self.quiet = quiet

    def __call__(self, stage: str, sentence: str) -> None:
        """One line of the run; cards are shown by whoever approves."""
        if not self.quiet and stage != "card":
            self.console.print(f"[bold]{stage.capitalize():<10}[/bold]", end="")
            self.console.print(sentence, markup=False, highlight=False, soft_wrap=True)


def run(
    request: Annotated[str, typer.Argument(help='what you want, such as "put the milk away"')],
    domain: DomainOption = None,
    scene: SceneOption = None,
    world: WorldOption = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    yes: Annotated[
        str, typer.Option("--yes", help="say yes without asking, by commas: approve, goal, fact, outcome, step")
    ] = "",
    faults: Annotated[str | None, typer.Option("--faults", help="faults of the simulated world, as JSON")] = None,
    model_plans: ModelPlansOption = False,
    view: Annotated[bool, typer.Option("--view", help="open the simulator's viewer; needs a screen")] = False,
    as_json: JsonOption = False,
) -> None:
    """Understand a request, prove a plan for it, and carry it out.

    Ctrl-C stops the robot first and the program second. `handrail stop`, `answer` and `approve` work from another terminal.
    """
    options = {"domain": domain, "scene": scene, "world": world, "model": model, "profile": profile, "seed": seed}
    settings = load(options, config)
    console = Console(stderr=as_json)
    say = Narrator(console)
    who = person(settings, yes, console)
    folder = Path(settings.runs)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = folder / ".pictures.html"
    pictures.unlink(missing_ok=True)
    with make.mission(
        settings, who, say, faults=make.read_faults(faults), pictures=pictures, view=view, model_plans=model_plans
    ) as parts:
        say("handrail", headline(parts))
        outcome = parts.mission.run(request)
        path = report(parts.mission, outcome, folder, pictures)
    if path is not None:
        say("report", str(path))
    if outcome.run:
        say("again", f"handrail replay {outcome.run}")
    if as_json:
        print_json(outcome_json(outcome, path))
    raise typer.Exit(exit_of(outcome.reason))


def headline(parts: make.Parts) -> str:
    """One line that says what runs: domain, robots, model, world."""
    robots = ", ".join(parts.mission.world.capabilities.robots)
    name = parts.model.fingerprint.model if parts.model is not None else "none"
    return f"{parts.domain.name} · robot: {robots} · model: {name} · world: {parts.kind}"


class Announcer:
    """Nobody is at this terminal: says what is asked and how to answer it from another one."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """Shows the question; the answer comes from elsewhere or not at all."""
        choices = f" ({' / '.join(question.choices)})" if question.choices else ""
        self._show(
            f"{question.sentence}{choices}\n  Answer within {deadline.left():.0f} s from another terminal: handrail answer"
        )
        return None

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - one shape for all
        """Shows the card; the approval comes from elsewhere or not at all."""
        self._show(f"{card.text}\n  Approve within {deadline.left():.0f} s from another terminal: handrail approve")
        return None


@dataclass(frozen=True)
class Then:
    """One person, and where that one has no answer at once, another."""

    first: Person
    second: Person

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """The first's answer, else the second's."""
        return self.first.answer(question, deadline) or self.second.answer(question, deadline)

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:
        """The first's reply, else the second's."""
        return self.first.approve(card, proof_id, deadline) or self.second.approve(card, proof_id, deadline)


def person(settings: Config, yes: str, console: Console) -> Person:
    """Who answers: a stated policy first, where there is one, then the terminal if there is one."""
    from handrail.execute.person import Scripted, Terminal

    kinds = {k.strip() for k in yes.split(",") if k.strip()}
    if settings.approve == "yes":
        kinds.add("approve")

    def show(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    terminal: Person = Terminal(say=show) if sys.stdin.isatty() else Announcer(show)
    if not kinds:
        return terminal
    scripted = Scripted(frozenset(kinds), say=show, name="--yes")
    return Then(scripted, terminal)


def report(mission: Any, outcome: Outcome, folder: Path, pictures: Path) -> Path | None:
    """Write the run's report; None where nothing was recorded."""
    from handrail.report import write_report

    if mission.store is None or not outcome.run:
        return None
    shown = pictures.read_text(encoding="utf-8") if pictures.exists() else ""
    pictures.unlink(missing_ok=True)
    return write_report(mission.store, outcome.run, folder / outcome.run / "report.html", shown)


def outcome_json(outcome: Outcome, path: Path | None) -> dict[str, Any]:
    """An outcome for machines."""
    return {
        "reason": outcome.reason,
        "done": outcome.done,
        "sentence": outcome.sentence,
        "run": outcome.run,
        "goal": str(outcome.understood.goal) if outcome.understood and outcome.understood.goal else None,
        "questions": outcome.understood.asked if outcome.understood else 0,
        "plan": [list(s.key) for s in outcome.verified.steps] if outcome.verified else None,
        "proof_id": outcome.verified.proof_id if outcome.verified else None,
        "spent": outcome.execution.spent.to_json() if outcome.execution else None,
        "seconds": round(outcome.seconds, 3),
        "report": str(path) if path else None,
    }


def plan(
    request: Annotated[str, typer.Argument(help="what you want")],
    domain: DomainOption = None,
    scene: SceneOption = None,
    world: WorldOption = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    goal: Annotated[
        str | None, typer.Option("--goal", help="a goal in the domain language; the request is then only a label")
    ] = None,
    yes: Annotated[str, typer.Option("--yes", help="kinds of question to answer with the first choice")] = "",
    model_plans: ModelPlansOption = False,
    as_json: JsonOption = False,
) -> None:
    """Understand a request and prove a plan for it. Nothing moves."""
    options = {"domain": domain, "scene": scene, "world": world, "model": model, "profile": profile, "seed": seed}
    settings = load(options, config)
    console = Console(stderr=as_json)
    say = Narrator(console)
    with make.mission(settings, person(settings, yes, console), say, model_plans=model_plans) as parts:
        if goal is not None:
            from handrail.domain.text import parse_goal
            from handrail.mission import fixed_goal

            fixed_goal(parts.mission, parse_goal(goal, parts.domain, make.load(settings)[1].objects))
        made = parts.mission.plan(request)
        if as_json:
            print_json(prepared_json(made))
        elif made.verified is not None:
            from handrail.execute.card import make_card

            console.print(make_card(made.verified, made.state.values).text, markup=False, highlight=False)
        else:
            say(made.reason.lower().replace("_", " "), made.sentence)
    raise typer.Exit(Exit.OK if made.verified is not None else exit_of(made.reason))


def prepared_json(made: Prepared) -> dict[str, Any]:
    """A prepared request for machines."""
    verified = made.verified
    return {
        "reason": made.reason or "PLANNED",
        "sentence": made.sentence,
        "goal": str(verified.goal) if verified else None,
        "plan": [{"skill": s.skill, "args": list(s.args)} for s in verified.steps] if verified else None,
        "cost": verified.cost if verified else None,
        "choice": made.choice.figures if made.choice else None,
        "proof_id": verified.proof_id if verified else None,
        "verdict": verified.verdict.to_json() if verified else None,
    }


def check(
    file: Annotated[Path, typer.Argument(help="a plan as JSON, the way a model writes it; - for standard input")],
    domain: DomainOption = None,
    scene: SceneOption = None,
    goal: Annotated[str | None, typer.Option("--goal", help="what it must reach, in the domain language")] = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a plan against skills and rules, and against a goal if one is given."""
    from handrail.check import Declined, Pipeline, read_plan
    from handrail.domain.goal import Goal
    from handrail.domain.text import parse_goal
    from handrail.domain.verdict import LayerResult, Verdict

    settings = load({"domain": domain, "scene": scene, "profile": profile}, config)
    made, where = make.load(settings)
    text = sys.stdin.read() if str(file) == "-" else _read(file)
    wanted = parse_goal(goal, made, where.objects) if goal else Goal()
    read = read_plan(text, where.objects, max_steps=settings.max_steps, source="file")
    if isinstance(read, Declined):
        raise ConfigError(
            f"{file} holds no plan but {'a question' if read.kind == 'ask' else 'a refusal'}: {read.text}"
        )
    if isinstance(read, LayerResult):
        verdict = Verdict(False, (read,), ("symbolic", "physics"))
    else:
        verdict = Pipeline().verify(read, where.state, wanted).verdict
    if as_json:
        print_json(verdict.to_json())
    else:
        console = Console()
        for r in (*verdict.reasons, *verdict.flags):
            at = f"{file}:{r.line}:{r.column}  " if r.line else ""
            console.print(
                f"{at}{r.sentence}" + (f"  {r.hint}" if r.hint else ""), markup=False, highlight=False, soft_wrap=True
            )
        names = ", ".join(verdict.unchecked) or "nothing"
        console.print("Accepted." if verdict.accepted else "Refused.", f"Not checked: {names}.", highlight=False)
    raise typer.Exit(Exit.OK if verdict.accepted else Exit.REFUSED)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"the plan {file} can't be read: {e}") from None


def print_json(body: Any) -> None:
    """JSON on standard output, nothing else."""
    sys.stdout.write(json.dumps(body, indent=1, ensure_ascii=False, default=str) + "\n")
