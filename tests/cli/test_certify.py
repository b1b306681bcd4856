from __future__ import annotations

import json
from dataclasses import asdict

import pytest
import typer
from typer.testing import CliRunner

from handrail.cli.certify import certificate_app, certify_app, judge
from handrail.cli.exits import Exit
from handrail.decide.certificate import CertificateFolder, Ended, Episode, Judgement, Setting
from handrail.decide.drift import Monitor, Stream
from handrail.errors import ConfigError

app = typer.Typer()
app.add_typer(certify_app, name="certify")
app.add_typer(certificate_app, name="certificate")
app.command()(judge)

SAID = {
    "--name": "kitchen",
    "--place": "test kitchen",
    "--tasks": "fetch requests",
    "--judge": "Ada, who looks afterwards",
    "--clusters": "one day each",
    "--world": "real",
    "--people": "real",
    "--silent": "0.2",
    "--task": "0.3",
    "--episodes": "14",
    "--ask": "0.9",
    "--read-back": "no",
    "--replans": "3",
    "--starts": "1",
}


def call(*words, fails=None, **kwargs):
    result = CliRunner().invoke(app, [str(w) for w in words], **kwargs)
    if fails is None:
        assert result.exit_code == 0, (result.output, result.exception)
    return result


def declare(folder, **changes):
    options = {**SAID, **{f"--{k.replace('_', '-')}": v for k, v in changes.items()}}
    return call(
        "certify", "declare", folder, *(w for pair in options.items() for w in pair), fails=changes.pop("f", None)
    )


def collect(folder, n=14, truth=None):
    log = CertificateFolder(folder).log()
    for i in range(n):
        log.start(
            Episode(f"e{i}", f"day {i}", Setting(0.9, read_back=False), request="get the mug", intent="blue mug here")
        )
        log.end(f"e{i}", Ended.DONE)
        if truth is not None:
            log.judge(Judgement(f"e{i}", goal=truth, judge="Ada"))


def test_from_declaration_to_words(tmp_path):
    folder = tmp_path / "kitchen"
    said = declare(folder)
    assert "Run 14 episodes with: asks below confidence 0.9" in said.output.replace("\n", " ")
    assert "no component hashes" in said.output.replace("\n", " ").lower()
    assert "nothing was tested yet" in call("certificate", "show", folder).output
    collect(folder, truth=True)
    assert "14 of 14 episodes started in 14 clusters" in call("certify", "status", folder).output
    text = call("certify", "test", folder).output
    assert "at most 20 in 100 such tasks end with the robot saying done" in text
    assert call("certificate", "show", folder).output == text
    (body,) = json.loads(call("certificate", "show", folder, "--json").output)
    assert body["status"] == "certified" and body["setting"] == asdict(Setting(0.9, read_back=False))


def test_what_does_not_pass_is_an_exit_code(tmp_path):
    declare(tmp_path)
    collect(tmp_path, truth=False)
    found = call("certify", "test", tmp_path, fails=True)
    assert found.exit_code == Exit.REFUSED and "Nothing is claimed" in found.output


def test_judging_resumes_and_hides_the_robots_view(tmp_path):
    declare(tmp_path)
    collect(tmp_path, n=3)
    first = call("judge", tmp_path, "--name", "Ada", input="y\nn\nn\nmaybe\nq\n")
    assert "asked for: get the mug" in first.output and "was meant: blue mug here" in first.output
    assert "Please answer y, n or q" in first.output and "2 runs still wait" in first.output
    call("judge", tmp_path, "--name", "Bo", input="y\ny\nn\nn\nn\nn\n")
    truths = [e.truth for e in CertificateFolder(tmp_path).log().episodes()]
    assert truths == [True, False, False]  # the second: something was broken
    assert "Nothing waits" in call("judge", tmp_path, "--name", "Cy").output
    assert "2 wait" not in call("certify", "status", tmp_path).output


def test_a_suspended_certificate_says_no_number(tmp_path):
    declare(tmp_path)
    collect(tmp_path, truth=True)
    call("certify", "test", tmp_path)
    monitor = Monitor(CertificateFolder(tmp_path).certificates()[0], (Stream("hand-over", 0.1),))
    monitor.running({"model": "other"})
    (tmp_path / "monitor.json").write_text(monitor.to_json())
    text = call("certificate", "show", tmp_path).output
    assert "'model' is new" in text and "finished as meant" not in text
    (body,) = json.loads(call("certificate", "show", tmp_path, "--json").output)
    assert body["status"] == "suspended" and body["suspension"]["cause"] == "component"


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    declare(tmp_path / "c")
    collect(tmp_path / "c", truth=True)
    call("certify", "test", tmp_path / "c")
    call("certificate", "show", tmp_path / "c", "--plots", tmp_path / "plots")
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["power.png", "risks.png"]


def test_orders_from_simulated_episodes(tmp_path):
    sim = tmp_path / "sim"
    declare(sim, world="simulated", ask="0.5,0.9")
    collect(sim, truth=True)
    declare(tmp_path / "real", ask="0.5,0.9", simulated=str(sim / "episodes-1.jsonl"))
    assert CertificateFolder(tmp_path / "real").declaration().starts


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"episodes": "13"}, "at least 14 are needed"),
        ({"world": "mars"}, "--world must be one of real, simulated"),
        ({"ask": "high"}, "numbers separated by commas"),
        ({"dry_runs": "3"}, "passes/copies"),
        ({"components": "none.json"}, "can't read the components file"),
    ],
)
def test_wrong_words_get_a_sentence(tmp_path, changes, words):
    found = call(
        "certify", "declare", tmp_path / "x",
        *(w for pair in {**SAID, **{f"--{k.replace('_', '-')}": v for k, v in changes.items()}}.items() for w in pair),
        fails=True,
    )  # fmt: skip
    assert isinstance(found.exception, ConfigError) and words in str(found.exception)


def test_never_is_listed():
    assert "coverage of prediction sets is not task success" in call("certificate", "never").output
