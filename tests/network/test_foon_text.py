from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import ConfigError, ParseError
from handrail.network.document import files, read
from handrail.network.foon_text import loads
from handrail.network.foon_write import Dialect, dumps
from handrail.network.model import ObjectNode, Relation, TaskTree
from handrail.network.repairs import LOST, Repair

from .strategies import few, trees

UNIT = "O\tonion\t1\nS\twhole\n{extra}M\tchop\t<0:01,0:02>\nO\tonion\t1\nS\tchopped\n//\n"


def one(text: str) -> ObjectNode:
    return loads(UNIT.format(extra=text)).units[0].inputs[-1]


@few
@given(trees(), st.sampled_from(["numbered", "named", "plain"]))
def test_a_round_trip_keeps_everything_the_dialect_can_hold(tree: TaskTree, dialect: Dialect) -> None:
    back = loads(dumps(tree, dialect)).tree
    assert back.units == tree.units
    assert [u.inputs for u in back.units] == [u.inputs for u in tree.units]
    assert back.goal == tree.goal
    if dialect != "plain":
        assert [(u.start, u.end, u.moving) for u in back.units] == [(u.start, u.end, u.moving) for u in tree.units]


@few
@given(trees())
def test_numbers_stay_the_same_over_a_round_trip(tree: TaskTree) -> None:
    first = loads(dumps(tree, "numbered"))
    assert first.ids
    assert loads(dumps(first.tree, "numbered", first.ids)).ids == first.ids


ANOMALIES = [
    ("crlf", UNIT.format(extra="").replace("\n", "\r\n"), Repair.LINE_ENDING),
    ("glued bracket", UNIT.format(extra="O\tpan\t0\nS\tunder [lid]\n"), Repair.MISSING_TAB),
    ("empty container", UNIT.format(extra="O\tpan\t0\nS\ton\t[]\n"), Repair.EMPTY_CONTAINER),
    ("empty field", UNIT.format(extra="O\tpan\t0\nS\toff\t\n"), Repair.TRAILING_FIELD),
    ("braces for brackets", UNIT.format(extra="O\tpan\t0\nS\tin\t{packet}\n"), Repair.CURLY_PLACE),
    ("brackets for braces", UNIT.format(extra="O\tpan\t0\nS\tcontains\t[salt]\n"), Repair.SQUARE_INGREDIENT),
    ("contain", UNIT.format(extra="O\tpan\t0\nS\tcontain\t{salt}\n"), Repair.SPELLING),
    ("twice", UNIT.format(extra="O\tpan\t0\nS\tcontains\t{a,b,a}\n"), Repair.DUPLICATE_INGREDIENT),
    ("comma", UNIT.format(extra="O\tpan\t0\nS\tcontains\t{a, b,}\n"), Repair.STRAY_COMMA),
    ("flag", UNIT.format(extra="O\tpan\t00\n"), Repair.FLAG),
    ("no flag", UNIT.format(extra="O\tpan\n"), Repair.NO_FLAG),
    ("time", UNIT.format(extra="").replace("<0:01,0:02>", "half past two"), Repair.TIME),
    ("no time", UNIT.format(extra="").replace("\t<0:01,0:02>", ""), Repair.NO_TIME),
    ("no output", "O\ta\t1\nM\tpour\t<Assumed>\n//\n", Repair.NO_OUTPUT),
    ("no motion", "O\ta\t1\nO\tb\t1\n//\n", Repair.NO_MOTION),
    ("no end", "O\ta\t1\nM\tpour\t<Assumed>\nO\tb\t1\n", Repair.NO_END),
    ("no-op", "O\ta\t1\nM\tpour\t<Assumed>\nO\ta\t1\n//\n", Repair.NO_OP),
    ("same label", UNIT.format(extra="O\tonion\t1\nS\traw\n"), Repair.SAME_LABEL),
    ("bare", UNIT.format(extra="O\tknife\t1\n"), Repair.BARE_OBJECT),
    ("absent container", UNIT.format(extra="O\tsalt\t1\nS\tin\t[bowl]\n"), Repair.ABSENT_CONTAINER),
    ("inside itself", UNIT.format(extra="O\tsalt\t1\nS\tin\t[salt]\n"), Repair.SELF_CONTAINER),
    ("unknown line", UNIT.format(extra="X\twhat\n"), Repair.UNKNOWN_LINE),
    ("orphan state", "S\thot\n" + UNIT.format(extra=""), Repair.ORPHAN_STATE),
    ("no name", UNIT.format(extra="O\t\t1\n"), Repair.EMPTY_NAME),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kind"), ANOMALIES, ids=[a[0] for a in ANOMALIES])
def test_every_anomaly_is_reported_with_its_line(name: str, text: str, kind: Repair) -> None:
    found = [f for f in loads(text, "f.txt").found if f.kind is kind]
    assert found, name
    assert found[0].source == "f.txt"
    assert 1 <= found[0].line <= text.count("\n") + 1
    assert f"f.txt:{found[0].line}" in str(found[0])


def test_the_clean_unit_has_nothing_to_report() -> None:
    assert loads(UNIT.format(extra="O\tknife\t1\nS\tclean\n")).found == ()


def test_states_and_relations_of_the_same_word_stay_apart() -> None:
    assert one("O\tstove\t0\nS\ton\n").states == {"on"}
    assert one("O\tpan\t0\nS\ton\t[stove]\n").relations == {Relation("on", "stove")}


def test_states_keep_parentheses_and_what_they_were_done_with() -> None:
    assert one("O\tmixer\t0\nS\toff (ready)\n").states == {"off (ready)"}
    node = one("O\tmeat\t0\nS\tseasoned\t{salt,herb}\n")
    assert node.treatments == {("seasoned", frozenset({"salt", "herb"}))}
    assert node.ingredients == frozenset()


def test_two_places_of_one_object_are_kept() -> None:
    node = one("O\tbread\t0\nS\tin\t[bag]\nS\ton\t[tray]\n")
    assert node.relations == {Relation("in", "bag"), Relation("on", "tray")}


def test_bread_on_bread_is_another_slice() -> None:
    assert one("O\tbread\t0\nS\ton\t[bread]\n").relations == {Relation("on", "bread")}


def test_two_motions_in_one_unit_are_split_where_objects_repeat() -> None:
    text = "O\ta\t1\nM\tcombine\nO\tb\t1\nO\tb\t1\nO\tplate\t0\nM\tplace\nO\tc\t1\n//\n"
    document = loads(text)
    first, second = document.units
    assert (first.motion, [n.label for n in first.inputs], [n.label for n in first.outputs]) == (
        "combine",
        ["a"],
        ["b"],
    )
    assert (second.motion, [n.label for n in second.inputs]) == ("place", ["b", "plate"])
    assert [f.line for f in document.found if f.kind is Repair.TWO_MOTIONS] == [6]


def test_two_motions_without_a_repeat_share_the_objects_between() -> None:
    first, second = loads("O\ta\t1\nM\tm1\nO\tb\t1\nM\tm2\nO\tc\t1\n//\n").units
    assert first.outputs == second.inputs


def test_a_goal_mark_is_read_and_written() -> None:
    for mark in ("!", "7"):
        tree = loads(f"O\ta\t1\nM\tpour\nO\tsoup\t1\t{mark}\n//\n").tree
        assert tree.goal == ObjectNode("soup")
        assert loads(dumps(tree)).tree.goal == tree.goal


def test_strict_reading_refuses_what_would_be_lost(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    path = folder / "x.txt"
    path.write_text("O\ta\t1\nM\tpour\t<Assumed>\n//\n")
    assert read(path).lost
    with pytest.raises(ParseError, match=r"x\.txt:2.*without outputs"):
        read(path, strict=True)
    with pytest.raises(ParseError, match="no such file"):
        files(folder / "missing.txt")
    (folder / "empty").mkdir()
    with pytest.raises(ParseError, match="no file with one of the endings"):
        files(folder / "empty")


def test_a_wrong_dialect_is_refused() -> None:
    with pytest.raises(ConfigError, match="numbered, named or plain"):
        dumps(TaskTree(()), "shouted")  # type: ignore[arg-type]


@pytest.mark.data
def test_the_public_files(data_dir: object) -> None:
    """111 files: everything read, and no text lost but what is listed here."""
    from pathlib import Path

    from handrail.network.document import read_all

    documents = list(read_all([Path(str(data_dir)) / "foon_mit" / "foon_subgraphs" / "TXT"]))
    assert len(documents) == 111
    assert sum(len(d.units) for d in documents) == 2487
    lost = sorted((f.source, f.line, f.kind) for d in documents for f in d.found if f.kind in LOST)
    assert lost == [
        ("0018-barbecue-style_country_ribs.txt", 89, Repair.NO_OUTPUT),
        ("0083-pastel-fried_savory_pastry.txt", 467, Repair.SELF_CONTAINER),
        ("0083-pastel-fried_savory_pastry.txt", 492, Repair.NO_MOTION),
        ("ACT-0080-caesar_salad.txt", 177, Repair.SELF_CONTAINER),
    ]
    for document in documents:
        back = loads(dumps(document.tree, "numbered", document.ids), document.tree.name)
        assert back.units == document.units
        assert back.tree.goal == document.tree.goal
