"""PDDL conditions and effects to lifted records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handrail.domain import formula as f
from handrail.domain.pddl.sexp import Group, Item, Text, Word
from handrail.domain.pddl.typed import parameters
from handrail.domain.types import Fluent, Parameter, Type
from handrail.errors import did_you_mean

CONNECTIVES = frozenset({"and", "or", "not", "imply", "exists", "forall", "="})
"""Words that can't be predicates, because a condition could not be read then."""

TOTAL_COST = "total-cost"


@dataclass
class Names:
    """What a condition may speak of.

    Attributes:
        text: for errors.
        types: declared types.
        predicates: declared predicates.
        functions: declared numeric functions.
        objects: name to type of constants and, in a problem, objects.
    """

    text: Text
    types: dict[str, Type]
    predicates: Mapping[str, Fluent]
    functions: Mapping[str, tuple[Parameter, ...]]
    objects: Mapping[str, str]
    above: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.types:
            chain = [name]
            while (parent := self.types[chain[-1]].parent) is not None:
                chain.append(parent)
            self.above[name] = frozenset(chain)

    def fits(self, types: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
        """Whether something of one of `types` can be of one of the wanted types, or the other way round."""
        if "object" in wanted:
            return True
        return any(w in self.above[t] or t in self.above[w] for t in types for w in wanted)

    def is_a(self, kind: str, wanted: tuple[str, ...]) -> bool:
        """Whether an object of a type is surely of one of the wanted types."""
        return "object" in wanted or any(w in self.above[kind] for w in wanted)


Scope = Mapping[str, tuple[str, ...]]
"""Variables in reach, without `?`, to their types."""


def condition(item: Item, names: Names, scope: Scope) -> f.Condition:
    """A condition.

    Raises:
        ParseError: an undeclared name, a wrong number or type of arguments, or something that is no condition.
    """
    text = names.text
    if isinstance(item, Word):
        text.fail(item, f"expected a condition in parentheses, found '{item}'")
    if not item:
        return f.TRUE
    head = item.head
    if head in ("and", "or"):
        parts = tuple(condition(p, names, scope) for p in item[1:])
        return f.And(parts) if head == "and" else f.Or(parts)
    if head == "not":
        return f.Not(condition(_one(item, names), names, scope))
    if head == "imply":
        if len(item) != 3:
            text.fail(item, f"'imply' takes two conditions, found {len(item) - 1}")
        return f.Or((f.Not(condition(item[1], names, scope)), condition(item[2], names, scope)))
    if head in ("exists", "forall"):
        params, inner, body = _quantified(item, names, scope)
        made = condition(body, names, inner)
        for p in reversed(params):
            kind = " | ".join(p.types)
            made = f.Some(p.name, kind, made) if head == "exists" else f.All(p.name, kind, made)
        return made
    if head == "=":
        if len(item) != 3:
            text.fail(item, f"'=' takes two terms, found {len(item) - 1}")
        return f.Test(_term(item[1], names, scope), "==", _term(item[2], names, scope))
    return f.Test(_atom(item, names, scope), "==", f.Const(True))


def effects(item: Item, names: Names, scope: Scope) -> tuple[tuple[f.Effect, ...], list[tuple[float, f.Call | None]]]:
    """Effects, and what they add to the total cost as pairs of a factor and a function (None for a plain number).

    Raises:
        ParseError: as `condition`; and an atom that is both made true and made false, always.
    """
    out: list[f.Effect] = []
    costs: list[tuple[float, f.Call | None]] = []
    sign: dict[tuple[str, ...], bool] = {}

    def visit(e: Item, inner: Scope, wrap: tuple[f.Each | f.When, ...]) -> None:
        text = names.text
        if isinstance(e, Word):
            text.fail(e, f"expected an effect in parentheses, found '{e}'")
        head = e.head
        if not e:
            return
        if head == "and":
            for p in e[1:]:
                visit(p, inner, wrap)
        elif head == "forall":
            params, more, body = _quantified(e, names, inner)
            each = tuple(f.Each(p.name, " | ".join(p.types), _NOTHING) for p in params)
            visit(body, more, (*wrap, *each))
        elif head == "when" and len(e) == 3 and isinstance(e[1], Group) and isinstance(e[2], Group):
            visit(e[2], inner, (*wrap, f.When(condition(e[1], names, inner), _NOTHING)))
        elif head == "increase" and head not in names.predicates:
            if wrap:
                text.fail(e, "the total cost can't be increased under a condition or for each of several objects")
            costs.extend(_cost(e, names, inner))
        elif head in ("decrease", "assign", "scale-up", "scale-down") and head not in names.predicates:
            text.fail(
                e, f"'{head}' is not read: numeric fluents other than '(increase (total-cost) ...)' are not part of it"
            )
        elif head in ("or", "imply", "exists", "=") or (head == "when" and head not in names.predicates):
            text.fail(e, f"'{head}' can't stand here in an effect")
        else:
            value = head != "not"
            atom = _atom(e if value else _one(e, names), names, inner)
            if not wrap:
                key = (atom.name, *(f"?{a}" if isinstance(a, f.Param) else str(a) for a in atom.args))
                if sign.setdefault(key, value) != value:
                    text.fail(e, f"contradicting effects: {atom} is made true and made false by the same action")
            made: f.Effect = f.Assign(atom, f.Const(value))
            for w in reversed(wrap):
                made = f.Each(w.var, w.type, made) if isinstance(w, f.Each) else f.When(w.condition, made)
            out.append(made)

    visit(item, scope, ())
    return tuple(out), costs


_NOTHING = f.Assign(f.Call("nothing"), f.Const(True))


def _one(item: Group, names: Names) -> Group:
    if len(item) != 2 or not isinstance(item[1], Group):
        names.text.fail(item, f"'{item.head}' takes one part in parentheses, found {len(item) - 1}")
    return item[1]


def _quantified(item: Group, names: Names, scope: Scope) -> tuple[tuple[Parameter, ...], Scope, Item]:
    if len(item) != 3 or not isinstance(item[1], Group):
        names.text.fail(item, f"'{item.head}' takes variables in parentheses and one part")
    params = parameters(names.text, item[1], names.types, f"'{item.head}'")
    return params, {**scope, **{p.name: p.types for p in params}}, item[2]


def _term(item: Item, names: Names, scope: Scope) -> f.Param | f.Const:
    text = names.text
    if isinstance(item, Group):
        text.fail(item, "expected a variable or an object, found a '('; numeric comparisons are not read")
    if item.startswith("?"):
        if item[1:] not in scope:
            known = {"?" + s for s in scope}
            text.fail(item, f"the variable '{item}' is not declared.{did_you_mean(item, known)}")
        return f.Param(str(item[1:]))
    if item not in names.objects:
        text.fail(item, f"there is no object or constant '{item}'.{did_you_mean(item, set(names.objects))}")
    return f.Const(str(item))


def _atom(item: Group, names: Names, scope: Scope) -> f.Call:
    text = names.text
    head = item.head
    found = names.predicates.get(head)
    if found is None:
        if not head:
            text.fail(item, "expected the name of a predicate after '('")
        what = "a function, not a predicate" if head in names.functions else "not declared"
        text.fail(item[0], f"the predicate '{head}' is {what}.{did_you_mean(head, set(names.predicates))}")
    return f.Call(str(head), arguments(item, found.params, names, scope))


def arguments(
    item: Group, params: tuple[Parameter, ...], names: Names, scope: Scope, typed: bool = True
) -> tuple[f.Term, ...]:
    """The arguments of an atom, checked for number and, where `typed`, for type.

    Raises:
        ParseError: too many or too few, an undeclared name, or a type that can't fit.
    """
    text = names.text
    if len(item) - 1 != len(params):
        shown = " ".join(f"?{p.name}" for p in params)
        text.fail(
            item, f"'{item.head}' has {len(item) - 1} arguments; it is declared as ({f'{item.head} {shown}'.strip()})"
        )
    out: list[f.Term] = []
    for given, p in zip(item[1:], params, strict=True):
        term = _term(given, names, scope)
        if not typed:
            pass
        elif isinstance(term, f.Param):
            if not names.fits(scope[term.name], p.types):
                kinds = " or ".join(scope[term.name])
                text.fail(given, f"'{given}' is a {kinds}, but '{item.head}' takes a {' or '.join(p.types)} here")
        else:
            kind = names.objects[str(term.value)]
            if not names.is_a(kind, p.types):
                text.fail(given, f"'{given}' is a {kind}, but '{item.head}' takes a {' or '.join(p.types)} here")
        out.append(term)
    return tuple(out)


def _cost(item: Group, names: Names, scope: Scope) -> list[tuple[float, f.Call | None]]:
    text = names.text
    if len(item) != 3 or not isinstance(item[1], Group) or item[1].head != TOTAL_COST or len(item[1]) != 1:
        text.fail(item, f"only '({TOTAL_COST})' can be increased; other numeric fluents are not read")
    return _sum(item[2], names, scope)


def _sum(item: Item, names: Names, scope: Scope) -> list[tuple[float, f.Call | None]]:
    text = names.text
    if isinstance(item, Word):
        return [(number(text, item), None)]
    head = item.head
    if head == "+" and len(item) > 1:
        return [t for part in item[1:] for t in _sum(part, names, scope)]
    if head == "*" and len(item) == 3:
        left, right = _sum(item[1], names, scope), _sum(item[2], names, scope)
        for a, b in ((left, right), (right, left)):
            if len(a) == 1 and a[0][1] is None:
                return [(a[0][0] * k, call) for k, call in b]
        text.fail(item, "a product of two functions can't be a cost; one factor must be a number")
    if head not in names.functions or head == TOTAL_COST:
        text.fail(
            item, f"'{head}' is not a declared function.{did_you_mean(head, set(names.functions) - {TOTAL_COST})}"
        )
    return [(1.0, f.Call(str(head), arguments(item, names.functions[head], names, scope)))]


def number(text: Text, word: Item) -> float:
    """A finite number that is not negative.

    Raises:
        ParseError: it is none.
    """
    try:
        value = float(word)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        value = float("nan")
    if not 0 <= value < float("inf"):
        text.fail(word, f"expected a number of at least 0, found '{word if isinstance(word, Word) else '('}'")
    return value
