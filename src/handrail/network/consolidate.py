"""Several proposals for one decided goal become the cheapest plan that their steps allow.

Semantics are *sequential*: skills delete facts and repeat, so only an ordered plan that runs is a plan. The search is A*
over the ground steps that occur in the proposals, in any order and number; what comes out is cheapest among those, and
says so. Rules, things to keep and exclusions sit in the operators, so no answer can break them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handrail.domain import Atom, Exclusions, Goal, Plan, State, Step, Task, Value
from handrail.errors import ConfigError
from handrail.network.model import Origin, Source, TaskTree
from handrail.network.skills import Executed, plan_of_tree, tree_of_plan, wrong

StepCost = Callable[[Step, float], float]
"""(step, its cost in the domain) -> its cost for this robot now, at least 0."""


class Proposed(Protocol):
    """Anything that carries a plan."""

    @property
    def plan(self) -> Plan | None:
        """The plan; None where there is only a question or a refusal."""
        ...


Proposal = Plan | TaskTree | Proposed


@dataclass(frozen=True)
class Taken:
    """Where a step of the result comes from.

    Attributes:
        step: the step.
        cost: its cost.
        sources: names of the proposals that contain it.
        votes: how many they are.
    """

    step: Step
    cost: float
    sources: tuple[str, ...]
    votes: int


@dataclass(frozen=True)
class Consolidation:
    """The plan, its cost and bound, and what it was made from.

    Attributes:
        plan: None where the steps of the proposals don't reach the goal.
        cost: infinite without a plan.
        bound: no plan among `among` is cheaper.
        proved: the plan is proved cheapest among `among`, or there is proved to be none.
        among: what was compared.
        taken: per step, its sources.
        own: per proposal: its cost where it works as it is, else None.
        steps: distinct ground steps that the proposals offered.
        refused: steps that were not admitted, with the reason.
        spliced: the plan is none of the proposals as it stands.
        tree: the plan as a task tree.
        why: a sentence.
    """

    plan: Plan | None
    cost: float
    bound: float
    proved: bool
    among: str
    taken: tuple[Taken, ...] = ()
    own: tuple[float | None, ...] = ()
    steps: int = 0
    refused: tuple[tuple[Step, str], ...] = ()
    spliced: bool = False
    tree: TaskTree = field(default_factory=lambda: TaskTree(()))
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """What the run log keeps: what was taken from where, at which price, and how sure that is."""
        return {
            "plan": None if self.plan is None else [list(s.key) for s in self.plan.steps],
            "cost": None if self.plan is None else self.cost,
            "bound": None if self.bound == float("inf") else self.bound,
            "proved": self.proved,
            "among": self.among,
            "taken": [{"step": str(t.step), "cost": t.cost, "from": list(t.sources)} for t in self.taken],
            "own": list(self.own),
            "refused": [{"step": str(s), "why": why} for s, why in self.refused],
            "spliced": self.spliced,
        }


def consolidate(
    proposals: Sequence[Proposal],
    state: State,
    goal: Goal,
    costs: StepCost | None = None,
    excluded: Exclusions | None = None,
    *,
    agreement: float = 0.0,
    carried: Mapping[Atom, Value] | None = None,
    expansions: int = 20_000,
    domain_bound: float | None = None,
) -> Consolidation:
    """Merge proposals for one goal and take the cheapest plan that checks out.

    Args:
        proposals: plans, skill trees, or things that carry a plan; all for the same goal. They may be wrong.
        state: where the plan starts.
        goal: decided apart from the proposals.
        costs: the robot's price of a step; None: the domain's costs.
        excluded: steps that evidence says won't work now; they are refused.
        agreement: 0..1; a step that all proposals contain costs (1 - agreement) of its price.
        carried: monitor values of the run so far.
        expansions: states that the search may expand, a count, so that a loaded machine gives the same plan.
        domain_bound: a proved lower bound for the whole domain (from the planner, same costs): where the plan meets it,
            it is cheapest there too.

    Raises:
        ConfigError: agreement outside [0, 1], or a negative or infinite cost.
    """
    if not 0 <= agreement <= 1:
        raise ConfigError(f"agreement must lie in [0, 1], got {agreement}")
    task = Task(state.objects, goal, excluded)
    plans = [_plan(p) for p in proposals]
    names = _names(plans)
    votes: Counter[Step] = Counter()
    where: dict[Step, list[str]] = {}
    refused: dict[Step, str] = {}
    for name, plan in zip(names, plans, strict=True):
        for step in dict.fromkeys(plan.steps):
            problem = wrong(task, step)
            if problem:
                refused[step] = problem
                continue
            votes[step] += 1
            where.setdefault(step, []).append(name)
    values = task.start(state, carried)
    for step in list(where):
        for item in task.exclusions.of(step):
            if all(values.get(a, task.operator(step).default(a) if a in task.operator(step).writes else None) == v
                   for a, v in item.because):  # fmt: skip
                refused[step] = item.evidence or str(item)
    price = _pricing(task, costs, agreement, votes, len(plans))
    own = tuple(_own(task, plan, state, carried, price) for plan in plans)
    found = _met(plans, own, domain_bound) or search_steps(task, values, list(where), price, expansions)
    among = f"the {len(where)} steps of {len(plans)} proposal{'s' if len(plans) != 1 else ''}"
    if found is None or found.plan is None:
        proved = found is None or found.proved
        bound = float("inf") if proved else (found.bound if found else float("inf"))
        why = f"{among[0].upper()}{among[1:]} don't reach the goal" + ("." if proved else " within the search budget.")
        return Consolidation(None, float("inf"), bound, proved, among, (), own, len(where), _pairs(refused), why=why)
    steps, cost, bound, proved = found.plan, found.cost, found.bound, found.proved
    if domain_bound is not None and cost <= domain_bound + 1e-9:
        among, bound, proved = "the whole domain", cost, True
    taken = tuple(Taken(s, price(s), tuple(where[s]), votes[s]) for s in steps)
    provenance = {"steps": [list(t.sources) for t in taken]}
    plan = Plan(tuple(steps), source="network", provenance=provenance)
    spliced = all(plan.steps != p.steps for p in plans)
    executed: Executed = tree_of_plan(plan, task, state, Source("consolidated", Origin.SKILL))
    how = f"proved cheapest among {among}" if proved else f"at least {bound:g} among {among}"
    origin = "spliced from several" if spliced else "one of the proposals"
    why = f"{len(steps)} steps, cost {cost:g}, {how}; {origin}."
    return Consolidation(
        plan, cost, bound, proved, among, taken, own, len(where), _pairs(refused), spliced, executed.tree, why
    )


@dataclass(frozen=True)
class Searched:
    """A plan, its cost, a lower bound, and whether it is proved cheapest (or that there is none)."""

    plan: tuple[Step, ...] | None
    cost: float
    bound: float
    proved: bool


def _met(plans: Sequence[Plan], own: Sequence[float | None], bound: float | None) -> Searched | None:
    """The proposal that meets the whole domain's bound as it stands: nothing can be cheaper, so nothing is searched."""
    if bound is None:
        return None
    for plan, cost in zip(plans, own, strict=True):
        if cost is not None and cost <= bound + 1e-9:
            return Searched(plan.steps, cost, cost, True)
    return None


def _plan(proposal: Proposal) -> Plan:
    if isinstance(proposal, Plan):
        return proposal
    if isinstance(proposal, TaskTree):
        return replace(plan_of_tree(proposal), source=proposal.source.name or proposal.name or "tree")
    if proposal.plan is None:
        return Plan((), source=str(getattr(proposal, "source", "")))
    return proposal.plan


def _names(plans: Sequence[Plan]) -> list[str]:
    """A name for each proposal: its source, numbered where several share it."""
    count = Counter(p.source or "proposal" for p in plans)
    seen: Counter[str] = Counter()
    names: list[str] = []
    for plan in plans:
        base = plan.source or "proposal"
        seen[base] += 1
        names.append(f"{base} {seen[base]}" if count[base] > 1 else base)
    return names


def _pairs(refused: Mapping[Step, str]) -> tuple[tuple[Step, str], ...]:
    return tuple(sorted(refused.items(), key=lambda p: str(p[0])))


def _pricing(
    task: Task, costs: StepCost | None, agreement: float, votes: Mapping[Step, int], voices: int
) -> Callable[[Step], float]:
    known: dict[Step, float] = {}

    def price(step: Step) -> float:
        if step not in known:
            base = task.operator(step).cost
            value = base if costs is None else costs(step, base)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"the cost of {step} must be a number from 0, got {value!r}")
            share = (votes[step] - 1) / (voices - 1) if voices > 1 and votes.get(step) else 0.0
            known[step] = value * (1 - agreement * share)
        return known[step]

    return price


def _own(
    task: Task, plan: Plan, state: State, carried: Mapping[Atom, Value] | None, price: Callable[[Step], float]
) -> float | None:
    """What a proposal costs as it stands; None where it is no plan for the goal."""
    from handrail.check.symbolic import accepts

    if any(wrong(task, s) for s in plan.steps) or not accepts(task, task.start(state, carried), plan.steps):
        return None
    return sum(price(s) for s in plan.steps)


def search_steps(
    task: Task,
    values: Mapping[Atom, Value],
    steps: Iterable[Step],
    price: Callable[[Step], float],
    expansions: int,
) -> Searched | None:
    """A* with LM-cut over these steps; None where the goal is proved out of reach at once."""
    from handrail.domain.ground import FALSE
    from handrail.solve.lmcut import LmCut
    from handrail.solve.model import SCALE, Model
    from handrail.solve.program import Program
    from handrail.solve.relaxed import Relaxed
    from handrail.solve.search import AStar, Best
    from handrail.solve.search import greedy as quick
    from handrail.solve.steps import targets

    if task.end.holds(values):
        return Searched((), 0.0, 0.0, True)
    model = Model(task, values, steps, targets(task))
    if FALSE in model.goal:
        return None
    model.actions = [replace(a, cost=round(price(a.step) * SCALE)) for a in model.actions]
    program = Program(model)
    estimate = LmCut(Relaxed(program))
    best = Best()
    search = AStar(program, estimate)
    search.run(min(400, expansions), best)
    if not search.exhausted and expansions > search.expanded:
        spent = quick(program, estimate, (expansions - search.expanded) // 4, best, 0)
        search.run(max(0, expansions - search.expanded - spent), best)
    if best.cost is None:
        return Searched(None, float("inf"), search.bound / SCALE, search.exhausted)
    chosen = tuple(program.moves[i].action.step for i in best.moves)
    cost = sum(price(s) for s in chosen)
    return Searched(chosen, cost, cost if search.exhausted else min(cost, search.bound / SCALE), search.exhausted)
