"""Task trees made with a language model: a request, several distinct ways to do it, a tree for each.

As in the consolidation paper the model is asked first for recipes (or ways to do a task) and then for a tree of each;
differing ways give trees that differ usefully. Answers are constrained by a JSON schema where the endpoint can do that,
and read losslessly: every unit that can't be used is reported. Equal trees are counted, not kept twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.errors import ConfigError, ModelError, ParseError
from handrail.language.inert import inert
from handrail.language.model import DEFAULT_TIMEOUT, Model
from handrail.language.reading import read
from handrail.language.records import Message
from handrail.network import foon_json
from handrail.network.model import FunctionalUnit, ObjectNode, Relation, Source, TaskTree
from handrail.network.repairs import Found

WAYS = 5
"""Trees per request, the paper's number."""

_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 12}
_NODE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "minLength": 1, "maxLength": 40},
        "states": _NAMES,
        "ingredients": _NAMES,
        "container": {"type": ["string", "null"], "maxLength": 40},
    },
    "required": ["label", "states", "ingredients", "container"],
    "additionalProperties": False,
}
TREE_SCHEMA: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 30,
    "items": {
        "type": "object",
        "properties": {
            "input_nodes": {"type": "array", "items": _NODE, "minItems": 1, "maxItems": 8},
            "motion_node": {"type": "string", "minLength": 1, "maxLength": 40},
            "output_nodes": {"type": "array", "items": _NODE, "minItems": 1, "maxItems": 8},
        },
        "required": ["input_nodes", "motion_node", "output_nodes"],
        "additionalProperties": False,
    },
}

EXAMPLE = TaskTree(
    (
        FunctionalUnit(
            [ObjectNode("onion", ["whole"]), ObjectNode("cutting board", ["empty"])],
            "pick-and-place",
            [
                ObjectNode("onion", ["whole"], (), [Relation("at", "cutting board")]),
                ObjectNode("cutting board", (), ["onion"]),
            ],
        ),
        FunctionalUnit(
            [ObjectNode("onion", ["whole"], (), [Relation("at", "cutting board")]), ObjectNode("knife")],
            "chop",
            [ObjectNode("onion", ["chopped"], (), [Relation("at", "cutting board")]), ObjectNode("knife")],
        ),
    )
)

PROMPTS: Mapping[str, str] = {
    "rules": (
        "Write the task as functional units: what goes in, one motion, what comes out. Rules: one motion per unit. "
        "Every object has a state, its ingredients, or the container it is in. What goes in comes out or becomes part "
        "of something. The units follow each other: what a unit needs was made by an earlier one, or is raw, or is a tool."
    ),
    "steps": (
        "Break the task into single motions of a robot's hand. For each motion give the objects before it and after it, "
        "with states such as whole, chopped, empty, on, and the container an object is in."
    ),
}
"""Prompt variants; several of them give trees that differ more than temperature alone."""


@dataclass(frozen=True)
class Made:
    """One tree a model made.

    Attributes:
        tree: its units are credited to `name`.
        way: the recipe or way it is a tree of.
        votes: how many answers gave the same units.
        model: the model's name.
        prompt: the prompt variant.
    """

    tree: TaskTree
    way: str
    votes: int
    model: str
    prompt: str


@dataclass(frozen=True)
class Generated:
    """What came of a request.

    Attributes:
        trees: distinct trees, in the order made.
        duplicates: answers that repeated an earlier tree.
        failed: (way, why) of answers that gave no tree.
        found: anomalies of all answers, each with its answer's name.
        tokens: generated in all.
    """

    trees: tuple[Made, ...]
    duplicates: int
    failed: tuple[tuple[str, str], ...]
    found: tuple[Found, ...]
    tokens: int


def generate(
    models: Sequence[Model],
    request: str,
    count: int = WAYS,
    temperature: float = 0.7,
    seed: int = 0,
    prompts: Sequence[str] = ("rules",),
    max_tokens: int = 3000,
    timeout: float = DEFAULT_TIMEOUT,
) -> Generated:
    """Several trees for a request.

    Args:
        models: asked in turn; more than one gives more variety.
        request: what is wanted, in a person's words. It is data: it can't open a turn of its own.
        count: how many answers are asked for.
        temperature: of the trees; the list of ways is asked for at the same temperature.
        seed: the k-th answer uses seed + k.
        prompts: variants, taken in turn.
        max_tokens: per answer.
        timeout: seconds per answer.

    Raises:
        ConfigError: no model, no such prompt variant, or a count below 1.
        ModelError: an endpoint failed for every answer.
    """
    if not models:
        raise ConfigError("at least one model is needed")
    if count < 1:
        raise ConfigError(f"count must be at least 1, got {count}")
    unknown = [p for p in prompts if p not in PROMPTS]
    if unknown or not prompts:
        raise ConfigError(f"no prompt variant {unknown}; there are {', '.join(PROMPTS)}")
    options: dict[str, Any] = {"temperature": temperature, "timeout": timeout}
    ways, tokens = _ways(models[0], request, count, seed, options)
    made: dict[tuple[Any, ...], Made] = {}
    failed: list[tuple[str, str]] = []
    found: list[Found] = []
    errors: list[ModelError] = []
    duplicates = 0
    for k in range(count):
        model = models[k % len(models)]
        prompt = prompts[k % len(prompts)]
        way = ways[k % len(ways)]
        name = f"{model.fingerprint.model} {k + 1}"
        messages = _tree_messages(request, way, prompt)
        try:
            answer = model.json(messages, TREE_SCHEMA, max_tokens=max_tokens, seed=seed + k, **options)
        except ModelError as error:
            errors.append(error)
            failed.append((way, str(error)))
            continue
        tokens += answer.tokens
        try:
            document = foon_json.from_value(read(answer.text, source=name).plain(), name)
        except ParseError as error:
            failed.append((way, str(error)))
            continue
        found.extend(document.found)
        if not document.units:
            failed.append((way, "no usable unit in the answer"))
            continue
        key = tuple(u.key for u in document.units)
        if key in made:
            duplicates += 1
            old = made[key]
            made[key] = Made(old.tree, old.way, old.votes + 1, old.model, old.prompt)
        else:
            made[key] = Made(document.tree.named(way), way, 1, model.fingerprint.model, prompt)
    if errors and len(errors) == count:
        raise errors[0]
    return Generated(tuple(made.values()), duplicates, tuple(failed), tuple(found), tokens)


def _ways(model: Model, request: str, count: int, seed: int, options: Mapping[str, Any]) -> tuple[list[str], int]:
    """Distinct ways to do what is asked; the request itself where the model lists none."""
    schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": count,
        "items": {"type": "string", "minLength": 3, "maxLength": 300},
    }
    messages = [
        Message(
            "system", "You list distinct ways to do a household or kitchen task. Answer with a JSON list of texts."
        ),
        Message("user", f"Give {count} different ways, each in one or two sentences, to do this: {inert(request)}"),
    ]
    try:
        answer = model.json(messages, schema, max_tokens=80 * count, seed=seed, **options)
        value = read(answer.text, source="ways").plain()
    except ParseError:
        return [request], 0
    ways = [w.strip() for w in value if isinstance(w, str) and w.strip()] if isinstance(value, list) else []
    return list(dict.fromkeys(ways)) or [request], answer.tokens


def _tree_messages(request: str, way: str, prompt: str) -> list[Message]:
    example = foon_json.dumps(EXAMPLE, extended=False, indent=None)[0].strip()
    return [
        Message("system", PROMPTS[prompt] + " Answer with a JSON list of units."),
        Message("user", "Put a whole onion on the cutting board and chop it."),
        Message("assistant", example),
        Message("user", f"{inert(request)}\n{inert(way)}" if way != request else inert(request)),
    ]


def credited(made: Made, name: str) -> TaskTree:
    """The tree with its units credited to another voice."""
    units = [u.but(source=Source(name, u.source.origin, u.source.index, u.source.line)) for u in made.tree.units]
    return TaskTree(tuple(units), made.tree.goal, made.way, Source(name))
