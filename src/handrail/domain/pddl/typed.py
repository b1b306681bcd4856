"""Typed lists `a b - t c - (either u v)`, and the tree of types."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.domain.pddl.sexp import Group, Item, Text, Word
from handrail.domain.types import Parameter, Type
from handrail.errors import did_you_mean

OBJECT = "object"


def typed_list(text: Text, items: Iterable[Item]) -> list[tuple[Word, tuple[Word, ...]]]:
    """Names with their types; no type stands for `object` and gives an empty tuple.

    Raises:
        ParseError: a dash without a type, or something that is no name.
    """
    out: list[tuple[Word, tuple[Word, ...]]] = []
    waiting: list[Word] = []
    dash: Word | None = None
    for item in items:
        if dash is not None:
            types = _types(text, item)
            if not waiting:
                text.fail(dash, "this '-' gives a type to no name")
            out.extend((name, types) for name in waiting)
            waiting, dash = [], None
        elif isinstance(item, Group):
            text.fail(item, "expected a name, found a '('")
        elif item == "-":
            dash = item
        else:
            waiting.append(item)
    if dash is not None:
        text.fail(dash, "a type must follow this '-'")
    out.extend((name, ()) for name in waiting)
    return out


def _types(text: Text, item: Item) -> tuple[Word, ...]:
    if isinstance(item, Word):
        if item.startswith("?"):
            text.fail(item, f"expected a type after '-', found the variable '{item}'")
        return (item,)
    if item.head != "either" or len(item) < 2 or not all(isinstance(i, Word) for i in item):
        text.fail(item, "expected a type or '(either TYPE ...)'")
    return tuple(dict.fromkeys(i for i in item[1:] if isinstance(i, Word)))


def read_types(text: Text, items: Iterable[Item]) -> dict[str, Type]:
    """The types, `object` among them.

    A name that is listed twice keeps the narrower of its parents, because published domains write
    `area - object ... area - surface`.

    Raises:
        ParseError: two parents that are not above one another, `either` as a parent, or a circle.
    """
    parents: dict[str, dict[str, Word]] = {}
    for name, types in typed_list(text, items):
        if len(types) > 1:
            text.fail(types[0], f"type '{name}' has several parents; a type has one")
        found = parents.setdefault(str(name), {})
        if types and types[0] != name:
            found[str(types[0])] = types[0]
    for found in list(parents.values()):
        for parent in found:
            parents.setdefault(parent, {})  # a parent that is listed nowhere itself is a root
    made: dict[str, Type] = {OBJECT: Type(OBJECT)}

    def above(name: str, seen: tuple[str, ...]) -> set[str]:
        if name in seen:
            word = next(iter(parents[name].values()))
            text.fail(word, f"type '{name}' is its own ancestor: {' - '.join((*seen, name))}")
        out: set[str] = set()
        for p in parents.get(name, {}):
            out |= {p} | above(p, (*seen, name))
        return out

    for child, found in parents.items():
        if child == OBJECT:
            continue
        narrow = [p for p in found if p != OBJECT and not any(p in above(q, (child,)) for q in found if q != p)]
        above(child, ())
        if len(narrow) > 1:
            text.fail(found[narrow[1]], f"type '{child}' is a '{narrow[0]}' and a '{narrow[1]}'; a type has one parent")
        made[child] = Type(child, narrow[0] if narrow else OBJECT)
    return made


def parameters(text: Text, items: Iterable[Item], types: dict[str, Type], of: str) -> tuple[Parameter, ...]:
    """Typed variables, without their `?`.

    Raises:
        ParseError: a name without `?`, a name twice, or a type that is not declared.
    """
    out: list[Parameter] = []
    seen: set[str] = set()
    for name, wanted in typed_list(text, items):
        if not name.startswith("?") or len(name) == 1:
            text.fail(name, f"expected a variable such as '?x' in {of}, found '{name}'")
        if name in seen:
            text.fail(name, f"{of} has the parameter '{name}' twice; give each its own name")
        seen.add(name)
        out.append(Parameter(str(name[1:]), known_types(text, wanted, types)))
    return tuple(out)


def known_types(text: Text, wanted: tuple[Word, ...], types: dict[str, Type]) -> tuple[str, ...]:
    """Types by name; none given stands for `object`.

    Raises:
        ParseError: a type that is not declared.
    """
    for t in wanted:
        if t not in types:
            text.fail(t, f"the type '{t}' is not declared.{did_you_mean(t, set(types))}")
    return tuple(str(t) for t in wanted) or (OBJECT,)
