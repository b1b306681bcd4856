"""The comparison on synthetic records whose probabilities are true, so that what must come out is known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from handrail.evaluate import knowno
from handrail.evaluate import knowno_methods as m
from handrail.evaluate.knowno_cases import Case, fused, letter_bias, longer_texts, probabilities
from handrail.evaluate.knowno_data import Found, cases_of, walk
from handrail.evaluate.knowno_plots import main
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.recordings import Record, Recorder, asked
from handrail.evaluate.scenarios import sorting
from handrail.language.canned import Canned

LEVEL = m.Level(0.15, 0.05)


def case(i, rng, sharpness=0.3, steps=1):
    p = rng.dirichlet(np.full(5, sharpness))
    right = int(rng.choice(5, p=p))
    logs = tuple(float(v) for v in np.log(np.maximum(p, 1e-12)))
    after = [[v * 3 - 5, 6] for v in logs]
    record = Record(f"k{i}", "r", [0, 1, 2, 3, -1], after, [[-5.0, 6]] * 5, [list(logs)] * 5)
    record.answers = {"set": "A, B", "certain": "Certain" if p.max() > 0.9 else "Uncertain"}
    record.votes = [int(np.argmax(p))] * 18 + [right] * 2
    record.seconds = {"letters": 0.5}
    words = tuple(0.0 for _ in range(5))
    scores = {"letters": logs, "letters, all orders": logs, "sum": tuple(a[0] for a in after), "overlap": words}
    scores |= {"verb": words, "other": (0.0, 0.0, 0.0, 0.0, 1.0), "pmi": tuple(a[0] + 3.75 for a in after)}
    episode = f"e{i // steps}" if steps > 1 else ""
    return Case(f"k{i}", "even" if i % 2 else "odd", episode, (right,), 4, right != 4, scores, record)


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    return [case(i, rng) for i in range(300)]


def test_outcomes():
    one = case(0, np.random.default_rng(1))
    one = Case(one.key, "", "", (2,), 4, True, one.scores, one.record)
    assert m.outcome(one, [2]) == (1, 1, 0, 0, 1)
    assert m.outcome(one, [1]) == (0, 0, 0, 1, 1)
    assert m.outcome(one, [1, 2]) == (1, 1, 1, 0, 2)
    assert m.outcome(one, []) == (0, 0, 1, 0, 0)
    assert m.outcome(one, [4]) == (0, 0, 1, 0, 1)
    gone = Case(one.key, "", "", (4,), 4, False, one.scores, one.record)
    assert m.outcome(gone, [4]) == (1, 0, 1, 0, 1)


def test_coverage_is_at_its_target_and_the_baselines_are_not(cases):
    makers = {
        "KnowNo": m.conformal("letters"),
        "KnowNo (on average)": m.conformal("letters", marginal=True),
        "Simple Set": m.simple("letters"),
        "No Help": m.without_help("letters"),
        "Ensemble Set": m.ensemble(),
        "Prompt Set": m.stated(),
        "Binary": m.binary("letters"),
    }
    found = m.splits(cases, makers, LEVEL, 60, 2 / 3, np.random.default_rng(0))
    assert found["KnowNo (on average)"]["plan"] == pytest.approx(0.85, abs=0.06)
    assert found["KnowNo"]["plan"] > found["KnowNo (on average)"]["plan"]
    assert found["KnowNo"]["help"] > found["KnowNo (on average)"]["help"]
    assert found["No Help"]["plan"] < 0.8 and found["No Help"]["silent"] > 0.15
    assert found["No Help"]["help"] == pytest.approx(np.mean([np.argmax(c.scores["letters"]) == 4 for c in cases]), abs=0.05)
    assert found["Prompt Set"]["size"] == 2
    assert 0 < found["Binary"]["help"] < 1 and 0.5 < found["Ensemble Set"]["plan"] < 1
    for row in found.values():
        assert row["task"] <= row["plan"] and 0 <= row["plan_ci"] < 0.1


def test_too_few_cases_say_how_many_would_do(cases):
    makers = {"KnowNo": m.conformal("letters"), "Simple Set": m.simple("letters")}
    found = m.splits(cases[:30], makers, m.Level(0.05, 0.01), 5, 2 / 3, np.random.default_rng(0))
    assert found["KnowNo"] == {"infeasible": "20 calibration trials; 90 would do"}
    assert "plan" in found["Simple Set"]


def test_episodes_need_the_strangest_step():
    rng = np.random.default_rng(3)
    steps = [case(i, rng, steps=4) for i in range(800)]
    makers = {"whole": m.conformal("letters"), "naive": m.naive("letters")}
    found = m.splits(steps, makers, m.Level(0.25, None), 40, 1 / 2, np.random.default_rng(0))
    assert found["whole"]["plan"] == pytest.approx(0.75, abs=0.07)
    assert found["naive"]["plan"] < 0.6
    assert found["whole"]["help_per_step"] < found["whole"]["help"]


def test_operating_points_and_differences(cases):
    sharp, blurred = m.operating(cases, "letters"), m.operating(cases, "overlap")
    assert sharp.hit.shape == sharp.asked.shape == sharp.size.shape and sharp.hit.shape[1] == 300
    assert (np.diff(sharp.hit.mean(axis=1)) >= 0).all() and (np.diff(sharp.size.mean(axis=1)) >= 0).all()
    assert sharp.least("asked", 0.8) < blurred.least("asked", 0.8) == 1.0
    assert math.isnan(sharp.least("asked", 1.01))
    found = m.difference(sharp, blurred, "size", 0.8, np.random.default_rng(0), 200)
    assert found["low"] <= found["difference"] <= found["high"] < 0 and found["reached"] > 0.9
    same = m.difference(sharp, sharp, "asked", 0.8, np.random.default_rng(0), 50)
    assert same["low"] == same["high"] == 0


def test_bends(cases):
    import random

    bent = [letter_bias(2.0)(c, random.Random(0)) for c in cases]
    assert m.operating(bent, "letters").least("size", 0.85) > m.operating(cases, "letters").least("size", 0.85)
    probs = probabilities(bent[0], "letters")
    plain = probabilities(cases[0], "letters")
    assert probs[0] / probs[1] == pytest.approx(plain[0] / plain[1] * math.exp(2), rel=1e-3)
    long = longer_texts(5.0)(cases[0], random.Random(0))
    assert sum(long.scores["sum"]) < sum(cases[0].scores["sum"])
    assert long.scores["mean"] == pytest.approx([a[0] / a[1] for a in cases[0].record.after], abs=2e-3)


def test_fusion_is_fitted_on_other_cases(cases):
    out, weights = fused(cases[60:], cases[:60])
    assert set(weights.names) == {"pmi", "sum", "letters", "overlap", "verb", "other"}
    assert all("fusion" in c.scores for c in out) and weights.cases == 60


def test_the_whole_evaluation(cases, monkeypatch):
    some = [c for c in cases if True]
    monkeypatch.setattr(knowno, "cases_of", lambda options: Found("synthetic", {"kitchen": some, "arms": some[:10]}))
    result = knowno.run(EvalOptions(quick=True))
    used = {s["suite"]: s["used"] for s in result["suites"]}
    assert used == {"mobile": False, "kitchen": True, "tabletop": False, "arms": False, "sorting": False}
    methods = {r["method"] for r in result["tables"]}
    assert {"KnowNo (letters)", "Simple Set (fusion)", "No Help (letters)", "Prompt Set", "Binary", "Ensemble Set"} <= methods
    for key in ("categories", "scores", "differences", "deviation", "tradeoff", "matched", "bias", "length", "cost"):
        assert result[key], key
    targets = {r["target"] for r in result["deviation"]}
    assert targets == {0.75, 0.8, 0.85, 0.9, 0.95, 0.99}
    ours = [r for r in result["deviation"] if r["method"].startswith("KnowNo (letters") and "deviation" in r]
    assert all(abs(r["deviation"]) < 0.07 for r in ours)


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [{"suite": "kitchen", "method": "KnowNo", "target": t, "plan": t, "deviation": 0.0, "help": t} for t in (0.8, 0.9)]
    rows.append({"suite": "kitchen", "method": "KnowNo", "target": 0.99, "infeasible": "too few"})
    result = {"model": "m", "suites": [{"suite": "kitchen", "used": True}], "deviation": rows, "tradeoff": rows[:2]}
    (tmp_path / "r.json").write_text(json.dumps({"result": result}))
    assert main([str(tmp_path / "r.json"), str(tmp_path / "out")]) == 0
    drawn = sorted((tmp_path / "out").iterdir())
    assert [f.name for f in drawn] == ["deviation-kitchen.png", "tradeoff-kitchen.png"]
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in drawn)
    assert main([]) == 2


def test_shipped_recordings_are_read_without_a_model():
    found = cases_of(EvalOptions())
    assert found.model == "smollm2-135m"
    assert not found.cases["mobile"]  # its scenarios are not part of the package
    for cases in found.cases.values():
        for one in cases:
            assert len(one.record.order) == len(one.scores["sum"])


def test_episodes_are_walked_along_right_actions(tmp_path):
    recorder = Recorder(Canned(scores=lambda prompt, text: -2.0 * len(text)), tmp_path / "r.gz")
    for tray in sorting.sorting(4, 0):
        steps = list(walk(tray, lambda s: recorder.record(s, asked(s))))
        assert len(steps) == len(tray.foods)
        assert [len(s.done) for s, _ in steps] == list(range(len(tray.foods)))
        stopped = list(walk(tray, lambda s: None))
        assert len(stopped) == 1 and stopped[0][1] is None
