from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import Setting, collecting, grid
from handrail.decide.certificate.setting import strictness_key
from handrail.errors import ConfigError


@st.composite
def knobs(draw):
    copies = draw(st.integers(0, 5))
    return Setting(
        ask=draw(st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0])),
        read_back=draw(st.booleans()),
        copies=copies,
        passes=draw(st.integers(0, copies)),
        replans=draw(st.integers(0, 6)),
        strictness=draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
    )


@given(st.lists(knobs(), min_size=1, max_size=8))
def test_the_collecting_setting_can_score_all(pool):
    log = collecting(pool)
    for s in pool:
        assert log.ask >= s.ask and log.replans >= s.replans and log.copies >= s.copies
        assert log.strictness <= s.strictness and log.passes == 0
        assert log.read_back or not s.read_back


def test_a_grid_has_every_combination_once():
    found = grid(ask=(0.5, 0.9), dry_runs=((0, 0), (5, 3)), replans=(1, 3), strictness=(0.5, 0.8))
    assert len(found) == len(set(found)) == 2 * 2 * 2 * 2 * 2


def test_caution_sorts_by_asking_first():
    cautious, bold = Setting(0.9, read_back=False), Setting(0.5, read_back=True, strictness=1.0)
    assert min([bold, cautious], key=strictness_key) is cautious


@pytest.mark.parametrize(
    "values",
    [{"ask": 1.1}, {"ask": float("nan")}, {"ask": 0.5, "copies": 2, "passes": 3}, {"ask": 0.5, "replans": -1},
     {"ask": 0.5, "strictness": -0.1}],
)  # fmt: skip
def test_values_outside_are_refused(values):
    with pytest.raises(ConfigError):
        Setting(**values)
    with pytest.raises(ConfigError):
        collecting([])
