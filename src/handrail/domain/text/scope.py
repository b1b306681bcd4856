"""What a word can mean at one place of a domain file, and of which type a term is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from handrail.domain.domain import OBJECT, Domain
from handrail.domain.formula import Call, Const, Param, Term
from handrail.domain.types import Fluent, Kind, Objects, Parameter
from handrail.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class TermType:
    """The values that a term can have.

    Attributes:
        kind: bool, object, count or symbol; None for the literal `none`.
        types: for objects, every type (with those below) that the object may have.
        symbols: for symbols, those it may be.
        optional: whether it may be none.
    """

    kind: Kind | None
    types: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    optional: bool = False
    shown: str = ""

    def __str__(self) -> str:
        return self.shown

    def meets(self, other: TermType) -> bool:
        """Whether both can have the same value."""
        if self.kind is None or other.kind is None:
            return self.kind is other.kind or (other if self.kind is None else self).optional
        if self.kind is not other.kind:
            return False
        if self.kind is Kind.OBJECT:
            return bool(self.types & other.types)
        return self.kind is not Kind.SYMBOL or bool(self.symbols & other.symbols)


_BOOL = TermType(Kind.BOOL, shown="true or false")
_COUNT = TermType(Kind.COUNT, shown="a count")
_NONE = TermType(None, shown="none")


@dataclass(frozen=True)
class Scope:
    """The vocabulary at one place.

    Attributes:
        domain: types, fluents, attributes, numbers; its derived fluents and skills count too where they are there already.
        derived: signatures of the derived fluents.
        objects: names of known objects and their types.
        params: parameters and quantified variables.
        owner: what the parameters belong to, such as "'pick'"; for messages.
    """

    domain: Domain
    derived: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    params: tuple[Parameter, ...] = ()
    owner: str = ""

    @classmethod
    def of(cls, domain: Domain, params: tuple[Parameter, ...] = (), objects: Objects | None = None) -> Scope:
        """The scope of a finished domain; with `objects`, those of a scene (the domain's constants are among them)."""
        known = {o.name: o.type for o in (objects if objects is not None else domain.constants)}
        return cls(domain, {d.name: d.params for d in domain.derived.values()}, known, params)

    def with_params(self, *params: Parameter, owner: str = "") -> Scope:
        """The same scope with more parameters."""
        return replace(self, params=(*self.params, *params), owner=owner or self.owner)

    def param(self, name: str) -> Parameter | None:
        """The parameter or variable of that name."""
        return next((p for p in reversed(self.params) if p.name == name), None)

    def word(self, name: str) -> Param | Const | str:
        """What a bare word means, or a sentence that says why it means nothing."""
        if self.param(name) is not None:
            return Param(name)
        if name in self.objects or name in self.domain.symbols:
            return Const(name)
        kind = "derived fluent" if name in self.derived else self.domain.kind_of_name(name)
        if kind and kind != "symbol":
            if kind in ("type", "number"):
                return f"'{name}' is a {kind}, and a parameter or object was expected."
            return (
                f"'{name}' is {a_noun(kind)}; give its arguments: {name}({', '.join(map(str, self.signature(name)))})."
            )
        said = f"there is no parameter or object '{name}'."
        if self.params:
            shown = ", ".join(f"{p.name} ({' | '.join(p.types)})" for p in self.params)
            said += f" Parameters of {self.owner}: {shown}." if self.owner else f" Here are: {shown}."
        return said + did_you_mean(name, {p.name for p in self.params} | set(self.objects) | self.domain.symbols)

    def signature(self, name: str) -> tuple[Parameter, ...]:
        """Parameters of a callable name.

        Raises:
            KeyError: there is none of that name.
        """
        d = self.domain
        if name in d.fluents:
            return d.fluents[name].params
        if name in self.derived:
            return self.derived[name]
        if name in d.attributes:
            owners = sorted(t.name for t in d.types.values() if any(a.name == name for a in t.attributes))
            return (Parameter("x", tuple(owners)),)
        if name in d.types or name == OBJECT:
            return (Parameter("x", (OBJECT,)),)
        raise KeyError(name)

    def callables(self) -> set[str]:
        """Everything that can be written `name(...)` in a condition."""
        return {*self.domain.fluents, *self.derived, *self.domain.attributes, *self.domain.types}

    def closure(self, types: tuple[str, ...]) -> frozenset[str]:
        """Types and all below them."""
        return frozenset().union(*(self.domain.subtypes(t) for t in types))

    def type_of(self, term: Term) -> TermType:
        """The type of a resolved term."""
        if isinstance(term, Param):
            p = self.param(term.name)
            types = p.types if p is not None else (OBJECT,)
            return TermType(Kind.OBJECT, self.closure(types), shown=a_noun(" | ".join(types)))
        if isinstance(term, Const):
            v = term.value
            if v is None:
                return _NONE
            if isinstance(v, bool):
                return _BOOL
            if isinstance(v, int):
                return _COUNT
            if v in self.objects:
                name = self.objects[str(v)]
                return TermType(Kind.OBJECT, frozenset({name}), shown=a_noun(name))
            return TermType(Kind.SYMBOL, symbols=frozenset({str(v)}), shown=f"the symbol '{v}'")
        return self.type_of_call(term)

    def type_of_call(self, call: Call) -> TermType:
        """The type of what a call gives."""
        d = self.domain
        fluent = d.fluents.get(call.name)
        if fluent is not None:
            return self.type_of_fluent(fluent)
        attribute = d.attributes.get(call.name)
        if attribute is not None and attribute.kind is Kind.SYMBOL:
            shown = "one of " + ", ".join(attribute.symbols)
            return TermType(Kind.SYMBOL, symbols=frozenset(attribute.symbols), optional=True, shown=shown)
        return _BOOL

    def type_of_fluent(self, fluent: Fluent) -> TermType:
        """The values a fluent can have."""
        if fluent.kind is Kind.BOOL:
            return _BOOL
        if fluent.kind is Kind.COUNT:
            return TermType(Kind.COUNT, shown=f"a count {fluent.low}..{fluent.high}")
        shown = a_noun(" | ".join(fluent.types)) + (" or none" if fluent.optional else "")
        return TermType(Kind.OBJECT, self.closure(fluent.types), optional=fluent.optional, shown=shown)


def a_noun(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
