"""`handrail label`, `handrail calibrate`, `handrail decide`: from requests to decisions with a promise."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from handrail.errors import ConfigError, ParseError, Where

if TYPE_CHECKING:
    from handrail.decide.goal_calibration import Labelled, Likelihood, Made
    from handrail.domain import State
    from handrail.domain.option import Option
    from handrail.language.model import Model

app = typer.Typer(help="Label requests, calibrate on them, decide.", no_args_is_help=True)

DomainOption = Annotated[str, typer.Option(help="A domain file, or a shipped one: home.")]
SceneOption = Annotated[str | None, typer.Option(help="A scene of the domain; its first by default.")]
ModelOption = Annotated[str, typer.Option(help="none, embedded, FILE.gguf, or an endpoint's URL.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def scene_of(domain: str, scene: str | None) -> State:
    """The start state of a domain's scene."""
    from handrail import domains
    from handrail.domain import Domain
    from handrail.domain.files import load_scene

    file = domains.path(domain) if domain in domains.NAMES else Path(domain)
    return load_scene(Domain.load(file), scene).state


def model_of(name: str) -> Model | None:
    """The model of that name; None for "none"."""
    from handrail import models

    return None if name == "none" else models.named(name)


def read_labels(path: Path) -> list[Labelled]:
    """Labels that `handrail label` wrote.

    Raises:
        ParseError: not such a file; the message has the line.
    """
    from handrail.decide.goal_calibration import Labelled

    out: dict[str, Labelled] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            body = json.loads(line)
            key, request = str(body["key"]), str(body["request"])
            out[key] = Labelled(key, request, frozenset(map(str, body["right"])), str(body.get("group", "")))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ParseError(f"not a label: {error}", Where(str(path), number)) from error
    return list(out.values())


@app.command()
def label(
    out: Annotated[Path, typer.Argument(help="Labels are added to this file, one JSON line each.")],
    requests: Annotated[Path | None, typer.Option(help="One request per line; generated ones by default.")] = None,
    domain: DomainOption = "home",
    scene: SceneOption = None,
    n: Annotated[int, typer.Option(min=1, help="How many generated requests.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the generated requests and the order of the options.")] = 0,
) -> None:
    """Say what requests mean, in the terminal; stop and go on whenever you like."""
    from handrail.evaluate.scenarios.home import Home
    from handrail.intent.symbolic import SymbolicReader

    state = scene_of(domain, scene)
    reader = SymbolicReader(state)
    if requests is not None:
        texts = [t.strip() for t in requests.read_text(encoding="utf-8").splitlines() if t.strip()]
        todo = [(f"{requests.stem}-{i}", text, "") for i, text in enumerate(texts)]
    else:
        todo = [(s.key, s.request, s.category) for s in Home(state).generate(n, seed)]
    there = {one.key for one in read_labels(out)} if out.exists() else set()
    done = label_loop(
        [(key, text, group) for key, text, group in todo if key not in there],
        lambda text: reader.read(text),
        out,
        sys.stdin.readline,
        Console(),
        len(there),
        len(todo),
    )
    Console().print(f"{done} labelled now, {len(there) + done} of {len(todo)} in {out}")


def label_loop(
    todo: Sequence[tuple[str, str, str]],
    read: Callable[[str], Sequence[Option]],
    out: Path,
    answer: Callable[[], str],
    console: Console,
    before: int = 0,
    total: int = 0,
) -> int:
    """Ask about each request until the person stops; each label is on disk before the next question.

    Args:
        todo: (key, request, group).
        read: the options for a request.
        out: labels are appended here.
        answer: gives the person's next line; '' at the end of input.
        console: where to ask.
        before: labels that were there.
        total: of all requests.

    Returns:
        How many were labelled.
    """
    from handrail.intent.scores.letters import LABELS

    done = 0
    console.print(
        "Letters of all that would do (such as a or ac) · enter: none of these · s: skip · q: stop", style="dim"
    )
    for key, text, group in todo:
        options = [o for o in read(text) if not o.is_not_listed]
        letters = LABELS[: len(options)]
        console.print(f"\n[bold]{text}[/bold]   ({before + done + 1} of {total})", highlight=False)
        for letter, option in zip(letters, options, strict=True):
            console.print(f"  {letter.lower()}  {option.text}", highlight=False)
        began = time.monotonic()
        while True:
            line = answer()
            said = line.strip().upper()
            if line == "" or said == "Q":
                return done
            if said == "S" or all(c in letters for c in said):
                break
            console.print(f"Letters of {letters[0].lower()} to {letters[-1].lower()}, or s or q.")
        if said == "S":
            continue
        right = sorted({options[letters.index(c)].key for c in said})
        row = {
            "key": key,
            "request": text,
            "right": right,
            "group": group,
            "seconds": round(time.monotonic() - began, 1),
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        done += 1
    return done


def recorded(state: State, model: Model, cache: Path) -> tuple[Likelihood, Callable[[], None]]:
    """The model's numbers, kept in a file as they come, so that a second run does not ask again; and what saves the rest."""
    from handrail.evaluate.recordings import Recorder
    from handrail.evaluate.scenarios.scenario import Scenario
    from handrail.intent.scores.texts import value_of
    from handrail.intent.symbolic import SymbolicReader
    from handrail.language.records import TextScore

    recorder = Recorder(model, cache)
    candidates = SymbolicReader(state).candidates

    def score(one: Labelled, context: Any, options: Sequence[Option]) -> list[float]:
        right = sorted(one.right & {o.key for o in candidates})
        scenario = Scenario(
            one.key, "home", one.group, context.scene, one.request, candidates,
            right[0] if right else "not-listed", frozenset(right),
        )  # fmt: skip
        record = recorder.record(scenario, options)
        pairs = zip(record.after, record.before, strict=True)
        return [value_of("pmi", TextScore("", a[0], int(a[1])), TextScore("", b[0], int(b[1])))[0] for a, b in pairs]

    return score, recorder.save


@app.command()
def calibrate(
    out: Annotated[Path, typer.Argument(help="The calibration file to write.")],
    labels: Annotated[
        Path | None, typer.Option(help="Labels by `handrail label`; generated requests by default.")
    ] = None,
    domain: DomainOption = "home",
    scene: SceneOption = None,
    model: ModelOption = "none",
    n: Annotated[int, typer.Option(min=41, help="How many generated requests.")] = 460,
    epsilon: Annotated[str, typer.Option(help="Accepted share of misses.")] = "0.15",
    delta: Annotated[str, typer.Option(help="Accepted chance of an unlucky calibration; 'none': on average.")] = "0.01",
    tuning: Annotated[int, typer.Option(min=20, help="Requests that fit the weights.")] = 60,
    by_group: Annotated[bool, typer.Option("--by-group", help="A threshold for each kind of request.")] = False,
    most_help: Annotated[
        float | None, typer.Option(min=0.01, max=0.99, help="Also promise that at most this share is asked about.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the generated requests.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a page with plots here.")] = None,
    plots: Annotated[Path | None, typer.Option(help="Write the plots as PNG into this folder.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Keep the model's numbers here and reuse them.")] = None,
    as_json: Json = False,
) -> None:
    """Calibrate decisions on labelled requests, and say what may be promised."""
    console = Console(stderr=True)
    given = [
        ("--labels", labels), ("--domain", domain), ("--model", model), ("--epsilon", epsilon), ("--delta", delta),
    ]  # fmt: skip
    command = " ".join(
        ["handrail calibrate", *(f"{k} {v}" for k, v in given if v is not None), f"--n {n} --seed {seed}"]
    )
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("scoring", total=None)
        made = make(
            scene_of(domain, scene), model_of(model), labels, n, seed, epsilon, None if delta == "none" else delta,
            tuning, by_group, cache, command, lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    if most_help is not None:
        made = _with_help_limit(made, epsilon, most_help, delta)
    made.calibration.save(out)
    if report is not None or plots is not None:
        from handrail.decide.plots import page, pictures

        images = pictures(made.calibration, made.cases)
        if plots is not None:
            plots.mkdir(parents=True, exist_ok=True)
            for name, data in images.items():
                (plots / f"{name}.png").write_bytes(data)
        if report is not None:
            report.write_text(page(made.calibration, images), encoding="utf-8")
    if as_json:
        body = {"file": str(out), "promise": made.calibration.promise(), "threshold": _threshold(made)}
        sys.stdout.write(json.dumps(body, indent=1) + "\n")
        return
    console.print(made.calibration.promise(), highlight=False)
    console.print(f"written: {out}")


def _with_help_limit(made: Made, epsilon: str, most_help: float, delta: str) -> Made:
    """The calibration under a joint limit; ends the command where it can't be met."""
    from handrail.cli.exits import Exit
    from handrail.decide.goal_calibration import Made
    from handrail.decide.limits import Case, Limits, NotMet, jointly

    method = made.calibration.method
    cases = [
        Case.of(method.strangeness(c.probabilities), method.case_score(c.probabilities, c.right), c.other)
        for c in made.cases
    ]
    found = jointly(made.calibration, cases, Limits(epsilon, most_help, "0.05" if delta == "none" else delta))
    if isinstance(found, NotMet):
        Console(stderr=True).print(f"Refused: {found.sentence}.", highlight=False)
        raise typer.Exit(Exit.REFUSED)
    return Made(found, made.cases)


def _threshold(made: Made) -> Any:
    calibration = made.calibration
    if calibration.groups is None:
        return calibration.threshold()
    return {g: str(calibration.threshold(g)) for g in sorted(set(calibration.groups))}


def make(
    state: State,
    model: Model | None,
    labels: Path | None,
    n: int,
    seed: int,
    epsilon: str,
    delta: str | None,
    tuning: int,
    by_group: bool,
    cache: Path | None,
    command: str,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """What `handrail calibrate` does, without files of its own but the cache."""
    from handrail.decide.goal_calibration import Labelled
    from handrail.decide.goal_calibration import calibrate as calibrated
    from handrail.evaluate.scenarios.home import Home

    if labels is not None:
        cases = read_labels(labels)
    else:
        cases = [Labelled(s.key, s.request, s.acceptable, s.category) for s in Home(state).generate(n, seed)]
    likelihood: Likelihood | None = None
    save: Callable[[], None] | None = None
    if model is not None and cache is not None:
        likelihood, save = recorded(state, model, cache)
    made = calibrated(
        state, cases, model, epsilon, delta, tuning=tuning, by_group=by_group, likelihood=likelihood,
        notes={"command": command, "labels": "a person's" if labels else "generated, with known truth"}, progress=progress,
    )  # fmt: skip
    if save is not None:
        save()
    return made


@app.command("decide")
def decide_command(
    request: Annotated[str, typer.Argument(help="What the person says.")],
    domain: DomainOption = "home",
    scene: SceneOption = None,
    calibration: Annotated[Path | None, typer.Option(help="A calibration file; the shipped one by default.")] = None,
    model: ModelOption = "none",
    as_json: Json = False,
) -> None:
    """What handrail would do with a request, and why; nothing moves."""
    from handrail.calibrations import shipped
    from handrail.decide.calibration import Calibration
    from handrail.decide.goals import GoalDecider
    from handrail.decide.policy import Ask

    state, chosen = scene_of(domain, scene), model_of(model)
    said = ""
    if calibration is not None:
        decider: GoalDecider | None = GoalDecider(state, Calibration.load(calibration), chosen)
    else:
        decider, said = shipped(state, chosen)
    if decider is None:
        raise ConfigError(f"{said} Make one: handrail calibrate FILE --domain {domain}")
    found = decider.decide(request)
    made = found.decision
    kind = type(made).__name__.lower()
    question = made.question if isinstance(made, Ask) else None
    if as_json:
        body = {
            "decision": kind, "reason": made.reason.value, "sentence": made.sentence,
            "set": [{"goal": o.key, "text": o.text} for o in made.options], "probabilities": list(made.probabilities),
            "question": question.sentence if question else None, "promise": decider.calibration.promise(),
        }  # fmt: skip
        sys.stdout.write(json.dumps(body, indent=1) + "\n")
        return
    console = Console()
    console.print(f"[bold]{kind}[/bold]   {made.sentence}", highlight=False)
    if question is not None:
        console.print(f"Question   {question.sentence}", highlight=False)
    table = Table("reading", "probability", "in the set")
    kept = {o.key: p for o, p in zip(made.options, made.probabilities, strict=True)}
    for option in found.options:
        mark = "; ".join(m.sentence for m in option.marks)
        shown = f"{kept[option.key]:.2f}" if option.key in kept else ""
        table.add_row(option.text + (f" ({mark})" if mark else ""), shown, "yes" if option.key in kept else "")
    console.print(table)
    console.print(decider.calibration.promise(), style="dim", highlight=False)
