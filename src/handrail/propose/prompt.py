"""Prompts made from the domain: skills, rules, the objects that matter, the request and the goal.

Everything in them is sorted and comes from domain, state, request and goal alone, so that equal states give equal
prompts. What they say is guidance; what holds is checked by code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from handrail.check.schema import Declined
from handrail.domain.domain import Domain
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.types import Objects
from handrail.domain.verdict import Reason
from handrail.intent.naming import Names
from handrail.language.records import Message
from handrail.propose.focus import described

_TASK = """You write plans for a robot. Answer with exactly one JSON object and nothing else:
{"reasoning": "<one or two sentences>", "steps": [{"skill": "<name>", "args": {"<parameter>": "<object>"}}]}
Use only the skills and objects that are listed, by their exact names. Every step's needs must hold when its turn comes.
When it is not clear which object is meant: {"reasoning": "...", "ask": "<a question>"}
When it is impossible, or a rule forbids it: {"reasoning": "...", "refuse": "<the reason>"}"""


def system_text(objects: Objects) -> str:
    """What is the same for every request in a scene: the task, the skills, the rules."""
    domain = objects.domain
    parts = [_TASK, "Skills:\n" + "\n".join(_skill(s, objects) for s in _sorted(domain))]
    rules = sorted({_sentence(r.because or str(r)) for r in domain.safety.rules})
    rules += sorted({_sentence(f.because or str(f)) for f in domain.safety.forbid})
    rules += [f"Nothing goes to {place}." for place in sorted(domain.safety.no_go)]
    if rules:
        parts.append("Rules:\n" + "\n".join(f"- {r}" for r in rules))
    return "\n\n".join(parts)


def user_text(request: str, goal: Goal | None, told: Sequence[str], state: State, names: Names) -> str:
    """The scene as far as it is told, the request and the goal that was decided.

    Args:
        request: the person's words; a line break in them can't begin a line of its own.
        goal: as decided; its words and its condition are given. None where it is not decided.
        told: objects to tell of, see `focus`.
        state: where things are.
        names: words for the objects.
    """
    lines = [described(name, state, names) for name in told]
    others = len(state.objects) - len(told)
    if others:
        lines.append(f"- and {others} objects that don't matter here")
    plain = [f"- {atom[0]}: {value}" for atom, value in state.facts() if len(atom) == 1]
    said = " ".join(request.split())
    wanted = "not decided" if goal is None else str(goal)
    if goal is not None and goal.text and goal.text != wanted:
        wanted = f"{goal.text} [{wanted}]"
    return "\n".join(["Objects:", *lines, *plain, f"Request: {said}", f"Goal: {wanted}"])


def plan_text(plan: Plan, objects: Objects, reasoning: str = "") -> str:
    """A plan as the answer that a model should write; parameters with only one candidate are left out."""
    steps = []
    for step in plan.steps:
        skill = objects.domain.skill(step.skill)
        args = {p.name: a for p, a in zip(skill.params, step.args, strict=True) if len(objects.of(*p.types)) != 1}
        steps.append({"skill": step.skill, "args": args})
    return _compact({"reasoning": reasoning or plan.reasoning, "steps": steps})


def declined_text(declined: Declined) -> str:
    """A question or refusal as the answer that a model should write."""
    return _compact({"reasoning": declined.reasoning, declined.kind: declined.text})


def feedback(reasons: Sequence[Reason]) -> str:
    """What a model is told of its refused answer: each reason with its hint, and what to do now."""
    lines = []
    for reason in reasons:
        hint = f" {reason.hint}" if reason.hint else ""
        place = f" (line {reason.line}, column {reason.column})" if reason.line else ""
        lines.append(f"- {reason.sentence}{place}{hint}")
    return "Your answer was refused:\n" + "\n".join(lines) + "\nWrite the whole corrected JSON object again."


def prompt_id(messages: Sequence[Message]) -> str:
    """Names a prompt: 16 hexadecimal digits over all of it."""
    text = json.dumps([[m.role, m.content] for m in messages], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sorted(domain: Domain) -> list[Skill]:
    return sorted(domain.skills.values(), key=lambda s: s.name)


def _skill(skill: Skill, objects: Objects) -> str:
    params = ", ".join(str(p) for p in skill.params if len(objects.of(*p.types)) != 1)
    text = f"- {skill.name}({params})"
    if skill.says:
        text += f": {skill.says}"
    if skill.needs:
        text += f" Needs {'; '.join(map(str, skill.needs))}."
    if skill.makes:
        text += f" Makes {'; '.join(map(str, skill.makes))}."
    return text


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")


def _compact(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
