"""A domain written in Python: classes are types, functions are fluents and skills, strings are conditions.

    robot = Builder("fetcher")

    @robot.type
    class Place: ...

    @robot.type
    class Item:
        sharp: bool
        material: Literal["glass", "metal"]

    @robot.fluent
    def on(i: Item) -> Place | None: ...

    @robot.skill(needs=["on(thing) != none"], makes=["on(thing) := to"], cost=2)
    def move(thing: Item, to: Place) -> None:
        "Move {thing} to {to}."

    @robot.guard("move")
    def not_tonight(state: State, thing: str, to: str) -> str | None:
        return "the museum is closed" if night() else None

    domain = robot.build()

Everything goes through the same reader as a file, so the same mistakes are found, each with the Python file and line. A guard may
add a reason against a step; it never takes the place of a declared need.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from handrail.domain.domain import Domain
from handrail.domain.skill import Hook, Skill
from handrail.domain.state import State
from handrail.domain.text.document import Map, Seq
from handrail.domain.text.frame import read_domain
from handrail.errors import DomainError, Where, did_you_mean

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])
Guard = Callable[..., "str | None"]


@dataclass(frozen=True)
class Count:
    """Bounds of a count fluent: `def portions(v: Vessel) -> Annotated[int, Count(0, 9)]: ...`."""

    low: int
    high: int


class Builder:
    """Collects types, fluents, skills and the rest, and builds a `Domain`.

    Args:
        name: the domain's name, for people.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._here = _caller()
        self._types: dict[str, tuple[Any, Where]] = {}
        self._classes: dict[builtins.type, str] = {}
        self._sections: dict[str, list[tuple[str, Where]]] = {"fluents": [], "derived": []}
        self._numbers: dict[str, tuple[Any, Where]] = {}
        self._objects: dict[str, tuple[Any, Where]] = {}
        self._skills: dict[str, tuple[Any, Where]] = {}
        self._guards: dict[str, list[tuple[Guard, Where]]] = {}
        self._safety: dict[str, Any] = {"limits": {}, "rules": [], "forbid": [], "no_go": []}

    def type(self, cls: C) -> C:
        """A class as a type named like it in snake_case; its base class is the type above, its annotations are attributes.

        An attribute is `bool` or `Literal["word", ...]`.

        Raises:
            DomainError: two classes of one name, a base class that is no type, an attribute of another kind.
        """
        where = _where(cls)
        name = _snake(cls.__name__)
        if name in self._types:
            raise DomainError(f"there is a type '{name}' already", where)
        bases = [b for b in cls.__bases__ if b is not object]
        if len(bases) > 1:
            raise DomainError(f"type '{name}' has several base classes; a type stands below one other type", where)
        if bases and bases[0] not in self._classes:
            known = ", ".join(self._classes.values()) or "none so far"
            raise DomainError(f"the base class '{bases[0].__name__}' of '{name}' is not a type; types: {known}", where)
        attributes = {}
        for attribute, kind in inspect.get_annotations(cls).items():
            attributes[attribute] = _attribute(self._resolve(kind, cls, where), attribute, name, where)
        body: dict[str, Any] = {"is": self._classes[bases[0]]} if bases else {}
        if attributes:
            body["attributes"] = attributes
        self._types[name] = (body or None, where)
        self._classes[cls] = name
        return cls

    def fluent(self, function: F) -> F:
        """A function's signature as a fluent: it returns bool, a type, a type or None, or `Annotated[int, Count(0, 9)]`."""
        where = _where(function)
        result = self._resolve(inspect.get_annotations(function).get("return"), function, where)
        shown = self._values(result, function.__name__, where)
        params = ", ".join(f"{p}: {t}" for p, t in self._params(function, where).items())
        self._sections["fluents"].append((f"{function.__name__}({params}): {shown}", where))
        return function

    def derived(self, condition: str) -> Callable[[F], F]:
        """A function's signature as a derived fluent that holds where the condition does."""

        def add(function: F) -> F:
            where = _where(function)
            params = ", ".join(f"{p}: {t}" for p, t in self._params(function, where).items())
            self._sections["derived"].append((f"{function.__name__}({params}): {condition}", where))
            return function

        return add

    def skill(
        self,
        *,
        needs: Sequence[str] = (),
        makes: Sequence[str] = (),
        cost: float | Mapping[str, Any] = 1,
        approval: str = "always",
        approval_because: str = "",
        on_stop: Literal["hold", "release", "retract"] = "hold",
        repeatable: bool = True,
        asks: bool = False,
        speed: str | None = None,
        force: str | None = None,
        duration: str | None = None,
    ) -> Callable[[F], F]:
        """A function's signature as a skill; the first line of its docstring is what it says, with `{parameter}` slots.

        The body is never run; a check in Python is a `guard`. The arguments mean what the keys of a domain file mean.
        """

        def add(function: F) -> F:
            where = _where(function)
            body: dict[str, Any] = {
                "with": self._params(function, where),
                "needs": list(needs),
                "makes": list(makes),
                "cost": cost,
                "approval": approval,
                "on_stop": on_stop,
                "repeatable": repeatable,
                "asks": asks,
            }
            says = inspect.getdoc(function)
            if says:
                body["says"] = says.splitlines()[0]
            if approval_because:
                body["approval_because"] = approval_because
            body |= {k: v for k, v in (("speed", speed), ("force", force), ("duration", duration)) if v is not None}
            if function.__name__ in self._skills:
                raise DomainError(f"there is a skill '{function.__name__}' already", where)
            self._skills[function.__name__] = (body, where)
            return function

        return add

    def guard(self, skill: str) -> Callable[[F], F]:
        """A function `(state, **arguments) -> str | None` that may give a reason why a step must not run.

        It sees the state before the step, with `UNKNOWN` where nobody knows. A guard that fails refuses the step.
        """

        def add(function: F) -> F:
            self._guards.setdefault(skill, []).append((function, _where(function)))
            return function

        return add

    def object(self, name: str, kind: builtins.type, *, words: Sequence[str] = (), **attributes: Any) -> None:
        """An object that every scene has."""
        where = _caller()
        if kind not in self._classes:
            raise DomainError(f"object '{name}': '{kind.__name__}' is not a type of the domain", where)
        if name in self._objects:
            raise DomainError(f"there is an object '{name}' already", where)
        body = {"is": self._classes[kind], **attributes}
        if words:
            body["words"] = list(words)
        self._objects[name] = (body, where)

    def number(self, declaration: str, values: Mapping[str, float] | None = None) -> None:
        """A static table for costs: `number("distance(a: place, b: place)", {"table, fridge": 2, "otherwise": 1})`."""
        self._numbers[declaration] = (dict(values) if values is not None else None, _caller())

    def rule(self, rule: str, because: str = "") -> None:
        """A rule over whole plans: never c, always c, a before b, after a within k steps b."""
        self._safety["rules"].append(({"rule": rule, **({"because": because} if because else {})}, _caller()))

    def forbid(self, skill: str, when: str = "", because: str = "") -> None:
        """A skill that must not be called, or not where a condition over its parameters holds."""
        body = {"skill": skill, **{k: v for k, v in (("when", when), ("because", because)) if v}}
        self._safety["forbid"].append((body, _caller()))

    def no_go(self, *places: str) -> None:
        """Places that no robot may be at."""
        self._safety["no_go"] += [(p, _caller()) for p in places]

    def limit(self, *, speed: str | None = None, force: str | None = None) -> None:
        """Upper bounds with their units, such as `limit(speed="0.5 m/s", force="40 N")`."""
        self._safety["limits"] |= {k: v for k, v in (("speed", speed), ("force", force)) if v is not None}

    def build(self) -> Domain:
        """The domain.

        Raises:
            DomainError: every mistake, each with the Python file and line of what it is about.
        """
        sections: dict[str, Any] = {
            "domain": self.name,
            "types": self._types,
            "fluents": self._sections["fluents"],
            "derived": self._sections["derived"],
            "numbers": self._numbers,
            "objects": self._objects,
            "skills": self._skills,
            "safety": {k: v for k, v in self._safety.items() if v},
        }
        made = read_domain(_located({k: v for k, v in sections.items() if v}, self._here), self._here.source)
        for skill, guards in self._guards.items():
            if skill not in made.skills:
                raise DomainError(
                    f"a guard for the unknown skill '{skill}'.{did_you_mean(skill, set(made.skills))}", guards[0][1]
                )
            self._check_guards(made.skills[skill], guards)
        skills = {
            n: replace(s, hook=_hook([g for g, _ in self._guards[n]])) if n in self._guards else s
            for n, s in made.skills.items()
        }
        return replace(made, skills=skills)

    def _check_guards(self, skill: Skill, guards: list[tuple[Guard, Where]]) -> None:
        for guard, where in guards:
            try:
                inspect.signature(guard).bind(None, **{p.name: "" for p in skill.params})
            except TypeError as e:
                params = ", ".join(p.name for p in skill.params)
                raise DomainError(f"the guard of '{skill.name}' must take (state, {params}): {e}", where) from None

    def _params(self, function: Callable[..., Any], where: Where) -> dict[str, str]:
        out = {}
        annotations = inspect.get_annotations(function)
        for name in inspect.signature(function).parameters:
            if name not in annotations:
                raise DomainError(f"'{function.__name__}': the parameter '{name}' has no type", where)
            names, optional = self._type_names(
                self._resolve(annotations[name], function, where), function.__name__, where
            )
            if optional:
                raise DomainError(f"'{function.__name__}': the parameter '{name}' can't be none", where)
            out[name] = " | ".join(names)
        return out

    def _values(self, result: Any, name: str, where: Where) -> str:
        if result is bool:
            return "bool"
        if typing.get_origin(result) is typing.Annotated:
            kind, *extra = typing.get_args(result)
            if kind is int and len(extra) == 1 and isinstance(extra[0], Count):
                return f"{extra[0].low}..{extra[0].high}"
        names, optional = self._type_names(result, name, where)
        return " | ".join(names) + ("?" if optional else "")

    def _type_names(self, given: Any, name: str, where: Where) -> tuple[list[str], bool]:
        parts = typing.get_args(given) if typing.get_origin(given) in (typing.Union, types.UnionType) else (given,)
        names = []
        for part in parts:
            if part is type(None):
                continue
            if part not in self._classes:
                shown = getattr(part, "__name__", str(part))
                said = "a fluent gives bool, a type, a type or None, or Annotated[int, Count(0, 9)]"
                raise DomainError(f"'{name}': '{shown}' is not a type of the domain; {said}", where)
            names.append(self._classes[part])
        return names, type(None) in parts

    def _resolve(self, annotation: Any, owner: Any, where: Where) -> Any:
        """An annotation as an object, also where the module has postponed annotations and the class is local."""
        if not isinstance(annotation, str):
            return annotation
        module = inspect.getmodule(owner)
        known = {c.__name__: c for c in self._classes}
        inside = {**vars(typing), **vars(module or types), **getattr(owner, "__globals__", {}), "Count": Count, **known}
        try:
            return eval(annotation, inside)  # noqa: S307 - an annotation of the caller's own source, as typing.get_type_hints does
        except Exception as e:
            raise DomainError(f"can't read the annotation '{annotation}': {e}", where) from None


def _hook(guards: list[Guard]) -> Hook:
    def ask(state: State, arguments: Mapping[str, str]) -> str | None:
        for guard in guards:
            said = guard(state, **arguments)
            if said is not None and not isinstance(said, str):
                raise TypeError(f"it must give a sentence or None, not {said!r}")
            if said is not None:
                return said or "its guard says no"
        return None

    return ask


def _attribute(kind: Any, name: str, owner: str, where: Where) -> Any:
    if kind is bool:
        return "bool"
    parts = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    literal = next((p for p in parts if typing.get_origin(p) is Literal), None)
    if literal is None:
        raise DomainError(f"type '{owner}': the attribute '{name}' is bool or Literal[...] of words", where)
    return list(typing.get_args(literal))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _where(thing: Any) -> Where:
    try:
        return Where(inspect.getsourcefile(thing) or "", inspect.getsourcelines(thing)[1])
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return Where(code.co_filename, code.co_firstlineno) if code is not None else Where("<python>")


def _caller() -> Where:
    """The nearest frame outside this module."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return Where(frame.f_code.co_filename, frame.f_lineno) if frame is not None else Where("<python>")


def _located(value: Any, where: Where) -> Any:
    """Plain data as the reader takes it; a pair `(data, Where)` gives the data's place."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Where):
        return _located(value[0], value[1])
    if isinstance(value, Mapping):
        made = Map(where)
        for k, v in value.items():
            at = v[1] if isinstance(v, tuple) and len(v) == 2 and isinstance(v[1], Where) else where
            made[k] = _located(v, at)
            made.key_at[k] = made.value_at[k] = at
        return made
    if isinstance(value, list):
        out = Seq(where)
        for v in value:
            at = v[1] if isinstance(v, tuple) and len(v) == 2 and isinstance(v[1], Where) else where
            out.append(_located(v, at))
            out.item_at.append(at)
        return out
    return value
