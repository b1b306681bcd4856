"""The `skills:` part."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from handrail.domain.domain import OBJECT
from handrail.domain.formula import FALSE, TRUE, Assign, Call, Condition, Const, Effect, Term
from handrail.domain.skill import Cost, OnStop, Skill
from handrail.domain.text.declarations import param_problem
from handrail.domain.text.document import plain
from handrail.domain.text.fields import Fields, Problems
from handrail.domain.text.objects import check_name
from handrail.domain.text.parser import Parser
from handrail.domain.text.quantity import read_quantity
from handrail.domain.text.scope import Scope
from handrail.domain.text.source import Source
from handrail.domain.text.statements import StatementParser
from handrail.domain.types import Parameter
from handrail.errors import DomainError, Where, did_you_mean

KEYS = (
    "says",
    "with",
    "needs",
    "makes",
    "cost",
    "approval",
    "approval_because",
    "on_stop",
    "repeatable",
    "asks",
    "speed",
    "force",
    "duration",
    "adding_wins",
)
_SLOT = re.compile(r"\{([^{}]*)\}")


def read_skill(name: str, body: Any, where: Where, scope: Scope, problems: Problems) -> Skill:
    """One skill; mistakes in its strings are collected, those in its frame raised."""
    check_name(name, "a skill", where)
    hints = {
        "preconditions": "preconditions are `needs`",
        "effects": "effects are `makes`",
        "params": "parameters are `with`",
        "parameters": "parameters are `with`",
        "description": "the words for people are `says`",
    }
    fields = Fields(body, f"skill '{name}'", where, problems, hints)
    fields.only(*KEYS)
    params = _params(fields, scope, problems)
    inner = scope.with_params(*params, owner=f"'{name}'")
    says = fields.text("says")
    slots = {p.name for p in params}
    for slot in _SLOT.findall(says):
        if slot not in slots:
            problems.add(
                fields.error(
                    "says", f"'says' has the slot {{{slot}}}, which is no parameter.{did_you_mean(slot, slots)}"
                )
            )
    needs = [c for text, at in fields.strings("needs") if (c := _parse(text, at, name, "needs", inner, problems))]
    makes = [
        (e, Source(text, f"skill '{name}' makes", at))
        for text, at in fields.strings("makes")
        if (e := _parse_effect(text, at, name, inner, problems))
    ]
    if not fields.truth("adding_wins", False):
        _no_contradiction(makes, problems)
    return Skill(
        name,
        params,
        str(says),
        tuple(needs),
        tuple(e for e, _ in makes),
        _cost(fields, inner),
        _approval(fields, name, inner, problems),
        OnStop(fields.choice("on_stop", "hold", *OnStop)),
        fields.truth("repeatable", True),
        fields.truth("asks", False),
        _quantity(fields, "speed"),
        _quantity(fields, "force"),
        _quantity(fields, "duration"),
        fields.text("approval_because", ""),
        fields.truth("adding_wins", False),
    )


def _params(fields: Fields, scope: Scope, problems: Problems) -> tuple[Parameter, ...]:
    out: list[Parameter] = []
    section = fields.map("with")
    for name in section:
        with problems.catch():
            where = section.key_at[name]
            check_name(name, "a parameter", where)
            problem = param_problem(name, scope, out)
            if problem:
                raise DomainError(f"{fields.label}: {problem}", where)
            types = section[name]
            out.append(Parameter(name, (OBJECT,)))  # replaced below; keeps a wrong type from causing more mistakes
            if not isinstance(types, str):
                raise DomainError(f"{fields.label}: the parameter '{name}' needs a type", section.value_at[name])
            p = Parser(Source(types, f"{fields.label} with {name}", section.value_at[name]), scope)
            out[-1] = Parameter(name, p.type_names())
            p.end("the type")
    return tuple(out)


def _parse(text: str, at: Where, skill: str, key: str, scope: Scope, problems: Problems) -> Condition | None:
    with problems.catch():
        p = Parser(Source(text, f"skill '{skill}' {key}", at), scope)
        made = p.condition()
        p.end("the condition")
        return made
    return None


def _parse_effect(text: str, at: Where, skill: str, scope: Scope, problems: Problems) -> Effect | None:
    with problems.catch():
        p = StatementParser(Source(text, f"skill '{skill}' makes", at), scope)
        made = p.effect()
        p.end("the effect")
        return made
    return None


def _no_contradiction(effects: list[tuple[Effect, Source]], problems: Problems) -> None:
    """Two unconditional constants for one target contradict whatever the state; the rest is guarded when ground."""
    given: dict[Call, Assign] = {}
    for e, source in effects:
        if isinstance(e, Assign) and isinstance(e.value, Const):
            other = given.setdefault(e.target, e)
            if other.value != e.value:
                problems.add(source.error(0, f"'{other}' says otherwise; one step gives one target one value."))


def _cost(fields: Fields, scope: Scope) -> Cost:
    raw = fields.data.get("cost", 1)
    if not isinstance(raw, Mapping):
        return Cost({"": _amount(raw, "cost", fields)})
    inner = Fields(raw, f"{fields.label} cost", fields.at("cost"), fields.problems)
    base = {
        ("" if key == "default" else key): _amount(value, key, inner) for key, value in raw.items() if key != "plus"
    }
    if "" not in base:
        base[""] = next(iter(base.values()), 0.0)
    terms = []
    one = isinstance(raw.get("plus"), Mapping)
    for item, where in [(raw["plus"], inner.at("plus"))] if one else inner.list("plus"):
        plus = Fields(item, f"{fields.label} cost plus", where, fields.problems)
        plus.only("per", "factor")
        text = plus.text("per", required=True)
        terms.append(
            (_amount(plus.data.get("factor", 1), "factor", plus), _number_call(text, plus.at("per"), scope, plus))
        )
    return Cost(base, tuple(terms))


def _number_call(text: str, where: Where, scope: Scope, plus: Fields) -> Call:
    p = Parser(Source(text, f"{plus.label} per", where), scope)
    name = p.name("a number")
    number = scope.domain.numbers.get(name.text)
    if number is None:
        p.fail(f"there is no number '{name.text}'.{did_you_mean(name.text, set(scope.domain.numbers))}", name.at)
    p.expect("(", f"after '{name.text}'")
    args: list[Term] = []
    while True:
        at = p.token.at
        term = p.term()
        kind = scope.type_of(term)
        if isinstance(term, Call) or len(args) >= len(number.params):
            p.fail(
                f"'{number.name}' takes {len(number.params)} parameters or objects, nothing that a step may change.", at
            )
        if not kind.types & scope.closure(number.params[len(args)].types):
            p.fail(f"'{term}' is {kind}; '{number.name}' takes {number.params[len(args)]}.", at)
        args.append(term)
        if not p.accept(","):
            break
    p.expect(")", f"or ',' in the arguments of '{name.text}'")
    if len(args) < len(number.params):
        p.fail(f"'{number.name}' takes {len(number.params)} arguments, here it has {len(args)}.", name.at)
    p.end("the number")
    return Call(name.text, tuple(args))


def _amount(value: Any, key: str, fields: Fields) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise fields.error(key, f"'{key}' is a finite number of at least 0, not {plain(value)!r}")
    return float(value)


def _approval(fields: Fields, skill: str, scope: Scope, problems: Problems) -> Condition:
    text = fields.text("approval", "always")
    if text in ("always", "never"):
        return TRUE if text == "always" else FALSE
    return _parse(text, fields.at("approval"), skill, "approval", scope, problems) or TRUE


def _quantity(fields: Fields, key: str) -> float | None:
    if key not in fields.data:
        return None
    try:
        return read_quantity(fields.data[key], key)
    except ValueError as e:
        raise fields.error(key, str(e)) from None
