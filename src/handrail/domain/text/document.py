"""YAML 1.2 with positions: plain dicts, lists and strings that remember where they stand in the file.

`Map`, `Seq` and `Text` are a dict, a list and a str, so the parts of a file that handrail only passes on stay plain data, while
every error about the parts that it reads can say file, line and column, even for a character in the middle of a quoted or folded
string.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handrail.errors import DomainError, Where

if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import Node

MAX_NODES = 200_000
"""Values in one file at most; an alias that is expanded counts each time."""


class Map(dict[str, Any]):
    """A mapping that knows where it, its keys and its values begin."""

    where: Where = Where()
    key_at: dict[str, Where]
    value_at: dict[str, Where]

    def __init__(self, where: Where) -> None:
        super().__init__()
        self.where = where
        self.key_at = {}
        self.value_at = {}


class Seq(list[Any]):
    """A list that knows where it and its items begin."""

    def __init__(self, where: Where) -> None:
        super().__init__()
        self.where = where
        self.item_at: list[Where] = []


class Text(str):
    """A string that knows where each of its characters stands."""

    __slots__ = ("_escapes", "_raw", "where")

    where: Where
    _raw: str
    _escapes: bool

    def __new__(cls, value: str, where: Where, raw: str, escapes: bool = False) -> Text:
        """Make one.

        Args:
            value: the string.
            where: where it begins, with its quote if it has one.
            raw: its text in the file from there on; a quote or block header at its begin is blanked with NUL.
            escapes: whether a backslash in `raw` begins an escape.
        """
        self = super().__new__(cls, value)
        self.where = where
        self._raw = raw
        self._escapes = escapes
        return self

    def locate(self, offset: int) -> Where:
        """The place in the file of the character at `offset`; one past the end is allowed."""
        raw, at = self._raw, 0
        for i, char in enumerate(self):
            step = 1
            while at < len(raw) and raw[at] != char and not (char.isspace() and raw[at].isspace()):
                if self._escapes and raw[at] == "\\" and not raw.startswith("\n", at + 1):
                    step = _ESCAPED.get(raw[at + 1 : at + 2], 2)
                    break
                at += 1
            if i == offset:
                break
            at += step
        before = raw[: min(at, len(raw))]
        lines = before.count("\n")
        column = len(before) - before.rfind("\n") if lines else self.where.column + len(before)
        return Where(self.where.source, self.where.line + lines, column)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Text, (str(self), self.where, self._raw, self._escapes))


_KINDS = {
    "MappingNode": ("map",),
    "SequenceNode": ("seq",),
    "ScalarNode": ("str", "int", "float", "bool", "null", "timestamp"),
}
"""YAML tags that mean something here, per kind of node; a date is text."""

_ESCAPED = {"x": 4, "u": 6, "U": 10}
"""Lengths of the escapes that are longer than two characters."""


def where_of(value: object, default: Where) -> Where:
    """Where a value begins, if it knows."""
    return value.where if isinstance(value, (Map, Seq, Text)) else default


def read_document(text: str, source: str) -> Map:
    """Read one YAML document whose top is a mapping.

    Raises:
        DomainError: not YAML, several documents, a key used twice, a key that is not a word, a tag that YAML 1.2 doesn't have.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.version = "1.2"
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        where = Where(source, mark.line + 1, mark.column + 1) if mark is not None else Where(source)
        said = ", ".join(str(p) for p in (e.context, e.problem) if p)
        if "mapping values are not allowed" in said:
            said += ". Put quotes around a text that has ': ' in it"
        raise DomainError(f"this is not valid YAML: {said}", where) from None
    except YAMLError as e:
        raise DomainError(f"this is not valid YAML: {' '.join(str(e).split())}", Where(source)) from None
    if node is None:
        raise DomainError("the file is empty", Where(source, 1, 1))
    value = _Builder(yaml, text, source).build(node, 0)
    if not isinstance(value, Map):
        raise DomainError("the file must be a mapping, such as `skills:` with skills below it", Where(source, 1, 1))
    return value


class _Builder:
    def __init__(self, yaml: YAML, text: str, source: str) -> None:
        self.yaml, self.text, self.source = yaml, text, source
        self.count = 0

    def where(self, node: Node) -> Where:
        return Where(self.source, node.start_mark.line + 1, node.start_mark.column + 1)

    def build(self, node: Node, depth: int) -> Any:
        self.count += 1
        if self.count > MAX_NODES or depth > 60:
            raise DomainError("the file is nested too deep or its aliases expand to too much", self.where(node))
        tag = str(node.tag)
        short = tag.rsplit(":", 1)[-1]
        kinds = _KINDS.get(type(node).__name__, ())
        if not tag.startswith("tag:yaml.org,2002:") or short not in kinds:
            raise DomainError(f"the tag '{node.tag}' means nothing here; leave it out", self.where(node))
        if short == "map":
            return self._map(node, depth)
        if short == "seq":
            out = Seq(self.where(node))
            for item in node.value:
                out.append(self.build(item, depth + 1))
                out.item_at.append(self.where(item))
            return out
        if short in ("str", "timestamp"):
            raw = self.text[node.start_mark.index : node.end_mark.index]
            style = getattr(node, "style", None)
            if style in ("'", '"'):
                return Text(node.value, self.where(node), "\0" + raw[1:-1], escapes=style == '"')
            if style in ("|", ">"):
                head, _, rest = raw.partition("\n")
                raw = "\0" * len(head) + "\n" + rest
            return Text(node.value, self.where(node), raw)
        try:
            return self.yaml.constructor.construct_object(node, deep=True)
        except (ValueError, TypeError) as e:
            raise DomainError(f"can't read '{node.value}': {e}", self.where(node)) from None

    def _map(self, node: Node, depth: int) -> Map:
        out = Map(self.where(node))
        for key_node, value_node in node.value:
            key = self.build(key_node, depth + 1)
            where = self.where(key_node)
            if not isinstance(key, str):
                shown = getattr(key_node, "value", key)
                raise DomainError(f"a key must be a word; put quotes around '{shown}' if it is one", where)
            if key in out:
                first = out.key_at[key]
                raise DomainError(f"the key '{key}' is used twice; it is also on line {first.line}", where)
            plain = str(key)
            out[plain] = self.build(value_node, depth + 1)
            out.key_at[plain] = where
            out.value_at[plain] = self.where(value_node)
        return out


def plain(value: Any) -> Any:
    """The same data without positions."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, Text) else value
