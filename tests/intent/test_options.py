from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.domain.option import MarkCode, Option, not_listed
from handrail.errors import ConfigError
from handrail.intent.options import Written, marked, merge, question_of, read_written, shortlist, write, writing_prompt
from handrail.intent.scores import Context
from handrail.language.canned import Canned


def meaning(text):
    """Reads "bring the X" in two wordings."""
    words = text.lower().split()
    if words[0] in ("bring", "fetch"):
        return ("bring", words[-1])
    return None


def test_lettered_lines():
    found = read_written("bring the cola\nB) fetch the cola.\nC) bring the apple\nD) sing\n", meaning)
    assert [o.text for o in found.options] == ["bring the cola", "bring the apple"]
    assert found.options[0].meaning == ("bring", "cola")
    assert found.merged == ("fetch the cola",) and found.unread == ("sing",)


@pytest.mark.parametrize("mark", ["A)", "a.", "(A)", "1)", "12:", "-", "•"])
def test_ways_to_list(mark):
    found = read_written(f"{mark} bring the cola\n{mark} bring the apple", meaning)
    assert len(found.options) == 2


def test_stops_where_the_model_goes_on_to_something_else():
    found = read_written("A) bring the cola\nHere: a pen\nA) bring the pen", meaning)
    assert [o.text for o in found.options] == ["bring the cola"]
    assert read_written("", meaning) == Written(())
    many = "\n".join(f"{c}) bring the thing{c}" for c in "ABCDEF")
    assert len(read_written(many, meaning).options) == 4


def test_writing_is_never_padded():
    context = Context("a cola", "Bring it.")
    found = write(Canned(["bring the cola\nB) bring the cola"]), context, meaning)
    assert len(found.options) == 1
    assert writing_prompt(context).endswith("Person: Bring it.\nA)")


def test_merging_is_by_meaning_and_keeps_all_marks():
    a = Option("k", "one way").marked(MarkCode.UNSAFE, "hot")
    b = Option("k", "another way", attributes=(("object", "x"),)).marked(MarkCode.IMPOSSIBLE, "gone")
    (both,) = merge([a, b, a])
    assert both.text == "one way" and {m.sentence for m in both.marks} == {"hot", "gone"}
    assert both.attributes == (("object", "x"),)


def test_refuted_options_are_marked_not_hidden():
    options = [Option("a", "x", "a"), Option("b", "y", "b"), not_listed()]
    out = marked(options, lambda m: "There is none." if m == "b" else None)
    assert [o.impossible for o in out] == [False, True, False]
    assert len(out) == 3


@given(st.integers(0, 10), st.integers(1, 6), st.integers(0, 99))
def test_questions(n, most, seed):
    options = [Option(f"k{i}", f"t{i}") for i in range(n)]
    kept = shortlist(options, lambda o: -int(o.key[1:]) // 2, most, seed)
    assert len(kept) == min(n, most)
    assert list(kept) == [o for o in options if o in kept]
    if n > most + 1:
        assert options[0] in kept
    question = question_of([*kept, *kept, not_listed()], seed)
    assert question == question_of(kept, seed)
    assert {o.key for o in question} == {*(o.key for o in kept), "not-listed"}


def test_the_not_listed_option_moves():
    options = [Option(f"k{i}", f"t{i}") for i in range(4)]
    places = {next(i for i, o in enumerate(question_of(options, s)) if o.is_not_listed) for s in range(60)}
    assert places == {0, 1, 2, 3, 4}
    with pytest.raises(ConfigError):
        shortlist(options, lambda o: 0.0, 0)
