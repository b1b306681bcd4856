"""Skill plans as task trees and back, by symbolic execution.

An object's condition is the set of facts whose first argument it is: true facts become states, object-valued facts of one
argument become relations (`on [table]`). A step becomes a unit whose inputs are the objects of all facts that decided
whether it could run and which of its effects fired, in their condition before it, and whose outputs are the same objects
and those it changed, after it. So units of different plans for one scene share nodes exactly where an object was in the
same condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from handrail.domain import UNKNOWN, Atom, Domain, Kind, Plan, State, Step, Task, Value
from handrail.domain.ground import TRUE, Ref, atoms
from handrail.domain.operator import Operator
from handrail.errors import DomainError, InputError
from handrail.network.model import FunctionalUnit, ObjectNode, Origin, Relation, Source, TaskTree
from handrail.network.units import Fault, Finding, Status, UnitVerdict

WORLD = "world"
"""Label of the node that holds facts without arguments."""
_FACT = re.compile(r"^(not )?([^\s(=]+)(?:\(([^)]*)\))?(?: == (.+))?$")


def owner(atom: Atom) -> str:
    """The object on whose line a fact is."""
    return atom[1] if len(atom) > 1 else WORLD


def describe(domain: Domain, name: str, facts: Mapping[Atom, Value]) -> ObjectNode:
    """An object in the condition that these facts give it; facts with their default value are left out."""
    states: list[str] = []
    relations: list[Relation] = []
    for atom, value in facts.items():
        fluent = domain.fluents.get(atom[0])
        if fluent is None or (value == fluent.default and not (value is UNKNOWN or fluent.default is UNKNOWN)):
            continue
        if value is UNKNOWN and fluent.default is UNKNOWN:
            continue
        rest = atom[2:]
        head = atom[0] + (f"({', '.join(rest)})" if rest else "")
        if value is True:
            states.append(head)
        elif value is False:
            states.append(f"not {head}")
        elif value is UNKNOWN:
            states.append(f"{head} == unknown")
        elif value is None:
            states.append(f"{head} == none")
        elif fluent.kind is Kind.OBJECT and not rest and len(atom) == 2:
            relations.append(Relation(atom[0], str(value)))
        else:
            states.append(f"{head} == {value}")
    return ObjectNode(name, states, (), relations)


def facts(domain: Domain, node: ObjectNode) -> dict[Atom, Value]:
    """The facts that a node states; the inverse of `describe`.

    Raises:
        DomainError: a state or relation is not a fluent of the domain.
    """
    found: dict[Atom, Value] = {}
    first = () if node.label == WORLD else (node.label,)
    for relation in node.relations:
        if relation.word not in domain.fluents:
            raise DomainError(f"{node!r}: no fluent '{relation.word}'")
        found[(relation.word, *first)] = relation.container
    for state in node.states:
        match = _FACT.match(state)
        if match is None or match[2] not in domain.fluents:
            raise DomainError(f"{node!r}: '{state}' is no fact of the domain")
        rest = tuple(a.strip() for a in match[3].split(",")) if match[3] else ()
        value: Value
        if match[4] is None:
            value = match[1] is None
        elif match[4] == "unknown":
            value = UNKNOWN
        elif match[4] == "none":
            value = None
        else:
            value = int(match[4]) if domain.fluents[match[2]].kind is Kind.COUNT else match[4]
        found[(match[2], *first, *rest)] = value
    return found


def decisive(operator: Operator, values: Mapping[Atom, Value]) -> set[Atom]:
    """Facts that decided whether the step runs and which of its effects fire (monitors left out)."""
    found = set(atoms(operator.condition))
    for effect in operator.effects:
        if effect.condition is not TRUE:
            found |= atoms(effect.condition)
        if isinstance(effect.value, Ref) and effect.condition.holds(values):
            found.add(effect.value.atom)
    return {a for a in found if not a[0].startswith("$")}


@dataclass(frozen=True)
class Executed:
    """A plan run in symbols.

    Attributes:
        tree: units of the steps that ran.
        values: facts after the last of them.
        stopped: index of the first step that could not run; None where all did.
        why: a sentence about it.
    """

    tree: TaskTree
    values: Mapping[Atom, Value]
    stopped: int | None = None
    why: str = ""


def tree_of_plan(
    plan: Plan | Sequence[Step], task: Task, state: State, source: Source | None = None, name: str = ""
) -> Executed:
    """Run a plan in symbols and write each step as a functional unit.

    Args:
        plan: the plan; it need not be valid: the tree ends at the first step that can't run.
        task: objects, rules and goal.
        state: where the plan starts.
        source: whom the units are credited to.
        name: of the tree.
    """
    source = source or Source("plan", Origin.SKILL)
    domain = task.domain
    values = task.start(state)
    by_owner: dict[str, dict[Atom, Value]] = {}
    for atom, value in values.items():
        if not atom[0].startswith("$"):
            by_owner.setdefault(owner(atom), {})[atom] = value
    units: list[FunctionalUnit] = []
    steps = tuple(plan.steps if isinstance(plan, Plan) else plan)
    stopped: int | None = None
    why = ""
    for index, step in enumerate(steps):
        problem = wrong(task, step)
        if not problem:
            operator = task.operator(step)
            if not operator.applicable(values):
                problem = f"{step} can't run: its condition does not hold"
        if problem:
            stopped, why = index, f"step {index + 1}: {problem}"
            break
        changes = operator.changes(values)
        read = {owner(a) for a in decisive(operator, values)}
        written = {owner(a) for a in changes if not a[0].startswith("$")}
        touched = sorted(read | written)
        before = [describe(domain, o, by_owner.get(o, {})) for o in touched]
        values.update(changes)
        for atom, value in changes.items():
            if not atom[0].startswith("$"):
                by_owner.setdefault(owner(atom), {})[atom] = value
        after = [describe(domain, o, by_owner.get(o, {})) for o in touched]
        at = Source(source.name, source.origin, index, source.line)
        moving = [n != m for n, m in zip(before, after, strict=True)]
        units.append(FunctionalUnit(before, str(step), after, at, moving=[*moving, *moving]))
    return Executed(TaskTree(tuple(units), None, name, source), values, stopped, why)


def start_nodes(task: Task, state: State) -> tuple[ObjectNode, ...]:
    """Every object in its condition at the start."""
    by_owner: dict[str, dict[Atom, Value]] = {o.name: {} for o in task.objects}
    by_owner[WORLD] = {}
    for atom, value in state.values.items():
        by_owner.setdefault(owner(atom), {})[atom] = value
    return tuple(describe(task.domain, o, f) for o, f in sorted(by_owner.items()))


def judge(task: Task, unit: FunctionalUnit) -> UnitVerdict:
    """A unit against the skill library: outside kitchens the truth about changes comes from there.

    The inputs' facts are run through the step that the motion names; the outputs must be what comes out.
    """

    def verdict(fault: Fault, text: str) -> UnitVerdict:
        return UnitVerdict(unit, Status.WRONG, (Finding(fault, text),))

    try:
        step = step_of(unit.motion)
        before = [facts(task.domain, n) for n in unit.inputs]
    except InputError as error:
        return verdict(Fault.SYNTAX, error.message)
    problem = wrong(task, step)
    if problem:
        return verdict(Fault.SYNTAX, problem)
    values: dict[Atom, Value] = {}
    for found in before:
        values.update(found)
    operator = task.operator(step)
    present = {n.label for n in unit.inputs}
    absent = sorted({owner(a) for a in decisive(operator, values)} - present)
    if not operator.applicable(values):
        missing = f"; {', '.join(absent)} does not go in" if absent else ""
        fault = Fault.FROM_NOTHING if absent else Fault.IMPROPER_CHANGE
        return verdict(fault, f"{step} can't run in the condition that goes in{missing}")
    values.update(operator.changes(values))
    after: dict[str, dict[Atom, Value]] = {label: {} for label in present}
    for atom, value in values.items():
        if not atom[0].startswith("$"):
            after.setdefault(owner(atom), {})[atom] = value
    expected = {describe(task.domain, o, f) for o, f in after.items()}
    differ = sorted(set(unit.outputs) ^ expected, key=ObjectNode.sort_key)
    if differ:
        return verdict(Fault.IMPROPER_CHANGE, f"{step} makes something else of {', '.join(n.label for n in differ)}")
    return UnitVerdict(unit, Status.GOOD)


def step_of(motion: str) -> Step:
    """The step that a unit's motion names: `pick(hand_1, mug)`.

    Raises:
        InputError: the motion is not written as a ground skill call.
    """
    name, bracket, rest = motion.partition("(")
    if not bracket or not rest.endswith(")"):
        raise InputError(f"'{motion}' is no skill call; a unit of a skill tree has a motion like pick(hand_1, mug)")
    args = tuple(a.strip() for a in rest[:-1].split(",")) if rest[:-1].strip() else ()
    return Step(name.strip(), args)


def plan_of_tree(tree: TaskTree | Iterable[FunctionalUnit], source: str = "network") -> Plan:
    """The steps of a skill tree, in its order."""
    units = tree.units if isinstance(tree, TaskTree) else tuple(tree)
    return Plan(tuple(step_of(u.motion) for u in units), source=source)


def wrong(task: Task, step: Step) -> str:
    """Why a step is no ground call of a skill of this domain on these objects; empty where it is one."""
    skill = task.domain.skills.get(step.skill)
    if skill is None:
        return f"no skill '{step.skill}'"
    if len(step.args) != len(skill.params):
        return f"{step} has {len(step.args)} arguments; {step.skill} takes {len(skill.params)}"
    for parameter, name in zip(skill.params, step.args, strict=True):
        if name not in task.objects:
            return f"{step}: no object '{name}'"
        if name not in task.objects.members(*parameter.types):
            return f"{step}: {name} is no {' or '.join(parameter.types)}"
    return ""
