"""What the PDDL writer gives back: two texts, and the way from and to plans in their words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handrail.domain.domain import Domain
from handrail.domain.pddl.changes import Extra
from handrail.domain.pddl.names import Names
from handrail.domain.pddl.settle import SETTLE
from handrail.domain.plan import Plan, Step
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.errors import DomainError


@dataclass(frozen=True)
class Written:
    """PDDL texts and the way back from them.

    Attributes:
        domain: PDDL domain.
        problem: PDDL problem; "" where only a domain was written.
        scale: PDDL costs are our costs times this, because Fast Downward wants whole numbers.
        notes: what PDDL can't say and was left out, one sentence each.
    """

    domain: str
    problem: str
    scale: int
    notes: tuple[str, ...]
    _names: Names = field(repr=False)
    _extra: Mapping[str, tuple[Extra, ...]] = field(repr=False)
    _params: Mapping[str, tuple[str, ...]] = field(repr=False)
    _settles: bool = False
    _top: Domain | None = field(default=None, repr=False)

    def plan_back(self, plan: Plan) -> Plan:
        """A plan in PDDL names as a plan in ours: without `settle` and without extra parameters.

        Raises:
            DomainError: a step that is none of the actions that were written.
        """
        steps: list[Step] = []
        for s in plan:
            found = self._names.back(s.skill)
            if found == ("action", SETTLE):
                continue
            if found is None or found[0] != "skill" or self._top is None:
                raise DomainError(f"the plan has the step '{s}', which is no action of the domain that was written")
            skill = self._top.skills[found[1]]
            args: list[str] = []
            for a in s.args[: len(skill.params)]:
                obj = self._names.back(a)
                if obj is None:
                    raise DomainError(f"the plan's step '{s}' names '{a}', which is no object of the problem")
                args.append(obj[1])
            steps.append(Step(skill.name, tuple(args)))
        return Plan(tuple(steps), source=plan.source)

    def plan_text(self, plan: Plan, task: Task, values: Mapping[Atom, Value]) -> str:
        """A plan of ours in the PDDL that was written, with `settle` and the extra parameters that PDDL needs.

        Args:
            plan: a plan that can be run from `values`.
            task: the task that was written.
            values: what `task.start` gave.
        """
        running = dict(values)
        lines: list[str] = []
        for s in plan:
            words = [self._names("skill", s.skill), *(self._names("object", a) for a in s.args)]
            terms = dict(zip(self._params[s.skill], s.args, strict=True))
            for x in self._extra.get(s.skill, ()):
                args = [terms[a] if a in terms else (self._names.back(a) or ("", a))[1] for a in x.args]
                v = running.get((x.fluent, *args), task.domain.fluents[x.fluent].default)
                if isinstance(v, int):
                    n = v + x.offset
                    words.append(self._names("count", f"n{n}" if n >= 0 else f"minus{-n}"))
                else:
                    terms[x.name] = str(v)
                    words.append(self._names("object", str(v)))
            lines.append(f"({' '.join(words)})")
            if self._settles:
                lines.append(f"({self._names('action', SETTLE)})")
            task.operator(s).apply(running)
        return "".join(f"{line}\n" for line in lines)
