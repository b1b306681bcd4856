"""Hypothesis strategies for nodes, units and trees."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from handrail.network.model import FunctionalUnit, ObjectNode, Relation, TaskTree

few = settings(max_examples=30, deadline=None)
"""Enough for a law, quick enough for every run."""

names = st.sampled_from(["onion", "bowl", "knife", "olive oil", "salt", "pan", "egg white", "soup"])
states = st.sampled_from(["whole", "chopped", "on", "off (ready)", "raw, cold", "hot"])
words = st.sampled_from(["in", "on", "under", "attached to"])
sets = st.frozensets(names, max_size=3)


@st.composite
def nodes(draw: st.DrawFn) -> ObjectNode:
    label = draw(names)
    relations = draw(st.frozensets(st.builds(Relation, words, names), max_size=2))
    return ObjectNode(
        label,
        draw(st.frozensets(states, max_size=2)),
        draw(sets),
        {r for r in relations if r.container != label},
        draw(
            st.frozensets(
                st.tuples(st.sampled_from(["seasoned", "greased"]), st.frozensets(names, min_size=1)), max_size=1
            )
        ),
    )


@st.composite
def units(draw: st.DrawFn) -> FunctionalUnit:
    ins = draw(st.lists(nodes(), min_size=1, max_size=3))
    outs = draw(st.lists(nodes(), min_size=1, max_size=3))
    moving = draw(st.lists(st.booleans(), min_size=len(ins) + len(outs), max_size=len(ins) + len(outs)))
    motion = draw(st.sampled_from(["pour", "mix*", "scoop and pour", "chop"]))
    return FunctionalUnit(ins, motion, outs, start="1:10", end="1:12", moving=moving)


@st.composite
def trees(draw: st.DrawFn, chained: bool = False) -> TaskTree:
    made = draw(st.lists(units(), min_size=1, max_size=5))
    if chained:
        linked = [made[0]]
        for unit in made[1:]:
            before = linked[-1].outputs
            linked.append(unit.but(inputs=[draw(st.sampled_from(before)), *unit.inputs]))
        made = linked
    goal = draw(st.sampled_from(made[-1].outputs))
    return TaskTree(tuple(made), goal, "tree")
