"""What comes next: go on, skip ahead, try again, ask about a fact, plan again, or call a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.check.pipeline import Pipeline, Refused
from handrail.check.proof import VerifiedPlan
from handrail.check.symbolic import run_symbolic
from handrail.domain.exclusions import Exclusions
from handrail.domain.ground import atoms
from handrail.domain.plan import Plan
from handrail.domain.rules import RuleKind
from handrail.domain.task import Task
from handrail.domain.types import Kind as FluentKind
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_value
from handrail.domain.verdict import Verdict
from handrail.errors import WorldError
from handrail.execute.budget import Ended
from handrail.execute.card import make_card
from handrail.execute.course import Course, Halt
from handrail.execute.packed import pack_proposed, recorded_pipeline, unpack_proposed
from handrail.execute.person import Kind, Reply
from handrail.execute.replan import Proposed, Situation, hard
from handrail.execute.step import Judged


def place(course: Course, plan: VerifiedPlan, order: list[int]) -> int | None:
    """The first of these indices from which the rest of the plan is proven to work as things are seen to be."""
    values = course.values
    return next((j for j in order if plan.kernels[j].holds(values)), None)


def ask_unknown(course: Course, plan: VerifiedPlan, index: int) -> bool:
    """Look again, then ask a person about facts, where only not knowing them keeps the plan from going on.

    Returns:
        Whether something was learned.
    """
    for _ in range(course.budgets.looks):
        if not _gaps(course, plan, index):
            break
        course.look()
        if plan.kernels[index].holds(course.values):
            return True
    doubted = _gaps(course, plan, index)
    if not doubted:
        return False
    atom = min(doubted)
    fluent = course.task.domain.fluents[atom[0]]
    options: list[Value] = list(course.task.objects.values_of(fluent))
    named = ("yes", "no") if fluent.kind is FluentKind.BOOL else tuple(show_value(v) for v in options)
    if fluent.kind is FluentKind.BOOL:
        options = [True, False]
    said = course.ask(Kind.FACT, f"I can't see {show_atom(atom)}. What is it?", (*named, "I don't know"))
    if said is None or said.choice is None or said.choice >= len(options):
        return False
    course.belief.tell({atom: options[said.choice]}, course.world_time)
    return True


def _gaps(course: Course, plan: VerifiedPlan, index: int) -> set[Atom]:
    """The unknown facts that alone keep a plan from going on; empty where something else does too."""
    gaps = plan.kernels[index].gaps(course.values)
    doubted = {a for g in gaps for a in atoms(g) if a[0][0] != "$" and course.belief.get(a) is UNKNOWN}
    return doubted if all(atoms(g) & doubted for g in gaps) else set()


def exclude(course: Course, judged: Judged) -> None:
    """Leave a step out of new plans for as long as the facts stay under which it failed.

    These are what its conditions read and what it would have changed, so that a way that was blocked from here may be tried from
    there.
    """
    facts = course.task.ground.operator(judged.step).circumstances(course.values)
    more = Exclusions(list(course.exclusions.items))
    more.add(judged.step, facts, judged.sentence, judged.code)
    course.exclusions = more
    course.journal.note("excluded", {"step": list(judged.step.key), "code": judged.code})


def next_plan(course: Course, why: str) -> VerifiedPlan:
    """A new plan from where things stand, checked and approved.

    Raises:
        Halt: no plan, no budget, no approval; a person has been asked before that.
    """
    rejected: list[tuple[Plan, Verdict]] = []
    while True:
        if course.spent.replans - course.renewed.replans >= course.budgets.replans:
            escalate(course, Ended.REPLANS, f"{course.budgets.replans} new plans were tried. Last: {why}")
            rejected = []
            continue
        course.spent.replans += 1
        course.runner.doing = "planning again"
        proposed = _propose(course, why, tuple(rejected))
        course.spent.rejections += len(proposed.unread)
        for code in proposed.unread:
            course.journal.note("rejected", {"codes": [code]})
        if proposed.plan is None:
            if not proposed.hopeless or _hurry(course):
                continue
            escalate(course, Ended.NO_PLAN, f"No plan reaches the goal from here: {proposed.sentence}. Before: {why}")
            rejected = []
            continue
        if proposed.forgive:
            course.exclusions = hard(course.exclusions)
        goal = proposed.goal or course.task.goal
        task = Task(course.belief.objects, goal, course.exclusions)
        found = _verify(course, proposed.plan, task)
        if isinstance(found, Refused):
            course.spent.rejections += 1
            rejected.append((proposed.plan, found.verdict))
            codes = [str(r.code) for r in found.verdict.reasons]
            course.journal.note("rejected", {"codes": codes, "plan": found.plan.plan_id})
            course.tell_tried(f"a new plan was refused: {'; '.join(r.sentence for r in found.verdict.reasons)}")
            _learn(course, task, found)
            continue
        changed = proposed.goal is not None and proposed.goal.goal_id != course.task.goal.goal_id
        if changed:
            course.tell_tried(f"another goal was taken: {goal.text or goal}")
            course.task = task
        late = sorted(course.late)
        if late:  # a rule is about to be kept late: that is a person's decision, never the robot's own
            why = f"{why} This rule can't be kept in time any more and would be kept as soon as possible: {'; '.join(late)}."
        _approve(course, found, why, changed or bool(late))
        course.task = found.task
        course.look()
        return found


def _hurry(course: Course) -> bool:
    """Whether a promise that can't be kept in time any more may now be kept as soon as possible; once for each.

    Steps that failed have used up its time. Without this no plan at all would be allowed, not even the one that shuts the tap. The
    plan that follows is shown to a person with this rule named, and needs their approval.
    """
    found = False
    for r in course.task.rules:
        left = course.carried.get(r.atom)
        if r.rule.kind is not RuleKind.AFTER or not isinstance(left, int) or not 0 < left < r.rule.within:
            continue
        text = str(r.rule)
        if text not in course.late:
            course.late.add(text)
            course.carried[r.atom] = r.rule.within
            course.journal.note("late", {"rule": text, "left": left})
            course.tell_tried(
                f"this could not be kept in time and is kept as soon as possible: {r.rule.because or text}"
            )
            found = True
    return found


def _propose(course: Course, why: str, rejected: tuple[tuple[Plan, Verdict], ...]) -> Proposed:
    frozen = Exclusions(list(course.exclusions.items))
    task = Task(course.belief.objects, course.task.goal, frozen)
    situation = Situation(
        task, course.belief.state, course.carried, frozen, why, tuple(course.tried), rejected, course.spent.replans
    )
    asked: dict[str, Any] = {
        "number": situation.number,
        "why": why,
        "state": situation.state.state_id,
        "goal": situation.goal.goal_id,
        "exclusions": frozen.snapshot_id,
    }
    try:
        return course.outside(
            "planned",
            asked,
            lambda: course.runner.wait(lambda: course.replanner.replan(situation)),
            pack_proposed,
            lambda b: unpack_proposed(b, course.belief.objects),
        )
    except WorldError as e:
        return Proposed(None, str(e), hopeless=True)


def verify(course: Course, plan: Plan, task: Task, pipeline: Pipeline, snapshot: Any) -> VerifiedPlan | Refused:
    """Check a plan from where things stand."""
    return pipeline.verify(plan, course.belief.state, task.goal, carried=course.carried, snapshot=snapshot, task=task)


def _verify(course: Course, plan: Plan, task: Task) -> VerifiedPlan | Refused:
    """The same through the journal: dry-runs are asked once and give their recorded results ever after."""
    made: list[VerifiedPlan | Refused] = []

    def do() -> VerifiedPlan | Refused:
        def check() -> VerifiedPlan | Refused:
            host = course.runner.host
            snapshot = host.fork() if course.pipeline.dry_runs and host.capabilities.forks else None
            return verify(course, plan, task, course.pipeline, snapshot)

        made.append(course.runner.wait(check))
        return made[0]

    def pack(found: VerifiedPlan | Refused) -> dict[str, Any]:
        tolerances = dict(found.tolerances) if isinstance(found, VerifiedPlan) else {}
        return {"verdict": found.verdict.to_json(), "tolerances": tolerances}

    def unpack(body: Mapping[str, Any]) -> VerifiedPlan | Refused:
        if made:
            return made[0]
        pipeline = recorded_pipeline(course.pipeline.notary, body["verdict"], body["tolerances"])
        return verify(course, plan, task, pipeline, object())

    found = course.outside("checked", {"plan": plan.plan_id}, do, pack, unpack)
    proof = found.proof_id if isinstance(found, VerifiedPlan) else ""
    course.journal.note("verdict", {"accepted": bool(proof), "proof_id": proof})
    return found


def _learn(course: Course, task: Task, refused: Refused) -> None:
    """A dry-run's refusal speaks against its step under the facts of that moment, so that the same plan does not come again."""
    for layer in refused.verdict.layers:
        if layer.layer == "symbolic" or layer.passed:
            continue
        for reason in layer.reasons:
            if reason.step is None:
                continue
            step = refused.plan.steps[reason.step]
            before = run_symbolic(
                Plan(refused.plan.steps[: reason.step]), task, course.belief.state, course.carried
            ).values
            reads = task.operator(step).reads
            facts: dict[Atom, Value] = {a: before.get(a, UNKNOWN) for a in reads if a[0][0] != "$"}
            more = Exclusions(list(course.exclusions.items))
            more.add(step, facts, reason.sentence, str(reason.code))
            course.exclusions = more


def _approve(course: Course, plan: VerifiedPlan, why: str, person: bool) -> None:
    """Get and use up an approval for a new plan; from a person in any case where `person` says so.

    Raises:
        Halt: refused, or nobody answered.
    """
    card = make_card(plan, course.belief.values, course.real, why)
    if not card.needed and not person:
        approval = course.runner.approvals.grant(plan, None, "policy")
        course.runner.approvals.use(approval, plan)
        course.journal.note("approved", {"proof_id": plan.proof_id, "by": "policy"})
        return
    reply = course.outside(
        "shown",
        {"proof_id": plan.proof_id, "card_id": card.card_id},
        lambda: course.runner.show(card, course.budgets.answer_seconds),
        lambda r: None if r is None else {"approved": r.approved, "by": r.by, "words": r.words},
        lambda b: None if b is None else Reply(b["approved"], b["by"], b["words"]),
        durable=True,
    )
    if reply is None:
        raise Halt(Ended.NO_ANSWER, f"Nobody approved the new plan. {why}")
    if not reply.approved:
        raise Halt(Ended.REFUSED, f"{reply.by} refused the new plan{': ' + reply.words if reply.words else '.'}")
    approval = course.runner.approvals.grant(plan, card, reply.by, reply.words)
    course.runner.approvals.use(approval, plan)
    course.journal.note("approved", {"proof_id": plan.proof_id, "by": reply.by})


def escalate(course: Course, ended: Ended, sentence: str) -> None:
    """Call a person with a summary of what was tried. Returns where they say "try again"; the budgets are new then.

    Raises:
        Halt: they give up, don't answer, or have been called too often.
    """
    course.journal.note("escalated", {"why": str(ended), "sentence": sentence})
    if course.spent.escalations >= course.budgets.escalations:
        course.spent.escalations += 1
        raise Halt(ended, sentence)
    course.spent.escalations += 1
    said = course.ask(Kind.ESCALATION, sentence, ("try again", "give up"), course.summary())
    if said is None or said.choice != 0:
        raise Halt(ended, sentence)
    from dataclasses import replace

    course.renewed = replace(course.spent)
    course.stalls.clear()
    course.exclusions = Exclusions()
    course.tell_tried(f"{said.by} said: try again")
    course.look()
