"""What ships fits what runs, does what it says, and gives way where it doesn't fit."""

from __future__ import annotations

import pytest

from handrail.calibrations import path, shipped
from handrail.decide.calibration import Calibration
from handrail.decide.policy import Act, Ask, Refuse
from handrail.domain import Domain
from handrail.domain.files import load_scene
from handrail.domains import path as domain_path
from handrail.evaluate.scenarios.home import Home
from handrail.language.canned import Canned


@pytest.fixture(scope="module")
def state():
    return load_scene(Domain.load(domain_path("home"))).state


@pytest.fixture(scope="module")
def decider(state):
    found, said = shipped(state)
    assert found is not None, said + " (made anew by: handrail calibrate src/handrail/calibrations/home-words.json)"
    assert "home-words.json" in said
    return found


def test_both_files_are_there_and_whole():
    for name, n in (("words", 400), ("smollm2-135m", 120)):
        calibration = Calibration.load(path("home", name))
        assert calibration.n == n and calibration.delta is not None
        assert float(calibration.epsilon) == 0.05


def test_what_it_does_with_requests(decider):
    assert isinstance(decider.decide("Open the fridge.").decision, Act)
    assert isinstance(decider.decide("Hand me the knife.").decision, Refuse)
    drink = decider.decide("Bring me something to drink.")
    assert isinstance(drink.decision, Ask)
    assert all(w in drink.decision.question.sentence for w in ("cola", "milk", "water"))
    shelf = decider.decide("Put the red cube on the shelf.").decision
    assert isinstance(shelf, Ask) and "high shelf" in shelf.question.sentence
    assert isinstance(decider.decide("Tell me a joke.").decision, Ask)


def test_an_answer_is_looked_at_again(decider):
    asked = decider.decide("Put the red cube on the shelf.")
    keys = asked.decision.question.remaining(0)
    assert isinstance(decider.narrow(asked, keys), Act)
    assert isinstance(decider.narrow(asked, ()), Ask)
    knife = decider.decide("Hand me the knife.")
    assert isinstance(decider.narrow(knife, ("given(knife) == person_1",)), Refuse)


def test_its_promise_on_fresh_requests(state, decider):
    """600 requests that it was not made with: at or above target within the error of 600."""
    kept = total = 0
    for scenario in Home(state).generate(600, 77):
        decided = decider.decide(scenario.request)
        keys = {o.key for o in decided.decision.options}
        listed = any(o.key in scenario.acceptable for o in decided.options)
        total += 1
        kept += bool(keys & scenario.acceptable) if listed else "not-listed" in keys
    assert kept / total >= 0.95 - 3 * (0.95 * 0.05 / total) ** 0.5


def test_another_model_or_domain_gives_way(state):
    found, said = shipped(state, Canned(scores={}, name="smollm2-135m"))
    assert found is not None and "weights was" in said and "home-words.json" in said
    found, said = shipped(state, Canned(scores={}, name="unheard-of"))
    assert found is not None and "no calibration ships" in said
    office = load_scene(Domain.load(domain_path("office"))).state
    assert shipped(office)[0] is None
