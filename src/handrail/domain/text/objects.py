"""The `types:` and `objects:` parts: hierarchy, attributes, objects and their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.domain.domain import OBJECT, Domain
from handrail.domain.text.document import Map, plain, where_of
from handrail.domain.text.fields import Fields, Problems
from handrail.domain.text.tokens import RESERVED, is_name
from handrail.domain.types import Attribute, Kind, Obj, Type
from handrail.domain.values import Value
from handrail.errors import DomainError, Where, did_you_mean


def check_name(name: str, what: str, where: Where) -> None:
    """Raise DomainError unless a text can be a name."""
    if name in RESERVED:
        raise DomainError(f"'{name}' is a word of the language and can't be the name of {what}", where)
    if not is_name(name):
        said = "is written with letters, digits and '_' and begins with a letter"
        raise DomainError(f"'{name}' can't be the name of {what}: a name {said}", where)


def read_types(section: Map, problems: Problems) -> dict[str, Type]:
    """`types:`: `place:`, `container: {is: place}`, `item: {attributes: {sharp: bool, material: [glass, metal]}}`."""
    out: dict[str, Type] = {}
    first: dict[str, Attribute] = {}
    for name, body in section.items():
        where = section.key_at[name]
        with problems.catch():
            check_name(name, "a type", where)
            if name == OBJECT:
                raise DomainError("'object' is there already: it stands above every type", where)
            fields = Fields(body, f"type '{name}'", where, problems)
            fields.only("is", "attributes")
            parent = fields.text("is") or None
            if parent is not None and parent not in section and parent != OBJECT:
                raise fields.error("is", f"there is no type '{parent}'.{did_you_mean(parent, set(section))}")
            attributes = []
            inner = fields.map("attributes")
            for a, values in inner.items():
                made = _attribute(a, values, name, inner)
                other = first.setdefault(a, made)
                if (other.kind, other.symbols) != (made.kind, made.symbols):
                    said = f"the attribute '{a}' has other values in type '{other.owner}'; choose another name or the same values"
                    raise DomainError(said, inner.key_at[a])
                attributes.append(made)
            out[name] = Type(name, None if parent == OBJECT else parent, tuple(attributes))
    circles: set[str] = set()
    for name in out:
        chain = [name]
        while (parent := (out[chain[-1]].parent if chain[-1] in out else None)) is not None:
            if parent in circles:
                break
            if parent in chain:
                circles.update(chain)
                said = f"type '{name}' is its own ancestor: {' is '.join([*chain, parent])}"
                problems.add(DomainError(said, section.key_at[name]))
                break
            chain.append(parent)
    return out


def _attribute(name: str, values: Any, owner: str, inner: Map) -> Attribute:
    check_name(name, "an attribute", inner.key_at[name])
    if values == "bool":
        return Attribute(name, owner)
    if isinstance(values, list) and values and all(isinstance(v, str) for v in values):
        for v in values:
            check_name(v, "a value", where_of(v, inner.value_at[name]))
        if len(set(values)) < len(values):
            raise DomainError(f"the attribute '{name}' lists a value twice", inner.value_at[name])
        return Attribute(name, owner, Kind.SYMBOL, tuple(str(v) for v in values))
    raise DomainError(
        f"the attribute '{name}' is `bool` or a list of words, such as [glass, metal], not {plain(values)!r}",
        inner.value_at[name],
    )


def read_objects(section: Map, domain: Domain, problems: Problems) -> dict[str, Obj]:
    """`objects:`: `table: place`, or `mug: {is: vessel, material: ceramic, words: [cup]}`.

    `words` are what people call it; they are data and never change what a plan may do.
    """
    out: dict[str, Obj] = {}
    for name, body in section.items():
        where = section.key_at[name]
        with problems.catch():
            check_name(name, "an object", where)
            if isinstance(body, str):
                out[name] = Obj(name, _type(str(body), name, domain, section.value_at[name]))
                continue
            fields = Fields(body, f"object '{name}'", where, problems)
            kind = _type(str(fields.text("is", required=True)), name, domain, fields.at("is"))
            valid = domain.attributes_of(kind)
            fields.only("is", "words", *valid)
            values = {a: _value(a, fields, valid) for a in valid if a in fields.data}
            words = tuple(str(w) for w, _ in fields.strings("words"))
            out[name] = Obj(name, kind, values, words)
    return out


def _type(kind: str, name: str, domain: Domain, where: Where) -> str:
    if kind not in domain.types:
        raise DomainError(f"object '{name}': there is no type '{kind}'.{did_you_mean(kind, set(domain.types))}", where)
    return kind


def _value(name: str, fields: Fields, valid: Mapping[str, Attribute]) -> Value:
    value = fields.data[name]
    a = valid[name]
    if a.kind is Kind.BOOL:
        return fields.truth(name, False)
    if value == "none":
        return None
    return fields.choice(name, "", *a.symbols)
