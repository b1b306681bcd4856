"""Goals that a robot could be asked for, from its skills and the present scene alone.

Whatever a skill can make true is something a person may want. Each such fact is one option, with the skill's own words
without the parts that don't matter for the fact ("with the sponge"); options that a safety rule forbids outright are
marked, not hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from handrail.domain import Goal, GoalSource, Kind, Objects, Skill, State, Step, Task
from handrail.domain import formula as f
from handrail.domain.ground import FALSE, TRUE, Ref
from handrail.domain.option import MarkCode, Option
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import ConfigError
from handrail.intent.options import merge
from handrail.intent.scores.scorer import digest

MOST_STEPS = 20_000
"""More ground steps than this make listing every goal too slow; narrow the scene first."""

GENERATOR = "goals-1"
"""Changes whenever the same scene would give other options or other words; part of a calibration's fingerprint."""


def name_of(objects: Objects, name: str) -> str:
    """What people call an object: its first word, or its name without underscores."""
    found = objects.get(name)
    return found.words[0] if found is not None and found.words else name.replace("_", " ")


def facts_of(objects: Objects) -> dict[str, tuple[str, ...]]:
    """What the domain states of each object, by what people call it: types, symbols, true attributes, other words."""
    out: dict[str, tuple[str, ...]] = {}
    for obj in objects:
        words = [w for word in obj.words for w in word.split()]
        words += [t.replace("_", " ") for t in objects.domain.supertypes(obj.type)]
        for attribute, value in sorted(obj.attributes.items()):
            if value is True:
                words.append(attribute.replace("_", " "))
            elif isinstance(value, str):
                words.append(value.replace("_", " "))
        shown = name_of(objects, obj.name)
        out[shown] = tuple(dict.fromkeys([*out.get(shown, ()), *words]))
    return out


def goals(state: State) -> tuple[Option, ...]:
    """Every single fact that some skill can make true here, as a goal.

    Args:
        state: the scene; facts that hold already are listed too, since a person may not know that they do.

    Returns:
        Options in a fixed order; `meaning` is a `Goal`, `key` the fact as text.

    Raises:
        ConfigError: the scene has too many ground steps.
    """
    task = Task(state.objects)
    found: list[Option] = []
    total = 0
    for skill in sorted(state.objects.domain.skills.values(), key=lambda s: s.name):
        if skill.asks:
            continue
        choices = [state.objects.of(*p.types) for p in skill.params]
        size = 1
        for c in choices:
            size *= len(c)
        total += size
        if total > MOST_STEPS:
            raise ConfigError(f"more than {MOST_STEPS} ground steps in this scene; narrow it before listing goals")
        for args in product(*choices):
            if len(set(args)) < len(args):
                continue  # pouring the milk into the milk
            found += _of_step(state, task, skill, args)
    return merge(found)


def _of_step(state: State, task: Task, skill: Skill, args: tuple[str, ...]) -> Iterator[Option]:
    operator = task.operator(Step(skill.name, args))
    if any(node is FALSE for _, node in operator.needs):
        return
    dangers = [g.text for g in operator.guards if g.code == "FORBIDDEN" and not g.node.holds(state.values)]
    for effect in operator.effects:
        fluent = state.objects.domain.fluents.get(effect.atom[0])
        if fluent is None or fluent.kind is Kind.COUNT or effect.condition is not TRUE:
            continue  # a rule's own bookkeeping, a number, or a side effect that depends
        value = state.get(effect.value.atom) if isinstance(effect.value, Ref) else effect.value
        if value is None or value is UNKNOWN:
            continue
        source = effect.value.atom[1:] if isinstance(effect.value, Ref) else ()
        option = _option(state.objects, skill, args, effect.atom, value, source)
        for danger in dangers:
            option = option.marked(MarkCode.UNSAFE, danger[:1].upper() + danger[1:] + ".")
        yield option


def _option(
    objects: Objects, skill: Skill, args: tuple[str, ...], atom: Atom, value: Value, source: tuple[str, ...]
) -> Option:
    """`source`: whose present value is taken over, as in pouring *from* something."""
    condition = f.Test(f.Call(atom[0], tuple(f.Const(a) for a in atom[1:])), "==", f.Const(value))
    final: f.Condition = f.Not(f.Test(condition.left, "==", f.Const(True))) if value is False else condition
    fixed = {*atom[1:], value, *source}
    text = skill.says or f"{skill.name.replace('_', ' ')} " + " ".join(f"the {{{p.name}}}" for p in skill.params)
    for param, arg in zip(skill.params, args, strict=True):
        slot = "{" + param.name + "}"
        if arg in fixed:
            text = text.replace(slot, name_of(objects, arg))
        else:
            text = re.sub(rf"\s*\b(with|from|using|by|out of)\s+(the\s+)?{re.escape(slot)}", "", text)
            text = text.replace(slot, "something")
    text = text.strip().rstrip(".")
    text = text[:1].lower() + text[1:]
    goal = Goal(final, source=GoalSource.CHOSEN, text=text)
    return Option(str(final), text, goal, (), _attributes(objects, atom, value, skill))


def _attributes(objects: Objects, atom: Atom, value: Value, skill: Skill) -> tuple[tuple[str, str], ...]:
    """What tells a goal from others: the thing it is about, where or to whom, the action, and the thing's own look."""
    out = [("action", skill.name.replace("_", " "))]
    names = [a for a in atom[1:] if a in objects]
    moved = value if isinstance(value, str) and value in objects else None
    # in "holding(hand) == mug" and "at(robot) == table" the value is what the goal is about
    owner = moved if moved is not None and _is_body(objects, names) else next(iter(names), None)
    if owner is not None:
        out.append(("object", name_of(objects, owner)))
        found = objects[owner]
        out += [(k, v.replace("_", " ")) for k, v in sorted(found.attributes.items()) if isinstance(v, str)]
    if moved is not None and moved != owner:
        out.append(("place", name_of(objects, moved)))
    return tuple(out)


def _is_body(objects: Objects, names: list[str]) -> bool:
    """Whether a fact's first argument is a part of the robot: something that a skill takes and people don't ask for."""
    kinds = {objects[n].type for n in names[:1]}
    return bool(kinds & {"robot", "hand", "arm", "gripper"})


def generator_of(objects: Objects) -> str:
    """Names the option generator with the skills it draws on, for a calibration's fingerprint."""
    return f"{GENERATOR}-{digest(objects.domain.fingerprint)}"
