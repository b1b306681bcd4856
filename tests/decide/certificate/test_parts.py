from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import PartsData, parts_estimate
from handrail.decide.certificate.parts import retry_exhaustion, with_auditor_misses, with_human_error
from handrail.errors import ConfigError

DATA = PartsData(
    missed=(6, 400),
    plans=(8, 1000),
    silent_blocks={"pick": (10, 2000), "place": (2, 2000)},
    given_up_blocks={"pick": (60, 2000), "place": (10, 2000)},
    answers=(10, 500),
    unresolved=(2, 400),
    blocks_per_task={"pick": 2.0, "place": 2.5},
    answers_per_task=1.5,
)


def test_retry_exhaustion(reference):
    for row in reference["beta_retry"]:
        assert retry_exhaustion(row["p"], row["kappa"], row["attempts"]) == pytest.approx(row["exhaust"], rel=1e-12)


@given(st.floats(0.01, 0.9), st.floats(0.5, 50), st.integers(1, 6))
def test_multiplying_over_retries_is_never_safe(p, kappa, tries):
    assert retry_exhaustion(p, kappa, tries) >= p**tries - 1e-12


def test_human_composition(reference):
    for row in reference["human_composition"]:
        found = with_human_error(row["eps_perfect"], row["mean_answers"], row["h_upper"])
        assert found == pytest.approx(row["bound"], rel=1e-12)


def test_parts_add_up_and_are_sorted():
    for skills in ("pooled", "each"):
        found = parts_estimate(DATA, skills=skills)
        assert sum(p.bound for p in found.task_parts) == pytest.approx(found.task)
        assert sum(p.share for p in found.task_parts) == pytest.approx(1.0)
        assert [p.bound for p in found.task_parts] == sorted((p.bound for p in found.task_parts), reverse=True)
        assert found.silent < found.task
        assert all(p.seen < p.bound for p in found.task_parts)


def test_pooling_skills_is_tighter():
    assert parts_estimate(DATA, skills="pooled").task < parts_estimate(DATA, skills="each").task


def test_real_people_are_not_counted_twice():
    with_people = parts_estimate(replace(DATA, real_people=True))
    assert all(p.name != "wrong answer" for p in with_people.task_parts)
    assert with_people.task < parts_estimate(DATA).task


def test_the_text_says_what_it_is_and_where_to_start():
    text = parts_estimate(DATA).text()
    assert text.startswith("Estimate from the parts (not the certificate")
    assert "start with: motion, handed over" in text


@given(st.integers(0, 10_000))
def test_union_bounds_hold_where_a_product_would_not(seed):
    """A world where hard objects stay hard: the estimate covers the true risk whatever the dependence."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 1.7, 100_000)  # mean .15, concentration 2
    silent, given_up = float((p**2 * 0.05).mean()), float((p**4).mean())
    data = replace(
        DATA,
        missed=(0, 2000),
        plans=(0, 2000),
        answers=(0, 2000),
        unresolved=(0, 2000),
        silent_blocks={"pick": (int(rng.binomial(4000, silent)), 4000)},
        given_up_blocks={"pick": (int(rng.binomial(4000, given_up)), 4000)},
        blocks_per_task={"pick": 4.0},
    )
    found = parts_estimate(data)
    assert found.silent >= 4 * silent
    assert found.task >= 1 - (1 - given_up - silent) ** 4


def test_auditors_err_too():
    assert with_auditor_misses(0.05, 0.2) == pytest.approx(0.0625)
    with pytest.raises(ConfigError):
        with_auditor_misses(0.05, 1.0)


def test_missing_data_are_refused():
    with pytest.raises(ConfigError, match="'plan flaw passed' has no trials"):
        parts_estimate(replace(DATA, plans=(0, 0)))
    with pytest.raises(ConfigError, match="same skills"):
        parts_estimate(replace(DATA, blocks_per_task={"pick": 1.0}))
