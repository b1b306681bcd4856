"""What can ever become the case: forward reachability where nothing that was once true is taken away.

An over-approximation: what is not reached here is never reached; what is reached here may still be impossible.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from handrail.domain.ground import All, Any_, Cmp, Eq, Ne, Node, Ref, Truth, compare
from handrail.domain.operator import Operator
from handrail.domain.plan import Step
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.types import Objects
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import ConfigError

MAX_STEPS = 50_000
"""Ground steps looked at, at most."""


def ground_steps(objects: Objects) -> Iterator[Step]:
    """Every step whose arguments have the right types."""
    for skill in objects.domain.skills.values():
        for args in product(*(objects.of(*p.types) for p in skill.params)):
            yield Step(skill.name, args)


def count_steps(objects: Objects) -> int:
    """How many steps `ground_steps` gives."""
    total = 0
    for skill in objects.domain.skills.values():
        n = 1
        for p in skill.params:
            n *= len(objects.of(*p.types))
        total += n
    return total


class Reach:
    """The values that each fluent can ever have, starting from a state.

    Args:
        task: objects and safety rules; its goal plays no part.
        state: the start; what is unknown there may be anything.

    Raises:
        ConfigError: there are more than `MAX_STEPS` ground steps.
    """

    def __init__(self, task: Task, state: State) -> None:
        self.task = task
        self.values: dict[Atom, set[Value]] = {}
        n = count_steps(task.objects)
        if n > MAX_STEPS:
            raise ConfigError(f"{n:,} ground steps are too many to look at; at most {MAX_STEPS:,}")
        for atom, value in task.start(state).items():
            self.values[atom] = set(self._any(atom)) if value is UNKNOWN else {value}
        self.reached: set[Step] = set()
        waiting = {s: task.operator(s) for s in ground_steps(task.objects)}
        grew = True
        while grew:
            grew = False
            for step, op in list(waiting.items()):
                if self.possible(op.condition):
                    self.reached.add(step)
                    del waiting[step]
                    grew = True
            for step in self.reached:
                grew = self._apply(task.operator(step)) or grew

    def _any(self, atom: Atom) -> tuple[Value, ...]:
        fluent = self.task.domain.fluents.get(atom[0])
        return self.task.objects.values_of(fluent) if fluent is not None else (False, True)

    def _of(self, atom: Atom, default: Value) -> set[Value]:
        found = self.values.get(atom)
        if found is None:
            found = self.values[atom] = {default} if default is not UNKNOWN else set()
        return found

    def possible(self, node: Node) -> bool:
        """Whether a condition might hold at some time, each fluent taken by itself."""
        if isinstance(node, Truth):
            return node.value
        if isinstance(node, Eq):
            return node.value in self._of(node.atom, node.default)
        if isinstance(node, Ne):
            return any(v != node.value for v in self._of(node.atom, node.default))
        if isinstance(node, All):
            return all(map(self.possible, node.parts))
        if isinstance(node, Any_):
            return any(map(self.possible, node.parts))
        if isinstance(node, Cmp):
            right = self._read(node.right) if isinstance(node.right, Ref) else {node.right}
            pairs = product(self._read(node.left), right)
            return any(compare(a, node.op, b) == Truth(True) for a, b in pairs)
        return any(self.possible(node.cases.get(v, node.otherwise)) for v in self._of(node.atom, node.default))

    def _read(self, ref: Ref) -> set[Value]:
        values = self._of(ref.atom, ref.default)
        return {v + ref.offset for v in values if isinstance(v, int)} if ref.offset else values

    def _apply(self, op: Operator) -> bool:
        grew = False
        for e in op.effects:
            if e.atom[0].startswith("$"):
                new: set[Value] = self._monitor(e.value)
            elif isinstance(e.value, Ref):
                valid = set(self._any(e.atom))
                new = {v for v in self._read(e.value) if v in valid}
            else:
                new = {e.value}
            have = self._of(e.atom, e.default)
            if not new <= have and self.possible(e.condition):
                have |= new
                grew = True
        return grew

    def _monitor(self, value: object) -> set[Value]:
        """A monitor of a rule counts down; which numbers it takes does not matter here, only that it gets back to 0."""
        return {0, value} if isinstance(value, int) else {0}
