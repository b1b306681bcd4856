"""A written domain reads back to the same fingerprint and the same scenes; PDDL names get names the language can write."""

from __future__ import annotations

import random

import jsonschema
import pytest

from handrail.domain import Domain, Objects, Task
from handrail.domain.files import domain_from_text, load_domain, load_scene, scene_names
from handrail.domain.reach import ground_steps
from handrail.domain.schema import frame_schema
from handrail.domain.text.document import plain, read_document
from handrail.domain.text.writing import write_domain
from handrail.domain.types import Obj
from handrail.domains import NAMES, path


@pytest.mark.parametrize("name", [*NAMES, "starter"])
def test_what_we_ship_survives_a_round_trip(name: str) -> None:
    one = load_domain(path(name))
    text = write_domain(one)
    two = domain_from_text(text, "again.yaml")
    assert two.fingerprint == one.fingerprint
    assert write_domain(two) == text
    assert scene_names(two) == scene_names(one)
    for scene in scene_names(one):
        a, b = load_scene(one, scene), load_scene(two, scene)
        assert a.state.state_id == b.state.state_id
        assert [(r.say, r.expect, [str(g) for g in r.goals]) for r in a.requests] == [
            (r.say, r.expect, [str(g) for g in r.goals]) for r in b.requests
        ]
    jsonschema.validate(plain(read_document(text, "again.yaml")), frame_schema())


def test_the_kitchen_survives_a_round_trip(kitchen: Domain) -> None:
    again = domain_from_text(write_domain(kitchen))
    assert again.fingerprint == kitchen.fingerprint
    assert again.constants == kitchen.constants
    assert [s.approval for s in again.skills.values()] == [s.approval for s in kitchen.skills.values()]


PDDL = """
(define (domain odd-names)
  (:requirements :strips :typing :conditional-effects :negative-preconditions)
  (:types block table - thing on)
  (:constants big-table - table)
  (:predicates (on ?x - block ?y - thing) (clear ?x - thing) (not-held ?b - block) (table ?t - table))
  (:action pick-up
    :parameters (?x - block ?on - thing)
    :precondition (and (on ?x ?on) (clear ?x) (not-held ?x) (forall (?b - block) (not (on ?b ?x))))
    :effect (and (not (on ?x ?on)) (clear ?on) (not (not-held ?x)) (when (on ?x big-table) (clear big-table))))
  (:action put
    :parameters (?x - block ?y - thing)
    :precondition (and (not (not-held ?x)) (clear ?y))
    :effect (and (on ?x ?y) (not-held ?x) (not (clear ?y)) (clear ?x))))
"""


def test_pddl_names_are_made_writable_and_meaning_stays() -> None:
    from handrail.domain.pddl import read_domain

    one = read_domain(PDDL, "odd.pddl")
    text = write_domain(one)
    two = domain_from_text(text, "odd.yaml")
    assert "pick_up" in two.skills
    a = Objects(one, [Obj("a", "block"), Obj("b", "block"), Obj("c", "block")])
    types = dict(zip((t for t in one.types if t != "object"), two.types, strict=True))
    b = Objects(two, [Obj(n, types["block"]) for n in ("a", "b", "c")])
    steps_a, steps_b = list(ground_steps(a)), list(ground_steps(b))
    assert len(steps_a) == len(steps_b) > 10
    fluents = dict(zip(one.fluents, two.fluents, strict=True))
    objects = {"big-table": two.constants[0].name, "a": "a", "b": "b", "c": "c"}
    task_a, task_b = Task(a), Task(b)
    rng = random.Random(3)
    ran = 0
    for _ in range(200):
        atoms = {(f.name, *args) for f in one.fluents.values() for args in _args(a, f)}
        values = {atom: rng.random() < 0.6 for atom in sorted(atoms)}
        other = {(fluents[atom[0]], *(objects[o] for o in atom[1:])): v for atom, v in values.items()}
        i = rng.randrange(len(steps_a))
        op_a, op_b = task_a.operator(steps_a[i]), task_b.operator(steps_b[i])
        assert op_a.applicable(values) == op_b.applicable(other)
        if op_a.applicable(values):
            ran += 1
            op_a.apply(values)
            op_b.apply(other)
            assert other == {(fluents[x[0]], *(objects[o] for o in x[1:])): v for x, v in values.items()}
    assert ran > 3


def _args(objects: Objects, fluent: object) -> list[tuple[str, ...]]:
    from itertools import product

    return list(product(*(objects.of(*p.types) for p in fluent.params)))  # type: ignore[attr-defined]
