"""Every character of every string knows its place, whatever style YAML gives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.domain.text.document import Text, plain, read_document
from handrail.errors import DomainError

STYLES = {
    "plain": ("k: at(r) == thng", (1, 4), (1, 13)),
    "double": ('k: "at(r) == thng"', (1, 4), (1, 14)),
    "single": ("k: 'at(r) == thng'", (1, 4), (1, 14)),
    "escaped": ('k: "\\u0061t(r) == thng"', (1, 4), (1, 19)),
    "list": ('k:\n  - "at(r) == thng"', None, (2, 15)),
    "folded": ("k: >-\n  at(r)\n  == thng", (1, 4), (3, 6)),
    "block": ("k: |\n  at(r) ==\n  thng\n", (1, 4), (3, 3)),
    "wrapped": ('k: "at(r) ==\n  thng"', (1, 4), (2, 3)),
    "indented": ("a:\n    k: >\n        at(r) == thng\n", None, (3, 18)),
}


def find(value: object) -> Text:
    while not isinstance(value, Text):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]  # type: ignore[index]
    return value


@pytest.mark.parametrize("style", STYLES)
def test_places_in_all_styles(style: str) -> None:
    text, begins, wanted = STYLES[style]
    value = find(read_document(text, "f.yaml"))
    where = value.locate(value.index("thng"))
    assert (where.source, where.line, where.column) == ("f.yaml", *wanted)
    if begins:
        assert (value.where.line, value.where.column) == begins


@given(st.text(alphabet="ab ()=_\"'\\#:", min_size=1, max_size=30))
def test_single_quoted_offsets_point_at_their_character(body: str) -> None:
    written = body.replace("'", "''")
    text = f"k: '{written}'"
    value = read_document(text, "f")["k"]
    assert value == body
    for offset, char in enumerate(body):
        where = value.locate(offset)
        assert where.line == 1
        assert text[where.column - 1] == char


BAD = {
    "a: 1\na: 2\n": (2, 1, "used twice; it is also on line 1"),
    "a: {b: 1, b: 2}": (1, 11, "'b' is used twice"),
    "- 1\n": (1, 1, "must be a mapping"),
    "": (1, 1, "empty"),
    "a: 1\n---\nb: 2\n": (2, 1, "single document"),
    "a: [1, 2": (1, 9, "not valid YAML"),
    "a: !include x.yaml": (1, 4, "tag '!include'"),
    "a: !!set {b, c}": (1, 4, "means nothing here"),
    "!!set a: 1": (1, 1, "means nothing here"),
    "a: !!int x": (1, 4, "can't read 'x'"),
    "a: !!map x": (1, 4, "means nothing here"),
    "1: a": (1, 1, "must be a word; put quotes around '1'"),
    "a: b: c": (1, 5, "not valid YAML"),
    "a:\n\t- b": (2, 1, "not valid YAML"),
}


@pytest.mark.parametrize("text", BAD)
def test_mistakes_say_where(text: str) -> None:
    line, column, part = BAD[text]
    with pytest.raises(DomainError) as e:
        read_document(text, "f.yaml")
    assert part in str(e.value)
    assert e.value.where is not None
    assert (e.value.where.line, e.value.where.column) == (line, column)


def test_yaml_1_2_words_stay_words() -> None:
    data = read_document("a: yes\nb: on\nc: true\nd: 010\ne: null\nf: 1.5\ng: 2026-11-30\n", "f")
    assert plain(data) == {"a": "yes", "b": "on", "c": True, "d": 10, "e": None, "f": 1.5, "g": "2026-11-30"}
    assert type(plain(data)["a"]) is str


def test_aliases_that_explode_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.domain.text.document.MAX_NODES", 5_000)
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 25)]
    with pytest.raises(DomainError, match="expand to too much"):
        read_document("\n".join(lines), "f")


def test_text_survives_pickling() -> None:
    import pickle

    value = read_document('k: "a == b"', "f.yaml")["k"]
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert again.locate(5) == value.locate(5)
