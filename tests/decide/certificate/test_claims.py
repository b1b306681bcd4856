from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.decide.certificate import DryRunThreshold, ForbiddenClaimError
from handrail.decide.certificate.claims import allowed, never_list
from handrail.decide.drift import Cause, Suspension


@pytest.mark.parametrize(
    "claim",
    [
        "The robot can't fail.",
        "It never fails.",
        "The plan is proved safe.",
        "A safety guarantee.",
        "It succeeds in 100 % of tasks.",
        "It always works.",
        "This task will succeed.",
        "For your task, we guarantee success.",
        "95 % sure that this certificate is right.",
        "This certificate is right with probability 0.95.",
        "Coverage is 0.85, so 85 in 100 is the task success.",
        "The skills' rates multiply to 0.9.",
        "5 of 5 dry-runs passed, so the chance of success is high.",
        "No alarm so far means nothing changed.",
        "Averaged over calibrations, with 95 % confidence.",
    ],
)
def test_the_list_of_claims_never_to_be_made(claim):
    with pytest.raises(ForbiddenClaimError, match="may not say"):
        allowed(claim)


def test_honest_sentences_pass():
    for text in ("It asked twice.", "3 of 5 dry-runs passed.", "The kitchen was tidied as meant in 80 of 100 runs."):
        assert allowed(text) == text
    assert len(never_list()) >= 10


def test_every_maker_of_text_is_guarded():
    with pytest.raises(ForbiddenClaimError):
        Suspension(Cause.ALARM, "x", 1, 1, "The robot can't fail.", 1, "")
    fine = DryRunThreshold("average", 3, 5, 0.1, None, 0.8, 300)
    assert "Averaged over calibrations" in fine.text()
    assert replace(fine, version="joint", delta=0.05).text() != fine.text()
