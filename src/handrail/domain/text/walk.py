"""Walking through conditions and effects."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.domain.formula import (
    All,
    And,
    Assign,
    Call,
    Change,
    Condition,
    Const,
    Each,
    Effect,
    Not,
    Or,
    Param,
    Some,
    Term,
    When,
)


def terms_in(part: Condition | Effect | Term) -> Iterator[Term]:
    """Every term in a condition, effect or term, outermost first."""
    if isinstance(part, (Param, Const)):
        yield part
    elif isinstance(part, Call):
        yield part
        for a in part.args:
            yield from terms_in(a)
    elif isinstance(part, (And, Or)):
        for p in part.parts:
            yield from terms_in(p)
    elif isinstance(part, Not):
        yield from terms_in(part.part)
    elif isinstance(part, (Some, All)):
        yield from terms_in(part.body)
    elif isinstance(part, Assign):
        yield from terms_in(part.target)
        yield from terms_in(part.value)
    elif isinstance(part, Change):
        yield from terms_in(part.target)
    elif isinstance(part, When):
        yield from terms_in(part.condition)
        yield from terms_in(part.effect)
    elif isinstance(part, Each):
        yield from terms_in(part.effect)
    else:
        yield from terms_in(part.left)
        yield from terms_in(part.right)


def calls_in(part: Condition | Effect | Term) -> Iterator[Call]:
    """Every call."""
    return (t for t in terms_in(part) if isinstance(t, Call))


def params_in(part: Condition | Effect | Term) -> set[str]:
    """Names of the parameters and variables that are used."""
    return {t.name for t in terms_in(part) if isinstance(t, Param)}


def assignments(effect: Effect) -> Iterator[Assign | Change]:
    """The assignments at the leaves of an effect."""
    while isinstance(effect, (When, Each)):
        effect = effect.effect
    yield effect


def targets(effect: Effect) -> Iterator[Call]:
    """What an effect may change."""
    return (a.target for a in assignments(effect))


def has_condition(effect: Effect) -> bool:
    """Whether an effect depends on the state or on a quantifier."""
    return isinstance(effect, (When, Each))
