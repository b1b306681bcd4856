"""Declarations of fluents, derived fluents and numbers, and typed parameters.

    fluent : NAME(a: T, ...): bool | T | T? | 0..9
    derived: NAME(a: T, ...): cond
    number : NAME(a: T, ...)

`T` is a type or several, such as `place | person`.
"""

from __future__ import annotations

from handrail.domain.domain import Derived, Number
from handrail.domain.formula import Condition
from handrail.domain.text.parser import Parser
from handrail.domain.text.scope import Scope
from handrail.domain.text.source import Source
from handrail.domain.text.tokens import TokenKind
from handrail.domain.types import Fluent, Kind, Parameter

HIGHEST_COUNT = 100
"""A count may span this many values: they become objects in PDDL."""


def parse_fluent(source: Source, scope: Scope) -> Fluent:
    """`NAME(a: T, ...): bool | T | T? | 0..9`.

    Raises:
        DomainError: with place and what would be valid.
    """
    p = Parser(source, scope)
    name = p.name("the name of a fluent").text
    params = parse_params(p, name)
    p.expect(":", "and the fluent's values, such as ': bool'")
    if p.token.kind is TokenKind.INT:
        low = int(p.take().text)
        p.expect("..", "and the highest count, such as '0..9'")
        if p.token.kind is not TokenKind.INT:
            p.fail(f"expected the highest count after '{low}..', found {p.token}.")
        at = p.token.at
        high = int(p.take().text)
        if not low < high <= low + HIGHEST_COUNT:
            p.fail(f"a count goes from a smaller to a larger number, at most {HIGHEST_COUNT} above it.", at)
        p.end("the fluent")
        return Fluent(name, params, Kind.COUNT, low=low, high=high)
    if p.accept("bool"):
        if p.sees("?"):
            p.fail("a bool can't be none; where nobody knows it, it is unknown by itself.")
        p.end("the fluent")
        return Fluent(name, params)
    if p.token.kind is not TokenKind.NAME:
        p.fail(f"expected 'bool', a type such as 'place' or 'place?', or a range such as '0..9', found {p.token}.")
    types = p.type_names("bool")
    optional = p.accept("?")
    p.end("the fluent")
    return Fluent(name, params, Kind.OBJECT, types, optional)


def parse_number(source: Source, scope: Scope) -> Number:
    """`NAME(a: T, ...)`: a static table of numbers."""
    p = Parser(source, scope)
    name = p.name("the name of a number").text
    made = Number(name, parse_params(p, name))
    p.end("the number")
    return made


def parse_derived_head(source: Source, scope: Scope) -> tuple[str, tuple[Parameter, ...]]:
    """Name and parameters of a derived fluent, its condition left unread."""
    p = Parser(source, scope)
    name = p.name("the name of a derived fluent").text
    params = parse_params(p, name)
    p.expect(":", "and a condition")
    return name, params


def parse_derived(source: Source, scope: Scope) -> Derived:
    """`NAME(a: T, ...): cond`; `scope` knows the heads of all derived fluents."""
    p = Parser(source, scope)
    name = p.name("the name of a derived fluent").text
    params = parse_params(p, name)
    p.expect(":", "and a condition")
    p.scope = scope.with_params(*params, owner=f"'{name}'")
    condition: Condition = p.condition()
    p.end("the condition")
    return Derived(name, params, condition)


def parse_params(p: Parser, owner: str) -> tuple[Parameter, ...]:
    """`(a: T, b: T | U)`."""
    p.expect("(", f"after '{owner}'; with no parameters write '{owner}()'")
    out: list[Parameter] = []
    if p.accept(")"):
        return ()
    while True:
        at = p.token.at
        name = p.name("the name of a parameter").text
        problem = param_problem(name, p.scope, out)
        if problem:
            p.fail(problem, at)
        p.expect(":", f"and a type after '{name}'")
        out.append(Parameter(name, p.type_names()))
        if not p.accept(","):
            break
    p.expect(")", f"or ',' in the parameters of '{owner}'")
    return tuple(out)


def param_problem(name: str, scope: Scope, before: list[Parameter]) -> str:
    """Why a parameter can't have this name, or ""."""
    if any(q.name == name for q in before):
        return f"the parameter '{name}' is there twice."
    if name in scope.objects:
        return f"'{name}' is an object; choose another name for the parameter."
    kind = "derived fluent" if name in scope.derived else scope.domain.kind_of_name(name)
    if kind and kind != "type":
        return f"'{name}' is a {kind}; choose another name for the parameter."
    return ""


def check_acyclic(derived: dict[str, Derived]) -> list[str] | None:
    """A cycle among derived fluents as a list of names (the first again at the end), or None."""
    from handrail.domain.text.walk import calls_in

    uses = {n: sorted({c.name for c in calls_in(d.condition)} & set(derived)) for n, d in derived.items()}
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str] | None:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        for other in uses[name]:
            found = visit(other, [*path, name])
            if found:
                return found
        done.add(name)
        return None

    for name in uses:
        found = visit(name, [])
        if found:
            return found
    return None
