"""The scene as a phrase: what a model is told of where it is."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.domain.formula import Condition, Const
from handrail.domain.goal import Goal
from handrail.domain.option import Option
from handrail.domain.state import State
from handrail.domain.text.walk import terms_in
from handrail.domain.types import Objects
from handrail.intent.matching import Matcher
from handrail.intent.naming import Names
from handrail.intent.scores.scorer import Context

MOST_THINGS = 16
"""Things named in a phrase; a scorer's prompt grows with each."""


def objects_in(condition: Condition, objects: Objects) -> tuple[str, ...]:
    """Objects that a condition names, in order of appearance."""
    named = (str(t.value) for t in terms_in(condition) if isinstance(t, Const))
    return tuple(dict.fromkeys(n for n in named if n in objects))


def objects_of(goal: Goal, objects: Objects) -> tuple[str, ...]:
    """Objects that a goal names, final condition first."""
    parts = (goal.final, *goal.subgoals, *goal.keep)
    return tuple(dict.fromkeys(o for part in parts for o in objects_in(part, objects)))


def context(request: str, options: Sequence[Option], state: State, most: int = MOST_THINGS) -> Context:
    """The situation for a scorer: the things that readings are about, then others that the words may mean, sorted.

    Args:
        request: the person's words.
        options: readings of it.
        state: the scene.
        most: things named at most.
    """
    names = Names.of(state.objects)
    counts: dict[str, int] = {}
    for option in options:
        if isinstance(option.meaning, Goal):
            for name in objects_of(option.meaning, state.objects):
                counts[name] = counts.get(name, 0) + 1
    analysis = Matcher(state, names).analyse(request.lower())
    for mention in analysis.mentions:
        for name in mention.objects:
            counts[name] = counts.get(name, 0) + len(options)
    chosen = sorted(sorted(counts), key=lambda n: -counts[n])[:most]
    return Context(names.listed(sorted(chosen, key=names.say)), request)
