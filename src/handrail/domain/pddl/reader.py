"""PDDL domains and problems to handrail's records.

Read is PDDL 2.1 with strips, typing with `either`, negative, disjunctive, quantified and conditional parts, equality, constants and
action costs.

Tolerant where nothing can be misread: missing or wrong `:requirements`, the order of sections, letter case, blanks before `?`, and
names shared between kinds. Strict where a slip would change the meaning: undeclared names, numbers and types of arguments,
repeated parameter names, contradicting effects. Every error has its line, its column and a mark under the place.

An atom that a ground action both deletes and adds is added, as PDDL has it (`Skill.true_wins`).
"""

from __future__ import annotations

from dataclasses import dataclass

from handrail.domain import formula as f
from handrail.domain.domain import Domain, Number
from handrail.domain.goal import Goal
from handrail.domain.pddl.conditions import CONNECTIVES, TOTAL_COST, Names, arguments, condition, effects, number
from handrail.domain.pddl.sexp import Group, Text, Word
from handrail.domain.pddl.typed import known_types, parameters, read_types, typed_list
from handrail.domain.skill import Cost, Skill
from handrail.domain.state import State
from handrail.domain.types import Fluent, Obj, Objects, Parameter, Type
from handrail.domain.values import Atom, Value, show_atom
from handrail.errors import did_you_mean

_DOMAIN = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
_PROBLEM = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_BEYOND = {
    ":durative-action": "durative actions",
    ":derived": "derived predicates",
    ":process": "processes (PDDL+)",
    ":event": "events (PDDL+)",
    ":constraints": "trajectory constraints (PDDL 3)",
    ":timeless": "':timeless'",
    ":length": "':length'",
}


@dataclass(frozen=True)
class Problem:
    """A PDDL problem.

    Attributes:
        name: as the problem calls itself.
        objects: its objects and the domain's constants.
        state: where it starts.
        goal: what is to be reached.
        notes: what was read although it is not quite as PDDL wants it, one sentence each.
    """

    name: str
    objects: Objects
    state: State
    goal: Goal
    notes: tuple[str, ...] = ()


def read_domain(text: str, source: str = "") -> Domain:
    """A PDDL domain.

    Args:
        text: the domain's text; one `(define (domain ...) ...)`.
        source: its file, for errors.

    Raises:
        ParseError: with line, column, the line itself and what would be valid.
    """
    t = Text(text, source)
    name, sections = t.define("domain")
    parts = _sorted(t, sections, _DOMAIN, "domain")
    notes: list[str] = []
    types = read_types(t, _single(t, parts, ":types"))
    constants = _objects(t, _single(t, parts, ":constants"), types, {})
    predicates: dict[str, Fluent] = {}
    for p in _single(t, parts, ":predicates"):
        if not isinstance(p, Group) or not p.head or p.head.startswith("?"):
            t.fail(p, "expected a predicate such as '(on ?x ?y)'")
        if p.head in CONNECTIVES:
            t.fail(p, f"a predicate can't be named '{p.head}', which conditions use")
        if p.head in predicates:
            t.fail(p, f"the predicate '{p.head}' is declared twice")
        predicates[str(p.head)] = Fluent(str(p.head), parameters(t, p[1:], types, f"the predicate '{p.head}'"))
    functions = _functions(t, _single(t, parts, ":functions"), types)
    if TOTAL_COST not in functions:
        functions[TOTAL_COST] = ()
    names = Names(t, types, predicates, functions, {o.name: o.type for o in constants})
    actions = [_Action(t, g) for g in parts.get(":action", [])]
    priced = any(a.costs(names) for a in actions)
    skills: dict[str, Skill] = {}
    for a in actions:
        if a.name in skills:
            t.fail(a.at, f"the action '{a.name}' is defined twice")
        skills[a.name] = a.skill(names, priced)
    return Domain(
        name=str(name or "domain"),
        types=types,
        fluents=predicates,
        skills=skills,
        constants=tuple(constants),
        numbers={n: Number(n, ps) for n, ps in functions.items() if n != TOTAL_COST},
        loose_names=True,
        extra={"notes": tuple(notes)},
        source=source,
    )


def read_problem(text: str, domain: Domain, source: str = "") -> Problem:
    """A PDDL problem of a domain that `read_domain` has read.

    Raises:
        ParseError: as `read_domain`.
    """
    t = Text(text, source)
    name, sections = t.define("problem")
    parts = _sorted(t, sections, _PROBLEM, "problem")
    notes: list[str] = []
    wanted = _single(t, parts, ":domain")
    if wanted and str(wanted[0]) != domain.name:
        notes.append(f"the problem names the domain '{wanted[0]}', it is read with '{domain.name}'")
    types = dict(domain.types)
    own = _objects(t, _single(t, parts, ":objects"), types, {o.name: o for o in domain.constants})
    everything = {o.name: o.type for o in (*domain.constants, *own)}
    functions = {n: x.params for n, x in domain.numbers.items()} | {TOTAL_COST: ()}
    names = Names(t, types, domain.fluents, functions, everything)
    values: dict[Atom, Value] = {}
    numbers: dict[Atom, float] = {}
    for fact in _single(t, parts, ":init"):
        if not isinstance(fact, Group) or not fact:
            t.fail(fact, "expected a fact such as '(on a b)'")
        _fact(fact, names, values, numbers, notes)
    if ":goal" not in parts:
        t.fail(len(t.text), "the problem has no '(:goal ...)'")
    goals = _single(t, parts, ":goal")
    if len(goals) != 1:
        t.fail(parts[":goal"][0], f"':goal' takes one condition, found {len(goals)}; join several with 'and'")
    _metric(t, _single(t, parts, ":metric"))
    objects = Objects(domain, own, numbers)
    goal = Goal(condition(goals[0], names, {}))
    return Problem(str(name or "problem"), objects, State(objects, values), goal, tuple(notes))


def _sorted(t: Text, sections: list[Group], valid: tuple[str, ...], what: str) -> dict[str, list[Group]]:
    parts: dict[str, list[Group]] = {}
    for s in sections:
        key = str(s.head)
        if key not in valid:
            if key in _BEYOND:
                t.fail(s, f"{_BEYOND[key]} are not read; handrail reads PDDL 2.1 without time")
            t.fail(s, f"a {what} has no section '{key}'.{did_you_mean(key, set(valid))}")
        if key in parts and key != ":action":
            t.fail(s, f"the section '{key}' appears twice")
        parts.setdefault(key, []).append(s)
    return parts


def _single(t: Text, parts: dict[str, list[Group]], key: str) -> Group:
    found = parts.get(key)
    return Group(found[0].at, found[0][1:]) if found else Group(len(t.text))


def _objects(t: Text, items: Group, types: dict[str, Type], known: dict[str, Obj]) -> list[Obj]:
    out: dict[str, Obj] = {}
    for name, wanted in typed_list(t, items):
        if name.startswith("?"):
            t.fail(name, f"'{name}' is a variable; objects have no '?'")
        kinds = known_types(t, wanted, types)
        if len(kinds) > 1:
            t.fail(wanted[0], f"the object '{name}' has several types; an object has one")
        made = Obj(str(name), kinds[0])
        before = out.get(name) or known.get(name)
        if before is not None and before != made:
            t.fail(name, f"the object '{name}' is declared twice, as {before.type} and as {made.type}")
        if name not in known:
            out[str(name)] = made
    return list(out.values())


def _functions(t: Text, items: Group, types: dict[str, Type]) -> dict[str, tuple[Parameter, ...]]:
    out: dict[str, tuple[Parameter, ...]] = {}
    skip = False
    for i, item in enumerate(items):
        if skip:
            if item != "number":
                t.fail(item, "a function gives a number; functions that give objects are not read")
            skip = False
        elif isinstance(item, Word):
            if item != "-" or i == 0:
                t.fail(item, "expected a function such as '(distance ?a ?b)'")
            skip = True
        else:
            if not item.head or item.head in out:
                t.fail(
                    item, f"the function '{item.head}' is declared twice" if item.head else "a function needs a name"
                )
            out[str(item.head)] = parameters(t, item[1:], types, f"the function '{item.head}'")
    return out


class _Action:
    """One `(:action ...)`, taken apart."""

    def __init__(self, t: Text, g: Group) -> None:
        self.text = t
        if len(g) < 2 or not isinstance(g[1], Word) or g[1].startswith(("?", ":")):
            t.fail(g, "an action needs a name after ':action'")
        self.at = g[1]
        self.name = str(g[1])
        self.parts: dict[str, Group] = {}
        rest = g[2:]
        for key, value in zip(rest[::2], [*rest[1::2], None], strict=False):
            if not isinstance(key, Word) or key not in (":parameters", ":precondition", ":effect", ":vars"):
                shown = key if isinstance(key, Word) else "("
                t.fail(key, f"expected ':parameters', ':precondition' or ':effect' in '{self.name}', found '{shown}'")
            if key == ":vars":
                t.fail(key, "':vars' is not read; put them among the parameters")
            if key in self.parts:
                t.fail(key, f"'{self.name}' has '{key}' twice")
            if not isinstance(value, Group):
                t.fail(key, f"'{key}' of '{self.name}' must be followed by '(...)'")
            self.parts[str(key)] = value

    def _read(self, names: Names) -> tuple[tuple[Parameter, ...], dict[str, tuple[str, ...]]]:
        params = parameters(
            self.text, self.parts.get(":parameters", Group(0)), names.types, f"the action '{self.name}'"
        )
        return params, {p.name: p.types for p in params}

    def costs(self, names: Names) -> bool:
        """Whether it adds to the total cost. Actions that don't cost nothing where any does, and 1 where none does."""
        stack = [self.parts.get(":effect", Group(0))]
        while stack:
            g = stack.pop()
            if g.head == "increase" and "increase" not in names.predicates:
                return True
            stack.extend(x for x in g if isinstance(x, Group))
        return False

    def skill(self, names: Names, priced: bool) -> Skill:
        params, scope = self._read(names)
        whole = condition(self.parts.get(":precondition", Group(0)), names, scope)
        needs: list[f.Condition] = []
        stack = [whole]
        while stack:
            c = stack.pop()
            if isinstance(c, f.And):
                stack.extend(reversed(c.parts))
            else:
                needs.append(c)
        makes, costs = effects(self.parts.get(":effect", Group(0)), names, scope)
        base = sum(k for k, call in costs if call is None)
        terms = tuple((k, call) for k, call in costs if call is not None)
        cost = Cost({"": float(base)}, terms) if priced else Cost()
        return Skill(self.name, params, needs=tuple(needs), makes=makes, cost=cost, true_wins=True)


def _fact(fact: Group, names: Names, values: dict[Atom, Value], numbers: dict[Atom, float], notes: list[str]) -> None:
    t = names.text
    head = fact.head
    if head == "=":
        if len(fact) != 3 or not isinstance(fact[1], Group) or fact[1].head not in names.functions:
            found = fact[1].head if len(fact) > 1 and isinstance(fact[1], Group) else ""
            t.fail(fact, f"expected '(= (function ...) number)'.{did_you_mean(found, set(names.functions))}")
        call = fact[1]
        args = arguments(call, names.functions[call.head], names, {})
        value = number(t, fact[2])
        if call.head != TOTAL_COST:
            numbers[(str(call.head), *(str(a) for a in args))] = value
        return
    truth = True
    if head == "not" and len(fact) == 2 and isinstance(fact[1], Group):
        fact, truth = fact[1], False
        head = fact.head
    if head not in names.predicates:
        if head == "at" and len(fact) == 3 and isinstance(fact[2], Group):
            t.fail(fact, "timed facts '(at TIME (fact))' are not read")
        t.fail(fact, f"the predicate '{head}' is not declared.{did_you_mean(head, set(names.predicates))}")
    params = names.predicates[head].params
    atom = (str(head), *(str(a) for a in arguments(fact, params, names, {}, typed=False)))
    if not all(names.is_a(names.objects[a], p.types) for a, p in zip(atom[1:], params, strict=True)):
        # no action of the right types can ask for it, so it is left out rather than the whole problem refused
        notes.append(f"{t.where(fact.at)}: {show_atom(atom)} has an object of the wrong type and is left out")
        return
    if values.setdefault(atom, truth) is not truth:
        t.fail(fact, "the start says both that this holds and that it does not")


def _metric(t: Text, items: Group) -> None:
    if not items:
        return
    whole = Group(items.at, items[:2])
    good = len(items) == 2 and items[0] == "minimize"
    what = items[1] if len(items) > 1 else whole
    if not good or (isinstance(what, Group) and what != [TOTAL_COST] and what != ["total-time"]):
        t.fail(items, f"the metric must be 'minimize ({TOTAL_COST})'")
