from __future__ import annotations

import pytest

from handrail.network.model import FunctionalUnit, ObjectNode, Relation, Source, TaskTree
from handrail.network.transitions import MIN_SEEN, Transitions, Truth
from handrail.network.units import Fault, Status, UnitCheck, gaps


def node(label: str, *states: str, inside: str = "", holds: tuple[str, ...] = ()) -> ObjectNode:
    return ObjectNode(label, states, holds, [Relation("in", inside)] if inside else [])


def unit(motion: str, ins: list[ObjectNode], outs: list[ObjectNode]) -> FunctionalUnit:
    return FunctionalUnit(ins, motion, outs, Source("kb", line=3))


CHOP = unit("chop", [node("onion", "whole"), node("knife")], [node("onion", "chopped"), node("knife")])
KNOWN = Transitions.learn([TaskTree((CHOP, unit("wash", [node("plate", "dirty")], [node("plate", "clean")])))])
CHECK = UnitCheck(KNOWN)


def judged(
    motion: str, ins: list[ObjectNode], outs: list[ObjectNode], strict: bool = False
) -> tuple[Status, set[Fault]]:
    verdict = UnitCheck(KNOWN, strict).judge(unit(motion, ins, outs))
    assert motion in verdict.sentence
    return verdict.status, set(verdict.faults)


def test_a_known_change_is_good_and_its_irreversibility_marked() -> None:
    verdict = CHECK.judge(CHOP)
    assert verdict.status is Status.GOOD
    assert verdict.faults == {Fault.IRREVERSIBLE}
    assert "seen 1 times, first in kb:3" in verdict.findings[0].text


def test_an_unknown_change_is_kept_but_doubtful_and_wrong_when_strict() -> None:
    change = ("slice", [node("onion", "whole")], [node("onion", "sliced")])
    assert judged(*change) == (Status.DOUBTFUL, {Fault.UNKNOWN_CHANGE})
    assert judged(*change, strict=True)[0] is Status.WRONG


@pytest.mark.parametrize(("before", "after"), [("chopped", "whole"), ("cooked", "raw"), ("peeled", "unpeeled")])
def test_undoing_what_nothing_undoes_is_contradicted(before: str, after: str) -> None:
    status, faults = judged("press", [node("onion", before)], [node("onion", after)])
    assert status is Status.WRONG
    assert Fault.IMPROPER_CHANGE in faults


def test_directions_are_learned_from_sightings() -> None:
    grow = unit("grow", [node("plant", "small")], [node("plant", "tall")])
    back = (node("plant", "tall"), node("plant", "small"))
    few = Transitions.learn([TaskTree((grow,) * (MIN_SEEN - 1))])
    many = Transitions.learn([TaskTree((grow,) * MIN_SEEN)])
    assert few.judge("cut", *back).truth is Truth.UNKNOWN
    assert many.judge("cut", *back).truth is Truth.CONTRADICTED
    both = Transitions.learn([TaskTree((*(grow,) * MIN_SEEN, unit("cut", [back[0]], [back[1]])))])
    assert both.judge("cut", *back).truth is Truth.KNOWN


def test_clean_and_dirty_go_both_ways() -> None:
    assert KNOWN.judge("eat", node("plate", "clean"), node("plate", "dirty")).truth is Truth.UNKNOWN


@pytest.mark.parametrize(
    ("motion", "ins", "outs", "fault"),
    [
        ("chop and fry", [node("onion", "whole")], [node("onion", "chopped")], Fault.SEVERAL_MOTIONS),
        ("chop", [node("onion", "whole")], [node("onion", "whole")], Fault.NO_OP),
        ("chop", [], [node("onion", "chopped")], Fault.SYNTAX),
        ("pour", [node("bowl", holds=("oil",))], [node("bowl", holds=("oil", "vinegar"))], Fault.FROM_NOTHING),
        (
            "pour",
            [node("oil", inside="bowl")],
            [node("oil", inside="pan"), node("pan", holds=("oil",))],
            Fault.FROM_NOTHING,
        ),
        ("pour", [node("milk", inside="cup"), node("pan")], [node("pan", "hot")], Fault.LOST),
        ("chop", [node("onion")], [node("onion", "chopped")], Fault.NO_STATE),
    ],
)
def test_kinds_of_fault(motion: str, ins: list[ObjectNode], outs: list[ObjectNode], fault: Fault) -> None:
    status, faults = judged(motion, ins, outs)
    assert fault in faults
    assert status is not Status.GOOD


@pytest.mark.parametrize(
    ("ins", "outs"),
    [
        ([node("bowl", holds=("egg", "milk"))], [node("bowl", holds=("batter",))]),
        (
            [node("egg", "raw"), node("bowl")],
            [node("batter", "mixed", holds=("egg",)), node("bowl", holds=("batter",))],
        ),
        ([node("milk", inside="cup"), node("pan")], [node("milk", inside="pan"), node("pan", holds=("milk",))]),
    ],
)
def test_conservation_allows_what_kitchens_do(ins: list[ObjectNode], outs: list[ObjectNode]) -> None:
    faults = judged("mix", ins, outs)[1]
    assert not faults & {Fault.FROM_NOTHING, Fault.LOST}


def test_a_jump_in_a_tree_is_a_missing_action() -> None:
    tree = TaskTree(
        (
            CHOP,
            unit("fry", [node("onion", "chopped", inside="pan")], [node("onion", "fried", inside="pan")]),
            unit("add", [node("sauce", "mixed", holds=("a", "b"))], [node("dish")]),
        )
    )
    found = gaps(tree)
    assert [g.unit for g in found] == [1, 2]
    assert "left as onion (chopped)" in found[0].text
    assert "nothing makes" in found[1].text


@pytest.mark.data
def test_the_knowledge_base_passes_its_own_transitions(data_dir: object) -> None:
    from pathlib import Path

    from handrail.network.document import read_all

    trees = [d.tree for d in read_all([Path(str(data_dir)) / "foon_mit" / "foon_subgraphs" / "TXT"])]
    check = UnitCheck(Transitions.learn(trees))
    verdicts = [check.judge(u) for t in trees for u in t.units]
    assert not any(v.faults & {Fault.UNKNOWN_CHANGE, Fault.IMPROPER_CHANGE, Fault.SEVERAL_MOTIONS} for v in verdicts)
    assert sum(v.status is Status.WRONG for v in verdicts) < 0.05 * len(verdicts)
