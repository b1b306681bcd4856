"""The check pipeline: cheapest layer first, stop at the first failure; the only maker of a `VerifiedPlan`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from handrail.check.proof import Notary, VerifiedPlan, seal
from handrail.check.symbolic import run_symbolic
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.domain.verdict import Code, LayerResult, Reason, Verdict


@runtime_checkable
class DryRun(Protocol):
    """Layer 3: tries the whole plan somewhere that is not the real world.

    Attributes:
        name: the layer's name, such as "physics".
        tolerances: numeric tolerances its result holds within, by quantity.
    """

    name: str
    tolerances: Mapping[str, float]

    def check(self, plan: Plan, snapshot: Any, seed: int, copies: int) -> LayerResult:
        """Try the plan on a snapshot of the world.

        Args:
            plan: a plan that passed the symbolic layer.
            snapshot: what `World.fork()` gave.
            seed: of all random choices.
            copies: how many perturbed copies besides the plain one.
        """
        ...


@dataclass(frozen=True)
class Refused:
    """A plan that was not verified.

    Attributes:
        plan: the plan.
        verdict: why.
    """

    plan: Plan
    verdict: Verdict


@dataclass
class Pipeline:
    """Checks plans.

    Attributes:
        dry_runs: layers after the symbolic one, cheapest first; may be empty.
        notary: seals what passes; whoever executes must hold the same one.
        expected: names of layers that belong to this robot; those that don't run are listed as unchecked.
    """

    dry_runs: tuple[DryRun, ...] = ()
    notary: Notary = field(default_factory=Notary)
    expected: tuple[str, ...] = ("physics",)

    def verify(
        self,
        plan: Plan,
        state: State,
        goal: Goal,
        *,
        carried: Mapping[Atom, Value] | None = None,
        exclusions: Exclusions | None = None,
        snapshot: Any = None,
        seed: int = 0,
        copies: int = 0,
        task: Task | None = None,
    ) -> VerifiedPlan | Refused:
        """Check a plan against skills, rules and goal, then in every dry-run there is.

        Args:
            plan: the plan.
            state: where it starts.
            goal: what it must reach.
            carried: monitor values of the run so far, so that promises survive a replan.
            exclusions: steps that evidence says won't work.
            snapshot: of the world, for dry-runs; without one they don't run and are listed as unchecked.
            seed: of the dry-runs.
            copies: perturbed copies a dry-run makes.
            task: a ready task for the same objects, goal and exclusions, to save making it.

        Returns:
            A sealed plan, or the refusal with its reasons.
        """
        if task is None:
            task = Task(state.objects, goal, exclusions)
        if not plan.steps:
            empty = LayerResult("symbolic", False, (Reason(Code.EMPTY_PLAN, "The plan is empty: it has no steps."),))
            return Refused(plan, Verdict(False, (empty,), self._unchecked(())))
        trace = run_symbolic(plan, task, state, carried)
        layers = [trace.result]
        tolerances: dict[str, float] = {}
        if trace.result.passed and snapshot is not None:
            for layer in self.dry_runs:
                layers.append(_guarded(layer, plan, snapshot, seed, copies))
                tolerances.update(layer.tolerances)
                if not layers[-1].passed:
                    break
        accepted = all(layer.passed for layer in layers)
        verdict = Verdict(accepted, tuple(layers), self._unchecked(tuple(layer.layer for layer in layers)))
        if not accepted:
            return Refused(plan, verdict)
        monitors = task.monitors(task.start(state, carried))
        return seal(self.notary, plan, task, monitors, verdict, tolerances, state.values)

    def _unchecked(self, ran: tuple[str, ...]) -> tuple[str, ...]:
        names = dict.fromkeys((*self.expected, *(d.name for d in self.dry_runs)))
        return tuple(n for n in names if n not in ran)


def _guarded(layer: DryRun, plan: Plan, snapshot: Any, seed: int, copies: int) -> LayerResult:
    """Run a layer; one that breaks refuses the plan and says so, since a check that crashed has checked nothing."""
    try:
        return layer.check(plan, snapshot, seed, copies)
    except Exception as e:
        text = f"The {layer.name} check itself failed, so the plan is not accepted: {type(e).__name__}: {e}"
        return LayerResult(layer.name, False, (Reason(Code.LAYER_BROKEN, text),))
