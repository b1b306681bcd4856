"""Warnings: each appears where it should, with its place, and what we ship has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.domain import Task
from handrail.domain.files import domain_from_text, load_domain, load_scene, scene_names
from handrail.domain.lint import Warn, lint, lint_file
from handrail.domain.reach import Reach, count_steps, ground_steps
from handrail.domain.text.document import read_document
from handrail.domains import NAMES, path


@pytest.mark.parametrize("name", [*NAMES, "starter"])
def test_what_we_ship_is_clean(name: str) -> None:
    domain, warnings = lint_file(path(name))
    assert [str(w) for w in warnings] == []
    assert domain.skills


CASES = {
    "unused-fluent": (
        '  - "occupied(p: place): bool"',
        '  - "occupied(p: place): bool"\n  - "dusty(p: place): bool"',
        "'dusty'",
    ),
    "never-read": (
        "  rinse:\n",
        '  soil:\n    says: s {where}\n    with: {where: place}\n    makes: ["dusty(where) := true"]\n  rinse:\n',
        "'dusty'",
    ),
    "unused-derived": ("derived:\n", 'derived:\n  - "busy(h: hand): not free(h)"\n', "'busy'"),
    "unused-number": ("numbers:\n", 'numbers:\n  "weight(i: item)": {otherwise: 1}\n', "'weight'"),
    "unused-type": ("types:\n", "types:\n  cloud:\n", "'cloud'"),
    "no-says": ('    says: "Pick up {thing} with {hand}."\n', "", "'pick' has no `says`"),
    "no-effect": ("  rinse:\n", "  wait:\n    says: wait\n  rinse:\n", "'wait' changes nothing"),
    "unused-parameter": ("with: {r: robot, where: place}", "with: {r: robot, where: place, who: person}", "'who'"),
    "twice": ('needs: ["at(r) == where"]', 'needs: ["at(r) == where", "at(r) == where"]', '"at(r) == where" twice'),
    "over-limit": ("force: 40 N\n", "force: 41 N\n", "'open' declares force 41, above the limit 40"),
    "may-be-none": ('makes: ["at(r) := b"]', 'makes: ["at(r) := on(in(hand_1))"]', "may be none"),
    "no-value": ('      - "at(robot_1) := table"\n', "", "does not say what at(robot_1) is"),
    "broken-at-start": (
        '      - "on(knife) := table"\n',
        '      - "in(hand_1) := knife"\n      - "occupied(table)"\n',
        "starts with the rule",
    ),
    "need-never-holds": (
        '"not open(what)"]',
        '"not open(what)", "some p in person (given(knife_1) == p)"]',
        "'open' needs",
    ),
    "unreachable-skill": (
        '"at(r) == what", "not open(what)"]',
        '"at(r) == what", "at(r) == table", "not open(what)"]',
        "'open' can run in no scene",
    ),
    "unreachable-goal": (
        'goal: "on(mug) == fridge',
        'goal: "given(mug) != none and on(mug) == fridge',
        "nothing can ever bring about",
    ),
}


@pytest.mark.parametrize("code", CASES)
def test_a_warning_appears_where_it_should(code: str, kitchen_text: str) -> None:
    old, new, part = CASES[code]
    assert old in kitchen_text
    text = kitchen_text.replace(old, new, 1)
    if code == "never-read":
        text = text.replace("fluents:\n", 'fluents:\n  - "dusty(p: place): bool"\n')
    if "knife_1" in text:
        text = text.replace("objects:\n  table", "objects:\n  knife_1: item\n  table")
    mine = [w for w in warnings_of(text) if w.code == code]
    before = {w.sentence for w in warnings_of(kitchen_text)}
    new_ones = [w for w in mine if w.sentence not in before]
    assert new_ones, code
    assert all(part in w.sentence for w in new_ones[:1])
    assert all(w.where.source == "k.yaml" and w.where.line > 0 and code in str(w) for w in new_ones)


def warnings_of(text: str) -> list[Warn]:
    return lint(domain_from_text(text, "k.yaml"), read_document(text, "k.yaml"))


def test_a_skill_that_no_scene_can_run(kitchen_text: str) -> None:
    text = kitchen_text.replace('needs: ["at(r) == where"]', 'needs: ["at(r) == where", "given(in(hand_1)) != none"]')
    codes = {w.code: w for w in warnings_of(text)}
    assert "'rinse'" in codes["need-never-holds"].sentence


def test_a_forbidden_skill_is_unreachable(kitchen_text: str) -> None:
    text = kitchen_text.replace("  forbid:\n", '  forbid:\n    - {skill: rinse, because: "no water"}\n')
    mine = [
        w
        for w in lint(domain_from_text(text, "k.yaml"), read_document(text, "k.yaml"))
        if w.code == "unreachable-skill"
    ]
    assert len(mine) == 1 and "'rinse'" in mine[0].sentence


def test_without_a_document_there_is_the_file(kitchen_text: str) -> None:
    warnings = lint(domain_from_text(kitchen_text, "k.yaml"))
    assert {w.where.source for w in warnings} == {"k.yaml"}
    assert {w.code for w in warnings} == {"no-says", "unused-fluent"}
    assert {w.to_json()["line"] for w in warnings} == {0}


def test_reach_contains_every_state_of_a_walk() -> None:
    """What is reached by steps must be among the values that `Reach` allows."""
    import random

    rng = random.Random(5)
    domain = load_domain(path("home"))
    for name in scene_names(domain):
        scene = load_scene(domain, name)
        task = Task(scene.objects)
        reach = Reach(task, scene.state)
        assert count_steps(scene.objects) == len(list(ground_steps(scene.objects)))
        values = task.start(scene.state)
        for _ in range(25):
            possible = [s for s in reach.reached if task.operator(s).applicable(values)]
            if not possible:
                break
            op = task.operator(rng.choice(sorted(possible, key=str)))
            op.apply(values)
            for atom, value in values.items():
                assert value in reach.values.get(atom, {value}) or atom[0].startswith("$"), (atom, value)
        others = [s for s in ground_steps(scene.objects) if s not in reach.reached]
        assert others and not any(task.operator(s).applicable(values) for s in others)


def test_lint_file_names_the_file(tmp_path: Path, kitchen_text: str) -> None:
    file = tmp_path / "k.yaml"
    file.write_text(kitchen_text, encoding="utf-8")
    _, warnings = lint_file(file)
    assert all(w.where.source == str(file) and w.where.line for w in warnings)
