from __future__ import annotations

import pytest

from handrail.decide.certificate import Ended, Judgement
from handrail.errors import ConfigError


@pytest.mark.parametrize(
    ("ended", "truth", "losses"),
    [
        (Ended.DONE, True, (0, 0, 0)),
        (Ended.DONE, False, (1, 1, 0)),
        (Ended.DONE, None, (1, 1, 0)),  # unjudged counts as lost
        (Ended.HANDED_OVER, None, (0, 1, 1)),
        (Ended.HANDED_OVER, True, (0, 1, 1)),
        (Ended.FAILED, None, (0, 1, 1)),
        (Ended.DROPPED, None, (1, 1, 1)),
        (Ended.DROPPED, True, (1, 1, 1)),
    ],
)
def test_losses(make, ended, truth, losses):
    assert make.episode(0, ended, truth).losses == losses


def test_asking_is_help(make):
    assert make.episode(0, asks=1).losses == (0, 0, 1)


def test_task_loss_is_silent_loss_or_not_done(make):
    """L_t = L_s + 1{R != DONE}, the identity of both risks."""
    for ended in Ended:
        for truth in (True, False, None):
            silent, task, _ = make.episode(0, ended, truth).losses
            if ended is not Ended.DROPPED:
                assert task == silent + (ended is not Ended.DONE)


def test_a_cluster_is_asked_for(make):
    with pytest.raises(ConfigError, match="needs a cluster"):
        make.episode(0, cluster="")


@pytest.mark.parametrize(("broken", "moved"), [(True, False), (False, True)])
def test_unstated_constraints_count(broken, moved):
    assert not Judgement("e", goal=True, judge="me", broken=broken, moved=moved).as_meant
    assert Judgement("e", goal=True, judge="me").as_meant
    assert not Judgement("e", goal=False, judge="me").as_meant
