"""`handrail model`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from handrail import models
from handrail.cli.model import app
from handrail.errors import ConfigError
from handrail.language import weights
from handrail.language.canned import Canned
from handrail.language.cassette import Cassette

RUN = CliRunner()


def test_list_tells_what_is_here(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(weights, "locate", lambda name, cache=None: None)
    rows = json.loads(RUN.invoke(app, ["list", "--json"]).output)["models"]
    assert rows[0]["name"] == "smollm2-135m" and rows[0]["path"] is None and rows[0]["licence"] == "Apache-2.0"
    assert "handrail model pull" in RUN.invoke(app, ["list"], env={"COLUMNS": "200"}).output


def test_pull_of_an_unknown_model_says_what_is_valid() -> None:
    result = RUN.invoke(app, ["pull", "gpt-9"])
    assert result.exit_code == 2 and "smollm2-135m" in result.output and "Traceback" not in result.output


def test_probe_of_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    Cassette(path, Canned(["hi"], name="m"), "record")
    found = json.loads(RUN.invoke(app, ["probe", f"replay:{path}", "--json"]).output)
    assert found["fingerprint"]["model"] == "m" and found["capabilities"]["chat"] is True
    assert "keeps to a JSON schema" in RUN.invoke(app, ["probe", f"replay:{path}"]).output


def test_probe_of_nothing() -> None:
    result = RUN.invoke(app, ["probe", "nonsense"])
    assert result.exit_code == 2 and "names no model" in result.output


def test_named_models(tmp_path: Path) -> None:
    endpoint = models.named("http://127.0.0.1:9/v1#llama3")
    assert endpoint.fingerprint.model == "llama3"
    with pytest.raises(ConfigError, match="Valid: embedded"):
        models.named("gpt")
    told: list[Any] = []
    watched = models.watched(models.canned(["hi"]), told.append)
    tape = models.cached(tmp_path / "a.jsonl", watched)
    from handrail.language.records import Message

    assert tape.chat((Message("user", "x"),)).text == "hi" and len(told) == 1
    assert models.named(f"replay:{tmp_path / 'a.jsonl'}").chat((Message("user", "x"),)).text == "hi"
