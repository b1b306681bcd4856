"""Replay and resume: an execution taken up from its record.

Both run the executor itself over the recorded answers of the world, of people, of the planner and of dry-runs. A replay stops where
the record stops and says where it decided otherwise; a resume goes on from there with the world, observing first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handrail.check.pipeline import Pipeline, Refused
from handrail.check.proof import Notary, VerifiedPlan
from handrail.domain.domain import Domain
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.errors import StaleError, StoreError
from handrail.execute.approval import Approvals
from handrail.execute.budget import Budgets
from handrail.execute.loop import Executor, Outcome
from handrail.execute.packed import recorded_pipeline, unpack_exclusions, unpack_goal, unpack_plan, unpack_scene
from handrail.execute.replan import Proposed, Replanner, Situation
from handrail.execute.runner import Runner
from handrail.record.event import Event, MemoryLog
from handrail.record.journal import Diverged, EndOfRecord, Journal
from handrail.world import wire
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld


@dataclass(frozen=True)
class Section:
    """One recorded execution.

    Attributes:
        run: the run's id.
        events: from its beginning to its end, or to where the record breaks off.
        begin: body of its "execute.begin".
        ended: how it ended; "" where the record breaks off.
    """

    run: str
    events: tuple[Event, ...]
    begin: dict[str, Any]
    ended: str


@dataclass(frozen=True)
class Replayed:
    """What a replay found.

    Attributes:
        decisions: events that were decided or asked again and came out the same.
        outcome: the end it came to; None where the record breaks off.
        diverged: where and how it came out otherwise; "" where it didn't.
    """

    decisions: int
    outcome: Outcome | None
    diverged: str

    @property
    def same(self) -> bool:
        """Whether every decision came out as recorded."""
        return not self.diverged


def sections(events: Sequence[Event]) -> list[Section]:
    """The executions of a run, in order. Each begins with the host's facts, which stand right before "execute.begin"."""
    out: list[Section] = []
    starts = [i for i, e in enumerate(events) if e.kind == "execute.host"]
    for i, start in enumerate(starts):
        part = tuple(events[start : starts[i + 1] if i + 1 < len(starts) else len(events)])
        begin = next((e.body for e in part if e.kind == "execute.begin"), None)
        if begin is not None:
            ended = next((str(e.body["ended"]) for e in part if e.kind == "execute.end"), "")
            out.append(Section(part[0].run, part, begin, ended))
    return out


def rebuild(section: Section, notary: Notary, domain: Domain | None = None) -> VerifiedPlan:
    """Prove the recorded plan again, with the recorded results of its dry-runs.

    Args:
        section: the execution.
        notary: of this process.
        domain: where the record can't give it.

    Raises:
        StaleError: the proof does not come out as recorded: domain, rules or handrail itself have changed.
    """
    body = section.begin
    objects = unpack_scene(body["scene"], domain)
    exclusions = unpack_exclusions(body["exclusions"])
    task = Task(objects, unpack_goal(body["goal"], objects), exclusions)
    # The proof depends on the monitors at the start, not on the facts; any state from which the plan works gives the same proof.
    monitors = wire.unpack_values(body["monitors"])
    pipeline = recorded_pipeline(notary, body["verdict"], body["tolerances"])
    start = wire.unpack_values(body["start"])
    found = pipeline.verify(
        unpack_plan(body["plan"]), State(objects, start), task.goal, carried=monitors, snapshot=object(), task=task
    )
    if isinstance(found, Refused):
        why = "; ".join(r.sentence for r in found.verdict.reasons)
        raise StaleError(f"the recorded plan of run {section.run} is not accepted any more: {why}")
    if found.proof_id != body["proof_id"]:
        raise StaleError(
            f"the proof of run {section.run} comes out as {found.proof_id[:12]}, recorded was {body['proof_id'][:12]}: "
            "domain, rules or handrail have changed since"
        )
    return found


def replay(section: Section, domain: Domain | None = None) -> Replayed:
    """Take every decision of an execution again, from its record alone: no world, no model, no person.

    Raises:
        StaleError: the record can't be taken up: its domain has changed, or it needs a domain that was made in Python.
    """
    notary = Notary()
    verified = rebuild(section, notary, domain)
    journal = Journal(None, section.events)
    runner = _Offline(section.run, verified, notary)
    executor = Executor(runner, Pipeline(notary=notary), _NoOne(), Budgets(**section.begin["budgets"]))
    approval = runner.approvals.from_record(section.begin["approval"])
    carried = wire.unpack_values(section.begin["carried"])
    try:
        outcome = executor.run(verified, approval, carried, journal=journal)
    except EndOfRecord:
        return Replayed(journal.reproduced, None, "")
    except Diverged as e:
        return Replayed(journal.reproduced, None, str(e))
    left = journal.left
    return Replayed(journal.reproduced, outcome, f"the record goes on after the end: {left}" if left else "")


def resume(
    section: Section,
    runner: Runner,
    replanner: Replanner,
    pipeline: Pipeline | None = None,
    domain: Domain | None = None,
) -> Outcome:
    """Go on with an execution whose process was killed.

    The recorded part is taken again from the record. Then: a step that may have been started is looked for, the world is observed,
    and only what is seen decides how to go on. A step whose effect is there is not repeated; one that must not be repeated and whose
    outcome nobody knows is asked about.

    Args:
        section: the execution.
        runner: for the same run, inside its `with`.
        replanner: for what follows.
        pipeline: for what follows, sealed by the runner's notary.
        domain: where the record can't give it.

    Raises:
        StoreError: the execution has ended, so there is nothing to go on with.
        StaleError: the record does not fit the program any more.
    """
    if section.ended:
        raise StoreError(f"the execution of run {section.run} has ended ({section.ended}); start a new run")
    if runner.run != section.run:
        raise StoreError(f"this runner writes run {runner.run}, the record is of run {section.run}")
    verified = rebuild(section, runner.notary, domain)
    approval = runner.approvals.from_record(section.begin["approval"])
    executor = Executor(
        runner, pipeline or Pipeline(notary=runner.notary), replanner, Budgets(**section.begin["budgets"])
    )
    carried = wire.unpack_values(section.begin["carried"])
    return executor.run(verified, approval, carried, past=section.events)


class _NoOne:
    """A replay never asks for a plan: the recorded one is given."""

    def replan(self, situation: Situation) -> Proposed:  # noqa: ARG002 - a replanner's shape
        raise EndOfRecord("the record breaks off before this plan")


class _Offline(Runner):
    """A runner that drives nothing: a replay's."""

    def __init__(self, run: str, verified: VerifiedPlan, notary: Notary) -> None:
        world = SymbolicWorld(State(verified.task.objects), name="replay")
        super().__init__(LocalHost(world, lease=None), MemoryLog(run), notary=notary, threads=False)
        # Approvals were checked against the clock of then; now only their seal and their single use count.
        self.approvals = Approvals(notary, lifetime=1e9)

    def tick(self) -> None:
        """Nothing to renew."""

    def trace(self, kind: str, body: dict[str, Any]) -> None:
        """Nothing to tell."""
