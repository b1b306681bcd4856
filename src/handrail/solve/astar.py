"""The planner: optimal by default within a budget of expansions, else the best plan found with a stated lower bound.

    task and state ─▶ ground steps ─▶ variables and actions ─▶ those that can matter ─▶ A* with LM-cut ─▶ plan, checked again

Rules, promises, things to keep, ordered subgoals and exclusions sit in the task's operators, so the search obeys them because there
is nothing else it could run. Budgets are counts, never seconds: a busy machine gives the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.check.symbolic import check_symbolic
from handrail.domain.exclusions import Exclusions
from handrail.domain.ground import FALSE
from handrail.domain.plan import Plan, Step
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import ConfigError
from handrail.solve.lmcut import LmCut
from handrail.solve.model import SCALE, Model
from handrail.solve.program import Program
from handrail.solve.relaxed import Relaxed
from handrail.solve.relevance import Relevance
from handrail.solve.search import AStar, Best, greedy
from handrail.solve.steps import StepSource, alike, sample


@dataclass(frozen=True)
class Budget:
    """How much to search, in counts.

    Attributes:
        expansions: states to expand, all searches together.
        first: states that A* expands before a greedy search looks for any plan at all.
    """

    expansions: int = 5_000
    first: int = 400

    def __post_init__(self) -> None:
        if self.expansions < 1 or self.first < 1:
            raise ConfigError(f"a search budget must be at least 1, not {self.expansions} and {self.first}")


@dataclass(frozen=True)
class Solution:
    """What the planner found.

    Attributes:
        plan: None where it found none.
        cost: the plan's cost in the domain's unit; infinite without a plan.
        bound: no plan can be cheaper than this; infinite where it is proved that there is none.
        proved: the plan is proved cheapest, or it is proved that there is none.
        expanded: states expanded.
        why: a sentence.
        figures: sizes along the way.
    """

    plan: Plan | None
    cost: float
    bound: float
    proved: bool
    expanded: int
    why: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unsolvable(self) -> bool:
        """Whether it is proved that no plan exists (from what is known)."""
        return self.plan is None and self.proved


def solve(
    task: Task,
    state: State,
    *,
    carried: Mapping[Atom, Value] | None = None,
    exclusions: Exclusions | None = None,
    budget: Budget | None = None,
) -> Solution:
    """The cheapest plan for a task.

    Args:
        task: objects, rules, exclusions and goal.
        state: where the plan starts; what is unknown satisfies no condition.
        carried: monitor values of the run so far, so that promises survive a replan.
        exclusions: more exclusions than the task has.
        budget: how much to search.

    Returns:
        A plan that the checker accepts, its cost and bound; or none, with whether that is proved.
    """
    budget = budget or Budget()
    if exclusions is not None and len(exclusions):
        both = Exclusions(list(task.exclusions))
        both.extend(exclusions)
        task = Task(task.objects, task.goal, both)
    values = task.start(state, carried)
    unknown = any(v is UNKNOWN for v in values.values())
    model = relevant_model(task, values)
    program = Program(model)
    estimate = LmCut(Relaxed(program))
    figures: dict[str, Any] = {"actions": len(model.actions), "variables": len(program.atoms)}
    if FALSE in model.goal:
        return _none(True, 0, float("inf"), _nothing(unknown), figures)
    best = Best()
    astar = AStar(program, estimate)
    spent = 0
    astar.run(min(budget.first, budget.expansions), best)
    if not astar.exhausted and budget.expansions > budget.first:
        rest = budget.expansions - astar.expanded
        for weight, share in ((0, 4), (3, 8), (1, 8)):
            spent += greedy(program, estimate, rest // share, best, weight)
        astar.run(budget.expansions - astar.expanded - spent, best)
    expanded = astar.expanded + spent
    if best.cost is None:
        bound = float("inf") if astar.exhausted else astar.bound / SCALE
        why = (
            _nothing(unknown)
            if astar.exhausted
            else f"No plan was found within {expanded} expanded states; none is cheaper than {bound:g}."
        )
        return _none(astar.exhausted, expanded, bound, why, figures)
    return _found(task, state, carried, program, best, astar, expanded, figures)


def _nothing(unknown: bool) -> str:
    known = "From what is known, no" if unknown else "No"
    return f"{known} sequence of the declared skills reaches the goal within the rules."


def _none(proved: bool, expanded: int, bound: float, why: str, figures: dict[str, Any]) -> Solution:
    return Solution(None, float("inf"), bound, proved, expanded, why, figures)


def _found(
    task: Task,
    state: State,
    carried: Mapping[Atom, Value] | None,
    program: Program,
    best: Best,
    astar: AStar,
    expanded: int,
    figures: dict[str, Any],
) -> Solution:
    actions = [program.moves[i].action for i in best.moves]
    plan = Plan(tuple(a.step for a in actions), source="planner", provenance={"planner": "A* with LM-cut"})
    result = check_symbolic(plan, task, state, carried)
    if not result.passed:
        why = f"The search's plan was refused by the checker: {result.reasons[0].sentence}"
        return _none(False, expanded, astar.bound / SCALE, why, {**figures, "refused": str(plan)})
    cost = sum(a.op.cost for a in actions)
    assert best.cost is not None
    proved = astar.exhausted
    bound = cost if proved else min(astar.bound / SCALE, cost)
    if proved:
        why = f"The cheapest of all plans from the declared skills, after {expanded} expanded states."
    else:
        why = f"The best plan within {expanded} expanded states; none is cheaper than {bound:g}."
    return Solution(plan, cost, bound, proved, expanded, why, figures)


def relevant_model(task: Task, values: Mapping[Atom, Value]) -> Model:
    """The variables and actions that can matter for the goal.

    Objects that nothing tells apart are looked at by a few of each kind first; only where those matter, all of them are ground.
    """
    source = StepSource(task, values)
    arity = max((len(s.params) for s in task.domain.skills.values()), default=0)
    classes = alike(task, values, source.changing)
    kept, large = sample(classes, max(2, arity))
    others = {o.name for o in task.objects} - {n for c in classes for n in c}
    allowed = others | kept
    while True:
        model = Model(task, values, source.all_steps(allowed), source.changing)
        relevance = Relevance(model, _starts(model, [c for c in large if not allowed.isdisjoint(c)]))
        touched = {n for i in relevance.kept for n in model.actions[i].step.args}
        wanted = [c for c in large if not touched.isdisjoint(c)]
        if not wanted:
            break
        for c in wanted:
            allowed |= set(c)
        large = [c for c in large if c not in wanted]
    kept_steps = [model.actions[i].step for i in sorted(relevance.kept)]
    return _narrowed(task, values, source.changing, kept_steps)


def _starts(model: Model, classes: list[list[str]]) -> dict[Atom, set[Value]]:
    """For each variable of an object that stands for its class: where any of the class starts, so that what holds for it holds for all."""
    of = {n: c for c in classes for n in c}
    out: dict[Atom, set[Value]] = {}
    for atom, domain in list(model.domains.items()):
        standing = {n for n in atom[1:] if n in of}
        if len(standing) == 1:
            (name,) = standing
            starts = dict.fromkeys(model.start(tuple(m if x == name else x for x in atom)) for m in of[name])
            model.domains[atom] = tuple(dict.fromkeys((*domain, *starts)))
            out[atom] = set(starts)
        elif standing:
            out[atom] = set(domain)
    return out


def _narrowed(task: Task, values: Mapping[Atom, Value], changing: frozenset[str], steps: list[Step]) -> Model:
    """Drop what can't be reached from the start, then what no longer matters, until nothing changes."""
    while True:
        model = Model(task, values, steps, changing)
        reachable = Relaxed(Program(model)).reachable()
        reached = Model(task, values, [s for s, r in zip(steps, reachable, strict=True) if r], changing)
        kept = Relevance(reached).kept
        fewer = [reached.actions[i].step for i in sorted(kept)]
        if len(fewer) == len(steps):
            return reached
        steps = fewer
