"""The `safety:` part: limits, rules, forbidden steps, no-go places."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.domain.formula import TRUE
from handrail.domain.rules import Forbid, Rule, Safety
from handrail.domain.skill import Skill
from handrail.domain.text.document import Map, where_of
from handrail.domain.text.fields import Fields, Problems
from handrail.domain.text.parser import Parser
from handrail.domain.text.quantity import read_quantity
from handrail.domain.text.scope import Scope
from handrail.domain.text.source import Source
from handrail.domain.text.statements import StatementParser
from handrail.domain.types import Parameter
from handrail.errors import DomainError, did_you_mean

LIMITS = ("speed", "force")
"""Quantities with a limit, in m/s and N."""


def read_safety(section: Map, scope: Scope, skills: Mapping[str, Skill], problems: Problems) -> Safety:
    """`limits: {speed: 0.5 m/s}`, `rules: [...]`, `forbid: [...]`, `no_go: [...]`."""
    fields = Fields(section, "safety", section.where, problems)
    fields.only("limits", "rules", "forbid", "no_go")
    limits: dict[str, float] = {}
    bounds = Fields(fields.map("limits"), "safety limits", fields.at("limits"), problems)
    bounds.only(*LIMITS)
    for quantity in LIMITS:
        if quantity in bounds.data:
            try:
                limits[quantity] = read_quantity(bounds.data[quantity], quantity)
            except ValueError as e:
                problems.add(bounds.error(quantity, str(e)))
    return Safety(
        tuple(_rules(fields, scope, problems)),
        tuple(_forbidden(fields, scope, skills, problems)),
        tuple(_no_go(fields, scope, problems)),
        limits,
    )


def _rules(fields: Fields, scope: Scope, problems: Problems) -> list[Rule]:
    """Each a string, or `{rule: ..., because: ...}`."""
    out: list[Rule] = []
    for item, where in fields.list("rules"):
        with problems.catch():
            because, text, at = "", item, where
            if isinstance(item, Mapping):
                inner = Fields(item, "rule", where_of(item, where), problems)
                inner.only("rule", "because")
                because, text, at = str(inner.text("because")), inner.text("rule", required=True), inner.at("rule")
            if not isinstance(text, str):
                raise DomainError("a rule is a text or {rule: ..., because: ...}", where)
            p = StatementParser(Source(text, "rule", at), scope)
            made = p.rule()
            p.end("the rule")
            out.append(Rule(made.kind, made.first, made.second, made.within, because))
    return out


def _forbidden(fields: Fields, scope: Scope, skills: Mapping[str, Skill], problems: Problems) -> list[Forbid]:
    """Each `{skill: hand_over, when: "sharp(thing)", because: ...}`."""
    out: list[Forbid] = []
    for item, where in fields.list("forbid"):
        with problems.catch():
            inner = Fields(item, "forbid", where_of(item, where), problems)
            inner.only("skill", "when", "because")
            name = str(inner.text("skill", required=True))
            params: tuple[Parameter, ...] = ()
            if name in skills:
                params = skills[name].params
            elif name != "*":
                raise inner.error("skill", f"there is no skill '{name}'.{did_you_mean(name, set(skills))}")
            when = TRUE
            if "when" in inner.data:
                source = Source(inner.text("when"), f"forbid {name} when", inner.at("when"))
                p = Parser(source, scope.with_params(*params, owner=f"'{name}'"))
                when = p.condition()  # type: ignore[assignment]
                p.end("the condition")
            out.append(Forbid(name, when, str(inner.text("because"))))
    return out


def _no_go(fields: Fields, scope: Scope, problems: Problems) -> list[str]:
    out: list[str] = []
    for name, where in fields.strings("no_go"):
        if name not in scope.objects:
            said = f"no-go place '{name}' is not an object of the file.{did_you_mean(name, set(scope.objects))}"
            problems.add(DomainError(said, where))
        else:
            out.append(str(name))
    return out
