from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.certificate import Declaration, EarlierAttempt, Limits, Setting, next_share
from handrail.decide.certificate.declaration import differences
from handrail.errors import ConfigError, ParseError, StaleError

PAIR = (Setting(0.5), Setting(0.9))


def test_file_and_seal(make):
    d = make.declaration(settings=PAIR, starts=((0, 1), (1,)), groups=("a", "b"))
    assert Declaration.from_json(d.to_json()) == d
    changed = json.loads(d.to_json())
    changed["limits"]["silent"] = 0.2
    with pytest.raises(StaleError, match="changed after it was sealed"):
        Declaration.from_json(json.dumps(changed), "declaration-1.json")
    with pytest.raises(ParseError, match="unknown fields"):
        Declaration.from_json(json.dumps({**json.loads(d.to_json()), "more": 1}))
    with pytest.raises(ParseError):
        Declaration.from_json("{}")


def test_too_few_episodes_are_refused_with_the_number_that_could_pass(make):
    with pytest.raises(ConfigError, match="at least 59 are needed"):
        make.declaration(limits=Limits(0.05, 0.2), episodes=58)
    assert make.declaration(limits=Limits(0.05, 0.2), episodes=59).least_episodes == 59


def test_starts_groups_and_sequences_raise_the_smallest_number(make):
    four = make.declaration(settings=PAIR, starts=((0, 1), (1,), (0,), (1, 0)), limits=Limits(0.05, 0.2), episodes=200)
    assert four.level == pytest.approx(0.0125)
    assert four.least_episodes == 86
    groups = make.declaration(groups=("a", "b"), limits=Limits(0.05, 0.2), episodes=200)
    assert groups.level == pytest.approx(0.025)
    assert make.declaration(procedure="bonferroni", settings=PAIR, starts=()).level == pytest.approx(0.025)
    with pytest.raises(ConfigError, match="at least 74 are needed"):
        make.declaration(limits=Limits(0.05, 0.2), mode="sequential", episodes=73)


def test_defaults_of_the_first_office_pilot(make):
    from handrail.decide.certificate import kmax

    d = make.declaration(limits=Limits(0.05, 0.2), episodes=720, settings=PAIR, starts=((0, 1), (1, 0), (0,), (1,)))
    assert (kmax(720, 0.05, d.level), kmax(720, 0.20, d.level)) == (23, 119)


def test_attempts_share_one_delta(make):
    first = EarlierAttempt("x", 0.05, "not certified")
    with pytest.raises(ConfigError, match="earlier attempts spent"):
        make.declaration(earlier=(first,))
    assert make.declaration(earlier=(first,), delta=0.1, share=0.05).share == 0.05
    with pytest.raises(ConfigError, match="is spent"):
        next_share(0.05, [first])


@given(st.integers(1, 60))
def test_a_series_of_attempts_never_overspends(n):
    earlier: list[EarlierAttempt] = []
    for _ in range(n):
        earlier.append(EarlierAttempt("x", next_share(0.05, earlier, "series"), ""))
    assert sum(a.spent for a in earlier) < 0.05
    assert earlier[0].spent == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": " "}, "must say its judge"),
        ({"settings": ()}, "at least one setting"),
        ({"settings": (PAIR[0], PAIR[0])}, "each once"),
        ({"starts": ()}, "at least one order"),
        ({"starts": ((0, 1),)}, "by an index 0..0"),
        ({"starts": ((0, 0),)}, "at most once"),
        ({"groups": ("a", "a")}, "each group"),
        ({"delta": 0.0}, "strictly between"),
    ],
)
def test_what_could_not_be_tested_is_refused(make, changes, message):
    with pytest.raises(ConfigError, match=message):
        make.declaration(**changes)


def test_too_many_settings(make):
    many = tuple(Setting(i / 400) for i in range(301))
    with pytest.raises(ConfigError, match="at most 300"):
        make.declaration(settings=many, starts=((0,),))


def test_a_silent_limit_above_the_task_limit_is_refused():
    with pytest.raises(ConfigError, match="a silent failure is a task failure too"):
        Limits(0.3, 0.2)


def test_simulated_people_are_simulated(make):
    assert make.declaration(people="simulated").simulated
    assert not make.declaration().simulated


def test_differences_name_the_component():
    found = differences({"model": "1", "skills": "2"}, {"model": "3", "verifier": "4"})
    assert [w.split("'")[1] for w in found] == ["skills", "verifier", "model"]
    assert differences({"a": "1"}, {"a": "1"}) == []
