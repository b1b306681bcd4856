"""`handrail doctor`: what is installed, what works, what is missing and the exact command that cures it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from handrail.cli.config import Config, load
from handrail.errors import HandrailError


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        part: what was looked at.
        state: "ok", "missing" or "broken".
        says: what was found.
        cure: the command that helps; empty where nothing is wrong.
    """

    part: str
    state: str
    says: str
    cure: str = ""


_EXTRAS: tuple[tuple[str, str, str, str], ...] = (
    ("mujoco", "mujoco", "sim", "the physical home and dry-runs"),
    ("xllamacpp", "xllamacpp", "local", "the embedded language model"),
    ("openai", "openai", "endpoint", "OpenAI-compatible endpoints"),
    ("highspy", "highspy", "network", "exact retrieval in large networks"),
    ("ortools", "ortools", "network", "exact retrieval in large networks"),
    ("lemminflect", "lemminflect", "network", "names in singular form"),
    ("matplotlib", "matplotlib", "plots", "plots"),
    ("mcap", "mcap", "mcap", "MCAP export"),
    ("fastapi", "fastapi", "web", "the review page"),
    ("unified_planning", "unified-planning", "planners", "other planning engines"),
)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "?"


def _extras() -> list[Finding]:
    out = []
    for module, package, extra, use in _EXTRAS:
        if importlib.util.find_spec(module) is None:
            out.append(Finding(package, "missing", f"for {use}", f"pip install 'handrail[{extra}]'"))
        else:
            out.append(Finding(package, "ok", f"{_version(package)}, for {use}"))
    return out


def _guard(part: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except HandrailError as e:
        return Finding(part, "broken", str(e))


def _python() -> Finding:
    version = platform.python_version()
    return Finding("python", "ok", f"{version} on {platform.system()} {platform.machine()}")


def _weights() -> Finding:
    from handrail.language.weights import locate

    found = locate()
    if found is None:
        return Finding("embedded model", "missing", "no weights on this machine", "handrail model pull")
    return Finding("embedded model", "ok", f"{found}")


def _rendering() -> Finding:
    if importlib.util.find_spec("mujoco") is None:
        return Finding("rendering", "missing", "needs mujoco", "pip install 'handrail[sim]'")
    from handrail.world.mujoco.painter import explain

    backend, why = explain()
    if backend is None:
        return Finding("rendering", "missing", why, "apt-get install libegl1 libgl1-mesa-dri")
    return Finding("rendering", "ok", why)


def _tools() -> list[Finding]:
    out = []
    for tool, use, cure in (
        ("espeak-ng", "spoken questions", "apt-get install espeak-ng"),
        ("chromium", "tests of the review page", "apt-get install chromium"),
    ):
        where = shutil.which(tool)
        out.append(Finding(tool, "ok" if where else "missing", f"for {use}", "" if where else cure))
    return out


def _endpoint(config: Config) -> list[Finding]:
    if not config.model.startswith(("http://", "https://")):
        return []
    from handrail import models
    from handrail.language.probe import probed

    try:
        chosen = models.endpoint(config.model, config.model_name, key=os.environ.get(config.api_key_env))
        can = probed(chosen)
    except HandrailError as e:
        return [
            Finding(config.model, "broken", str(e), "check the address, that the server runs, and the model's name")
        ]
    shares = " ".join(f"{letter} {share:.2f}" for letter, share in zip("ABCDE", can.letter_bias, strict=False))
    yes = [
        ("answers", can.chat, "writes answers"),
        ("json_schema", can.json_schema, "keeps to a JSON schema"),
        ("next tokens", bool(can.top_logprobs), f"lists up to {can.top_logprobs} next tokens"),
        ("likelihoods", bool(can.likelihoods), f"likelihood of given texts: {can.likelihoods or 'no'}"),
        ("letter bias", bool(shares), shares or "not known"),
    ]
    return [Finding(f"endpoint: {name}", "ok" if good else "missing", says) for name, good, says in yes]


def examine(config: Config) -> list[Finding]:
    """Look at everything."""
    found = [_python(), *_extras(), _guard("embedded model", _weights), _guard("rendering", _rendering), *_tools()]
    return found + _endpoint(config)


def doctor(
    model: Annotated[str | None, typer.Option(help="URL of an endpoint to probe")] = None,
    model_name: Annotated[str | None, typer.Option(help="the model's name at that endpoint")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON for machines")] = False,
) -> None:
    """Say what is installed and what works, and give the command that cures what doesn't."""
    config = load({"model": model, "model_name": model_name})
    findings = examine(config)
    if as_json:
        body: list[dict[str, Any]] = [asdict(f) for f in findings]
        sys.stdout.write(json.dumps({"version": _version("handrail"), "findings": body}, indent=1) + "\n")
    else:
        table = Table(title=f"handrail {_version('handrail')}", title_justify="left")
        for name in ("part", "", "found", "cure"):
            table.add_column(name)
        mark = {"ok": "✓", "missing": "–", "broken": "✗"}
        for f in findings:
            table.add_row(f.part, mark[f.state], f.says, f.cure)
        Console().print(table)
    if any(f.state == "broken" for f in findings):
        raise typer.Exit(1)
