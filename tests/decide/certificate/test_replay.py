from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import (
    Choice,
    DryRun,
    Ended,
    ReadBack,
    Replan,
    Setting,
    Verified,
    collecting,
    grid,
    replay,
)
from handrail.errors import ConfigError
from handrail.evaluate.task_cells import CELLS, LOGGED, SETTINGS, episodes, populate, replayed, run_all


def losses(setting, episode):
    found = replay([setting], [episode])
    return tuple(int(x[0, 0]) for x in (found.silent, found.task, found.help))


def test_the_collecting_setting_gets_what_happened(make):
    trace = (
        Choice(0.7, "a", True, "b"),
        ReadBack(True),
        DryRun((True, False, True, True, True)),
        Replan(1),
        Verified(0.6),
    )
    for ended, truth in ((Ended.DONE, True), (Ended.DONE, False), (Ended.DONE, None), (Ended.HANDED_OVER, None)):
        e = make.episode(0, ended, truth, trace=trace, asks=2)
        assert losses(make.setting, e) == e.losses


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("a", (0, 0, 0)),  # its own choice was the person's answer: nothing changes, and it did not ask
        ("b", (1, 1, 1)),  # it would have acted on something else
        (None, (1, 1, 1)),  # nobody answered: what its choice was worth is unknown
    ],
)
def test_a_setting_that_would_not_have_asked(make, answer, expected):
    e = make.episode(0, trace=(Choice(0.7, "a", True, answer),), asks=1)
    assert losses(replace(make.setting, ask=0.5, read_back=False), e) == expected


def test_a_setting_that_would_have_asked_too_keeps_the_logged_run(make):
    e = make.episode(0, trace=(Choice(0.7, "a", True, "b"),), asks=1)
    assert losses(replace(make.setting, ask=0.8), e) == (0, 0, 1)


def test_an_unanswered_question_is_a_hand_over_for_who_asks(make):
    e = make.episode(0, Ended.HANDED_OVER, None, trace=(Choice(0.7, "a", True, None),), asks=1)
    assert losses(make.setting, e) == (0, 1, 1)
    assert losses(replace(make.setting, ask=0.5), e) == (1, 1, 1)


def test_without_an_own_choice_every_setting_asks(make):
    e = make.episode(0, trace=(Choice(0.99, None, True, "a"),), asks=1)
    assert losses(replace(make.setting, ask=0.0, read_back=False), e) == (0, 0, 1)


@pytest.mark.parametrize(("confirmed", "expected"), [(True, (0, 0, 0)), (False, (1, 1, 1)), (None, (1, 1, 1))])
def test_a_setting_without_read_back(make, confirmed, expected):
    e = make.episode(0, trace=(ReadBack(confirmed),), asks=1)
    assert losses(replace(make.setting, read_back=False), e) == expected
    assert losses(make.setting, e) == (0, 0, 1)


@pytest.mark.parametrize(
    ("changes", "point"),
    [
        ({"copies": 3, "passes": 2}, DryRun((True, False, False, True, True))),
        ({"replans": 1}, Replan(2)),
        ({"strictness": 0.8}, Verified(0.7)),
    ],
)
def test_stricter_limits_hand_over(make, changes, point):
    for truth in (True, False, None):
        e = make.episode(0, Ended.DONE, truth, trace=(point,))
        assert losses(replace(make.setting, **changes), e) == (0, 1, 1)


def test_a_try_that_the_log_itself_rejected_changes_nothing(make):
    e = make.episode(0, trace=(Verified(0.3), Replan(1), Verified(0.9)))
    assert losses(replace(make.setting, strictness=0.8), e) == (0, 0, 0)


def test_what_comes_first_decides(make):
    hands_over_first = make.episode(0, trace=(Replan(2), Choice(0.7, "a", True, "b")), asks=1)
    acts_wrongly_first = make.episode(0, trace=(Choice(0.7, "a", True, "b"), Replan(2)), asks=1)
    s = replace(make.setting, ask=0.5, replans=1)
    assert losses(s, hands_over_first) == (0, 1, 1)
    assert losses(s, acts_wrongly_first) == (1, 1, 1)


def test_a_dropped_episode_is_lost_for_every_setting(make):
    found = replay(grid(ask=(0.0, 0.9)), [make.episode(0, Ended.DROPPED)])
    assert found.silent.all() and found.task.all()


@pytest.mark.parametrize(
    ("ran", "asked_of", "words"),
    [
        ({"read_back": False}, {}, "reads the goal back"),
        ({"replans": 2}, {}, "replans more"),
        ({"strictness": 0.9}, {}, "less strict"),
        ({"copies": 3}, {}, "more dry-runs"),
    ],
)
def test_a_log_that_can_not_tell_is_refused(make, ran, asked_of, words):
    e = make.episode(0, setting=replace(make.setting, **ran))
    with pytest.raises(ConfigError, match=words):
        replay([replace(make.setting, **asked_of)], [e])


def test_a_question_the_log_did_not_ask_is_refused(make):
    e = make.episode(0, trace=(Choice(0.7, "a", asked=False),))
    with pytest.raises(ConfigError, match="asks where the logged run did not"):
        replay([replace(make.setting, ask=0.8)], [e])
    assert losses(replace(make.setting, ask=0.7), e) == (0, 0, 0)


def test_fewer_copies_than_wanted_are_refused(make):
    e = make.episode(0, trace=(DryRun((True,)),))
    with pytest.raises(ConfigError, match="more than the 1 logged copies"):
        replay([replace(make.setting, copies=2, passes=1)], [e])


@given(st.integers(0, 2**32 - 1), st.sampled_from(range(len(CELLS))))
def test_replay_is_exact_or_over_stated_in_the_symbolic_world(seed, which):
    """The replay lemma, on whole episodes: no setting is scored better than it really would have done."""
    rng = np.random.default_rng(seed)
    p = populate(CELLS[which], 12, rng)
    settings = [SETTINGS[i] for i in rng.choice(LOGGED, 20, replace=False)]
    log = collecting(settings)
    found = replay(settings, episodes(p, np.arange(12), log))
    truth = run_all(p, settings)
    assert np.all(found.silent >= truth.silent)
    assert np.all(found.task >= truth.task)
    assert np.all(found.help >= truth.help)
    fast = replayed(p, settings)
    assert np.array_equal(found.silent, fast.silent)
    assert np.array_equal(found.task, fast.task)
    assert np.array_equal(found.help, fast.help)
    # The collecting setting itself is scored exactly.
    own = Setting(log.ask, log.read_back, log.copies, 0, log.replans, log.strictness)
    assert np.array_equal(replay([own], episodes(p, np.arange(12), log)).task, run_all(p, [own]).task)
