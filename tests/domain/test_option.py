from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.domain.option import NOT_LISTED, Fingerprint, Mark, MarkCode, Option, check_options, not_listed
from handrail.errors import ConfigError

parts = st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=5)


def test_marks_and_attributes():
    bowl = Option("k", "put the metal bowl in the microwave", attributes=(("material", "metal"),))
    marked = bowl.marked(MarkCode.UNSAFE, "Metal sparks.").marked(MarkCode.NEEDS_CARE, "It is hot.")
    assert marked.unsafe and not marked.impossible and not bowl.unsafe
    assert marked.marks[0] == Mark(MarkCode.UNSAFE, "Metal sparks.")
    assert bowl.attribute("material") == "metal" and bowl.attribute("place") is None
    assert not_listed().is_not_listed and not_listed().key == NOT_LISTED and not bowl.is_not_listed


def test_lists():
    check_options([Option("a", "A"), not_listed()])
    with pytest.raises(ConfigError, match="no options"):
        check_options([])
    with pytest.raises(ConfigError, match="mean the same"):
        check_options([Option("a", "A"), Option("a", "other words")])


@given(parts, parts)
def test_fingerprints(a, b):
    one, two = Fingerprint.of(a), Fingerprint.of(b)
    assert (one == two) == (a == b)
    changed = one.changes(two)
    assert (not changed) == (a == b)
    assert len(changed) == sum(a.get(k) != b.get(k) for k in a.keys() | b.keys())
    if all(a[k] == b[k] for k in a.keys() & b.keys()):
        assert dict(one.merged(two).parts) == {**a, **b}
    else:
        with pytest.raises(ConfigError, match="two values"):
            one.merged(two)


def test_changes_are_sentences():
    was, now = Fingerprint.of(model="m", prompt="p", old=1), Fingerprint.of(model="n", prompt="p", new=2)
    assert was.changes(now) == [
        "model was m and is n now",
        "new was not recorded and is 2 now",
        "old was 1 and is not known now",
    ]
