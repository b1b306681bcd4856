"""From the frame of a domain file to a `Domain`: sections, their keys, and the strings inside them.

Every mistake is collected, so that one look at a file shows them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from handrail.domain.domain import Derived, Domain, Number
from handrail.domain.text import declarations as declare
from handrail.domain.text.document import Map, Seq, Text, plain, where_of
from handrail.domain.text.fields import Fields, Problems
from handrail.domain.text.objects import read_objects, read_types
from handrail.domain.text.safety import read_safety
from handrail.domain.text.scope import Scope
from handrail.domain.text.skills import read_skill
from handrail.domain.text.source import Source
from handrail.domain.types import Fluent, Obj
from handrail.domain.values import Atom
from handrail.errors import DomainError, Where

SECTIONS: Final = (
    "domain",
    "about",
    "types",
    "fluents",
    "derived",
    "numbers",
    "objects",
    "skills",
    "safety",
    "scenarios",
    "physical",
)
"""Keys at the top of a domain file, in the order in which they read best."""

T = TypeVar("T", Fluent, Derived, Number)


def read_domain(top: Map, source: str) -> Domain:
    """A domain from a document.

    Raises:
        DomainError: every mistake that was found, each with its place; `where` is the first one's.
    """
    problems = Problems()
    with problems.catch():
        domain = _Frame(
            Fields(top, "the file", top.where, problems, hints={"rules": "rules stand under `safety:`"})
        ).read(source)
    problems.raise_all()
    return domain


class _Frame:
    def __init__(self, top: Fields) -> None:
        self.top = top
        self.problems = top.problems
        self.seen: dict[str, tuple[str, Where]] = {}

    def read(self, source: str) -> Domain:
        top = self.top
        top.only(*SECTIONS)
        name = top.text("domain", required=True)
        types = read_types(top.map("types"), self.problems)
        self._take("type", {n: top.key_of("types", n) for n in types})
        for owner, t in types.items():
            for a in t.attributes:
                if a.name not in self.seen:
                    self._take("attribute", {a.name: top.key_of("types", owner)})
                for s in a.symbols:
                    if self.seen.get(s, ("symbol",))[0] != "symbol":
                        self._take("symbol", {s: top.key_of("types", owner)})
                    self.seen[s] = ("symbol", top.key_of("types", owner))
        self.problems.raise_all()
        bare = Domain(name, types, {}, {}, source=source)
        fluents = self._declared("fluents", "fluent", Scope(bare), declare.parse_fluent)
        numbers, values = self._numbers(Scope(bare))
        self.problems.raise_all()
        with_fluents = Domain(name, types, fluents, {}, numbers=numbers, source=source)
        objects = read_objects(top.map("objects"), with_fluents, self.problems)
        self._take("object", {n: top.key_of("objects", n) for n in objects})
        known = {o.name: o.type for o in objects.values()}
        heads = self._heads(Scope(with_fluents, objects=known))
        scope = Scope(with_fluents, heads, known)
        derived = self._declared("derived", "", scope, declare.parse_derived)
        cycle = declare.check_acyclic(derived) if not self.problems.found else None
        if cycle:
            at = top.item_where("derived", list(derived).index(cycle[0]))
            self.problems.add(DomainError(f"derived fluents go in a circle: {' uses '.join(cycle)}", at))
        skills = {}
        if not top.map("skills", required=True):
            self.problems.add(top.error("skills", "`skills` must name at least one skill"))
        for skill_name, body in top.map("skills", required=True).items():
            where = top.key_of("skills", skill_name)
            with self.problems.catch():
                skills[skill_name] = read_skill(skill_name, body, where, scope, self.problems)
        safety = read_safety(top.map("safety"), scope, skills, self.problems)
        self.problems.raise_all()
        extra = {k: top.data[k] for k in ("about", "scenarios", "physical") if k in top.data}
        domain = Domain(
            name,
            types,
            fluents,
            skills,
            derived,
            tuple(objects.values()),
            safety,
            _with_values(numbers, values),
            extra=extra,
            source=source,
        )
        self._check_objects(domain, objects)
        return domain

    def _check_objects(self, domain: Domain, objects: Mapping[str, Obj]) -> None:
        """What only the whole domain can say about its objects, at the object's place."""
        bare = Domain(domain.name, domain.types, domain.fluents, domain.skills, domain.derived, numbers=domain.numbers)
        for name, o in objects.items():
            try:
                bare.objects(o)
            except DomainError as e:
                self.problems.add(DomainError(e.message, self.top.key_of("objects", name)))

    def _take(self, kind: str, names: Mapping[str, Where]) -> None:
        for name, where in names.items():
            if name in self.seen:
                other, at = self.seen[name]
                article = "an" if other[0] in "aeiou" else "a"
                line = f" (line {at.line})" if at.line else ""
                self.problems.add(
                    DomainError(
                        f"'{name}' is {article} {other} already{line}; a name means one thing in a domain", where
                    )
                )
            else:
                self.seen[name] = (kind, where)

    def _strings(self, section: str) -> Iterator[tuple[str, Where]]:
        yield from self.top.strings(section)

    def _declared(self, section: str, kind: str, scope: Scope, parse: Callable[[Source, Scope], T]) -> dict[str, T]:
        out: dict[str, T] = {}
        for text, where in self._strings(section):
            with self.problems.catch():
                made = parse(Source(text, section.rstrip("s"), where), scope)
                if kind:
                    self._take(kind, {made.name: where})
                out[made.name] = made
        return out

    def _heads(self, scope: Scope) -> dict[str, Any]:
        heads: dict[str, Any] = {}
        for text, where in self._strings("derived"):
            with self.problems.catch():
                name, params = declare.parse_derived_head(Source(text, "derived", where), scope)
                self._take("derived fluent", {name: where})
                heads[name] = params
        self.problems.raise_all()
        return heads

    def _numbers(self, scope: Scope) -> tuple[dict[str, Number], dict[str, Any]]:
        """`numbers:` is a list of declarations, or a mapping from declarations to values."""
        raw = self.top.data.get("numbers")
        if isinstance(raw, Map):
            out: dict[str, Number] = {}
            values: dict[str, Any] = {}
            for text, body in raw.items():
                where = raw.key_at[text]
                with self.problems.catch():
                    made = declare.parse_number(Source(text, "number", where), scope)
                    self._take("number", {made.name: where})
                    out[made.name] = made
                    values[made.name] = read_table(made, body, raw.value_at[text])
            return out, values
        return self._declared("numbers", "number", scope, declare.parse_number), {}


def read_table(number: Number, body: Any, where: Where) -> dict[Atom, float]:
    """Values of a number: `{kitchen: 1.5}` or, for several parameters, `{"kitchen, hall": 1.5}`; both orders where one is missing.

    The key `otherwise` gives every other combination its value.
    """
    if body is None:
        return {}
    if not isinstance(body, Map):
        raise DomainError(f"the values of '{number.name}' are a mapping from objects to numbers", where_of(body, where))
    out: dict[Atom, float] = {}
    for key, value in body.items():
        at = body.value_at[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise DomainError(f"{number.name}: '{plain(value)}' is not a finite number of at least 0", at)
        if key == "otherwise":
            out[(number.name,)] = float(value)
            continue
        names = tuple(n.strip() for n in key.split(","))
        if len(names) != len(number.params):
            raise DomainError(
                f"'{key}' names {len(names)} objects; {number.name} takes {len(number.params)}", body.key_at[key]
            )
        out[(number.name, *names)] = float(value)
    if len(number.params) == 2 and number.params[0].types == number.params[1].types:
        for (n, *pair), value in list(out.items()):
            if len(pair) == 2:
                out.setdefault((n, pair[1], pair[0]), value)
    return out


def _with_values(numbers: Mapping[str, Number], values: Mapping[str, Any]) -> dict[str, Number]:
    out: dict[str, Number] = {}
    for name, number in numbers.items():
        table: dict[Atom, float] = dict(values.get(name, {}))
        otherwise = table.pop((name,), None)
        out[name] = Number(name, number.params, table, otherwise)
    return out


__all__ = ["SECTIONS", "Seq", "Text", "read_domain", "read_table"]
