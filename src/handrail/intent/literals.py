"""What could be asked for at all: every fact that some skill can bring about here, phrased as that skill says it.

The skill library *is* the domain, and it is also the list of goals: an effect `on(thing) := to` of a skill that says
"Put the {thing} on or into the {to}." gives, for each thing and place, the goal `on(milk) == fridge` and the words
"put the milk on or into the fridge". Nothing is written by hand for a goal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from handrail.domain.formula import Assign, Call, Condition, Const, Each, Effect, Not, Or, Param, Term, Test, When
from handrail.domain.ground import FALSE
from handrail.domain.grounder import grounder
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.text.walk import assignments, params_in
from handrail.domain.types import Objects
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import DomainError
from handrail.intent.naming import Names
from handrail.intent.verbs import family_of

MAX_LITERALS = 200_000
"""More candidate goals than this are refused: the domain's skills have too many free parameters for the scene."""

_PREPOSITIONS = "with|using|by|from|out of|into|onto|on or into|in or on|inside|in|on|to|at|for|of"


@dataclass(frozen=True, slots=True)
class Literal:
    """One thing that could be asked for.

    Attributes:
        condition: the fact, or several joined by "or" where they read alike (either hand).
        text: an imperative in plain words, without a capital or full stop.
        skill: the skill that brings it about.
        objects: the objects it is about, in the order of the skill's parameters.
        roles: (parameter, object) for these.
        stated: no skill's sentence says it; the text states the fact instead.
        family: of the text's verb, see `verbs`.
    """

    condition: Condition
    text: str
    skill: str
    objects: tuple[str, ...]
    roles: tuple[tuple[str, str], ...]
    stated: bool = False
    family: str = ""


def literals(state: State, names: Names | None = None, focus: frozenset[str] | None = None) -> tuple[Literal, ...]:
    """Every fact that some skill can bring about, sorted by text.

    What can never hold because of an object's attributes (a table has no door to open) is left out; whether the robot
    can get there from here is for the planner to say.

    Args:
        state: gives the objects, and the values that skills copy (what is in the bottle).
        names: words for the objects; made from the state's objects where not given.
        focus: objects that are talked about. In a large scene a parameter then ranges over those of them that have its
            type, where there are any, instead of over everything.

    Raises:
        DomainError: more than `MAX_LITERALS` of them.
    """
    objects = state.objects
    names = names or Names.of(objects)
    found: dict[str, list[Literal]] = {}
    total = 0
    for skill in sorted(objects.domain.skills.values(), key=lambda s: s.name):
        if skill.asks:
            continue
        for number, effect in enumerate(skill.makes):
            for made in _kept(skill, number, effect, state, names, focus):
                same = found.setdefault(made.text, [])
                if all(made.condition != other.condition for other in same):
                    same.append(made)
                    total += 1
                    if total > MAX_LITERALS:
                        raise DomainError(
                            f"more than {MAX_LITERALS} facts could be asked for in this scene; "
                            "give skills fewer free parameters or the scene fewer objects"
                        )
    return tuple(_joined(found[text]) for text in sorted(found))


def _kept(
    skill: Skill, number: int, effect: Effect, state: State, names: Names, focus: frozenset[str] | None
) -> Iterable[Literal]:
    """An effect's literals; those that don't hang on the state are made once for a set of objects."""
    copies = any(isinstance(a, Assign) and isinstance(a.value, Call) for a in assignments(effect))
    if focus is not None or copies or names is not Names.of(state.objects):
        return _of_effect(skill, effect, state, names, focus)
    cache = state.objects.cache
    key = ("literals", skill.name, number)
    if key not in cache:
        cache[key] = tuple(_of_effect(skill, effect, state, names, None))
    kept: tuple[Literal, ...] = cache[key]
    return kept


def fact_of(condition: Condition) -> tuple[Call, Value] | None:
    """A literal's fluent and the value it asks for; None for a choice of several facts."""
    if isinstance(condition, Not):
        inner = fact_of(condition.part)
        return (inner[0], not inner[1]) if inner and isinstance(inner[1], bool) else None
    if isinstance(condition, Test) and isinstance(condition.left, Call) and isinstance(condition.right, Const):
        return condition.left, condition.right.value
    return None


def _joined(same: list[Literal]) -> Literal:
    """Facts that read alike are one reading: any of them will do."""
    first = same[0]
    if len(same) == 1:
        return first
    parts = tuple(sorted((one.condition for one in same), key=str))
    objects = tuple(o for o in first.objects if all(o in other.objects for other in same))
    roles = tuple(r for r in first.roles if r[1] in objects)
    return replace(first, condition=Or(parts), objects=objects, roles=roles)


def _of_effect(
    skill: Skill, effect: Effect, state: State, names: Names, focus: frozenset[str] | None
) -> Iterator[Literal]:
    loops: dict[str, tuple[str, ...]] = {}
    conditional = False
    while isinstance(effect, When | Each):
        conditional = True
        if isinstance(effect, Each):
            loops[effect.var] = state.objects.of(*effect.type.split(" | "))
        effect = effect.effect
    if not isinstance(effect, Assign) or (isinstance(effect.value, Const) and effect.value.value is None):
        return  # a count's change has no end, and "nothing there" is what other goals leave behind
    if any(not isinstance(a, Param | Const) for a in effect.target.args):
        return
    free = {p.name: state.objects.of(*p.types) for p in skill.params}
    free.update(loops)
    if focus is not None:
        free = {n: tuple(o for o in all_ if o in focus) or all_ for n, all_ in free.items()}
    used = [n for n in free if n in params_in(effect)]
    if any(not free[n] for n in used):
        return
    for chosen in product(*(free[n] for n in used)):
        binding = dict(zip(used, chosen, strict=True))
        if len(set(chosen)) < len(chosen):
            continue  # nobody asks for the milk to be poured into itself
        if not conditional and _never(skill, binding, state.objects):
            continue
        for value in _values(effect.value, binding, state):
            yield _literal(skill, effect.target, value, binding, conditional, names)


def _never(skill: Skill, binding: Mapping[str, str], objects: Objects) -> bool:
    """Whether a need that is decided by this binding alone can never hold."""
    key = ("never", skill.name, *binding.items())
    if key not in objects.cache:
        node = grounder(objects).node
        objects.cache[key] = any(
            params_in(need) <= binding.keys() and node(need, binding) is FALSE for need in skill.needs
        )
    return bool(objects.cache[key])


def _values(term: Term, binding: Mapping[str, str], state: State) -> tuple[Value, ...]:
    if isinstance(term, Const):
        return (term.value,)
    if isinstance(term, Param):
        return (binding[term.name],)
    args = []
    for a in term.args:
        if isinstance(a, Call):
            return ()
        args.append(binding[a.name] if isinstance(a, Param) else str(a.value))
    atom: Atom = (term.name, *args)
    value = state.get(atom) if term.name in state.objects.domain.fluents else None
    return () if value is None or value is UNKNOWN else (value,)


def _literal(
    skill: Skill, target: Call, value: Value, binding: Mapping[str, str], conditional: bool, names: Names
) -> Literal:
    args = tuple(Const(binding[a.name]) if isinstance(a, Param) else a for a in target.args)
    test = Test(Call(target.name, args), "==", Const(value))
    roles = [(p, o) for p, o in binding.items() if o in names.objects]
    stated = conditional or not skill.says
    if stated:
        text = _stated(test, names)
        about = {str(c.value) for c in (*args, Const(value)) if isinstance(c, Const)}
        roles = [r for r in roles if r[1] in about]
    else:
        text = imperative(skill.says, {p: names.say(o) for p, o in binding.items()})
    condition = Not(Test(test.left, "==", Const(True))) if value is False else test
    return Literal(condition, text, skill.name, tuple(o for _, o in roles), tuple(roles), stated, family_of(text))


def imperative(says: str, filled: Mapping[str, str]) -> str:
    """A skill's sentence with its slots filled, and those left open cut out with their preposition.

    "Wipe the {where} with the {tool}." with only `where` gives "wipe the table".
    """
    text = says.strip().rstrip(".")
    for slot in re.findall(r"\{(\w+)\}", text):
        if slot in filled:
            text = text.replace("{" + slot + "}", filled[slot])
        else:
            text = re.sub(rf",?\s*\b(?:{_PREPOSITIONS})\s+(?:the\s+|a\s+|an\s+)?\{{{slot}\}}", "", text)
            text = re.sub(rf"(?:the\s+|a\s+|an\s+)?\{{{slot}\}}", "something", text)
    return text[:1].lower() + text[1:]


def _stated(test: Test, names: Names) -> str:
    """A fact for which no skill has a sentence: "make it so that the apple is hot"."""
    assert isinstance(test.left, Call) and isinstance(test.right, Const)
    args = [names.say(str(a.value)) for a in test.left.args if isinstance(a, Const)]
    fluent, value = test.left.name.replace("_", " "), test.right.value
    about = " and ".join(f"the {a}" for a in args)
    if isinstance(value, bool):
        return f"make it so that {about} is {'' if value else 'not '}{fluent}".replace("  ", " ")
    shown = names.say(value) if isinstance(value, str) else str(value)
    return f"make it so that {fluent} of {about} is {shown}".replace("of  is", "is")
