"""From a network and a goal to the task tree that this robot executes best, with its proof and its provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from handrail.errors import ConfigError, did_you_mean
from handrail.network.costs import SCALE, CostProfile, seconds
from handrail.network.kinds import Kinds, kinds
from handrail.network.model import FunctionalUnit, LeafKind, ObjectNode, Source, TaskTree
from handrail.network.network import Network
from handrail.network.retrieve import assisted, consuming, kbest
from handrail.network.retrieve.hypergraph import Hypergraph
from handrail.network.retrieve.progress import Answer, Effort
from handrail.network.retrieve.search import solve as cheapest


class Semantics(StrEnum):
    """What happens to what a unit uses."""

    MONOTONE = "monotone"
    """FOON's: nothing is used up; what was made once is there for every later unit."""
    CONSUMING = "consuming"
    """What a unit takes in and does not give out is gone; units repeat; tools return."""


class Measure(StrEnum):
    """What a plan's cost means."""

    COST = "cost"
    SUCCESS = "success"
    """-ln of the chance that every step succeeds: minimising it maximises the plan's success."""
    TIME = "time"
    """Seconds, where the sources give times; other units count as `Prices.default_seconds`."""


@dataclass(frozen=True)
class Prices:
    """How the cost of a unit is made.

    Attributes:
        profile: the robot.
        measure: cost, chance of success, or time.
        agreement: 0..1; a unit that all voices contain costs (1 - agreement) of its price, one of a single voice among
            many nearly all of it.
        doubt: added to each unit named in `doubtful`.
        doubtful: unit numbers that a check found unknown changes in.
        banned: unit numbers not to be used (refused by physics, found wrong).
        default_seconds: duration of a unit without times.
    """

    profile: CostProfile
    measure: Measure = Measure.COST
    agreement: float = 0.0
    doubt: float = 0.1
    doubtful: frozenset[int] = frozenset()
    banned: frozenset[int] = frozenset()
    default_seconds: float = 10.0

    def __post_init__(self) -> None:
        if not 0 <= self.agreement <= 1:
            raise ConfigError(f"agreement must lie in [0, 1], got {self.agreement}")

    def of(self, network: Network) -> list[int]:
        """Integer price of each unit (SCALE per unit of cost)."""
        if self.measure is Measure.SUCCESS:
            prices = [float(c) for c in self.profile.log_integers(network.units)]
        elif self.measure is Measure.TIME:
            prices = [SCALE * _or(seconds(u), self.default_seconds) for u in network.units]
        else:
            prices = [float(c) for c in self.profile.integers(network.units)]
        if self.agreement:
            voices = len({s.name for sources in network.sources for s in sources})
            for u in range(len(prices)):
                share = (network.votes(u) - 1) / (voices - 1) if voices > 1 else 0.0
                prices[u] *= 1 - self.agreement * share
        return [round(p + (SCALE * self.doubt if u in self.doubtful else 0)) for u, p in enumerate(prices)]


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


@dataclass(frozen=True)
class Step:
    """One unit of the plan.

    Attributes:
        unit: what is done.
        number: of the unit in the network.
        cost: what it costs this robot, in [0, 1] for `Measure.COST`.
        why: the source of the cost.
        sources: where the unit was taken from.
        person: a person does it.
    """

    unit: FunctionalUnit
    number: int
    cost: float
    why: str
    sources: tuple[Source, ...]
    person: bool = False


@dataclass(frozen=True)
class Bought:
    """Something that is on the shopping list."""

    node: ObjectNode
    cost: float
    kind: LeafKind


@dataclass(frozen=True)
class Retrieval:
    """The plan, what it costs, and how sure that is.

    Attributes:
        steps: in an executable order; None where the goal can't be reached.
        cost: of the whole plan.
        bound: no plan among the network's units costs less.
        proved: cost == bound; with `steps` None: proved out of reach.
        semantics: what happens to things used.
        among: what the plan is the cheapest of.
        shopping: what has to be bought first.
        repeats: units that are done more than once (consuming semantics).
        copies: how many of a thing the plan uses up.
        replay: empty; or what the checker found wrong with the sequence.
        answer: details of the search.
        missing: where `steps` is None: leaves that stand between the kitchen and the goal.
    """

    steps: tuple[Step, ...] | None
    cost: float
    bound: float
    proved: bool
    semantics: Semantics
    among: str
    shopping: tuple[Bought, ...] = ()
    repeats: Mapping[int, int] = field(default_factory=dict)
    copies: tuple[tuple[ObjectNode, int], ...] = ()
    replay: str = ""
    answer: Answer | None = field(default=None, repr=False)
    missing: tuple[ObjectNode, ...] = ()
    goal: ObjectNode | None = None

    @property
    def tree(self) -> TaskTree:
        """The plan as a task tree, in executable order."""
        return TaskTree(tuple(s.unit for s in self.steps or ()), self.goal, "retrieved")

    @property
    def sentence(self) -> str:
        """`5 steps, cost 1.25, proved cheapest among 120 units of 5 trees`."""
        if self.steps is None:
            need = ", ".join(map(repr, self.missing[:5]))
            return f"out of reach among {self.among}" + (f": nothing makes {need}" if need else "")
        if self.proved:
            how = f"proved cheapest among {self.among}"
        elif self.cost:
            how = f"at most {100 * (self.cost - self.bound) / self.cost:.1f} % above the cheapest among {self.among}"
        else:
            how = f"among {self.among}"
        buy = f", {len(self.shopping)} to buy" if self.shopping else ""
        return f"{len(self.steps)} steps, cost {self.cost:g} ({self.semantics.value}), {how}{buy}"

    def to_json(self) -> dict[str, Any]:
        """For machines and run logs: the plan, its proof, and what was taken from where."""
        return {
            "cost": self.cost,
            "bound": self.bound,
            "proved": self.proved,
            "sentence": self.sentence,
            "semantics": self.semantics.value,
            "among": self.among,
            "replay": self.replay or "valid",
            "steps": None
            if self.steps is None
            else [
                {
                    "unit": repr(s.unit),
                    "cost": s.cost,
                    "why": s.why,
                    "from": [str(x) for x in s.sources],
                    "person": s.person,
                }
                for s in self.steps
            ],
            "shopping": [{"node": repr(b.node), "cost": b.cost, "kind": b.kind.value} for b in self.shopping],
            "copies": [{"node": repr(n), "count": c} for n, c in self.copies],
            "missing": [repr(n) for n in self.missing],
        }


class Kitchen:
    """A network prepared for many questions: indexed once, priced once.

    Args:
        network: merged trees.
        prices: how units are priced.
        stock: numbers of the nodes that are there; None: everything of kind raw or tool (`Network.stock`).
        vocabulary: which labels are tools.
    """

    def __init__(
        self,
        network: Network,
        prices: Prices,
        stock: Iterable[int] | None = None,
        vocabulary: Kinds | None = None,
    ) -> None:
        self.network = network
        self.prices = prices
        self.vocabulary = vocabulary or kinds()
        self.stock = frozenset(network.stock(vocabulary=self.vocabulary) if stock is None else stock)
        self.graph = Hypergraph.build(
            ((() if u in prices.banned else i, () if u in prices.banned else o)
             for u, (i, o) in enumerate(zip(network.ins, network.outs, strict=True))),
            prices.of(network),
            len(network.nodes),
        )  # fmt: skip

    def node(self, goal: ObjectNode) -> int:
        """The goal's number.

        Raises:
            ConfigError: the network has no such node; the message lists what it has under that label.
        """
        number = self.network.find(goal)
        if number is None:
            same = self.network.like(goal.label)
            labels = {n.label for n in self.network.nodes}
            hint = " It has: " + "; ".join(map(repr, same[:6])) if same else did_you_mean(goal.label, labels)
            raise ConfigError(f"the network has no node {goal!r}.{hint}")
        return number

    def retrieve(
        self,
        goal: ObjectNode,
        semantics: Semantics = Semantics.MONOTONE,
        effort: Effort | None = None,
        buy: float | None = None,
        person_steps: int = 0,
        counts: Mapping[int, int] | None = None,
    ) -> Retrieval:
        """The cheapest tree for a goal.

        Args:
            goal: the node that is wanted; it never counts as being there already.
            semantics: whether things are used up.
            effort: budgets.
            buy: price of buying something that nothing makes; None: what is missing makes the goal unreachable.
            person_steps: how many steps a person may do, at the profile's price for a person.
            counts: limited numbers of start nodes (consuming semantics).
        """
        target = self.node(goal)
        start = self.stock - {target}
        graph, shop = self._shop(start, target, buy)
        effort = effort or Effort()
        if semantics is Semantics.CONSUMING:
            if person_steps:
                raise ConfigError("steps by a person are not offered together with consuming semantics")
            return self._consuming(graph, shop, start, target, effort, counts)
        if person_steps:
            return self._assisted(graph, shop, start, target, person_steps, effort)
        answer = cheapest(graph, start, [target], effort)
        return self._monotone(graph, shop, answer, start, target)

    def plans(self, goal: ObjectNode, buy: float | None = None, seconds: float = 60.0) -> Iterator[Retrieval]:
        """All minimal trees, cheapest first, as a lazy stream."""
        target = self.node(goal)
        start = self.stock - {target}
        graph, shop = self._shop(start, target, buy)
        for answer in kbest.plans(graph, start, [target], seconds):
            if answer.order is None:
                return
            yield self._monotone(graph, shop, answer, start, target)

    @property
    def among(self) -> str:
        """What plans are compared with."""
        names = {s.name for sources in self.network.sources for s in sources}
        units = len(self.network.units) - len(self.prices.banned)
        return f"{units} units of {len(names)} sources"

    def _shop(self, start: frozenset[int], target: int, buy: float | None) -> tuple[Hypergraph, dict[int, int]]:
        """The network with a unit for buying each missing leaf: (network, unit number -> node)."""
        if buy is None:
            return self.graph, {}
        if buy < 0:
            raise ConfigError(f"a price is 0 or more, got {buy}")
        missing = sorted(self.network.never_made() - start - {target})
        base = self.graph
        units = [(base.ins[u], (*base.outs[u], *base.kept[u])) for u in range(len(base.ins))]
        price = round(buy * SCALE)
        graph = Hypergraph.build(
            [*units, *(((), (n,)) for n in missing)], [*base.cost, *(price for _ in missing)], base.nodes
        )
        return graph, {len(units) + k: n for k, n in enumerate(missing)}

    def _steps(
        self, graph: Hypergraph, shop: Mapping[int, int], order: Iterable[int], person: frozenset[int] = frozenset()
    ) -> tuple[tuple[Step, ...], tuple[Bought, ...]]:
        steps: list[Step] = []
        bought: list[Bought] = []
        for u in order:
            if u in shop:
                node = self.network.nodes[shop[u]]
                bought.append(Bought(node, graph.cost[u] / SCALE, self.vocabulary.leaf(node)))
                continue
            unit = self.network.units[u]
            why = "a person does it" if u in person else self.prices.profile.explain(unit)[1]
            cost = self.prices.profile.person if u in person else graph.cost[u] / SCALE
            steps.append(Step(unit, u, cost, why, self.network.sources[u], u in person))
        return tuple(steps), tuple(bought)

    def _monotone(
        self, graph: Hypergraph, shop: Mapping[int, int], answer: Answer, start: frozenset[int], target: int
    ) -> Retrieval:
        goal = self.network.nodes[target]
        if answer.order is None:
            return Retrieval(
                None, 0.0, 0.0, answer.proved, Semantics.MONOTONE, self.among, answer=answer, goal=goal,
                missing=self.obstacles(start, target),
            )  # fmt: skip
        steps, bought = self._steps(graph, shop, answer.order)
        return Retrieval(
            steps, answer.cost / SCALE, answer.bound / SCALE, answer.proved, Semantics.MONOTONE, self.among, bought,
            replay=graph.executable(answer.order, start, [target]), answer=answer, goal=goal,
        )  # fmt: skip

    def _assisted(
        self, graph: Hypergraph, shop: Mapping[int, int], start: frozenset[int], target: int, steps: int, effort: Effort
    ) -> Retrieval:
        price = round(self.prices.profile.person * SCALE)
        person = [price if u not in shop else graph.cost[u] for u in range(len(graph.ins))]
        found = assisted.solve(graph, start, [target], steps, person, effort.seconds, effort.seed)
        goal = self.network.nodes[target]
        if found.order is None:
            return Retrieval(
                None, 0.0, 0.0, found.proved, Semantics.MONOTONE, self.among, goal=goal,
                missing=self.obstacles(start, target),
            )  # fmt: skip
        done, bought = self._steps(graph, shop, found.order, found.person)
        return Retrieval(
            done, found.cost / SCALE, found.cost / SCALE if found.proved else 0.0, found.proved, Semantics.MONOTONE,
            self.among, bought, replay=graph.executable(found.order, start, [target]), goal=goal,
        )  # fmt: skip

    def _consuming(
        self, graph: Hypergraph, shop: Mapping[int, int], start: frozenset[int], target: int, effort: Effort,
        counts: Mapping[int, int] | None,
    ) -> Retrieval:  # fmt: skip
        stays = {n for n, node in enumerate(self.network.nodes) if self.vocabulary.leaf(node) is LeafKind.TOOL}
        found = consuming.solve(graph, start, [target], effort.seconds, counts, stays, effort.seed)
        goal = self.network.nodes[target]
        proved = found.status in ("proved", "unreachable")
        if found.order is None:
            return Retrieval(
                None, 0.0, found.bound / SCALE, proved, Semantics.CONSUMING, self.among, goal=goal,
                missing=self.obstacles(start, target),
            )  # fmt: skip
        steps, bought = self._steps(graph, shop, found.order)
        times: dict[int, int] = {}
        for u in found.order:
            times[u] = times.get(u, 0) + 1
        return Retrieval(
            steps, found.cost / SCALE, found.bound / SCALE, proved, Semantics.CONSUMING, self.among, bought,
            {u: n for u, n in times.items() if n > 1},
            tuple((self.network.nodes[n], c) for n, c in found.copies.items() if c > 1),
            consuming.replay(graph, found.order, start, [target], counts, stays), goal=goal,
        )  # fmt: skip

    def obstacles(self, start: frozenset[int], target: int) -> tuple[ObjectNode, ...]:
        """Leaves outside the kitchen that the goal may depend on; the target itself where nothing makes it."""
        graph = self.graph
        if not graph.producers[target]:
            return (self.network.nodes[target],)
        units = graph.relevant(set(start), [target])
        reached, _ = graph.fire(units, start)
        lacking = {n for u in units for n in graph.ins[u] if n not in reached and not graph.producers[n]}
        return tuple(self.network.nodes[n] for n in sorted(lacking))
