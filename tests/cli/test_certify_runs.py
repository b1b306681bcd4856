from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from handrail.cli.certify import certificate_app, certify_app, judge
from handrail.cli.exits import Exit
from handrail.decide.certificate import CertificateFolder, Ended, Limits, Setting
from handrail.errors import ConfigError
from handrail.record.log import RunLog
from handrail.record.store import RunStore

app = typer.Typer()
app.add_typer(certify_app, name="certify")
app.add_typer(certificate_app, name="certificate")
app.command()(judge)


def call(*words, code=0, **kwargs):
    result = CliRunner().invoke(app, [str(w) for w in words], **kwargs)
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


@pytest.fixture
def folder(tmp_path):
    where = tmp_path / "kitchen"
    call(
        "certify", "declare", where, "--name", "kitchen", "--place", "here", "--tasks", "fetching", "--judge", "Ada",
        "--clusters", "a day", "--world", "real", "--people", "real", "--silent", "0.2", "--task", "0.3",
        "--episodes", "14", "--ask", "0.9", "--read-back", "no", "--replans", "3", "--starts", "1",
    )  # fmt: skip
    return where


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs.sqlite")


def recorded(store, reason="DONE"):
    """A run as the mission records one."""
    run = store.new_run("get the mug")
    log = RunLog(store, run)
    log.append("run.request", {"request": "get the mug"})
    log.append("execute.end", {"ended": reason, "sentence": "", "spent": {"replans": 1}})
    log.append("run.end", {"reason": reason, "sentence": "", "seconds": 1.0}, durable=True)
    log.close()
    store.update_run(run, status="ended", ended=reason)
    return run


def test_a_run_becomes_an_episode(folder, store):
    name = call(
        "certify", "begin", folder, "--cluster", "Monday", "--meant", "the blue mug", "--request", "mug"
    ).strip()
    assert name == "e1"
    (before,) = CertificateFolder(folder).log().episodes()
    assert before.ended is Ended.DROPPED and before.intent == "the blue mug"  # it counts already
    run = recorded(store)
    assert "e1: done" in call("certify", "end", folder, "e1", "--run", run, "--store", store.path)
    (after,) = CertificateFolder(folder).log().episodes()
    assert after.ended is Ended.DONE and [p.kind for p in after.trace] == ["replan"]
    assert after.setting == Setting(0.9, read_back=False, replans=3)


def test_a_crash_counts_as_failed(folder):
    call("certify", "begin", folder, "--cluster", "Monday", "--meant", "the blue mug")
    assert "failed, no run was recorded" in call("certify", "end", folder, "e1")
    assert CertificateFolder(folder).log().episodes()[0].losses == (0, 1, 1)


def test_from_certificate_to_suspension(folder, store):
    assert CertificateFolder(folder).declaration().limits == Limits(0.2, 0.3)
    for i in range(14):
        call("certify", "begin", folder, "--cluster", f"day {i}", "--meant", "the blue mug")
        call("certify", "end", folder, f"e{i + 1}", "--run", recorded(store), "--store", store.path)
    call("judge", folder, "--name", "Ada", input="y\nn\nn\n" * 14)
    call("certify", "test", folder)
    assert "Watching" in call("certificate", "deploy", folder, "--first", 1, "--audits", 0.01)
    good = recorded(store)
    said = call("certificate", "follow", folder, "--store", store.path)
    assert f"audit: {good}" in said and "1 new runs, 1 in all, 1 audits" in said
    assert "written" in call("certificate", "audit", folder, good, "--as-meant")
    assert "We check" in call("certificate", "show", folder)
    for _ in range(40):
        recorded(store, "REPLANS")
    said = call("certificate", "follow", folder, "--store", store.path, code=Exit.REFUSED)
    assert "suspended: the robot hands over more often" in said
    assert "finished as meant" not in call("certificate", "show", folder)


def test_misuse(folder, store):
    with pytest.raises(AssertionError):
        call("certificate", "deploy", folder)  # nothing is certified
    result = CliRunner().invoke(
        app, ["certify", "begin", str(folder), "--cluster", "x", "--meant", "y", "--group", "z"]
    )
    assert isinstance(result.exception, ConfigError) and "--group must be one of" in str(result.exception)
