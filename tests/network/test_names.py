from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import ConfigError
from handrail.network.model import FunctionalUnit, ObjectNode, Relation, TaskTree
from handrail.network.names import Names, Rule, plain_singular

NAMES = Names.load(known={"milk", "olive oil", "cutting board", "yogurt"})

SINGULAR = {
    "tomatoes": "tomato", "potatoes": "potato", "leaves": "leaf", "loaves": "loaf", "knives": "knife",
    "couscous": "couscous", "molasses": "molasses", "hummus": "hummus", "asparagus": "asparagus", "citrus": "citrus",
    "octopus": "octopus", "smoothies": "smoothie", "chilies": "chili", "chiles": "chili", "grits": "grits",
    "tongs": "tongs", "scissors": "scissors", "haggis": "haggis", "berries": "berry", "cherries": "cherry",
    "peaches": "peach", "radishes": "radish", "glasses": "glass", "glass": "glass", "mangoes": "mango",
    "eggs": "egg", "carrots": "carrot", "slices": "slice", "pancakes": "pancake", "sandwiches": "sandwich",
    "cherry tomatoes": "cherry tomato", "bay leaves": "bay leaf", "cookies": "cookie", "oats": "oats", "rice": "rice",
    "socks": "sock", "shirts": "shirt", "clothes": "clothes", "shelves": "shelf", "boxes": "box", "brushes": "brush",
    "watercress": "watercress", "swiss": "swiss", "bass": "bass", "gas": "gas",
}  # fmt: skip


@pytest.mark.parametrize(("plural", "expected"), SINGULAR.items())
def test_singular_forms(plural: str, expected: str) -> None:
    pytest.importorskip("lemminflect")
    assert NAMES.label(plural)[0] == expected


@given(st.sampled_from(sorted(SINGULAR)))
def test_naming_is_idempotent(word: str) -> None:
    once = NAMES.label(word)[0]
    assert NAMES.label(once)[0] == once


def test_plain_rules_stand_in_where_no_library_is_installed() -> None:
    assert [plain_singular(w) for w in ("berries", "boxes", "eggs", "glass", "hummus", "dishes")] == [
        "berry", "box", "egg", "glass", "hummus", "dish",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "label", "states", "rule"),
    [
        ("pan", "cooking pan", (), Rule.SYNONYM),
        ("Cutting  Board", "cutting board", (), Rule.CASE),
        ("cuttingboard", "cutting board", (), Rule.COMPOUND),
        ("cherrytomatoes", "cherry tomato", (), Rule.COMPOUND),
        ("liquidmilk", "milk", ("liquid",), Rule.PREFIX),
        ("1/2 cup milk", "milk", (), Rule.QUANTITY),
        ("2 cups of milk", "milk", (), Rule.QUANTITY),
        ("3 eggs", "egg", (), Rule.QUANTITY),
    ],
)
def test_each_change_has_its_rule(text: str, label: str, states: tuple[str, ...], rule: Rule) -> None:
    name, found, changes = NAMES.label(text)
    assert (name, found) == (label, states)
    assert rule in {c.rule for c in changes}


def test_the_quantity_is_kept_in_the_change() -> None:
    change = next(c for c in NAMES.label("1/2 cup milk")[2] if c.rule is Rule.QUANTITY)
    assert change.detail == "1/2 cup"


def test_a_prefix_is_only_split_off_a_known_label() -> None:
    assert NAMES.label("groundbeef")[0] == "groundbeef"


def tree() -> TaskTree:
    node = ObjectNode("liquidmilk", ["Choppped"], ["eggs"], [Relation("in", "pan")])
    return TaskTree((FunctionalUnit([node], "scoopandpour", [ObjectNode("eggs")]),), node)


def test_a_tree_is_renamed_with_every_change_named_and_can_be_taken_back() -> None:
    named = NAMES.normalise(tree())
    node = named.tree.units[0].inputs[0]
    assert node == ObjectNode("milk", ["chopped", "liquid"], ["egg"], [Relation("in", "cooking pan")])
    assert named.tree.units[0].motion == "scoop and pour"
    assert named.tree.goal == node
    assert {c.rule for c in named.changes} >= {Rule.PREFIX, Rule.STATE, Rule.SINGULAR, Rule.SYNONYM, Rule.MOTION}
    assert named.original == tree()
    assert NAMES.normalise(named.tree).changes == ()


def test_a_merge_of_two_names_can_be_undone() -> None:
    apart = NAMES.without("pan")
    assert apart.label("pan")[0] == "pan"
    assert apart.label("chopping board")[0] == "cutting board"


def test_a_users_file_extends_the_rules(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "mine.yaml"
    path.write_text("synonyms: {aubergine: brinjal}\ncompounds: [dust pan]\n")
    mine = Names.load(path)
    assert mine.label("aubergine")[0] == "brinjal"
    assert mine.label("dustpan")[0] == "dust pan"
    path.write_text("synonims: {}\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml.*unknown part 'synonims'"):
        Names.load(path)
    path.write_text("synonyms: [a]\n")
    with pytest.raises(ConfigError, match="map names to names"):
        Names.load(path)
