"""Promises and monitors by hand: what the start and a replan make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handrail.domain import UNKNOWN, Atom, Domain, Rule, Safety, Step, Task, Value
from handrail.domain.files import Scene, load_scene
from handrail.domain.text import parse_rule

DOOR: Atom = ("open", "fridge")
MONITOR: Atom = ("$rule", "0")


def task_with(kitchen: Domain, *rules: str) -> tuple[Task, Scene]:
    made: tuple[Rule, ...] = tuple(parse_rule(r, kitchen, load_scene(kitchen).objects) for r in rules)
    scene = load_scene(replace(kitchen, safety=Safety(rules=made)))
    return Task(scene.objects), scene


def runs(task: Task, values: dict[Atom, Value], *steps: tuple[str, ...]) -> bool:
    """Whether the steps run and end well."""
    for s in steps:
        op = task.operator(Step(s[0], s[1:]))
        if not op.applicable(values):
            return False
        op.apply(values)
    return task.end.holds(values)


@pytest.mark.parametrize(("door", "wanted"), [(True, 2), (False, 0), (UNKNOWN, UNKNOWN)])
def test_a_promise_opens_with_what_is_seen(kitchen: Domain, door: Value, wanted: Value) -> None:
    task, scene = task_with(kitchen, "after open(fridge) within 2 steps wet(mug)")
    assert task.start(scene.state.with_({DOOR: door}))[MONITOR] == wanted


def test_a_promise_that_may_be_open_keeps_a_plan_from_ending(kitchen: Domain) -> None:
    """Closing a door that may have been open does not undo that it may have been open."""
    task, scene = task_with(kitchen, "after open(fridge) within 2 steps wet(mug)")
    steps = (("go", "robot_1", "table", "fridge"), ("close", "robot_1", "hand_1", "fridge"))
    assert runs(task, task.start(scene.state.with_({DOOR: False})), *steps)
    assert not runs(task, task.start(scene.state.with_({DOOR: True})), *steps)
    assert not runs(task, task.start(scene.state.with_({DOOR: UNKNOWN})), *steps)


@pytest.mark.parametrize(
    ("carried", "door", "wet", "wanted"),
    [
        (0, True, False, 2),  # a person opened it meanwhile
        (1, True, False, 1),  # still open, one step left
        (1, False, False, 1),  # shut meanwhile: the promise stays
        (1, True, True, 0),  # kept meanwhile
        (0, False, False, 0),
        (0, UNKNOWN, False, UNKNOWN),
        (1, UNKNOWN, False, 1),
        (UNKNOWN, False, False, UNKNOWN),
        (UNKNOWN, True, True, 0),
    ],
)
def test_what_is_seen_goes_together_with_what_is_carried(
    kitchen: Domain, carried: Value, door: Value, wet: Value, wanted: Value
) -> None:
    task, scene = task_with(kitchen, "after open(fridge) within 2 steps wet(mug)")
    values = task.start(scene.state.with_({DOOR: door, ("wet", "mug"): wet}), {MONITOR: carried})
    assert values[MONITOR] == wanted


def test_what_was_before_stays_before(kitchen: Domain) -> None:
    task, scene = task_with(kitchen, "wet(mug) before open(fridge)")
    steps = (("go", "robot_1", "table", "fridge"), ("open", "robot_1", "hand_1", "fridge"))
    assert not runs(task, task.start(scene.state), *steps)
    assert runs(task, task.start(scene.state.with_({("wet", "mug"): True})), *steps)
    assert runs(task, task.start(scene.state, {MONITOR: True}), *steps)
    assert runs(task, task.start(scene.state.with_({("wet", "mug"): True}), {MONITOR: False}), *steps)
