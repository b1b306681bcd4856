"""Why a step or a plan was refused, in a sentence, with the fact that decided it and a hint fit for a model."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.domain import formula as f
from handrail.domain.ground import TRUE, Cmp, Eq, Ne, Node, atoms, failing
from handrail.domain.operator import Operator
from handrail.domain.plan import Plan
from handrail.domain.task import Task
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_value
from handrail.domain.verdict import Code, Reason


class Trail:
    """What each step changed so far, so that a failing fact can be traced to who changed it."""

    def __init__(self, task: Task, plan: Plan) -> None:
        self.task = task
        self.plan = plan
        self.changes: list[Mapping[Atom, Value]] = []

    def add(self, changes: Mapping[Atom, Value]) -> None:
        """Note what the next step assigned."""
        self.changes.append(changes)

    def last_change(self, atom: Atom) -> int | None:
        """Index of the last step that assigned a fluent, or None."""
        return next((i for i in range(len(self.changes) - 1, -1, -1) if atom in self.changes[i]), None)


def explain_step(trail: Trail, op: Operator, values: Mapping[Atom, Value], index: int) -> Reason:
    """Why a step can't run: the first of its conditions that fails, the skill's own before guards."""
    step = trail.plan.steps[index]
    head = f"Step {index + 1}, {step}"
    for text, node in op.needs:
        if not node.holds(values):
            return _condition(trail, head, text, node, values, index)
    for g in op.guards:
        if not g.node.holds(values):
            return _guard(trail, head, g.code, g.text, g.node, values, index)
    return Reason(Code.PRECONDITION, f"{head}: can't run here.", step=index)


def _condition(trail: Trail, head: str, text: str, node: Node, values: Mapping[Atom, Value], index: int) -> Reason:
    parts = failing(node, values)
    atom = _decisive(parts, values)
    if atom is None:
        return Reason(Code.PRECONDITION, f"{head}: needs {text}, which can never hold for these objects.", step=index)
    value = _value(trail.task, atom, values)
    by = trail.last_change(atom)
    since = f" since step {by + 1}, {trail.plan.steps[by]}" if by is not None else ""
    wanted = " and ".join(str(p) for p in parts)
    if value is UNKNOWN:
        sentence = f"{head}: needs {wanted}, but nobody knows {show_atom(atom)}{since}."
        return Reason(Code.UNKNOWN_FACT, sentence, index, atom, by, f"Find out {show_atom(atom)} first.")
    sentence = f"{head}: needs {wanted}, but {_now(atom, value)}{since}."
    return Reason(Code.PRECONDITION, sentence, index, atom, by, hint(trail.task, parts))


def _guard(
    trail: Trail, head: str, code: str, text: str, node: Node, values: Mapping[Atom, Value], index: int
) -> Reason:
    parts = failing(node, values)
    atom = _decisive(parts, values)
    by = trail.last_change(atom) if atom and atom[0][0] != "$" else None
    fact = atom if atom and atom[0][0] != "$" else None
    words = {
        "RULE_BROKEN": f"{head}: would break the rule: {text}.",
        "FORBIDDEN": f"{head}: is forbidden here: {text}.",
        "NO_GO": f"{head}: would go to a {text}.",
        "KEEP_BROKEN": f"{head}: would change what must stay as it is: {text}.",
        "ORDER": f"{head}: would do a later part of the request before an earlier one: {text}.",
        "EXCLUDED": f"{head}: has been seen not to work as things are: {text}",
        "RANGE": f"{head}: {text} would be violated.",
        "LIMIT": f"{head}: {text}.",
    }
    return Reason(code, words.get(code, f"{head}: {text}."), index, fact, by)


def explain_end(trail: Trail, values: Mapping[Atom, Value]) -> Reason:
    """Why the end of a plan is not the goal."""
    task = trail.task
    for text, node in task.open_promises:
        if not node.holds(values):
            return Reason(Code.OBLIGATION_OPEN, f"The plan ends with a promise open: {text}.")
    parts = failing(task.final, values)
    if parts:
        atom = _decisive(parts, values)
        by = trail.last_change(atom) if atom else None
        now = f" At the end {_now(atom, _value(task, atom, values))}." if atom else ""
        sentence = (
            f"The goal is not reached: {' and '.join(str(p) for p in parts)} does not hold after the last step.{now}"
        )
        return Reason(Code.GOAL_NOT_REACHED, sentence, None, atom, by, hint(task, parts))
    for i, sub in enumerate(task.goal.subgoals):
        if values.get(("$goal", str(i))) is not True:
            return Reason(
                Code.GOAL_NOT_REACHED,
                f"Subgoal {i + 1} of {len(task.goal.subgoals)} was not reached in its turn: {sub}.",
            )
    return Reason(Code.GOAL_NOT_REACHED, "The goal is not reached.")


def _decisive(parts: tuple[Node, ...], values: Mapping[Atom, Value]) -> Atom | None:
    """The fluent to name: of the first failing part, an unknown one before others."""
    for part in parts:
        if part is TRUE:
            continue
        if isinstance(part, (Eq, Ne)):
            return part.atom
        if isinstance(part, Cmp):
            return part.left.atom
        found = sorted(atoms(part))
        if found:
            return next((a for a in found if values.get(a) is UNKNOWN), found[0])
    return None


def _value(task: Task, atom: Atom, values: Mapping[Atom, Value]) -> Value:
    if atom in values:
        return values[atom]
    fluent = task.domain.fluents.get(atom[0])
    return fluent.default if fluent else None


def _now(atom: Atom, value: Value) -> str:
    """The fact as it is now, as a clause."""
    return f"{show_atom(atom)} is {show_value(value)}"


def hint(task: Task, parts: tuple[Node, ...]) -> str:
    """Which skills can change what is missing, by their declared effects."""
    for part in parts:
        atom = part.atom if isinstance(part, (Eq, Ne)) else part.left.atom if isinstance(part, Cmp) else None
        if atom is None:
            continue
        wanted = part.value if isinstance(part, Eq) else UNKNOWN
        able = [s.name for s in task.domain.skills.values() if any(_can(e, atom[0], wanted) for e in s.makes)]
        if able:
            return f"{show_atom(atom)} is changed by {', '.join(able)}."
        return f"No skill changes {atom[0]}."
    return ""


def _can(e: f.Effect, name: str, wanted: Value) -> bool:
    """Whether an effect can give a fluent a value; UNKNOWN stands for any."""
    if isinstance(e, (f.When, f.Each)):
        return _can(e.effect, name, wanted)
    if e.target.name != name:
        return False
    if isinstance(e, f.Assign) and wanted is not UNKNOWN:
        return e.value.value == wanted if isinstance(e.value, f.Const) else wanted is not None
    return True
