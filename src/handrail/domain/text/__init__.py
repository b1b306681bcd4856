"""The domain language: strings to records and back (`str()` of a record is its text)."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.domain.domain import Domain
from handrail.domain.formula import TRUE, Condition, Effect
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.rules import Rule
from handrail.domain.text.parser import Parser
from handrail.domain.text.scope import Scope
from handrail.domain.text.source import Source
from handrail.domain.text.statements import StatementParser
from handrail.domain.types import Objects, Parameter
from handrail.domain.values import Atom, Value
from handrail.errors import Where


def parse_condition(
    text: str,
    domain: Domain,
    params: tuple[Parameter, ...] = (),
    objects: Objects | None = None,
    *,
    label: str = "",
    where: Where | None = None,
) -> Condition:
    """A condition, such as `on(mug) == table and not open(fridge)`.

    Args:
        text: the condition.
        domain: its vocabulary.
        params: parameters that may be named.
        objects: objects of a scene that may be named; the domain's own constants always may.
        label: begins every error, such as "goal".
        where: a place for errors, for a text that does not know its own.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = Parser(Source(text, label, where), Scope.of(domain, params, objects))
    made = p.condition()
    p.end("the condition")
    return made


def parse_effect(
    text: str, domain: Domain, params: tuple[Parameter, ...] = (), objects: Objects | None = None
) -> Effect:
    """An effect, such as `on(thing) := none`.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = StatementParser(Source(text), Scope.of(domain, params, objects))
    made = p.effect()
    p.end("the effect")
    return made


def parse_rule(text: str, domain: Domain, objects: Objects | None = None) -> Rule:
    """A rule over whole plans, such as `after open(tap) within 2 steps not open(tap)`.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = StatementParser(Source(text, "rule"), Scope.of(domain, (), objects))
    made = p.rule()
    p.end("the rule")
    return made


def parse_fact(text: str, objects: Objects, *, label: str = "", where: Where | None = None) -> tuple[Atom, Value]:
    """A fact, such as `open(fridge)`, `not open(fridge)`, `on(mug) := table` or `on(mug) := unknown`.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = StatementParser(Source(text, label, where), Scope.of(objects.domain, (), objects))
    made = p.fact()
    p.end("the fact")
    return made


def parse_goal(
    text: str,
    domain: Domain,
    objects: Objects,
    *,
    source: GoalSource = GoalSource.FILE,
    said: str = "",
    where: Where | None = None,
) -> Goal:
    """A goal: a condition, or parts separated by `;`, each a final condition, `first` a subgoal, or `keep` a condition.

    `first open(fridge); on(milk) == fridge; keep not open(drawer)` means: at some moment the fridge is open, at the end the milk is
    in it, and the drawer is never opened. With `strictly first a; strictly first b` b may not come about before a was reached.
    `str()` of a goal gives such a text.

    Args:
        text: the goal.
        domain: its vocabulary.
        objects: the scene's objects.
        source: who decided it.
        said: the goal in a person's words; the text itself where it is empty.
        where: a place for errors, for a text that does not know its own.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = Parser(Source(text, "goal", where), Scope.of(domain, (), objects))
    final: list[Condition] = []
    first: list[Condition] = []
    keep: list[Condition] = []
    strict: set[bool] = set()
    while True:
        at = p.token.at
        strictly = p.accept("strictly")
        if strictly or p.sees("first"):
            p.expect("first", "after 'strictly'")
            strict.add(strictly)
            part = first
        else:
            part = keep if p.accept("keep") else final
        part.append(p.condition())
        if len(strict) > 1:
            p.fail("either all subgoals are `strictly first` or none is.", at)
        if not p.accept(";"):
            break
    p.end("the goal")
    return Goal(_both(final), tuple(first), tuple(keep), source, said or " ".join(text.split()), True in strict)


def _both(parts: Iterable[Condition]) -> Condition:
    from handrail.domain.formula import And

    made = tuple(parts)
    return made[0] if len(made) == 1 else And(made) if made else TRUE


__all__ = ["parse_condition", "parse_effect", "parse_fact", "parse_goal", "parse_rule"]
