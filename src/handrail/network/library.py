"""The trees that come with handrail, so that a fresh machine has a knowledge base."""

from __future__ import annotations

from functools import cache

from handrail.network.document import read_all
from handrail.network.model import FunctionalUnit, Origin, Source, TaskTree
from handrail.network.names import DATA


@cache
def shipped() -> tuple[TaskTree, ...]:
    """Fifteen recipes and household tasks of our own, as knowledge."""
    return tuple(as_knowledge(d.tree) for d in read_all([DATA / "trees"]))


def as_knowledge(tree: TaskTree) -> TaskTree:
    """The same tree, its units credited to a knowledge base instead of a proposal."""
    name = tree.name
    units: list[FunctionalUnit] = [
        u.but(source=Source(u.source.name or name, Origin.KNOWLEDGE, u.source.index, u.source.line)) for u in tree.units
    ]
    return TaskTree(tuple(units), tree.goal, name, Source(name, Origin.KNOWLEDGE))
