from __future__ import annotations

from collections.abc import Callable

import pytest

import handrail as hr
from handrail.check.pipeline import DryRun
from handrail.domain import LayerResult, Plan, Reason
from handrail.execute.budget import Ended
from handrail.mission import Mission, fixed_goal
from handrail.propose.proposal import Effort
from handrail.record.event import MemoryLog
from handrail.record.journal import Journal


@pytest.fixture(scope="module")
def home() -> hr.Domain:
    return hr.Domain.load(hr.domains.path("home"))


class Person:
    """Answers by the words of a question, approves or not, and remembers everything."""

    def __init__(self, answers: dict[str, str] | None = None, approve: bool | None = True) -> None:
        self.answers = answers or {}
        self.approves = approve
        self.questions: list[str] = []
        self.cards: list[str] = []

    def make(self):
        def question(q) -> str | None:
            self.questions.append(q.sentence)
            return next((a for phrase, a in self.answers.items() if phrase in q.sentence), None)

        def card(c) -> bool | None:
            self.cards.append(c.text)
            return self.approves

        return hr.people.callback(question, card, "tester")


Build = Callable[..., Mission]


@pytest.fixture
def build(home: hr.Domain) -> Build:
    def make(person: Person, **more) -> Mission:
        faults = more.pop("faults", None)
        world = hr.worlds.symbolic(home, faults=faults)
        return hr.assemble(home, world, person=person.make(), **more)

    return make


def test_a_clear_request_is_read_back_proven_approved_and_done(build: Build) -> None:
    person = Person({"I understand": "yes"})
    mission = build(person)
    outcome = mission.run("wipe the table")
    assert outcome.done, outcome
    assert outcome.reason == "DONE"
    assert person.questions == ["I understand: wipe the table. Is that right?"]
    assert "Wipe the" in person.cards[0]
    assert outcome.verified is not None
    assert [s.skill for s in outcome.verified.steps] == ["navigate_to", "pick", "navigate_to", "wipe"]


def test_an_ambiguous_request_is_asked_about_and_the_answer_decides(build: Build) -> None:
    person = Person({"Where to": "the fridge"})
    outcome = build(person).run("Put the milk away.")
    assert outcome.done
    assert outcome.understood is not None
    assert "fridge" in str(outcome.understood.goal)
    assert outcome.understood.asked == 1


def test_parts_are_decided_one_by_one_and_done_in_their_order(build: Build) -> None:
    person = Person({"put the milk": "the fridge", "something to drink": "the bottle of water"})
    outcome = build(person).run("Put the milk away, then bring me something to drink.")
    assert outcome.done
    assert outcome.verified is not None
    keys = [s.key for s in outcome.verified.steps]
    stored = keys.index(("place", "robot_1", "hand_1", "milk", "fridge"))
    handed = keys.index(("hand_over", "robot_1", "hand_1", "water", "person_1"))
    assert stored < handed


def test_a_wrong_reading_that_a_person_denies_moves_nothing(build: Build) -> None:
    person = Person({"I understand": "no"})
    outcome = build(person).run("wipe the table")
    assert (outcome.reason, outcome.done) == ("UNCLEAR", False)
    assert person.cards == []


def test_no_answer_is_neither_yes_nor_no(build: Build) -> None:
    outcome = build(Person(), answer_seconds=0.2).run("wipe the table")
    assert (outcome.reason, outcome.done) == ("UNANSWERED", False)


def test_a_rule_refuses_with_its_reason(build: Build) -> None:
    outcome = build(Person()).run("give me the knife")
    assert outcome.reason == "REFUSED"
    assert "sharp" in outcome.sentence.lower()


def test_what_a_person_does_not_approve_is_not_done(build: Build) -> None:
    person = Person({"I understand": "yes"}, approve=False)
    outcome = build(person).run("wipe the table")
    assert outcome.reason == "NOT_APPROVED"
    assert outcome.execution is None


def test_what_is_so_already_needs_no_plan(build: Build) -> None:
    person = Person({"I understand": "yes", "Do you mean": "1", "Where to": "1"})
    mission = build(person)
    mission = fixed_goal(mission, hr.Goal())
    assert mission.run("do nothing").reason == "ALREADY"


def test_a_failure_is_recovered_and_the_effect_verified(build: Build) -> None:
    person = Person({"I understand": "yes"})
    outcome = build(person, faults={"script": {"1": "slip"}}).run("wipe the table")
    assert outcome.done
    assert outcome.execution is not None
    assert outcome.execution.spent.failures == 1


def test_reported_success_without_effect_is_not_done(build: Build) -> None:
    person = Person({"I understand": "yes"})
    outcome = build(person, faults={"liar": 1.0, "lies": "wipe*"}).run("wipe the table")
    assert not outcome.done
    assert outcome.execution is not None
    assert outcome.execution.ended is not Ended.DONE


class RefusingDryRun:
    """Refuses steps by skill, as a simulator would."""

    name = "physics"
    def __init__(self, refuses: str) -> None:
        self.tolerances: dict[str, float] = {}
        self.refuses = refuses
        self.seen: list[Plan] = []

    def check(self, plan: Plan, snapshot: object, seed: int, copies: int) -> LayerResult:
        self.seen.append(plan)
        for i, s in enumerate(plan.steps):
            if str(s) == self.refuses:
                return LayerResult("physics", False, (Reason("UNREACHABLE", f"{s} is out of reach.", step=i),))
        return LayerResult("physics", True)


def test_a_refused_step_is_left_out_of_the_next_plan(build: Build) -> None:
    person = Person({"I understand": "yes", "Should I": "1", "Do you mean": "1"})
    trial: DryRun = RefusingDryRun("pick(robot_1, hand_1, sponge)")
    outcome = build(person, dry_runs=(trial,), effort=Effort(expansions=300)).run("wipe the table")
    assert outcome.reason in ("IMPOSSIBLE", "NO_PLAN", "REFUSED")
    plans = [p.plan_id for p in trial.seen]
    assert len(plans) == len(set(plans)), "the same plan came back"


def test_a_recorded_preparation_is_taken_again_without_asking_anybody(build: Build, home: hr.Domain) -> None:
    person = Person({"put the milk": "the fridge", "something to drink": "the bottle of water"})
    mission = build(person)
    log = MemoryLog()
    request = "Put the milk away, then bring me something to drink."
    with mission._runner(log) as runner:
        first = mission.prepare(request, runner, Journal(log, section="mission"))
    asked = len(person.questions)
    silent = Person()
    again_mission = build(silent)
    journal = Journal(None, log.events, section="mission")
    with again_mission._runner(MemoryLog()) as runner:
        again = again_mission.prepare(request, runner, journal)
    assert first.verified is not None
    assert again.verified is not None
    assert again.verified.proof_id == first.verified.proof_id
    assert asked > 0
    assert silent.questions == []
    assert journal.left == ""


def test_the_mission_refuses_a_world_of_another_domain(home: hr.Domain) -> None:
    from handrail.errors import StaleError

    office = hr.Domain.load(hr.domains.path("office"))
    mission = hr.assemble(office, hr.worlds.symbolic(home), person=Person().make())
    with pytest.raises(StaleError, match="not the mission's"):
        mission.run("bring me a coke")


def test_a_run_is_replayed_from_its_store_up_to_the_proven_plan(build: Build, tmp_path) -> None:
    from handrail.replaying import replay_preparation

    store = hr.RunStore(tmp_path / "runs.sqlite")
    outcome = build(Person({"I understand": "yes"}), store=store).run("wipe the table")
    events = store.events(outcome.run)
    again = replay_preparation(events)
    assert again.diverged == ""
    assert again.prepared is not None
    assert again.prepared.verified is not None
    assert outcome.verified is not None
    assert again.prepared.verified.proof_id == outcome.verified.proof_id
    cut = [e for e in events if e.kind != "mission.proven"]
    assert replay_preparation(cut).prepared is None


def test_a_report_tells_the_run_and_escapes_what_others_wrote(build: Build, tmp_path) -> None:
    from handrail.report import write_report

    store = hr.RunStore(tmp_path / "runs.sqlite")
    outcome = build(Person({"I understand": "yes"}), store=store).run("wipe the table <script>alert(1)</script>")
    page = write_report(store, outcome.run, tmp_path / "r" / "report.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert outcome.reason in page
