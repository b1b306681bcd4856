"""The line itself: request in, events out. This page is the map of a run.

    observe ─▶ understand (read, weigh, ask) ─▶ propose ─▶ consolidate ─▶ check ─▶ approve ─▶ execute ─▶ record

Each stage is a collaborator that is handed in. What comes from outside passes the journal, so the same page replays a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from handrail.check import Pipeline, Refused, VerifiedPlan, run_symbolic
from handrail.check.pipeline import DryRun
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.errors import StaleError
from handrail.execute.approval import Approval
from handrail.execute.budget import Budgets
from handrail.execute.card import Card, make_card
from handrail.execute.loop import Executor
from handrail.execute.loop import Outcome as Execution
from handrail.execute.packed import pack_goal, pack_plan, pack_scene, recorded_pipeline, unpack_plan, unpack_scene
from handrail.execute.person import Nobody, Person
from handrail.execute.replan import Replanner
from handrail.execute.runner import Runner, Stopping
from handrail.language.watch import RunRecorder
from handrail.propose.proposal import Effort, Proposer
from handrail.record.event import Log
from handrail.record.journal import Journal
from handrail.record.store import RunStore
from handrail.telling import LogOf, Say, Told, pack_proposal
from handrail.understanding import End, Understander, Understood
from handrail.weighing import Given, Weigher
from handrail.world import wire
from handrail.world.host import LocalHost
from handrail.world.hosting import Host
from handrail.world.protocol import World


@dataclass(frozen=True)
class Choice:
    """What consolidation made of the proposals.

    Attributes:
        plan: the plan to check; None for none.
        sentence: what was chosen among what, or why there is none.
        figures: cost, bound, whether proved, and which steps came from where.
        refused: there is provably no plan, or a rule forbids it; asking again is pointless.
    """

    plan: Plan | None
    sentence: str
    figures: dict[str, Any] = field(default_factory=dict)
    refused: bool = False


Consolidate = Callable[[Sequence[Any], State, Goal, Exclusions], Choice]
"""Makes one plan of several proposals for the same goal."""


@dataclass(frozen=True)
class Outcome:
    """How a request ended.

    Attributes:
        reason: DONE, ALREADY, REFUSED, IMPOSSIBLE, UNANSWERED, UNCLEAR, NO_PLAN, NOT_APPROVED, STOPPED, or why an execution ended.
        sentence: the same for a person.
        run: the run's id; "" where nothing was recorded.
        understood: what the request was read to mean.
        verified: the plan that was proven; None for none.
        execution: its execution; None where nothing moved.
        seconds: wall time.
    """

    reason: str
    sentence: str
    run: str
    understood: Understood | None = None
    verified: VerifiedPlan | None = None
    execution: Execution | None = None
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the goal was seen to hold at the end. Asking, refusing and handing over are not done."""
        return self.reason in ("DONE", "ALREADY")


@dataclass(frozen=True)
class Prepared:
    """A request on its way, up to the point where something would move."""

    understood: Understood | None
    state: State
    verified: VerifiedPlan | None
    reason: str = ""
    sentence: str = ""
    choice: Choice | None = None


@dataclass
class Mission:
    """Carries out requests in one world.

    Attributes:
        domain: the skill library; the world's must be the same.
        world: a World (it is hosted in this process) or a Host.
        weigher: reads and decides requests; see `handrail.understanding`.
        proposers: write plans for a decided goal, each with its own provenance.
        consolidate: makes one plan of them.
        person: who is asked; other terminals may answer too.
        dry_runs: checks after the symbolic one.
        replanner: writes the next plan when one fails; made from the exclusions at hand.
        store: where runs are recorded; None records in memory.
        budgets: of an execution.
        effort: of the proposers.
        refusals: plans that a dry-run may refuse before the request is given back.
        seed: of the dry-runs.
        copies: perturbed copies per dry-run.
        answer_seconds: how long a question or approval waits; None for as long as it takes.
        say: told what happens.
        recorder: what the model is watched by, so that its requests and answers go to the run's log; None without a model.
    """

    domain: Domain
    world: World | Host
    weigher: Weigher
    proposers: tuple[Proposer, ...]
    consolidate: Consolidate
    person: Person = field(default_factory=Nobody)
    dry_runs: tuple[DryRun, ...] = ()
    replanner: Replanner | None = None
    store: RunStore | None = None
    budgets: Budgets = field(default_factory=Budgets)
    effort: Effort = field(default_factory=Effort)
    refusals: int = 5
    seed: int = 0
    copies: int = 0
    answer_seconds: float | None = None
    say: Say = lambda stage, sentence: None  # noqa: ARG005
    exclusions: Exclusions = field(default_factory=Exclusions)
    recorder: RunRecorder | None = None
    _host: Host | None = field(default=None, init=False, repr=False)

    def run(self, request: str) -> Outcome:
        """Carry out a request: to its goal, or to a named end.

        Raises:
            HandrailError: infrastructure failed; what moves is stopped first.
        """
        began = time.monotonic()
        with self._log(request) as log, self._runner(log) as runner, runner.ctrl_c():
            try:
                outcome = self._run(request, runner)
            except Stopping as s:
                verdict = runner.stop_verdict()
                outcome = Outcome(
                    "STOPPED", f"Stopped by {s.by}: {verdict.overall}. {verdict.sentence}".strip(), runner.run
                )
            made = Outcome(**{**outcome.__dict__, "seconds": time.monotonic() - began})
            runner.trace(
                "run.end", {"reason": made.reason, "sentence": made.sentence, "seconds": round(made.seconds, 3)}
            )
            if self.store is not None:
                self.store.update_run(runner.run, status="ended", ended=made.reason)
            self.say("done" if made.done else "ended", made.sentence)
            return made

    def plan(self, request: str) -> Prepared:
        """Everything up to the approval: nothing moves and nobody approves."""
        with self._log(request) as log, self._runner(log) as runner:
            made = self.prepare(request, runner, Journal(log, section="mission"))
            if self.store is not None:
                self.store.update_run(runner.run, status="ended", ended=made.reason or "PLANNED")
            return made

    def _run(self, request: str, runner: Runner) -> Outcome:
        made = self.prepare(request, runner, Journal(runner.log, section="mission"))
        if made.verified is None:
            return Outcome(made.reason, made.sentence, runner.run, made.understood)
        card = make_card(made.verified, made.state.values, runner.host.capabilities.real)
        approval = self._approval(runner, made.verified, card)
        if not isinstance(approval, Approval):
            return Outcome("NOT_APPROVED", approval, runner.run, made.understood, made.verified)
        pipeline = Pipeline(self.dry_runs, runner.notary)
        journal = Told(runner.log, self.say, made.verified.task)
        done = Executor(runner, pipeline, self.replanner, self.budgets).run(made.verified, approval, journal=journal)
        return Outcome(done.reason, done.sentence, runner.run, made.understood, made.verified, done)

    def _approval(self, runner: Runner, verified: VerifiedPlan, card: Card) -> Approval | str:
        self.say("card", card.text)
        found = runner.approve(verified, card, self.answer_seconds)
        if isinstance(found, Approval):
            self.say("approved", f"by {found.by}" if card.needed else found.by)
            return found
        if found is None:
            return "The plan needs a person's approval, and nobody gave one in time. Nothing moved."
        return f"{found.by} did not approve the plan{f': {found.words}' if found.words else ''}. Nothing moved."

    def prepare(self, request: str, runner: Runner, journal: Journal) -> Prepared:
        """Observe, understand, propose, consolidate and check: a proven plan, or why there is none."""
        state = self._observe(runner, journal)
        self.say("request", request)
        talk = Understander(
            self.weigher, lambda q: runner.ask(q, self.answer_seconds), journal, lambda do: runner.wait(do)
        )
        understood = talk.understand(request, state)
        if understood.goal is None:
            reason = str(understood.end).upper()
            return self._ended(journal, Prepared(understood, state, None, reason, understood.sentence))
        goal = understood.goal
        self.say("goal", f"{goal.text or goal}  ({understood.sentence})")
        if understood.asked:  # a person took their time; look again
            state = self._observe(runner, journal)
        task = Task(state.objects, goal, self.exclusions)
        if task.end.holds(task.start(state)):
            return self._ended(
                journal, Prepared(understood, state, None, "ALREADY", "It is so already: nothing has to be done.")
            )
        return self._proven(request, understood, goal, state, runner, journal)

    def _proven(
        self, request: str, understood: Understood, goal: Goal, state: State, runner: Runner, journal: Journal
    ) -> Prepared:
        """Propose and check until a plan passes every layer; a step that a dry-run refuses is left out of the next."""
        excluded = Exclusions(list(self.exclusions.items))
        for attempt in range(self.refusals + 1):
            choice = self._choose(request, goal, state, excluded, runner, journal)
            if choice.plan is None:
                end = End.REFUSED if choice.refused and "rule" in choice.figures.get("kind", "") else None
                reason = "REFUSED" if end else "IMPOSSIBLE" if choice.refused else "NO_PLAN"
                return self._ended(journal, Prepared(understood, state, None, reason, choice.sentence, choice))
            self.say("plan", choice.sentence)
            checked = self._check(choice.plan, goal, state, excluded, runner, journal)
            if isinstance(checked, VerifiedPlan):
                journal.note("proven", {"proof_id": checked.proof_id, "plan": choice.plan.plan_id, "attempt": attempt})
                return Prepared(understood, state, checked, choice=choice)
            why = checked.verdict.reasons[0]
            self.say("refused", why.sentence)
            if why.step is None or not self._exclude(
                choice.plan, goal, state, why.step, why.sentence, why.code, excluded
            ):
                return self._ended(journal, Prepared(understood, state, None, "REFUSED", why.sentence, choice))
        sentence = f"{self.refusals + 1} plans were refused in a row; the last one: {why.sentence}"
        return self._ended(journal, Prepared(understood, state, None, "NO_PLAN", sentence, choice))

    def _ended(self, journal: Journal, made: Prepared) -> Prepared:
        journal.note("ended", {"reason": made.reason, "sentence": made.sentence})
        return made

    def _observe(self, runner: Runner, journal: Journal) -> State:
        """What is seen now; in a replay what was seen then, with the objects that were in sight."""
        seen: list[State] = []

        def look() -> State:
            seen.append(runner.host.observe().state)
            if seen[0].objects.domain.fingerprint != self.domain.fingerprint:
                raise StaleError("the world's domain is not the mission's; load both from one file")
            return seen[0]

        def unpack(body: dict[str, Any]) -> State:
            objects = seen[0].objects if seen else unpack_scene(body["scene"], self.domain)
            return State(objects, wire.unpack_values(body["values"]))

        return journal.outside(
            "observed",
            {},
            look,
            lambda s: {"scene": pack_scene(s.objects), "values": wire.pack_values(s.values)},
            unpack,
        )

    def _choose(
        self, request: str, goal: Goal, state: State, excluded: Exclusions, runner: Runner, journal: Journal
    ) -> Choice:
        def work() -> Choice:
            proposals = []
            for proposer in self.proposers:
                if hasattr(proposer, "exclusions"):
                    proposer.exclusions = excluded
                proposals += proposer.propose(goal, request, state.objects.domain, state, self.effort)
            for p in proposals:
                runner.trace("propose.proposal", pack_proposal(p))
            return self.consolidate(proposals, state, goal, excluded)

        return journal.outside(
            "chosen",
            {"goal": pack_goal(goal), "excluded": excluded.snapshot_id},
            lambda: runner.wait(work),
            lambda c: {
                "plan": pack_plan(c.plan) if c.plan else None,
                "sentence": c.sentence,
                "figures": c.figures,
                "refused": c.refused,
            },
            lambda b: Choice(unpack_plan(b["plan"]) if b["plan"] else None, b["sentence"], b["figures"], b["refused"]),
        )

    def _check(
        self, plan: Plan, goal: Goal, state: State, excluded: Exclusions, runner: Runner, journal: Journal
    ) -> VerifiedPlan | Refused:
        """Check a plan; the dry-runs' results go through the journal, the rest is computed again from them."""
        task = Task(state.objects, goal, excluded)

        def work() -> dict[str, Any]:
            fork = runner.host.fork() if self.dry_runs and runner.host.capabilities.forks else None
            pipeline = Pipeline(self.dry_runs, runner.notary)
            out = pipeline.verify(plan, state, goal, task=task, snapshot=fork, seed=self.seed, copies=self.copies)
            verdict = out.verdict
            return {"verdict": verdict.to_json(), "tolerances": dict(getattr(out, "tolerances", {}))}

        found = journal.outside("checked", {"plan": plan.plan_id}, lambda: runner.wait(work), lambda b: b, lambda b: b)
        recorded = recorded_pipeline(runner.notary, found["verdict"], found["tolerances"])
        out = recorded.verify(plan, state, goal, task=task, snapshot=object())
        self.say("checked", _checked(out))
        return out

    def _exclude(
        self, plan: Plan, goal: Goal, state: State, index: int, sentence: str, code: str, excluded: Exclusions
    ) -> bool:
        """Leave a refused step out for as long as the facts stay that it was refused under; whether that is news."""
        task = Task(state.objects, goal, excluded)
        before = Plan(plan.steps[:index])
        values = run_symbolic(before, task, state).values if index else task.start(state)
        facts = task.ground.operator(plan.steps[index]).circumstances(values)
        known = len(excluded)
        excluded.add(plan.steps[index], facts, sentence, code)
        return len(excluded) > known

    def _log(self, request: str) -> LogOf:
        return LogOf(
            self.store, request, getattr(self.world, "name", ""), self.domain.source or self.domain.name, self.recorder
        )

    def _runner(self, log: Log) -> Runner:
        if self._host is None:
            self._host = cast(Host, self.world) if is_host(self.world) else LocalHost(cast(World, self.world))
        host = self._host
        control = self.store.path.parent / "control" if self.store is not None else None
        if control is not None:
            control.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Runner(host, log, self.person, control=control)


def is_host(world: World | Host) -> bool:
    """Whether something is a Host already: it can be acquired; a bare World can't."""
    return hasattr(world, "acquire")


def _checked(out: VerifiedPlan | Refused) -> str:
    verdict = out.verdict
    done = [f"{layer.layer} {'✓' if layer.passed else '✗'}" for layer in verdict.layers]
    left = f"   not checked: {', '.join(verdict.unchecked)}" if verdict.unchecked else ""
    return "   ".join(done) + left


def fixed_goal(mission: Mission, goal: Goal) -> Mission:
    """The same mission for a goal that a person wrote in the domain language; its words are not read."""
    mission.weigher = Given(replace(goal, source=GoalSource.PERSON))
    return mission


__all__ = ["Choice", "Consolidate", "Mission", "Outcome", "Prepared", "fixed_goal"]
