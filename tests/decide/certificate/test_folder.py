from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.decide.certificate import CertificateFolder, Ended, Judgement, Status
from handrail.errors import ConfigError, StaleError, StoreError


@pytest.fixture
def folder(tmp_path):
    return CertificateFolder(tmp_path / "kitchen")


def fill(log, episodes, judged=True):
    for e in episodes:
        log.start(replace(e, started="2026-12-02T08:00:00+00:00"))
        log.end(e.id, e.ended, asks=e.asks, trace=e.trace)
        if judged and e.truth is not None:
            log.judge(Judgement(e.id, goal=e.truth, judge="Ada"))


@pytest.fixture
def small(make):
    """A declaration that 14 flawless episodes meet."""
    from handrail.decide.certificate import Limits

    return make.declaration(limits=Limits(0.2, 0.3), episodes=14)


def test_from_declaration_to_certificate(folder, small, make):
    sealed = folder.declare(small)
    assert folder.certificates() == [] and folder.certify()[0].status is Status.COLLECTING
    fill(folder.log(), make.batch(0, 0, 14))
    (found,) = folder.certify()
    assert found.status is Status.CERTIFIED and found.declaration == sealed
    assert folder.certificates() == [found]


def test_an_outcome_is_written_once(folder, small, make):
    folder.declare(small)
    fill(folder.log(), make.batch(1, 0, 13))
    assert folder.certify()[0].status is Status.NOT_CERTIFIED
    with pytest.raises(ConfigError, match="a new test needs a new declaration"):
        folder.certify()


def test_attempts_are_counted_and_share_delta(folder, small, make):
    folder.declare(small)
    fill(folder.log(), make.batch(1, 0, 13))
    folder.certify()
    with pytest.raises(ConfigError, match="is spent"):
        folder.declare(small)
    second = folder.declare(replace(small, delta=0.1))
    assert folder.attempts == 2
    assert second.share == pytest.approx(0.05)
    assert [(a.spent, a.result) for a in second.earlier] == [(0.05, "not certified")]


def test_a_series_leaves_room(folder, make):
    from handrail.decide.certificate import Limits

    d = make.declaration(limits=Limits(0.2, 0.3), episodes=30)
    assert folder.declare(d, "series").share == pytest.approx(0.025)


def test_an_unfinished_attempt_can_not_be_walked_away_from(folder, small, make):
    folder.declare(replace(small, delta=0.1), "series")
    with pytest.raises(ConfigError, match="still collecting"):
        folder.declare(replace(small, delta=0.1), "series")
    assert folder.certify(missing_as_lost=True)[0].status is Status.COLLECTING  # nothing was run at all
    fill(folder.log(), make.batch(0, 0, 3))
    assert folder.certify(missing_as_lost=True)[0].status is Status.NOT_CERTIFIED


def test_unjudged_runs_stop_the_test(folder, small, make):
    folder.declare(small)
    fill(folder.log(), make.batch(0, 0, 14), judged=False)
    with pytest.raises(ConfigError, match="14 runs that ended as done are not judged"):
        folder.certify()
    assert folder.certify(missing_as_lost=True)[0].rows[0].silent == 14


def test_episodes_from_before_the_declaration_are_refused(folder, small, make):
    folder.declare(small)
    folder.log().start(make.episode(0, started="2026-01-01T00:00:00+00:00"))
    folder.log().end("e0", Ended.HANDED_OVER)
    with pytest.raises(StaleError, match="before the declaration"):
        folder.certify()


def test_a_log_of_another_declaration_is_refused(folder, small):
    folder.declare(small)
    path = folder.path / "declaration-1.json"
    path.write_text(replace(folder.declaration(), place="elsewhere").to_json())
    with pytest.raises(StaleError, match="another declaration"):
        folder.log()


def test_a_removed_attempt_is_found(folder, small, make):
    folder.declare(replace(small, delta=0.1), "series")
    fill(folder.log(), make.batch(5, 0, 9))
    folder.certify()
    folder.declare(replace(small, episodes=40, delta=0.1), "series")
    (folder.path / "declaration-1.json").unlink()
    with pytest.raises(StoreError, match="a declaration is missing"):
        _ = folder.attempts


def test_nothing_declared(folder):
    with pytest.raises(ConfigError, match="no declaration"):
        folder.declaration()


def test_groups_have_their_own_files(folder, small, make):
    folder.declare(replace(small, groups=("plain", "two alike"), episodes=20))
    for group in ("plain", "two alike"):
        pool = [replace(e, id=group + e.id, cluster=group + e.cluster, group=group) for e in make.batch(0, 0, 20)]
        fill(folder.log(), pool)
    assert [c.group for c in folder.certify()] == ["plain", "two alike"]
    assert sorted(p.name for p in folder.path.glob("certificate*")) == [
        "certificate-1-plain.json", "certificate-1-two_alike.json"]  # fmt: skip
    assert len(folder.certificates()) == 2
