"""Model answers are read without loss, or refused at a place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import ParseError
from handrail.language.nodes import Items, Pairs, Scalar, kind, plain, same
from handrail.language.reading import MAX_CHARACTERS, MAX_DEPTH, is_empty, read

PLAN = {"steps": [{"skill": "pick", "args": {"thing": "mug"}}]}


def habits(text: str) -> dict[str, int]:
    return {note.habit: note.count for note in read(text).notes}


@pytest.mark.parametrize(
    ("text", "value", "noted"),
    [
        ('{"a": 1}', {"a": 1}, set()),
        (' \n[1, 2.5, -0.5e2, true, false, null, "x"]\n', [1, 2.5, -50.0, True, False, None, "x"], set()),
        ("{'WALK': ['light'], 'ON': True, 'x': None}", {"WALK": ["light"], "ON": True, "x": None},
         {"single quotes", "python literal"}),
        ('```json\n{"a": [1,],}\n```', {"a": [1]}, {"code fence", "trailing comma"}),
        ("```json\n{'WALK': ['light']}", {"WALK": ["light"]}, {"code fence", "single quotes"}),
        ('{"a": 1}```<|eot_id|>', {"a": 1}, {"chat token", "code fence"}),
        ('{"a": "b"}<|eot_id|>\n<|im_end|> </s>', {"a": "b"}, {"chat token"}),
        ('<|assistant|>{"a": "b"}', {"a": "b"}, {"chat token"}),
        ('Sure! Here it is:\n{"a": "b"}\nEnjoy.', {"a": "b"}, {"other text"}),
        ('Use {braces} and [1 of 3]. {"a": "b"}', {"a": "b"}, {"other text"}),
        ('<think>maybe {"a": "c"}?</think>\n{"a": "b"}', {"a": "b"}, {"thinking"}),
        ('{steps: [], why: "x"}', {"steps": [], "why": "x"}, {"bare key"}),
        ('{"a": ("b", "c")}', {"a": ["b", "c"]}, {"tuple"}),
        ('{"a": ("b",)}', {"a": ["b"]}, {"tuple", "trailing comma"}),
        ('{"a": 1 // why\n, # also\n "b": /* c */ 2}', {"a": 1, "b": 2}, {"comment"}),
        ('[{"WALK": ["toilet"]}', [{"WALK": ["toilet"]}], {"unclosed"}),
        ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}, {"unclosed"}),
        ('{"a": true', {"a": True}, {"unclosed"}),
        ('{\u201ca\u201d: \u201cb\u201d}', {"a": "b"}, {"curly quotes"}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}, {"line break in text"}),
        ("{'a': 'it\\'s'}", {"a": "it's"}, {"single quotes", "python escape"}),
        ("{'a': '\\x41'}", {"a": "A"}, {"single quotes", "python escape"}),
        ('{"a": "cd\\_player"}', {"a": "cd_player"}, {"markdown escape"}),
        ('{"a": "\\u00e9\\ud83d\\ude00\\n"}', {"a": "\u00e9\U0001f600\n"}, set()),
        ('\ufeff{"a": 1}', {"a": 1}, set()),
        ('{"a": "x } ] , {"}', {"a": "x } ] , {"}, set()),
        ('{"a": "say ```hi``` there"}', {"a": "say ```hi``` there"}, set()),
        ('Plan:\n```json\n{"a": "say ```hi``` there"}\n```', {"a": "say ```hi``` there"}, {"code fence", "other text"}),
        ('{"a": "</think>"}', {"a": "</think>"}, set()),
        ('{"function": ""}', {"function": ""}, set()),
        ("{}", {}, set()),
        ("[]", [], set()),
    ],
)  # fmt: skip
def test_reads_what_is_unambiguous(text: str, value: object, noted: set[str]) -> None:
    reading = read(text)
    assert reading.plain() == value
    assert {note.habit for note in reading.notes} == noted


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "empty"),
        (" \n ", 1, 1, "empty"),
        ("<|eot_id|>", 1, 1, "no JSON"),
        ("I can't do that.", 1, 1, "no JSON"),
        ("}", 1, 1, "closes nothing"),
        ('{"a": 1', 1, 8, "more digits"),
        ('{"a": "b', 1, 9, "cut off inside text that began at line 1, column 7"),
        ('{"a": "b",', 1, 11, "cut off"),
        ('{"a":', 1, 6, "no value"),
        ('{"a"', 1, 5, "cut off after the key"),
        ('{"a": [', 1, 8, "nothing follows"),
        ('{"a": 1 "b": 2}', 1, 9, "expected ','"),
        ('{"a": 1,, "b": 2}', 1, 9, "expected a key"),
        ('{"a": NaN}', 1, 7, "not a number"),
        ('{"a": Infinity}', 1, 7, "not a number"),
        ('{"a": -Infinity}', 1, 7, "expected a number"),
        ('{"a": 1e999}', 1, 7, "too large"),
        ('{"a": 007}', 1, 7, "not a JSON number"),
        ('{"a": 0x10}', 1, 7, "not a JSON number"),
        ('{"a": 1.}', 1, 7, "not a JSON number"),
        ('{"a": +1}', 1, 7, "expected a value"),
        ('{"a": light}', 1, 7, "bare word 'light'"),
        ('{"a": "b" "c"}', 1, 11, "expected ','"),
        ("{'a': 'it's'}", 1, 11, "expected ','"),
        ('{"a": ("b")}', 1, 7, "single value"),
        ("{'a', 'b'}", 1, 5, "expected ':'"),
        ('{1: "a"}', 1, 2, "expected a key"),
        ('{"a": [1, 2}', 1, 12, "expected ',' or ']'"),
        ('{"a": "\\ud83d"}', 1, 8, "surrogate"),
        ('{"a": "\\q"}', 1, 8, "unknown escape"),
        ('{"a": "\x00"}', 1, 8, "U+0000"),
        ('{"a": /* no end', 1, 7, "does not end"),
        ('{"a": 1}\n{"a": 2}', 2, 1, "second, different value (the first is at line 1, column 1)"),
        ('{"a": [{"b": "c"}, oops, {"b": "d"}]}', 1, 20, "bare word 'oops'"),
        ('text\n  {"a": "b", "c": }', 2, 19, "expected a value"),
    ],
)
def test_refuses_at_the_place(text: str, line: int, column: int, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(text, source="answer")
    assert caught.value.where is not None
    assert (caught.value.where.source, caught.value.where.line, caught.value.where.column) == ("answer", line, column)
    assert says in caught.value.message


def test_repeated_keys_survive_and_are_no_mapping() -> None:
    reading = read('{"WALK": ["sink"],\n "WALK": ["soap"], "GRAB": ["soap"]}')
    assert isinstance(reading.node, Pairs)
    assert [(e.key, plain(e.value)) for e in reading.node] == [
        ("WALK", ["sink"]),
        ("WALK", ["soap"]),
        ("GRAB", ["soap"]),
    ]
    for use in (reading.plain, reading.node.mapping, lambda: reading.node.get("WALK")):  # type: ignore[union-attr]
        with pytest.raises(ParseError, match=r"occurs twice.*line 1, column 2") as caught:
            use()
        assert caught.value.where is not None and (caught.value.where.line, caught.value.where.column) == (2, 2)
    assert plain(reading.node.get("GRAB")) == ["soap"]  # type: ignore[arg-type]
    assert reading.node.get("FLY") is None


def test_first_block_bad_second_good() -> None:
    reading = read('```json\n{"a": "b" "c"}\n```\nI meant\n```json\n{"a": "d"}\n```')
    assert reading.plain() == {"a": "d"}
    bad = [note for note in reading.notes if note.habit == "unreadable block"]
    assert len(bad) == 1 and "line 2, column 11" in bad[0].text


def test_two_equal_blocks_are_one_and_two_different_ones_none() -> None:
    assert habits('```\n{"a": "b"}\n```\nAgain:\n```\n{"a":  "b"}\n```')["repeated block"] == 1
    with pytest.raises(ParseError, match="second, different value"):
        read('```\n{"a": "b"}\n```\n```\n{"a": "c"}\n```')


def test_the_inside_of_a_broken_value_is_never_taken_for_the_whole() -> None:
    with pytest.raises(ParseError, match="bare word"):
        read('{"steps": [oops, {"skill": "pick"}]}')
    with pytest.raises(ParseError, match="expected ','"):
        read('Here: {"steps": [{"skill": "go"} {"skill": "pick"}]}')


def test_fits_picks_the_kind_that_is_looked_for() -> None:
    def is_plan(node: object) -> bool:
        return isinstance(node, Pairs) and any(entry.key == "steps" for entry in node)

    text = f'Objects: ["mug", "tray"]. {json.dumps(PLAN)}'
    reading = read(text, fits=is_plan)
    assert reading.plain() == PLAN
    assert [n.habit for n in reading.notes] == ["other value", "other text"]
    with pytest.raises(ParseError, match="second, different"):
        read(text)
    assert read('["mug"]', fits=is_plan).plain() == ["mug"]  # nothing fits: the caller says what is wrong with it
    with pytest.raises(ParseError, match="second, different"):
        read(f'{json.dumps(PLAN)} or {{"steps": []}}', fits=is_plan)


def test_unclosed_is_told() -> None:
    assert read('{"a": ["b"]').unclosed
    assert not read('{"a": ["b"]}').unclosed


def test_depth_and_length_are_bounded() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH).plain() is not None
    with pytest.raises(ParseError, match=f"deeper than {MAX_DEPTH}"):
        read("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(ParseError, match="at most"):
        read(" " * (MAX_CHARACTERS + 1))
    with pytest.raises(ParseError, match="number of"):
        read("[" + "9" * 5000 + "]")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{" * 200_000,
        '{"a":' * 100_000,
        "```" * 100_000,
        '```"' * 50_000,
        "```{" * 50_000,
        " " * 400_000 + "x",
        "<|a|>" * 50_000 + "x",
        '"' * 200_000,
        "[1 " * 100_000,
        "/*" * 100_000,
        "[/*" * 50_000,
        "{'" * 100_000,
        "[1]" * 60,
        "</think>" * 50_000,
    ],
    ids=lambda text: f"{text[:8]!r}x{len(text)}",
)
def test_garbage_is_read_in_bounded_work(text: str) -> None:
    """Linear reading takes well under a second for each; quadratic reading would hang the suite."""
    try:
        read(text)
    except ParseError as error:
        assert error.where is not None and error.where.line >= 1


def test_words_for_nodes() -> None:
    reading = read('{"a": [1, true, false, null, "x", {}]}')
    node = reading.node
    assert isinstance(node, Pairs) and kind(node) == "an object"
    values = node.entries[0].value
    assert isinstance(values, Items) and kind(values) == "a list"
    assert [kind(v) for v in values] == ["a number", "true", "false", "null", "text", "an object"]
    assert str(reading.error(values, "no")) == "<text>:1:7  no"
    assert [is_empty(read(text).node) for text in ("{}", "[]", "[0]")] == [True, True, False]
    assert is_empty(Scalar("")) and is_empty(Scalar(None)) and not is_empty(Scalar(0))


def test_one_is_not_true() -> None:
    assert not same(Scalar(1), Scalar(True))
    assert same(Scalar(1, 1, 1), Scalar(1, 9, 9))
    assert not same(Scalar(1), Items(()))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(values, max_size=5) | st.dictionaries(st.text(max_size=6), values, max_size=5)


@given(containers, st.sampled_from([None, 2]), st.booleans())
def test_reads_all_that_json_writes(value: object, indent: int | None, ascii_only: bool) -> None:
    assert read(json.dumps(value, indent=indent, ensure_ascii=ascii_only)).plain() == value


printable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc'\"", max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(printable, max_size=4))
def test_reads_all_that_python_prints(value: object) -> None:
    assert read(repr(value)).plain() == value


@given(containers, st.integers(0, 400))
def test_a_cut_answer_keeps_every_whole_step_or_is_refused(value: object, cut: int) -> None:
    """Whatever was written completely is in the reading: a cut never loses an element that stood before it."""
    whole = json.dumps(value)
    text = whole[: cut % (len(whole) + 1)]
    try:
        reading = read(text)
    except ParseError as error:
        assert error.where is not None
        return
    if reading.unclosed:
        assert json.dumps(reading.plain()).rstrip("]}") == text.rstrip("]}")
    else:
        assert reading.plain() == value


pieces = st.sampled_from(
    ['{', '}', '[', ']', '"', "'", ",", ":", "```", "```json\n", "\n", "\\", "null", "True", "1", "-", "a", " ", "<|x|>",
     "//", "/*", "*/", "#", "(", ")", "\\u12", "</think>", "\ud800", "\u201c", "\u201d", "{}", '"a":1']
)  # fmt: skip


@given(st.lists(pieces, max_size=60).map("".join))
def test_any_garbage_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        reading = read(text)
    except ParseError as error:
        assert error.where is not None and error.where.line >= 1 and error.where.column >= 1
    else:
        assert isinstance(reading.node, Items | Pairs)
        json.dumps(text, ensure_ascii=True)


@given(st.lists(pieces, max_size=60).map("".join))
def test_reading_is_a_function_of_the_text(text: str) -> None:
    def once() -> object:
        try:
            return read(text)
        except ParseError as error:
            return str(error)

    assert once() == once()
