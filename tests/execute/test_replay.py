"""A replay takes every decision again from the record alone; a resume goes on without repeating what was done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.check import Pipeline
from handrail.errors import StaleError, StoreError
from handrail.execute.budget import Budgets, Ended
from handrail.execute.person import Callback, Scripted
from handrail.execute.replan import PlannerFirst
from handrail.execute.replay import replay, resume, sections
from handrail.execute.runner import Runner
from handrail.record.event import Event, MemoryLog
from handrail.world.faults import Fault, Faults

from .conftest import dijkstra

CASES = {
    "plain": {},
    "slips": {"faults": Faults(slip=0.5), "seed": 3},
    "liar": {"faults": Faults(liar=0.4), "seed": 1},
    "lies always": {"faults": Faults(liar=1.0)},
    "moved": {"faults": Faults(moved=0.5, moves=("on",)), "seed": 5},
    "hidden": {"faults": Faults(hidden=0.4), "seed": 2},
    "blocked": {"faults": Faults(script={1: Fault.BLOCKED}), "seed": 2},
    "hang": {"faults": Faults(script={0: Fault.HANG}), "budgets": Budgets(step_seconds=0.1)},
    "deaf": {"faults": Faults(script={0: Fault.DEAF}), "budgets": Budgets(step_seconds=0.1, cancel_seconds=0.1)},
    "persons": {"faults": Faults(slip=0.9), "seed": 4, "person": Callback(lambda q: "try again", lambda c: True)},
}


@pytest.mark.parametrize("name", CASES)
def test_every_decision_comes_out_again(make, plain, name):
    kit = make(**CASES[name])
    out = kit.run("on(mug) == shelf", *plain)
    (section,) = sections(kit.log.events)
    again = replay(section)
    assert again.same, again.diverged
    assert again.outcome is not None
    assert (again.outcome.ended, again.outcome.sentence, again.outcome.spent) == (out.ended, out.sentence, out.spent)
    assert again.decisions == sum(e.kind.startswith("execute.") for e in kit.log.events)
    assert again.outcome.state.to_json() == out.state.to_json()


def test_a_stopped_run_replays_to_its_stop(make, plain):
    kit = make(pace=5.0)

    def stop_soon(runner):
        import threading

        threading.Timer(0.15, lambda: runner.stop("test")).start()

    out = kit.run("on(mug) == shelf", *plain, during=stop_soon)
    assert out.ended is Ended.STOPPED and "stands still" in out.sentence
    again = replay(sections(kit.log.events)[0])
    assert again.same and again.outcome is not None and again.outcome.sentence == out.sentence


def _changed(events: list[Event], kind: str, change) -> list[Event]:
    out = []
    done = False
    for e in events:
        if e.kind == kind and not done:
            done = True
            body = dict(e.body)
            change(body)
            e = Event(e.run, e.seq, e.time, e.kind, body)
        out.append(e)
    assert done
    return out


def test_a_forged_record_diverges(make, plain):
    kit = make()
    kit.run("on(mug) == shelf", *plain)

    def lie(body):
        body["effect"] = "absent"

    again = replay(sections(_changed(kit.log.events, "execute.judged", lie))[0])
    assert not again.same and "execute.judged" in again.diverged

    def other_goal(body):
        body["goal"] = {**body["goal"], "final": "on(mug) == table"}

    with pytest.raises(StaleError):
        replay(sections(_changed(kit.log.events, "execute.begin", other_goal))[0])


def test_a_changed_domain_is_refused(make, plain):
    kit = make()
    kit.run("on(mug) == shelf", *plain)

    def weaker(body):
        text = body["scene"]["domain"]["text"].replace("full(v) := true", "full(v) := false")
        assert text != body["scene"]["domain"]["text"]
        body["scene"] = {**body["scene"], "domain": {**body["scene"]["domain"], "text": text}}

    with pytest.raises(StaleError, match="fingerprint"):
        replay(sections(_changed(kit.log.events, "execute.begin", weaker))[0])


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs in the dead process."""


class Dying(MemoryLog):
    """A log after whose n-th event the process is dead."""

    def __init__(self, n: int) -> None:
        super().__init__("r1")
        self.n = n

    def append(self, kind, body, durable=False):
        made = super().append(kind, body, durable)
        if len(self.events) >= self.n:
            raise Killed
        return made


def total_events(make, plain, **more) -> int:
    kit = make(**more)
    kit.run("on(mug) == shelf", *plain)
    return len(kit.log.events)


@pytest.mark.parametrize("faults", [Faults(), Faults(slip=0.4), Faults(denier=0.5)], ids=["none", "slips", "denier"])
def test_killed_after_any_event_and_resumed(make, plain, faults):
    """The process dies after each event in turn; the next one goes on, and nothing is done twice."""
    n = total_events(make, plain, faults=faults, seed=7)
    for at in range(2, n):
        kit = make(faults=faults, seed=7)
        kit.log = Dying(at)
        with pytest.raises(Killed):
            kit.run("on(mug) == shelf", *plain)
        past = list(kit.log.events)
        found = sections(past)
        if not found:
            continue  # it died before it began: there is nothing to resume and nothing has moved
        log = MemoryLog("r1")
        log.events = past
        if found[0].ended:
            with Runner(kit.host, log, kit.person) as runner, pytest.raises(StoreError, match="has ended"):
                resume(found[0], runner, PlannerFirst(dijkstra))
            continue
        with Runner(kit.host, log, kit.person) as runner:
            out = resume(found[0], runner, PlannerFirst(dijkstra), Pipeline(notary=runner.notary))
        assert out.done, (at, out.sentence)
        done = [s.skill for _, s in kit.world.done]
        assert kit.world.repeated == [] and done.count("pick") == done.count("place") == 1, (at, done)
        assert len({g for g, _ in kit.world.done}) == len(kit.world.done)
        again = replay(sections(log.events)[0])
        assert again.same and again.outcome is not None and again.outcome.spent == out.spent, (at, again.diverged)


def test_a_resume_observes_before_it_moves(make, plain):
    kit = make()
    kit.log = Dying(12)
    with pytest.raises(Killed):
        kit.run("on(mug) == shelf", *plain)
    log = MemoryLog("r1")
    log.events = list(kit.log.events)
    before = len(log.events)
    kit.world.change((("on", "mug"), "shelf"), (("holding", "hand_1"), None))
    with Runner(kit.host, log, Scripted()) as runner:
        out = resume(sections(log.events)[0], runner, PlannerFirst(dijkstra))
    assert out.done
    kinds = [e.kind for e in log.events[before:] if e.kind.startswith("execute.")]
    assert kinds[0] == "execute.resumed" and "execute.observed" in kinds
    assert "execute.intent" not in kinds[: kinds.index("execute.observed")]


def test_a_running_orphan_is_adopted(make, plain):
    kit = make(pace=0.4)
    with pytest.raises(Killed):
        kit.log = Dying(total := 7)
        kit.run("on(mug) == shelf", *plain)
    assert total
    log = MemoryLog("r1")
    log.events = list(kit.log.events)
    with Runner(kit.host, log, Scripted()) as runner:
        out = resume(sections(log.events)[0], runner, PlannerFirst(dijkstra))
    assert out.done
    assert [s.skill for _, s in kit.world.done] == ["go", "pick", "go", "place"]


def test_a_domain_with_python_guards_has_to_be_given_again(make, plain):
    from handrail.domain import Objects, State
    from handrail.errors import DomainError

    kit = make()
    guarded = {**kit.domain.skills, "go": replace(kit.domain.skills["go"], hook=lambda state, args: None)}
    kit.domain = replace(kit.domain, skills=guarded)
    kit.state = State(Objects(kit.domain, list(kit.state.objects)), kit.state.values)
    kit.__post_init__()
    assert kit.run("on(mug) == shelf", *plain).done
    (section,) = sections(kit.log.events)
    with pytest.raises(DomainError, match="guards"):
        replay(section)
    assert replay(section, kit.domain).same
