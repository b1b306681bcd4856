"""A small domain that uses every part of the language."""

from __future__ import annotations

import pytest
from hypothesis import settings

from handrail.domain import Domain
from handrail.domain.files import domain_from_text

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")

KITCHEN = """\
domain: small kitchen
types:
  robot:
  hand:
  person:
  place:
  container: {is: place}
  item: {attributes: {material: [glass, metal], sharp: bool}}
  vessel: {is: item}
fluents:
  - "at(r: robot): place"
  - "in(h: hand): item?"
  - "on(i: item): place?"
  - "given(i: item): person?"
  - "open(c: container): bool"
  - "wet(i: item): bool"
  - "portions(v: vessel): 0..3"
  - "occupied(p: place): bool"
derived:
  - "free(h: hand): in(h) == none"
  - "reachable(i: item): some p in place (on(i) == p and (not container(p) or open(p)))"
numbers:
  "distance(a: place, b: place)": {"table, fridge": 2, otherwise: 1}
objects:
  table: place
  fridge: container
  robot_1: robot
  hand_1: {is: hand, words: [gripper]}
skills:
  go:
    says: "Go from {a} to {b}."
    with: {r: robot, a: place, b: place}
    needs: ["at(r) == a", "a != b"]
    makes: ["at(r) := b"]
    cost: {small: 0.5, big: 1, plus: {per: "distance(a, b)", factor: 0.5}}
    approval: "occupied(b)"
  pick:
    says: "Pick up {thing} with {hand}."
    with: {r: robot, hand: hand, thing: item}
    needs:
      - "free(hand)"
      - "at(r) == on(thing)"
      - "reachable(thing)"
    makes:
      - "in(hand) := thing"
      - "on(thing) := none"
    cost: 0.2
    speed: 25 cm/s
    on_stop: hold
  place:
    with: {r: robot, hand: hand, thing: item, to: place}
    needs: ["in(hand) == thing", "at(r) == to", "not container(to) or open(to)"]
    makes: ["in(hand) := none", "on(thing) := to"]
  open:
    with: {r: robot, hand: hand, what: container}
    needs: ["free(hand)", "at(r) == what", "not open(what)"]
    makes: ["open(what) := true"]
    force: 40 N
  close:
    with: {r: robot, hand: hand, what: container}
    needs: ["free(hand)", "at(r) == what"]
    makes: ["open(what) := false"]
  pour:
    with: {r: robot, hand: hand, source: vessel, target: vessel}
    needs: ["in(hand) == source", "at(r) == on(target)"]
    makes:
      - "portions(source) -= 1"
      - "portions(target) += 1"
      - "if portions(source) >= 2 then wet(target) := true"
    repeatable: false
  rinse:
    with: {r: robot, where: place}
    needs: ["at(r) == where"]
    makes: ["each i in item (if on(i) == where then wet(i) := true)"]
safety:
  limits: {speed: 0.5 m/s, force: 40 N}
  rules:
    - "never some h in hand (sharp(in(h)) and occupied(at(robot_1)))"
    - rule: "after open(fridge) within 2 steps not open(fridge)"
      because: "the fridge is shut again"
  forbid:
    - {skill: place, when: "wet(thing) and to == fridge", because: "no wet things in the fridge"}
scenarios:
  noon:
    objects:
      mug: {is: vessel, material: glass, words: [cup]}
      jug: vessel
      knife: {is: item, material: metal, sharp: true}
    state:
      - "at(robot_1) := table"
      - "on(mug) := table"
      - "on(jug) := fridge"
      - "on(knife) := table"
      - "portions(jug) := 3"
    requests:
      - {say: "Cool the mug.", goal: "on(mug) == fridge and not open(fridge)"}
      - say: "Get me something."
        goals: ["in(hand_1) == mug", "in(hand_1) == jug"]
        expect: ask
        meant: 1
      - {say: "Throw the knife.", expect: refuse, because: "knives are not thrown"}
  later:
    from: noon
    without: [knife]
    objects:
      pan: item
    state: ["open(fridge)", "on(mug) := unknown", "on(pan) := table"]
"""


@pytest.fixture(scope="session")
def kitchen_text() -> str:
    return KITCHEN


@pytest.fixture(scope="session")
def kitchen() -> Domain:
    return domain_from_text(KITCHEN, "kitchen.yaml")
