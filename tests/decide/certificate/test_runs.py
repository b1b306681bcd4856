from __future__ import annotations

import pytest

from handrail.decide.certificate import Choice, DryRun, Ended, ReadBack, Replan
from handrail.decide.certificate.runs import facts_of
from handrail.record.event import Event

BLUE = {
    "final": "on(mug) == table",
    "subgoals": [],
    "keep": [],
    "source": "chosen",
    "text": "the blue mug on the table",
}
RED = {**BLUE, "final": "on(mug_2) == table"}


def log(*pairs):
    return [Event("run", i, float(i), kind, body) for i, (kind, body) in enumerate(pairs)]


def weighed(kind, *options):
    body = {"kind": kind, "options": [{"goal": g} for g, _ in options], "probabilities": [p for _, p in options]}
    return "mission.weighed", {"asked": {}, "answer": body}


def chosen(goal):
    return "mission.chosen", {"asked": {"goal": {**goal, "source": "person"}}, "answer": {}}


def question(*choices, answer=0):
    said = None if answer is None else {"choice": answer, "text": "x", "by": "p"}
    return "mission.asked", {"asked": {"choices": list(choices)}, "answer": said}


def ended(reason, replans=0):
    return "execute.end", {"ended": reason, "sentence": "so it is", "spent": {"replans": replans}}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("DONE", Ended.DONE),
        ("REPLANS", Ended.HANDED_OVER),
        ("NO_ANSWER", Ended.HANDED_OVER),
        ("STOPPED", Ended.HANDED_OVER),
        ("WORLD", Ended.FAILED),
        ("LEASE", Ended.FAILED),
    ],
)
def test_ends(reason, expected):
    assert facts_of(log(ended(reason)), 0.9).ended is expected
    assert facts_of(log(("run.end", {"reason": reason, "sentence": ""})), 0.9).ended is expected


def test_what_was_so_already_is_done():
    assert facts_of(log(("mission.ended", {"reason": "ALREADY", "sentence": ""})), 0.9).ended is Ended.DONE


def test_a_run_without_an_end_has_crashed():
    facts = facts_of(log(weighed("Act", (BLUE, 0.95))), 0.9)
    assert facts.ended is Ended.FAILED and "no end" in facts.why


def test_the_last_word_counts():
    events = log(ended("DONE"), ("run.end", {"reason": "STOPPED", "sentence": "by Ada"}))
    assert facts_of(events, 0.9).ended is Ended.HANDED_OVER


def test_a_question_answered_with_its_own_choice():
    events = log(weighed("Ask", (BLUE, 0.6), (RED, 0.3)), question("the blue", "the red"), chosen(BLUE), ended("DONE"))
    (choice,) = facts_of(events, 0.9).trace
    assert choice == Choice(0.6, choice.answer, asked=True, answer=choice.own)


def test_a_question_answered_otherwise():
    events = log(weighed("Ask", (BLUE, 0.6), (RED, 0.3)), question("the blue", "the red", answer=1), chosen(RED))
    (choice,) = facts_of(events, 0.9).trace
    assert choice.asked and choice.answer is not None and choice.own != choice.answer


def test_a_question_that_led_to_no_goal_has_no_answer():
    (choice,) = facts_of(log(weighed("Ask", (BLUE, 0.6), (RED, 0.3)), question("a", "b", answer=None)), 0.9).trace
    assert choice.answer is None


def test_a_question_above_the_threshold_would_have_been_asked_by_all():
    (choice,) = facts_of(log(weighed("Ask", (BLUE, 0.95)), question("a", "b"), chosen(BLUE)), 0.9).trace
    assert choice.own is None


def test_a_refusal_comes_at_every_threshold():
    assert facts_of(log(weighed("Refuse", (BLUE, 0.95))), 0.9).trace == ()


@pytest.mark.parametrize(("answer", "confirmed"), [(0, True), (1, False), (None, None)])
def test_read_back(answer, confirmed):
    events = log(weighed("Act", (BLUE, 0.95)), question("yes", "no", answer=answer), chosen(BLUE), ended("DONE"))
    choice, back = facts_of(events, 0.9).trace
    assert choice == Choice(0.95, choice.own, asked=False) and back == ReadBack(confirmed)


def test_replans_dry_runs_and_questions_are_counted():
    layers = [{"layer": "physics", "figures": {"copies": 3, "copies_ok": 2}}]
    events = log(
        ("person.asked", {}),
        ("mission.checked", {"asked": {}, "answer": {"verdict": {"layers": layers}}}),
        ended("DONE", replans=2),
        ("person.asked", {}),
    )
    facts = facts_of(events, 0.9, dry_runs=[DryRun((False,))])
    assert facts.trace == (DryRun((True, True, False)), DryRun((False,)), Replan(1), Replan(2))
    assert facts.asks == 2


def test_wrapped_answers_are_read():
    kind, body = weighed("Act", (BLUE, 0.95))
    assert facts_of(log((kind, {**body, "answer": {"ok": body["answer"]}})), 0.9).trace[0].confidence == 0.95


def test_first_tries_leave_out_retries():
    def step(skill, tries, effect):
        return [
            ("execute.intent", {"try": tries, "step": [skill, "x"]}),
            ("execute.judged", {"step": [skill, "x"], "effect": effect}),
        ]

    events = log(
        *step("pick", 0, "missing"), *step("pick", 1, "seen"), *step("place", 0, "seen"), *step("pick", 0, "seen")
    )
    assert facts_of(events, 0.9).first_tries == {"pick": (1, 2), "place": (0, 1)}
