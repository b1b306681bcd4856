from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.decide.certificate import Ended, Limits, Setting, collecting, replay
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.task_home import SETTINGS, outcome, run
from handrail.evaluate.task_line import PHYSICAL, SYMBOLIC, Line

LOG = collecting(SETTINGS)
CLEAN = replace(SYMBOLIC, faults={}, wrong=0.0)


@pytest.fixture(scope="module")
def clean():
    line = Line(CLEAN, seed=3)
    return line, [line.episode(i, LOG) for i in range(6)]


def test_an_episode_is_the_same_task_each_time(clean):
    line, episodes = clean
    again = Line(CLEAN, seed=3).episode(2, LOG)
    assert (again.request, again.ended, again.trace) == (episodes[2].request, episodes[2].ended, episodes[2].trace)
    assert line.readings[2].best >= line.readings[2].second


def test_without_faults_and_mistakes_done_is_as_meant(clean):
    """A perfect person and a world that does what it should: asking whenever unsure ends as meant or is handed over."""
    _, episodes = clean
    assert any(e.ended is Ended.DONE for e in episodes)
    assert all(e.truth is True for e in episodes if e.ended is Ended.DONE)


def test_every_setting_can_be_scored(clean):
    _, episodes = clean
    losses = replay(SETTINGS, episodes)
    assert losses.task.shape == (len(SETTINGS), len(episodes))
    i = SETTINGS.index(Setting(0.9, True, 0, 0, 3, 0.0))
    assert losses.silent[i].tolist() == [e.losses[0] for e in episodes]


def test_a_setting_that_is_run_does_no_worse_than_its_replay(clean):
    """The replay lemma on the real line: acting without questions, really run, against its score from the log."""
    line, episodes = clean
    bold = Setting(0.0, read_back=False, replans=3)
    scored = replay([bold], episodes)
    for i in range(3):
        silent, task, _ = line.episode(i, bold).losses
        assert silent <= scored.silent[0, i] and task <= scored.task[0, i]


def test_figures_of_episodes(clean):
    _, episodes = clean
    found = outcome(episodes, Limits(0.2, 0.4))
    assert found["n"] == 6 and found["task"] == round(sum(e.losses[1] for e in episodes) / 6, 4)
    assert found["task_interval"][0] <= found["task"] <= found["task_interval"][1]


@pytest.mark.slow
def test_from_declaration_to_fresh_episodes_and_resumed(tmp_path):
    extra = {
        "episodes": 20,
        "fresh": 4,
        "simulated": 4,
        "folder": tmp_path,
        "silent": 0.5,
        "task": 0.9,
        "physical": False,
    }
    result = run(EvalOptions(quick=True, seed=5, extra=extra))
    assert result["certificate"]["status"] == "certified"
    assert result["fresh"]["n"] == 4 and isinstance(result["holds"], bool)
    assert "statement about the simulator" in result["certificate"]["text"]
    assert set(result["methods"]) == {
        "certificate",
        "best-looking setting",
        "KnowNo alone, in this loop",
        "KnowNo alone, open loop",
        "per-skill product",
    }
    again = run(EvalOptions(quick=True, seed=5, extra=extra))  # nothing is run twice, nothing is tested twice
    assert again == result


@pytest.mark.slow
def test_one_episode_in_the_physical_home():
    pytest.importorskip("mujoco")
    e = Line(PHYSICAL, seed=7).episode(11, LOG)
    assert e.ended in (Ended.DONE, Ended.HANDED_OVER)
    assert any(p.kind == "dry-run" for p in e.trace) or e.ended is Ended.HANDED_OVER
