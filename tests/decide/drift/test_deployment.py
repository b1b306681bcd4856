from __future__ import annotations

import pytest

from handrail.decide.certificate import Ended, certify
from handrail.decide.certificate.runs import RunFacts
from handrail.decide.drift import AuditPlan, Deployment
from handrail.errors import ConfigError, ParseError


@pytest.fixture
def begun(make, tmp_path):
    pool = make.batch(1, 5, 94)
    return Deployment.begin(tmp_path, certify(make.declaration(), pool), pool, AuditPlan("seed", 0.5, first=3))


def facts(ended=Ended.DONE, asks=0, tries=None):
    return RunFacts(ended, "", asks, (), tries or {})


def test_first_tasks_are_all_audited_and_each_run_counts_once(begun):
    assert [begun.task(f"r{i}", facts())[0] for i in range(3)] == [True] * 3
    assert list(begun.pending) == ["r0", "r1", "r2"]
    with pytest.raises(ConfigError, match="taken before"):
        begun.task("r1", facts())


def test_audits_end_up_in_the_monitor(begun):
    begun.task("r0", facts())
    begun.task("r1", facts(Ended.HANDED_OVER))  # audited too, but nobody has to look: it was not done
    assert list(begun.pending) == ["r0"] and begun.monitor.audits == (1, 0, 1, 0)
    assert begun.audit("r0", as_meant=False) is None
    assert begun.monitor.audits == (2, 1, 2, 1)
    with pytest.raises(ConfigError, match="no audit of run 'r0' is pending"):
        begun.audit("r0", as_meant=True)


def test_the_state_is_on_disk_after_each_task(begun, make):
    for i in range(6):
        begun.task(f"r{i}", facts(asks=1, tries={"pick": (1, 2)}), make.components)
    again = Deployment(begun.folder)
    assert (again.runs, again.pending, again.plan) == (begun.runs, begun.pending, begun.plan)
    assert again.monitor == begun.monitor


def test_an_alarm_and_a_changed_component_reach_the_caller(begun, make):
    found = None
    for i in range(100):
        found = begun.task(f"r{i}", facts(Ended.HANDED_OVER))[1]
        if found:
            break
    assert found is not None and found.stream in ("hand-over", "audited task failure")
    assert Deployment(begun.folder).monitor.suspension == found


def test_misuse(begun, make, tmp_path):
    with pytest.raises(ConfigError, match="already"):
        Deployment.begin(tmp_path, begun.monitor.certificate, [], begun.plan)
    with pytest.raises(ConfigError, match="no deployment was begun"):
        Deployment(tmp_path / "none")
    (tmp_path / "deployed.json").write_text("{}")
    with pytest.raises(ParseError):
        Deployment(tmp_path)
