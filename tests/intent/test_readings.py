"""Requests become goals that the domain generates; nothing is guessed at, nothing forbidden is wished for."""

from __future__ import annotations

import pytest

from handrail.domain import Domain, Goal, Obj, State
from handrail.domain.option import MarkCode
from handrail.domain.text import parse_condition, parse_goal
from handrail.domain.text.scenes import Scene
from handrail.errors import ConfigError, DomainError
from handrail.intent import literals as module
from handrail.intent.literals import fact_of, imperative, literals
from handrail.intent.matching import BEST, Matcher
from handrail.intent.naming import Names, tokens, with_article
from handrail.intent.readings import RequestReader, two_way
from handrail.intent.refute import Refutation, marked, refute
from handrail.solve.astar import Budget

READER = RequestReader(tidy=False)


def best(request: str, scene: Scene, reader: RequestReader = READER) -> list[str]:
    """The goals that fit best, as texts."""
    fits = [f for f in reader.fits(request, scene.objects.domain, scene.state) if not f[1].is_not_listed]
    top = max((fit for fit, _ in fits), default=0.0)
    return sorted(str(o.meaning) for fit, o in fits if fit == top)


def test_literals_are_what_skills_can_bring_about(evening: Scene) -> None:
    every = literals(evening.state)
    texts = {one.text: str(one.condition) for one in every}
    assert texts["put the milk carton on or into the fridge"] == "on(milk) == fridge"
    assert texts["hand the apple to alex"] == "given(apple) == person_1"
    assert texts["wipe the table"] == "not dirty(table)"
    assert texts["close the fridge"] == "not open(fridge)"
    assert texts["pour from the milk carton into the bowl"] == "contents(bowl) == cow_milk"
    assert texts["make it so that the apple is hot"] == "hot(apple)"
    assert "open the table" not in texts  # a table has no door
    assert "switch on the sink" not in texts
    assert not any("asked" in str(one.condition) for one in every)  # asking is not a wish
    assert not any("milk carton into the milk carton" in t for t in texts)
    assert [one.text for one in every] == sorted(texts)
    assert literals(evening.state) == every


def test_every_literal_can_be_a_goal(evening: Scene) -> None:
    for one in literals(evening.state)[::7]:
        again = parse_condition(str(one.condition), evening.objects.domain, (), evening.objects)
        assert again == one.condition
        assert fact_of(one.condition) is not None


def test_alike_readings_of_two_hands_are_one(home: Domain, evening: Scene) -> None:
    two = evening.objects.with_(Obj("hand_2", "hand"))
    found = [one for one in literals(State(two, evening.state.values)) if one.text == "pick up the apple"]
    assert [str(one.condition) for one in found] == ["holding(hand_1) == apple or holding(hand_2) == apple"]
    assert fact_of(found[0].condition) is None


def test_too_many_literals_are_refused(evening: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LITERALS", 50)
    with pytest.raises(DomainError, match="more than 50 facts"):
        literals(evening.state)


@pytest.mark.parametrize(
    ("says", "filled", "text"),
    [
        ("Wipe the {where} with the {tool}.", {"where": "table"}, "wipe the table"),
        ("Wipe the {where} with the {tool}.", {"where": "table", "tool": "sponge"}, "wipe the table with the sponge"),
        ("Pick up the {thing} using {hand}.", {"thing": "mug"}, "pick up the mug"),
        ("Move the {thing}.", {}, "move something"),
    ],
)
def test_imperatives(says: str, filled: dict[str, str], text: str) -> None:
    assert imperative(says, filled) == text


@pytest.mark.parametrize(
    ("request_", "goals"),
    [
        ("Bring me the bottle of water.", ["given(water) == person_1"]),
        ("I'd like the cola.", ["given(cola) == person_1"]),
        ("Fetch Alex the apple", ["given(apple) == person_1"]),
        ("Put the book on the coffee table.", ["on(book) == sofa_table"]),
        ("The milk belongs in the refrigerator.", ["on(milk) == fridge"]),
        ("Throw the apple away", ["on(apple) == bin"]),
        ("Wipe the dining table", ["not dirty(table)"]),
        ("Turn the microwave on", ["running(microwave)"]),
        ("Heat the milk", ["hot(milk)"]),
        ("Go to the fridge", ["at(robot_1) == fridge"]),
        ("Pour milk into the bowl", ["contents(bowl) == cow_milk"]),
        ("Bring me the mug", ["given(mug) == person_1", "given(mug_2) == person_1"]),
        ("Bring me the blue mug", ["given(mug) == person_1"]),
        ("Bring me the mug from the low shelf", ["given(mug_2) == person_1"]),
        ("Bring me something to drink",
         ["given(cola) == person_1", "given(milk) == person_1", "given(water) == person_1"]),
        ("Put both cubes on the table", ["on(cube_2) == table and on(cube) == table"]),
        ("Bring me the orange mug with water in it",
         ["contents(mug_2) == drinking_water and given(mug_2) == person_1",
          "contents(mug_2) == drinking_water and given(water) == person_1"]),
        ("Bring me the apple and the water", ["given(apple) == person_1 and given(water) == person_1"]),
        ("Take the milk and put it in the fridge", ["first holding(hand_1) == milk; on(milk) == fridge"]),
        ("Wipe the table, then bring me the cola",
         ["first not dirty(table); not dirty(table) and given(cola) == person_1"]),
        ("Go to the table, then bring me the cola", ["first at(robot_1) == table; given(cola) == person_1"]),
        ("Bring me the cola without opening the drawer", ["given(cola) == person_1; keep not open(drawer)"]),
        ("Open the fridge, then close the fridge", ["first open(fridge); not open(fridge)"]),
    ],
)  # fmt: skip
def test_readings(request_: str, goals: list[str], evening: Scene) -> None:
    assert best(request_, evening) == goals


@pytest.mark.parametrize(
    "request_",
    [
        "Sing a song.",
        "Where is the mug?",
        "Don't open the fridge.",
        "Bring me the newspaper.",
        "Drive the car out of the garage.",
        "Swap the apple and the plate.",
        "",
        "!!!",
        "Bring me.",
        "and then and then and then",
        "wipe the table, go to the sink, open the fridge, open the drawer, take the mug, take the book, take the vase",
    ],
)
def test_what_is_not_understood_is_not_listed(request_: str, evening: Scene) -> None:
    options = READER.read(request_, evening.objects.domain, evening.state)
    assert [o.is_not_listed for o in options] == [True]


def test_doors_and_switches_end_as_they_were(evening: Scene) -> None:
    tidy = RequestReader()
    assert best("Put the book in the drawer", evening, tidy) == ["on(book) == drawer and not open(drawer)"]
    assert best("Open the drawer", evening, tidy) == ["open(drawer)"]
    assert best("Put the book on the table", evening, tidy) == ["on(book) == table"]
    assert best("Turn on the microwave", evening, tidy) == ["running(microwave) and not open(microwave)"]
    opened = evening.state.with_({("open", "drawer"): True})
    found = tidy.read("Put the book in the drawer", evening.objects.domain, opened)
    assert "on(book) == drawer and open(drawer)" in {str(o.meaning) for o in found}
    assert two_way(evening.objects.domain) >= {"open", "running"}


def test_options_are_sorted_distinct_and_limited(evening: Scene) -> None:
    domain, state = evening.objects.domain, evening.state
    options = RequestReader(limit=5).read("Put the milk away, then bring me something to drink", domain, state)
    assert len(options) == 5 and options[-1].is_not_listed
    assert [o.text for o in options[:-1]] == sorted(o.text for o in options[:-1])
    assert len({o.key for o in options}) == 5
    again = RequestReader(limit=5).read("Put the milk away, then bring me something to drink", domain, state)
    assert again == options
    assert options[0].attribute("object") == "milk carton" and options[0].attribute("material") == "paper"


def test_meanings_are_goals_of_the_domain(evening: Scene) -> None:
    for option in RequestReader().read("Put the milk away", evening.objects.domain, evening.state)[:-1]:
        assert isinstance(option.meaning, Goal)
        assert parse_goal(str(option.meaning), evening.objects.domain, evening.objects).goal_id == option.key


def test_arguments_are_checked(evening: Scene, home: Domain) -> None:
    for bad in ({"limit": 1}, {"least": 2.0}, {"slack": -1}):
        with pytest.raises(ConfigError):
            RequestReader(**bad)  # type: ignore[arg-type]
    other = Domain(home.name, home.types, home.fluents, home.skills, home.derived, home.constants)
    with pytest.raises(ConfigError, match="state is of the domain"):
        RequestReader().read("x", other, evening.state)


def test_five_hundred_objects(home: Domain, evening: Scene) -> None:
    """In a large scene only what is talked about is considered, and the reading is the same."""
    more = [Obj(f"tin_{i}", "item", {"material": "metal"}, (f"tin {i}",)) for i in range(500)]
    objects = evening.objects.with_(*more)
    state = State(objects, {**evening.state.values, **{("on", o.name): "shelf_low" for o in more}})
    big = Scene("big", objects, state)
    assert best("Bring me the bottle of water.", big) == ["given(water) == person_1"]
    assert best("Put tin 77 on the table.", big) == ["on(tin_77) == table"]
    options = READER.read("Bring me the metal thing", home, state)
    assert len(options) <= READER.limit


def test_fit_is_bounded_and_zero_without_the_thing(evening: Scene) -> None:
    matcher = Matcher(evening.state)
    analysis = matcher.analyse("bring me the apple")
    for one in literals(evening.state):
        assert 0 <= matcher.score(analysis, one) <= BEST
        if "apple" not in one.objects:
            assert matcher.score(analysis, one) == 0


def test_names(evening: Scene) -> None:
    names = Names(evening.objects)
    assert names.say("mug") == "blue mug" and names.say("sofa_table") == "sofa table"
    assert names.listed(["apple", "mug"]) == "an apple and a blue mug" and names.listed([]) == "nothing"
    assert ("material", "ceramic") in names.traits("mug") and ("sharp", "sharp") in names.traits("knife")
    assert len(set(names.best.values())) == len(names.best)
    assert tokens("The dishes, glasses and mugs of Alex's") == ("dish", "glass", "and", "mug", "alex")
    assert with_article("Alex") == "Alex" and with_article("the mug") == "the mug"


def test_refutations_name_the_rule(evening: Scene) -> None:
    domain, objects, state = evening.objects.domain, evening.objects, evening.state

    def said(goal: str) -> tuple[str, str]:
        found = refute(parse_goal(goal, domain, objects), state)
        assert isinstance(found, Refutation)
        return found.mark.code.value, found.mark.sentence

    code, sentence = said("given(knife) == person_1")
    assert code == "unsafe" and "sharp" in sentence
    assert said("running(stove)") == ("unsafe", "A rule forbids it: The stove is not left on.")
    assert said("holding(hand_1) == mug and holding(hand_1) == bowl")[0] == "impossible"
    fine = refute(parse_goal("given(apple) == person_1", domain, objects), state)
    assert not isinstance(fine, Refutation) and fine.plan is not None


def test_a_small_budget_refutes_nothing(evening: Scene) -> None:
    goal = parse_goal("given(water) == person_1 and on(milk) == fridge", evening.objects.domain, evening.objects)
    found = refute(goal, evening.state, budget=Budget(1, 1))
    assert not isinstance(found, Refutation) and found.plan is None and not found.proved


def test_marks_stay_on_the_list(evening: Scene) -> None:
    options = READER.read("Hand me the knife", evening.objects.domain, evening.state)
    found = marked(options, evening.state)
    assert [o.key for o in found] == [o.key for o in options]
    knife = next(o for o in found if o.text == "hand the knife to alex")
    assert knife.unsafe and knife.marks[0].code is MarkCode.UNSAFE
    assert not found[-1].marks
