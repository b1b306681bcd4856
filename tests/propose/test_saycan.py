from __future__ import annotations

import math

import pytest

from handrail.check.symbolic import run_symbolic
from handrail.domain import Domain, Goal, Step, Task
from handrail.domain.files import load_scene
from handrail.domain.option import Score
from handrail.domains import path
from handrail.errors import ConfigError
from handrail.intent.scores.affordance import Affordance
from handrail.propose.saycan import DONE, SayCan, possible


@pytest.fixture(scope="module")
def state():
    return load_scene(Domain.load(path("office"))).state


class Wants:
    """Likes steps in a given order, then being done; anything else only a little."""

    def __init__(self, *texts, scale="log"):
        self.texts, self.scale, self.contexts = texts, scale, []

    def score(self, context, options):
        self.contexts.append(context)
        wanted = self.texts[len(context.done)] if len(context.done) < len(self.texts) else DONE.text
        likes = [0.9 if o.text == wanted else 0.01 for o in options]
        return [Score(math.log(v) if self.scale == "log" else v, "test", self.scale) for v in likes]


FETCH = ("find the coke", "pick up the coke", "bring the coke to me")


@pytest.mark.parametrize("scale", ["log", "probability"])
def test_useful_and_possible_steps_make_a_plan(state, scale):
    (proposal,) = SayCan(Wants(*FETCH, scale=scale)).propose(Goal(), "Bring me a coke.", state.objects.domain, state)
    assert [s.skill for s in proposal.plan.steps] == ["find", "pick_up", "bring_to"]
    assert proposal.plan.source == "saycan" and proposal.provenance["ended"] == "done"
    trace = run_symbolic(proposal.plan, Task(state.objects), state)
    assert trace.result.passed


def test_the_impossible_can_not_be_chosen(state):
    """However much the model wants it."""
    scorer = Wants("pick up the coke")
    options = possible(state, Task(state.objects))
    assert "pick up the coke" not in {o.text for o in options}
    steps, turns, _ = SayCan(scorer, most_steps=3).plan("Bring me a coke.", state)
    assert "pick up the coke" not in {o.text for o in turns[0].options}
    assert not steps or steps[0].skill != "pick_up"


def test_affordance_turns_the_choice(state):
    def weak_grip(now, step):
        return Affordance(True, succeeded=0, tried=200) if step.skill == "find" else Affordance(True)

    steps, turns, _ = SayCan(Wants("find the coke"), affordance=weak_grip).plan("Bring me a coke.", state)
    assert not steps or steps[0].skill != "find"
    assert turns[0].options[0].text != "find the coke"


def test_done_at_once_is_no_plan(state):
    (proposal,) = SayCan(Wants()).propose(Goal(), "Hello.", state.objects.domain, state)
    assert proposal.plan is None and "done" in proposal.why


def test_cut_off(state):
    wanderer = Wants(*["go to the table", "go to the far counter"] * 5)
    (proposal,) = SayCan(wanderer, most_steps=4).propose(Goal(), "Walk.", state.objects.domain, state)
    assert len(proposal.plan.steps) == 4 and proposal.provenance["ended"] == "cut off"


def test_too_many_options_are_shortened_by_the_words_and_counted(state):
    scorer = Wants(*FETCH)
    steps, turns, _ = SayCan(scorer, most_options=5).plan("Find the coke and bring it.", state)
    assert steps[0] == Step("find", steps[0].args) and "coke" in steps[0].args
    assert all(len(t.options) <= 6 for t in turns) and turns[0].left_out > 0


def test_what_was_done_is_told(state):
    scorer = Wants(*FETCH)
    SayCan(scorer).plan("Bring me a coke.", state)
    assert scorer.contexts[2].done == FETCH[:2]
    with pytest.raises(ConfigError):
        SayCan(scorer, most_steps=0)
