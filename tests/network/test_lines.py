from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.errors import ConfigError, StaleError
from handrail.network.edits import Edit, Field, History, apply, review, revision
from handrail.network.library import shipped
from handrail.network.lines import LEAF, lines_of, text, to_json, tree_of
from handrail.network.model import FunctionalUnit, ObjectNode, Relation, TaskTree
from handrail.network.svg import svg
from handrail.network.transitions import Transitions
from handrail.network.units import Fault, UnitCheck

from .strategies import few, trees


@few
@given(trees(chained=True))
def test_rows_and_tree_hold_the_same(tree: TaskTree) -> None:
    rows = lines_of(tree)
    back = tree_of(rows)
    assert [(u.inputs, u.motion, u.outputs) for u in back.units] == [
        (u.inputs, u.motion, u.outputs) for u in tree.units
    ]
    assert back.goal == tree.goal
    assert lines_of(back) == rows


@few
@given(trees(chained=True))
def test_every_cell_knows_its_unit_and_field(tree: TaskTree) -> None:
    for line in lines_of(tree).lines:
        assert len(line.arrows) in (len(line.cells) - 1, len(line.cells))
        for k, cell in enumerate(line.cells):
            if cell.unit != LEAF:
                assert tree.units[cell.unit].outputs[cell.position] == cell.node
            if k < len(line.arrows):
                assert tree.units[line.arrows[k].unit].inputs[line.arrows[k].taken] == cell.node


@st.composite
def edits(draw: st.DrawFn) -> tuple[TaskTree, Edit]:
    tree = draw(trees(chained=True))
    rows = lines_of(tree).lines
    line = draw(st.integers(0, len(rows) - 1))
    field = draw(st.sampled_from([f for f in Field if f is not Field.RESTORE]))
    count = len(rows[line].arrows if field in (Field.MOTION, Field.DELETE) else rows[line].cells)
    assume(count > 0)
    cell = draw(st.integers(0, count - 1))
    return tree, Edit(field, line, cell, ("quite new",), "new place", motion="new motion", name="new name")


@few
@given(edits(), st.booleans())
def test_an_edit_and_its_reverse_are_nothing(case: tuple[TaskTree, Edit], confirm: bool) -> None:
    tree, edit = case
    try:
        done = apply(tree, edit, confirm=confirm)
    except ConfigError as refused:
        assert "confirm" in str(refused) or "end product" in str(refused)
        return
    # lines(edit(tree)) are the edited lines: what is shown after the edit is what the tree says
    assert lines_of(done.tree) == done.lines
    assert confirm or not done.joins
    assert done.changes or done.tree.units == tree.units
    if done.reverse is not None and not done.joins:
        back = apply(done.tree, done.reverse, confirm=True)
        assert [(u.inputs, u.motion, u.outputs) for u in back.tree.units] == [
            (u.inputs, u.motion, u.outputs) for u in tree.units
        ]
        assert back.tree.goal == tree.goal


@few
@given(edits())
def test_undo_and_redo(case: tuple[TaskTree, Edit]) -> None:
    tree, edit = case
    history = History(tree)
    try:
        done = history.edit(edit, expected=history.revision, confirm=True)
    except ConfigError:
        assert not history.undo()
        return
    assert history.undo()
    assert history.tree == tree
    assert history.redo()
    assert history.tree == done.tree
    assert not history.redo()


def node(label: str, *states: str, inside: str = "", holds: tuple[str, ...] = ()) -> ObjectNode:
    return ObjectNode(label, states, holds, [Relation("in", inside)] if inside else [])


def oil() -> TaskTree:
    """Olive oil out of a bottle into a pan, then mixed."""
    pan, poured = node("pan", "empty"), node("olive oil", "liquid", inside="pan")
    return TaskTree(
        (
            FunctionalUnit(
                [node("bottle", holds=("olive oil",)), node("olive oil", "liquid", inside="bottle"), pan],
                "pour",
                [node("bottle", "empty"), poured, node("pan", holds=("olive oil",))],
            ),
            FunctionalUnit(
                [poured, node("pan", holds=("olive oil",)), node("salt", "granulated")],
                "mix",
                [node("dressing", "mixed", inside="pan", holds=("olive oil", "salt"))],
            ),
        )
    )


def row(tree: TaskTree, name: str) -> int:
    return next(k for k, line in enumerate(lines_of(tree).lines) if line.name == name)


def test_olive_oil_is_edited_from_bottle_to_cup() -> None:
    """The paper's case: the place of a leaf changes, and the container that held only it becomes the new one."""
    tree = oil()
    done = apply(tree, Edit(Field.PLACE, row(tree, "olive oil"), 0, place="cup"))
    first = done.tree.units[0]
    assert node("cup", holds=("olive oil",)) in first.inputs
    assert node("olive oil", "liquid", inside="cup") in first.inputs
    assert node("cup", "empty") in first.outputs
    assert not any(n.label == "bottle" for u in done.tree.units for n in u.objects())
    assert node("olive oil", "liquid", inside="pan") in first.outputs
    assert done.tree.units[1] == tree.units[1]
    assert done.reverse is not None
    assert apply(done.tree, done.reverse).tree.units == tree.units


def test_a_state_edit_reaches_all_uses_downstream() -> None:
    tree = oil()
    done = apply(tree, Edit(Field.STATE, row(tree, "olive oil"), 0, ("warm",)))
    assert all("warm" in n.states for u in done.tree.units for n in u.objects() if n.label == "olive oil")
    assert len(done.changes) == 2


def test_a_motion_edit_names_the_rows_that_share_it() -> None:
    tree = oil()
    done = apply(tree, Edit(Field.MOTION, row(tree, "olive oil"), 1, motion="stir"))
    assert done.tree.units[1].motion == "stir"
    assert row(tree, "salt") in done.also


def test_an_inserted_step_is_checked_and_reported() -> None:
    known = Transitions.learn([oil()])
    tree = TaskTree((FunctionalUnit([node("onion", "chopped")], "fry", [node("onion", "fried")]),))
    done = apply(tree, Edit(Field.INSERT, 0, 0, ("whole",), motion="press"), UnitCheck(known))
    assert [u.motion for u in done.tree.units] == ["press", "fry"]
    assert done.changes[0].before is None
    assert Fault.IMPROPER_CHANGE in done.verdicts[0].faults


def test_a_deleted_step_joins_the_row_and_dangling_ones_need_confirmation() -> None:
    a, b, c = node("onion", "whole"), node("onion", "peeled"), node("onion", "chopped")
    tree = TaskTree((FunctionalUnit([a], "peel", [b]), FunctionalUnit([b], "chop", [c])))
    done = apply(tree, Edit(Field.DELETE, 0, 0))
    assert [(u.inputs, u.outputs) for u in done.tree.units] == [((a,), (c,))]
    with pytest.raises(ConfigError, match="loses its beginning"):
        apply(oil(), Edit(Field.DELETE, row(oil(), "salt"), 0))
    assert len(apply(oil(), Edit(Field.DELETE, row(oil(), "salt"), 0), confirm=True).tree.units) == 1


def test_an_end_product_is_renamed_everywhere() -> None:
    tree = oil()
    done = apply(tree, Edit(Field.END_PRODUCT, row(tree, "salt"), name="vinaigrette"))
    assert done.tree.units[1].outputs[0].label == "vinaigrette"
    assert done.lines.lines[row(done.tree, "salt")].end_product == "vinaigrette"


def test_stale_and_impossible_edits_are_refused() -> None:
    tree = oil()
    with pytest.raises(StaleError, match="changed meanwhile"):
        apply(tree, Edit(Field.STATE, 0, 0, ("x",)), expected="0" * 16)
    assert revision(tree) == revision(oil())
    for edit, words in (
        (Edit(Field.STATE, 99), "rows 0 to"),
        (Edit(Field.STATE, 0, 9), "cells 0 to"),
        (Edit(Field.MOTION, 0, 0), "needs a name"),
        (Edit(Field.MOTION, 0, 9, motion="m"), "none numbered 9"),
        (Edit(Field.STATE, 0, 0, (" ",)), "can't be empty"),
    ):
        with pytest.raises(ConfigError, match=words):
            apply(tree, edit)


def test_review_marks_the_row_that_is_wrong() -> None:
    tree = TaskTree((FunctionalUnit([node("onion", "chopped")], "press", [node("onion", "whole")]),))
    check = UnitCheck(Transitions.learn([oil()]))
    marked = dict(review(lines_of(tree), check, tree))
    assert "nothing makes chopped things whole again" in marked[0]
    for good in shipped():
        known = UnitCheck(Transitions.learn(shipped()))
        assert review(lines_of(good), known, good) == ()


def test_text_json_and_svg_show_the_same_rows() -> None:
    tree = oil()
    rows = lines_of(tree)
    shown = "olive oil liquid (bottle) --pour--> liquid (pan) --mix--> => dressing"
    assert text(rows).splitlines()[0].split() == shown.split()
    body = to_json(rows)
    assert body[0]["end_product"] == "dressing"
    assert body[0]["state"][1] == {"physical_state": "liquid", "location": "pan", "unit": 0, "position": 1}
    drawing = ElementTree.fromstring(svg(rows, marks={row(tree, "olive oil"): "why <it> is wrong"}))
    cells = [g for g in drawing.iter() if g.tag.endswith("}g") and "data-cell" in g.attrib]
    assert len(cells) == sum(len(line.cells) for _, line in rows.shown())
    assert "why <it> is wrong" in "".join(drawing.itertext())


def test_names_in_a_drawing_are_data() -> None:
    tree = TaskTree((FunctionalUnit([node("<script>")], '"><x', [node("b", "&")]),))
    drawing = svg(lines_of(tree))
    assert "<script" not in drawing
    ElementTree.fromstring(drawing)
