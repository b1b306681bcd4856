from __future__ import annotations

import math

import pytest

from handrail.errors import ParseError
from handrail.evaluate.recordings import Recorder, asked, load, order_of, save
from handrail.evaluate.scenarios import kitchen, sorting
from handrail.language.canned import Canned


def likelihood(prompt, text):
    if len(text) == 1:
        return math.log({"A": 0.4, "B": 0.3, "C": 0.1, "D": 0.1, "E": 0.05}[text])
    return -1.0 * len(text.split()) - (0.5 if "Do something." in prompt else 0.0)


@pytest.fixture
def model():
    return Canned(lambda messages: "A, B" if "letters only" in messages[-1].content else "Uncertain", scores=likelihood)


def test_a_record_holds_what_was_asked_and_answered(model, tmp_path):
    scenario = kitchen.generate(3, 0)[1]
    options = asked(scenario)
    recorder = Recorder(model, tmp_path / "r.json.gz")
    record = recorder.record(scenario, options, orders=5)
    assert record.order == order_of(scenario, options) and -1 in record.order
    assert len(record.after) == len(record.before) == 5 and len(record.letters) == 5
    assert record.after[0][0] - record.before[0][0] == pytest.approx(0.5)
    for turn, values in enumerate(record.letters):
        assert values[turn] == pytest.approx(math.log(0.4), abs=1e-4)  # the option that stood at A
    recorder.in_words(record, scenario, options)
    assert record.answers == {"set": "A, B", "certain": "Uncertain"}
    recorder.vote(0, [0, 1], [(record, scenario, options)])
    recorder.vote(0, [0, 1], [(record, scenario, options)])
    assert record.votes == [0]


def test_nothing_is_asked_twice(model, tmp_path):
    scenario = kitchen.generate(1, 0)[0]
    path = tmp_path / "r.json.gz"
    recorder = Recorder(model, path)
    recorder.record(scenario, asked(scenario), orders=1)
    recorder.save()
    calls = len(model.requests)
    again = Recorder(model, path)
    again.record(scenario, asked(scenario), orders=1)
    assert len(model.requests) == calls
    again.record(scenario, asked(scenario), orders=3)
    assert len(model.requests) == calls + 2


def test_other_options_or_another_model_are_asked_anew(model, tmp_path):
    scenario = kitchen.generate(1, 0)[0]
    recorder = Recorder(model, tmp_path / "r.json.gz")
    first = recorder.record(scenario, asked(scenario)).request
    assert recorder.record(scenario, asked(scenario, seed=1)).request != first
    other = Recorder(Canned(scores=likelihood, name="other"), tmp_path / "s.json.gz")
    assert other.record(scenario, asked(scenario)).request != first


def test_files_are_whole_and_alike(model, tmp_path):
    recorder = Recorder(model, tmp_path / "r.json.gz", every=1)
    for scenario in kitchen.generate(4, 0):
        recorder.record(scenario, asked(scenario))
    one, two = tmp_path / "r.json.gz", tmp_path / "t.json.gz"
    assert [r.key for r in load(one)] == sorted(recorder.records)
    save(two, load(one))
    assert one.read_bytes() == two.read_bytes()
    two.write_bytes(one.read_bytes()[:-20])
    with pytest.raises(ParseError):
        load(two)
    two.write_bytes(b"no gzip")
    with pytest.raises(ParseError):
        load(two)


def test_questions_depend_on_the_scenario_and_the_seed():
    scenarios = kitchen.generate(20, 0)
    assert [asked(s) for s in scenarios] == [asked(s) for s in scenarios]
    assert any(asked(s, 0) != asked(s, 1) for s in scenarios)
    assert all(len(asked(s)) == 5 for s in scenarios)
    short = sorting.sorting(1, 0, (2, 2))[0].at([])
    assert len(asked(short)) == 5
