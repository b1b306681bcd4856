"""Layer 2: is every step's condition true when its turn comes, does the plan keep the rules, does it reach the goal?

The plan runs on one mutable dictionary of values; a step costs a few look-ups however many objects there are. States are compared
by a hash that is updated fact by fact (Zobrist 1970), so that a repeated state is noticed at the same price. The first failure
is explained: which condition, which fact, who last changed it, and what would help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.check.explain import Trail, explain_end, explain_step
from handrail.domain.ground import TRUE
from handrail.domain.plan import Plan, Step
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.domain.verdict import Code, LayerResult, Reason
from handrail.errors import DomainError, did_you_mean

LAYER = "symbolic"
_UNSAID: Any = object()


@dataclass(frozen=True)
class Trace:
    """A plan run in symbols.

    Attributes:
        result: the layer's verdict.
        values: values after the last step that ran, monitors included.
        changes: per step that ran, what it assigned.
    """

    result: LayerResult
    values: dict[Atom, Value]
    changes: tuple[Mapping[Atom, Value], ...]


def accepts(task: Task, values: dict[Atom, Value], steps: Sequence[Step]) -> bool:
    """Whether a plan passes, and nothing else: the fastest way to ask. `values` is changed."""
    operator = task.operator
    for step in steps:
        op = operator(step)
        if not op.applicable(values):
            return False
        op.apply(values)
    return task.end.holds(values)


def run_symbolic(plan: Plan, task: Task, state: State, carried: Mapping[Atom, Value] | None = None) -> Trace:
    """Check a plan and keep what every step changed.

    Args:
        plan: ground steps; names and arity may be wrong, which is a finding.
        task: objects, rules, exclusions and goal.
        state: where the plan starts; may hold unknown facts.
        carried: monitor values of the run so far.
    """
    values = task.start(state, carried)
    trail = Trail(task, plan)
    flags: list[Reason] = []
    mark = 0
    seen = {mark: 0}
    reached: int | None = 0 if task.end.holds(values) else None
    decisive = task.end_reads
    for i, step in enumerate(plan.steps):
        try:
            op = task.operator(step)
        except DomainError as e:
            code = Code.UNKNOWN_SKILL if step.skill not in task.domain.skills else Code.WRONG_ARGUMENTS
            return _refused(Reason(code, f"Step {i + 1}: {e.message}", step=i), flags, values, trail)
        finding = _typed(task, step, i) or _hooked(task, state, values, step, i)
        if finding is None and not op.applicable(values):
            finding = explain_step(trail, op, values, i)
        if finding is not None:
            return _refused(finding, flags, values, trail)
        changes = op.changes(values)
        before = mark
        for a, v in changes.items():
            old = values.get(a, _UNSAID)
            if old is _UNSAID:
                old = op.default(a)
            if old != v:
                mark ^= hash((a, old)) ^ hash((a, v))
        values.update(changes)
        trail.add(changes)
        if mark == before:
            flags.append(Reason(Code.NO_OP, f"Step {i + 1}, {step}, changes nothing.", step=i))
        elif mark in seen:
            when = f"after step {seen[mark]}" if seen[mark] else "at the start"
            flags.append(Reason(Code.REPEATED_STATE, f"After step {i + 1} everything is as it was {when}.", step=i))
        seen.setdefault(mark, i + 1)
        if reached is None and not decisive.isdisjoint(changes) and task.end.holds(values):
            reached = i + 1
    if not task.end.holds(values):
        return _refused(explain_end(trail, values), flags, values, trail)
    if reached is not None and reached < len(plan.steps) and task.end is not TRUE:
        flags.append(
            Reason(
                Code.AFTER_GOAL, f"The goal is reached after step {reached}; {len(plan.steps) - reached} more follow."
            )
        )
    return Trace(LayerResult(LAYER, True, (), tuple(flags)), values, tuple(trail.changes))


def check_symbolic(plan: Plan, task: Task, state: State, carried: Mapping[Atom, Value] | None = None) -> LayerResult:
    """Check a plan; see `run_symbolic`."""
    return run_symbolic(plan, task, state, carried).result


def _refused(reason: Reason, flags: list[Reason], values: dict[Atom, Value], trail: Trail) -> Trace:
    return Trace(LayerResult(LAYER, False, (reason,), tuple(flags)), values, tuple(trail.changes))


def _typed(task: Task, step: Step, i: int) -> Reason | None:
    """Whether every argument is an object of its parameter's type."""
    if step in task.typed:
        return None
    objects = task.objects
    for p, a in zip(task.domain.skills[step.skill].params, step.args, strict=True):
        if a in objects.members(*p.types):
            continue
        if a not in objects:
            text = f"Step {i + 1}, {step}: there is no object '{a}'.{did_you_mean(a, set(objects.of(*p.types)))}"
            return Reason(Code.UNKNOWN_OBJECT, text, step=i)
        text = f"Step {i + 1}, {step}: {p.name} must be {' or '.join(p.types)}, but '{a}' is a {objects[a].type}."
        return Reason(Code.WRONG_TYPE, text, step=i)
    task.typed.add(step)
    return None


def _hooked(task: Task, state: State, values: Mapping[Atom, Value], step: Step, i: int) -> Reason | None:
    """The skill's optional Python guard; an error inside it refuses the step and says so."""
    skill = task.domain.skills[step.skill]
    if skill.hook is None:
        return None
    plain = {a: v for a, v in values.items() if a[0][0] != "$"}
    try:
        said = skill.hook(State(state.objects, plain), skill.bind(step.args))
    except Exception as e:
        said = f"the guard of skill '{skill.name}' itself failed: {type(e).__name__}: {e}"
    return None if said is None else Reason(Code.HOOK, f"Step {i + 1}, {step}: {said}", step=i)
