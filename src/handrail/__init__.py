"""handrail: from a request to a goal read rightly, a plan proven against the robot's skills and rules, and a finished task.

    import handrail as hr

    home = hr.Domain.load("home.yaml")
    robot = hr.worlds.symbolic(home)
    mission = hr.assemble(home, robot, person=hr.people.terminal())
    outcome = mission.run("bring the mug to the table")

Importing this package imports no simulator, no language model and no web server; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from handrail.errors import HandrailError, MissingExtra

if TYPE_CHECKING:
    from handrail import domains, models, people, worlds
    from handrail.api import consolidate, verdict
    from handrail.assembly import assemble
    from handrail.check import Pipeline, Refused, VerifiedPlan
    from handrail.decide.calibration import Calibration
    from handrail.decide.policy import Act, Ask, Refuse
    from handrail.decide.policy import decide as decision
    from handrail.domain import UNKNOWN, Domain, Goal, Obj, Plan, State, Step, Task, Verdict
    from handrail.domain.files import load_scene
    from handrail.mission import Mission, Outcome
    from handrail.record.store import RunStore
    from handrail.solve.astar import solve as find_plan

__version__ = "0.1.0"

_WHERE = {
    "Act": "handrail.decide.policy",
    "Ask": "handrail.decide.policy",
    "Calibration": "handrail.decide.calibration",
    "Domain": "handrail.domain",
    "Goal": "handrail.domain",
    "Mission": "handrail.mission",
    "Obj": "handrail.domain",
    "Outcome": "handrail.mission",
    "Pipeline": "handrail.check",
    "Plan": "handrail.domain",
    "Refuse": "handrail.decide.policy",
    "Refused": "handrail.check",
    "RunStore": "handrail.record.store",
    "State": "handrail.domain",
    "Step": "handrail.domain",
    "Task": "handrail.domain",
    "UNKNOWN": "handrail.domain",
    "Verdict": "handrail.domain",
    "VerifiedPlan": "handrail.check",
    "assemble": "handrail.assembly",
    "consolidate": "handrail.api",
    "decision": "handrail.decide.policy:decide",
    "find_plan": "handrail.solve.astar:solve",
    "load_scene": "handrail.domain.files",
    "verdict": "handrail.api",
}
_MODULES = ("domains", "models", "people", "worlds")

__all__ = [
    "UNKNOWN",
    "Act",
    "Ask",
    "Calibration",
    "Domain",
    "Goal",
    "HandrailError",
    "MissingExtra",
    "Mission",
    "Obj",
    "Outcome",
    "Pipeline",
    "Plan",
    "Refuse",
    "Refused",
    "RunStore",
    "State",
    "Step",
    "Task",
    "Verdict",
    "VerifiedPlan",
    "__version__",
    "assemble",
    "consolidate",
    "decision",
    "domains",
    "find_plan",
    "load_scene",
    "models",
    "people",
    "verdict",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    found: Any
    if name in _WHERE:
        module, _, other = _WHERE[name].partition(":")
        found = getattr(importlib.import_module(module), other or name)
    elif name in _MODULES:
        found = importlib.import_module(f"handrail.{name}")
    else:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
