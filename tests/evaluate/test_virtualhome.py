"""Recorded household answers lose no step, and a made-up archive shows that the counts can fail."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from handrail.errors import ConfigError
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.virtualhome import run, steps_of
from handrail.language.reading import read

PROMPT = """
Supported Actions List:
WALK: (1, [[]]) # Move towards something
OPEN: (1, [['CAN_OPEN']]) # Open
PUTIN: (2, [['GRABBABLE'], ['CAN_OPEN']]) # Insert
STANDUP: (0, []) # Stand up

Input:
The relevant objects in the scene are:
Objects in the scene:
character, id: 65, properties: []
fridge, id: 1, properties: ['CAN_OPEN', 'CONTAINERS']
milk, id: 2, properties: ['GRABBABLE']
-----------------
"""


def archive(path: Path, files: dict[str, object]) -> None:
    with tarfile.open(path, "w:xz") as tar:
        for name, content in files.items():
            data = json.dumps(content).encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def folder(tmp_path: Path, answers: list[str]) -> EvalOptions:
    home = tmp_path / "virtualhome_eval"
    home.mkdir()
    prompts = [{"identifier": str(i), "llm_prompt": PROMPT} for i in range(len(answers))]
    archive(home / "prompts.tar.xz", {"evaluation/action_sequence/prompts/helm_prompts.json": prompts})
    rows = [{"identifier": str(i), "llm_output": text} for i, text in enumerate(answers)]
    name = "./llm_response/action_sequence/m_outputs.json"
    archive(home / "llm_responses_15models_4modules.tar.xz", {name: rows, "./other/x.json": []})
    return EvalOptions(data=tmp_path)


def test_counts_and_problems(tmp_path: Path) -> None:
    result = run(folder(tmp_path, [
        '{"WALK": ["fridge"], "OPEN": ["fridge"], "WALK": ["milk"], "PUTIN": ["milk", "fridge"], "STANDUP": []}',
        "```json\n{'FLY': ['fridge'], 'OPEN': ['milk'], 'OPEN': ['door'], 'OPEN': [], 'PUTIN': [['milk', 2], 'fridge']}",
        "{}",
        "}",
        '{"WALK": ["fridge"] "OPEN": ["fridge"]}',
        '{"WALK": ["character"]}',
    ]))  # fmt: skip
    assert (result["answers"], result["read"], result["empty_refused"]) == (6, 4, 1)
    assert (result["steps_in_text"], result["steps_read"], result["steps_lost"]) == (13, 11, 0)
    assert result["problems"] == {"unknown_action": 1, "unknown_object": 2, "arity": 1, "affordance": 1}
    assert (result["repeated_actions"], result["dict_would_lose"]) == (2, 3)
    assert [(r["line"], r["column"], r["steps_in_text"]) for r in result["refused"]] == [(1, 1, 0), (1, 21, 2)]


def test_a_lost_step_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from handrail.evaluate import virtualhome

    monkeypatch.setattr(virtualhome, "steps_of", lambda reading: list(dict(steps_of(reading)).items()))
    result = run(folder(tmp_path, ['{"WALK": ["fridge"], "WALK": ["milk"]}']))
    assert result["steps_lost"] == 1


def test_steps_of_lists() -> None:
    assert steps_of(read('[{"A": ["x"]}, {"B": "y", "A": [1]}]')) == [("A", ("x",)), ("B", ("y",)), ("A", None)]


def test_absent_data_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="virtualhome_eval"):
        run(EvalOptions(data=tmp_path))


@pytest.mark.data
def test_recorded_answers(data_dir: Path) -> None:
    result = run(EvalOptions(data=data_dir))
    assert (result["answers"], result["read"], result["empty_refused"]) == (5130, 5129, 114)
    assert result["steps_lost"] == result["steps_gained"] == 0 and result["steps_read"] > 15_000
    assert [(r["line"], r["column"]) for r in result["refused"]] == [(1, 1)]
