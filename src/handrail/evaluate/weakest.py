"""The weakest start of a plan: which facts does it really ask for?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from handrail.domain import UNKNOWN, Atom, Objects, State, Step, Task, Value
from handrail.domain.ground import atoms, failing, negate


def weakest_start(
    task: Task,
    steps: tuple[Step, ...],
    told: Mapping[Atom, Value] | None = None,
    order: Callable[[Atom, Sequence[Value]], Sequence[Value]] = lambda _, values: values,
    consistent: Callable[[Mapping[Atom, Value]], bool] = lambda _: True,
) -> dict[Atom, Value] | None:
    """A weakest start from which every step works: what no step asks for is left unknown. None where there is no such start.

    The steps run from a state in which nothing is known; where one can't be shown to work, the first fact that it asks for is settled,
    each of its values in turn (depth first). So the plan works from every completion of the result, and every fact of it was needed
    on the way.

    Args:
        task: objects, rules, and a goal if there is one.
        steps: the plan.
        told: facts that are settled beforehand.
        order: puts the values of a fact into the order in which they are tried.
        consistent: whether some facts, the rest unknown, can be true together.
    """
    facts = {**dict.fromkeys(all_atoms(task.objects), UNKNOWN), **(told or {})}
    return _settle(task, steps, facts, order, consistent)


def _settle(
    task: Task,
    steps: tuple[Step, ...],
    facts: dict[Atom, Value],
    order: Callable[[Atom, Sequence[Value]], Sequence[Value]],
    consistent: Callable[[Mapping[Atom, Value]], bool],
) -> dict[Atom, Value] | None:
    values = task.start(State(task.objects, facts))
    earlier: list[Atom] = []
    wanted, reads = task.end, frozenset(a for r in task.rules for a in r.reads)
    for step in steps:
        op = task.operator(step)
        if not op.applicable(values):
            if negate(op.condition).holds(values):
                return None
            wanted, reads = op.condition, reads | op.reads
            break
        earlier += sorted(op.reads)
        op.apply(values)
    else:
        if task.end.holds(values):
            return {a: v for a, v in facts.items() if v is not UNKNOWN}
    near = [a for n in failing(wanted, values) for a in sorted(atoms(n))]
    atom = next((a for a in (*near, *sorted(reads), *reversed(earlier)) if facts.get(a) is UNKNOWN), None)
    if atom is None:
        return None
    values_of = task.objects.values_of(task.domain.fluents[atom[0]])
    for value in order(atom, values_of):
        more = {**facts, atom: value}
        found = _settle(task, steps, more, order, consistent) if consistent(more) else None
        if found is not None:
            return found
    return None


def all_atoms(objects: Objects) -> list[Atom]:
    """Every ground fluent."""
    out: list[Atom] = []
    for fluent in objects.domain.fluents.values():
        out += [(fluent.name, *args) for args in product(*(objects.of(*p.types) for p in fluent.params))]
    return out
