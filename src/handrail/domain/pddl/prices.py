"""Costs as `(increase (total-cost) ...)`, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from handrail.domain import formula as f
from handrail.domain.pddl.translate import Translator
from handrail.domain.skill import Skill
from handrail.domain.types import Objects

_MOST = 10**6


class Prices:
    """The costs of some skills: one number each, or a table over the parameters that it depends on.

    Attributes:
        scale: PDDL costs are our costs times this, the smallest power of ten that makes all of them whole, up to a million.
    """

    def __init__(self, translator: Translator, skills: list[Skill], objects: Objects | None) -> None:
        self._t = translator
        self._profile = translator.domain.profile
        self._skills = skills
        self._tables: dict[str, dict[tuple[str, ...], Fraction]] = {}
        costs: list[Fraction] = []
        for s in skills:
            base = self._base(s)
            if not s.cost.terms:
                costs.append(base)
            elif objects is not None:
                places = product(*(objects.of(*s.params[i].types) for i in _priced(s)))
                table = {args: base + self._terms(s, args, objects) for args in places}
                self._tables[s.name] = table
                costs += table.values()
        self.scale = 1
        while self.scale < _MOST and any((c * self.scale).denominator != 1 for c in costs):
            self.scale *= 10

    def _base(self, skill: Skill) -> Fraction:
        return Fraction(str(skill.cost.of(self._profile)))

    def _terms(self, skill: Skill, args: tuple[str, ...], objects: Objects) -> Fraction:
        binding = {skill.params[i].name: a for i, a in zip(_priced(skill), args, strict=True)}
        total = Fraction(0)
        for factor, call in skill.cost.terms:
            atom = (call.name, *(binding[a.name] if isinstance(a, f.Param) else str(a) for a in call.args))
            total += Fraction(str(factor)) * Fraction(str(objects.number(atom)))
        return total

    def _function(self, skill: Skill, args: list[str]) -> str:
        return f"({' '.join([self._t.names('function', f'cost-{skill.name}'), *args])})"

    def functions(self) -> str:
        """The `:functions` section."""
        tables = [s for s in self._skills if s.cost.terms]
        made = [self._function(s, [f"?a{i} - object" for i in range(len(_priced(s)))]) for s in tables]
        return f"  (:functions {' '.join(f'{x} - number' for x in ('(total-cost)', *made))})"

    def effect(self, skill: Skill, terms: tuple[str, ...]) -> str:
        """What a skill adds to the total cost, given its parameters' PDDL terms."""
        what = (
            self._function(skill, [terms[i] for i in _priced(skill)])
            if skill.cost.terms
            else str(round(self._base(skill) * self.scale))
        )
        return f"(increase (total-cost) {what})"

    def facts(self) -> Iterator[str]:
        """The tables at the start."""
        yield "(= (total-cost) 0)"
        for s in self._skills:
            for args, c in self._tables.get(s.name, {}).items():
                yield f"(= {self._function(s, [self._t.object(a) for a in args])} {round(c * self.scale)})"


def _priced(skill: Skill) -> list[int]:
    """Positions of the parameters that a skill's cost depends on."""
    used = {a.name for _, call in skill.cost.terms for a in call.args if isinstance(a, f.Param)}
    return [i for i, p in enumerate(skill.params) if p.name in used]
