"""Networks and trees as Mermaid and Graphviz text."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.network.kinds import kinds
from handrail.network.model import FunctionalUnit, ObjectNode, TaskTree
from handrail.network.network import Network


def _units(source: TaskTree | Network) -> tuple[FunctionalUnit, ...]:
    return source.units


def _numbered(units: Iterable[FunctionalUnit]) -> dict[ObjectNode, int]:
    number: dict[ObjectNode, int] = {}
    for unit in units:
        for node in unit.objects():
            number.setdefault(node, len(number))
    return number


def graphviz(source: TaskTree | Network, plan: Iterable[int] = ()) -> str:
    """DOT text: object nodes round, motions square; the units of `plan` are drawn bold."""
    units = _units(source)
    number = _numbered(units)
    bold = set(plan)
    lines = ["digraph foon {", "  rankdir=LR;", '  node [fontname="sans-serif" fontsize=10];']
    for node, k in number.items():
        fill = "#e3f2fd" if kinds().stays(node.label) else "#e8f5e9"
        lines.append(f'  o{k} [label="{_dot(repr(node))}" shape=ellipse style=filled fillcolor="{fill}"];')
    for k, unit in enumerate(units):
        style = " penwidth=3" if k in bold else ""
        lines.append(f'  m{k} [label="{_dot(unit.motion)}" shape=box style=filled fillcolor="#ffcdd2"{style}];')
        lines += [f"  o{number[n]} -> m{k};" for n in dict.fromkeys(unit.inputs)]
        lines += [f"  m{k} -> o{number[n]};" for n in dict.fromkeys(unit.outputs)]
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def mermaid(source: TaskTree | Network, plan: Iterable[int] = ()) -> str:
    """Mermaid flowchart text; the units of `plan` get the class `plan`."""
    units = _units(source)
    number = _numbered(units)
    lines = ["flowchart LR"]
    lines += [f'  o{k}(["{_mermaid(repr(node))}"])' for node, k in number.items()]
    for k, unit in enumerate(units):
        lines.append(f'  m{k}["{_mermaid(unit.motion)}"]')
        lines += [f"  o{number[n]} --> m{k}" for n in dict.fromkeys(unit.inputs)]
        lines += [f"  m{k} --> o{number[n]}" for n in dict.fromkeys(unit.outputs)]
    chosen = [f"m{k}" for k in plan]
    if chosen:
        lines.append("  classDef plan stroke-width:3px")
        lines.append(f"  class {','.join(chosen)} plan")
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    """Entities for what Mermaid would read as syntax."""
    out: list[str] = []
    for char in text:
        if char.isalnum() or char in " -.,:":
            out.append(char)
        else:
            out.append(f"#{ord(char)};")
    return "".join(out)
