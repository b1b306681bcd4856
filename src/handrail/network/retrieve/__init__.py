"""Minimum-cost plans in AND/OR networks, with proofs."""
