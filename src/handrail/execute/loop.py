"""The executor: observe, step, verify the effect, replan within budget, escalate.

It takes one type, a `VerifiedPlan`, with an `Approval` for the same proof. It goes on while what is observed entails the plan's
kernel (the weakest condition from which the rest still works), so unrelated changes don't stop it, and plans again otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.check.pipeline import Pipeline
from handrail.check.proof import VerifiedPlan
from handrail.domain.exclusions import Exclusions
from handrail.domain.state import State
from handrail.domain.values import Atom, Value
from handrail.errors import UnprovenError, WorldError
from handrail.execute.approval import Approval
from handrail.execute.budget import Budgets, Ended, Spent
from handrail.execute.course import Course, Halt
from handrail.execute.onward import ask_unknown, escalate, exclude, next_plan, place
from handrail.execute.packed import pack_exclusions, pack_goal, pack_plan, pack_scene
from handrail.execute.replan import NoReplanner, Replanner
from handrail.execute.runner import Runner
from handrail.execute.step import Effect, Judged, attempt
from handrail.record.event import Event
from handrail.record.journal import Journal
from handrail.world import wire
from handrail.world.protocol import Failure, StopVerdict


@dataclass(frozen=True)
class Outcome:
    """How an execution ended.

    Attributes:
        ended: why.
        sentence: the same for a person.
        run: the run's id.
        spent: what it took.
        state: what was believed at the end; unknown where nobody looked since.
        summary: what was tried, for whoever takes over.
        verdict: of the stop, where there was one.
    """

    ended: Ended
    sentence: str
    run: str
    spent: Spent
    state: State
    summary: str
    verdict: StopVerdict | None = None

    @property
    def done(self) -> bool:
        """Whether the goal was seen to hold at the end."""
        return self.ended is Ended.DONE

    @property
    def reason(self) -> str:
        """The reason code."""
        return str(self.ended)

    @property
    def escalated(self) -> bool:
        """Whether it was left to a person: it neither reached the goal nor was it stopped or refused by somebody."""
        return self.ended not in (Ended.DONE, Ended.STOPPED, Ended.REFUSED)


class Executor:
    """Carries out verified plans.

    Args:
        runner: drives the world; its notary must be the pipeline's.
        pipeline: checks new plans.
        replanner: writes them; without one every failure that the plan does not survive goes to a person.
        budgets: what may be spent.

    Raises:
        UnprovenError: the pipeline seals with another notary than the runner checks with.
    """

    def __init__(
        self,
        runner: Runner,
        pipeline: Pipeline,
        replanner: Replanner | None = None,
        budgets: Budgets | None = None,
    ) -> None:
        if pipeline.notary.key != runner.notary.key:
            raise UnprovenError("the pipeline's notary is not the runner's: give Pipeline(notary=runner.notary)")
        self.runner = runner
        self.pipeline = pipeline
        self.replanner = replanner or NoReplanner()
        self.budgets = budgets or Budgets()

    def run(
        self,
        verified: VerifiedPlan,
        approval: Approval,
        carried: Mapping[Atom, Value] | None = None,
        past: Sequence[Event] = (),
        journal: Journal | None = None,
    ) -> Outcome:
        """Carry out a plan, and whatever plans have to follow it, to the goal or to a named end.

        Args:
            verified: the plan.
            approval: for its proof_id; used up here.
            carried: monitor values of the run so far; the plan's own where not given.
            past: events of this execution so far, where it is resumed.
            journal: instead of the runner's log and `past`, for a replay.

        Raises:
            UnprovenError: the plan or the approval is not genuine or not for one another.
            StaleError: the approval was used or has expired.
            StoreError: events can't be written; the world is stopped first.
        """
        runner = self.runner
        plan = runner.notary.require(verified)
        journal = journal or Journal(runner.log, past)
        monitors = dict(plan.monitors if carried is None else carried)
        exclusions = Exclusions(list(plan.task.exclusions.items))
        course = Course(runner, journal, self.pipeline, self.replanner, self.budgets, plan.task, monitors, exclusions)
        try:
            self._begin(course, plan, approval)
            runner.approvals.use(approval, plan, course.clock())
            try:
                sentence = self._go(course, plan)
                ended, verdict = Ended.DONE, None
            except Halt as h:
                ended, sentence, verdict = h.ended, h.sentence, h.verdict
            except WorldError as e:
                ended, sentence = Ended.WORLD, f"The world can't be reached any more: {e}"
                verdict = runner.host.stop("handrail: the world can't be reached")
            journal.note(
                "end", {"ended": str(ended), "sentence": sentence, "spent": course.spent.to_json()}, durable=True
            )
        except BaseException:
            self._safe()
            raise
        return Outcome(ended, sentence, runner.run, course.spent, course.belief.state, course.summary(), verdict)

    def _safe(self) -> None:
        """Something broke in the runner itself: nothing may go on moving."""
        try:
            if self.runner.host.running():
                self.runner.stop("handrail: an error in the runner")
        except WorldError:
            self.runner.stop("handrail: an error in the runner")

    def _begin(self, course: Course, plan: VerifiedPlan, approval: Approval) -> None:
        """Write down everything that a replay starts from."""
        if not isinstance(approval, Approval):
            raise UnprovenError(f"an Approval is needed, not {type(approval).__name__}")
        host = self.runner.host
        facts = course.outside(
            "host",
            {},
            lambda: {
                "instance": host.status().instance,
                "skills": list(host.capabilities.skills),
                "real": host.capabilities.real,
            },
            lambda b: b,
            lambda b: b,
        )
        course.instance = facts["instance"]
        course.world_skills = tuple(facts["skills"])
        course.real = facts["real"]
        body: dict[str, Any] = {
            "scene": pack_scene(plan.task.objects),
            "goal": pack_goal(plan.goal),
            "plan": pack_plan(plan.plan),
            "proof_id": plan.proof_id,
            "verdict": plan.verdict.to_json(),
            "tolerances": dict(plan.tolerances),
            "monitors": wire.pack_values(plan.monitors),
            "start": wire.pack_values(plan.start),
            "carried": wire.pack_values(course.carried),
            "exclusions": pack_exclusions(course.exclusions),
            "approval": approval.to_json(),
            "budgets": self.budgets.to_json(),
        }
        course.journal.note("begin", body, durable=True)

    def _go(self, course: Course, plan: VerifiedPlan) -> str:
        """The loop; gives the closing sentence where the goal is seen to hold.

        Raises:
            Halt: it ends otherwise.
        """
        course.look()
        index, tries = 0, 0
        failed: Judged | None = None
        while True:
            if course.journal.take_resumed():
                course.look()
            if course.belief.objects != plan.task.objects:
                plan, index, tries, failed = next_plan(course, "something new came into view"), 0, 0, None
                continue
            if plan.task.end.holds(course.values):
                rest = len(plan.steps) - index
                more = f"; {rest} of its steps were not needed any more" if rest > 0 else ""
                return f"Done, and seen: {course.task.goal.text or course.task.goal}{more}."
            found = self._next_index(course, plan, index, tries, failed)
            if course.journal.take_resumed():
                course.look()
                continue
            if found is None:
                why = failed.sentence if failed is not None else _surprise(course, plan, index)
                if failed is not None and failed.effect is not Effect.SEEN and not failed.again:
                    exclude(course, failed)
                plan, index, tries, failed = next_plan(course, why), 0, 0, None
                continue
            if found != index:
                tries = 0
            elif failed is not None and not failed.again:
                tries += 1
                course.spent.retries += 1
            index = found
            if course.spent.steps - course.renewed.steps >= course.budgets.steps:
                escalate(course, Ended.STEPS, f"{course.spent.steps} steps were started, as many as may be.")
                continue
            judged = attempt(course, plan, index, tries)
            failed = None if judged.effect is Effect.SEEN else judged
            if failed is None:
                index, tries = index + 1, 0
            elif failed.again:
                self._take_again(course, failed)
            elif course.stalls.failed(plan.plan.plan_id, str(index), course.exclusions.snapshot_id):
                why = f"The same plan failed at the same step too often. Last: {failed.sentence}"
                escalate(course, Ended.STALL, why)
                plan, index, tries, failed = next_plan(course, why), 0, 0, None

    def _next_index(
        self, course: Course, plan: VerifiedPlan, index: int, tries: int, failed: Judged | None
    ) -> int | None:
        """Where in the plan to go on; None where only a new plan helps."""
        last = len(plan.steps)
        while True:
            # Of the later kernels the last that holds leaves the least to do (as PLANEX does, Fikes, Hart and Nilsson 1972).
            ahead = list(range(last - 1, index, -1))
            if failed is None:
                order = [index, *ahead] if index < last else []
            else:
                again = failed.again or (tries < course.budgets.retries and not failed.pointless)
                order = [*ahead, index] if again else ahead
            found = place(course, plan, order)
            if found is not None:
                body = {"index": found, "after": index, "failed": failed is not None}
                course.journal.note("choice", body)
                return found
            if index > last or not ask_unknown(course, plan, min(index, last)):
                course.journal.note("choice", {"index": None, "after": index, "failed": failed is not None})
                return None

    def _take_again(self, course: Course, failed: Judged) -> None:
        """Where the lease lapsed and the world stopped by itself: take it again, within the budget.

        Raises:
            Halt: too often, or it can't be taken.
        """
        if failed.code != Failure.LEASE:
            return
        course.spent.lapses += 1
        if course.spent.lapses > course.budgets.lapses:
            raise Halt(Ended.LEASE, f"The lease lapsed {course.spent.lapses} times: this machine can't keep up.")

        def do() -> bool:
            self.runner.acquire()
            return True

        try:
            course.outside("acquired", {"lapse": course.spent.lapses}, do, bool, bool)
        except WorldError as e:
            raise Halt(Ended.LEASE, f"The lease lapsed and the world can't be taken again: {e}") from e


def _surprise(course: Course, plan: VerifiedPlan, index: int) -> str:
    """Why a plan does not go on although no step of it failed."""
    at = min(index, len(plan.steps))
    gaps = [str(g) for g in plan.kernels[at].gaps(course.values)]
    shown = " and ".join(gaps[:3]) or "what the plan relied on"
    return f"things are not as they were: {shown} does not hold any more"
