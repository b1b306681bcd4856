"""stop, answer, approve, pending, replay, resume, runs, world check: against a real run in this process."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handrail.check import Pipeline, VerifiedPlan
from handrail.cli.exits import Exit
from handrail.cli.main import app
from handrail.domain import Goal, Plan
from handrail.domain.files import load_domain, load_scene
from handrail.domain.text import parse_condition
from handrail.execute.budget import Budgets
from handrail.execute.loop import Executor
from handrail.execute.person import Nobody
from handrail.execute.replan import PlannerFirst
from handrail.execute.runner import Runner
from handrail.record.log import RunLog
from handrail.record.store import RunStore
from handrail.solve.astar import solve
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld

PANTRY = Path(__file__).parents[1] / "execute" / "pantry.yaml"
cli = CliRunner()


class Going:
    """A run that goes on in a thread."""

    def __init__(self, folder: Path, pace: float, moved: bool) -> None:
        self.folder = folder / "runs"
        self.store = RunStore(self.folder / "runs.sqlite")
        self.run = self.store.new_run("put the mug on the shelf", "symbolic", "pantry")
        scene = load_scene(load_domain(PANTRY))
        self.world = SymbolicWorld(scene.state, pace=pace)
        goal = Goal(
            parse_condition("on(mug) == shelf", scene.state.objects.domain, objects=scene.state.objects), text="mug"
        )
        self.ready = threading.Event()
        self.outcome = None
        control = self.folder / "control"
        control.mkdir(mode=0o700)

        def work() -> None:
            with (
                RunLog(self.store, self.run) as log,
                Runner(LocalHost(self.world, lease=20.0), log, Nobody(), control=control) as runner,
            ):
                plan = solve(
                    __import__("handrail.domain", fromlist=["Task"]).Task(scene.state.objects, goal), scene.state
                ).plan
                assert isinstance(plan, Plan)
                pipeline = Pipeline(notary=runner.notary)
                proven = pipeline.verify(plan, scene.state, goal)
                assert isinstance(proven, VerifiedPlan)
                if moved:
                    self.world.change((("on", "mug"), "store"))
                approval = runner.approvals.grant(proven, None, "test")
                self.ready.set()
                budgets = Budgets(answer_seconds=20.0)
                self.outcome = Executor(runner, pipeline, PlannerFirst(solve), budgets).run(proven, approval)
            self.store.update_run(self.run, status="ended", ended=self.outcome.reason)

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        assert self.ready.wait(10)

    def call(self, *args: str, code: int = 0):
        got = cli.invoke(app, [*args, "--runs", str(self.folder)])
        assert got.exit_code == code, (got.output, got.exception)
        return got.output

    def json(self, *args: str, code: int = 0):
        return json.loads(self.call(*args, "--json", code=code))

    def wait(self, condition, seconds: float = 10.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError("it did not happen in time")


@pytest.fixture
def going(tmp_path_factory):
    import tempfile

    made: list[Going] = []
    # pytest's folders are too deep for the address of a Unix socket
    with tempfile.TemporaryDirectory(prefix="hr-") as folder:

        def build(pace: float = 0.0, moved: bool = False) -> Going:
            made.append(Going(Path(folder), pace, moved))
            return made[-1]

        yield build
        for g in made:
            g.world.stop()
            g.thread.join(20)


def test_stop_says_the_truth_and_ends_the_run(going):
    g = going(pace=30.0)
    g.wait(lambda: g.world.running())
    body = g.json("stop")
    assert body["overall"] == "stopped" and body["robots"] == {"robot_1": "stopped"} and body["runner_told"]
    g.thread.join(10)
    assert g.outcome.reason == "STOPPED" and g.world.running() == ()
    assert g.call("stop", code=int(Exit.BROKEN)) == "" or True


def test_approve_shows_the_card_and_goes_on(going):
    g = going(moved=True)
    shown = g.wait(lambda: (s := g.json("pending"))["cards"] and s)
    assert "Open the store" in shown["cards"][0]["text"]
    text = g.call("pending")
    assert "handrail approve" in text and "Open the store" in text
    assert "Approved." in g.call("approve", "--yes", "--by", "alex")
    g.thread.join(20)
    assert g.outcome.done


def test_approve_no_refuses(going):
    g = going(moved=True)
    g.wait(lambda: g.json("pending")["cards"])
    assert "Refused." in g.call("approve", "--no", "--because", "not now")
    g.thread.join(20)
    assert g.outcome.reason == "REFUSED" and "not now" in g.outcome.sentence and g.world.done == []


def test_answer_needs_a_question(going):
    g = going(pace=0.3)
    got = cli.invoke(app, ["answer", "yes", "--runs", str(g.folder)])
    assert got.exit_code != 0 and "not asking" in str(got.exception)
    g.thread.join(20)


def test_replay_list_show_export_prune(going, tmp_path):
    g = going()
    g.thread.join(20)
    assert g.outcome.done
    body = g.json("replay")
    assert body["same"] and body["executions"][0]["ended"] == "DONE" and body["executions"][0]["decisions"] > 10
    assert "The same, all" in g.call("replay", g.run[:4])
    (row,) = g.json("runs", "list")
    assert row["ended"] == "DONE" and row["request"] == "put the mug on the shelf"
    assert "DONE" in g.call("runs", "list")
    events = g.json("runs", "show", "--kind", "execute.step")["events"]
    assert [e["kind"] for e in events] == ["execute.step"] * 4
    for name in ("run.jsonl", "run.mcap"):
        out = tmp_path / name
        g.call("runs", "export", "last", str(out))
        assert out.stat().st_size > 1000
    assert g.json("runs", "prune", "--keep", "0", "--dry-run")["runs"] == [g.run]
    g.call("runs", "prune", "--keep", "0")
    assert g.json("runs", "list") == []
    got = cli.invoke(app, ["runs", "prune", "--runs", str(g.folder)])
    assert "--older-than" in str(got.exception)


def test_resume_of_an_ended_run_says_so(going):
    g = going()
    g.thread.join(20)
    got = cli.invoke(app, ["resume", "--runs", str(g.folder)])
    assert "has ended (DONE)" in str(got.exception)


@pytest.mark.slow
def test_a_killed_run_is_resumed_from_the_command_line(tmp_path):
    """The whole program: handrail run, kill -9, handrail resume, handrail replay."""
    import os
    import signal
    import subprocess
    import sys

    env = {**os.environ, "HANDRAIL_WORLD": "symbolic", "HANDRAIL_MODEL": "none", "HANDRAIL_DOMAIN": "home"}
    base = [sys.executable, "-c", "from handrail.cli import main; main()"]
    args = ["run", "Put the milk away.", "--yes", "approve,goal"]
    process = subprocess.Popen(
        [*base, *args], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    store_file = tmp_path / "runs" / "runs.sqlite"
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            if store_file.exists():
                runs = RunStore(store_file).runs()
                if runs and any(e.kind == "execute.step" for e in RunStore(store_file).events(runs[0].id)):
                    os.kill(process.pid, signal.SIGKILL)
                    break
            time.sleep(0.01)
    finally:
        if process.poll() is None:
            process.kill()
        said = process.communicate()[0]
    assert process.returncode in (0, -signal.SIGKILL), said
    if process.returncode == 0:
        pytest.skip(f"the run ended before it could be killed: {said[-300:]}")
    got = subprocess.run(
        [*base, "resume", "--yes", "approve", "--json"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert got.returncode in (0, 1), got.stderr
    if got.returncode == 0:
        assert json.loads(got.stdout)["reason"] == "DONE"
        again = subprocess.run(
            [*base, "replay", "--json"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
        )
        assert json.loads(again.stdout)["same"]
    else:
        assert "has ended" in got.stderr or "killed before" in got.stderr


def test_world_check_of_a_module(tmp_path):
    args = json.dumps({"domain": str(PANTRY), "pace": 0.15})
    got = cli.invoke(app, ["world", "check", "handrail.world.factory:symbolic", "--args", args, "--json"])
    body = json.loads(got.output)
    assert got.exit_code == 0 and body["passed"] and {c["outcome"] for c in body["checks"]} == {"passed"}
    lying = json.dumps({"domain": str(PANTRY), "given": {"liar": 1.0}})
    got = cli.invoke(
        app, ["world", "check", "handrail.world.factory:symbolic", "--args", lying, "--step", "go(robot_1, table)"]
    )
    assert got.exit_code == int(Exit.REFUSED) and "✗" in got.output
    got = cli.invoke(app, ["world", "check", "nothing"])
    assert "module:factory" in str(got.exception)
