"""Names that the domain language can write: PDDL's `-`, reserved words and names shared between kinds are replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from handrail.domain import formula as f
from handrail.domain.domain import OBJECT, Domain
from handrail.domain.text.tokens import is_name
from handrail.domain.types import Parameter
from handrail.domain.values import Atom


@dataclass
class _Names:
    """Old names to new ones, per kind, and everything that is taken."""

    types: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    skills: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def fill(self, kind: dict[str, str], names: Iterable[str]) -> None:
        for name in names:
            if name not in kind:
                kind[name] = self.fresh(name, self.taken)
                self.taken.add(kind[name])

    @staticmethod
    def fresh(name: str, taken: set[str]) -> str:
        made = re.sub(r"\W", "_", name)
        if not is_name(made):
            made = f"the_{made}"
        n = 2
        candidate = made
        while candidate in taken:
            candidate, n = f"{made}_{n}", n + 1
        return candidate


def renamed(domain: Domain) -> Domain:
    """The same domain with names that the language can write; the domain itself where all of them can be."""
    if not domain.loose_names:
        return domain
    names = _Names()
    names.types[OBJECT] = OBJECT
    names.taken.add(OBJECT)
    names.fill(names.types, domain.types)
    names.fill(names.calls, [*domain.fluents, *domain.derived, *domain.attributes, *domain.numbers])
    names.fill(names.objects, [*domain.symbols, *(o.name for o in domain.constants)])
    used: set[str] = set()
    for s in domain.skills:
        names.skills[s] = names.fresh(s, used)
        used.add(names.skills[s])
    return _Renamer(domain, names).domain()


class _Renamer:
    def __init__(self, domain: Domain, names: _Names) -> None:
        self.old = domain
        self.names = names

    def domain(self) -> Domain:
        d, n = self.old, self.names
        types = {
            n.types[t.name]: replace(
                t,
                name=n.types[t.name],
                parent=n.types[t.parent] if t.parent and t.parent != OBJECT else None,
                attributes=tuple(
                    replace(
                        a, name=n.calls[a.name], owner=n.types[t.name], symbols=tuple(n.objects[s] for s in a.symbols)
                    )
                    for a in t.attributes
                ),
            )
            for t in d.types.values()
            if t.name != OBJECT
        }
        fluents = {}
        for fl in d.fluents.values():
            made = replace(fl, name=n.calls[fl.name], params=self.params(fl.params)[0], types=self.type_names(fl.types))
            fluents[made.name] = made
        derived = {}
        for x in d.derived.values():
            params, b = self.params(x.params)
            derived[n.calls[x.name]] = replace(
                x, name=n.calls[x.name], params=params, condition=self.condition(x.condition, b)
            )
        numbers = {
            n.calls[x.name]: replace(
                x,
                name=n.calls[x.name],
                params=self.params(x.params)[0],
                values={self.atom(a): v for a, v in x.values.items()},
            )
            for x in d.numbers.values()
        }
        skills = {}
        for s in d.skills.values():
            params, b = self.params(s.params)
            skills[n.skills[s.name]] = replace(
                s,
                name=n.skills[s.name],
                params=params,
                says=re.sub(r"\{(.*?)\}", lambda m, b=b: "{" + b.get(m[1], m[1]) + "}", s.says),  # type: ignore[misc]
                needs=tuple(self.condition(c, b) for c in s.needs),
                makes=tuple(self.effect(e, b) for e in s.makes),
                approval=self.condition(s.approval, b),
                approval_because=re.sub(r"\{(.*?)\}", lambda m, b=b: "{" + b.get(m[1], m[1]) + "}", s.approval_because),  # type: ignore[misc]
                cost=replace(s.cost, terms=tuple((k, self.call(c, b)) for k, c in s.cost.terms)),
            )
        constants = tuple(
            replace(
                o,
                name=n.objects[o.name],
                type=n.types[o.type],
                attributes={
                    n.calls[a]: n.objects.get(str(v), v) if isinstance(v, str) else v for a, v in o.attributes.items()
                },
            )
            for o in d.constants
        )
        rules = tuple(
            replace(r, first=self.condition(r.first, {}), second=self.condition(r.second, {}) if r.second else None)
            for r in d.safety.rules
        )
        forbid = tuple(
            replace(
                ban,
                skill=n.skills.get(ban.skill, ban.skill),
                when=self.condition(
                    ban.when, self.params(d.skills[ban.skill].params)[1] if ban.skill in d.skills else {}
                ),
            )
            for ban in d.safety.forbid
        )
        no_go = tuple(n.objects[p] for p in d.safety.no_go)
        safety = replace(d.safety, rules=rules, forbid=forbid, no_go=no_go)
        return Domain(
            d.name,
            types,
            fluents,
            skills,
            derived,
            constants,
            safety,
            numbers,
            d.profile,
            extra=d.extra,
            source=d.source,
        )

    def type_names(self, types: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.names.types[t] for t in types)

    def atom(self, atom: Atom) -> Atom:
        return (self.names.calls[atom[0]], *(self.names.objects.get(o, o) for o in atom[1:]))

    def params(self, params: tuple[Parameter, ...]) -> tuple[tuple[Parameter, ...], dict[str, str]]:
        """Parameters with new names: neither an object's nor a fluent's."""
        taken = set(self.names.objects.values()) | set(self.names.calls.values())
        binding: dict[str, str] = {}
        for p in params:
            binding[p.name] = self.names.fresh(p.name, taken)
            taken.add(binding[p.name])
        return tuple(Parameter(binding[p.name], self.type_names(p.types)) for p in params), binding

    def bound(self, var: str, b: Mapping[str, str]) -> dict[str, str]:
        taken = {*self.names.objects.values(), *self.names.calls.values(), *b.values()}
        return {**b, var: self.names.fresh(var, taken)}

    def term(self, t: f.Term, b: Mapping[str, str]) -> f.Term:
        if isinstance(t, f.Param):
            return f.Param(b[t.name])
        if isinstance(t, f.Const):
            return f.Const(self.names.objects.get(t.value, t.value)) if isinstance(t.value, str) else t
        return self.call(t, b)

    def call(self, c: f.Call, b: Mapping[str, str]) -> f.Call:
        name = self.names.calls.get(c.name) or self.names.types[c.name]
        return f.Call(name, tuple(self.term(a, b) for a in c.args))

    def condition(self, c: f.Condition, b: Mapping[str, str]) -> f.Condition:
        if isinstance(c, f.Test):
            return f.Test(self.term(c.left, b), c.op, self.term(c.right, b))
        if isinstance(c, f.Not):
            return f.Not(self.condition(c.part, b))
        if isinstance(c, (f.And, f.Or)):
            return type(c)(tuple(self.condition(p, b) for p in c.parts))
        inner = self.bound(c.var, b)
        types = " | ".join(self.type_names(tuple(c.type.split(" | "))))
        return type(c)(inner[c.var], types, self.condition(c.body, inner))

    def effect(self, e: f.Effect, b: Mapping[str, str]) -> f.Effect:
        if isinstance(e, f.Assign):
            return f.Assign(self.call(e.target, b), self.term(e.value, b))
        if isinstance(e, f.Change):
            return f.Change(self.call(e.target, b), e.amount)
        if isinstance(e, f.When):
            return f.When(self.condition(e.condition, b), self.effect(e.effect, b))
        inner = self.bound(e.var, b)
        types = " | ".join(self.type_names(tuple(e.type.split(" | "))))
        return f.Each(inner[e.var], types, self.effect(e.effect, inner))
