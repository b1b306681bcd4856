"""Types, fluents, attributes, objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from handrail.domain.values import UNKNOWN, Atom, Value, show_atom
from handrail.errors import DomainError, did_you_mean

if TYPE_CHECKING:
    from handrail.domain.domain import Domain


class Kind(StrEnum):
    """What a fluent or attribute holds."""

    BOOL = "bool"
    OBJECT = "object"
    COUNT = "count"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A typed parameter. `types` has one name, or several for PDDL's `either`."""

    name: str
    types: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {' | '.join(self.types)}"


@dataclass(frozen=True, slots=True)
class Fluent:
    """A fact schema whose value skills may change.

    Attributes:
        name: unique among all names of the domain.
        params: its typed parameters.
        kind: bool, object or count.
        types: for objects, the types a value may have.
        optional: for objects, whether it may be `none`.
        low: smallest count.
        high: largest count.
    """

    name: str
    params: tuple[Parameter, ...] = ()
    kind: Kind = Kind.BOOL
    types: tuple[str, ...] = ()
    optional: bool = False
    low: int = 0
    high: int = 9

    @property
    def default(self) -> Value:
        """The value where a state says nothing: false, none, the lowest count, or unknown for a mandatory object."""
        if self.kind is Kind.BOOL:
            return False
        if self.kind is Kind.COUNT:
            return self.low
        return None if self.optional else UNKNOWN

    def __str__(self) -> str:
        if self.kind is Kind.BOOL:
            value = "bool"
        elif self.kind is Kind.COUNT:
            value = f"{self.low}..{self.high}"
        else:
            value = " | ".join(self.types) + ("?" if self.optional else "")
        return f"{self.name}({', '.join(map(str, self.params))}): {value}"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of objects of a type that no skill changes: a truth value, or one of a list of symbols (or none)."""

    name: str
    owner: str
    kind: Kind = Kind.BOOL
    symbols: tuple[str, ...] = ()

    @property
    def default(self) -> Value:
        """False, or none, where an object does not say."""
        return False if self.kind is Kind.BOOL else None


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `parent` is None for a root."""

    name: str
    parent: str | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True)
class Obj:
    """An object: name, type, attribute values, and the words people use for it."""

    name: str
    type: str
    attributes: Mapping[str, Value] = field(default_factory=dict)
    words: tuple[str, ...] = ()


class Objects:
    """The objects of one scene under one domain: immutable, with type look-ups.

    Args:
        domain: the domain whose types they have.
        objects: the scene's objects; the domain's constants are added.
        numbers: values of the domain's static numeric tables, `(name, *objects)` to a number.

    Raises:
        DomainError: a name used twice or clashing with another kind of name, an unknown type, attribute or attribute value.
    """

    def __init__(
        self, domain: Domain, objects: Iterable[Obj] = (), numbers: Mapping[Atom, float] | None = None
    ) -> None:
        self.domain = domain
        self.numbers: dict[Atom, float] = dict(numbers or {})
        self._all: dict[str, Obj] = {}
        for o in (*domain.constants, *objects):
            if o.name in self._all:
                if self._all[o.name] == o:
                    continue
                raise DomainError(f"object '{o.name}' is declared twice, as {self._all[o.name].type} and as {o.type}")
            self._check(o)
            self._all[o.name] = o
        self._of_type: dict[str, tuple[str, ...]] = {}
        self._members: dict[str, frozenset[str]] = {}
        self.cache: dict[Any, Any] = {}
        """Ground operators and the like, made on demand; never part of equality."""

    def _check(self, o: Obj) -> None:
        d = self.domain
        if o.type not in d.types:
            raise DomainError(f"object '{o.name}' has the unknown type '{o.type}'.{did_you_mean(o.type, set(d.types))}")
        if not d.loose_names:
            taken = d.kind_of_name(o.name)
            if taken:
                raise DomainError(f"object '{o.name}' has the name of a {taken}; names are unique across kinds")
        valid = d.attributes_of(o.type)
        for name, value in o.attributes.items():
            if name not in valid:
                raise DomainError(
                    f"object '{o.name}' ({o.type}) has no attribute '{name}'.{did_you_mean(name, set(valid))}"
                )
            a = valid[name]
            if a.kind is Kind.BOOL and not isinstance(value, bool):
                raise DomainError(f"attribute '{name}' of '{o.name}' must be true or false, not {value!r}")
            if a.kind is Kind.SYMBOL and value is not None and value not in a.symbols:
                raise DomainError(
                    f"attribute '{name}' of '{o.name}' is {value!r}; valid: {', '.join(a.symbols)}, or leave it out"
                )

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __getitem__(self, name: str) -> Obj:
        return self._all[name]

    def __iter__(self) -> Iterator[Obj]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Objects) and (
            self.domain is other.domain and self._all == other._all and self.numbers == other.numbers
        )

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._all)))

    def get(self, name: str) -> Obj | None:
        """The object of that name, or None."""
        return self._all.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._all))

    def of(self, *types: str) -> tuple[str, ...]:
        """Names of the objects of these types or types below them, sorted."""
        key = "|".join(types)
        found = self._of_type.get(key)
        if found is None:
            below = frozenset().union(*(self.domain.subtypes(t) for t in types))
            found = tuple(sorted(n for n, o in self._all.items() if o.type in below))
            self._of_type[key] = found
        return found

    def members(self, *types: str) -> frozenset[str]:
        """The same as `of`, as a set."""
        key = "|".join(types)
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = frozenset(self.of(*types))
        return found

    def attribute(self, name: str, obj: str) -> Value:
        """Value of an attribute; its default where the object does not say or has no such attribute."""
        o = self._all.get(obj)
        default = self.domain.attributes[name].default
        return default if o is None else o.attributes.get(name, default)

    def values_of(self, fluent: Fluent) -> tuple[Value, ...]:
        """Every value a fluent can have here, in a fixed order."""
        if fluent.kind is Kind.BOOL:
            return (False, True)
        if fluent.kind is Kind.COUNT:
            return tuple(range(fluent.low, fluent.high + 1))
        names: tuple[Value, ...] = self.of(*fluent.types)
        return (None, *names) if fluent.optional else names

    def with_(self, *more: Obj) -> Objects:
        """The same objects and more, for things discovered while running."""
        own = [o for o in self._all.values() if o not in self.domain.constants]
        return Objects(self.domain, [*own, *more], self.numbers)

    def number(self, atom: Atom) -> float:
        """A value of a static numeric table: the scene's, else the domain's.

        Raises:
            DomainError: neither gives a value for these objects.
        """
        found = self.numbers.get(atom)
        table = self.domain.numbers.get(atom[0])
        if found is None and table is not None:
            found = table.values.get(atom, table.otherwise)
        if found is None:
            raise DomainError(f"neither domain nor scene gives a number for {show_atom(atom)}")
        return found
