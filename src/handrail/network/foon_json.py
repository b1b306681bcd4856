"""The consolidation paper's JSON, in and out.

A list of units `{"input_nodes": [...], "motion_node": "pour", "output_nodes": [...]}`, each node
`{"label", "states": [], "ingredients": [], "container": null}`. The format holds one container per node and no relation
word, time or motion flag. `dumps(..., extended=True)` adds the keys `relations`, `treatments`, `start`, `end` and
`moving`, which other readers ignore and `loads` prefers, so that nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from handrail.errors import ParseError, Where
from handrail.network.document import Document
from handrail.network.model import FunctionalUnit, ObjectNode, Origin, Relation, Source, TaskTree, Treatment
from handrail.network.repairs import Found, Repair

_UNIT_KEYS = {"input_nodes", "motion_node", "output_nodes", "start", "end", "moving"}
_NODE_KEYS = {"label", "states", "ingredients", "container", "relations", "treatments"}


class _Bad(Exception):  # noqa: N818 - internal signal, turned into a Found
    """A unit that can't be read, with the reason."""


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.found: list[Found] = []
        self.line = 1

    def note(self, kind: Repair, text: str = "") -> None:
        self.found.append(Found(kind, self.name, self.line, text))

    def node(self, raw: Any) -> ObjectNode:
        if not isinstance(raw, dict):
            raise _Bad(f"a node must be an object with label, states, ingredients, container; got {_short(raw)}")
        label = raw.get("label")
        if not isinstance(label, str) or not label.strip():
            raise _Bad(f"a node's label must be a text; got {_short(label)}")
        for key in raw.keys() - _NODE_KEYS:
            self.note(Repair.UNKNOWN_LINE, f"{label}: key {key!r}")
        label = label.strip()
        states = self.names(raw, "states", label)
        relations: set[Relation] = set()
        if "relations" in raw:
            for pair in raw["relations"]:
                if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, str) for p in pair)):
                    raise _Bad(f"{label}: relations must be [word, container] pairs; got {_short(pair)}")
                relations.add(Relation(pair[0], pair[1]))
        else:
            for container in self.names(raw, "container", label):
                if container == label:
                    self.note(Repair.SELF_CONTAINER, label)
                else:
                    relations.add(Relation("at", container))
        treatments: set[Treatment] = set()
        for pair in raw.get("treatments", ()):
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], list)):
                raise _Bad(f"{label}: treatments must be [state, [what with]] pairs; got {_short(pair)}")
            treatments.add((str(pair[0]), frozenset(map(str, pair[1]))))
        node = ObjectNode(label, states, self.names(raw, "ingredients", label), relations, treatments)
        if node.bare:
            self.note(Repair.BARE_OBJECT, label)
        return node

    def names(self, raw: dict[str, Any], key: str, label: str) -> list[str]:
        """A list of names; a single text counts as a list of one, null as none."""
        value = raw.get(key)
        if value is None:
            if key not in raw:
                self.note(Repair.MISSING_FIELD, f"{label}: {key}")
            return []
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(i, str) for i in items):
            raise _Bad(f"{label}: {key} must be a list of texts; got {_short(value)}")
        kept = [i.strip() for i in items if i.strip() and i.strip().lower() not in ("null", "none")]
        if len(kept) < len(items):
            self.note(Repair.STRAY_COMMA, f"{label}: {key}")
        if len(set(kept)) < len(kept):
            kind = Repair.DUPLICATE_STATE if key == "states" else Repair.DUPLICATE_INGREDIENT
            self.note(kind, f"{label}: {key}")
        return kept

    def unit(self, raw: Any, index: int, origin: Origin) -> FunctionalUnit:
        if not isinstance(raw, dict):
            raise _Bad(f"a unit must be an object with input_nodes, motion_node, output_nodes; got {_short(raw)}")
        motion = raw.get("motion_node")
        if isinstance(motion, list):
            raise _Bad(f"several motions in one unit: {_short(motion)}")
        if not isinstance(motion, str) or not motion.strip():
            raise _Bad(f"motion_node must be a text; got {_short(motion)}")
        sides: list[list[ObjectNode]] = []
        for key in ("input_nodes", "output_nodes"):
            nodes = raw.get(key)
            if not isinstance(nodes, list):
                raise _Bad(f"{motion}: {key} must be a list; got {_short(nodes)}")
            sides.append([self.node(n) for n in nodes])
        for key in raw.keys() - _UNIT_KEYS:
            self.note(Repair.UNKNOWN_LINE, f"{motion}: key {key!r}")
        if not sides[1]:
            raise _Bad(f"{motion}: no output")
        if not sides[0]:
            self.note(Repair.NO_INPUT, motion)
        source = Source(self.name, origin, index, self.line)
        moving = [bool(m) for m in raw.get("moving", ())]
        unit = FunctionalUnit(
            sides[0], motion.strip(), sides[1], source, str(raw.get("start", "")), str(raw.get("end", "")), moving
        )
        self.occurrence_notes(unit)
        return unit

    def occurrence_notes(self, unit: FunctionalUnit) -> None:
        labels = [n.label for n in unit.inputs]
        if len(set(labels)) < len(labels):
            self.note(Repair.SAME_LABEL, unit.motion)
        for node in unit.inputs:
            for relation in node.relations:
                if relation.container not in labels:
                    self.note(Repair.ABSENT_CONTAINER, f"{node.label} {relation}")
        if unit.no_op:
            self.note(Repair.NO_OP, unit.motion)

    def elements(self) -> Iterator[Any]:
        """Elements of the top-level list, with `self.line` set to where each begins."""
        decoder = json.JSONDecoder(object_pairs_hook=_no_duplicates)
        text = self.text
        position = _skip(text, 0)
        if text[position : position + 1] != "[":
            raise ParseError("a task tree in JSON is a list of units: expected '['", self.where(position))
        position = _skip(text, position + 1)
        line_at, line = 0, 1
        while text[position : position + 1] != "]":
            line += text.count("\n", line_at, position)
            line_at = position
            self.line = line
            try:
                value, position = decoder.raw_decode(text, position)
            except json.JSONDecodeError as error:
                raise ParseError(f"not JSON: {error.msg}", self.where(error.pos)) from error
            except _Bad as error:
                raise ParseError(str(error), self.where(position)) from error
            yield value
            position = _skip(text, position)
            if text[position : position + 1] == ",":
                position = _skip(text, position + 1)
                if text[position : position + 1] == "]":
                    self.note(Repair.STRAY_COMMA, "comma before ]")
            elif text[position : position + 1] != "]":
                raise ParseError("expected ',' or ']' between units", self.where(position))
        rest = _skip(text, position + 1)
        if rest < len(text):
            raise ParseError("text after the list of units", self.where(rest))

    def where(self, position: int) -> Where:
        line = self.text.count("\n", 0, position) + 1
        return Where(self.name, line, position - self.text.rfind("\n", 0, position))


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [k for k, _ in pairs]
        raise _Bad(f"key given twice: {next(k for k in keys if keys.count(k) > 1)!r}")
    return result


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def loads(text: str | bytes, name: str = "<text>", origin: Origin = Origin.PROPOSAL) -> Document:
    """Read a tree from the paper's JSON.

    A unit that can't be read is refused by itself and reported with its line; the others stay.

    Raises:
        ParseError: the text is not a JSON list at all; the message has line and column.
    """
    reader = _Reader(name, "")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ParseError(f"not UTF-8 at byte {error.start}", Where(name)) from error
    reader.text = text
    units: list[FunctionalUnit] = []
    for raw in reader.elements():
        try:
            units.append(reader.unit(raw, len(units), origin))
        except _Bad as error:
            reader.note(Repair.MALFORMED_UNIT, str(error))
    return Document(TaskTree(tuple(units), None, name, Source(name, origin)), tuple(reader.found))


def from_value(value: Any, name: str = "<answer>", origin: Origin = Origin.PROPOSAL) -> Document:
    """Read a tree from a JSON value: the list of units, or an object that holds it under `units` or `task_tree`.

    Raises:
        ParseError: neither of these.
    """
    if isinstance(value, dict):
        lists = [value[k] for k in ("units", "task_tree", "functional_units") if isinstance(value.get(k), list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list):
        raise ParseError(f"a task tree is a list of units, got {_short(value)}", Where(name))
    reader = _Reader(name, "")
    reader.line = 0
    units: list[FunctionalUnit] = []
    for raw in value:
        try:
            units.append(reader.unit(raw, len(units), origin))
        except _Bad as error:
            reader.note(Repair.MALFORMED_UNIT, str(error))
    return Document(TaskTree(tuple(units), None, name, Source(name, origin)), tuple(reader.found))


def plain(tree: TaskTree, extended: bool = True) -> list[dict[str, Any]]:
    """The tree as the JSON value that `dumps` writes."""
    return [_unit(u, extended, []) for u in tree.units]


def dumps(tree: TaskTree, extended: bool = True, indent: int | None = 1) -> tuple[str, tuple[Found, ...]]:
    """Write a tree.

    Args:
        tree: what to write.
        extended: add the keys that keep everything; without them the paper's format as it is.
        indent: as in `json.dumps`.

    Returns:
        (text, what the format could not hold).
    """
    lost: list[Found] = []
    value = [_unit(u, extended, lost) for u in tree.units]
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n", tuple(lost)


def _unit(unit: FunctionalUnit, extended: bool, lost: list[Found]) -> dict[str, Any]:
    def note(kind: Repair, text: str) -> None:
        lost.append(Found(kind, unit.source.name, unit.source.line, text))

    result: dict[str, Any] = {
        "input_nodes": [_node(n, extended, note) for n in unit.inputs],
        "motion_node": unit.motion,
        "output_nodes": [_node(n, extended, note) for n in unit.outputs],
    }
    if extended:
        if unit.start or unit.end:
            result["start"], result["end"] = unit.start, unit.end
        if unit.moving:
            result["moving"] = [int(m) for m in unit.moving]
    elif unit.start or unit.end or any(unit.moving):
        note(Repair.TIME_LOST, unit.motion)
    return result


def _node(node: ObjectNode, extended: bool, note: Any) -> dict[str, Any]:
    relations = sorted(node.relations)
    result: dict[str, Any] = {
        "label": node.label,
        "states": sorted(node.states),
        "ingredients": sorted(node.ingredients),
        "container": relations[0].container if relations else None,
    }
    treatments = sorted(([word, sorted(items)] for word, items in node.treatments), key=lambda t: (t[0], t[1]))
    if extended:
        if any(r.word != "at" for r in relations) or len(relations) > 1:
            result["relations"] = [[r.word, r.container] for r in relations]
        if treatments:
            result["treatments"] = treatments
        return result
    if len(relations) > 1:
        note(Repair.SECOND_PLACE, f"{node.label}: {', '.join(map(str, relations[1:]))}")
    if any(r.word != "at" for r in relations):
        note(Repair.RELATION_WORD, f"{node.label} {relations[0]}")
    if treatments:
        note(Repair.QUALIFIED_STATE, f"{node.label}: {treatments}")
        result["states"] = sorted({*node.states, *(str(t[0]) for t in treatments)})
        result["ingredients"] = sorted(node.ingredients.union(*(items for _, items in node.treatments)))
    return result
