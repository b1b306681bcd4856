"""The card: what a person reads before a plan is carried out. Plain words, never JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from handrail.check.proof import VerifiedPlan
from handrail.domain.formula import TRUE
from handrail.domain.ground import negate
from handrail.domain.plan import Step
from handrail.domain.task import Task
from handrail.domain.types import Kind
from handrail.domain.values import Atom, Value


@dataclass(frozen=True, slots=True)
class Line:
    """One step on a card.

    Attributes:
        words: what is done.
        seconds: typical duration; None where none is declared.
        needs: why this step needs a person's approval; "" where it doesn't.
        notes: what else decides: dangerous objects, speed, force.
    """

    words: str
    seconds: float | None
    needs: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """What an approval is given for.

    Attributes:
        proof_id: of the plan.
        goal: in a person's words, where there are some.
        lines: the steps.
        checked: what was checked, one sentence each.
        unchecked: what was not, one sentence.
        cost: in the domain's unit.
        real: whether real things move.
        because: why it is shown again, such as what went wrong before.
    """

    proof_id: str
    goal: str
    lines: tuple[Line, ...]
    checked: tuple[str, ...]
    unchecked: str
    cost: float
    real: bool = False
    because: str = ""

    @property
    def needed(self) -> bool:
        """Whether any step needs a person's approval."""
        return any(line.needs for line in self.lines)

    @property
    def text(self) -> str:
        """The card as a person reads it."""
        width = max((len(line.words) for line in self.lines), default=0)
        out = [f"Goal      {self.goal}"]
        if self.because:
            out.append(f"Changed   {self.because}")
        total = sum(line.seconds or 0.0 for line in self.lines)
        open_ended = any(line.seconds is None for line in self.lines)
        about = "at least " if open_ended else "about "
        one = "1 step" if len(self.lines) == 1 else f"{len(self.lines)} steps"
        out.append(f"Plan      {one}, {about}{total:.0f} s, cost {self.cost:.4g}")
        for i, line in enumerate(self.lines, 1):
            time = f"{line.seconds:.0f} s" if line.seconds is not None else "? s"
            marks = [f"▲ {line.needs}"] if line.needs else []
            out.append(f"  {i:2}  {line.words:<{width}}  {time:>5}  {'; '.join([*marks, *line.notes])}".rstrip())
        out.extend(f"{'Checked' if i == 0 else '':<10}{c}" for i, c in enumerate(self.checked))
        out.append(f"Not checked  {self.unchecked}")
        out.append("Real things will move." if self.real else "Nothing real moves: this is a simulation.")
        return "\n".join(out)

    @property
    def card_id(self) -> str:
        """Hash of what is shown."""
        return hashlib.sha256(f"{self.proof_id}\n{self.text}".encode()).hexdigest()[:16]


_LAYERS = {
    "symbolic": "skills and rules",
    "physics": "physics, by a dry-run in simulation",
    "schema": "the plan's form",
}


def make_card(verified: VerifiedPlan, start: Mapping[Atom, Value], real: bool = False, because: str = "") -> Card:
    """The card of a plan.

    Args:
        verified: the plan.
        start: values it starts from, without monitors.
        real: whether real things move.
        because: why it is shown again.
    """
    task = verified.task
    values = {**start, **verified.monitors}
    lines: list[Line] = []
    for step in verified.steps:
        lines.append(_line(step, task, values))
        task.operator(step).apply(values)
    checked = tuple(
        f"{_LAYERS.get(layer.layer, layer.layer)} ✓{_figures(layer.figures)}" for layer in verified.verdict.layers
    )
    missing = [_LAYERS.get(n, n) for n in verified.verdict.unchecked]
    unchecked = ", ".join([*missing, "people walking by"])
    goal = verified.goal.text or str(verified.goal)
    return Card(verified.proof_id, goal, tuple(lines), checked, unchecked, verified.cost, real, because)


def _figures(figures: Mapping[str, object]) -> str:
    """What a layer measured, in words; details such as per-step lists are left to the record."""
    said = []
    seconds, clearance, step = figures.get("seconds"), figures.get("clearance_m"), figures.get("tightest_step")
    if isinstance(seconds, (int, float)):
        said.append(f"{seconds:.0f} s of simulated time")
    if isinstance(clearance, (int, float)):
        at = f" at step {step + 1}" if isinstance(step, int) else ""
        said.append(f"tightest clearance {clearance * 100:.1f} cm{at}")
    for name, value in figures.items():
        if name not in ("seconds", "clearance_m", "tightest_step", "work_j") and isinstance(value, (str, int, float)):
            said.append(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}")
    return f" ({', '.join(said)})" if said else ""


def step_words(step: Step, task: Task) -> str:
    """A step in plain words, without its full stop."""
    skill = task.domain.skills[step.skill]
    names = {o.name: o.words[0] for o in task.objects if o.words}
    return skill.words(step.args, names).rstrip(".")


def approval_reason(step: Step, task: Task, values: Mapping[Atom, Value]) -> str:
    """Why a step needs a person's approval in a state; "" where it definitely doesn't.

    A condition that is unknown counts as true: not knowing whether somebody is in the room is no reason not to ask.
    """
    skill = task.domain.skills[step.skill]
    node = task.ground.node(skill.approval, skill.bind(step.args))
    if negate(node).holds(values):
        return ""
    if skill.approval_because:
        return skill.filled(skill.approval_because, step.args, {o.name: o.words[0] for o in task.objects if o.words})
    if skill.approval != TRUE:
        condition = str(skill.approval)
        for name, value in skill.bind(step.args).items():
            condition = condition.replace(f"({name})", f"({value})")
        return f"because {condition}"
    return _manner(step, task, values) or "moves things"


def _manner(step: Step, task: Task, values: Mapping[Atom, Value]) -> str:
    """What a step does that people want to know of: takes hold of something, or opens or shuts something."""
    for atom, value in task.operator(step).changes(values).items():
        fluent = task.domain.fluents.get(atom[0])
        if fluent is None:
            continue
        if fluent.kind is Kind.OBJECT and len(fluent.params) == 1 and "hand" in fluent.params[0].types:
            return "grasps" if isinstance(value, str) else "lets go"
        if fluent.kind is Kind.BOOL and atom[0] in ("open", "door_open", "opened"):
            return "opens something" if value is True else "closes something"
    return ""


def _line(step: Step, task: Task, values: Mapping[Atom, Value]) -> Line:
    skill = task.domain.skills[step.skill]
    notes: list[str] = []
    for arg in step.args:
        obj = task.objects.get(arg)
        if obj is not None:
            risky = [a for a in ("sharp", "hot", "fragile", "heavy") if obj.attributes.get(a) is True]
            risky += [f for f in ("hot", "sharp") if f in task.domain.fluents and values.get((f, arg)) is True]
            if risky:
                notes.append(
                    f"{obj.words[0] if obj.words else arg.replace('_', ' ')} is {' and '.join(dict.fromkeys(risky))}"
                )
    if skill.speed is not None:
        notes.append(f"up to {skill.speed:g} m/s")
    if skill.force is not None:
        notes.append(f"up to {skill.force:g} N")
    return Line(step_words(step, task), skill.duration, approval_reason(step, task, values), tuple(notes))
