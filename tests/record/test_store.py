from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.errors import StoreError
from handrail.record.event import MemoryLog
from handrail.record.lock import FileLock, is_held
from handrail.record.log import RunLog
from handrail.record.schema import _V1, VERSION
from handrail.record.store import RunStore, default_path


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs.sqlite")


def test_what_was_appended_is_there_in_order(store):
    run = store.new_run("bring the mug", "symbolic", "pantry")
    with RunLog(store, run) as log:
        for i in range(200):
            log.append("a.b", {"i": i}, durable=i % 50 == 0)
    events = store.events(run)
    assert [e.body["i"] for e in events] == list(range(200)) == [e.seq for e in events]
    assert store.find(run[:5]).events == 200
    assert store.events(run, since=150)[0].seq == 150


def test_a_durable_event_can_be_read_by_others_at_once(store):
    run = store.new_run()
    with RunLog(store, run) as log:
        log.append("step.intent", {"x": 1}, durable=True)
        assert [e.kind for e in store.events(run)] == ["step.intent"]


def test_a_log_goes_on_where_it_ended(store):
    run = store.new_run()
    for i in range(3):
        with RunLog(store, run) as log:
            assert log.append("a.b", {}).seq == i


def test_many_threads_lose_nothing(store):
    run = store.new_run()
    with RunLog(store, run) as log:
        threads = [
            threading.Thread(target=lambda n=n: [log.append("t.e", {"n": n, "i": i}) for i in range(50)])
            for n in range(4)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    events = store.events(run)
    assert len(events) == 200
    for n in range(4):
        assert [e.body["i"] for e in events if e.body["n"] == n] == list(range(50))


def test_one_writer_per_run(store):
    run = store.new_run()
    with RunLog(store, run), pytest.raises(StoreError, match="another process"):
        RunLog(store, run)


def test_events_are_final(store):
    run = store.new_run()
    with RunLog(store, run) as log:
        log.append("a.b", {})
    with store.open() as db:
        for sql in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                db.execute(sql)


@pytest.mark.parametrize("body", [{"x": math.nan}, {"x": math.inf}, {"x": object()}, {"x": {1, 2}}])
def test_what_json_can_t_say_is_refused_by_name(store, body):
    run = store.new_run()
    with RunLog(store, run) as log:
        with pytest.raises(StoreError, match=r"'a\.b'"):
            log.append("a.b", body)
        log.append("a.c", {})
    assert [e.kind for e in store.events(run)] == ["a.c"]


def test_a_writer_that_fails_acknowledges_nothing(store):
    run = store.new_run()
    log = RunLog(store, run)
    log.append("a.b", {}, durable=True)
    with store.open() as db:
        db.execute("DROP TABLE events")
    with pytest.raises(StoreError):
        log.append("a.b", {}, durable=True)
    with pytest.raises(StoreError, match="can't be recorded"):
        log.append("a.b", {})
    with pytest.raises(StoreError, match="not recorded to its end"):
        log.close()


def test_a_missing_event_is_noticed(store):
    run = store.new_run()
    with RunLog(store, run) as log:
        for _ in range(5):
            log.append("a.b", {})
    with store.open() as db:
        db.execute("UPDATE retention SET pruning = 1")
        db.execute("DELETE FROM events WHERE seq = 2")
    with pytest.raises(StoreError, match="lacks event 2"):
        store.events(run)


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "runs.sqlite"
    RunStore(path)
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="Update handrail"):
        RunStore(path)


def test_a_store_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "runs.sqlite"
    db = sqlite3.connect(path)
    db.executescript(_V1 + "PRAGMA user_version = 1;")
    db.execute("INSERT INTO runs (id, created, request) VALUES ('abcd1234', 1.0, 'old')")
    db.execute("INSERT INTO events VALUES ('abcd1234', 0, 1.0, 'a.b', 1, '{\"x\":1}')")
    db.commit()
    db.close()
    store = RunStore(path)
    assert store.find("abcd").request == "old" and store.find("abcd").control == ""
    assert store.events("abcd1234")[0].body == {"x": 1}
    with store.open() as again:
        assert again.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_a_foreign_file_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE photos (id)")
    db.commit()
    db.close()
    with pytest.raises(StoreError, match="something else"):
        RunStore(path)
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but long enough to be read as one" * 10)
    with pytest.raises(StoreError):
        RunStore(text)


def test_runs_are_found_by_a_unique_beginning(store):
    for run in ("aa11", "aa22", "bb33"):
        store.new_run("r", run=run)
    assert store.find("b").id == "bb33"
    assert store.find("aa11").id == "aa11"
    assert store.find("last").id == "bb33"
    with pytest.raises(StoreError, match="several runs"):
        store.find("aa")
    with pytest.raises(StoreError, match="no run 'zz'"):
        store.find("zz")
    with pytest.raises(StoreError, match="no changeable field"):
        store.update_run("aa11", created=0)


def test_a_run_whose_process_is_gone_is_broken(store):
    run = store.new_run()
    with store.open() as db:
        db.execute("UPDATE runs SET created = created - 100")
    with RunLog(store, run):
        assert store.find(run).status == "running"
    assert store.find(run).status == "broken"
    store.update_run(run, status="ended", ended="DONE")
    found = store.find(run)
    assert (found.status, found.ended) == ("ended", "DONE") and found.closed is not None


def test_the_default_place(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    assert default_path() == tmp_path / "runs.sqlite"
    monkeypatch.delenv("HANDRAIL_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert default_path() == tmp_path / "s" / "handrail" / "runs.sqlite"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(bodies=st.lists(st.dictionaries(st.text(min_size=1), json_values, max_size=4), max_size=5))
def test_any_json_comes_back_as_it_was(bodies, tmp_path_factory):
    store = RunStore(tmp_path_factory.mktemp("s") / "runs.sqlite", durable=False)
    run = store.new_run()
    with RunLog(store, run) as log:
        for b in bodies:
            try:
                json.dumps(b).encode()
            except UnicodeEncodeError:
                continue
            log.append("a.b", b)
    assert [e.body for e in store.events(run)] == bodies


def test_a_process_killed_after_an_acknowledgement_has_lost_nothing(tmp_path):
    code = """
import os, signal, sys
from handrail.record.store import RunStore
from handrail.record.log import RunLog
store = RunStore(sys.argv[1])
run = store.new_run(run="dead")
log = RunLog(store, run)
for i in range(1000):
    log.append("a.b", {"i": i}, durable=i % 7 == 0)
    if i % 7 == 0:
        print(i, flush=True)
    if i == 100:
        os.kill(os.getpid(), signal.SIGKILL)
"""
    path = tmp_path / "runs.sqlite"
    got = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    acknowledged = int(got.stdout.split()[-1])
    events = RunStore(path).events("dead")
    assert len(events) > acknowledged
    assert [e.body["i"] for e in events] == list(range(len(events)))
    with RunLog(RunStore(path), "dead") as log:  # the lock went with the process
        assert log.append("a.b", {}).seq == len(events)


def test_locks_are_free_once_released(tmp_path):
    lock, other = FileLock(tmp_path / "l"), FileLock(tmp_path / "l")
    assert lock.take() and lock.take() and not other.take()
    assert "process" in other.holder() and is_held(tmp_path / "l")
    lock.release()
    assert not is_held(tmp_path / "l") and other.take()
    other.release()
    assert not is_held(tmp_path / "missing")


def test_a_memory_log_copies_what_it_is_given():
    log = MemoryLog()
    body = {"x": [1]}
    log.append("a.b", body)
    body["x"].append(2)
    assert log.events[0].body == {"x": [1]}
