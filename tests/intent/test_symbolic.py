"""Candidates and readings in the shipped home."""

from __future__ import annotations

import pytest

from handrail.domain import Domain
from handrail.domain.files import load_scene
from handrail.domains import path
from handrail.errors import ConfigError
from handrail.evaluate.scenarios.home import SHARES, Home
from handrail.intent import candidates
from handrail.intent.candidates import facts_of, goals
from handrail.intent.symbolic import SymbolicReader


@pytest.fixture(scope="module")
def state():
    return load_scene(Domain.load(path("home"))).state


@pytest.fixture(scope="module")
def reader(state):
    return SymbolicReader(state)


def test_goals_are_facts_that_skills_make(state):
    found = {o.key: o for o in goals(state)}
    assert found["on(milk) == fridge"].text == "put the milk on or into the fridge"
    assert found["given(mug_2) == person_1"].text == "hand the orange mug to alex"
    assert found["not dirty(table)"].text == "wipe the table"
    assert found["contents(mug) == cow_milk"].text == "pour from the milk into the blue mug"
    assert found["on(milk) == fridge"].attributes[:2] == (("action", "place"), ("object", "milk"))
    assert not any(k.startswith(("asked", "portions", "$")) for k in found)
    assert "open(bin)" not in found  # no door
    assert all(str(o.meaning.final) == k for k, o in found.items())


def test_what_a_rule_forbids_is_marked_and_stays(state):
    found = {o.key: o for o in goals(state)}
    assert found["given(knife) == person_1"].unsafe
    assert "sharp" in found["given(knife) == person_1"].marks[0].sentence.lower()
    assert not found["given(water) == person_1"].unsafe


def test_too_large_a_scene_is_refused(state, monkeypatch):
    monkeypatch.setattr(candidates, "MOST_STEPS", 50)
    with pytest.raises(ConfigError, match="narrow"):
        goals(state)


def test_facts(state):
    facts = facts_of(state.objects)
    assert {"drinkable", "metal", "soda"} <= set(facts["cola"])


def test_readings(reader):
    options = reader.read("Put the milk in the fridge.")
    assert options[-1].is_not_listed and len(options) == 5
    assert "on(milk) == fridge" in {o.key for o in options}
    assert {"given(mug) == person_1", "given(mug_2) == person_1"} <= {o.key for o in reader.read("Bring me the mug.")}
    assert options == reader.read("Put the milk in the fridge.")
    context = reader.context("Put the milk in the fridge.", options)
    assert "the milk" in context.scene and "the fridge" in context.scene


def test_a_changed_scene_is_read_anew(reader, state):
    other = state.with_({("running", "stove"): True})
    assert "open(fridge)" in {o.key for o in reader.read("Open the fridge.", state=other)}
    names = [name for name, _ in reader.fingerprint.parts]
    assert names == ["options", "skills"]


def test_generated_requests_have_a_known_truth(state, reader):
    home = Home(state)
    scenarios = home.generate(300, 5)
    assert scenarios == home.generate(400, 5)[:300]
    assert {s.category for s in scenarios} == set(SHARES)
    listed = total = 0
    for s in scenarios:
        if s.category == "dangerous":
            assert all(home.option(k).unsafe for k in s.acceptable)
        if s.category == "impossible":
            assert not s.acceptable
            continue
        total += 1
        listed += any(o.key in s.acceptable for o in reader.read(s.request))
    assert listed / total > 0.95
