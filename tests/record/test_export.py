from __future__ import annotations

import json

import pytest

from handrail.errors import ConfigError, ParseError, StoreError
from handrail.record.event import Event
from handrail.record.export import from_jsonl, from_mcap, to_jsonl, to_mcap
from handrail.record.history import SkillHistory
from handrail.record.log import RunLog
from handrail.record.retention import prune
from handrail.record.store import RunStore


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs.sqlite", durable=False)


def fill(store, run, n=5):
    store.new_run("bring the müg", "symbolic", "pantry", run=run)
    with RunLog(store, run) as log:
        for i in range(n):
            log.append("execute.step" if i % 2 else "person.asked", {"i": i, "words": "naïve «text»"})
    return store.events(run)


def test_jsonl_goes_out_and_comes_back(store, tmp_path):
    events = fill(store, "aa11")
    path = tmp_path / "run.jsonl"
    assert to_jsonl(store.find("aa11"), events, path) == 5
    head, back = from_jsonl(path)
    assert back == events and head["request"] == "bring the müg"
    assert len(path.read_text().splitlines()) == 6


def test_mcap_goes_out_and_comes_back(store, tmp_path):
    pytest.importorskip("mcap")
    events = fill(store, "aa11")
    path = tmp_path / "run.mcap"
    assert to_mcap(store.find("aa11"), events, path) == 5
    assert list(from_mcap(path)) == events
    from mcap.reader import make_reader

    with path.open("rb") as source:
        summary = make_reader(source).get_summary()
    topics = {c.topic for c in summary.channels.values()}
    assert topics == {"/handrail/execute/step", "/handrail/person/asked"}
    schema = json.loads(next(iter(summary.schemas.values())).data)
    import jsonschema

    for e in events:
        jsonschema.validate(e.to_json(), schema)


def test_damaged_lines_are_named(store, tmp_path):
    events = fill(store, "aa11")
    path = tmp_path / "run.jsonl"
    to_jsonl(store.find("aa11"), events, path)
    lines = path.read_text().splitlines()
    for bad, says in (
        ([lines[0], lines[1], lines[3]], ":3 .*missing"),
        ([lines[0], "{oops"], ":2 "),
        ([lines[1]], ":1 "),
        ([], "empty"),
    ):
        path.write_text("\n".join(bad))
        with pytest.raises(ParseError, match=says):
            from_jsonl(path)
    with pytest.raises(StoreError):
        to_jsonl(store.find("aa11"), events, tmp_path / "no" / "where.jsonl")


def test_pruning_takes_the_old_and_leaves_the_rest(store):
    for i in range(5):
        fill(store, f"run{i}")
    would = prune(store, keep=2, dry=True)
    assert would.runs == ("run0", "run1", "run2") and would.events == 15
    assert len(store.runs()) == 5
    with RunLog(store, "run1"):
        gone = prune(store, keep=2)
    assert gone.runs == ("run0", "run2") and gone.kept_running == ("run1",)
    assert {r.id for r in store.runs()} == {"run1", "run3", "run4"}
    assert prune(store, older_than=1.0).runs == ()
    assert prune(store, older_than=0.0).runs == ("run1", "run3", "run4")
    for bad in ({}, {"older_than": -1.0}, {"keep": -1}, {"older_than": float("nan")}):
        with pytest.raises(ConfigError):
            prune(store, **bad)


def test_history_counts_what_was_seen():
    scene = {"objects": [{"name": "mug", "type": "item"}, {"name": "hand_1", "type": "hand"}]}

    def judged(i, effect, code=""):
        return Event("r", i, 0.0, "execute.judged", {"step": ["pick", "hand_1", "mug"], "effect": effect, "code": code})

    history = SkillHistory()
    begin = Event("r", 0, 0.0, "execute.begin", {"scene": scene})
    history.add([begin, judged(1, "seen"), judged(2, "absent", "SLIPPED"), judged(3, "absent", "LEASE")])
    assert history.counts("pick") == (1, 2) == history.counts("pick", "item") == history.counts("pick", "hand")
    assert history.counts("place") == (0, 0)
