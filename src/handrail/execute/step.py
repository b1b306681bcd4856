"""One step: note the intent, carry it out, look, and judge by what is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from handrail.check.proof import VerifiedPlan
from handrail.domain.plan import Step
from handrail.domain.values import UNKNOWN, Atom, Value, show_fact
from handrail.errors import WorldError
from handrail.execute.budget import Ended
from handrail.execute.card import step_words
from handrail.execute.course import Course, Halt, step_seconds, stop_sentence
from handrail.execute.drive import NOT_STARTED, StepResult, drive
from handrail.execute.person import Kind
from handrail.world.hosting import Order
from handrail.world.protocol import Failure, Status, goal_id


class Effect(StrEnum):
    """What was seen of a step's effect."""

    SEEN = "seen"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Judged:
    """How an attempt at a step is judged.

    Attributes:
        step: the step.
        effect: what was seen of its effect.
        code: why it counts as failed; "" where its effect was seen.
        sentence: the same for a person.
        before: facts before it.
        missing: effects that were not seen.
        again: whether it did not get its chance (the lease lapsed, or it was never started) and does not count as a failure.
        pointless: whether trying the very same again can't help.
    """

    step: Step
    effect: Effect
    code: str
    sentence: str
    before: Mapping[Atom, Value]
    missing: tuple[tuple[Atom, Value], ...]
    again: bool = False
    pointless: bool = False


_POINTLESS = {Failure.UNREACHABLE, Failure.BLOCKED, Failure.REFUSED, Failure.NOT_FOUND}


def attempt(course: Course, plan: VerifiedPlan, index: int, tries: int) -> Judged:
    """Carry out the step at an index of a plan.

    Args:
        course: the execution.
        plan: genuine, and its kernel at `index` holds.
        index: of the step.
        tries: how often it was tried before under this plan.

    Raises:
        Halt: stopped, or not known whether a step that must not be repeated has had its effect.
    """
    step = plan.steps[index]
    task, belief = course.task, course.belief
    skill = task.domain.skills[step.skill]
    op = task.operator(step)
    before = dict(belief.values)
    expected = {a: v for a, v in op.changes(course.values).items() if a[0][0] != "$"}
    writes = [a for a in op.writes if a[0][0] != "$"]
    name = goal_id(course.runner.run, course.spent.steps, tries)
    course.runner.doing = step_words(step, task)
    course.spent.steps += 1
    course.spent.cost += op.cost
    course.journal.note("intent", {"goal_id": name, "step": list(step.key), "index": index, "try": tries}, durable=True)
    if skill.asks and not _person_answers(course, step):
        text = f"nobody answered: {step_words(step, task)}"
        course.tell_tried(text)
        return Judged(step, Effect.ABSENT, Failure.NO_ANSWER, text, before, tuple(expected.items()))
    belief.begin(writes)
    if skill.asks and not _world_does(course, step):
        belief.tell(expected, course.world_time)
        result = StepResult(Status.SUCCEEDED, time=course.world_time)
    else:
        result = _carry_out(course, plan, index, name)
    belief.ended(writes, result.time)
    if result.stopped is not None:
        ended = Ended.WORLD if result.by == "handrail" else Ended.STOPPED
        text = result.sentence if ended is Ended.WORLD else stop_sentence(result.by, result.stopped)
        raise Halt(ended, text, result.stopped)
    return _judge(course, step, result, before, expected)


def _carry_out(course: Course, plan: VerifiedPlan, index: int, name: str) -> StepResult:
    runner, step = course.runner, plan.steps[index]
    skill = course.task.domain.skills[step.skill]
    seconds = course.budgets.step_seconds or step_seconds(skill)

    def do() -> StepResult:
        adopt = course.journal.resumed
        token = runner.notary.step_token(plan, index)
        order = Order(runner.run, name, step, plan.proof_id, index, token)
        same = adopt and runner.host.status().instance == course.instance
        return drive(runner, order, seconds, course.budgets.cancel_seconds, adopt, same)

    try:
        return course.outside("step", {"goal_id": name}, do, lambda r: r.to_json(), StepResult.from_json, durable=True)
    except WorldError as e:
        raise Halt(Ended.WORLD, f"The world failed while {step} was under way: {e}") from e


def _judge(
    course: Course, step: Step, result: StepResult, before: Mapping[Atom, Value], expected: Mapping[Atom, Value]
) -> Judged:
    belief, task = course.belief, course.task
    skill = task.domain.skills[step.skill]
    words = step_words(step, task)
    surprises = [a for a in course.look(stepped=True) if a not in expected]
    looks = 0
    while looks < course.budgets.looks and any(
        belief.get(a) is UNKNOWN for a, v in expected.items() if v is not UNKNOWN
    ):
        looks += 1
        course.look()
    missing = tuple((a, v) for a, v in expected.items() if v is not UNKNOWN and belief.get(a) != v)
    unknown = [a for a, _ in missing if belief.get(a) is UNKNOWN]
    effect = Effect.SEEN if not missing else Effect.UNKNOWN if unknown else Effect.ABSENT
    if effect is not Effect.SEEN and not skill.repeatable and (not result.certain or effect is Effect.UNKNOWN):
        effect = _ask_outcome(course, words, result, expected, before)
        missing = tuple((a, v) for a, v in missing if belief.get(a) != v)
    code, sentence = _reason(words, result, effect, missing)
    body: dict[str, Any] = {"step": list(step.key), "effect": str(effect), "code": code, "sentence": sentence}
    if surprises:
        body["surprises"] = [show_fact(a, belief.get(a)) for a in surprises]
    course.journal.note("judged", body)
    if effect is Effect.SEEN:
        return Judged(step, effect, "", "", before, ())
    again = result.code in (Failure.LEASE, NOT_STARTED)
    if not again:
        course.spent.failures += 1
        course.tell_tried(sentence)
    if result.code == NOT_STARTED:
        course.spent.cost -= task.operator(step).cost
    return Judged(step, effect, code, sentence, before, missing, again, result.code in _POINTLESS)


def _reason(words: str, result: StepResult, effect: Effect, missing: tuple[tuple[Atom, Value], ...]) -> tuple[str, str]:
    """Code and sentence of a step whose effect was not seen."""
    if effect is Effect.SEEN:
        return "", ""
    wanted = " and ".join(show_fact(a, v) for a, v in missing)
    if result.status is Status.SUCCEEDED:
        seen = "is not to be seen" if effect is Effect.UNKNOWN else "is not so"
        return str(Failure.NO_EFFECT), f"{words}: reported done, but {wanted} {seen}"
    code = str(result.code or Failure.OTHER)
    return code, f"{words}: {result.sentence or code}"


def _ask_outcome(
    course: Course,
    words: str,
    result: StepResult,
    expected: Mapping[Atom, Value],
    before: Mapping[Atom, Value],
) -> Effect:
    """Ask a person about a step that must not be repeated blindly.

    Raises:
        Halt: nobody knows.
    """
    if result.code == NOT_STARTED:
        return Effect.ABSENT
    sentence = f"I don't know whether this has happened: {words} ({result.sentence or 'no effect seen'}). Has it?"
    said = course.ask(Kind.OUTCOME, sentence, ("it has happened", "it has not happened", "I don't know"))
    if said is None or said.choice not in (0, 1):
        raise Halt(Ended.UNSURE, f"It is not known whether this has happened, and it must not be done twice: {words}.")
    if said.choice == 0:
        course.belief.tell(expected, course.world_time)
        return Effect.SEEN
    doubted = [a for a in expected if course.belief.get(a) is UNKNOWN]
    course.belief.tell({a: before.get(a, course.task.domain.fluents[a[0]].default) for a in doubted}, course.world_time)
    return Effect.ABSENT


def _person_answers(course: Course, step: Step) -> bool:
    """A step that is a question: whether somebody answered it."""
    return course.ask(Kind.STEP, step_words(step, course.task) + ".") is not None


def _world_does(course: Course, step: Step) -> bool:
    """Whether the world can also carry out a step that is a question (a robot that speaks it, say)."""
    return not course.world_skills or step.skill in course.world_skills
