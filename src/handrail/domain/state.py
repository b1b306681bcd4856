"""States: what is the case, where nothing has to be known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from handrail.domain.types import Kind
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_fact
from handrail.errors import DomainError, did_you_mean

if TYPE_CHECKING:
    from handrail.domain.types import Objects


class State:
    """Values of ground fluents for a set of objects; what is not given has its fluent's default.

    Immutable by convention: `with_` makes another one. `values` is the plain dictionary that ground nodes read.
    """

    __slots__ = ("objects", "values")

    def __init__(self, objects: Objects, values: Mapping[Atom, Value] | None = None) -> None:
        self.objects = objects
        self.values: dict[Atom, Value] = dict(values or {})

    @classmethod
    def checked(cls, objects: Objects, values: Mapping[Atom, Value]) -> State:
        """A state whose every fact was checked against the domain.

        Raises:
            DomainError: an unknown fluent or object, a wrong number or type of arguments, or a value the fluent can't have.
        """
        for atom, value in values.items():
            check_fact(objects, atom, value)
        return cls(objects, values)

    def get(self, atom: Atom) -> Value:
        """The value of a ground fluent, UNKNOWN where nobody knows it.

        Raises:
            DomainError: there is no such fluent.
        """
        if atom in self.values:
            return self.values[atom]
        fluent = self.objects.domain.fluents.get(atom[0])
        if fluent is None:
            raise DomainError(f"no fluent '{atom[0]}'.{did_you_mean(atom[0], set(self.objects.domain.fluents))}")
        return fluent.default

    def __getitem__(self, atom: Atom) -> Value:
        return self.get(atom)

    def with_(self, changes: Mapping[Atom, Value]) -> State:
        """The same state with some facts changed."""
        return State(self.objects, {**self.values, **changes})

    def facts(self) -> Iterator[tuple[Atom, Value]]:
        """Facts that differ from their default, sorted."""
        fluents = self.objects.domain.fluents
        for atom in sorted(self.values):
            fluent = fluents.get(atom[0])
            value = self.values[atom]
            if fluent is None or value is UNKNOWN or value != fluent.default or fluent.default is UNKNOWN:
                yield atom, value

    def unknown(self) -> tuple[Atom, ...]:
        """Facts that are explicitly unknown, sorted."""
        return tuple(sorted(a for a, v in self.values.items() if v is UNKNOWN))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.objects == other.objects and dict(self.facts()) == dict(other.facts())

    def __hash__(self) -> int:
        return hash(tuple(self.facts()))

    def __str__(self) -> str:
        return ", ".join(show_fact(a, v) for a, v in self.facts())

    def to_json(self) -> dict[str, Any]:
        """`{"at(robot_1)": "kitchen", ...}`, sorted; an unknown value is `{"unknown": true}`."""
        return {show_atom(a): ({"unknown": True} if v is UNKNOWN else v) for a, v in self.facts()}

    @property
    def state_id(self) -> str:
        """Hash of the facts and objects."""
        body = {"facts": self.to_json(), "objects": {o.name: o.type for o in self.objects}}
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def state_from_json(objects: Objects, body: Mapping[str, Any]) -> State:
    """Read what `State.to_json` wrote, checking every fact."""
    values: dict[Atom, Value] = {}
    for text, value in body.items():
        name, _, rest = text.partition("(")
        if not rest.endswith(")"):
            raise DomainError(f"'{text}' is not a fact; write it as fluent(object, ...)")
        args = tuple(a.strip() for a in rest[:-1].split(",")) if rest[:-1].strip() else ()
        known: Value = UNKNOWN if isinstance(value, Mapping) and value.get("unknown") is True else value
        values[(name.strip(), *args)] = known
    return State.checked(objects, values)


def check_fact(objects: Objects, atom: Atom, value: Value) -> None:
    """Raise DomainError unless the atom and value fit the domain and objects."""
    domain = objects.domain
    fluent = domain.fluents.get(atom[0])
    if fluent is None:
        raise DomainError(f"no fluent '{atom[0]}'.{did_you_mean(atom[0], set(domain.fluents))}")
    if len(atom) - 1 != len(fluent.params):
        raise DomainError(f"{show_atom(atom)} has {len(atom) - 1} arguments; the fluent is {fluent}")
    for p, a in zip(fluent.params, atom[1:], strict=True):
        if a not in objects:
            raise DomainError(f"{show_atom(atom)}: no object '{a}'.{did_you_mean(a, set(objects.names()))}")
        if a not in objects.members(*p.types):
            raise DomainError(
                f"{show_atom(atom)}: '{a}' is a {objects[a].type}, but {p.name} must be {' or '.join(p.types)}"
            )
    if value is UNKNOWN:
        return
    if fluent.kind is Kind.BOOL:
        good = isinstance(value, bool)
        wanted = "true or false"
    elif fluent.kind is Kind.COUNT:
        good = isinstance(value, int) and not isinstance(value, bool) and fluent.low <= value <= fluent.high
        wanted = f"a whole number {fluent.low}..{fluent.high}"
    else:
        good = (value is None and fluent.optional) or (
            isinstance(value, str) and value in objects.members(*fluent.types)
        )
        names = objects.of(*fluent.types)
        wanted = "one of " + ", ".join(names[:12]) + (" or none" if fluent.optional else "")
    if not good:
        raise DomainError(f"{show_atom(atom)} can't be {value!r}; it must be {wanted}")


class FactSource(StrEnum):
    """How a fact came to be believed."""

    SEEN = "seen"
    TOLD = "told"
    PREDICTED = "predicted"
    DEFAULT = "default"


@dataclass(frozen=True)
class Observation:
    """A state as something saw it.

    Attributes:
        state: with UNKNOWN where it saw nothing.
        time: monotonic seconds of the world's clock when it was taken.
        source: which sensor, simulator or person.
        ages: seconds since a fact was last really seen, for facts that are older than the observation.
    """

    state: State
    time: float
    source: str = "world"
    ages: Mapping[Atom, float] | None = None
