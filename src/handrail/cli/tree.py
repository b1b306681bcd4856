"""`handrail tree`: read, check, show, convert, edit and make task trees."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.cli.exits import Exit
from handrail.errors import ConfigError

if TYPE_CHECKING:
    from handrail.network.document import Document
    from handrail.network.model import TaskTree
    from handrail.network.units import UnitCheck

app = typer.Typer(name="tree", help="Task trees: read, check, show, convert, edit, make.", no_args_is_help=True)
network_app = typer.Typer(
    name="network", help="Networks of task trees: merge, retrieve, measure.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
File = Annotated[Path, typer.Argument(help="A task tree: FOON text or JSON.")]
Files = Annotated[
    list[Path], typer.Argument(help="Task trees or folders of them; 'shipped' for the ones that came along.")
]
Base = Annotated[
    list[Path] | None, typer.Option("--knowledge", "-k", help="Known-good trees that transitions are learned from.")
]


class View(StrEnum):
    """How a tree can be shown."""

    LINES = "lines"
    UNITS = "units"
    SVG = "svg"
    MERMAID = "mermaid"
    GRAPHVIZ = "graphviz"


class Form(StrEnum):
    """What a tree can be written as."""

    FOON = "foon"
    NUMBERED = "foon-numbered"
    PLAIN = "foon-plain"
    JSON = "json"
    PAPER = "paper-json"
    BT = "behavior-tree"


def print_json(body: Any) -> None:
    """For machines."""
    typer.echo(json.dumps(body, ensure_ascii=False, indent=1))


def _read(path: Path) -> Document:
    from handrail.network.document import read

    return read(path)


def trees_of(paths: list[Path]) -> list[TaskTree]:
    """Trees of files, folders and the shipped set."""
    from handrail.network.document import read_all
    from handrail.network.library import shipped

    found: list[TaskTree] = []
    for path in paths:
        if str(path) == "shipped":
            found.extend(shipped())
        else:
            found.extend(d.tree for d in read_all([path]))
    return found


def _check(knowledge: list[Path] | None, strict: bool = False) -> UnitCheck:
    from handrail.network.library import shipped
    from handrail.network.transitions import Transitions
    from handrail.network.units import UnitCheck

    return UnitCheck(Transitions.learn(trees_of(knowledge) if knowledge else shipped()), strict)


@app.command()
def show(
    file: File,
    view: Annotated[View, typer.Option(help="How to show it.")] = View.LINES,
    tools: Annotated[bool, typer.Option("--tools", help="Also rows of tools and containers.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write it to a file.")] = None,
    as_json: Json = False,
) -> None:
    """Show a tree: progress lines, units, an SVG drawing, or a graph."""
    from handrail.network import graphs, lines, svg

    tree = _read(file).tree
    rows = lines.lines_of(tree)
    if as_json:
        text = json.dumps(lines.to_json(rows, tools), ensure_ascii=False, indent=1) + "\n"
    elif view is View.LINES:
        text = lines.text(rows, tools) + "\n"
    elif view is View.UNITS:
        text = "".join(f"{k + 1:3}  {unit}\n" for k, unit in enumerate(tree.units))
    elif view is View.SVG:
        text = svg.svg(rows, tools)
    elif view is View.MERMAID:
        text = graphs.mermaid(tree)
    else:
        text = graphs.graphviz(tree)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


@app.command()
def check(
    files: Files,
    knowledge: Base = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="What the knowledge base lacks is wrong (the paper's rule).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge every unit: syntax, states, conservation, transitions; list repairs and missing steps.

    Ends with code 3 where a unit is wrong.
    """
    from handrail.network.document import read_all
    from handrail.network.names import DATA
    from handrail.network.units import Status, gaps

    judge = _check(knowledge, strict)
    body: list[dict[str, Any]] = []
    for document in read_all(DATA / "trees" if str(f) == "shipped" else f for f in files):
        verdicts = [judge.judge(u) for u in document.units]
        missing = gaps(document.tree)
        body.append(
            {
                "file": document.tree.name,
                "units": len(verdicts),
                "verdicts": [
                    {"unit": k + 1, "status": v.status.value, "sentence": v.sentence}
                    for k, v in enumerate(verdicts)
                    if v.status is not Status.GOOD
                ],
                "missing_steps": [g.text for g in missing],
                "repairs": [str(f) for f in document.found if f.lost],
            }
        )
    if as_json:
        print_json(body)
    for item in () if as_json else body:
        typer.echo(f"{item['file']}: {item['units']} units")
        for line in (*item["repairs"], *(v["sentence"] for v in item["verdicts"]), *item["missing_steps"]):
            typer.echo(f"  {line}")
    if any(v["status"] == Status.WRONG.value for item in body for v in item["verdicts"]):
        raise typer.Exit(Exit.REFUSED)


@app.command()
def review(
    file: File,
    knowledge: Base = None,
    right: Annotated[
        list[int] | None, typer.Option("--right", help="Mark this line as right; may be repeated.")
    ] = None,
    wrong: Annotated[list[int] | None, typer.Option("--wrong", help="Mark this line as wrong.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask about each line that is not marked yet.")] = False,
    as_json: Json = False,
) -> None:
    """Progress lines for a person to judge; those that look wrong by rule are pointed out first.

    Marks are kept beside the file. A recipe is right where every line is. Ends with code 3 where a line is marked wrong.
    """
    from handrail.network import marks
    from handrail.network.edits import review as rows_of
    from handrail.network.lines import lines_of, text

    tree = _read(file).tree
    rows = lines_of(tree)
    bad = dict(rows_of(rows, _check(knowledge), tree))
    said = marks.load(file, tree)
    new = {**dict.fromkeys(right or (), True), **dict.fromkeys(wrong or (), False)}
    shown = dict(zip((k for k, _ in rows.shown()), text(rows).splitlines(), strict=True))
    if ask:
        for k in said.with_(new, rows).open(rows):
            typer.echo(shown[k] + (f"\n  looks wrong: {bad[k]}" if k in bad else ""), err=True)
            new[k] = typer.confirm("Right?", default=k not in bad, err=True)
    if new:
        said = said.with_(new, rows)
        marks.save(file, said)
    whole = said.right(rows)
    if as_json:
        print_json(
            {
                "lines": len(shown),
                "doubtful": [{"line": k, "why": w} for k, w in sorted(bad.items())],
                "marked": {str(k): v for k, v in sorted(said.lines.items())},
                "right": whole,
            }
        )
    else:
        for k, line in shown.items():
            sign = {True: "+", False: "-", None: "?" if k in bad else " "}[said.lines.get(k)]
            typer.echo(f"{sign} {k:3}  {line}")
            if k in bad:
                typer.echo(f"         {bad[k]}")
        for k in sorted(bad.keys() - shown.keys()):
            typer.echo(f"? {k:3}  {rows.lines[k].name}: {bad[k]}")
        open_lines = len(said.open(rows))
        typer.echo({True: "right", False: "wrong", None: f"{open_lines} lines to look at"}[whole])
    if whole is False:
        raise typer.Exit(Exit.REFUSED)


@app.command()
def convert(
    file: File,
    to: Annotated[Form, typer.Option(help="What to write.")] = Form.FOON,
    out: Annotated[Path | None, typer.Option(help="Write it to a file.")] = None,
) -> None:
    """Write a tree in another format; what the format can't hold is listed on standard error."""
    from handrail.network import behaviortree, foon_json, foon_write

    document = _read(file)
    lost: tuple[Any, ...] = ()
    if to in (Form.JSON, Form.PAPER):
        text, lost = foon_json.dumps(document.tree, extended=to is Form.JSON)
    elif to is Form.BT:
        text = behaviortree.of_tree(document.tree)
    else:
        dialect: foon_write.Dialect = "numbered" if to is Form.NUMBERED else "plain" if to is Form.PLAIN else "named"
        text = foon_write.dumps(document.tree, dialect, document.ids)
    for item in lost:
        typer.echo(str(item), err=True)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


@app.command()
def edit(
    file: File,
    line: Annotated[int, typer.Option(help="Number of the progress line (see `review`).")],
    cell: Annotated[int, typer.Option(help="Which cell or motion of the line, from 0.")] = 0,
    state: Annotated[str | None, typer.Option(help="New states, separated by commas.")] = None,
    place: Annotated[str | None, typer.Option(help="New place, e.g. cup.")] = None,
    motion: Annotated[str | None, typer.Option(help="New motion.")] = None,
    product: Annotated[str | None, typer.Option(help="New name of the end product.")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the motion.")] = False,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Go on although lines join or lose their beginning.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the edited tree here (FOON text).")] = None,
) -> None:
    """Edit a progress line; what changed, who else changes and what the checks say is listed."""
    from handrail.network import foon_write
    from handrail.network.edits import Edit, Field, apply

    given = [name for name, on in (("state", state is not None), ("place", place is not None), ("motion", motion is not None),
                                   ("product", product is not None), ("delete", delete)) if on]  # fmt: skip
    if len(given) != 1:
        raise ConfigError(f"give exactly one of --state, --place, --motion, --product, --delete; got {given or 'none'}")
    what = {"state": Field.STATE, "place": Field.PLACE, "motion": Field.MOTION, "product": Field.END_PRODUCT,
            "delete": Field.DELETE}[given[0]]  # fmt: skip
    states = tuple(s.strip() for s in (state or "").split(",") if s.strip())
    made = Edit(what, line, cell, states, place or "", motion=motion or "", name=product or "")
    done = apply(_read(file).tree, made, _check(None), confirm)
    for change in done.changes:
        typer.echo(f"unit {change.unit + 1}")
        typer.echo(f"  - {change.before}")
        typer.echo(f"  + {change.after}")
    for k in done.also:
        typer.echo(f"also changes: line {k}")
    for verdict in done.verdicts:
        typer.echo(f"check: {verdict.sentence}")
    for gap in done.gaps:
        typer.echo(f"missing: {gap.text}")
    if out is not None:
        out.write_text(foon_write.dumps(done.tree), encoding="utf-8")


@app.command()
def make(
    request: Annotated[str, typer.Argument(help="What is wanted, e.g. 'make a banana smoothie'.")],
    folder: Annotated[Path, typer.Option(help="Where to write the trees.")] = Path("trees"),
    count: Annotated[int, typer.Option(min=1, max=50, help="How many answers to ask for.")] = 5,
    model: Annotated[str, typer.Option(help="'embedded', or the URL of an OpenAI-compatible endpoint.")] = "embedded",
    name: Annotated[str, typer.Option(help="The model's name at the endpoint.")] = "",
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.7,
    seed: int = 0,
) -> None:
    """Several task trees for a request, made by a language model: one file each."""
    from handrail.language.embedded import Embedded
    from handrail.language.endpoint import Endpoint
    from handrail.network.foon_json import dumps
    from handrail.network.generate import generate

    asked = Embedded() if model == "embedded" else Endpoint(model, name)
    made = generate([asked], request, count, temperature, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for k, one in enumerate(made.trees):
        path = folder / f"{k + 1}.json"
        path.write_text(dumps(one.tree)[0], encoding="utf-8")
        typer.echo(f"{path}: {len(one.tree.units)} units, given {one.votes} times; {one.way}")
    for way, why in made.failed:
        typer.echo(f"no tree for '{way}': {why}", err=True)
    if not made.trees:
        raise typer.Exit(Exit.REFUSED)
