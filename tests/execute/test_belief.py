"""Belief: seen facts are true, what a step may change is unknown until it is seen again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.domain import UNKNOWN, Observation
from handrail.domain.files import load_domain, load_scene
from handrail.errors import ConfigError
from handrail.execute.belief import Belief
from handrail.execute.budget import Budgets, Stalls

from .conftest import PANTRY

STATE = load_scene(load_domain(PANTRY)).state
MUG = ("on", "mug")


def seen(time: float, changes=None, ages=None) -> Observation:
    return Observation(STATE.with_(changes or {}), time, "eye", ages)


def test_what_a_step_may_change_is_unknown_until_an_observation_newer_than_its_end():
    b = Belief(STATE.objects)
    b.see(seen(1.0))
    assert b.get(MUG) == "table"
    b.begin([MUG])
    assert b.get(MUG) is UNKNOWN
    b.see(seen(2.0))
    assert b.get(MUG) is UNKNOWN  # it still runs
    b.ended([MUG], 3.0)
    b.see(seen(2.5))
    assert b.get(MUG) is UNKNOWN  # older than the end
    b.see(seen(3.0, {MUG: "shelf"}))
    assert b.get(MUG) == "shelf"


def test_an_aged_fact_counts_from_when_it_was_seen():
    b = Belief(STATE.objects)
    b.see(seen(1.0))
    b.begin([MUG])
    b.ended([MUG], 3.0)
    b.see(seen(4.0, {MUG: "shelf"}, ages={MUG: 2.0}))
    assert b.get(MUG) is UNKNOWN
    b.see(seen(4.5, {MUG: "shelf"}, ages={MUG: 1.0}))
    assert b.get(MUG) == "shelf"


def test_what_is_not_seen_this_time_stays_as_last_seen():
    b = Belief(STATE.objects)
    b.see(seen(1.0))
    assert b.see(seen(2.0, {MUG: UNKNOWN})) == ()
    assert b.get(MUG) == "table"
    assert b.see(seen(3.0, {MUG: "shelf"})) == (MUG,)


def test_an_old_sight_does_not_replace_a_newer_one():
    b = Belief(STATE.objects)
    b.see(seen(5.0, {MUG: "shelf"}))
    b.see(seen(4.0))
    assert b.get(MUG) == "shelf"


def test_what_a_person_said_holds_until_it_is_seen_otherwise():
    b = Belief(STATE.objects)
    b.see(seen(1.0, {MUG: UNKNOWN}))
    assert b.get(MUG) is UNKNOWN
    b.tell({MUG: "shelf", ("asked", "alex"): True}, 1.0)
    b.see(seen(2.0, {MUG: UNKNOWN}))
    assert b.get(MUG) == "shelf" and b.get(("asked", "alex")) is True
    b.see(seen(3.0))
    assert b.get(MUG) == "table"
    assert b.get(("asked", "alex")) is True  # the world says nothing of it


events = st.lists(
    st.tuples(st.sampled_from(["begin", "end", "see", "hide"]), st.sampled_from(["table", "shelf", "store"])),
    max_size=25,
)


@given(events)
def test_a_fact_is_never_believed_that_a_later_step_may_have_changed(story):
    b = Belief(STATE.objects)
    now, running, doubt = 0.0, False, False
    last = None
    for what, value in story:
        now += 1.0
        if what == "begin":
            b.begin([MUG])
            running = doubt = True
        elif what == "end" and running:
            b.ended([MUG], now)
            running = False
        elif what == "see":
            b.see(seen(now, {MUG: value}))
            if not running:
                doubt, last = False, value
        elif what == "hide":
            b.see(seen(now, {MUG: UNKNOWN}))
        expected = UNKNOWN if doubt or last is None else last
        assert b.get(MUG) == expected or (last is None and not doubt)


@pytest.mark.parametrize(
    "bad", [{"replans": -1}, {"retries": 1.5}, {"looks": True}, {"step_seconds": 0}, {"answer_seconds": float("nan")}]
)
def test_budgets_are_checked_when_they_are_set(bad):
    with pytest.raises(ConfigError):
        Budgets(**bad)


def test_a_stall_is_the_same_failure_once_too_often():
    s = Stalls(2)
    assert [s.failed("plan", "0", "x") for _ in range(4)] == [False, False, False, True]
    assert not s.failed("plan", "0", "y")
    s.clear()
    assert not s.failed("plan", "0", "x")
