"""`handrail model`: get the embedded model, see what an endpoint can do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from handrail.errors import HandrailError

app = typer.Typer(name="model", help="Get the embedded model; find out what a model can do.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="Which model.")] = "smollm2-135m",
    cache: Annotated[Path | None, typer.Option(help="Cache folder; the user's by default.")] = None,
    as_json: Json = False,
) -> None:
    """Download a model into the cache and verify its sha256; does nothing when it is there."""
    from handrail.language import weights

    console = Console(stderr=True)
    with _plainly():
        path = weights.pull(name, cache, say=lambda text: console.print(text, highlight=False))
    model = weights.known(name)
    if as_json:
        _print({"name": name, "path": str(path), "sha256": model.sha256, "licence": model.licence})


@app.command("list")
def list_models(
    cache: Annotated[Path | None, typer.Option(help="Cache folder; the user's by default.")] = None,
    as_json: Json = False,
) -> None:
    """The models that can be pulled, and which are on this machine."""
    from handrail.language import weights

    rows = []
    for name, model in sorted(weights.KNOWN.items()):
        path = weights.locate(name, cache)
        rows.append({
            "name": name, "megabytes": round(model.size / 1e6), "licence": model.licence, "sha256": model.sha256,
            "package": f"{model.package} {model.version}", "path": str(path) if path else None,
        })  # fmt: skip
    if as_json:
        _print({"models": rows})
        return
    table = Table("model", "MB", "licence", "from", "on this machine")
    for row in rows:
        there = row["path"] or f"no: handrail model pull {row['name']}"
        table.add_row(*(str(row[k]) for k in ("name", "megabytes", "licence", "package")), str(there))
    Console().print(table)


@app.command()
def probe(
    model: Annotated[str, typer.Argument(help="embedded, FILE.gguf or http(s)://HOST/v1[#NAME].")] = "embedded",
    refresh: Annotated[bool, typer.Option(help="Ask again, even where an earlier result is kept.")] = False,
    as_json: Json = False,
) -> None:
    """What a model really does: log-probabilities, logit bias, JSON schemas, tokens, letter bias."""
    from dataclasses import replace

    from handrail import models
    from handrail.language.endpoint import Endpoint
    from handrail.language.probe import letter_bias, probed
    from handrail.language.records import data_of

    with _plainly():
        chosen = models.named(model)
        try:
            if isinstance(chosen, Endpoint):
                can = probed(chosen, refresh=refresh)
            else:
                can = chosen.capabilities()
                if can.letters and not can.letter_bias:
                    can = replace(can, letter_bias=letter_bias(chosen))
            mark = chosen.fingerprint
        finally:
            chosen.close()
    found = {"fingerprint": {**data_of(mark), "digest": mark.digest}, "capabilities": data_of(can)}
    if as_json:
        _print(found)
        return
    table = Table("what", "found", title=f"{mark.model}  ({mark.digest})")
    table.add_row("writes answers", _yes(can.chat))
    table.add_row("keeps to a JSON schema", _yes(can.json_schema))
    table.add_row("lists next tokens", f"up to {can.top_logprobs}" if can.top_logprobs else "no")
    table.add_row("likelihood of given texts", can.likelihoods or "no")
    table.add_row("logit bias", {"pre": "steers; log-probabilities without it", "post": "steers; log-probabilities with it",
                                 "none": "no effect", "unknown": "not known"}[can.logit_bias])  # fmt: skip
    table.add_row("shows its tokens", _yes(can.tokenise))
    shares = " ".join(f"{letter} {share:.2f}" for letter, share in zip("ABCDE", can.letter_bias, strict=False))
    table.add_row("letter bias (0.20 each is none)", shares or "not known")
    for note in can.notes:
        table.add_row("note", note)
    Console().print(table)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _print(data: Any) -> None:
    typer.echo(json.dumps(data, indent=1, sort_keys=True))


class _plainly:  # noqa: N801 - reads as a statement
    """A person's mistake or a model's failure gets a sentence and exit code 2, not a stack trace."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, HandrailError):
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from error
