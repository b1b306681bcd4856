"""A stateful attack: whatever is forged, copied, changed or used twice, only proven and approved steps move the world."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from handrail.check import Notary, Pipeline, VerifiedPlan
from handrail.domain import Goal, Plan, Step
from handrail.domain.files import load_domain, load_scene
from handrail.domain.formula import TRUE
from handrail.errors import HandrailError, StaleError, UnprovenError
from handrail.execute.approval import Approval, Approvals
from handrail.execute.loop import Executor
from handrail.execute.person import Nobody
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.world.host import LocalHost
from handrail.world.hosting import Order
from handrail.world.symbolic import SymbolicWorld

from .conftest import PANTRY

DOMAIN = load_domain(PANTRY)
STATE = load_scene(DOMAIN).state
PLACES = ("table", "shelf", "store")
EVIL = Step("pick", ("robot_1", "hand_1", "knife"))
places = st.sampled_from(PLACES)


class Smuggler(RuleBasedStateMachine):
    plans = Bundle("plans")
    approvals = Bundle("approvals")

    @initialize()
    def begin(self):
        self.world = SymbolicWorld(STATE)
        self.host = LocalHost(self.world, lease=None)
        self.runner = Runner(self.host, MemoryLog("r"), Nobody(), threads=False)
        self.runner.__enter__()
        self.pipeline = Pipeline(notary=self.runner.notary)
        self.executor = Executor(self.runner, self.pipeline)
        self.allowed: list[Step] = []
        self.used: set[str] = set()

    def teardown(self):
        if hasattr(self, "runner"):
            self.runner.__exit__(None, None, None)

    @rule(target=plans, to=places, there=places)
    def honest_plan(self, to, there):
        plan = Plan.of(("go", "robot_1", there), ("go", "robot_1", to))
        return self.pipeline.verify(plan, STATE, Goal(TRUE, text="wander"))

    @rule(target=plans, to=places)
    def plan_of_another_pipeline(self, to):
        return Pipeline(notary=Notary()).verify(Plan.of(("go", "robot_1", to)), STATE, Goal())

    @rule(target=plans, plan=plans, how=st.sampled_from(["replace", "copy", "deepcopy", "pickle", "setattr", "new"]))
    def forged_plan(self, plan, how):
        evil = Plan((EVIL,))
        try:
            if how == "replace":
                return dataclasses.replace(plan, plan=evil)
            if how == "new":
                fields = {f.name: getattr(plan, f.name) for f in dataclasses.fields(plan) if f.init}
                return VerifiedPlan(**{**fields, "plan": evil, "_seal": None})
            made = {"copy": copy.copy, "deepcopy": copy.deepcopy, "setattr": copy.copy}.get(
                how, lambda p: pickle.loads(pickle.dumps(p))
            )(plan)
            object.__setattr__(made, "plan", evil)
            return made
        except (UnprovenError, TypeError, pickle.PicklingError, AttributeError):
            return multiple()

    @rule(target=approvals, plan=plans)
    def approval_for(self, plan):
        try:
            return self.runner.approvals.grant(plan, None, "alex")
        except UnprovenError:
            return multiple()

    @rule(target=approvals, plan=plans)
    def approval_of_another_run(self, plan):
        notary = Notary()
        fake = Approval(plan.proof_id, "", "alex", "", 9e12, "00")
        return dataclasses.replace(fake, token=Approvals(notary)._notary.sign(fake.claim))

    @rule(target=approvals, approval=approvals, plan=plans)
    def changed_approval(self, approval, plan):
        return dataclasses.replace(approval, proof_id=plan.proof_id)

    @rule(plan=plans, approval=approvals)
    def run(self, plan, approval):
        before = len(self.world.done)
        try:
            genuine = self.runner.notary.require(plan)
            fresh = approval.nonce not in self.used and self.runner.notary.genuine(approval.claim, approval.token)
            good = fresh and approval.proof_id == genuine.proof_id
        except UnprovenError:
            good = False
        if good:
            self.allowed += list(plan.steps)
            self.used.add(approval.nonce)
            assert self.executor.run(plan, approval).ended
        else:
            with pytest.raises((UnprovenError, StaleError)):
                self.executor.run(plan, approval)
            assert len(self.world.done) == before

    @rule(plan=plans, index=st.integers(0, 3), step=st.sampled_from([EVIL, Step("go", ("robot_1", "store"))]))
    def straight_to_the_host(self, plan, index, step):
        """Past the executor, with whatever tokens can be had from a plan."""
        for token in (plan.token, "", "0" * 64, self.runner.notary.sign(plan.proof_id)):
            with pytest.raises(HandrailError):
                self.host.start(Order("r", f"r/evil/{index}", step, plan.proof_id, index, token))

    @invariant()
    def only_allowed_steps_have_moved_the_world(self):
        if hasattr(self, "world"):
            assert EVIL not in [s for _, s in self.world.done]
            assert all(s in self.allowed for _, s in self.world.done)


TestSmuggler = Smuggler.TestCase
TestSmuggler.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
