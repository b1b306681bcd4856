from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from handrail.decide.certificate import Choice, DryRun, Ended, EpisodeLog, Judgement, ReadBack, Replan, Verified
from handrail.errors import ConfigError, ParseError, StoreError

TRACE = (
    Choice(0.7, "mug in sink", asked=True, answer="cup in sink"),
    Choice(0.2, None, asked=True),
    ReadBack(None),
    DryRun((True, False)),
    Replan(1),
    Verified(0.75, "pick"),
)


@pytest.fixture
def log(tmp_path):
    return EpisodeLog.create(tmp_path / "episodes.jsonl", "seal")


def test_a_run_is_read_as_it_was_written(log, make):
    log.start(make.episode(1, request="tidy up", intent="mug in sink", group="tidy"))
    log.end("e1", Ended.DONE, why="seen", asks=2, seconds=3.5, trace=TRACE, first_tries={"pick": (1, 4)})
    log.judge(Judgement("e1", goal=True, judge="Ada"))
    (found,) = log.episodes()
    assert found.trace == TRACE
    assert (found.ended, found.truth, found.asks, found.seconds) == (Ended.DONE, True, 2, 3.5)
    assert (found.request, found.intent, found.group) == ("tidy up", "mug in sink", "tidy")
    assert found.first_tries["pick"] == (1, 4)
    assert log.declaration == "seal"


def test_every_started_run_counts(log, make):
    for i in range(3):
        log.start(make.episode(i))
    log.end("e1", Ended.DONE)
    assert [e.ended for e in log.episodes()] == [Ended.DROPPED, Ended.DONE, Ended.DROPPED]


def test_what_a_start_claims_about_its_end_is_ignored(log, make):
    log.start(make.episode(1, Ended.DONE, truth=True))
    assert log.episodes()[0].losses == (1, 1, 1)


def test_a_crash_is_recorded_as_failed_and_goes_on(log, make):
    with pytest.raises(RuntimeError, match="motor"), log.running(make.episode(1)):
        raise RuntimeError("motor")
    (found,) = log.episodes()
    assert found.ended is Ended.FAILED and "crash" in found.why and "motor" in found.why


def test_silence_is_recorded_as_failed(log, make):
    with log.running(make.episode(1)):
        pass
    with log.running(make.episode(2)):
        log.end("e2", Ended.HANDED_OVER)
    assert [e.ended for e in log.episodes()] == [Ended.FAILED, Ended.HANDED_OVER]


def test_the_watchdog_ends_what_is_silent_for_too_long(log, make):
    begun = datetime(2026, 12, 1, tzinfo=UTC)
    for i, seconds in enumerate((0, 50)):
        log.start(make.episode(i, started=(begun + timedelta(seconds=seconds)).isoformat()))
    assert log.watchdog(60, at=begun + timedelta(seconds=100)) == ["e0"]
    assert [e.ended for e in log.episodes()] == [Ended.FAILED, Ended.DROPPED]


def test_judges_who_disagree_count_as_not_as_meant(log, make):
    log.start(make.episode(1))
    log.end("e1", Ended.DONE)
    assert [e.id for e in log.unjudged()] == ["e1"]
    log.judge(Judgement("e1", goal=True, judge="Ada"))
    log.judge(Judgement("e1", goal=False, judge="Bo"))
    log.judge(Judgement("e1", goal=True, judge="Cy"))
    assert log.episodes()[0].truth is False
    assert log.unjudged() == []


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_removed_line_is_found(log, make, gone):
    for i in range(4):
        log.start(make.episode(i))
    lines = log.path.read_text().splitlines(keepends=True)
    log.path.write_text("".join(lines[:gone] + lines[gone + 1 :]))
    with pytest.raises(StoreError, match="removed or changed"):
        log.episodes()


def test_a_changed_line_is_found(log, make):
    log.start(make.episode(1))
    log.end("e1", Ended.FAILED)
    log.start(make.episode(2))
    log.path.write_text(log.path.read_text().replace('"failed"', '"done"'))
    with pytest.raises(StoreError, match="removed or changed"):
        log.episodes()


def test_a_cut_off_line_is_found_and_nothing_is_added(log, make):
    log.start(make.episode(1))
    log.path.write_text(log.path.read_text()[:-20])
    with pytest.raises(StoreError, match="cut off"):
        log.episodes()
    with pytest.raises(StoreError):
        log.start(make.episode(2))


def test_misuse_is_refused(log, make, tmp_path):
    with pytest.raises(ConfigError, match="never started"):
        log.end("e9", Ended.DONE)
    with pytest.raises(ConfigError, match="never started"):
        log.judge(Judgement("e9", goal=True, judge="Ada"))
    log.start(make.episode(1))
    with pytest.raises(ConfigError, match="already started"):
        log.start(make.episode(1))
    with pytest.raises(ConfigError, match="name of its judge"):
        log.judge(Judgement("e1", goal=True, judge=""))
    log.end("e1", Ended.DONE)
    with pytest.raises(ConfigError, match="already written"):
        log.end("e1", Ended.FAILED)
    with pytest.raises(StoreError, match="never started anew"):
        EpisodeLog.create(log.path, "other")
    with pytest.raises(StoreError, match="can't read"):
        EpisodeLog(tmp_path / "none.jsonl").episodes()


def test_a_foreign_line_names_its_place(log, make):
    log._append({"kind": "end", "id": "unknown"})
    with pytest.raises(ParseError, match=r"episodes\.jsonl:2"):
        log.episodes()
