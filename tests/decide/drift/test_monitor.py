from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handrail.decide.certificate import Choice, Deployed, Ended, Setting, certify, statement
from handrail.decide.drift import Cause, Monitor, Stream, TaskReport, streams_of
from handrail.decide.drift.streams import CHECK_ERROR, COMPLAINT, FIRST_TRY, HAND_OVER, SILENT
from handrail.errors import ConfigError, ParseError


@pytest.fixture
def certificate(make):
    """Two accepted settings; the bolder one is chosen."""
    bold, cautious = Setting(0.0, read_back=False), Setting(0.9, read_back=False)
    pool = [
        make.episode(
            i,
            Ended.HANDED_OVER if i < 5 else Ended.DONE,
            setting=cautious,
            asks=1,
            trace=(Choice(0.5, "a", True, "a"),),
            first_tries={"pick": (0 if i % 10 else 1, 1)},
        )
        for i in range(100)
    ]
    found = certify(make.declaration(settings=(bold, cautious), starts=((1, 0),)), pool)
    return found, pool


@pytest.fixture
def monitor(certificate):
    found, pool = certificate
    return Monitor(found, streams_of(found, pool, checks=(0, 100), complaints=(1, 100), audit_share=0.1))


def report(i, over=False, asked=False, failed=False, components=None):
    ended = Ended.HANDED_OVER if over else Ended.DONE
    return TaskReport(f"t{i}", ended, asked, {"pick": [failed]}, components)


def run(monitor, rates, tasks, rng, components=None):
    over, asked, failed = (rng.random(tasks) < r for r in rates)
    for i in range(tasks):
        monitor.task(report(i, over[i], asked[i], failed[i], components))
        if not monitor.holds:
            return i + 1
    return None


def test_a_worn_skill_suspends_and_names_its_stream(monitor, certificate, make):
    rng = np.random.default_rng(0)
    assert run(monitor, (0.03, 0.05, 0.08), 400, rng, make.components) is None
    assert monitor.setting == certificate[0].setting == Setting(0.0, read_back=False)
    delay = run(monitor, (0.03, 0.05, 0.5), 300, rng, make.components)
    assert delay is not None and delay < 100
    s = monitor.suspension
    assert s.cause is Cause.ALARM and s.stream == FIRST_TRY + "pick"
    assert abs(s.since - 400) < 40 and s.at == 400 + delay and s.episodes == 100
    assert "the skill 'pick' fails more often" in s.sentence and f"since about task {s.since}" in s.sentence
    assert "a new certificate needs 100 new episodes" in s.sentence
    assert monitor.setting == certificate[0].strictest == Setting(0.9, read_back=False)


def test_the_first_cause_stays(monitor):
    rng = np.random.default_rng(1)
    run(monitor, (0.9, 0.0, 0.0), 100, rng)
    first = monitor.suspension
    assert first.stream == HAND_OVER
    for _ in range(50):
        monitor.complaint(True)
    assert monitor.suspension is first


def test_a_changed_component_suspends_at_once(monitor, make):
    assert monitor.task(report(1, components=make.components)) is None
    s = monitor.task(report(2, components={**make.components, "model": "other"}))
    assert s is not None and s.cause is Cause.COMPONENT and s.at == 2
    assert "'model' changed" in s.sentence and "needs 100 new episodes" in s.sentence


@pytest.mark.parametrize(
    ("feed", "stream"),
    [
        (lambda m: m.audit(Ended.DONE, False), SILENT),
        (lambda m: m.check_answer(True), CHECK_ERROR),
        (lambda m: m.complaint(True), COMPLAINT),
    ],
)
def test_every_other_stream_can_ring(certificate, feed, stream):
    found, _ = certificate
    monitor = Monitor(found, (Stream(stream, 0.1),))
    count = 0
    while monitor.holds and count < 100:
        feed(monitor)
        count += 1
    assert monitor.suspension.stream == stream
    assert 3 < count < 40


def test_audits_count_and_bound(monitor):
    for i in range(100):
        monitor.audit(Ended.HANDED_OVER if i < 10 else Ended.DONE, i >= 12)
    assert monitor.audits == (100, 2, 12, 90)
    bounds = monitor.bounds()
    assert 0.02 < bounds["silent"] < bounds["wrong_given_done"] < bounds["task"] < 0.35


def test_an_audit_that_was_not_carried_out_counts_as_lost(monitor):
    monitor.audit(Ended.DONE, None)
    assert monitor.audits == (1, 1, 1, 1)


def test_without_audits_the_bounds_say_nothing(monitor):
    assert set(monitor.bounds().values()) == {1.0}


def test_the_state_survives_a_restart(monitor, make):
    rng = np.random.default_rng(3)
    run(monitor, (0.03, 0.05, 0.08), 50, rng)
    monitor.audit(Ended.DONE, True)
    other = Monitor.from_json(monitor.to_json())
    assert other == monitor
    a, b = np.random.default_rng(4), np.random.default_rng(4)
    assert run(monitor, (0.9, 0.1, 0.1), 200, a) == run(other, (0.9, 0.1, 0.1), 200, b)
    restored = Monitor.from_json(other.to_json())
    assert restored.suspension == other.suspension and restored.suspension is not None
    with pytest.raises(ParseError):
        Monitor.from_json("{}")


def test_the_false_alarm_budget_is_split(certificate):
    found, _ = certificate
    many = (*tuple(Stream(f"s{i}", 0.1) for i in range(9)), Stream("audited", 0.1, per_task=0.1))
    monitor = Monitor(found, many, mean_tasks=1000)
    thresholds = {name: d.threshold for name, d in monitor._detectors.items()}
    assert thresholds["s0"] == 10_000 and thresholds["audited"] == pytest.approx(1000)


def test_false_alarms_are_rare_without_a_change(certificate):
    found, pool = certificate
    streams = streams_of(found, pool)
    rng, rung = np.random.default_rng(5), 0
    for _ in range(20):
        rung += run(Monitor(found, streams), (0.05, 0.05, 0.1), 300, rng) is not None
    # Mean time to a false alarm is at least 10,000 tasks: 20 runs of 300 tasks should see at most one or two.
    assert rung <= 3


def test_words_after_deployment(monitor, certificate):
    found, _ = certificate
    deployed = Deployed(suspension="", audited=100, done=90, wrong=2, bounds=monitor.bounds())
    assert "We check 10 in 100 tasks" in statement(found, deployed)
    run(monitor, (0.9, 0.0, 0.0), 100, np.random.default_rng(6))
    text = statement(found, Deployed(suspension=monitor.suspension.sentence))
    assert "hands over more often" in text and "finished as meant" not in text


def test_nothing_certified_can_not_be_watched(make):
    failing = certify(make.declaration(), make.batch(50, 0, 50))
    with pytest.raises(ConfigError, match="nothing is certified"):
        Monitor(failing, (Stream("x", 0.1),))


def test_streams_are_needed_once_each(certificate):
    found, _ = certificate
    for streams in ((), (Stream("x", 0.1), Stream("x", 0.2))):
        with pytest.raises(ConfigError, match="each once"):
            Monitor(found, streams)
    assert replace(Stream("x", 0.1), name="y").name == "y"
