"""`handrail eval NAME`: every figure in the README comes from one of these."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from handrail.errors import ConfigError, did_you_mean

EVALS: dict[str, str] = {
    "planbench": "33,378 recorded model plans, parsed and checked against PlanBench's labels",
    "virtualhome": "5,130 recorded household answers of 15 models, read without losing a step",
    "saycan": "SayCan's 99 published plans against the office kitchen",
    "safety": "refusals and false refusals on recorded unsafe and safe requests; rules against random plans",
    "kills": "the runner killed at 200 random points and resumed: nothing repeated, no event lost",
    "loop": "closed loop with failure injection",
    "approaches": "the same home requests by model plan, chosen goal, and SayCan",
    "home": "the physical home: cases, pick and place, requests with faults",
    "foon": "111 FOON files: read, merged, every goal retrieved with proof",
    "consolidate": "several imperfect plans against one: recipes, PlanBench, our domains",
    "network_stats": "commonest motions, ingredients, utensils and states; retrieval with and without FOON",
    "coverage": "simulated deployments: do the guarantees hold as they are worded",
    "logits": "conformal sets on real option logits of three models",
    "knowno": "KnowNo's comparison with the embedded model",
    "task": "the certificate: error rates, other methods, alarms",
    "task_home": "a certificate of the whole line in the physical home, and whether it holds on fresh tasks",
    "fuzz": "a million mutated model outputs through reading and checking",
    "mutation": "mutation testing of domain, check and execute",
}


APART = ("fuzz", "mutation")
"""Left out of `all`: they take long and read no recorded data."""


def names() -> list[str]:
    """Evaluations that are installed."""
    found = []
    for name in EVALS:
        try:
            if importlib.util.find_spec(f"handrail.evaluate.{name}") is not None:
                found.append(name)
        except ModuleNotFoundError:
            continue
    return found


def evaluate(
    name: Annotated[str, typer.Argument(help="which evaluation; 'all' for every one; 'list' to see them")],
    data: Annotated[
        Path | None, typer.Option(envvar="HANDRAIL_DATA", help="folder with planbench/, virtualhome_eval/ ...")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="a smaller run, under a minute on two cores")] = False,
    seed: Annotated[int, typer.Option(min=0, help="every random choice derives from it")] = 0,
    model: Annotated[str | None, typer.Option(help="language model, where one is used")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="worker processes at most")] = 1,
    out: Annotated[Path | None, typer.Option(help="also write dated JSON with the machine into this folder")] = None,
    cache: Annotated[Path, typer.Option(help="folder for results of expensive calls")] = Path("eval-cache"),
    as_json: Annotated[bool, typer.Option("--json", help="print JSON for machines")] = False,
) -> None:
    """Measure something, on recorded data or in simulation."""
    console = Console(stderr=True)
    if name == "list":
        for n in names():
            typer.echo(f"{n:12} {EVALS[n]}")
        return
    chosen = [n for n in names() if n not in APART] if name == "all" else [name]
    results: dict[str, Any] = {}
    for n in chosen:
        if n not in names():
            raise ConfigError(f"there is no evaluation '{n}'.{did_you_mean(n, set(names()))}")
        started = time.monotonic()
        results[n] = _one(n, console, data, quick, seed, model, jobs, cache)
        if out is not None:
            from handrail.evaluate.options import save

            console.print(f"written: {save(out, n, results[n])}")
        console.print(f"[dim]{n}: {time.monotonic() - started:.1f} s[/dim]")
    if as_json:
        shown = results[chosen[0]] if len(chosen) == 1 else results
        sys.stdout.write(json.dumps(shown, indent=1, sort_keys=True, default=str) + "\n")
        return
    for n, result in results.items():
        _show(n, result)


def _one(
    n: str, console: Console, data: Path | None, quick: bool, seed: int, model: str | None, jobs: int, cache: Path
) -> dict[str, Any]:
    from handrail.evaluate.options import EvalOptions

    module = importlib.import_module(f"handrail.evaluate.{n}")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal or bool(os.environ.get("CI"))
    ) as bar:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(f"{n}: {what}", total=total)
            bar.update(tasks[what], completed=done, total=total)

        options = EvalOptions(data=data, seed=seed, quick=quick, model=model, cache=cache, jobs=jobs, progress=progress)
        result: dict[str, Any] = module.run(options)
    return result


def _show(name: str, result: dict[str, Any]) -> None:
    """Scalars first, then lists of records as tables."""
    console = Console()
    plain = Table(title=name, show_header=False, title_justify="left")
    for key, value in result.items():
        if isinstance(value, dict) and all(not isinstance(v, (dict, list)) for v in value.values()):
            plain.add_row(key, ", ".join(f"{k} {_short(v)}" for k, v in value.items()))
        elif not isinstance(value, (dict, list)):
            plain.add_row(key, _short(value))
    console.print(plain)
    for key, value in result.items():
        rows = value
        if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
            rows = [{key: k, **v} for k, v in value.items()]
        if isinstance(rows, list) and rows and all(isinstance(r, dict) for r in rows):
            table = Table(title=key, title_justify="left")
            columns = list(dict.fromkeys(c for r in rows for c in r))
            for c in columns:
                table.add_column(c)
            for r in rows[:200]:
                table.add_row(*(_short(r.get(c, "")) for c in columns))
            console.print(table)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."
