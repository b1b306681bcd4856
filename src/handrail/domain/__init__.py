"""The domain: types, objects, fluents, states, skills, plans, goals, verdicts, and the one ground operator.

The way of the data: texts become lifted records (`formula`), records and objects become ground nodes and operators (`ground`,
`operator`, `grounder`), and a `Task` adds safety rules and a goal to them, for the checker, the planner and the executor alike.
"""

from handrail.domain.domain import Derived, Domain, Number
from handrail.domain.exclusions import Exclusion, Exclusions
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.operator import GroundEffect, Guard, Operator
from handrail.domain.plan import Plan, Step
from handrail.domain.rules import Forbid, Rule, RuleKind, Safety
from handrail.domain.skill import Cost, OnStop, Skill
from handrail.domain.state import Observation, State
from handrail.domain.task import Task
from handrail.domain.types import Attribute, Fluent, Kind, Obj, Objects, Parameter, Type
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_fact
from handrail.domain.verdict import Code, LayerResult, Reason, Verdict

__all__ = [
    "UNKNOWN",
    "Atom",
    "Attribute",
    "Code",
    "Cost",
    "Derived",
    "Domain",
    "Exclusion",
    "Exclusions",
    "Fluent",
    "Forbid",
    "Goal",
    "GoalSource",
    "GroundEffect",
    "Guard",
    "Kind",
    "LayerResult",
    "Number",
    "Obj",
    "Objects",
    "Observation",
    "OnStop",
    "Operator",
    "Parameter",
    "Plan",
    "Reason",
    "Rule",
    "RuleKind",
    "Safety",
    "Skill",
    "State",
    "Step",
    "Task",
    "Type",
    "Value",
    "Verdict",
    "show_atom",
    "show_fact",
]
