"""A stand-in for a strong model: the planner's plan as JSON, with mistakes put in at a stated rate.

It shows what the loop around a model does with plans that are mostly right, and it is labelled as what it is: its
figures say nothing of any real model.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from handrail.domain.plan import Plan, Step
from handrail.domain.types import Objects
from handrail.language.canned import Canned
from handrail.language.records import Message
from handrail.propose.prompt import plan_text

MISTAKES = ("dropped step", "swapped steps", "wrong object", "unknown name", "cut off")


def strong_model(plan: Plan, objects: Objects, rate: float, seed: int) -> Canned:
    """A canned model that writes a plan, each answer with probability `rate` with one mistake in it.

    Args:
        plan: a right plan.
        objects: of the scene.
        rate: in [0, 1].
        seed: of the mistakes.
    """
    rng = random.Random(seed)  # noqa: S311 - not for secrets

    def answer(turns: tuple[Message, ...]) -> str:  # noqa: ARG001 - what it writes is decided beforehand
        if rng.random() >= rate:
            return plan_text(plan, objects, "As asked.")
        return mistaken(plan, objects, rng)

    return Canned(answer, name=f"planner's plans with mistakes at {rate:g}")


def mistaken(plan: Plan, objects: Objects, rng: random.Random) -> str:
    """The plan's text with one mistake of a kind drawn at random."""
    kind = rng.choice(MISTAKES)
    steps = list(plan.steps)
    at = rng.randrange(len(steps))
    edits: dict[str, Callable[[], str]] = {
        "dropped step": lambda: _text([*steps[:at], *steps[at + 1 :]], objects),
        "swapped steps": lambda: _text([*steps[:at], *reversed(steps[at : at + 2]), *steps[at + 2 :]], objects),
        "wrong object": lambda: _text([*steps[:at], _other(steps[at], objects, rng), *steps[at + 1 :]], objects),
        "unknown name": lambda: _text(steps, objects).replace(f'"{steps[at].skill}"', f'"{steps[at].skill}_it"', 1),
        "cut off": lambda: _text(steps, objects)[: -rng.randrange(4, 30)],
    }
    return edits[kind]()


def _text(steps: list[Step], objects: Objects) -> str:
    return plan_text(Plan(tuple(steps)), objects, "As asked.")


def _other(step: Step, objects: Objects, rng: random.Random) -> Step:
    params = objects.domain.skill(step.skill).params
    free = [i for i, p in enumerate(params) if len(objects.of(*p.types)) > 1]
    if not free:
        return step
    i = rng.choice(free)
    others = [o for o in objects.of(*params[i].types) if o != step.args[i]]
    return Step(step.skill, (*step.args[:i], rng.choice(others), *step.args[i + 1 :]))
