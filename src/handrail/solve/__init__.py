"""Planning: an optimal search over ground steps, and an optional bridge to other planners (`handrail.solve.engines`)."""

from handrail.solve.astar import Budget, Solution, solve

__all__ = ["Budget", "Solution", "solve"]
