"""What makes a plan a proven one: its identity, and a token that only the pipeline can make.

A Python type is no boundary: anybody may copy or forge an object. So a `VerifiedPlan` carries a token, an HMAC (RFC 2104) of its
`proof_id` under a key that lives in a `Notary`. Executors and skill servers hold the notary (or its key) and compute the identity
again from the plan's content before anything moves.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.domain.goal import Goal
from handrail.domain.kernel import Kernel
from handrail.domain.plan import Plan, Step
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.domain.verdict import Verdict
from handrail.errors import UnprovenError

_SEAL = object()


@dataclass(frozen=True)
class VerifiedPlan:
    """A plan that passed every layer that ran. Only `Pipeline.verify` makes one.

    Attributes:
        plan: the ground steps.
        goal: what it was proven to reach.
        task: objects, rules and exclusions it was proven under.
        kernels: per suffix (the whole first) the weakest condition from which it still works.
        monitors: values of rule and goal monitors where it starts.
        verdict: each layer's result, and what was not checked.
        tolerances: numeric tolerances of the layers that have some, such as poses in metres.
        proof_id: hash of all that the proof depends on.
        token: shows that the pipeline made it.
        start: the facts from which it was proven, without monitors; what may be different is the kernels' business.
    """

    plan: Plan
    goal: Goal
    task: Task = field(repr=False, compare=False)
    kernels: tuple[Kernel, ...] = field(repr=False)
    monitors: Mapping[Atom, Value] = field(repr=False)
    verdict: Verdict = field(repr=False)
    tolerances: Mapping[str, float]
    proof_id: str
    token: str = field(repr=False)
    start: Mapping[Atom, Value] = field(repr=False, compare=False)
    _seal: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self._seal is not _SEAL:
            raise UnprovenError(
                "a VerifiedPlan is made by Pipeline.verify only; it can't be built, copied or changed by hand"
            )

    @property
    def steps(self) -> tuple[Step, ...]:
        """The ground steps."""
        return self.plan.steps

    @property
    def cost(self) -> float:
        """Sum of the steps' costs in the domain's unit."""
        return sum(self.task.operator(s).cost for s in self.plan.steps)


class Notary:
    """Holds the key under which proofs are sealed. One per run; a skill server gets the key over its own channel."""

    def __init__(self, key: bytes | None = None) -> None:
        self.key = key or secrets.token_bytes(32)

    def sign(self, text: str) -> str:
        """The token of a proof_id or of a step derived from it."""
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()

    def genuine(self, text: str, token: str) -> bool:
        """Whether a token was made with this key; takes the same time for right and wrong ones."""
        return hmac.compare_digest(self.sign(text), token)

    def step_token(self, verified: VerifiedPlan, index: int) -> str:
        """A token for one step, for servers that run steps one by one: bound to the proof, the index and the step."""
        return self.sign(step_claim(verified.proof_id, index, verified.steps[index]))

    def require(self, verified: object) -> VerifiedPlan:
        """The plan, if it is genuine and unchanged.

        Raises:
            UnprovenError: not a VerifiedPlan, sealed with another key, or its content no longer gives its proof_id.
        """
        if not isinstance(verified, VerifiedPlan):
            raise UnprovenError(f"only a VerifiedPlan can be executed, not {type(verified).__name__}; verify it first")
        if not self.genuine(verified.proof_id, verified.token):
            raise UnprovenError("the plan's proof was not made by this run's pipeline; verify it again")
        again = proof_id(
            verified.plan, verified.task, verified.kernels, verified.monitors, verified.verdict, verified.tolerances
        )
        if again != verified.proof_id or not verified.verdict.accepted:
            raise UnprovenError("the plan was changed after it was proven; verify it again")
        return verified


def step_claim(proof: str, index: int, step: Step) -> str:
    """What a step token signs."""
    return json.dumps(["step", proof, index, list(step.key)], ensure_ascii=False)


def proof_id(
    plan: Plan,
    task: Task,
    kernels: tuple[Kernel, ...],
    monitors: Mapping[Atom, Value],
    verdict: Verdict,
    tolerances: Mapping[str, float],
) -> str:
    """Hash of the ground steps, domain (skills, rules, limits), objects, goal, exclusions, kernels, layers run and tolerances."""
    body: dict[str, Any] = {
        "plan": plan.plan_id,
        "domain": task.domain.fingerprint,
        "objects": [[o.name, o.type, sorted((k, str(v)) for k, v in o.attributes.items())] for o in task.objects],
        "goal": task.goal.goal_id,
        "exclusions": task.exclusions.snapshot_id,
        "kernels": [len(kernels), kernels[0].identity if kernels else ""],
        "monitors": sorted((list(a), str(v)) for a, v in monitors.items()),
        "layers": [[layer.layer, layer.passed] for layer in verdict.layers],
        "unchecked": list(verdict.unchecked),
        "tolerances": sorted(tolerances.items()),
    }
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def seal(
    notary: Notary,
    plan: Plan,
    task: Task,
    monitors: Mapping[Atom, Value],
    verdict: Verdict,
    tolerances: Mapping[str, float],
    start: Mapping[Atom, Value],
) -> VerifiedPlan:
    """Make a VerifiedPlan. For the pipeline only.

    Raises:
        UnprovenError: the verdict refuses the plan.
    """
    if not verdict.accepted:
        raise UnprovenError("a refused plan can't be sealed")
    kernels = task.kernels(plan.steps)
    frozen = dict(monitors)
    identity = proof_id(plan, task, kernels, frozen, verdict, tolerances)
    return VerifiedPlan(
        plan,
        task.goal,
        task,
        kernels,
        frozen,
        verdict,
        dict(tolerances),
        identity,
        notary.sign(identity),
        dict(start),
        _SEAL,
    )
