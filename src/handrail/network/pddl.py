"""Trees and networks as PDDL planning problems, and plans back, one to one.

One constant per object node, `(avail ?n)` says that it is there; one action without parameters per unit, named
`fu<number>-<motion>`, whose precondition is its inputs and whose effect is its new outputs. `(total-cost)` grows by
round(1000 x cost). With `consuming`, inputs that a unit does not put out again are deleted, unless they are in the
kitchen's unlimited stock or stay when used. Sound and complete for the tree semantics; unit `k` of the source is action
`k`. Units that change nothing are left out: they can't help, and an action whose only effect is its cost is a trap.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from handrail.errors import ParseError, Where
from handrail.network.model import ObjectNode
from handrail.network.retrieve.hypergraph import Hypergraph

_NAME = re.compile(r"[^a-z0-9]+")
_ACTION = re.compile(r"\(\s*fu(\d+)[^\s)]*\s*\)")


@dataclass(frozen=True)
class Written:
    """PDDL text.

    Attributes:
        domain: the domain file.
        problem: the problem file.
        actions: number of actions written.
    """

    domain: str
    problem: str
    actions: int


def _name(text: str) -> str:
    return _NAME.sub("-", text.lower()).strip("-") or "x"


def node_name(number: int, node: ObjectNode | None) -> str:
    """A constant's name: its number makes it unique, the label makes it readable."""
    return f"n{number}-{_name(node.label)}" if node is not None else f"n{number}"


def write(
    graph: Hypergraph,
    start: Collection[int],
    goals: Iterable[int],
    nodes: Sequence[ObjectNode] | None = None,
    motions: Sequence[str] | None = None,
    consuming: bool = False,
    returning: Collection[int] = (),
    name: str = "foon",
) -> Written:
    """Write a network with its kitchen and goals.

    Args:
        graph: the network with its costs.
        start: nodes that are there.
        goals: nodes that are wanted.
        nodes: object nodes, for readable names.
        motions: motions of the units, for readable names.
        consuming: used-up nodes go. Each made node is there once or not at all; PDDL without numbers can't count more.
        returning: nodes that stay when used.
        name: of the domain.
    """
    here = set(start)
    goal_list = list(goals)
    units = [u for u in range(len(graph.ins)) if graph.outs[u]]
    used = sorted({n for u in units for n in (*graph.ins[u], *graph.outs[u])} | set(goal_list))
    label = {n: node_name(n, nodes[n] if nodes is not None else None) for n in used}
    lines = [f"(define (domain {_name(name)})", "  (:requirements :strips :typing :action-costs)", "  (:types node)"]
    lines.append("  (:constants " + " ".join(label[n] for n in used) + " - node)")
    lines.append("  (:predicates (avail ?n - node))")
    lines.append("  (:functions (total-cost) - number)")
    for u in units:
        motion = f"-{_name(motions[u])}" if motions is not None else ""
        needs = " ".join(f"(avail {label[n]})" for n in graph.ins[u])
        makes = [f"(avail {label[n]})" for n in graph.outs[u]]
        if consuming:
            gone = [n for n in graph.ins[u] if n not in graph.kept[u] and n not in returning and n not in here]
            makes += [f"(not (avail {label[n]}))" for n in gone]
        makes.append(f"(increase (total-cost) {graph.cost[u]})")
        lines.append(f"  (:action fu{u}{motion}\n    :parameters ()\n    :precondition (and {needs})")
        lines.append(f"    :effect (and {' '.join(makes)}))")
    lines.append(")")
    problem = [
        f"(define (problem {_name(name)}-problem)",
        f"  (:domain {_name(name)})",
        "  (:init (= (total-cost) 0) " + " ".join(f"(avail {label[n]})" for n in used if n in here) + ")",
        "  (:goal (and " + " ".join(f"(avail {label[g]})" for g in goal_list) + "))",
        "  (:metric minimize (total-cost)))",
    ]
    return Written("\n".join(lines) + "\n", "\n".join(problem) + "\n", len(units))


def read_plan(text: str, graph: Hypergraph, source: str = "<plan>") -> tuple[int, ...]:
    """Units of a planner's plan file, in its order.

    Raises:
        ParseError: a line is no action of ours, or names a unit that the network does not have.
    """
    order: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split(";", 1)[0].strip()
        if not line:
            continue
        match = _ACTION.fullmatch(line.lower())
        if match is None:
            raise ParseError(f"expected an action such as (fu12-pour), got '{line[:60]}'", Where(source, number))
        unit = int(match[1])
        if unit >= len(graph.ins):
            raise ParseError(f"unit {unit} is not in the network (it has {len(graph.ins)})", Where(source, number))
        order.append(unit)
    return tuple(order)
