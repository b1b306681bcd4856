"""Plans as behaviour trees in BehaviorTree.CPP v4 XML, as Nav2 and Groot2 read them.

A plan is a sequence of actions, each with its arguments as attributes; with `retries` each action stands in a
RetryUntilSuccessful. `ports=False` writes every ground step as an action of its own without attributes: Python leaves of
behaviortreepy can't declare ports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as Xml

from handrail.domain import Plan, Skill, Step
from handrail.errors import ConfigError
from handrail.network.model import TaskTree

_ID = re.compile(r"[^A-Za-z0-9_]+")


def _id(text: str) -> str:
    name = _ID.sub("_", text).strip("_")
    return name if name and not name[0].isdigit() else f"x_{name}"


def of_plan(
    plan: Plan | Sequence[Step],
    skills: Mapping[str, Skill] | None = None,
    name: str = "Plan",
    retries: int = 0,
    ports: bool = True,
) -> str:
    """A skill plan as XML.

    Args:
        plan: ground steps.
        skills: skills by name, whose parameter names become ports; without them ports are arg1, arg2, ...
        name: of the tree.
        retries: tries per action beyond the first.
        ports: write arguments as attributes.
    """
    steps = tuple(plan.steps if isinstance(plan, Plan) else plan)
    leaves: list[tuple[str, dict[str, str]]] = []
    models: dict[str, list[str]] = {}
    for step in steps:
        skill = (skills or {}).get(step.skill)
        names = [p.name for p in skill.params] if skill else [f"arg{k + 1}" for k in range(len(step.args))]
        if not ports:
            leaves.append((_id("_".join(step.key)), {}))
            models.setdefault(leaves[-1][0], [])
            continue
        keys = [_id(n) for n in names]
        leaves.append((_id(step.skill), {"name": str(step), **dict(zip(keys, step.args, strict=True))}))
        models.setdefault(_id(step.skill), keys)
    return _write(leaves, models, name, retries)


def of_tree(tree: TaskTree, name: str = "", retries: int = 0, ports: bool = True) -> str:
    """A task tree as XML: one action per unit, its motion with what goes in and what comes out."""
    leaves: list[tuple[str, dict[str, str]]] = []
    models: dict[str, list[str]] = {}
    for number, unit in enumerate(tree.units):
        if ports:
            labels = {
                "inputs": ";".join(n.label for n in unit.inputs),
                "outputs": ";".join(n.label for n in unit.outputs),
            }
            leaves.append((_id(unit.motion), {"name": f"{number + 1} {unit.motion}", **labels}))
            models.setdefault(_id(unit.motion), ["inputs", "outputs"])
        else:
            leaves.append((_id(f"step{number + 1}_{unit.motion}"), {}))
            models.setdefault(leaves[-1][0], [])
    return _write(leaves, models, name or tree.name or "Plan", retries)


def leaf_ids(xml: str) -> list[str]:
    """Names of the actions that a tree uses, in order of first use: what must be registered to load it."""
    root = Xml.fromstring(xml)  # noqa: S314 - our own output
    known = {"Sequence", "RetryUntilSuccessful", "BehaviorTree"}
    found: dict[str, None] = {}
    for tree in root.iter("BehaviorTree"):
        for node in tree.iter():
            if node.tag not in known:
                found.setdefault(node.tag)
    return list(found)


def _write(leaves: list[tuple[str, dict[str, str]]], models: dict[str, list[str]], name: str, retries: int) -> str:
    if retries < 0:
        raise ConfigError(f"retries must be 0 or more, got {retries}")
    root = Xml.Element("root", {"BTCPP_format": "4", "main_tree_to_execute": _id(name)})
    tree = Xml.SubElement(root, "BehaviorTree", {"ID": _id(name)})
    sequence = Xml.SubElement(tree, "Sequence", {"name": name})
    for tag, attributes in leaves:
        parent = sequence
        if retries:
            parent = Xml.SubElement(sequence, "RetryUntilSuccessful", {"num_attempts": str(retries + 1)})
        Xml.SubElement(parent, tag, attributes)
    if any(models.values()):
        described = Xml.SubElement(root, "TreeNodesModel")
        for tag, inputs in models.items():
            action = Xml.SubElement(described, "Action", {"ID": tag})
            for port in inputs:
                Xml.SubElement(action, "input_port", {"name": port})
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
