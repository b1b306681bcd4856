"""A task as finite-domain variables and actions, the form that relevance, heuristic and search share.

Every ground fluent that some action may change is a variable; its values are the start's and those that an action gives it. What
no action changes is put into the conditions. Rules, promises, ordered subgoals and exclusions are already in the task's operators,
so nothing here knows of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from handrail.domain.ground import FALSE, TRUE, All, Cmp, Eq, Ne, Node, Ref, Switch, atoms
from handrail.domain.operator import GroundEffect, Operator
from handrail.domain.plan import Step
from handrail.domain.simplify import tidy
from handrail.domain.skill import Hook
from handrail.domain.task import Task
from handrail.domain.types import Kind
from handrail.domain.values import UNKNOWN, Atom, Value

SCALE = 1_000_000
"""Costs are counted in whole millionths, so that sums and comparisons are exact."""


@dataclass(frozen=True)
class Action:
    """A ground step as the search sees it.

    Attributes:
        step: the step.
        op: its guarded operator, for its name and true cost.
        cost: in millionths.
        needs: conjuncts of its whole condition, with static facts put in.
        effects: with static facts put in; those that can never fire are gone.
        hook: the skill's Python guard.
    """

    step: Step
    op: Operator
    cost: int
    needs: tuple[Node, ...]
    effects: tuple[GroundEffect, ...]
    hook: Hook | None = None


def parts_of(node: Node) -> tuple[Node, ...]:
    """The conjuncts of a node."""
    if node is TRUE:
        return ()
    return node.parts if isinstance(node, All) else (node,)


class Model:
    """Actions over variables.

    Args:
        task: what the actions are ground for.
        values: the start, monitors included.
        steps: candidate steps; those that can never run are dropped.
        static: names of fluents that no skill changes are those not in here.
    """

    def __init__(
        self, task: Task, values: Mapping[Atom, Value], steps: Iterable[Step], changing: frozenset[str]
    ) -> None:
        self.task = task
        self.values = values
        self._changing = changing
        self._defaults: dict[Atom, Value] = {}
        actions: list[Action] = []
        for step in steps:
            action = self._action(step)
            if action is not None:
                actions.append(action)
        self.goal = parts_of(self._fixed(task.end))
        self.actions = actions
        self.domains = self._domains()

    def default(self, atom: Atom) -> Value:
        """What a fluent is where nothing is said about it."""
        if atom in self._defaults:
            return self._defaults[atom]
        fluent = self.task.domain.fluents.get(atom[0])
        return fluent.default if fluent is not None else False

    def start(self, atom: Atom) -> Value:
        """A fluent's value at the start."""
        return self.values.get(atom, self.default(atom))

    def _fixed(self, node: Node) -> Node:
        known: dict[Atom, Value] = {}
        for a in atoms(node):
            if a[0][0] != "$" and a[0] not in self._changing:
                v = self.start(a)
                if v is UNKNOWN:
                    continue
                known[a] = v
        return tidy(node, known) if known else node

    def _action(self, step: Step) -> Action | None:
        op = self.task.operator(step)
        needs: dict[Node, None] = {}
        for whole in (*(n for _, n in op.needs), *(g.node for g in op.guards)):
            for part in parts_of(whole):
                fixed = self._fixed(part)
                if fixed is FALSE:
                    return None
                needs.update(dict.fromkeys(parts_of(fixed)))
        effects: list[GroundEffect] = []
        for e in op.effects:
            when = self._fixed(e.condition)
            if when is not FALSE:
                value = e.value
                if isinstance(value, Ref) and value.atom[0][0] != "$" and value.atom[0] not in self._changing:
                    value = value.read(self.values)
                effects.append(GroundEffect(when, e.atom, e.default, value))
                self._defaults[e.atom] = e.default
        hook = self.task.domain.skill(step.skill).hook
        return Action(step, op, round(op.cost * SCALE), tuple(needs), tuple(effects), hook)

    def _domains(self) -> dict[Atom, tuple[Value, ...]]:
        """Per variable the values it can have: the start's first, then those that actions give it."""
        found: dict[Atom, dict[Value, None]] = {}
        for action in self.actions:
            for e in action.effects:
                values = found.setdefault(e.atom, {self.start(e.atom): None})
                if isinstance(e.value, Ref):
                    values.update(dict.fromkeys(self.all_values(e.value)))
                    if e.value.atom in self.values and self.values[e.value.atom] is UNKNOWN:
                        values[UNKNOWN] = None
                else:
                    values[e.value] = None
                if e.condition is not TRUE and any(self.start(a) is UNKNOWN for a in atoms(e.condition)):
                    values[UNKNOWN] = None
        # what copies an unknown value or hangs on one may become unknown, and so on along the chain
        grown = True
        while grown:
            grown = False
            for action in self.actions:
                for e in action.effects:
                    if UNKNOWN in found[e.atom]:
                        continue
                    reads = set(atoms(e.condition)) if e.condition is not TRUE else set()
                    if isinstance(e.value, Ref):
                        reads.add(e.value.atom)
                    if any(UNKNOWN in found[a] for a in reads if a in found):
                        found[e.atom][UNKNOWN] = None
                        grown = True
        return {a: tuple(v) for a, v in found.items()}

    def all_values(self, ref: Ref) -> tuple[Value, ...]:
        """Every value that a fluent can have, with the reference's offset added."""
        fluent = self.task.domain.fluents.get(ref.atom[0])
        if fluent is not None:
            values: tuple[Value, ...] = self.task.objects.values_of(fluent)
            low, high = (fluent.low, fluent.high) if fluent.kind is Kind.COUNT else (0, 0)
        else:
            now = self.start(ref.atom)  # a promise's counter
            top = max(self.task.rules[int(ref.atom[1])].rule.within, now if isinstance(now, int) else 0)
            low, high = 0, top
            values = tuple(range(low, high + 1))
        if not ref.offset:
            return values
        return tuple(v + ref.offset for v in values if isinstance(v, int) and low <= v + ref.offset <= high)

    def values_of(self, atom: Atom) -> tuple[Value, ...]:
        """The values a fluent can have in the search; one alone where nothing changes it."""
        return self.domains.get(atom) or (self.start(atom),)


def satisfying(node: Node, domain: Iterable[Value]) -> frozenset[Value]:
    """The values of its one fluent under which a test with a constant holds."""
    if isinstance(node, Eq):
        return frozenset(v for v in domain if v == node.value)
    if isinstance(node, Ne):
        return frozenset(v for v in domain if v is not UNKNOWN and v != node.value)
    if isinstance(node, Cmp) and not isinstance(node.right, Ref):
        return frozenset(v for v in domain if node.holds({node.left.atom: v}))
    raise TypeError(f"not a test of one fluent: {node}")


def single(node: Node) -> Atom | None:
    """The fluent of a test with a constant; None for any other node."""
    if isinstance(node, (Eq, Ne)):
        return node.atom
    if isinstance(node, Cmp) and not isinstance(node.right, Ref):
        return node.left.atom
    return None


def branches(node: Switch, domain: Iterable[Value]) -> dict[Node, list[Value]]:
    """The values of a Switch's fluent, grouped by what is asked under them; what can't hold is left out."""
    groups: dict[Node, list[Value]] = {}
    for v in domain:
        if v is not UNKNOWN:
            inner = node.cases.get(v, node.otherwise)
            if inner is not FALSE:
                groups.setdefault(inner, []).append(v)
    return groups


def pairs(node: Cmp, left: Iterable[Value], right: Iterable[Value]) -> list[tuple[Value, Value]]:
    """The pairs of values under which a comparison of two fluents holds."""
    assert isinstance(node.right, Ref)
    if node.left.atom == node.right.atom:
        return [(v, v) for v in left if node.holds({node.left.atom: v})]
    rights = list(right)
    return [(a, b) for a in left for b in rights if node.holds({node.left.atom: a, node.right.atom: b})]
