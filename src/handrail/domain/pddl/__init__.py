"""PDDL in and out."""

from handrail.domain.pddl.plans import read_plan, write_plan
from handrail.domain.pddl.reader import Problem, read_domain, read_problem
from handrail.domain.pddl.writer import write_domain, write_task
from handrail.domain.pddl.written import Written

__all__ = ["Problem", "Written", "read_domain", "read_plan", "read_problem", "write_domain", "write_plan", "write_task"]
