"""Calibrating goal readings, the pictures of it, and the commands."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from handrail.cli.calibrate import app, label_loop, read_labels
from handrail.decide import plots
from handrail.decide.adaptive import LAC
from handrail.decide.goal_calibration import Judged, Labelled, calibrate, right_indices
from handrail.decide.goals import GoalDecider, weights_of
from handrail.decide.policy import Act
from handrail.domain import Domain
from handrail.domain.files import load_scene
from handrail.domain.option import Option, not_listed
from handrail.domains import path
from handrail.errors import ConfigError, ParseError, StaleError
from handrail.evaluate.scenarios.home import Home
from handrail.language.canned import Canned


@pytest.fixture(scope="module")
def state():
    return load_scene(Domain.load(path("home"))).state


@pytest.fixture(scope="module")
def labelled(state):
    return [Labelled(s.key, s.request, s.acceptable, s.category) for s in Home(state).generate(160, 3)]


@pytest.fixture(scope="module")
def made(state, labelled):
    return calibrate(state, labelled, None, 0.2, 0.05, tuning=60)


def likes_cola(prompt, text):
    return -1.0 - (0.0 if "cola" in text else 3.0)


def test_the_first_requests_fit_and_the_rest_calibrate(made):
    assert made.calibration.n == len(made.cases) == 100
    assert made.calibration.notes["requests"] == {"fitted on": 60, "calibrated on": 100}
    weights = weights_of(made.calibration)
    assert weights.cases == 60 and weights.names == ("overlap", "verb", "facts", "other", "unexplained")
    scores = [LAC.case_score(c.probabilities, c.right) for c in made.cases]
    assert made.calibration.scores.tolist() == scores


def test_a_decider_fits_its_own_calibration_and_no_other(state, made, labelled, tmp_path):
    assert isinstance(GoalDecider(state, made.calibration).decide("Open the fridge.").decision, Act)
    model = Canned(scores=likes_cola)
    fitted = calibrate(state, labelled, model, 0.2, 0.05, tuning=60)
    assert "pmi" in weights_of(fitted.calibration).names
    GoalDecider(state, fitted.calibration, model).decide("Open the fridge.")
    with pytest.raises(ConfigError, match="language model"):
        GoalDecider(state, fitted.calibration)
    with pytest.raises(StaleError, match="model was canned and is another now"):
        GoalDecider(state, fitted.calibration, Canned(scores=likes_cola, name="another")).decide("Open the fridge.")


def test_groups(state, labelled):
    grouped = calibrate(state, labelled, None, 0.2, tuning=60, by_group=True)
    decider = GoalDecider(state, grouped.calibration)
    assert isinstance(decider.decide("Open the fridge.", group="plain").decision, Act)
    assert not isinstance(decider.decide("Open the fridge.", group="never seen").decision, Act)


def test_misuse(state, labelled, made):
    with pytest.raises(ConfigError, match="20 requests"):
        calibrate(state, labelled[:50], None, 0.2, tuning=60)
    with pytest.raises(ConfigError, match="would do"):
        calibrate(state, labelled[:70], None, 0.05, 0.01, tuning=60)
    with pytest.raises(ConfigError, match="fusion weights"):
        weights_of(made.calibration.__class__.make([0.1] * 20, 0.2))


def test_what_is_right():
    options = [Option("a", "A"), Option("b", "B"), not_listed()]
    assert right_indices(options, frozenset("ab")) == (0, 1)
    assert right_indices(options, frozenset("z")) == (2,)


def test_numbers_behind_the_pictures(made):
    points = plots.resplit(made.cases, LAC, splits=40)
    assert [p.target for p in points] == [0.75, 0.8, 0.85, 0.9, 0.95]
    assert all(abs(p.coverage - p.target) < 0.08 and 0 <= p.help <= 1 for p in points)
    sure = [Judged("k", "g", (0.9, 0.1), (0,), 1), Judged("l", "g", (0.9, 0.1), (1,), 1)]
    assert plots.reliability(sure) == [(pytest.approx(0.9), 0.5, 2)]
    rows = plots.by_group(made.cases, made.calibration)
    assert sum(r[1] for r in rows) == 100 and all(0 <= r[2] <= 1 for r in rows)
    with pytest.raises(ConfigError, match="10 cases"):
        plots.pictures(made.calibration, made.cases[:5])


def test_pictures_and_page(made):
    pytest.importorskip("matplotlib")
    images = plots.pictures(made.calibration, made.cases)
    assert set(images) == {"coverage", "help", "sizes", "calibration", "groups"}
    assert all(data.startswith(b"\x89PNG") for data in images.values())
    text = plots.page(made.calibration, {"a<b": b"x"})
    assert "a&lt;b" in text and "<script" not in text and made.calibration.digest in text


class Lines:
    """A person's answers, line by line."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def __call__(self):
        return self.lines.pop(0) + "\n" if self.lines else ""


def ask(out, *lines, todo=4):
    requests = [(f"k{i}", f"request {i}", "plain") for i in range(todo)]
    options = [Option("goal a", "do a"), Option("goal b", "do b"), not_listed()]
    there = {one.key for one in read_labels(out)} if out.exists() else set()
    left = [r for r in requests if r[0] not in there]
    console = Console(file=io.StringIO())
    done = label_loop(left, lambda _: options, out, Lines(*lines), console, len(there), todo)
    return done, console.file.getvalue()


def test_labelling_is_resumed_where_it_stopped(tmp_path):
    out = tmp_path / "labels.jsonl"
    done, shown = ask(out, "a", "zz", "ab", "q")
    assert done == 2 and "request 2   (3 of 4)" in shown and "Letters of a to b" in shown
    done, shown = ask(out, "", "s")
    assert done == 1 and "(3 of 4)" in shown and "request 0" not in shown
    labels = read_labels(out)
    assert [one.right for one in labels] == [{"goal a"}, {"goal a", "goal b"}, frozenset()]
    assert all(json.loads(line)["seconds"] >= 0 for line in out.read_text().splitlines())
    assert ask(out)[0] == 0  # the end of the input stops it
    out.write_text('{"key": 1}\n')
    with pytest.raises(ParseError, match="request") as caught:
        read_labels(out)
    assert caught.value.where.line == 1


def test_commands(tmp_path):
    run = CliRunner().invoke
    file, labels = tmp_path / "c.json", tmp_path / "l.jsonl"
    made = run(app, ["calibrate", str(file), "--n", "120", "--epsilon", "0.2", "--delta", "none", "--json"])
    assert made.exit_code == 0, made.output
    assert "on average" in json.loads(made.stdout)["promise"]
    joint = ["calibrate", str(tmp_path / "j.json"), "--n", "160", "--epsilon", "0.2", "--delta", "0.1", "--most-help"]
    refused = run(app, [*joint, "0.02"])
    assert refused.exit_code == 3 and "nearest" in refused.output and not (tmp_path / "j.json").exists()
    assert run(app, [*joint, "0.9"]).exit_code == 0
    shown = run(app, ["decide", "Open the fridge.", "--calibration", str(file), "--json"])
    assert json.loads(shown.stdout)["decision"] == "act"
    plain = run(app, ["decide", "Bring me the mug.", "--calibration", str(file)])
    assert "Question" in plain.stdout and "blue mug" in plain.stdout
    said = run(app, ["label", str(labels), "--n", "5"], input="a\nq\n")
    assert said.exit_code == 0 and len(read_labels(labels)) == 1
