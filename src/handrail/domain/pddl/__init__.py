"""PDDL in and out."""

from handrail.domain.pddl.plans import read_plan, write_plan
from handrail.domain.pddl.reader import Problem, read_domain, read_problem

__all__ = ["Problem", "read_domain", "read_plan", "read_problem", "write_plan"]
