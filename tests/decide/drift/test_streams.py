from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.decide.certificate import certify
from handrail.decide.drift import Stream, baseline, streams_of
from handrail.decide.drift.streams import (
    ASK,
    CHECK_ERROR,
    COMPLAINT,
    FIRST_TRY,
    HAND_OVER,
    SILENT,
    TASK,
    WRONG_GIVEN_DONE,
    meaning,
)
from handrail.errors import ConfigError
from handrail.numbers import upper_bound


def test_streams_of_a_certificate(make):
    pool = [replace(e, first_tries={"pick": (1 if i < 10 else 0, 2)}) for i, e in enumerate(make.batch(2, 8, 90))]
    found = {s.name: s for s in streams_of(certify(make.declaration(), pool), pool, checks=(1, 50), audit_share=0.1)}
    assert set(found) == {SILENT, TASK, WRONG_GIVEN_DONE, HAND_OVER, ASK, CHECK_ERROR, FIRST_TRY + "pick"}
    assert (found[SILENT].unchanged, found[TASK].unchanged) == (0.1, 0.25)  # the certified limits themselves
    assert found[HAND_OVER].unchanged == pytest.approx(upper_bound(8, 100, 0.01))
    assert found[WRONG_GIVEN_DONE].unchanged == pytest.approx(upper_bound(2, 92, 0.01))
    assert found[FIRST_TRY + "pick"].unchanged == pytest.approx(upper_bound(10, 200, 0.01))
    assert found[SILENT].per_task == 0.1 and found[HAND_OVER].per_task == 1.0


def test_a_stream_that_is_always_on_is_left_out(make):
    pool = [replace(e, asks=1, trace=()) for e in make.batch(0, 0, 100)]
    names = [s.name for s in streams_of(certify(make.declaration(), pool), pool, complaints=(5, 5))]
    assert COMPLAINT not in names


def test_without_a_certificate_there_is_nothing_to_watch(make):
    pool = make.batch(50, 0, 50)
    with pytest.raises(ConfigError, match="nothing is certified"):
        streams_of(certify(make.declaration(), pool), pool)


def test_bad_streams_are_refused():
    with pytest.raises(ConfigError, match="no rise"):
        baseline("x", 5, 5)
    with pytest.raises(ConfigError):
        Stream("x", 1.0)
    with pytest.raises(ConfigError):
        Stream("x", 0.1, per_task=0.0)


def test_meanings_are_in_plain_words():
    assert meaning(FIRST_TRY + "pick") == "the skill 'pick' fails more often on its first try"
    assert "hands over more often" in meaning(HAND_OVER)
    assert "'oil pressure'" in meaning("oil pressure")
