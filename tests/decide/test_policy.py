from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.calibration import Calibration
from handrail.decide.policy import Act, Ask, ConformalDecider, Reason, Refuse, decide, read_set
from handrail.domain.option import Fingerprint, MarkCode, Option, Score, not_listed
from handrail.errors import ConfigError, StaleError

PRINT = Fingerprint.of(model="m")
METAL = Option("in(metal)", "put the metal bowl in the microwave", attributes=(("kind", "bowl"), ("material", "metal")))
PLASTIC = Option("in(plastic)", "put the plastic bowl in the microwave", attributes=(("kind", "bowl"), ("material", "plastic")))
COKE = Option("coke", "bring the Coke")
OPTIONS = [METAL, PLASTIC, COKE, not_listed()]


def calibration(threshold=0.6, **more):
    return Calibration.make([threshold] * 99, 0.15, fingerprint=PRINT, **more)


def scored(*probabilities, provenance=PRINT):
    return [Score(p, "given", "probability", provenance=provenance) for p in probabilities]


def test_one_left_acts():
    decision = decide(OPTIONS, scored(0.05, 0.1, 0.8, 0.05), calibration())
    assert isinstance(decision, Act)
    assert decision.option is COKE and decision.reason is Reason.SINGLE
    assert decision.probabilities == pytest.approx((0.8,))
    assert decision.calibration == calibration().digest


def test_several_left_asks_what_tells_them_apart():
    decision = decide(OPTIONS, scored(0.45, 0.45, 0.05, 0.05), calibration())
    assert isinstance(decision, Ask) and decision.reason is Reason.SEVERAL
    assert decision.question.sentence == "Do you mean the metal or the plastic bowl?"
    assert decision.question.remaining(0) == ("in(metal)",)
    assert decision.question.expected_remaining == pytest.approx(1)


def test_most_likely_first_and_not_listed_is_no_alternative():
    decision = decide(OPTIONS, scored(0.3, 0.4, 0.0, 0.3), calibration(0.7))
    assert [o.key for o in decision.options] == ["in(plastic)", "in(metal)", "not-listed"]
    assert {k for c in decision.question.cells for k in c.keys} == {"in(plastic)", "in(metal)"}


def test_nothing_left_asks_about_what_is_likeliest():
    decision = decide(OPTIONS, scored(0.45, 0.4, 0.1, 0.05), calibration(0.1))
    assert isinstance(decision, Ask) and decision.reason is Reason.EMPTY and not decision.options
    assert decision.question.sentence == "Do you mean the metal or the plastic bowl?"
    openly = decide(OPTIONS, scored(0.2, 0.2, 0.2, 0.4), calibration(0.1))
    assert openly.reason is Reason.EMPTY and not openly.question.cells


def test_not_listed_alone_asks_openly():
    decision = decide(OPTIONS, scored(0.05, 0.05, 0.05, 0.85), calibration())
    assert isinstance(decision, Ask) and decision.reason is Reason.NOT_LISTED and not decision.question.cells


def test_unsafe_refuses_and_says_why():
    unsafe = METAL.marked(MarkCode.UNSAFE, "Metal sparks in a microwave.")
    decision = decide([unsafe, *OPTIONS[1:]], scored(0.85, 0.05, 0.05, 0.05), calibration())
    assert isinstance(decision, Refuse) and "sparks" in decision.sentence
    both = decide([unsafe, *OPTIONS[1:]], scored(0.45, 0.45, 0.05, 0.05), calibration())
    assert isinstance(both, Ask)
    assert [c.keys for c in both.question.cells] == [("in(plastic)",)]  # an unsafe option is never offered
    all_unsafe = [unsafe, PLASTIC.marked(MarkCode.UNSAFE, "It melts."), COKE]
    assert isinstance(decide(all_unsafe, scored(0.5, 0.48, 0.02), calibration()), Refuse)


def test_impossible_asks_and_says_why():
    gone = COKE.marked(MarkCode.IMPOSSIBLE, "There is no Coke here.")
    decision = decide([METAL, PLASTIC, gone], scored(0.1, 0.1, 0.8), calibration())
    assert isinstance(decision, Ask) and decision.reason is Reason.IMPOSSIBLE
    assert "There is no Coke here." in decision.question.sentence


def test_unusable_scores_keep_everything_and_ask():
    for bad in (math.nan, -1.0, math.inf):
        decision = decide(OPTIONS, scored(0.9, bad, 0.05, 0.05), calibration())
        assert isinstance(decision, Ask) and decision.reason is Reason.UNSCORED
        assert len(decision.options) == 4
        assert decision.question.sentence


def test_infinite_threshold_keeps_everything():
    decision = decide(OPTIONS, scored(1.0, 0.0, 0.0, 0.0), Calibration.make([0.1] * 3, 0.15, fingerprint=PRINT))
    assert isinstance(decision, Ask) and len(decision.options) == 4


def test_stale_is_refused_before_anything_else():
    with pytest.raises(StaleError, match="model was m and is other now"):
        decide(OPTIONS, scored(0.9, 0.1, 0, 0, provenance=Fingerprint.of(model="other")), calibration())
    with pytest.raises(StaleError, match="skills was not recorded"):
        decide(OPTIONS, scored(0.9, 0.1, 0, 0), calibration(), context=Fingerprint.of(skills="7"))
    decider = ConformalDecider(Fingerprint.of(skills="7"))
    both = Calibration.make([0.6] * 99, 0.15, fingerprint=Fingerprint.of(model="m", skills="7"))
    assert isinstance(decider.decide(OPTIONS, scored(0.05, 0.1, 0.8, 0.05), both), Act)


def test_misuse():
    with pytest.raises(ConfigError, match="one score for each"):
        decide(OPTIONS, scored(0.5, 0.5), calibration())
    with pytest.raises(ConfigError, match="mean the same"):
        decide([COKE, COKE], scored(0.5, 0.5), calibration())
    with pytest.raises(ConfigError, match="no options"):
        decide([], [], calibration())
    with pytest.raises(ConfigError, match="different models"):
        decide([COKE, METAL], [*scored(0.5), *scored(0.5, provenance=Fingerprint.of(model="x"))], calibration())


def test_groups_are_passed_on():
    grouped = Calibration.make([0.1] * 50 + [0.6] * 49, 0.15, fingerprint=PRINT, groups=["a"] * 50 + ["b"] * 49)
    near = scored(0.05, 0.1, 0.8, 0.05)
    assert isinstance(decide(OPTIONS, near, grouped, group="b"), Act)
    assert decide(OPTIONS, near, grouped, group="a").reason is Reason.EMPTY
    assert isinstance(decide(OPTIONS, near, grouped, group="unknown"), Ask)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_acts_only_on_one_listed_unmarked_option(values, data):
    options = [Option(f"k{i}", f"t{i}") for i in range(len(values) - 1)] + [not_listed()]
    codes = st.sampled_from([None, MarkCode.UNSAFE, MarkCode.IMPOSSIBLE, MarkCode.NEEDS_CARE])
    marks = data.draw(st.lists(codes, min_size=len(options), max_size=len(options)))
    options = [o.marked(m, "why.") if m and not o.is_not_listed else o for o, m in zip(options, marks, strict=True)]
    kept = data.draw(st.lists(st.sampled_from(range(len(options))), unique=True))
    decision = read_set(options, values, kept)
    only = options[kept[0]] if len(kept) == 1 else None
    acts = only is not None and not (only.is_not_listed or only.unsafe or only.impossible)
    assert isinstance(decision, Act) == acts
    assert {o.key for o in decision.options} == {options[i].key for i in kept}
    if isinstance(decision, Ask):
        assert decision.question.sentence.endswith("?")
        offered = [k for c in decision.question.cells for k in c.keys] + list(decision.question.rest)
        assert not any(o.unsafe or o.impossible or o.is_not_listed for o in options if o.key in offered)
