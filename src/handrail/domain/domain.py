"""The domain: types, fluents, derived fluents, skills and safety; what plans are checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.domain.formula import Condition
from handrail.domain.rules import Safety
from handrail.domain.skill import Skill
from handrail.domain.types import Attribute, Fluent, Obj, Objects, Parameter, Type
from handrail.domain.values import Atom
from handrail.errors import DomainError, did_you_mean

OBJECT = "object"
"""The type above all others; it need not be declared."""


@dataclass(frozen=True)
class Derived:
    """A read-only fluent defined by a condition."""

    name: str
    params: tuple[Parameter, ...]
    condition: Condition

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))}): {self.condition}"


@dataclass(frozen=True)
class Number:
    """A static numeric table, such as `distance(a: place, b: place)`, for costs.

    Attributes:
        name: unique among all names of the domain.
        params: its typed parameters.
        values: `(name, *objects)` to a number of at least 0; a scene's own values go before these.
        otherwise: the value of every other combination; None if it has none.
    """

    name: str
    params: tuple[Parameter, ...]
    values: Mapping[Atom, float] = field(default_factory=dict)
    otherwise: float | None = None


@dataclass(frozen=True, eq=False)
class Domain:
    """A skill library with its vocabulary. Make one with `Domain.load`, the Python decorators or the PDDL reader.

    Attributes:
        name: for people.
        types: by name.
        fluents: by name.
        derived: by name; acyclic.
        skills: by name.
        constants: objects that every scene has.
        safety: rules, forbidden steps, no-go places, limits.
        numbers: static numeric tables by name.
        profile: robot cost profile in use ("" for the default).
        loose_names: names may be shared between kinds (PDDL allows it; the domain language doesn't).
        extra: other parts of the file (`physical:`, `scenarios:`), kept as plain data.
        source: the file it was read from.
    """

    name: str
    types: Mapping[str, Type]
    fluents: Mapping[str, Fluent]
    skills: Mapping[str, Skill]
    derived: Mapping[str, Derived] = field(default_factory=dict)
    constants: tuple[Obj, ...] = ()
    safety: Safety = field(default_factory=Safety)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    profile: str = ""
    loose_names: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        above: dict[str, tuple[str, ...]] = {}
        for t in self.types.values():
            chain = [t.name]
            while chain[-1] in self.types and (parent := self.types[chain[-1]].parent):
                if parent in chain:
                    raise DomainError(f"type '{t.name}' is its own ancestor: {' is '.join([*chain, parent])}")
                if parent not in self.types and parent != OBJECT:
                    raise DomainError(
                        f"type '{chain[-1]}' is a '{parent}', which is not declared.{did_you_mean(parent, set(self.types))}"
                    )
                chain.append(parent)
            above[t.name] = tuple(chain)
        object.__setattr__(self, "_above", above)
        below: dict[str, frozenset[str]] = {OBJECT: frozenset({*self.types, OBJECT})}
        for name in self.types:
            below[name] = frozenset(t for t, chain in above.items() if name in chain)
        object.__setattr__(self, "_below", below)
        attributes = {a.name: a for t in self.types.values() for a in t.attributes}
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "symbols", frozenset(s for a in attributes.values() for s in a.symbols))
        if not self.loose_names:
            self._unique()

    attributes: Mapping[str, Attribute] = field(init=False, repr=False)
    symbols: frozenset[str] = field(init=False, repr=False)

    def _unique(self) -> None:
        seen: dict[str, str] = {}
        groups: list[tuple[str, Iterable[str]]] = [
            ("type", self.types),
            ("fluent", self.fluents),
            ("derived fluent", self.derived),
            ("attribute", self.attributes),
            ("number", self.numbers),
            ("symbol", self.symbols),
        ]
        for kind, names in groups:
            for n in names:
                if n in seen and seen[n] != kind:
                    raise DomainError(f"'{n}' is both {seen[n]} and {kind}; names are unique across kinds")
                seen[n] = kind
        object.__setattr__(self, "_kinds", seen)

    def kind_of_name(self, name: str) -> str:
        """What else has this name ("type", "fluent", ...), or ""."""
        kinds: dict[str, str] = getattr(self, "_kinds", {})
        return kinds.get(name, "")

    def subtypes(self, name: str) -> frozenset[str]:
        """The type and every type below it.

        Raises:
            DomainError: there is no such type.
        """
        below: dict[str, frozenset[str]] = self._below  # type: ignore[attr-defined]
        if name not in below:
            raise DomainError(f"no type '{name}'.{did_you_mean(name, set(self.types))}")
        return below[name]

    def supertypes(self, name: str) -> tuple[str, ...]:
        """The type and every type above it, nearest first."""
        above: dict[str, tuple[str, ...]] = self._above  # type: ignore[attr-defined]
        return above.get(name, (name,))

    def attributes_of(self, type_name: str) -> dict[str, Attribute]:
        """Attributes of a type, with those of its parents."""
        return {a.name: a for t in self.supertypes(type_name) if t in self.types for a in self.types[t].attributes}

    def skill(self, name: str) -> Skill:
        """The skill of that name.

        Raises:
            DomainError: there is none; the nearest names are suggested.
        """
        found = self.skills.get(name)
        if found is None:
            raise DomainError(f"no skill '{name}'.{did_you_mean(name, set(self.skills))}")
        return found

    def objects(self, *objects: Obj) -> Objects:
        """Objects of a scene, checked against the domain."""
        return Objects(self, objects)

    def with_profile(self, profile: str) -> Domain:
        """The same domain with another robot's costs.

        Raises:
            DomainError: no skill has a cost for that profile.
        """
        named = {p for s in self.skills.values() for p in s.cost.base if p}
        if profile and profile not in named:
            raise DomainError(f"no skill has a cost for the profile '{profile}'.{did_you_mean(profile, named)}")

        made = {f: getattr(self, f) for f in self.__dataclass_fields__ if f not in ("attributes", "symbols", "profile")}
        return Domain(**made, profile=profile)

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides a verdict: types, fluents, derived fluents, skills, safety, constants, profile."""
        cached: str | None = self.__dict__.get("_fingerprint")
        if cached is None:
            text = "\n".join(self._lines())
            cached = hashlib.sha256(text.encode()).hexdigest()[:16]
            object.__setattr__(self, "_fingerprint", cached)
        return cached

    def _lines(self) -> list[str]:
        out = [f"profile {self.profile}"]
        out += [f"type {t.name} {t.parent} {t.attributes}" for _, t in sorted(self.types.items())]
        out += [f"fluent {f}" for _, f in sorted(self.fluents.items())]
        out += [f"derived {d}" for _, d in sorted(self.derived.items())]
        out += [f"constant {o.name} {o.type} {sorted(o.attributes.items())}" for o in self.constants]
        for _, n in sorted(self.numbers.items()):
            out.append(f"number {n.name} ({', '.join(map(str, n.params))}) {sorted(n.values.items())} {n.otherwise}")
        for _, s in sorted(self.skills.items()):
            out.append(f"skill {s.name} ({', '.join(map(str, s.params))}) {s.on_stop} {s.repeatable} {s.true_wins}")
            out += [f" needs {n}" for n in s.needs] + [f" makes {m}" for m in s.makes]
            out.append(f" cost {sorted(s.cost.base.items())} {[(f, str(c)) for f, c in s.cost.terms]}")
            out.append(f" approval {s.approval} speed {s.speed} force {s.force} hook {s.hook is not None}")
        out += [f"rule {r}" for r in self.safety.rules] + [f"forbid {f}" for f in self.safety.forbid]
        out.append(f"no_go {self.safety.no_go} limits {sorted(self.safety.limits.items())}")
        return out

    @classmethod
    def load(cls, path: str | Path) -> Domain:
        """Read a domain file (YAML) or a PDDL domain (`.pddl`).

        Raises:
            DomainError: with file, line, column and what would be valid.
        """
        from handrail.domain.files import load_domain

        return load_domain(Path(path))
