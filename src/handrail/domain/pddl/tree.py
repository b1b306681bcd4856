"""Small trees of PDDL conditions, simplified while they are built, and their text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

NONE: Final = "\0none"
"""Stands for `none` where a PDDL term is asked for; it never reaches a text."""

Vars: TypeAlias = tuple[tuple[str, str], ...]
"""Variables with the text of their type."""


@dataclass(frozen=True, slots=True)
class Lit:
    """An atom, or its negation."""

    words: tuple[str, ...]
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Same:
    """Equality of two terms, or its negation."""

    left: str
    right: str
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Group_:  # noqa: N801 - `Group` is the reader's
    """`and` or `or`."""

    word: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """`exists` or `forall`."""

    word: str
    vars: Vars
    body: Tree


Tree: TypeAlias = "Lit | Same | Group_ | Bound"
TRUE: Final = Group_("and", ())
FALSE: Final = Group_("or", ())


def both(parts: Iterable[Tree]) -> Tree:
    """Conjunction, flattened."""
    return _join("and", parts, TRUE, FALSE)


def either(parts: Iterable[Tree]) -> Tree:
    """Disjunction, flattened."""
    return _join("or", parts, FALSE, TRUE)


def _join(word: str, parts: Iterable[Tree], unit: Tree, zero: Tree) -> Tree:
    flat: dict[Tree, None] = {}
    for p in parts:
        if p == zero:
            return zero
        if isinstance(p, Group_) and p.word == word:
            flat.update(dict.fromkeys(p.parts))
        elif p != unit:
            flat[p] = None
    return next(iter(flat)) if len(flat) == 1 else Group_(word, tuple(flat))


def bound(word: str, variables: Vars, body: Tree) -> Tree:
    """A quantified condition; a variable that is equal to a term everywhere in an `exists` is put in its place."""
    if not variables or body in (TRUE, FALSE):
        return body
    if word == "exists":
        parts = body.parts if isinstance(body, Group_) and body.word == "and" else (body,)
        for v, kind in variables:
            for p in parts:
                if isinstance(p, Same) and p.positive and v in (p.left, p.right):
                    other = p.right if p.left == v else p.left
                    rest = both(swap(q, v, other) for q in parts if q is not p)
                    return bound(word, tuple(x for x in variables if x != (v, kind)), rest)
    return Bound(word, variables, body)


def same(left: str, right: str, constants: frozenset[str] | set[str]) -> Tree:
    """Equality, decided where both are constants or the same term."""
    if left == right:
        return TRUE
    if left in constants and right in constants:
        return FALSE
    return Same(left, right)


def inverse(t: Tree) -> Tree:
    """The negation, pushed inwards."""
    if isinstance(t, Lit):
        return Lit(t.words, not t.positive)
    if isinstance(t, Same):
        return Same(t.left, t.right, not t.positive)
    if isinstance(t, Group_):
        return (either if t.word == "and" else both)(inverse(p) for p in t.parts)
    return Bound("forall" if t.word == "exists" else "exists", t.vars, inverse(t.body))


def swap(t: Tree, old: str, new: str) -> Tree:
    """The tree with a term in place of a variable."""
    if isinstance(t, Lit):
        return Lit(tuple(new if w == old else w for w in t.words), t.positive)
    if isinstance(t, Same):
        left, right = (new if w == old else w for w in (t.left, t.right))
        if left == right:
            return TRUE if t.positive else FALSE
        return Same(left, right, t.positive)
    if isinstance(t, Group_):
        return (both if t.word == "and" else either)(swap(p, old, new) for p in t.parts)
    return bound(t.word, t.vars, swap(t.body, old, new))


def text(t: Tree) -> str:
    """PDDL text."""
    if isinstance(t, Lit):
        atom = f"({' '.join(t.words)})"
        return atom if t.positive else f"(not {atom})"
    if isinstance(t, Same):
        return f"(= {t.left} {t.right})" if t.positive else f"(not (= {t.left} {t.right}))"
    if isinstance(t, Group_):
        return f"({' '.join([t.word, *map(text, t.parts)])})"
    return f"({t.word} ({typed(t.vars)}) {text(t.body)})"


def typed(variables: Vars) -> str:
    """`?a - t ?b - u`."""
    return " ".join(f"{v} - {kind}" for v, kind in variables)
