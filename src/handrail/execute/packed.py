"""Plain JSON forms of what a run records: goals, plans, scenes, verdicts. And back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handrail.check.pipeline import Pipeline
from handrail.check.proof import Notary
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusion, Exclusions
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.plan import Plan, steps_of
from handrail.domain.text import parse_condition
from handrail.domain.text.writing import write_domain
from handrail.domain.types import Objects
from handrail.domain.verdict import LayerResult, Reason
from handrail.errors import DomainError, StaleError
from handrail.execute.replan import Proposed
from handrail.world.wire import pack_object, unpack_object


def pack_goal(goal: Goal) -> dict[str, Any]:
    """A goal; its conditions as texts of the domain language."""
    return {
        "final": str(goal.final),
        "subgoals": [str(s) for s in goal.subgoals],
        "keep": [str(k) for k in goal.keep],
        "strict": goal.strict,
        "source": str(goal.source),
        "text": goal.text,
    }


def unpack_goal(body: Mapping[str, Any], objects: Objects) -> Goal:
    """What `pack_goal` wrote."""

    def read(text: str) -> Any:
        from handrail.domain.formula import FALSE, TRUE

        plain = {str(TRUE): TRUE, str(FALSE): FALSE}
        return plain[text] if text in plain else parse_condition(text, objects.domain, objects=objects)

    return Goal(
        read(body["final"]),
        tuple(read(s) for s in body["subgoals"]),
        tuple(read(k) for k in body["keep"]),
        GoalSource(body["source"]),
        body["text"],
        body["strict"],
    )


def pack_plan(plan: Plan) -> dict[str, Any]:
    """A plan without its provenance."""
    return {"steps": [list(s.key) for s in plan.steps], "reasoning": plan.reasoning, "source": plan.source}


def unpack_plan(body: Mapping[str, Any]) -> Plan:
    """What `pack_plan` wrote."""
    return Plan(steps_of(tuple(k) for k in body["steps"]), body["reasoning"], body["source"])


def pack_scene(objects: Objects) -> dict[str, Any]:
    """The objects of a scene, and the text of their domain as it is in memory (a file may have changed since it was read)."""
    domain = objects.domain
    return {
        "domain": {
            "name": domain.name,
            "source": domain.source,
            "text": domain_text(domain),
            "profile": domain.profile,
            "fingerprint": domain.fingerprint,
        },
        "objects": [pack_object(o) for o in objects],
        "numbers": [[list(a), v] for a, v in sorted(objects.numbers.items())],
    }


def domain_text(domain: Domain) -> str:
    """The domain as text, without scenes and physics; "" where Python guards belong to it, which no text holds. Made once."""
    known: str | None = domain.__dict__.get("_record_text")
    if known is not None:
        return known
    if any(s.hook is not None for s in domain.skills.values()):
        text = ""
    elif domain.source.endswith(".pddl"):
        file = Path(domain.source)
        text = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
    else:
        fields = {f: getattr(domain, f) for f in domain.__dataclass_fields__ if f not in ("attributes", "symbols")}
        text = write_domain(Domain(**{**fields, "extra": {}}))
    object.__setattr__(domain, "_record_text", text)
    return text


def unpack_scene(body: Mapping[str, Any], domain: Domain | None = None) -> Objects:
    """What `pack_scene` wrote.

    Args:
        body: the packed scene.
        domain: the domain, where the record can't give it (one that was written in Python).

    Raises:
        StaleError: the domain is not the one of the record.
        DomainError: the record has no domain text and none was given.
    """
    then = body["domain"]
    if domain is None:
        if not then["text"]:
            raise DomainError(
                f"the record has no text of the domain '{then['name']}' (it has Python guards); give the domain"
            )
        if then["source"].endswith(".pddl"):
            from handrail.domain.pddl import read_domain

            domain = read_domain(then["text"], then["source"])
        else:
            from handrail.domain.files import domain_from_text

            domain = domain_from_text(then["text"], then["source"])
        if then["profile"]:
            domain = domain.with_profile(then["profile"])
    if domain.fingerprint != then["fingerprint"]:
        raise StaleError(
            f"the domain '{domain.name}' is not what it was: fingerprint {domain.fingerprint}, recorded {then['fingerprint']}"
        )
    numbers = {tuple(a): float(v) for a, v in body["numbers"]}
    constants = {o.name for o in domain.constants}
    return Objects(domain, [unpack_object(o) for o in body["objects"] if o["name"] not in constants], numbers)


def pack_exclusions(exclusions: Exclusions) -> list[dict[str, Any]]:
    """Each as a plain dict."""
    return [e.to_json() for e in exclusions]


def unpack_exclusions(body: list[dict[str, Any]]) -> Exclusions:
    """What `pack_exclusions` wrote."""
    return Exclusions([Exclusion.from_json(b) for b in body])


def pack_proposed(p: Proposed) -> dict[str, Any]:
    """A replanner's answer."""
    return {
        "plan": pack_plan(p.plan) if p.plan is not None else None,
        "sentence": p.sentence,
        "goal": pack_goal(p.goal) if p.goal is not None else None,
        "unread": list(p.unread),
        "hopeless": p.hopeless,
        "forgive": p.forgive,
    }


def unpack_proposed(b: Mapping[str, Any], objects: Objects) -> Proposed:
    """What `pack_proposed` wrote."""
    return Proposed(
        unpack_plan(b["plan"]) if b["plan"] is not None else None,
        b["sentence"],
        unpack_goal(b["goal"], objects) if b["goal"] is not None else None,
        tuple(b["unread"]),
        b["hopeless"],
        b["forgive"],
    )


def unpack_layer(b: Mapping[str, Any]) -> LayerResult:
    """A layer's result as `LayerResult.to_json` wrote it; facts of reasons stay in their sentences."""

    def reason(r: Mapping[str, Any]) -> Reason:
        return Reason(r["code"], r["sentence"], r.get("step"), hint=r.get("hint", ""), details=r.get("details", {}))

    reasons = tuple(reason(r) for r in b["reasons"])
    return LayerResult(b["layer"], b["passed"], reasons, tuple(reason(r) for r in b["flags"]), b["figures"])


class RecordedLayer:
    """A dry-run that gives what was recorded.

    Attributes:
        name: of the layer.
        tolerances: as recorded.
    """

    def __init__(self, result: LayerResult, tolerances: Mapping[str, float]) -> None:
        self.name = result.layer
        self.tolerances = tolerances
        self._result = result

    def check(self, plan: Plan, snapshot: Any, seed: int, copies: int) -> LayerResult:  # noqa: ARG002 - DryRun's shape
        """The recorded result."""
        return self._result


def recorded_pipeline(notary: Notary, verdict: Mapping[str, Any], tolerances: Mapping[str, float]) -> Pipeline:
    """A pipeline whose dry-runs give recorded results, so that the same plan gets the same proof_id.

    Args:
        notary: of this process.
        verdict: as `Verdict.to_json` wrote it.
        tolerances: of the recorded proof.
    """
    results = [unpack_layer(b) for b in verdict["layers"] if b["layer"] != "symbolic"]
    recorded = tuple(RecordedLayer(r, tolerances if i == 0 else {}) for i, r in enumerate(results))
    return Pipeline(recorded, notary, tuple(verdict["unchecked"]))
