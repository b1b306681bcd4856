"""`handrail domain`: check a domain file, show it, write it in another form; `handrail init`: a commented one to start from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from handrail.cli.exits import Exit
from handrail.errors import ConfigError, DomainError, HandrailError

if TYPE_CHECKING:
    from handrail.domain import Domain

app = typer.Typer(name="domain", help="Check a domain file, show it, write it as YAML or PDDL.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Which = Annotated[str, typer.Argument(help="A domain file (YAML or PDDL), or a shipped one: home, office, tabletop.")]


class Form(StrEnum):
    """What a domain can be written as."""

    YAML = "yaml"
    PDDL = "pddl"


@contextmanager
def _plainly() -> Iterator[None]:
    """A mistake of the user's ends the command with its sentence, never with a stack trace."""
    try:
        yield
    except (DomainError, ConfigError) as e:
        Console(stderr=True).print(Text(str(e)), soft_wrap=True)
        raise typer.Exit(Exit.USAGE) from None
    except HandrailError as e:
        Console(stderr=True).print(Text(str(e)), soft_wrap=True)
        raise typer.Exit(Exit.BROKEN) from None


def _print(body: Any) -> None:
    typer.echo(json.dumps(body, ensure_ascii=False, indent=2))


@app.command()
def lint(
    files: Annotated[list[str], typer.Argument(help="Domain files, or names of shipped domains.")],
    strict: Annotated[
        bool, typer.Option("--strict", help=f"End with code {int(Exit.REFUSED)} where there is a warning.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read domain files with all their scenes: mistakes with line and column, then warnings about what won't do what it should."""
    from handrail.domain.lint import lint_file
    from handrail.domains import find

    reports: list[dict[str, Any]] = []
    out = Console()
    for name in files:
        try:
            domain, warnings = lint_file(find(name))
        except (DomainError, ConfigError) as e:
            reports.append({"file": name, "ok": False, "errors": _errors(e), "warnings": []})
            if not as_json:
                out.print(Text(str(e)), soft_wrap=True)
            continue
        reports.append({"file": name, "ok": True, "errors": [], "warnings": [w.to_json() for w in warnings]})
        if not as_json:
            for w in warnings:
                out.print(Text(str(w)), soft_wrap=True)
            n = f"{len(warnings)} warning{'' if len(warnings) == 1 else 's'}" if warnings else "nothing to say"
            out.print(Text(f"{name}: {len(domain.skills)} skills, {len(domain.fluents)} fluents; {n}"), soft_wrap=True)
    if as_json:
        _print({"files": reports})
    if not all(r["ok"] for r in reports):
        raise typer.Exit(Exit.USAGE)
    if strict and any(r["warnings"] for r in reports):
        raise typer.Exit(Exit.REFUSED)


def _errors(e: DomainError | ConfigError) -> list[dict[str, Any]]:
    where = e.where
    place = {"file": where.source, "line": where.line, "column": where.column} if where else {}
    return [{**place, "message": line} for line in e.message.splitlines()[:1]] + [
        {"message": line} for line in e.message.splitlines()[1:]
    ]


@app.command()
def show(which: Which, as_json: Json = False) -> None:
    """What a domain says: skills with needs and effects, fluents, objects, safety, scenes."""
    from handrail.domain.files import load_domain
    from handrail.domains import find

    with _plainly():
        domain = load_domain(find(which))
        if as_json:
            _print(summary(domain))
            return
        _show(domain, Console())


def summary(domain: Domain) -> dict[str, Any]:
    """A domain as plain data, every condition and effect as its text."""
    from handrail.domain.files import load_scene, scene_names
    from handrail.domain.formula import FALSE, TRUE

    def approval(c: object) -> str:
        return "always" if c == TRUE else "never" if c == FALSE else str(c)

    return {
        "domain": domain.name,
        "fingerprint": domain.fingerprint,
        "types": {
            t.name: {"is": t.parent, "attributes": [a.name for a in t.attributes]} for t in domain.types.values()
        },
        "fluents": [str(x) for x in domain.fluents.values()],
        "derived": [str(x) for x in domain.derived.values()],
        "objects": {o.name: {"is": o.type, **o.attributes} for o in domain.constants},
        "skills": {
            s.name: {
                "says": s.says,
                "with": {p.name: " | ".join(p.types) for p in s.params},
                "needs": [str(n) for n in s.needs],
                "makes": [str(m) for m in s.makes],
                "cost": {k or "default": v for k, v in s.cost.base.items()},
                "plus": [f"{factor:g} * {call}" for factor, call in s.cost.terms],
                "approval": approval(s.approval),
                "on_stop": str(s.on_stop),
                "repeatable": s.repeatable,
                "asks": s.asks,
                "speed": s.speed,
                "force": s.force,
                "duration": s.duration,
            }
            for s in domain.skills.values()
        },
        "safety": {
            "limits": dict(domain.safety.limits),
            "rules": [str(r) for r in domain.safety.rules],
            "forbid": [str(f) for f in domain.safety.forbid],
            "no_go": list(domain.safety.no_go),
        },
        "scenes": {n: [r.say for r in load_scene(domain, n).requests] for n in scene_names(domain)},
    }


def _show(domain: Domain, out: Console) -> None:
    body = summary(domain)
    out.print(Text(f"{domain.name}  {domain.extra.get('about', '')}".rstrip()), style="bold")
    for name, skill in body["skills"].items():
        params = ", ".join(f"{p}: {t}" for p, t in skill["with"].items())
        costs = (
            ", ".join(f"{k} {v:g}" for k, v in skill["cost"].items() if k != "default")
            or f"{skill['cost']['default']:g}"
        )
        out.print(Text(f"\n{name}({params})"), style="bold cyan")
        table = Table.grid(padding=(0, 2))
        rows = [("says", skill["says"]), ("needs", "\n".join(skill["needs"])), ("makes", "\n".join(skill["makes"]))]
        rows += [("cost", " + ".join([costs, *skill["plus"]])), ("approval", skill["approval"])]
        for label, text in rows:
            if text:
                table.add_row(Text(f"  {label}", style="dim"), Text(text))
        out.print(table)
    for title, lines in (
        ("Fluents", [*body["fluents"], *body["derived"]]),
        ("Objects", [f"{n}: {o['is']}" for n, o in body["objects"].items()]),
        (
            "Never",
            [*body["safety"]["rules"], *body["safety"]["forbid"], *(f"no-go: {p}" for p in body["safety"]["no_go"])],
        ),
        ("Limits", [f"{q} {v:g} {'m/s' if q == 'speed' else 'N'}" for q, v in body["safety"]["limits"].items()]),
        ("Scenes", [f"{n}: {len(r)} requests" for n, r in body["scenes"].items()]),
    ):
        if lines:
            out.print(Text(f"\n{title}"), style="bold")
            for line in lines:
                out.print(Text(f"  {line}"), soft_wrap=True)


@app.command()
def export(
    which: Which,
    to: Annotated[Form, typer.Option(help="yaml, or pddl for any planner.")] = Form.YAML,
    scene: Annotated[
        str | None, typer.Option(help="pddl: a problem for each request of this scene, with its domain.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; pddl: a folder. Default: standard output.")] = None,
) -> None:
    """Write a domain as YAML, or as PDDL that other planners read."""
    from handrail.domain.files import load_domain
    from handrail.domain.text.writing import write_domain
    from handrail.domains import find

    with _plainly():
        domain = load_domain(find(which))
        files = {f"{domain.name}.yaml": write_domain(domain)} if to is Form.YAML else _pddl(domain, scene)
        for name, text in files.items():
            if out is None:
                typer.echo(text.rstrip())
                continue
            target = out if to is Form.YAML else out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            Console(stderr=True).print(Text(f"wrote {target}"), soft_wrap=True)


def _pddl(domain: Domain, scene: str | None) -> dict[str, str]:
    """The domain and, for each request of a scene that has a goal, a problem; what PDDL can't say goes to standard error."""
    from handrail.domain import Task
    from handrail.domain.files import load_scene
    from handrail.domain.pddl import write_domain as domain_to_pddl
    from handrail.domain.pddl import write_task

    err = Console(stderr=True)
    if scene is None:
        written = domain_to_pddl(domain)
        _notes(written.notes, err)
        return {f"{domain.name}.pddl": written.domain}
    found = load_scene(domain, scene)
    requests = [r for r in found.requests if r.goal is not None]
    if not requests:
        raise ConfigError(f"the scene '{scene}' has no request with a goal, so there is no problem to write")
    out: dict[str, str] = {}
    for i, r in enumerate(requests, 1):
        written = write_task(Task(found.objects, r.goal), found.state)
        _notes(written.notes, err)
        stem = f"{domain.name}-{scene}-{i:02}"
        out[f"{stem}-domain.pddl"] = written.domain
        out[f"{stem}-problem.pddl"] = f"; {r.say}\n{written.problem}"
    return out


def _notes(notes: tuple[str, ...], err: Console) -> None:
    for note in notes:
        err.print(Text(f"left out: {note}"), soft_wrap=True)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a domain file's frame, for editors."""
    from handrail.domain.schema import PATH

    typer.echo(PATH.read_text(encoding="utf-8").rstrip())


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("robot.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a commented domain file to start from."""
    from handrail.domains import path

    with _plainly():
        if file.exists() and not force:
            raise ConfigError(f"{file} is there already; choose another name, or --force to overwrite it")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(path("starter").read_text(encoding="utf-8"), encoding="utf-8")
        except OSError as e:
            raise ConfigError(f"can't write {file}: {e.strerror or e}") from None
    out = Console()
    out.print(Text(f"Wrote {file}."), soft_wrap=True)
    out.print(Text(f"Check it:  handrail domain lint {file}"), soft_wrap=True)
    out.print(Text(f'Plan with it:  handrail plan --domain {file} "Put the cup away."'), soft_wrap=True)
