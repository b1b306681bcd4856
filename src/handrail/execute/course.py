"""The course of one execution: what is believed, what was spent, what was tried; and the ways to look, ask and note.

Everything that comes from outside goes through the journal here, so the code that decides (`loop`, `step`, `onward`) stays a
function of the record.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from handrail.check.pipeline import Pipeline
from handrail.domain.exclusions import Exclusions
from handrail.domain.skill import Skill
from handrail.domain.state import Observation
from handrail.domain.task import Task
from handrail.domain.types import Objects
from handrail.domain.values import Atom, Value
from handrail.errors import HandrailError, WorldError
from handrail.execute.belief import Belief, carry
from handrail.execute.budget import Budgets, Ended, Spent, Stalls
from handrail.execute.person import Answer, Kind, Question
from handrail.execute.replan import Replanner
from handrail.execute.runner import Runner, Stopping
from handrail.record.journal import Journal
from handrail.world import wire
from handrail.world.protocol import Stopped, StopVerdict

T = TypeVar("T")


class Halt(HandrailError):  # noqa: N818 - ends an execution from wherever it is
    """The execution ends here, for this reason; caught by the executor, which makes an outcome of it."""

    def __init__(self, ended: Ended, sentence: str, verdict: StopVerdict | None = None) -> None:
        self.ended, self.sentence, self.verdict = ended, sentence, verdict
        super().__init__(sentence)


def step_seconds(skill: Skill) -> float:
    """The end-to-end deadline of a step where the budget sets none: three times its declared duration plus 10 s, or 60 s."""
    return 60.0 if skill.duration is None else 3 * skill.duration + 10.0


class Course:
    """See the module.

    Args:
        runner: drives the world.
        journal: see `handrail.record.journal`.
        pipeline: checks new plans.
        replanner: writes them.
        budgets: what may be spent.
        task: objects, rules and goal.
        carried: monitor values so far.
        exclusions: what evidence speaks against.
    """

    def __init__(
        self,
        runner: Runner,
        journal: Journal,
        pipeline: Pipeline,
        replanner: Replanner,
        budgets: Budgets,
        task: Task,
        carried: dict[Atom, Value],
        exclusions: Exclusions,
    ) -> None:
        self.runner = runner
        self.journal = journal
        self.pipeline = pipeline
        self.replanner = replanner
        self.budgets = budgets
        self.task = task
        self.base: Objects = task.objects
        self.carried = dict(carried)
        self.exclusions = exclusions
        self.belief = Belief(task.objects)
        self.spent = Spent()
        self.renewed = Spent()
        self.stalls = Stalls(budgets.retries)
        self.tried: list[str] = []
        self.late: set[str] = set()
        self.world_time = 0.0
        self.instance = ""
        self.world_skills: tuple[str, ...] = ()
        self.real = False
        self._questions = 0

    # -- outside ---------------------------------------------------------------------------------------------------------------

    def outside(
        self,
        what: str,
        asked: dict[str, Any],
        do: Callable[[], T],
        pack: Callable[[T], Any],
        unpack: Callable[[Any], T],
        durable: bool = False,
    ) -> T:
        """`Journal.outside`, with a stop and a broken world as recorded answers too.

        Raises:
            Halt: the run was stopped meanwhile.
            WorldError: the world could not be reached.
        """

        def guarded() -> dict[str, Any]:
            try:
                return {"ok": pack(do())}
            except Stopping as s:
                return {"stopped": s.by, "verdict": wire.pack_verdict(self.runner.stop_verdict())}
            except WorldError as e:
                return {"failed": str(e)}

        answer = self.journal.outside(what, asked, guarded, lambda a: a, lambda a: a, durable)
        if "stopped" in answer:
            verdict = wire.unpack_verdict(answer["verdict"])
            raise Halt(Ended.STOPPED, stop_sentence(str(answer["stopped"]), verdict), verdict)
        if "failed" in answer:
            raise WorldError(str(answer["failed"]))
        return unpack(answer["ok"])

    def clock(self) -> float:
        """Seconds since the epoch, as recorded."""
        now: float = self.journal.outside("clock", {}, time.time, float, float)
        return now

    def look(self, stepped: bool = False) -> tuple[Atom, ...]:
        """Observe, and take it in; returns the facts that turned out otherwise than believed.

        Args:
            stepped: whether a step was attempted since the last look, which counts for promises.

        Raises:
            Halt: the run was stopped, or the world can't be observed.
        """

        def do() -> Observation:
            for left in (2, 1, 0):
                try:
                    return self.runner.wait(self.runner.host.observe)
                except WorldError:
                    if not left:
                        raise
                    self.runner.sleep(0.05)
            raise AssertionError

        try:
            seen = self.outside(
                "observed",
                {},
                do,
                lambda o: wire.pack_observation(o, self.base),
                lambda b: wire.unpack_observation(b, self.belief.objects),
            )
        except WorldError as e:
            raise Halt(Ended.WORLD, f"The world can't be observed: {e}") from e
        self.world_time = seen.time
        surprises = self.belief.see(seen)
        if self.belief.objects != self.task.objects:
            self.task = Task(self.belief.objects, self.task.goal, self.exclusions)
        self.carried = carry(self.task, self.carried, self.belief.values, stepped)
        return surprises

    @property
    def values(self) -> dict[Atom, Value]:
        """Believed facts and monitors, as conditions read them."""
        return {**self.belief.values, **self.carried}

    # -- people ----------------------------------------------------------------------------------------------------------------

    def ask(self, kind: Kind, sentence: str, choices: tuple[str, ...] = (), background: str = "") -> Answer | None:
        """Ask a person; None where nobody answered in time.

        Raises:
            Halt: the run was stopped meanwhile, or no questions are left in the budget.
        """
        if kind in (Kind.FACT, Kind.OUTCOME):
            if self.spent.questions - self.renewed.questions >= self.budgets.questions:
                raise Halt(
                    Ended.QUESTIONS, f"{self.spent.questions} questions were asked, as many as may be. Open: {sentence}"
                )
            self.spent.questions += 1
        self._questions += 1
        question = Question(f"e{self._questions}", kind, sentence, choices, background)
        return self.outside(
            "question",
            question.to_json(),
            lambda: self.runner.ask(question, self.budgets.answer_seconds),
            lambda a: a.to_json() if a is not None else None,
            lambda b: None if b is None else Answer(b["text"], b["choice"], b["by"]),
            durable=True,
        )

    def tell_tried(self, sentence: str) -> None:
        """Remember what was tried, for the summary that a person gets."""
        self.tried.append(sentence)

    def summary(self) -> str:
        """What was tried, as a person reads it."""
        lines = [f"Goal: {self.task.goal.text or self.task.goal}"]
        lines += [f"Tried {i}: {t}" for i, t in enumerate(self.tried, 1)] or ["Nothing was tried yet."]
        lines += [f"Left out: {e}" for e in self.exclusions]
        s = self.spent
        lines.append(
            f"So far: {s.steps} steps started, {s.failures} failed, {s.retries} tried again, {s.replans} new plans asked for, "
            f"{s.rejections} of them refused."
        )
        return "\n".join(lines)


def stop_sentence(by: str, verdict: StopVerdict | None) -> str:
    """What a person is told after a stop: the truth about each robot."""
    if verdict is None:
        return f"Stopped by {by}; whether the robot stands still is not known."
    words = {
        Stopped.STOPPED: "stands still",
        Stopped.NOT_STOPPED: "has NOT stopped",
        Stopped.UNKNOWN: "may still be moving: that is not known",
    }
    robots = ", ".join(f"{r.replace('_', ' ')} {words[s]}" for r, s in sorted(verdict.robots.items()))
    more = f" ({verdict.sentence})" if verdict.sentence else ""
    return f"Stopped by {by}: {robots}{more}."
