"""Whole tasks in a home, from a request to its judged end: the episodes of `handrail eval task` beyond the symbolic cells.

The line is the real one (reading, asking, planning, checking, carrying out, replanning). What is simulated is said: the
people (who know what they mean, and answer wrongly now and then), the home, and what goes wrong in it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from handrail.assembly import assemble
from handrail.check.pipeline import DryRun as DryRunLayer
from handrail.decide.certificate import DryRun, Ended, Episode, Setting
from handrail.decide.certificate.runs import facts_of
from handrail.decide.conformal import confidences
from handrail.decide.policy import Act, Ask, Refuse, read_set
from handrail.domain.domain import Domain
from handrail.domain.files import load_scene, scene_names
from handrail.domain.goal import Goal
from handrail.domain.option import Option
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.errors import HandrailError, WorldError
from handrail.evaluate.scenarios.home import Home
from handrail.evaluate.scenarios.scenario import Scenario
from handrail.execute.budget import Budgets
from handrail.execute.card import Card, make_card
from handrail.execute.loop import Executor
from handrail.execute.person import Answer, Deadline, Question, Reply
from handrail.execute.replan import PlannerFirst
from handrail.execute.runner import Runner
from handrail.intent.fit import default_scorer
from handrail.intent.readings import RequestReader
from handrail.intent.refute import marked
from handrail.intent.scene import context
from handrail.mission import Mission
from handrail.propose.proposal import Effort
from handrail.record.event import MemoryLog
from handrail.record.journal import Journal
from handrail.solve.astar import Budget, solve
from handrail.world.host import LocalHost

SEARCH = Budget(expansions=1_500, first=200)
"""States that the planner expands for one plan: enough for these homes' plans, and bounded."""
REFUTE = Budget(expansions=40, first=40)
"""States for refuting one of the offered readings; what it can't refute is left to the planner."""

KINDS = ("plain", "two fit", "open thing", "open place")
"""Requests that some skill can meet; dangerous and impossible ones are another population."""


def meaning(option: Option) -> str:
    """A reading as the condition that it wants, which is also the key of a home's candidates; "" for none."""
    return str(option.meaning.final) if isinstance(option.meaning, Goal) else ""


def would_do(read: str, acceptable: frozenset[str]) -> bool:
    """Whether a reading is one of what is acceptable, tidying up (a door shut, a thing switched off) apart."""
    parts = read.split(" and ")
    wanted = [p for p in parts if not p.startswith(("not open(", "not running("))] or parts
    return " and ".join(wanted) in acceptable


@dataclass
class ThresholdWeigher:
    """Acts on its best reading where that is confident enough, and asks otherwise; read back unless told not to.

    Attributes:
        ask: it asks below this confidence.
        read_back: a reading that it would act on is read back first.
        first: (meaning, share) of every reading of the first request, best first, once weighed.
        texts: meanings of all readings so far, by their texts.
    """

    ask: float
    read_back: bool = True
    reader: RequestReader = field(default_factory=RequestReader)
    first: tuple[tuple[str, float], ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    promise: str = ""

    def weigh(self, request: str, state: State) -> Act | Ask | Refuse:
        """See `handrail.weighing.Weigher`."""
        options = self.reader.read(request, state.objects.domain, state)
        scores = default_scorer(state, None).score(context(request, options, state), options)
        shares = confidences(scores, 1.0)
        order = sorted((i for i, p in enumerate(shares) if p == p), key=lambda i: -shares[i])
        self.first = self.first or tuple((meaning(options[i]), shares[i]) for i in order)
        self.texts |= {o.text: meaning(o) for o in options}
        sure = bool(order) and shares[order[0]] >= self.ask
        # Who asks offers at least two readings: one alone would be acted on.
        kept = (
            order[:1] if sure else [i for n, i in enumerate(order) if n < 2 or shares[i] >= 0.25 * shares[order[0]]][:6]
        )
        decision = read_set(options, shares, kept)
        found = read_set(
            marked(decision.options, state, budget=REFUTE), decision.probabilities, range(len(decision.options))
        )
        unread = isinstance(found, Act) and not self.read_back
        return replace(found, calibration="declared setting") if unread else found


@dataclass
class Meaning:
    """A simulated person who knows what is meant and says so, but answers wrongly in a share of questions.

    Where several things would do, the person takes the one that the robot thinks of first.

    Attributes:
        home: the scene's candidates.
        scenario: the request and all that this person would accept.
        wrong: probability of a wrong answer.
        rng: source of the mistakes.
        weigher: the robot's, for its first thought.
        asked: questions so far; `mistaken`: how many were answered wrongly.
    """

    home: Home
    scenario: Scenario
    wrong: float
    rng: np.random.Generator
    weigher: ThresholdWeigher
    asked: int = 0
    mistaken: int = 0

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:  # noqa: ARG002 - one shape for all
        """What is meant, in the words of its candidate; questions about the execution are left to others."""
        if str(question.kind) != "goal":
            return None
        self.asked += 1
        slip = self.rng.random() < self.wrong
        self.mistaken += int(slip)
        if question.choices == ("yes", "no"):
            read = next((m for t, m in self.weigher.texts.items() if f": {t}. Is that" in question.sentence), "")
            right = would_do(read, self.scenario.acceptable)
            index = 0 if right is not slip else 1
            return Answer(question.choices[index], index, "simulated person")
        if slip and question.choices:
            index = int(self.rng.integers(len(question.choices)))
            return Answer(question.choices[index], index, "simulated person")
        liked = next((m for m, _ in self.weigher.first if would_do(m, self.scenario.acceptable)), "")
        words = next(
            (t for t, m in self.weigher.texts.items() if m and m == liked), self.home.option(self.scenario.intent).text
        )
        return Answer(words, None, "simulated person")

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:  # noqa: ARG002 - one shape for all
        """Approves: what is judged is whether the robot does what was meant, not who let it."""
        return Reply(True, "simulated person")


@dataclass(frozen=True)
class Reading:
    """How a request was read at first: the best two shares, whether the best would do, the share of what is meant."""

    best: float
    second: float
    right: bool
    meant: float

    @classmethod
    def of(cls, first: tuple[tuple[str, float], ...], acceptable: frozenset[str]) -> Reading:
        """From the weighed readings, best first."""
        shares = [p for _, p in first] + [0.0, 0.0]
        meant = max((p for m, p in first if would_do(m, acceptable)), default=0.0)
        return cls(shares[0], shares[1], bool(first) and would_do(first[0][0], acceptable), meant)


@dataclass(frozen=True)
class Place:
    """A home to run in.

    Attributes:
        physical: MuJoCo with contact; otherwise the symbolic world.
        wrong: probability that the person answers wrongly.
        faults: what goes wrong, as fields of the world's `Faults`.
        confuse: probability that alike things are taken for each other (physical only).
        rehearse: log one dry-run of each plan (physical only).
    """

    physical: bool
    wrong: float = 0.02
    faults: dict[str, Any] = field(default_factory=dict)
    confuse: float = 0.0
    rehearse: bool = False


SYMBOLIC = Place(False, faults={"slip": 0.06, "liar": 0.01, "denier": 0.01, "blocked": 0.02})
PHYSICAL = Place(True, faults={"slip": 0.02, "moved": 0.02, "weak": 0.01, "drift": 0.02}, confuse=0.03, rehearse=True)


class Line:
    """Runs episodes in one kind of place.

    Args:
        place: which.
        seed: of all episodes; episode i of the same seed is the same task with the same luck, whatever the setting.

    Attributes:
        readings: how the request of each episode run so far was read.
    """

    def __init__(self, place: Place, seed: int = 0) -> None:
        self.place, self.seed = place, seed
        self.domain = Domain.load(Path(__file__).parents[1] / "domains" / "home.yaml")
        self.states = [load_scene(self.domain, name).state for name in scene_names(self.domain)]
        self.homes = [Home(s) for s in self.states]
        self.readings: dict[int, Reading] = {}
        self._known: dict[tuple[int, str], bool] = {}

    def scenario(self, number: int) -> tuple[int, Scenario]:
        """The scene and request of an episode: independent draws."""
        rng = np.random.default_rng((self.seed, 1, number))
        scene = int(rng.integers(len(self.states)))
        while True:
            found = self.homes[scene].generate(1, seed=int(rng.integers(2**31)))[0]
            if found.category in KINDS and found.acceptable and self._has_a_plan(scene, found):
                return scene, found

    def _has_a_plan(self, scene: int, scenario: Scenario) -> bool:
        """Something that would be as meant is not so yet, is allowed, and can be reached by declared skills."""
        if self._holds(self.states[scene], self.homes[scene], scenario):
            return False
        return any(self._reachable(scene, key) for key in scenario.acceptable)

    def _reachable(self, scene: int, key: str) -> bool:
        if (scene, key) not in self._known:
            (option,) = marked([self.homes[scene].option(key)], self.states[scene], budget=SEARCH)
            self._known[scene, key] = not option.impossible and not option.unsafe
        return self._known[scene, key]

    def _holds(self, state: State, home: Home, scenario: Scenario) -> bool:
        for key in scenario.acceptable:
            goal = home.option(key).meaning
            assert isinstance(goal, Goal)  # candidates of a home are goals
            task = Task(state.objects, goal)
            if task.end.holds(task.start(state)):
                return True
        return False

    def world(self, scene: int, number: int) -> Any:
        """A fresh world for one episode.

        Raises:
            MissingExtra: MuJoCo is needed and not installed.
        """
        seed = int(np.random.default_rng((self.seed, 2, number)).integers(2**31))
        state = self.states[scene]
        if not self.place.physical:
            from handrail.world.faults import Faults
            from handrail.world.symbolic import SymbolicWorld

            return SymbolicWorld(state, Faults(**self.place.faults), seed=seed)
        from handrail.world.mujoco.faults import Faults as PhysicalFaults
        from handrail.world.mujoco.perception import Perception
        from handrail.world.mujoco.world import MujocoWorld

        perception = Perception(confuse=self.place.confuse)
        return MujocoWorld(state, seed=seed, perception=perception, faults=PhysicalFaults(**self.place.faults))

    def episode(self, number: int, setting: Setting, components: dict[str, str] | None = None) -> Episode:
        """Run one task under a setting and judge it from the world's truth.

        Dry-runs are logged and not obeyed where the setting demands no passes (that is how episodes are collected),
        and obeyed where it does.
        """
        began = time.monotonic()
        scene, scenario = self.scenario(number)
        home, world = self.homes[scene], self.world(scene, number)
        before = _truth(world)
        rng = np.random.default_rng((self.seed, 3, number))
        weigher = ThresholdWeigher(setting.ask, setting.read_back)
        person = Meaning(home, scenario, self.place.wrong, rng, weigher)
        mission = assemble(
            self.domain,
            world,
            person=person,
            weigher=weigher,
            budgets=Budgets(replans=setting.replans, answer_seconds=5.0),
        )
        mission.effort = Effort(expansions=SEARCH.expansions)
        mission.replanner = PlannerFirst(solve, budget=SEARCH)
        log, dry = MemoryLog(f"task-{number}"), []
        try:
            with Runner(LocalHost(world, lease=None), log, person, threads=False) as runner:
                dry = self._carry_out(mission, scenario.request, runner, world, setting)
        except HandrailError as error:
            log.append(
                "run.end", {"reason": "WORLD" if isinstance(error, WorldError) else "ERROR", "sentence": str(error)}
            )
        self.readings[number] = Reading.of(weigher.first, scenario.acceptable)
        facts = facts_of(log.events, setting.ask, dry)
        return Episode(
            id=f"{self.seed}-{number}",
            cluster=f"{self.seed}-{number}",
            setting=setting,
            components=components or {},
            request=scenario.request,
            intent=" or ".join(sorted(scenario.acceptable)),
            group="",
            ended=facts.ended,
            why=facts.why,
            seconds=time.monotonic() - began,
            asks=facts.asks,
            truth=self._judge(scene, scenario, before, _truth(world)) if facts.ended is Ended.DONE else None,
            trace=facts.trace,
            first_tries=facts.first_tries,
        )

    def _carry_out(self, mission: Mission, request: str, runner: Runner, world: Any, setting: Setting) -> list[DryRun]:
        """The mission's line, with the dry-run logged beside it; returns what was logged."""
        made = mission.prepare(request, runner, Journal(runner.log, section="mission"))
        if made.verified is None:
            return []
        dry: list[DryRun] = []
        if setting.copies > 0:
            # Without physics there is nothing to rehearse: every copy passes.
            passed = DryRun((True,) * setting.copies)
            dry = [self._rehearse(world, made.verified.plan, setting.copies) if self.place.rehearse else passed]
            if sum(dry[0].passed) < setting.passes:
                runner.trace("run.end", {"reason": "REFUSED", "sentence": "the dry-run did not pass"})
                return dry
        card = make_card(made.verified, made.state.values, runner.host.capabilities.real)
        approval = runner.approve(made.verified, card, 5.0)
        assert approval is not None and not isinstance(approval, Reply)  # this person approves everything
        from handrail.check import Pipeline

        layers: tuple[DryRunLayer, ...] = ()
        Executor(runner, Pipeline(layers, runner.notary), mission.replanner, mission.budgets).run(
            made.verified, approval
        )
        return dry

    def _rehearse(self, world: Any, plan: Any, copies: int) -> DryRun:
        from handrail.world.mujoco.dryrun import MujocoDryRun

        snapshot = world.fork()
        try:
            return DryRun(tuple(bool(MujocoDryRun().check(plan, snapshot, seed, 0).passed) for seed in range(copies)))
        finally:
            world.give_back(snapshot)

    def _judge(self, scene: int, scenario: Scenario, before: State, after: State) -> bool:
        """As meant: an acceptable goal holds in truth, and no other thing lies elsewhere than before.

        What is still in the robot's hand (the sponge after wiping) lies nowhere.
        """
        if not self._holds(after, self.homes[scene], scenario):
            return False
        named = " ".join(scenario.acceptable)
        return all(
            after.values.get(atom) in (value, None) or f"({atom[1]})" in named
            for atom, value in before.values.items()
            if atom[0] == "on"
        )


def _truth(world: Any) -> State:
    """What is really the case, for the judge and never for the robot."""
    from handrail.world.symbolic import SymbolicWorld

    state: State = world.state if isinstance(world, SymbolicWorld) else world.truth
    return state
