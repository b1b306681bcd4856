"""Conditions: what they read to, how they print, and where every mistake is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.domain import Domain, Parameter
from handrail.domain import formula as f
from handrail.domain.text import parse_condition
from handrail.errors import DomainError

PICK = (
    Parameter("r", ("robot",)),
    Parameter("hand", ("hand",)),
    Parameter("thing", ("item",)),
    Parameter("p", ("place",)),
)


def true(name: str, *args: f.Term) -> f.Test:
    return f.Test(f.Call(name, args), "==", f.Const(True))


READ = {
    "free(hand)": true("free", f.Param("hand")),
    "at(r) == on(thing)": f.Test(f.Call("at", (f.Param("r"),)), "==", f.Call("on", (f.Param("thing"),))),
    "not open(fridge) or sharp(in(hand)) and wet(thing)": f.Or(
        (
            f.Not(true("open", f.Const("fridge"))),
            f.And((true("sharp", f.Call("in", (f.Param("hand"),))), true("wet", f.Param("thing")))),
        )
    ),
    "in(hand) != none": f.Test(f.Call("in", (f.Param("hand"),)), "!=", f.Const(None)),
    "material(thing) == glass": f.Test(f.Call("material", (f.Param("thing"),)), "==", f.Const("glass")),
    "open(fridge) == false": f.Test(f.Call("open", (f.Const("fridge"),)), "==", f.Const(False)),
    "true == open(fridge)": true("open", f.Const("fridge")),
    "all q in place | person (object(q))": f.All("q", "place | person", true("object", f.Param("q"))),
    "some v in vessel (portions(v) >= 2)": f.Some(
        "v", "vessel", f.Test(f.Call("portions", (f.Param("v"),)), ">=", f.Const(2))
    ),
    "container(p)": true("container", f.Param("p")),
    "not not ((free(hand)))": f.Not(f.Not(true("free", f.Param("hand")))),
}


@pytest.mark.parametrize("text", READ)
def test_reads_to_the_record(text: str, kitchen: Domain) -> None:
    assert parse_condition(text, kitchen, PICK) == READ[text]


WRONG = {
    "at(r) == on(thng)": (
        13,
        "no parameter or object 'thng'. Here are: r (robot), hand (hand), thing (item), p (place).",
        "Did you mean 'thing'?",
    ),
    "at(r) = on(thing)": (7, "'==' tests for equality and ':=' assigns"),
    "at(r) := p": (7, "':=' assigns and belongs into `makes`"),
    "free(hand) && wet(thing)": (12, "write 'and'"),
    "!free(hand)": (1, "write 'not'"),
    "in(hand)": (1, "'in(hand)' is an item or none, not true or false; compare it"),
    "hand": (1, "'hand' is a hand, not true or false"),
    "true": (1, "bare 'true'"),
    "opn(p)": (1, "no fluent, attribute or type 'opn'. Did you mean 'open' or"),
    "open p": (1, "'open' is a fluent; give its arguments: open(c: container)"),
    "open(p, r)": (1, "'open' takes 1 argument, here it has 2; it is declared as open(c: container)"),
    "open(thing)": (6, "'thing' is an item and never a container"),
    "at(r) == thing": (7, "'at(r)' is a place and 'thing' is an item; they are never equal"),
    "at(r) == none": (7, "'at(r)' is a place and never none"),
    "at(r) < p": (7, "'<' compares counts, and 'at(r)' is a place"),
    "material(thing) == wood": (20, "no parameter or object 'wood'"),
    "free(hand) == none": (12, "true or false and never none"),
    "wet(thing) == free(hand)": (12, "'free(hand)' is a derived fluent: it can be compared only with true or false"),
    "some thing in item (wet(thing))": (6, "'thing' is a parameter or variable already"),
    "some table in item (wet(table))": (6, "'table' is an object"),
    "some glass in item (wet(glass))": (6, "'glass' is a symbol"),
    "some x in itm (wet(x))": (11, "there is no type 'itm'. Did you mean 'item'?"),
    "some x of item (wet(x))": (8, "expected 'in'"),
    "some x in item wet(x)": (16, "expected '('"),
    "wet(thing": (10, "expected ')' or ',' in the arguments of 'wet', found the end"),
    "(wet(thing)": (12, "expected ')' to close the parenthesis, found the end"),
    "wet(thing) wet(thing)": (12, "expected the end of the condition, found 'wet'. Conditions are joined"),
    "wet(thing) and": (15, "expected a parameter, an object, a count, 'none' or a fluent, found the end"),
    "": (1, "expected a parameter"),
    "and": (1, "found the word 'and'"),
    "wet(none)": (5, "'none' is none; 'wet' takes objects"),
    "wet(3)": (5, "'3' is a count"),
    "thing(p)": (1, "a parameter or object takes no arguments"),
    "distance(p, p) == 1": (1, "'distance' is a number; it belongs into a cost"),
    "portions(thing) > 2x": (19, "'2x' is neither a count nor a name"),
    "portions(thing) > 2.5": (20, "no fractions"),
    "sofa-table == p": (5, "names are made of letters"),
    "wet('thing')": (5, "names need no quotes"),
    "wet(thing) §": (12, "'§' has no meaning"),
    "not " * 70 + "wet(thing)": (241, "nested more than 60 deep"),
    "item == p": (1, "'item' is a type, and a parameter or object was expected"),
}


@pytest.mark.parametrize("text", WRONG)
def test_says_where_and_what(text: str, kitchen: Domain) -> None:
    column, *parts = WRONG[text]
    with pytest.raises(DomainError) as e:
        parse_condition(text, kitchen, PICK, label="skill 'pick' needs")
    assert e.value.where is not None
    assert (e.value.where.line, e.value.where.column) == (1, column), str(e.value)
    for part in parts:
        assert part in str(e.value)
    assert str(e.value.message).startswith("skill 'pick' needs \"")


PLACES: list[f.Term] = [f.Param("p"), f.Const("table"), f.Const("fridge"), f.Call("at", (f.Param("r"),))]
ITEMS: list[f.Term] = [f.Param("thing"), f.Call("in", (f.Param("hand"),))]
COUNTS: list[f.Term] = [f.Call("portions", (t,)) for t in ITEMS] + [f.Const(2), f.Const(0)]


def comparisons() -> st.SearchStrategy[f.Condition]:
    op = st.sampled_from(["==", "!="])
    on = st.sampled_from(ITEMS).map(lambda t: f.Call("on", (t,)))
    return st.one_of(
        st.builds(f.Test, on, op, st.sampled_from([*PLACES, f.Const(None)])),
        st.builds(f.Test, st.sampled_from(PLACES[::3]), op, st.sampled_from(PLACES)),
        st.builds(
            f.Test,
            st.sampled_from(COUNTS),
            st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
            st.sampled_from(COUNTS),
        ),
        st.builds(lambda p: true("open", p), st.sampled_from([*PLACES[::2], PLACES[3]])),
        st.builds(lambda t: f.Test(f.Call("wet", (t,)), "==", f.Const(False)), st.sampled_from(ITEMS)),
        st.builds(lambda t: true("reachable", t), st.sampled_from(ITEMS)),
        st.just(true("free", f.Param("hand"))),
        st.builds(lambda t: f.Test(f.Call("material", (t,)), "!=", f.Const("metal")), st.sampled_from(ITEMS)),
    )


def conditions() -> st.SearchStrategy[f.Condition]:
    def more(inner: st.SearchStrategy[f.Condition]) -> st.SearchStrategy[f.Condition]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            st.builds(f.Not, inner),
            st.builds(f.And, parts),
            st.builds(f.Or, parts),
            st.builds(lambda t, b: f.Some("v1", t, b), st.sampled_from(["item", "place | person"]), comparisons()),
            st.builds(lambda b: f.All("v2", "vessel", b), comparisons()),
        )

    return st.recursive(comparisons(), more, max_leaves=12)


@given(conditions())
@settings(max_examples=300)
def test_printing_reads_to_the_same(kitchen: Domain, c: f.Condition) -> None:
    assert parse_condition(str(c), kitchen, PICK) == c


WORDS = [
    "at",
    "(",
    ")",
    "r",
    "thing",
    "==",
    "!=",
    "<",
    "and",
    "or",
    "not",
    "some",
    "all",
    "in",
    "item",
    ",",
    "3",
    "none",
    "x",
]


@given(
    st.lists(st.sampled_from([*WORDS, ":=", "open", "free", "hand", "true", "'", "-", "\n"]), max_size=14).map(" ".join)
)
@settings(max_examples=400)
def test_anything_reads_or_is_a_domain_error(kitchen: Domain, text: str) -> None:
    try:
        made = parse_condition(text, kitchen, PICK)
    except DomainError as e:
        assert e.where is not None
        assert 1 <= e.where.column <= len(text) + 1
    else:
        assert parse_condition(str(made), kitchen, PICK) == made
