"""A small kitchen, written as records, so that the checks are tested apart from the reader of domain files."""

from __future__ import annotations

import pytest

from handrail.domain import Domain, Forbid, Obj, Rule, RuleKind, Safety, State, Task
from handrail.domain.formula import Assign, Call, Change, Const, Not, Param, Some, Test
from handrail.domain.goal import Goal
from handrail.domain.skill import Skill
from handrail.domain.types import Attribute, Fluent, Kind, Parameter, Type


def p(name: str, type_: str) -> Parameter:
    return Parameter(name, (type_,))


def call(name: str, *args: str) -> Call:
    return Call(name, tuple(Param(a) for a in args))


def eq(left: Call, right: object) -> Test:
    return Test(left, "==", right if isinstance(right, (Call, Param)) else Const(right))  # type: ignore[arg-type]


def ground(name: str, *args: str) -> Call:
    return Call(name, tuple(Const(a) for a in args))


def kitchen() -> Domain:
    types = {
        "robot": Type("robot"),
        "hand": Type("hand"),
        "place": Type("place"),
        "cupboard": Type("cupboard", "place"),
        "item": Type("item", None, (Attribute("sharp", "item"),)),
    }
    fluents = {
        f.name: f
        for f in (
            Fluent("at", (p("r", "robot"),), Kind.OBJECT, ("place",)),
            Fluent("held", (p("h", "hand"),), Kind.OBJECT, ("item",), optional=True),
            Fluent("on", (p("i", "item"),), Kind.OBJECT, ("place",), optional=True),
            Fluent("opened", (p("c", "cupboard"),)),
            Fluent("sips", (p("i", "item"),), Kind.COUNT, low=0, high=2),
        )
    }
    skills = {
        s.name: s
        for s in (
            Skill(
                "go",
                (p("r", "robot"), p("to", "place")),
                makes=(Assign(call("at", "r"), Param("to")),),
                speed=0.4,
            ),
            Skill(
                "pick",
                (p("r", "robot"), p("h", "hand"), p("thing", "item")),
                needs=(eq(call("held", "h"), None), eq(call("at", "r"), call("on", "thing"))),
                makes=(Assign(call("held", "h"), Param("thing")), Assign(call("on", "thing"), Const(None))),
            ),
            Skill(
                "place",
                (p("r", "robot"), p("h", "hand"), p("thing", "item"), p("to", "place")),
                needs=(eq(call("held", "h"), Param("thing")), eq(call("at", "r"), Param("to"))),
                makes=(Assign(call("on", "thing"), Param("to")), Assign(call("held", "h"), Const(None))),
            ),
            Skill(
                "open",
                (p("r", "robot"), p("what", "cupboard")),
                needs=(eq(call("at", "r"), Param("what")), Not(eq(call("opened", "what"), True))),
                makes=(Assign(call("opened", "what"), Const(True)),),
            ),
            Skill(
                "close",
                (p("r", "robot"), p("what", "cupboard")),
                needs=(eq(call("at", "r"), Param("what")), eq(call("opened", "what"), True)),
                makes=(Assign(call("opened", "what"), Const(False)),),
            ),
            Skill("sip", (p("thing", "item"),), makes=(Change(call("sips", "thing"), -1),), repeatable=False),
        )
    }
    return Domain("small kitchen", types, fluents, skills)


OBJECTS = (
    Obj("robo", "robot"),
    Obj("left", "hand"),
    Obj("table", "place"),
    Obj("counter", "place"),
    Obj("cabinet", "cupboard"),
    Obj("mug", "item"),
    Obj("plate", "item"),
    Obj("knife", "item", {"sharp": True}),
)


@pytest.fixture
def domain() -> Domain:
    return kitchen()


@pytest.fixture
def start(domain: Domain) -> State:
    return scene(domain)


def scene(domain: Domain) -> State:
    values = {
        ("at", "robo"): "counter",
        ("on", "mug"): "table",
        ("on", "plate"): "counter",
        ("on", "knife"): "counter",
        ("sips", "mug"): 1,
    }
    return State.checked(domain.objects(*OBJECTS), values)


@pytest.fixture
def mug_on_counter() -> Goal:
    return Goal(eq(ground("on", "mug"), "counter"))


@pytest.fixture
def with_safety():
    """Makes the kitchen with a safety part."""

    def make(**parts: object) -> State:
        return scene(replace_safety(kitchen(), Safety(**parts)))  # type: ignore[arg-type]

    return make


def replace_safety(domain: Domain, safety: Safety) -> Domain:
    fields = {n: getattr(domain, n) for n in ("name", "types", "fluents", "skills", "derived", "constants")}
    return Domain(**fields, safety=safety)


@pytest.fixture
def no_sharp_hand_over() -> Forbid:
    return Forbid("pick", eq(call("sharp", "thing"), True), "sharp things stay where they are")


@pytest.fixture
def close_soon() -> Rule:
    c = Some("c", "cupboard", eq(call("opened", "c"), True))
    return Rule(RuleKind.AFTER, c, Not(c), within=2)


@pytest.fixture
def task(start: State, mug_on_counter: Goal) -> Task:
    return Task(start.objects, mug_on_counter)


