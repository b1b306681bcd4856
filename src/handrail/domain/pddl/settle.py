"""Rules over whole plans, things to keep and ordered subgoals as predicates that one free action, `settle`, updates.

Every skill leaves the world unsettled, only `settle` lets the next one start, and it checks what must hold after every step. That
keeps the skills themselves as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from handrail.domain.goal import Goal
from handrail.domain.pddl.changes import effect
from handrail.domain.pddl.translate import Translator
from handrail.domain.pddl.tree import FALSE, Lit, Tree, both, either, inverse, text
from handrail.domain.rules import Rule, RuleKind
from handrail.domain.task import Task
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import DomainError

SETTLE = "settle"


class Settle:
    """The monitors of one task.

    Attributes:
        needed: whether there is anything to watch.
        needs: what every skill needs besides its own conditions.
        makes: what every skill makes besides its own effects.
    """

    def __init__(self, translator: Translator, rules: tuple[Rule, ...], goal: Goal) -> None:
        self._t = translator
        self._rules = rules
        self._goal = goal
        self.needed = bool(rules or goal.keep or goal.subgoals)
        self.needs: list[Tree] = [self._lit("settled")] if self.needed else []
        self.makes = [text(inverse(self._lit("settled"))), text(self._lit("moved"))] if self.needed else []
        self._made: list[str] = []

    def _lit(self, what: str) -> Lit:
        return Lit((self._t.names("monitor", what),))

    def _when(self, condition: Tree, literal: Lit, value: bool = True) -> None:
        if condition != FALSE:
            self._made.append(effect((), condition, Lit(literal.words, value)))

    def predicates(self) -> list[str]:
        """Declarations."""
        if not self.needed:
            return []
        words = ["settled", "moved"]
        for i, r in enumerate(self._rules):
            if r.kind is RuleKind.BEFORE:
                words += [f"seen-{i}", f"was-{i}"]
            elif r.kind is RuleKind.AFTER:
                words += [f"promise-{i}-{n}" for n in range(r.within + 1)]
        words += [f"reached-{i}" for i in range(len(self._goal.subgoals))]
        return [text(self._lit(w)) for w in words]

    def action(self) -> str:
        """The action's text."""
        t = self._t
        needs: list[Tree] = [self._lit("moved")]
        self._made = [text(self._lit("settled")), text(inverse(self._lit("moved")))]
        for i, r in enumerate(self._rules):
            first = t.condition(r.first, {})
            second = t.condition(r.second, {}) if r.second is not None else FALSE
            if r.kind is RuleKind.NEVER:
                needs.append(inverse(first))
            elif r.kind is RuleKind.ALWAYS:
                needs.append(first)
            elif r.kind is RuleKind.BEFORE:
                seen, was = self._lit(f"seen-{i}"), self._lit(f"was-{i}")
                needs.append(either((inverse(second), was, seen)))
                self._when(first, seen)
                self._when(second, was)
                self._when(inverse(second), was, False)
            else:
                needs += self._promise(i, r.within, first, second)
        needs += [t.condition(k, {}) for k in self._goal.keep]
        before: Tree = both(())
        for i, sub in enumerate(self._goal.subgoals):
            reached = self._lit(f"reached-{i}")
            now = both((before, t.condition(sub, {})))
            self._when(now, reached)
            before = either((reached, now))
        return (
            f"  (:action {t.names('action', SETTLE)}\n    :parameters ()\n"
            f"    :precondition {text(both(needs))}\n    :effect (and {' '.join(self._made)})\n  )"
        )

    def _promise(self, i: int, k: int, first: Tree, second: Tree) -> list[Tree]:
        if k == 0:
            return [either((inverse(first), second))]
        left = [self._lit(f"promise-{i}-{n}") for n in range(k + 1)]
        self._when(second, left[0])
        for n in range(1, k + 1):
            self._when(both((second, left[n])), left[n], False)
            going = both((inverse(second), left[n]))
            self._when(going, left[n - 1])
            self._when(going, left[n], False)
        opening = both((left[0], first, inverse(second)))
        self._when(opening, left[k])
        self._when(opening, left[0], False)
        return [either((inverse(left[1]), second))]

    def facts(self, task: Task, values: Mapping[Atom, Value]) -> Iterator[str]:
        """What the monitors are at the start."""
        if not self.needed:
            return
        yield text(self._lit("settled"))
        for i, r in enumerate(self._rules):
            monitor = values.get(("$rule", str(i)))
            if r.kind is RuleKind.BEFORE:
                if monitor is True:
                    yield text(self._lit(f"seen-{i}"))
                if r.second is not None and task.ground.node(r.second).holds(values):
                    yield text(self._lit(f"was-{i}"))
            elif r.kind is RuleKind.AFTER:
                if monitor is UNKNOWN:
                    raise DomainError(f"PDDL can't say that it is unknown whether this promise is open: {r}")
                yield text(self._lit(f"promise-{i}-{monitor or 0}"))
        for i in range(len(self._goal.subgoals)):
            if values.get(("$goal", str(i))) is True:
                yield text(self._lit(f"reached-{i}"))

    def goal(self) -> list[Tree]:
        """What must hold of the monitors when a plan ends."""
        if not self.needed:
            return []
        out: list[Tree] = [self._lit("settled")]
        out += [self._lit(f"promise-{i}-0") for i, r in enumerate(self._rules) if r.kind is RuleKind.AFTER]
        return out + [self._lit(f"reached-{i}") for i in range(len(self._goal.subgoals))]
