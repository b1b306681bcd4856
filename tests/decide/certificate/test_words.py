from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import (
    Deployed,
    EarlierAttempt,
    ForbiddenClaimError,
    Limits,
    certify,
    checked,
    statement,
)
from handrail.decide.certificate.words import in_100, one_in, wrong_given_done

AFTER = Deployed(audited=40, done=36, wrong=1, bounds={"silent": 0.071, "task": 0.22, "wrong_given_done": 0.08})


@pytest.fixture
def found(make):
    return certify(make.declaration(), make.batch(2, 8, 90))


def test_the_users_numbers_are_in_it(found):
    text = statement(found, AFTER)
    for words in (
        "We ran 100 tasks like yours with this exact setup, in test kitchen, 2026-12-01.",
        (
            "wrong at most 1 time in 20, at most 10 in 100 such tasks end with the robot saying done when it is not what you "
            "meant, and at least 75 in 100 are finished as meant."
        ),
        "It asks or hands over in about 8 in 100.",
        "When it says done, it is wrong in at most 11.8 in 100",
        "in 2 of 92",
        "It covers: fetch and tidy requests; 100 different clusters (one room and day each)",
        "judged by two people who see the kitchen afterwards",
        "It is not a promise for this task",
        "wrong in 1 of the 36 that ended as done",
        "does not show that nothing changed",
        "silent failure below 7.1 in 100, task failure below 22 in 100, 'done' wrong below 8 in 100",
    ):
        assert words in text, words
    assert "simulator" not in text


def test_four_numbers_stand_together(found):
    """Silent failure is never shown alone."""
    with pytest.raises(ForbiddenClaimError, match="only shown together"):
        checked("At most 10 in 100 tasks end with the robot saying done wrongly.", found)
    with pytest.raises(ForbiddenClaimError, match="When it says done"):
        checked("It says done wrongly in 10 of 100, 75 are finished as meant, it hands over in 8.", found)


@pytest.mark.parametrize(
    ("world", "people"), [("simulated", "real"), ("real", "simulated"), ("simulated", "simulated")]
)
def test_simulated_episodes_are_about_the_simulator(make, world, people):
    for pool in (make.batch(0, 0, 100), make.batch(30, 0, 70)):
        text = statement(certify(make.declaration(world=world, people=people), pool))
        assert "statement about the simulator, not about a real home" in text
    holding = certify(make.declaration(world=world, people=people), make.batch(0, 0, 100))
    with pytest.raises(ForbiddenClaimError, match="about the simulator"):
        checked("Tasks are finished as meant.", holding)


def test_without_a_certificate_nothing_is_claimed(make):
    waiting = statement(certify(make.declaration(), make.batch(0, 0, 10)))
    assert waiting.startswith("Nothing is claimed yet") and "10 of the 100 declared episodes" in waiting
    refused = statement(certify(make.declaration(), make.batch(9, 0, 91)))
    assert refused.startswith("Nothing is claimed") and "blocked by silent failure" in refused
    assert "asks and hands over" in refused and "new episodes it would probably pass" in refused
    assert "finished as meant" not in refused


def test_after_an_alarm_no_number_is_said(found):
    text = statement(found, Deployed(suspension="The certificate is suspended: people complain more often."))
    assert "suspended" in text and "no number about finished tasks holds" in text
    assert "in 100" not in text


def test_earlier_attempts_are_in_the_confidence(make):
    d = make.declaration(earlier=(EarlierAttempt("x", 0.05, "not certified"),), delta=0.1)
    text = statement(certify(d, make.batch(0, 0, 100)))
    assert "wrong at most 1 time in 10 (all 2 attempts counted)" in text


@given(st.floats(0.001, 0.4), st.floats(0, 0.5), st.floats(0, 1), st.floats(0, 1))
def test_wrong_given_done_follows_from_the_limits(silent, more, a, b):
    """Whatever risks meet both limits, P(wrong | done) is at most the number that is said."""
    limits = Limits(silent, min(0.95, silent + more))
    task = b * limits.task
    risk = min(a * limits.silent, task)
    done = 1 - task + risk
    assert risk / done <= wrong_given_done(limits) + 1e-12


def test_numbers_in_words():
    assert (in_100(0.05), in_100(0.0123), in_100(0.0123, up=True), in_100(0.0128, up=False)) == (
        "5 in 100", "1.2 in 100", "1.3 in 100", "1.2 in 100")  # fmt: skip
    assert (one_in(0.05), one_in(0.1), one_in(0.03)) == ("1 time in 20", "1 time in 10", "3 times in 100")
