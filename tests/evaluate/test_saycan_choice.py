from __future__ import annotations

import pytest

from handrail.domain import Step
from handrail.domain.files import load_scene
from handrail.errors import ConfigError
from handrail.evaluate import saycan_choice
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.saycan_office import Office


@pytest.fixture(scope="module")
def state():
    return load_scene(Office().domain, "morning").state


def test_where_things_end(state):
    fetch = (Step("find", ("robot_1", "coke")), Step("pick_up", ("robot_1", "coke")))
    held = saycan_choice.end_of(fetch, state)
    assert held[("holding", "robot_1")] == "coke" and held[("on", "coke")] is None
    brought = (*fetch, Step("bring_to", ("robot_1", "coke", "you")), Step("put_down", ("robot_1", "coke")))
    assert saycan_choice.end_of(brought, state) == {("on", "coke"): "you"}
    assert saycan_choice.end_of(fetch[1:], state) is None
    assert saycan_choice.end_of((Step("find", ("robot_1", "coke_2")),), state) is None
    assert saycan_choice.end_of((), state) == {}


def test_chance_is_seeded():
    options = [None] * 3
    first, again = saycan_choice.Chance(1), saycan_choice.Chance(1)
    assert [s.value for s in first.score(None, options)] == [s.value for s in again.score(None, options)]


def test_needs_its_data():
    with pytest.raises(ConfigError, match=r"saycan|data"):
        saycan_choice.run(EvalOptions())


@pytest.mark.data
def test_chance_on_the_published_requests(data_dir):
    result = saycan_choice.run(EvalOptions(data=data_dir, extra={"n": 12}))
    (row,) = result["rows"]
    assert result["requests"] == 12 and result["published"] == 99
    assert 0 < row["comparable"] <= 12 and row["same_steps"] <= row["same_end"] <= row["comparable"]
    assert all(p["turns"] >= 1 for p in result["plans"])
