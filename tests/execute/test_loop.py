"""The executor against the symbolic world: the truth is the world's, the claims are the executor's."""

from __future__ import annotations

import pytest

from handrail.check import Pipeline
from handrail.domain import UNKNOWN, Step
from handrail.errors import StaleError, UnprovenError
from handrail.execute.budget import Budgets, Ended
from handrail.execute.loop import Executor
from handrail.execute.person import Callback, Scripted
from handrail.execute.runner import Runner
from handrail.world.faults import Fault, Faults
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld


def test_a_plan_is_carried_out_and_its_goal_is_seen(make, plain):
    kit = make()
    out = kit.run("on(mug) == shelf", *plain)
    assert out.done and out.ended is Ended.DONE
    assert kit.world.state.get(("on", "mug")) == "shelf"
    assert [s.skill for _, s in kit.world.done] == ["go", "pick", "go", "place"]
    assert out.spent.steps == 4 and out.spent.replans == 0
    assert out.spent.cost == pytest.approx(1.0)


def test_every_start_has_its_intent_before_it(make, plain):
    kit = make()
    kit.run("on(mug) == shelf", *plain)
    order = [k for k in kit.kinds if k in ("execute.intent", "execute.step", "execute.observed")]
    assert order == ["execute.observed"] + ["execute.intent", "execute.step", "execute.observed"] * 4


def test_only_a_verified_plan_with_its_own_approval_runs(make, plain):
    kit = make()
    with Runner(kit.host, kit.log, Scripted()) as runner:
        pipeline = Pipeline(notary=runner.notary)
        one = kit.verified(pipeline, kit.goal("on(mug) == shelf"), *plain)
        other = kit.verified(pipeline, kit.goal("at(robot_1) == table"), ("go", "robot_1", "table"))
        executor = Executor(runner, pipeline)
        approval = runner.approvals.grant(one, None, "test")
        with pytest.raises(UnprovenError, match="only a VerifiedPlan"):
            executor.run(one.plan, approval)  # type: ignore[arg-type]
        with pytest.raises(UnprovenError, match="not for"):
            executor.run(other, approval)
        with pytest.raises(UnprovenError, match="Approval is needed"):
            executor.run(one, "yes")  # type: ignore[arg-type]
        assert executor.run(one, approval).done
        with pytest.raises(StaleError, match="used already"):
            executor.run(one, approval)
    assert len(kit.world.done) == 4


def test_a_plan_of_another_pipeline_does_not_run(make, plain):
    kit = make()
    with Runner(kit.host, kit.log) as runner:
        foreign = kit.verified(Pipeline(), kit.goal("on(mug) == shelf"), *plain)
        with pytest.raises(UnprovenError):
            runner.approvals.grant(foreign, None, "test")
        with pytest.raises(UnprovenError, match="notary"):
            Executor(runner, Pipeline())
    assert kit.world.done == []


def test_a_slip_is_tried_again_while_the_plan_is_still_proven(make, plain):
    kit = make(faults=Faults(script={1: Fault.SLIP, 2: Fault.SLIP}))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.done and out.spent.retries == 2 and out.spent.replans == 0


def test_success_without_effect_has_failed(make, plain):
    kit = make(faults=Faults(script={1: Fault.LIAR}))
    out = kit.run("on(mug) == shelf", *plain)
    judged = [e.body for e in kit.log.events if e.kind == "execute.judged"]
    assert judged[1]["code"] == "NO_EFFECT" and judged[1]["effect"] == "absent"
    assert out.done and kit.world.state.get(("on", "mug")) == "shelf"


def test_failure_with_effect_goes_on_and_repeats_nothing(make, plain):
    kit = make(faults=Faults(script={1: Fault.DENIER, 3: Fault.DENIER}))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.done and out.spent.retries == 0
    assert [s.skill for _, s in kit.world.done] == ["go", "pick", "go", "place"]


def test_a_world_that_always_lies_is_never_reported_done(make, plain):
    kit = make(faults=Faults(liar=1.0))
    out = kit.run("on(mug) == shelf", *plain)
    assert not out.done and out.escalated
    assert kit.world.state.get(("on", "mug")) == "table"


def test_a_thing_that_was_moved_leads_to_a_new_plan(make, plain):
    kit = make()

    def move(runner):
        kit.world.change((("on", "mug"), "store"), (("open", "store"), False))

    out = kit.run("on(mug) == shelf", *plain, during=move)
    assert out.done and out.spent.replans == 1
    assert Step("open", ("robot_1", "hand_1", "store")) in [s for _, s in kit.world.done]


def test_an_unrelated_change_does_not_stop_the_robot(make, plain):
    kit = make()
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "knife"), "table")))
    assert out.done and out.spent.replans == 0


def test_steps_whose_effect_is_there_already_are_skipped(make, plain):
    kit = make()

    def help_out(runner):
        kit.world.change((("holding", "hand_1"), "mug"), (("on", "mug"), None))

    out = kit.run("on(mug) == shelf", *plain, during=help_out)
    assert out.done
    assert [s.skill for _, s in kit.world.done] == ["place"]


def test_the_goal_reached_by_somebody_else_ends_the_run(make, plain):
    kit = make()
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "mug"), "shelf")))
    assert out.done and out.spent.steps == 0 and "not needed" in out.sentence


def test_the_replan_budget_ends_in_a_person_with_a_summary(make, plain):
    kit = make(faults=Faults(slip=1.0, slips="pick*"), budgets=Budgets(replans=2, retries=1))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.escalated and out.ended in (Ended.NO_PLAN, Ended.REPLANS, Ended.STALL)
    asked = [e.body for e in kit.log.events if e.kind == "person.asked"]
    assert asked and asked[-1]["kind"] == "escalation"
    assert "slipped" in asked[-1]["background"] and "Tried 3" in asked[-1]["background"]


def test_try_again_renews_the_budget_only_so_often(make, plain):
    person = Callback(on_question=lambda q: "try again", on_card=lambda c: True, name="tireless")
    kit = make(faults=Faults(slip=1.0), budgets=Budgets(replans=1, retries=0, escalations=2), person=person)
    out = kit.run("on(mug) == shelf", *plain)
    assert out.escalated and out.spent.escalations == 3


def test_a_stall_is_noticed(make, plain):
    """The planner gives the same plan although its step keeps failing, and nothing can be excluded."""

    class Stubborn:
        def replan(self, situation):
            from handrail.domain import Plan
            from handrail.execute.replan import Proposed

            situation.exclusions.items.clear()
            return Proposed(Plan.of(*plain))

    kit = make(faults=Faults(slip=1.0), replanner=Stubborn(), budgets=Budgets(replans=50, retries=0))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.escalated and out.spent.steps < 60


def test_a_refused_replan_counts_and_is_fed_back(make, plain):
    heard = []

    class Careless:
        def replan(self, situation):
            from handrail.domain import Plan
            from handrail.execute.replan import Proposed

            heard.append([v.reasons[0].code for _, v in situation.rejected])
            return Proposed(Plan.of(("place", "robot_1", "hand_1", "mug", "shelf")))

    kit = make(faults=Faults(script={1: Fault.BLOCKED}), replanner=Careless(), budgets=Budgets(replans=3))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.ended is Ended.REPLANS and out.spent.rejections == 3
    assert heard == [[], ["PRECONDITION"], ["PRECONDITION", "PRECONDITION"]]


def test_a_blocked_way_is_excluded_and_walked_round(make):
    kit = make(faults=Faults(script={0: Fault.BLOCKED}))
    out = kit.run("at(robot_1) == table", ("go", "robot_1", "table"))
    assert out.done and out.spent.replans == 1
    assert [s.args[1] for _, s in kit.world.done] == ["store", "table"]
    assert any(e.kind == "execute.excluded" for e in kit.log.events)


def test_a_step_that_hangs_is_cancelled_at_its_deadline(make, plain):
    kit = make(faults=Faults(script={1: Fault.HANG}), budgets=Budgets(step_seconds=0.15, cancel_seconds=0.5))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.done
    codes = [e.body["code"] for e in kit.log.events if e.kind == "execute.judged"]
    assert "TIME_OUT" in codes


def test_a_step_that_hears_no_cancel_is_stopped(make, plain):
    kit = make(faults=Faults(script={1: Fault.DEAF}), budgets=Budgets(step_seconds=0.1, cancel_seconds=0.1))
    out = kit.run("on(mug) == shelf", *plain)
    assert out.ended is Ended.WORLD and out.verdict is not None
    assert kit.world.running() == ()


def test_a_lost_step_is_looked_for_in_the_state(make, plain):
    for seed in range(6):
        kit = make(faults=Faults(script={3: Fault.LOST}), seed=seed)
        out = kit.run("on(mug) == shelf", *plain)
        assert out.done
        assert [s.skill for _, s in kit.world.done].count("place") == 1


def test_an_uncertain_pour_is_asked_about_and_never_poured_twice(make):
    for seed in range(6):
        questions = []
        kit = make(faults=Faults(script={1: Fault.HANG}, cut=0.5), seed=seed)
        kit.budgets = Budgets(step_seconds=0.1, cancel_seconds=0.5)

        def answer(q, kit=kit, questions=questions):
            questions.append(q.kind)
            return "it has happened" if kit.world.state.get(("full", "glass")) else "it has not happened"

        kit.person = Callback(on_question=answer)
        out = kit.run("full(glass)", ("go", "robot_1", "table"), ("pour", "robot_1", "glass"))
        assert out.done
        assert [s.skill for _, s in kit.world.done].count("pour") == 1
        assert questions in ([], ["outcome"])


def test_an_uncertain_pour_with_nobody_to_ask_is_left_alone(make):
    kit = make(faults=Faults(script={1: Fault.HANG}), budgets=Budgets(step_seconds=0.1, answer_seconds=0.1))
    out = kit.run("full(glass)", ("go", "robot_1", "table"), ("pour", "robot_1", "glass"))
    assert out.ended is Ended.UNSURE and out.escalated
    assert "twice" in out.sentence


def test_a_question_step_waits_for_its_person(make):
    kit = make(person=Callback(on_question=lambda q: "here I am"))
    out = kit.run("asked(alex)", ("ask", "robot_1", "alex"))
    assert out.done and kit.log.events
    silent = make(budgets=Budgets(answer_seconds=0.1, retries=0, replans=1))
    assert silent.run("asked(alex)", ("ask", "robot_1", "alex")).escalated


def test_partial_sight_is_looked_at_again(make, plain):
    done = 0
    for seed in range(10):
        kit = make(faults=Faults(hidden=0.3), seed=seed, budgets=Budgets(looks=8))
        out = kit.run("on(mug) == shelf", *plain)
        done += out.done
        assert not out.done or kit.world.state.get(("on", "mug")) == "shelf"
    assert done == 10


def test_an_unseen_fact_is_asked_about_and_unknown_until_then(make, plain):
    asked = []

    def answer(q):
        asked.append(q.sentence)
        return "shelf" if "on(mug)" in q.sentence else None

    kit = make(faults=Faults(hidden=1.0, hides=("on",)), person=Callback(on_question=answer))
    out = kit.run("at(robot_1) == table and on(mug) == shelf", *plain, ("go", "robot_1", "table"))
    assert asked and "on(mug)" in asked[0]
    assert out.state.get(("on", "knife")) is UNKNOWN


def test_a_new_plan_that_opens_things_needs_a_new_approval(make, plain):
    class Refusing(Scripted):
        def approve(self, card, proof_id, deadline):
            assert "Open the" in card.text and "Changed" in card.text
            from handrail.execute.person import Reply

            return Reply(False, "alex", "not now")

    kit = make(person=Refusing())
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "mug"), "store")))
    assert out.ended is Ended.REFUSED and "not now" in out.sentence
    assert kit.world.done == []


def test_nobody_who_approves_means_no_motion(make, plain):
    kit = make(person=Scripted(yes=frozenset()))
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "mug"), "store")))
    assert out.ended is Ended.NO_ANSWER and kit.world.done == []


def test_a_plan_of_navigation_alone_needs_no_person(make):
    kit = make(person=Scripted(yes=frozenset()))
    out = kit.run(
        "at(robot_1) == table",
        ("go", "robot_1", "table"),
        during=lambda _: kit.world.change((("at", "robot_1"), "store")),
    )
    assert out.done


def test_a_rejected_dry_run_excludes_its_step(make, plain):
    from handrail.domain import LayerResult, Reason

    class NoDoors:
        name = "physics"

        def __init__(self):
            self.tolerances = {}

        def check(self, plan, snapshot, seed, copies):
            for i, s in enumerate(plan.steps):
                if s.skill == "open":
                    return LayerResult("physics", False, (Reason("UNREACHABLE", "the door is too high", step=i),))
            return LayerResult("physics", True)

    kit = make(dry_runs=(NoDoors(),), budgets=Budgets(escalations=0))
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "mug"), "store")))
    assert out.ended is Ended.NO_PLAN and out.spent.rejections == 1
    assert "too high" in out.summary


def test_promises_survive_a_replan(pantry, make):
    from dataclasses import replace

    from handrail.domain import Safety
    from handrail.domain.text import parse_rule

    kit = make()
    rule = parse_rule("after busy(store) within 4 steps not busy(store)", pantry, kit.state.objects)
    domain = replace(pantry, safety=Safety(rules=(rule,)))
    assert domain.safety.rules
    from handrail.domain import Objects, Task
    from handrail.execute.belief import carry

    objects = Objects(domain, list(kit.state.objects))
    task = Task(objects)
    atom = task.rules[0].atom
    now = {("busy", "store"): True}
    first = carry(task, {}, now, stepped=False)
    assert first[atom] == 4
    assert carry(task, first, now, stepped=True)[atom] == 3
    assert carry(task, first, {}, stepped=True)[atom] == 0
    late = {atom: 1}
    assert carry(task, late, now, stepped=True)[atom] == 1


def test_an_error_in_the_runner_stops_the_world(make, plain):
    kit = make(pace=30.0)

    class Broken:
        run = "r1"

        def append(self, kind, body, durable=False):
            if kind == "execute.step":
                raise RuntimeError("disk on fire")
            from handrail.record.event import Event

            return Event("r1", 0, 0.0, kind)

    kit.log = Broken()
    kit.budgets = Budgets(step_seconds=0.1)
    with pytest.raises(RuntimeError, match="fire"):
        kit.run("on(mug) == shelf", *plain)
    assert kit.world.running() == ()


def test_a_second_run_cannot_take_a_world_that_is_driven(make, plain):
    kit = make()
    from handrail.errors import WorldError
    from handrail.record.event import MemoryLog

    with (
        Runner(kit.host, kit.log),
        pytest.raises(WorldError, match="one run at a time"),
        Runner(kit.host, MemoryLog("r2")),
    ):
        pass


def test_world_of_other_objects_leads_to_a_new_plan(pantry, make, plain):
    """Something that nobody knew comes into view: the plan is made again over the new objects."""
    from handrail.domain import Obj, State

    kit = make()

    class Finder(SymbolicWorld):
        def observe(self):
            seen = super().observe()
            if len(self.done) >= 1 and "cup" not in self.objects:
                self.objects = self.objects.with_(Obj("cup", "item"))
                self.truth[("on", "cup")] = "table"
                return type(seen)(State(self.objects, self.truth), self.time(), "eye")
            return seen

    kit.world = Finder(kit.state)
    kit.host = LocalHost(kit.world, lease=5.0)
    out = kit.run("on(mug) == shelf", *plain)
    assert out.done and out.spent.replans == 1
    assert "cup" in out.state.objects


def test_a_host_that_is_lost_while_a_person_is_asked_ends_the_run_by_name(make, plain):
    from handrail.errors import WorldError

    kit = make(person=Scripted(yes=frozenset()), budgets=Budgets(answer_seconds=20.0))

    class Waiting(Scripted):
        def approve(self, card, proof_id, deadline):
            kit.host.renew = lose
            deadline.wait(20.0)

    def lose(run):
        raise WorldError("the host is gone")

    kit.person = Waiting()
    out = kit.run("on(mug) == shelf", *plain, during=lambda _: kit.world.change((("on", "mug"), "store")))
    assert out.ended is Ended.WORLD and "gone" in out.sentence and out.escalated
    assert kit.kinds[-1] == "execute.end"


def test_a_promise_that_failures_made_late_is_kept_as_soon_as_possible(make, pantry):
    from dataclasses import replace

    from handrail.domain import Objects, Safety, State
    from handrail.domain.text import parse_rule
    from handrail.execute.replay import replay, sections

    held = {("at", "robot_1"): "table", ("holding", "hand_1"): "mug", ("on", "mug"): None}
    slips = Faults(script={1: Fault.SLIP, 2: Fault.SLIP})
    kit = make(held, faults=slips, budgets=Budgets(retries=3))
    rule = parse_rule("after at(robot_1) == store within 3 steps on(mug) == shelf", pantry, kit.state.objects)
    domain = replace(pantry, safety=Safety(rules=(rule,)))
    kit.domain, kit.state = domain, State(Objects(domain, list(kit.state.objects)), kit.state.values)
    kit.__post_init__()
    plan = (("go", "robot_1", "store"), ("go", "robot_1", "shelf"), ("place", "robot_1", "hand_1", "mug", "shelf"))
    out = kit.run("on(mug) == shelf", *plan)
    assert out.done and "as soon as possible" in out.summary
    assert [e.body["left"] for e in kit.log.events if e.kind == "execute.late"] == [1]
    assert replay(sections(kit.log.events)[0], kit.domain).same
