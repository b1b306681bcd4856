"""`handrail eval virtualhome`: 5,130 recorded household answers of 15 models, read without losing a step.

Data: virtualhome-eval 0.1.1 (MIT licence), answers to 342 household tasks. Each answer should be one JSON object whose
keys are actions in order, such as `{"WALK": ["sink"], "GRAB": ["soap"], "WALK": ["table"]}`: an action that occurs twice
is a repeated key, which ordinary JSON readers drop. Each prompt states the actions, their number of arguments, the
properties that each argument must have, and the objects with their properties; from these a domain is made, and its
checker judges names, arity and affordance.

The number of steps in a text is counted by a scan of its own that knows nothing of the reader: every quoted text that
is followed by a colon.
"""

from __future__ import annotations

import ast
import json
import re
import tarfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.formula import Call, Const, Param, Test
from handrail.domain.plan import Plan, Step
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.types import Attribute, Obj, Objects, Parameter, Type
from handrail.domain.verdict import Code
from handrail.errors import ParseError
from handrail.evaluate.options import EvalOptions
from handrail.language.nodes import Items, Node, Pairs, Scalar
from handrail.language.reading import Reading, is_empty, read

_ANSWERS = "llm_response/action_sequence/"
_PROMPTS = "evaluation/action_sequence/prompts/helm_prompts.json"
_ACTION = re.compile(r"^([A-Z]+): \((\d), (\[.*\])\)", re.MULTILINE)
_OBJECT = re.compile(r"^(\S+), id: \d+, properties: (\[.*\])$", re.MULTILINE)
_STEP = re.compile(r"""(["'])[^"'\n]{1,60}\1\s*:""")
_THING = "thing"
_COUNTS = (
    "answers",
    "read",
    "empty_refused",
    "steps_in_text",
    "steps_read",
    "steps_lost",
    "steps_gained",
    "repeated_actions",
    "dict_would_lose",
)
PROBLEMS = ("unknown_action", "unknown_object", "arity", "affordance")


@dataclass
class _Scene:
    """One task's actions and objects, as its prompt states them."""

    prompt: str

    @cached_property
    def task(self) -> Task:
        """The domain and objects of the prompt, with no goal and nothing in the state."""
        body = self.prompt[self.prompt.index("Supported Actions List:") :]
        actions = _ACTION.findall(body)
        listed = self.prompt[self.prompt.rindex("Objects in the scene:") :]
        things = {name: ast.literal_eval(properties) for name, properties in _OBJECT.findall(listed)}
        wanted = {p for _, _, needs in actions for part in ast.literal_eval(needs) for p in part}
        owned = {p for properties in things.values() for p in properties}
        attributes = tuple(Attribute(p, _THING) for p in sorted(wanted | owned))
        skills = {name: _skill(name, int(n), ast.literal_eval(needs)) for name, n, needs in actions}
        domain = Domain("virtualhome", {_THING: Type(_THING, None, attributes)}, {}, skills)
        objects = [
            Obj(name, _THING, dict.fromkeys(properties, True))
            for name, properties in things.items()
            if name != "character"  # the robot itself; the prompt forbids naming it
        ]
        return Task(Objects(domain, objects))


def _skill(name: str, arity: int, needs: list[list[str]]) -> Skill:
    params = tuple(Parameter(f"x{i}", (_THING,)) for i in range(arity))
    tests = tuple(
        Test(Call(prop, (Param(f"x{i}"),)), "==", Const(True)) for i, part in enumerate(needs[:arity]) for prop in part
    )
    return Skill(name, params, needs=tests)


def run(options: EvalOptions) -> dict[str, Any]:
    """Read every recorded answer and judge its steps.

    Returns:
        `answers`; `read`: those of which a value came out, empty ones included; `refused`: the others, each with line,
        column and reason; `empty_refused`: answers without any step (`{}`), refused as plans; `steps_in_text`: by the
        independent scan; `steps_read`; `steps_lost`: the scan's steps that are not in the reading, summed over answers;
        `steps_gained`: the other way round; `repeated_actions`: answers that repeat a key; `dict_would_lose`: steps that
        a plain dict would have dropped; `problems`: steps by problem; `plans_with`: answers by problem;
        `microseconds_per_answer`: reading only, one core; `habits`: what was tolerated, by number of answers; `models`.
    """
    folder = options.need_data("virtualhome_eval")
    scenes = {p["identifier"]: _Scene(p["llm_prompt"]) for p in _load(folder / "prompts.tar.xz", _PROMPTS)[0][1]}
    recorded = _load(folder / "llm_responses_15models_4modules.tar.xz", _ANSWERS)
    total = Counter[str]()
    problems, plans_with, habits = Counter[str](), Counter[str](), Counter[str]()
    refused: list[dict[str, Any]] = []
    models: list[dict[str, Any]] = []
    seconds = 0.0
    for i, (name, rows) in enumerate(recorded):
        options.progress("virtualhome", i, len(recorded))
        model = Path(name).name.removesuffix("_outputs.json")
        one = Counter[str]()
        for row in rows[:: 8 if options.quick else 1]:
            text: str = row["llm_output"]
            one["answers"] += 1
            in_text = len(_STEP.findall(text))
            one["steps_in_text"] += in_text
            began = time.process_time()
            try:
                reading = read(text)
            except ParseError as error:
                where = error.where
                refused.append({
                    "model": model, "task": row["identifier"], "line": where.line if where else 0,
                    "column": where.column if where else 0, "reason": error.message, "steps_in_text": in_text,
                })  # fmt: skip
                one["refused"] += 1
                continue
            finally:
                seconds += time.process_time() - began
            one["read"] += 1
            habits.update({note.habit for note in reading.notes})
            steps = steps_of(reading)
            one["empty_refused"] += is_empty(reading.node)
            one["steps_read"] += len(steps)
            one["steps_lost"] += max(0, in_text - len(steps))
            one["steps_gained"] += max(0, len(steps) - in_text)
            distinct = len({action for action, _ in steps})
            one["repeated_actions"] += distinct < len(steps)
            one["dict_would_lose"] += len(steps) - distinct
            found = judged(steps, scenes[row["identifier"]].task)
            problems.update(found)
            plans_with.update(set(found))
        total.update(one)
        keys = ("answers", "read", "refused", "empty_refused", "steps_in_text", "steps_read", "steps_lost")
        models.append({"model": model, **{k: one[k] for k in keys}})
    options.progress("virtualhome", len(recorded), len(recorded))
    return {
        **{key: total[key] for key in _COUNTS},
        "refused": refused,
        "problems": {p: problems[p] for p in PROBLEMS},
        "plans_with": {p: plans_with[p] for p in PROBLEMS},
        "microseconds_per_answer": round(1e6 * seconds / max(1, total["answers"]), 1),
        "habits": dict(habits.most_common()),
        "models": models,
    }


def _load(archive: Path, prefix: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """(name, rows) of the JSON files under a prefix of an archive, by name."""
    found: list[tuple[str, list[dict[str, Any]]]] = []
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.removeprefix("./")
            if member.isfile() and path.startswith(prefix) and path.endswith(".json"):
                stream = tar.extractfile(member)
                assert stream is not None
                found.append((path, json.load(stream)))
    return sorted(found, key=lambda item: item[0])


def steps_of(reading: Reading) -> list[tuple[str, tuple[str, ...] | None]]:
    """(action, arguments) in the order written; arguments None where they are not a list of names.

    An object is one step per pair, a list is the steps of its elements.
    """
    steps: list[tuple[str, tuple[str, ...] | None]] = []

    def walk(node: Node) -> None:
        if isinstance(node, Items):
            for part in node:
                walk(part)
        elif isinstance(node, Pairs):
            steps.extend((entry.key, _names(entry.value)) for entry in node)

    walk(reading.node)
    return steps


def _names(node: Node) -> tuple[str, ...] | None:
    """Object names: a list of names, of `[name, id]` pairs, or one bare name."""
    if isinstance(node, Scalar):
        return (node.value,) if isinstance(node.value, str) else None
    if not isinstance(node, Items):
        return None
    names: list[str] = []
    for part in node:
        if isinstance(part, Items) and len(part) == 2:
            part = part.values[0]  # [name, id]
        if not isinstance(part, Scalar) or not isinstance(part.value, str):
            return None
        names.append(part.value)
    return tuple(names)


def judged(steps: list[tuple[str, tuple[str, ...] | None]], task: Task) -> list[str]:
    """One problem at most for each step, by the same checker as everything else."""
    found: list[str] = []
    state = State(task.objects)
    for action, names in steps:
        if names is None:
            found.append("arity")
            continue
        result = check_symbolic(Plan((Step(action, names),)), task, state)
        for reason in result.reasons:
            kind = {
                Code.UNKNOWN_SKILL: "unknown_action",
                Code.WRONG_ARGUMENTS: "arity",
                Code.UNKNOWN_OBJECT: "unknown_object",
                Code.PRECONDITION: "affordance",
            }.get(Code(reason.code))
            if kind is None:
                raise AssertionError(f"unforeseen reason {reason.code}: {reason.sentence}")
            found.append(kind)
    return found
