from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide import baselines as b
from handrail.errors import ConfigError

WORKED = json.loads((Path(__file__).parent / "conformal.json").read_text())["worked_examples"]["simple_set"]


def test_simple_set_of_the_reference():
    for level, expected in zip(WORKED["one_minus_eps"], WORKED["sets"], strict=True):
        if level < 1:
            assert b.simple_set(WORKED["probs"], 1 - level) == expected
    assert b.simple_set(WORKED["probs"], "0.000001") == WORKED["sets"][-1]


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=7), st.integers(1, 99))
def test_simple_set_is_the_shortest_that_reaches_the_sum(weights, percent):
    probs = [w / sum(weights) for w in weights]
    chosen = b.simple_set(probs, percent / 100)
    assert sum(probs[i] for i in chosen) >= 1 - percent / 100 - 1e-9
    assert sum(sorted(probs)[::-1][: len(chosen) - 1]) < 1 - percent / 100 + 1e-9


def test_simple_set_fails_towards_asking():
    assert b.simple_set([0.9, math.nan], 0.1) == [0, 1]


def test_ensemble():
    votes = [0] * 12 + [2] * 6 + [None] * 2
    assert b.vote_shares(votes, 3) == pytest.approx([2 / 3, 0, 1 / 3])
    assert b.ensemble_set(votes, 3, 0.4) == [0]
    assert b.ensemble_set(votes, 3, 0.2) == [0, 2]
    assert b.ensemble_set([None] * 5, 3, 0.2) == [0, 1, 2]
    with pytest.raises(ConfigError):
        b.vote_shares([3], 3)
    subsets = b.example_subsets(20, 20, seed=1)
    assert len(subsets) == 20 and all(s == sorted(set(s)) and s and max(s) < 20 for s in subsets)
    assert len({len(s) for s in subsets}) > 3
    assert subsets == b.example_subsets(20, 20, seed=1) != b.example_subsets(20, 20, seed=2)
    with pytest.raises(ConfigError):
        b.example_subsets(0)


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("A, C", [0, 2]),
        ("(B) or (D)", [1, 3]),
        ("A and B", [0, 1]),
        ("A robot should pick B.", [1]),
        ("I think it's B", [1]),
        ("CAB", []),
        ("Because Dave said so", []),
        ("", []),
        ("B\nA", [1]),
        ("Options: E", [4]),
        ("Z", []),
    ],
)
def test_stated_letters(answer, letters):
    assert b.stated_letters(answer, "ABCDE") == letters
    assert b.prompt_set(answer, "ABCDE") == (letters or [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("answer", "certain"),
    [("Certain", True), (" certain.", True), ("Uncertain", False), ("not certain", False), ("", False), ("yes", False)],
)
def test_says_certain(answer, certain):
    assert b.says_certain(answer) is certain
    assert b.binary_set([0.2, 0.8], certain) == ([1] if certain else [0, 1])


def test_no_help():
    assert b.no_help([0.2, 0.5, 0.5]) == [1]
    assert b.no_help([math.nan, 0.1]) == [1]
    assert b.no_help([math.nan, math.nan]) == [0]
