"""Writing trees in the FOON text format; `foon_text` reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from handrail.errors import ConfigError
from handrail.network.foon_text import CONTAINS
from handrail.network.model import ObjectNode, TaskTree

Dialect = Literal["numbered", "named", "plain"]


def dumps(tree: TaskTree, dialect: Dialect = "named", ids: dict[tuple[str, str], int] | None = None) -> str:
    """Write a tree; reading it back gives an equal tree.

    Args:
        tree: what to write.
        dialect: `numbered`, `named` or `plain`.
        ids: numbers to use in the numbered dialect; names without one get the next free numbers in sorted order.
    """
    if dialect not in ("numbered", "named", "plain"):
        raise ConfigError(f"dialect must be numbered, named or plain, got {dialect!r}")
    numbers = _numbers(tree, ids or {}) if dialect == "numbered" else {}
    lines: list[str] = [f"# {tree.name}"] if tree.name else []
    lines.append("//")
    for unit in tree.units:
        flags = unit.moving or (False,) * (len(unit.inputs) + len(unit.outputs))
        for position, node in enumerate(unit.inputs):
            _write_node(node, flags[position], dialect, numbers, lines, None)
        head = "M" + str(numbers.get(("M", unit.motion), ""))
        if dialect == "plain":
            lines.append(f"{head}\t{unit.motion}")
        else:
            lines.append(f"{head}\t{unit.motion}\t<{unit.start or 'Assumed'},{unit.end or 'Assumed'}>")
        for position, node in enumerate(unit.outputs, len(unit.inputs)):
            _write_node(node, flags[position], dialect, numbers, lines, tree.goal)
        lines.append("//")
    return "\n".join(lines) + "\n"


def _numbers(tree: TaskTree, ids: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    names: set[tuple[str, str]] = set()
    for unit in tree.units:
        names.add(("M", unit.motion))
        for node in unit.objects():
            names.add(("O", node.label))
            names.update(("S", word) for word in _words(node))
    result = dict(ids)
    for letter in "OSM":
        free = max((n for (kind, _), n in result.items() if kind == letter), default=-1) + 1
        for name in sorted(names):
            if name[0] == letter and name not in result:
                result[name] = free
                free += 1
    return result


def _words(node: ObjectNode) -> Iterable[str]:
    yield from node.states
    yield from (r.word for r in node.relations)
    yield from (word for word, _ in node.treatments)
    if node.ingredients:
        yield CONTAINS


def _write_node(
    node: ObjectNode,
    moving: bool,
    dialect: Dialect,
    numbers: dict[tuple[str, str], int],
    lines: list[str],
    goal: ObjectNode | None,
) -> None:
    head = f"O{numbers.get(('O', node.label), '')}\t{node.label}"
    if dialect != "plain":
        head += f"\t{int(moving)}"
    lines.append(head + ("\t!" if node == goal else ""))

    def state(word: str, rest: str = "") -> None:
        lines.append(f"S{numbers.get(('S', word), '')}\t{word}" + (f"\t{rest}" if rest else ""))

    for word in sorted(node.states):
        state(word)
    for word, items in sorted(node.treatments, key=lambda t: (t[0], sorted(t[1]))):
        state(word, "{" + ",".join(sorted(items)) + "}")
    if node.ingredients:
        state(CONTAINS, "{" + ",".join(sorted(node.ingredients)) + "}")
    for relation in sorted(node.relations):
        state(relation.word, f"[{relation.container}]")
