"""Operators by hand: PDDL's add-after-delete, conflicts, counts, what regression gives as text."""

from __future__ import annotations

from itertools import product

import pytest

from handrail.domain import UNKNOWN, Atom, GroundEffect, Guard, Operator, Value
from handrail.domain.ground import (
    FALSE,
    TRUE,
    All,
    Any_,
    Cmp,
    Eq,
    Ne,
    Node,
    Ref,
    Switch,
    compare,
    conj,
    disj,
    negate,
    some,
    switch,
)
from handrail.domain.operator import conflicts

A, B, C, N = ("a",), ("b",), ("c",), ("n",)


def is_(atom: Atom, value: Value = True, default: Value = False) -> Eq:
    return Eq(atom, default, value)


def op(*effects: GroundEffect, true_wins: bool = False, guards: tuple[Guard, ...] = ()) -> Operator:
    return Operator(("step",), (), effects, guards, true_wins=true_wins)


BOOLS = [dict(zip((A, B, C), v, strict=True)) for v in product((False, True, UNKNOWN), repeat=3)]


@pytest.mark.parametrize("order", [0, 1])
def test_adding_wins_over_deleting_whatever_the_order(order: int) -> None:
    effects = [GroundEffect(is_(B), A, False, True), GroundEffect(TRUE, A, False, False)]
    made = op(*(effects if order else effects[::-1]), true_wins=True)
    for s in BOOLS:
        after = made.changes(s)[A]
        wanted = True if s[B] is True else UNKNOWN if s[B] is UNKNOWN else False
        assert after is wanted, s


@pytest.mark.parametrize("order", [0, 1])
def test_a_certain_addition_stands_beside_an_uncertain_deletion(order: int) -> None:
    effects = [GroundEffect(TRUE, A, False, True), GroundEffect(is_(B), A, False, False)]
    made = op(*(effects if order else effects[::-1]), true_wins=True)
    for s in BOOLS:
        assert made.changes(s)[A] is True


def test_regression_with_adding_first_agrees_with_applying() -> None:
    made = op(
        GroundEffect(is_(B), A, False, True),
        GroundEffect(is_(C), A, False, False),
        GroundEffect(is_(A), B, False, False),
        true_wins=True,
    )
    for s in BOOLS:
        if UNKNOWN in s.values():
            continue
        after = {**s, **made.changes(s)}
        for node in (is_(A), is_(A, False), is_(B), conj(is_(A), is_(B, False))):
            assert made.regress(node).holds(s) == node.holds(after)


def test_effects_that_disagree_are_guarded() -> None:
    both = (GroundEffect(is_(B), A, False, True), GroundEffect(is_(C), A, False, False))
    (guard,) = conflicts(both)
    assert guard.code == "EFFECT_CONFLICT"
    for s in BOOLS:
        agree = s[B] is False or s[C] is False
        assert guard.node.holds(s) == agree
    assert conflicts((GroundEffect(is_(B), A, False, True), GroundEffect(is_(B, False), A, False, False))) == ()
    assert conflicts((GroundEffect(is_(B), A, False, True), GroundEffect(TRUE, A, False, True))) == ()
    (always,) = conflicts((GroundEffect(TRUE, A, False, True), GroundEffect(TRUE, A, False, False)))
    assert always.node is FALSE


def test_counts_move_by_an_offset() -> None:
    more = op(GroundEffect(TRUE, N, 0, Ref(N, 0, 2)))
    s: dict[Atom, Value] = {N: 3}
    assert more.apply(s) == {N: 5}
    for limit in range(8):
        for sign in ("==", "!=", "<", "<=", ">", ">="):
            node = compare(Ref(N, 0), sign, limit)
            for n in range(8):
                assert more.regress(node).holds({N: n}) == node.holds({N: n + 2})
    assert str(more.regress(Cmp(Ref(N, 0), ">", 4))) == "n() > 2"


def test_an_unknown_count_stays_unknown() -> None:
    more = op(GroundEffect(TRUE, N, 0, Ref(N, 0, 1)))
    assert more.changes({N: UNKNOWN}) == {N: UNKNOWN}
    assert more.changes({}) == {N: 1}


def test_what_an_unknown_condition_may_change_is_unknown() -> None:
    made = op(GroundEffect(is_(B), A, False, True))
    assert made.changes({B: UNKNOWN}) == {A: UNKNOWN}
    assert made.changes({B: False}) == {}
    assert made.changes({}) == {}


def test_guards_and_needs_both_count() -> None:
    made = Operator(("step",), (("b", is_(B)),), (), (Guard("RULE_BROKEN", "no c", is_(C, False)),))
    assert made.applicable({B: True})
    assert not made.applicable({B: True, C: True})
    assert not made.applicable({B: True, C: UNKNOWN})
    assert not made.applicable({})
    assert made.reads == {B, C}
    assert made.writes == frozenset()


def test_reads_include_what_effects_look_at() -> None:
    made = op(GroundEffect(is_(B), A, False, Ref(C, False)))
    assert made.reads == {B, C}
    assert made.writes == {A}


def test_conjunctions_and_disjunctions_are_simplified() -> None:
    assert conj() is TRUE
    assert disj() is FALSE
    assert conj(is_(A), TRUE, is_(A)) == is_(A)
    assert conj(is_(A), is_(A, False)) is FALSE
    assert conj(Eq(N, 0, 1), Ne(N, 0, 1)) is FALSE
    assert conj(is_(A), conj(is_(B), is_(C))) == All((is_(A), is_(B), is_(C)))
    assert disj(is_(A), FALSE, disj(is_(B), is_(A))) == Any_((is_(A), is_(B)))
    assert disj(is_(A), TRUE) is TRUE


def test_a_switch_is_simplified_and_negated() -> None:
    p, q = is_(A), is_(B)
    assert switch(N, 0, {1: p}) == conj(Eq(N, 0, 1), p)
    assert switch(N, 0, {1: FALSE}) is FALSE
    assert switch(N, 0, {1: FALSE}, TRUE) == Ne(N, 0, 1)
    made = switch(N, 0, {1: p, 2: q})
    assert isinstance(made, Switch)
    for n, a, b in product((0, 1, 2, UNKNOWN), (False, True, UNKNOWN), (False, True, UNKNOWN)):
        s: dict[Atom, Value] = {N: n, A: a, B: b}
        chosen: Value = False if n == 0 else UNKNOWN if n is UNKNOWN else a if n == 1 else b
        assert made.holds(s) == (chosen is True)
        assert negate(made).holds(s) == (chosen is False)


def test_alike_branches_become_one_switch() -> None:
    parts: list[Node] = [conj(Eq(N, 0, i), is_((f"p{i}",))) for i in range(5)]
    made = some(parts)
    assert isinstance(made, Switch)
    assert made.atom == N
    assert made.holds({N: 3, ("p3",): True})
    assert not made.holds({N: 3, ("p2",): True})


def test_none_equals_none_only_where_it_is_written() -> None:
    assert compare(None, "==", None) is FALSE
    assert compare(None, "==", None, none_written=True) is TRUE
    assert compare(None, "!=", None) is TRUE
    x, y = Ref(("x",), None), Ref(("y",), None)
    same = compare(x, "==", y)
    assert not same.holds({})
    assert negate(same).holds({})
    assert compare(x, "==", None, none_written=True).holds({})
