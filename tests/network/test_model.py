from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from handrail.network.model import FunctionalUnit, Identity, ObjectNode, Relation, TaskTree, main_output

from .strategies import few, nodes, trees


def test_identity_is_by_sets_and_nothing_else() -> None:
    a = ObjectNode("salad", ["mixed", "cold"], ["a", "b"], [Relation("in", "bowl")])
    b = ObjectNode("salad", ["cold", "mixed"], ["b", "a"], [Relation("in", "bowl")])
    assert a == b
    assert hash(a) == hash(b)
    assert a != a.but(ingredients=["a"])
    assert a != a.but(relations=[Relation("on", "bowl")])


def test_the_state_on_is_not_the_relation_on() -> None:
    assert ObjectNode("stove", ["on"]) != ObjectNode("stove", (), (), [Relation("on", "on")])
    assert ObjectNode("stove", ["on"]) != ObjectNode("stove", (), (), [Relation("on", "table")])


def test_values_are_frozen() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        ObjectNode("a").label = "b"
    with pytest.raises(AttributeError, match="immutable"):
        FunctionalUnit([], "pour", []).motion = "stir"


@few
@given(nodes())
def test_nodes_survive_pickling(node: ObjectNode) -> None:
    assert pickle.loads(pickle.dumps(node)) == node


@few
@given(nodes())
def test_projections_are_idempotent(node: ObjectNode) -> None:
    for rule in Identity:
        once = rule.project(node)
        assert rule.project(once) == once


@few
@given(trees())
def test_units_are_equal_whatever_the_order_of_their_objects(tree: TaskTree) -> None:
    for unit in tree.units:
        turned = unit.but(inputs=reversed(unit.inputs), outputs=reversed(unit.outputs))
        assert turned == unit
        assert hash(turned) == hash(unit)


def test_time_and_source_are_no_part_of_a_units_identity() -> None:
    a = FunctionalUnit([ObjectNode("a")], "pour", [ObjectNode("b")], start="0:01", end="0:02")
    assert a == FunctionalUnit([ObjectNode("a")], "pour", [ObjectNode("b")])


def test_main_output_is_what_the_recipe_builds_up() -> None:
    bowl, salad = ObjectNode("bowl", [], ["salad"]), ObjectNode("salad", ["mixed"], ["a", "b"])
    unit = FunctionalUnit([ObjectNode("a"), ObjectNode("b"), ObjectNode("bowl")], "mix", [bowl, salad])
    assert main_output(unit) == salad


def test_used_before_made_are_the_leaves_of_the_recipe() -> None:
    a, b, c = ObjectNode("a"), ObjectNode("b"), ObjectNode("c")
    tree = TaskTree((FunctionalUnit([a], "m", [b]), FunctionalUnit([b, c], "m", [a])))
    assert tree.used_before_made() == (a, c)
    assert tree.target == a
