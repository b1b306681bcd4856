"""Effects, rules, facts and goals."""

from __future__ import annotations

import pytest

from handrail.domain import UNKNOWN, Domain, Parameter, RuleKind
from handrail.domain.files import load_scene
from handrail.domain.text import parse_condition, parse_effect, parse_fact, parse_goal, parse_rule
from handrail.errors import DomainError

PARAMS = (
    Parameter("r", ("robot",)),
    Parameter("hand", ("hand",)),
    Parameter("thing", ("item",)),
    Parameter("v", ("vessel",)),
    Parameter("p", ("place",)),
)
EFFECTS = [
    "in(hand) := thing",
    "on(thing) := none",
    "open(fridge) := false",
    "portions(v) += 1",
    "portions(v) -= 2",
    "if portions(v) > 0 and not wet(v) then wet(v) := true",
    "each i in item (if on(i) == p then wet(i) := true)",
    "each c in container (each i in item (if on(i) == c then on(i) := p))",
    "wet(v) := wet(thing)",
    "on(thing) := at(r)",
    "at(r) := on(thing)",
]


@pytest.mark.parametrize("text", EFFECTS)
def test_effects_print_as_they_are_read(text: str, kitchen: Domain) -> None:
    made = parse_effect(text, kitchen, PARAMS)
    assert str(made) == text
    assert parse_effect(str(made), kitchen, PARAMS) == made


WRONG_EFFECTS = {
    "open(fridge)": (13, "expected ':=', '+=' or '-=' after 'open(fridge)', found the end"),
    "open(fridge) == true": (14, "'==' only tests"),
    "not open(fridge)": (1, "write 'fluent(...) := false'"),
    "free(hand) := true": (1, "'free' is a derived fluent, which nothing changes"),
    "sharp(thing) := true": (1, "'sharp' is an attribute, which nothing changes"),
    "container(p) := true": (1, "'container' is a type, which nothing changes"),
    "at(r) := none": (10, "can't be none; declare it with '?'"),
    "at(r) := thing": (10, "'at(r)' is a place, and 'thing' is an item"),
    "open(fridge) := thing": (17, "is true or false, and 'thing' is an item"),
    "wet(thing) := free(hand)": (
        15,
        "is a derived fluent and can't be assigned; write 'if free(hand) then wet(thing) := true'",
    ),
    "portions(v) := 4": (16, "a count 0..3, and 4 is outside"),
    "portions(v) += thing": (16, "expected a count after '+='"),
    "portions(v) += 4": (16, "can't change by 4"),
    "portions(v) += 0": (16, "can't change by 0"),
    "at(r) += 1": (7, "'+=' changes counts"),
    "if open(fridge) open(fridge) := false": (17, "expected"),
    "each i in item wet(i) := true": (16, "expected '('"),
    "each i in item (wet(i) := true": (31, "to close 'each i'"),
    "in(hand) := thing thing": (19, "expected the end of the effect"),
    "thing := p": (7, "expected '(' after 'thing'"),
}


@pytest.mark.parametrize("text", WRONG_EFFECTS)
def test_wrong_effects(text: str, kitchen: Domain) -> None:
    column, part = WRONG_EFFECTS[text]
    with pytest.raises(DomainError) as e:
        parse_effect(text, kitchen, PARAMS)
    assert part in str(e.value)
    assert e.value.where is not None and e.value.where.column == column, str(e.value)


RULES = {
    "never some h in hand (sharp(in(h)) and occupied(at(robot_1)))": RuleKind.NEVER,
    "always not open(fridge) or at(robot_1) == fridge": RuleKind.ALWAYS,
    "in(hand_1) != none before open(fridge)": RuleKind.BEFORE,
    "after open(fridge) within 2 steps not open(fridge)": RuleKind.AFTER,
}


@pytest.mark.parametrize("text", RULES)
def test_rules_print_as_they_are_read(text: str, kitchen: Domain) -> None:
    made = parse_rule(text, kitchen)
    assert made.kind is RULES[text]
    assert str(made) == text
    assert parse_rule(str(made), kitchen) == made


def test_one_step_may_be_written_in_the_singular(kitchen: Domain) -> None:
    assert parse_rule("after open(fridge) within 1 step not open(fridge)", kitchen).within == 1


WRONG_RULES = {
    "open(fridge)": (13, "A rule is 'never c', 'always c', 'a before b' or 'after a within k steps b'"),
    "after open(fridge) not open(fridge)": (20, "expected 'within'"),
    "after open(fridge) within two steps not open(fridge)": (27, "expected a count of steps"),
    "after open(fridge) within 2 not open(fridge)": (29, "expected 'steps'"),
    "never open(frige)": (12, "Did you mean 'fridge'?"),
}


@pytest.mark.parametrize("text", WRONG_RULES)
def test_wrong_rules(text: str, kitchen: Domain) -> None:
    column, part = WRONG_RULES[text]
    with pytest.raises(DomainError) as e:
        parse_rule(text, kitchen)
    assert part in str(e.value)
    assert e.value.where is not None and e.value.where.column == column, str(e.value)


FACTS = {
    "open(fridge)": (("open", "fridge"), True),
    "not open(fridge)": (("open", "fridge"), False),
    "open(fridge) := unknown": (("open", "fridge"), UNKNOWN),
    "on(mug) == table": (("on", "mug"), "table"),
    "on(mug) := none": (("on", "mug"), None),
    "portions(jug) := 3": (("portions", "jug"), 3),
}


@pytest.mark.parametrize("text", FACTS)
def test_facts(text: str, kitchen: Domain) -> None:
    assert parse_fact(text, load_scene(kitchen).objects) == FACTS[text]


WRONG_FACTS = {
    "on(mug)": (8, "give its value: on(mug) := ..."),
    "free(hand_1)": (1, "a state gives values of fluents only"),
    "sharp(mug)": (1, "'sharp' is an attribute"),
    "on(in(hand_1)) := table": (1, "a fact is about objects"),
    "on(mug) := at(robot_1)": (12, "a state gives a value"),
    "on(mug) := cellar": (12, "no parameter or object 'cellar'"),
    "portions(jug) := 9": (18, "9 is outside"),
    "at(robot_1) := none": (16, "can't be none"),
}


@pytest.mark.parametrize("text", WRONG_FACTS)
def test_wrong_facts(text: str, kitchen: Domain) -> None:
    column, part = WRONG_FACTS[text]
    with pytest.raises(DomainError) as e:
        parse_fact(text, load_scene(kitchen).objects)
    assert part in str(e.value)
    assert e.value.where is not None and e.value.where.column == column, str(e.value)


def test_goals_have_final_first_and_keep(kitchen: Domain) -> None:
    objects = load_scene(kitchen).objects
    text = "first open(fridge); first in(hand_1) == mug; on(mug) == fridge; keep not wet(mug)"
    goal = parse_goal(text, kitchen, objects, said="cool it")
    assert [str(s) for s in goal.subgoals] == ["open(fridge)", "in(hand_1) == mug"]
    assert str(goal.final) == "on(mug) == fridge"
    assert [str(k) for k in goal.keep] == ["not wet(mug)"]
    assert goal.text == "cool it"
    assert parse_goal(str(goal), kitchen, objects).goal_id == goal.goal_id


def test_strict_goals(kitchen: Domain) -> None:
    objects = load_scene(kitchen).objects
    text = "strictly first open(fridge); strictly first on(mug) == fridge; not open(fridge)"
    goal = parse_goal(text, kitchen, objects)
    assert goal.strict and len(goal.subgoals) == 2
    assert str(goal) == text
    assert not parse_goal(text.replace("strictly ", ""), kitchen, objects).strict
    with pytest.raises(DomainError, match="either all subgoals") as e:
        parse_goal("strictly first open(fridge); first on(mug) == fridge", kitchen, objects)
    assert e.value.where is not None and e.value.where.column == 30
    with pytest.raises(DomainError, match="expected 'first' after 'strictly'"):
        parse_goal("strictly open(fridge)", kitchen, objects)


def test_several_final_parts_all_count(kitchen: Domain) -> None:
    objects = load_scene(kitchen).objects
    goal = parse_goal("open(fridge); on(mug) == fridge", kitchen, objects)
    assert goal.final == parse_condition("open(fridge) and on(mug) == fridge", kitchen, objects=objects)
