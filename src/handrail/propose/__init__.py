"""Proposals for a goal that was read and decided before: by a model, by the planner, step by step as SayCan.

Nothing that is proposed is proven; the checks decide what may run. `proposal` holds the seam (`Proposer`, `Proposal`).
"""
