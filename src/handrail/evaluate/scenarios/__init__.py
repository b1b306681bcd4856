"""Scenario generators with known truth, and a reader for KnowNo-format files."""

from handrail.evaluate.scenarios.scenario import Episode, Scenario

__all__ = ["Episode", "Scenario"]
