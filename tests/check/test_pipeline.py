from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from handrail.check import DryRun, Notary, Pipeline, Refused, VerifiedPlan
from handrail.domain import Code, Goal, LayerResult, Plan, Reason, State, Step, Verdict
from handrail.errors import UnprovenError

FETCH = Plan.of(
    ("go", "robo", "table"),
    ("pick", "robo", "left", "mug"),
    ("go", "robo", "counter"),
    ("place", "robo", "left", "mug", "counter"),
)


class Trial:
    """A dry-run that says what it is told, and remembers that it was asked."""

    def __init__(self, name: str = "physics", result: LayerResult | Exception | None = None) -> None:
        self.name = name
        self.tolerances = {"pose_m": 0.02}
        self.result = result or LayerResult(name, True)
        self.asked = 0

    def check(self, plan: Plan, snapshot: object, seed: int, copies: int) -> LayerResult:
        self.asked += 1
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


NO = LayerResult("physics", False, (Reason("UNREACHABLE", "The shelf is too high.", step=3),))


def test_a_proven_plan_says_what_was_not_checked(start: State, mug_on_counter: Goal) -> None:
    out = Pipeline().verify(FETCH, start, mug_on_counter)
    assert isinstance(out, VerifiedPlan)
    assert out.verdict.unchecked == ("physics",)
    assert out.cost == 4.0


def test_dry_runs_come_last_and_only_after_symbols(start: State, mug_on_counter: Goal) -> None:
    trial = Trial()
    assert isinstance(trial, DryRun)
    pipeline = Pipeline((trial,))
    bad = pipeline.verify(Plan(FETCH.steps[1:]), start, mug_on_counter, snapshot=object())
    assert isinstance(bad, Refused)
    assert trial.asked == 0
    good = pipeline.verify(FETCH, start, mug_on_counter, snapshot=object())
    assert isinstance(good, VerifiedPlan)
    assert trial.asked == 1
    assert good.verdict.unchecked == ()
    assert good.tolerances == {"pose_m": 0.02}


def test_it_stops_at_the_first_failure(start: State, mug_on_counter: Goal) -> None:
    first, second = Trial(result=NO), Trial("people")
    out = Pipeline((first, second)).verify(FETCH, start, mug_on_counter, snapshot=object())
    assert isinstance(out, Refused)
    assert (first.asked, second.asked) == (1, 0)
    assert out.verdict.reasons[0].code == "UNREACHABLE"
    assert out.verdict.unchecked == ("people",)


def test_a_check_that_crashes_has_checked_nothing(start: State, mug_on_counter: Goal) -> None:
    out = Pipeline((Trial(result=RuntimeError("lost the model")),)).verify(FETCH, start, mug_on_counter, snapshot=object())
    assert isinstance(out, Refused)
    assert out.verdict.reasons[0].code == Code.LAYER_BROKEN
    assert "lost the model" in out.verdict.reasons[0].sentence


def test_an_empty_plan_is_refused(start: State) -> None:
    out = Pipeline().verify(Plan(()), start, Goal())
    assert isinstance(out, Refused)
    assert out.verdict.reasons[0].code == Code.EMPTY_PLAN


def test_kernels_hold_along_the_way_and_not_after_a_change_that_matters(start: State, mug_on_counter: Goal) -> None:
    out = Pipeline().verify(FETCH, start, mug_on_counter)
    assert isinstance(out, VerifiedPlan)
    values = out.task.start(start)
    for step, kernel in zip(out.steps, out.kernels, strict=False):
        assert kernel.holds(values)
        unrelated = {**values, ("on", "plate"): "table", ("opened", "cabinet"): True}
        assert kernel.holds(unrelated)
        out.task.operator(step).apply(values)
    assert out.kernels[-1].holds(values)
    away = {**out.task.start(start), ("on", "mug"): "cabinet"}
    assert not out.kernels[0].holds(away)


class TestNobodyElseMakesOne:
    @pytest.fixture
    def pipeline(self) -> Pipeline:
        return Pipeline()

    @pytest.fixture
    def proven(self, pipeline: Pipeline, start: State, mug_on_counter: Goal) -> VerifiedPlan:
        out = pipeline.verify(FETCH, start, mug_on_counter)
        assert isinstance(out, VerifiedPlan)
        return out

    def test_the_notary_takes_the_real_one(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        assert pipeline.notary.require(proven) is proven

    def test_not_the_constructor(self, proven: VerifiedPlan) -> None:
        fields = {f.name: getattr(proven, f.name) for f in dataclasses.fields(proven) if f.name != "_seal"}
        with pytest.raises(UnprovenError, match=r"Pipeline\.verify"):
            VerifiedPlan(**fields)

    def test_not_replace_with_other_steps(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        forged = dataclasses.replace(proven, plan=Plan.of(("go", "robo", "cabinet")))
        with pytest.raises(UnprovenError, match="changed after"):
            pipeline.notary.require(forged)

    def test_not_a_written_field(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            proven.plan = Plan(())  # type: ignore[misc]
        object.__setattr__(proven, "plan", Plan(FETCH.steps[:1]))
        with pytest.raises(UnprovenError):
            pipeline.notary.require(proven)

    def test_not_a_changed_kernel_or_verdict(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        with pytest.raises(UnprovenError):
            pipeline.notary.require(dataclasses.replace(proven, kernels=proven.kernels[1:]))
        with pytest.raises(UnprovenError):
            pipeline.notary.require(dataclasses.replace(proven, verdict=Verdict(True, ())))

    def test_not_another_runs_proof(self, proven: VerifiedPlan) -> None:
        with pytest.raises(UnprovenError, match="this run's pipeline"):
            Notary().require(proven)

    @pytest.mark.parametrize("thing", [None, FETCH, "go(robo, table)", {"steps": []}])
    def test_not_something_else(self, pipeline: Pipeline, thing: object) -> None:
        with pytest.raises(UnprovenError, match="only a VerifiedPlan"):
            pipeline.notary.require(thing)

    def test_a_copy_is_as_good_as_the_original(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        assert pipeline.notary.require(copy.copy(proven)) == proven

    def test_a_pickled_seal_does_not_survive(self) -> None:
        from handrail.check import proof

        assert pickle.loads(pickle.dumps(proof._SEAL)) is not proof._SEAL

    def test_step_tokens_are_bound_to_proof_index_and_step(self, pipeline: Pipeline, proven: VerifiedPlan) -> None:
        from handrail.check.proof import step_claim

        token = pipeline.notary.step_token(proven, 1)
        assert pipeline.notary.genuine(step_claim(proven.proof_id, 1, proven.steps[1]), token)
        assert not pipeline.notary.genuine(step_claim(proven.proof_id, 2, proven.steps[1]), token)
        assert not pipeline.notary.genuine(step_claim(proven.proof_id, 1, Step("go", ("robo", "table"))), token)


def test_the_proof_id_changes_with_what_the_proof_depends_on(start: State, mug_on_counter: Goal, with_safety, close_soon) -> None:
    pipeline = Pipeline()
    ids = set()
    for state, goal, layers in (
        (start, mug_on_counter, ()),
        (with_safety(rules=(close_soon,)), mug_on_counter, ()),
        (start, Goal(), ()),
        (start, mug_on_counter, (Trial(),)),
    ):
        out = Pipeline(layers, pipeline.notary).verify(FETCH, state, goal, snapshot=object() if layers else None)
        assert isinstance(out, VerifiedPlan)
        ids.add(out.proof_id)
    again = Pipeline().verify(FETCH, start, mug_on_counter)
    assert isinstance(again, VerifiedPlan)
    assert len(ids) == 4
    assert again.proof_id in ids
