"""The `scenarios:` part: named scenes with objects, a start state, and requests with the goals that fit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from handrail.domain.domain import Domain
from handrail.domain.goal import Goal
from handrail.domain.state import State
from handrail.domain.text import parse_fact, parse_goal
from handrail.domain.text.document import Map, where_of
from handrail.domain.text.fields import Fields, Problems
from handrail.domain.text.frame import read_table
from handrail.domain.text.objects import read_objects
from handrail.domain.types import Obj, Objects
from handrail.domain.values import Atom, Value
from handrail.errors import DomainError, Where, did_you_mean


class Expect(StrEnum):
    """What a request should lead to.

    DO: carry out a plan. ASK: several readings are likely. REFUSE: unsafe or impossible, and the robot says so.
    """

    DO = "do"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Request:
    """Something a person might say in a scene.

    Attributes:
        say: the words.
        goals: every reading that is right; for `ask`, the readings between which a person must choose; empty for most refusals.
        expect: see `Expect`.
        meant: index into `goals` of what the person has in mind, for a scripted person.
        because: why it must be asked about or refused.
        by: for `refuse`, which layer has the reason: "rules", "physics" (symbols alone see nothing wrong), "words" (nothing in the
            scene is meant); "" elsewhere.
    """

    say: str
    goals: tuple[Goal, ...] = ()
    expect: Expect = Expect.DO
    meant: int = 0
    because: str = ""
    by: str = ""

    @property
    def goal(self) -> Goal | None:
        """What the person has in mind; None where nothing should be done."""
        return self.goals[self.meant] if self.goals else None


@dataclass(frozen=True)
class Scene:
    """A start state to plan in.

    Attributes:
        name: unique in the domain file.
        objects: the domain's and the scene's own.
        state: the start; a fact that is not given has its fluent's default.
        says: a sentence about the scene.
        requests: what a person might say here.
    """

    name: str
    objects: Objects
    state: State
    says: str = ""
    requests: tuple[Request, ...] = ()

    @property
    def goal(self) -> Goal | None:
        """The goal of the first request that has one."""
        return next((r.goal for r in self.requests if r.goal is not None), None)


def scene_names(domain: Domain) -> tuple[str, ...]:
    """Names of a domain's scenes, in the order of the file."""
    section = domain.extra.get("scenarios")
    return tuple(section) if isinstance(section, Mapping) else ()


def read_scene(domain: Domain, name: str | None = None) -> Scene:
    """One scene; the first where no name is given.

    Raises:
        DomainError: there is none of that name, or something in it is wrong; every mistake is named with its place.
    """
    names = scene_names(domain)
    if not names:
        raise DomainError(
            f"the domain '{domain.name}' has no scenarios", Where(domain.source) if domain.source else None
        )
    if name is None:
        name = names[0]
    if name not in names:
        raise DomainError(f"the domain '{domain.name}' has no scene '{name}'.{did_you_mean(name, set(names))}")
    problems = Problems()
    with problems.catch():
        scene = _Scenes(domain, problems).read(name)
    problems.raise_all()
    return scene


class _Scenes:
    def __init__(self, domain: Domain, problems: Problems) -> None:
        self.domain = domain
        self.problems = problems
        section = domain.extra["scenarios"]
        if not isinstance(section, Map):
            raise DomainError(
                "`scenarios` must be a mapping from names to scenes", where_of(section, Where(domain.source))
            )
        self.section = section

    def read(self, name: str) -> Scene:
        objects: dict[str, Obj] = {}
        removed: dict[str, Obj] = {}
        numbers: dict[Atom, float] = {}
        chain = self._chain(name)
        for n in chain:
            fields = self._fields(n)
            objects.update(read_objects(fields.map("objects"), self.domain, self.problems))
            for gone, where in fields.strings("without"):
                if gone in objects:
                    removed[str(gone)] = objects.pop(gone)
                else:
                    said = f"scene '{n}' takes away '{gone}', which is not there.{did_you_mean(gone, set(objects))}"
                    self.problems.add(DomainError(said, where))
            table = fields.map("numbers")
            for number, body in table.items():
                with self.problems.catch():
                    numbers.update(self._numbers(number, body, table))
        self.problems.raise_all()
        fields = self._fields(name)
        self._check_params(objects, fields)
        try:
            made = Objects(self.domain, objects.values(), numbers)
        except DomainError as e:
            raise DomainError(f"scene '{name}': {e.message}", fields.where) from None
        values: dict[Atom, Value] = {}
        before = made.with_(*removed.values()) if removed else made
        for n in chain:
            values.update(self._state(self._fields(n), made if n == name else before, n))
        values = {a: v for a, v in values.items() if all(o in made for o in a[1:]) and not _gone(v, made)}
        state = State.checked(made, values)
        requests = []
        for item, where in fields.list("requests"):
            with self.problems.catch():
                requests.append(self._request(item, where, made))
        return Scene(name, made, state, str(fields.text("says")), tuple(requests))

    def _fields(self, name: str) -> Fields:
        fields = Fields(self.section[name], f"scene '{name}'", self.section.key_at[name], self.problems)
        fields.only("says", "from", "objects", "without", "numbers", "state", "requests")
        return fields

    def _chain(self, name: str) -> list[str]:
        """The scene and those it builds on, the most basic first."""
        chain = [name]
        while True:
            fields = self._fields(chain[0])
            base = fields.text("from")
            if not base:
                return chain
            if base not in self.section:
                raise fields.error("from", f"there is no scene '{base}'.{did_you_mean(base, set(self.section))}")
            if base in chain:
                raise fields.error("from", f"the scene builds on itself: {' from '.join([*chain, base])}")
            chain.insert(0, str(base))

    def _check_params(self, objects: Mapping[str, Obj], fields: Fields) -> None:
        for skill in self.domain.skills.values():
            for p in skill.params:
                if p.name in objects:
                    said = f"'{p.name}' is a parameter of the skill '{skill.name}'; choose another name for the object"
                    self.problems.add(DomainError(said, fields.key_of("objects", p.name)))

    def _numbers(self, name: str, body: Any, table: Map) -> dict[Atom, float]:
        number = self.domain.numbers.get(name)
        if number is None:
            raise DomainError(
                f"there is no number '{name}'.{did_you_mean(name, set(self.domain.numbers))}", table.key_at[name]
            )
        return read_table(number, body, table.value_at[name])

    def _state(self, fields: Fields, objects: Objects, name: str) -> dict[Atom, Value]:
        values: dict[Atom, Value] = {}
        for text, where in fields.strings("state"):
            with self.problems.catch():
                atom, value = parse_fact(text, objects, label=f"scene '{name}' state", where=where)
                if atom in values:
                    raise DomainError(f"scene '{name}' says twice what {atom[0]}({', '.join(atom[1:])}) is", where)
                values[atom] = value
        return values

    def _request(self, item: Any, where: Where, objects: Objects) -> Request:
        fields = Fields(item, "request", where_of(item, where), self.problems)
        fields.only("say", "goal", "goals", "expect", "meant", "because", "by")
        say = str(fields.text("say", required=True))
        expect = Expect(fields.choice("expect", "do", *Expect))
        goals: list[Goal] = []
        for key in ("goal", "goals"):
            for text, at in fields.strings(key):
                with self.problems.catch():
                    goals.append(parse_goal(text, self.domain, objects, said=say, where=at))
        if expect is Expect.DO and not goals:
            self.problems.add(fields.error("say", "a request that is carried out needs a `goal`"))
        if expect is Expect.ASK and len(goals) < 2:
            raise fields.error("say", "a request that is asked about needs two `goals` or more to choose from")
        meant = fields.data.get("meant", 0)
        if isinstance(meant, bool) or not isinstance(meant, int) or not 0 <= meant < max(1, len(goals)):
            raise fields.error("meant", f"'meant' counts the goals from 0 to {max(0, len(goals) - 1)}")
        by = fields.choice("by", "rules" if expect is Expect.REFUSE else "", "rules", "physics", "words", "")
        return Request(say, tuple(goals), expect, meant, str(fields.text("because")), by)


def _gone(value: Value, objects: Objects) -> bool:
    return isinstance(value, str) and value not in objects
