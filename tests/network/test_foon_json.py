from __future__ import annotations

import json

import pytest
from hypothesis import given

from handrail.errors import ParseError
from handrail.network.foon_json import dumps, loads
from handrail.network.model import Identity, Relation, TaskTree
from handrail.network.repairs import Repair

from .strategies import few, trees

NODE = {"label": "onion", "states": ["whole"], "ingredients": [], "container": None}


def unit(**changes: object) -> str:
    return json.dumps(
        [{"input_nodes": [NODE], "motion_node": "chop", "output_nodes": [{**NODE, "states": ["cut"]}], **changes}]
    )


@few
@given(trees())
def test_extended_json_loses_nothing(tree: TaskTree) -> None:
    text, lost = dumps(tree)
    back = loads(text).tree
    assert lost == ()
    assert back.units == tree.units
    assert [(u.start, u.moving) for u in back.units] == [(u.start, u.moving) for u in tree.units]


@few
@given(trees())
def test_plain_json_says_what_it_could_not_hold(tree: TaskTree) -> None:
    text, lost = dumps(tree, extended=False)
    back = loads(text).tree
    assert any(f.kind is Repair.TIME_LOST for f in lost)
    same = [Identity.PLACE.project(n) for u in back.units for n in u.objects()]
    expected = [Identity.PLACE.project(n) for u in tree.units for n in u.objects()]
    hurt = any(f.kind in (Repair.SECOND_PLACE, Repair.QUALIFIED_STATE) for f in lost)
    assert (same == expected) or hurt


def test_the_container_is_read_without_a_relation_word() -> None:
    node = loads(unit(input_nodes=[{**NODE, "container": "bowl"}])).units[0].inputs[0]
    assert node.relations == {Relation("at", "bowl")}


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"motion_node": None}, Repair.MALFORMED_UNIT, "motion_node must be a text"),
        ({"motion_node": ["pour", "mix"]}, Repair.MALFORMED_UNIT, "several motions"),
        ({"input_nodes": None}, Repair.MALFORMED_UNIT, "input_nodes must be a list"),
        ({"output_nodes": []}, Repair.MALFORMED_UNIT, "no output"),
        ({"input_nodes": [{**NODE, "label": 7}]}, Repair.MALFORMED_UNIT, "label must be a text"),
        ({"input_nodes": [{**NODE, "states": 7}]}, Repair.MALFORMED_UNIT, "states must be a list"),
        ({"input_nodes": [{**NODE, "liquid": 1}]}, Repair.UNKNOWN_LINE, "liquid"),
        ({"input_nodes": [{"label": "onion"}]}, Repair.MISSING_FIELD, "states"),
        ({"input_nodes": [{**NODE, "container": "onion"}]}, Repair.SELF_CONTAINER, "onion"),
        ({"input_nodes": [{**NODE, "ingredients": ["a", "a"]}]}, Repair.DUPLICATE_INGREDIENT, "ingredients"),
        ({"input_nodes": []}, Repair.NO_INPUT, "chop"),
        ({"surprise": 1}, Repair.UNKNOWN_LINE, "surprise"),
    ],
)
def test_damage_is_reported_and_the_rest_is_kept(changes: dict[str, object], kind: Repair, words: str) -> None:
    good = json.loads(unit())
    text = json.dumps([*good, *json.loads(unit(**changes)), *good], indent=1)
    document = loads(text, "t.json")
    found = [f for f in document.found if f.kind is kind]
    assert found
    assert any(words in f.text for f in found)
    assert found[0].line > 1
    assert len(document.units) == (2 if kind is Repair.MALFORMED_UNIT else 3)


def test_a_key_given_twice_is_an_error_with_its_place() -> None:
    with pytest.raises(ParseError, match=r"t\.json:2:1 .*key given twice: 'label'"):
        loads('[\n{"input_nodes": [{"label": "a", "label": "b"}], "motion_node": "m", "output_nodes": []}]', "t.json")


@pytest.mark.parametrize(
    ("text", "words"),
    [("{}", "expected '\\['"), ("[{]", "not JSON"), ('[{"a": 1} 2]', "between units"), ("[] x", "after the list"), (b"[\xff]", "UTF-8")],
)  # fmt: skip
def test_text_that_is_no_list_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        loads(text, "t.json")


@pytest.mark.data
def test_the_recorded_trees_of_a_large_model(data_dir: object) -> None:
    from pathlib import Path

    from handrail.network.document import read_all

    folder = Path(str(data_dir)) / "foon_mit" / "generated_trees"
    documents = list(read_all(sorted(folder.iterdir())))
    assert len(documents) == 97
    assert sum(len(d.units) for d in documents) == 880
    malformed = [(f.source, f.line) for d in documents for f in d.found if f.kind is Repair.MALFORMED_UNIT]
    assert malformed == [("08f04b3cb4.json", 355), ("19d03d9e2b.json", 218)]
