"""Domains written in Python: the same meaning as a file, mistakes with file and line, guards that only add reasons."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal

import pytest

from handrail.check.symbolic import check_symbolic
from handrail.domain import Domain, Plan, State, Task
from handrail.domain.files import domain_from_text
from handrail.domain.python import Builder, Count
from handrail.domain.types import Obj
from handrail.errors import DomainError

FILE = """
domain: fetcher
types:
  robot:
  place:
  container: {is: place}
  item: {attributes: {sharp: bool, material: [glass, metal]}}
  vessel: {is: item}
fluents:
  - "at(r: robot): place"
  - "holding(r: robot): item?"
  - "on(i: item): place | robot?"
  - "shut(c: container): bool"
  - "portions(v: vessel): 0..9"
derived:
  - "free(r: robot): holding(r) == none"
numbers:
  "distance(a: place)": {table: 2, otherwise: 1}
objects:
  robot_1: robot
  table: {is: place, words: [desk]}
  cupboard: container
skills:
  go:
    says: "Go to {to}."
    with: {r: robot, to: place}
    makes: ["at(r) := to"]
    cost: {small: 0.5, plus: {per: "distance(to)", factor: 0.5}}
    approval: never
    speed: 0.3 m/s
  pick:
    says: "Pick up {thing}."
    with: {r: robot, thing: item}
    needs: ["free(r)", "at(r) == on(thing)"]
    makes: ["holding(r) := thing", "on(thing) := none"]
    repeatable: false
    on_stop: release
safety:
  limits: {speed: 0.5 m/s}
  rules:
    - {rule: "never some r in robot (sharp(holding(r)))", because: "no knives"}
  forbid:
    - {skill: pick, when: "material(thing) == glass"}
  no_go: [cupboard]
"""


def fetcher() -> Builder:
    b = Builder("fetcher")

    @b.type
    class Robot: ...

    @b.type
    class Place: ...

    @b.type
    class Container(Place): ...

    @b.type
    class Item:
        sharp: bool
        material: Literal["glass", "metal"] | None

    @b.type
    class Vessel(Item): ...

    @b.fluent
    def at(r: Robot) -> Place: ...

    @b.fluent
    def holding(r: Robot) -> Item | None: ...

    @b.fluent
    def on(i: Item) -> Place | Robot | None: ...

    @b.fluent
    def shut(c: Container) -> bool: ...

    @b.fluent
    def portions(v: Vessel) -> Annotated[int, Count(0, 9)]: ...

    @b.derived("holding(r) == none")
    def free(r: Robot) -> None: ...

    b.number("distance(a: place)", {"table": 2, "otherwise": 1})
    b.object("robot_1", Robot)
    b.object("table", Place, words=["desk"])
    b.object("cupboard", Container)

    @b.skill(
        makes=["at(r) := to"],
        cost={"small": 0.5, "plus": {"per": "distance(to)", "factor": 0.5}},
        approval="never",
        speed="0.3 m/s",
    )
    def go(r: Robot, to: Place) -> None:
        """Go to {to}."""

    @b.skill(
        needs=["free(r)", "at(r) == on(thing)"],
        makes=["holding(r) := thing", "on(thing) := none"],
        repeatable=False,
        on_stop="release",
    )
    def pick(r: Robot, thing: Item) -> None:
        """Pick up {thing}.

        More for programmers.
        """

    b.limit(speed="0.5 m/s")
    b.rule("never some r in robot (sharp(holding(r)))", because="no knives")
    b.forbid("pick", when="material(thing) == glass")
    b.no_go("cupboard")
    return b


def scene(domain: Domain) -> tuple[Task, State]:
    objects = domain.objects(Obj("cup", "vessel", {"material": "metal"}), Obj("vase", "vessel", {"material": "glass"}))
    state = State.checked(objects, {("at", "robot_1"): "table", ("on", "cup"): "table", ("on", "vase"): "table"})
    return Task(objects), state


def test_python_and_file_mean_the_same() -> None:
    assert fetcher().build().fingerprint == domain_from_text(FILE).fingerprint
    assert fetcher().build().constants == domain_from_text(FILE).constants
    assert fetcher().build().skills["pick"].says == "Pick up {thing}."


def test_a_guard_adds_a_reason() -> None:
    b = fetcher()
    seen: list[tuple[object, str, str]] = []

    @b.guard("pick")
    def closed(state: State, r: str, thing: str) -> str | None:
        seen.append((state[("at", r)], r, thing))
        return "the cup is being cleaned" if thing == "cup" else None

    task, state = scene(b.build())
    result = check_symbolic(Plan.of(("pick", "robot_1", "cup")), task, state)
    assert not result.passed
    assert result.reasons[0].code == "HOOK"
    assert "the cup is being cleaned" in result.reasons[0].sentence
    assert seen == [("table", "robot_1", "cup")]


def test_a_guard_never_replaces_a_need_or_a_rule() -> None:
    b = fetcher()

    @b.guard("pick")
    def fine(state: State, r: str, thing: str) -> str | None:
        return None

    task, state = scene(b.build())
    twice = check_symbolic(Plan.of(("pick", "robot_1", "cup"), ("pick", "robot_1", "cup")), task, state)
    assert [r.code for r in twice.reasons] == ["PRECONDITION"]
    glass = check_symbolic(Plan.of(("pick", "robot_1", "vase")), task, state)
    assert [r.code for r in glass.reasons] == ["FORBIDDEN"]
    assert check_symbolic(Plan.of(("pick", "robot_1", "cup")), task, state).passed


@pytest.mark.parametrize("answer", [True, False, 3, RuntimeError("sensor")])
def test_a_guard_that_fails_refuses(answer: Any) -> None:
    b = fetcher()

    @b.guard("pick")
    def odd(state: State, r: str, thing: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    task, state = scene(b.build())
    result = check_symbolic(Plan.of(("pick", "robot_1", "cup")), task, state)
    assert not result.passed
    assert "itself failed" in result.reasons[0].sentence


def test_the_first_reason_of_several_guards() -> None:
    b = fetcher()
    b.guard("pick")(lambda state, r, thing: None)
    b.guard("pick")(lambda state, r, thing: "")
    b.guard("pick")(lambda state, r, thing: "third")
    task, state = scene(b.build())
    result = check_symbolic(Plan.of(("pick", "robot_1", "cup")), task, state)
    assert "its guard says no" in result.reasons[0].sentence


def line() -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_mistakes_in_strings_name_the_python_line() -> None:
    b = fetcher()
    at = line() + 2

    @b.skill(needs=["free(rr)"], makes=["on(thing) := none"])
    def drop(r: Robot, thing: Item) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(DomainError) as e:
        b.build()
    assert "skill 'drop' needs \"free(rr)\"" in str(e.value)
    assert e.value.where is not None
    assert e.value.where.source == __file__
    assert abs(e.value.where.line - at) <= 1


def test_mistakes_in_python_are_named_at_once() -> None:
    b = Builder("d")

    @b.type
    class Place: ...

    with pytest.raises(DomainError, match="type 'place' already"):
        b.type(type("Place", (), {}))
    with pytest.raises(DomainError, match="base class 'Stranger' of 'odd' is not a type"):
        b.type(type("Odd", (type("Stranger", (), {}),), {}))
    with pytest.raises(DomainError, match="attribute 'size' is bool or Literal"):
        b.type(type("Big", (), {"__annotations__": {"size": int}}))
    with pytest.raises(DomainError, match="'str' is not a type of the domain"):

        @b.fluent
        def name(p: Place) -> str: ...

    with pytest.raises(DomainError, match="the parameter 'p' has no type"):

        @b.fluent
        def bare(p) -> bool: ...  # type: ignore[no-untyped-def]

    with pytest.raises(DomainError, match="the parameter 'p' can't be none"):

        @b.fluent
        def maybe(p: Place | None) -> bool: ...

    with pytest.raises(DomainError, match="can't read the annotation 'Nowhere'"):

        @b.fluent
        def lost(p: Nowhere) -> bool: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(DomainError, match="'int' is not a type of the domain"):
        b.object("seven", int)


def test_a_guard_must_fit_its_skill() -> None:
    b = fetcher()

    @b.guard("pick")
    def wrong(state: State, robot: str) -> str | None: ...

    with pytest.raises(DomainError, match=r"the guard of 'pick' must take \(state, r, thing\)"):
        b.build()
    c = fetcher()
    c.guard("pik")(lambda state, r, thing: None)
    with pytest.raises(DomainError, match=r"unknown skill 'pik'\. Did you mean 'pick'"):
        c.build()
