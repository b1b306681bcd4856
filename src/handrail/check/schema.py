"""Layer 1: from text to a plan, without losing, merging or inventing anything.

    {"reasoning": "...", "steps": [{"skill": "pick", "args": {"thing": "mug"}}, ...]}
    {"reasoning": "...", "ask": "Which mug?"}          the proposer asks instead
    {"reasoning": "...", "refuse": "It is too hot."}   the proposer declines

Arguments may also be a list in declared order, and a step may be written `pick(robot_1, hand_1, mug)`. A parameter whose type has
exactly one object in the scene may be left out. Everything else must be there, and nothing else may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.domain.plan import Plan, Step
from handrail.domain.skill import Skill
from handrail.domain.types import Objects
from handrail.domain.verdict import Code, LayerResult, Reason
from handrail.errors import ConfigError, ParseError, did_you_mean, nearest
from handrail.language.nodes import Items, Node, Pairs, Scalar, kind
from handrail.language.reading import Reading, read

LAYER = "schema"
MAX_STEPS = 12
_CALL = re.compile(r"\s*([^\s(),]+)\s*\(([^()]*)\)\s*\.?\s*")
_STEP_KEYS = ("skill", "args")


@dataclass(frozen=True)
class Declined:
    """The proposer gave no plan but a question or a refusal; data to be shown, never counted as success.

    Attributes:
        kind: "ask" or "refuse".
        text: its words.
        reasoning: its reasoning.
    """

    kind: str
    text: str
    reasoning: str = ""


class _Refused(Exception):  # noqa: N818 - carries a finding up to read_plan, never leaves this module
    def __init__(self, reason: Reason) -> None:
        self.reason = reason


def read_plan(
    text: str,
    objects: Objects,
    *,
    max_steps: int = MAX_STEPS,
    source: str = "model",
    provenance: Mapping[str, Any] | None = None,
) -> Plan | Declined | LayerResult:
    """Read a proposer's answer.

    Args:
        text: the answer as it came.
        objects: the scene's objects.
        max_steps: longest plan, at least 1.
        source: who wrote it, kept in the plan.
        provenance: details kept in the plan.

    Returns:
        A plan whose every name and arity fits the domain, what the proposer said instead, or the layer's refusal with reasons.

    Raises:
        ConfigError: max_steps below 1.
    """
    if max_steps < 1:
        raise ConfigError(f"a plan needs at least one step; max_steps is {max_steps}")
    try:
        reading = read(text, source=f"answer of the {source}", fits=_looks_like_plan)
    except ParseError as e:
        where = e.where
        return _refuse(
            Reason(
                Code.BAD_JSON,
                f"The answer can't be read: {e}",
                line=where.line if where else 0,
                column=where.column if where else 0,
            )
        )
    try:
        return _plan(reading, objects, max_steps, source, dict(provenance or {}))
    except _Refused as r:
        return _refuse(r.reason)
    except ParseError as e:
        line, column = (e.where.line, e.where.column) if e.where else (0, 0)
        return _refuse(Reason(Code.DUPLICATE_KEY, str(e), line=line, column=column))


def _refuse(reason: Reason) -> LayerResult:
    return LayerResult(LAYER, False, (reason,))


def _looks_like_plan(node: Node) -> bool:
    if isinstance(node, Pairs):
        return any(e.key in ("steps", "ask", "refuse") for e in node)
    return isinstance(node, Items) and all(isinstance(v, Pairs) and any(e.key == "skill" for e in v) for v in node)


def _at(node: Node | None, code: Code, sentence: str, **more: Any) -> _Refused:
    line, column = (node.line, node.column) if node is not None else (0, 0)
    return _Refused(Reason(code, sentence, line=line, column=column, **more))


def _text(node: Node | None, what: str) -> str:
    if node is None:
        return ""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return node.value
    raise _at(node, Code.NOT_A_PLAN, f"'{what}' must be text, not {kind(node)}.")


def _plan(
    reading: Reading, objects: Objects, max_steps: int, source: str, provenance: dict[str, Any]
) -> Plan | Declined:
    node = reading.node
    reasoning = ""
    if isinstance(node, Pairs):
        fields = node.mapping(reading.source)
        if not fields:
            raise _at(node, Code.EMPTY_PLAN, "The plan is empty: {} has no steps.")
        extra = [k for k in fields if k not in ("reasoning", "steps", "ask", "refuse")]
        if extra:
            text = f"A plan has 'reasoning' and 'steps' (or 'ask', or 'refuse'); '{extra[0]}' is none of them."
            raise _at(fields[extra[0]], Code.NOT_A_PLAN, text)
        reasoning = _text(fields.get("reasoning"), "reasoning")
        said = [k for k in ("steps", "ask", "refuse") if k in fields]
        if len(said) != 1:
            text = (
                f"A plan has exactly one of 'steps', 'ask' and 'refuse'; this one has {' and '.join(said) or 'none'}."
            )
            raise _at(node, Code.NOT_A_PLAN, text)
        if said[0] != "steps":
            return Declined(said[0], _text(fields[said[0]], said[0]), reasoning)
        steps = fields["steps"]
    else:
        steps = node
    if not isinstance(steps, Items):
        raise _at(steps, Code.NOT_A_PLAN, f"'steps' must be a list, not {kind(steps)}.")
    if not len(steps):
        raise _at(steps, Code.EMPTY_PLAN, "The plan is empty: it has no steps.")
    if reading.unclosed:
        raise _at(steps, Code.BAD_JSON, "The answer was cut off before its brackets were closed; steps may be missing.")
    if len(steps) > max_steps:
        raise _at(steps, Code.TOO_LONG, f"The plan has {len(steps)} steps; at most {max_steps} are allowed.")
    made = tuple(_step(n, i, objects, reading.source) for i, n in enumerate(steps))
    if reading.notes:
        provenance["tolerated"] = [f"{n.habit} at {n.line}:{n.column}" for n in reading.notes]
    return Plan(made, reasoning, source, provenance)


def _step(node: Node, i: int, objects: Objects, source: str) -> Step:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        m = _CALL.fullmatch(node.value)
        if m is None:
            raise _at(
                node,
                Code.NOT_A_PLAN,
                f"Step {i + 1}, '{node.value[:60]}', is not of the form skill(object, ...).",
                step=i,
            )
        listed = [a.strip() for a in m.group(2).split(",")] if m.group(2).strip() else []
        return _bound(node, i, m.group(1), listed, objects)
    if not isinstance(node, Pairs):
        raise _at(
            node, Code.NOT_A_PLAN, f"Step {i + 1} must be an object with 'skill' and 'args', not {kind(node)}.", step=i
        )
    fields = node.mapping(source)
    name_node = fields.get("skill")
    if name_node is None:
        raise _at(node, Code.NOT_A_PLAN, f"Step {i + 1} has no 'skill'.", step=i)
    name = _text(name_node, "skill")
    extra = [k for k in fields if k not in _STEP_KEYS]
    if extra:
        text = f"Step {i + 1}: '{extra[0]}' does not belong in a step; arguments go into 'args'."
        raise _at(fields[extra[0]], Code.NOT_A_PLAN, text, step=i)
    args = fields.get("args")
    if args is None:
        return _bound(node, i, name, {}, objects)
    if isinstance(args, Items):
        return _bound(node, i, name, [_object(a, i) for a in args], objects)
    if not isinstance(args, Pairs):
        raise _at(
            args, Code.WRONG_ARGUMENTS, f"Step {i + 1}: 'args' must be an object or a list, not {kind(args)}.", step=i
        )
    return _bound(node, i, name, {k: _object(v, i) for k, v in args.mapping(source).items()}, objects)


def _object(node: Node, i: int) -> str:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return node.value
    raise _at(
        node,
        Code.WRONG_ARGUMENTS,
        f"Step {i + 1}: an argument must be the name of an object, not {kind(node)}.",
        step=i,
    )


def _bound(node: Node, i: int, name: str, given: Mapping[str, str] | list[str], objects: Objects) -> Step:
    """Arguments in declared order, each checked; a parameter with only one candidate may be left out."""
    domain = objects.domain
    skill = domain.skills.get(name)
    if skill is None:
        near = nearest(name, set(domain.skills))
        text = f"Step {i + 1}: there is no skill '{name}'.{did_you_mean(name, set(domain.skills))}"
        raise _at(node, Code.UNKNOWN_SKILL, text, step=i, details={"nearest": near})
    named = _named(node, i, skill, given, objects)
    args: list[str] = []
    for p in skill.params:
        value = named.get(p.name)
        candidates = objects.of(*p.types)
        if value is None:
            if len(candidates) != 1:
                text = f"Step {i + 1}, {name}: '{p.name}' ({' or '.join(p.types)}) is missing. {_declared(skill)}"
                raise _at(node, Code.WRONG_ARGUMENTS, text, step=i)
            value = candidates[0]
        if value not in objects:
            text = f"Step {i + 1}, {name}: there is no object '{value}'.{did_you_mean(value, set(candidates))}"
            raise _at(node, Code.UNKNOWN_OBJECT, text, step=i, details={"nearest": nearest(value, set(candidates))})
        if value not in objects.members(*p.types):
            text = f"Step {i + 1}, {name}: '{p.name}' must be a {' or '.join(p.types)}, but '{value}' is a {objects[value].type}."
            raise _at(node, Code.WRONG_TYPE, text, step=i)
        args.append(value)
    return Step(name, tuple(args))


def _named(node: Node, i: int, skill: Skill, given: Mapping[str, str] | list[str], objects: Objects) -> dict[str, str]:
    names = [p.name for p in skill.params]
    if isinstance(given, list):
        needed = [p.name for p in skill.params if len(objects.of(*p.types)) != 1]
        if len(given) == len(names):
            return dict(zip(names, given, strict=True))
        if len(given) == len(needed):
            return dict(zip(needed, given, strict=True))
        text = f"Step {i + 1}, {skill.name}: {len(given)} arguments were given. {_declared(skill)}"
        raise _at(node, Code.WRONG_ARGUMENTS, text, step=i)
    unknown = [k for k in given if k not in names]
    if unknown:
        text = f"Step {i + 1}, {skill.name}: there is no parameter '{unknown[0]}'. {_declared(skill)}"
        raise _at(node, Code.WRONG_ARGUMENTS, text, step=i)
    return dict(given)


def _declared(skill: Skill) -> str:
    return f"Declared: {skill.name}({', '.join(map(str, skill.params))})."


def plan_schema(objects: Objects, max_steps: int = MAX_STEPS, *, only: frozenset[str] | None = None) -> dict[str, Any]:
    """JSON Schema (2020-12) of an answer for this scene, for servers that constrain decoding.

    Args:
        objects: the scene's objects.
        max_steps: longest plan.
        only: objects to offer; None for all. Parameters with one candidate are left out.
    """
    steps = []
    for skill in sorted(objects.domain.skills.values(), key=lambda s: s.name):
        fields: dict[str, Any] = {}
        for p in skill.params:
            names = objects.of(*p.types)
            if len(names) == 1:
                continue
            offered = [n for n in names if only is None or n in only]
            fields[p.name] = {"enum": offered or list(names)}
        if any(not v["enum"] for v in fields.values()):
            continue
        args = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        steps.append(
            {
                "type": "object",
                "properties": {"skill": {"const": skill.name}, "args": args},
                "required": ["skill", "args"],
                "additionalProperties": False,
            }
        )
    reasoning = {"type": "string", "maxLength": 400}

    def answer(key: str, value: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"reasoning": reasoning, key: value},
            "required": ["reasoning", key],
            "additionalProperties": False,
        }

    listed = {"type": "array", "items": {"anyOf": steps}, "minItems": 1, "maxItems": max_steps}
    words = {"type": "string", "minLength": 1, "maxLength": 200}
    return {"anyOf": [answer("steps", listed), answer("ask", words), answer("refuse", words)]}
