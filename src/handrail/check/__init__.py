"""Checks: text to plan (schema), plan against skills, rules and goal (symbolic), plan in a simulator (dry-run protocol).

`Pipeline` runs them cheapest first and alone makes a `VerifiedPlan`.
"""

from handrail.check.pipeline import DryRun, Pipeline, Refused
from handrail.check.proof import Notary, VerifiedPlan
from handrail.check.schema import MAX_STEPS, Declined, plan_schema, read_plan
from handrail.check.symbolic import accepts, check_symbolic, run_symbolic

__all__ = [
    "MAX_STEPS",
    "Declined",
    "DryRun",
    "Notary",
    "Pipeline",
    "Refused",
    "VerifiedPlan",
    "accepts",
    "check_symbolic",
    "plan_schema",
    "read_plan",
    "run_symbolic",
]
