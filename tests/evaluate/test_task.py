from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handrail.evaluate.options import EvalOptions
from handrail.evaluate.task import overall, run, type_one
from handrail.evaluate.task_alarms import CHANGES, alarms
from handrail.evaluate.task_cells import CELLS, SETTINGS, acts, populate, run_all, tried
from handrail.evaluate.task_methods import KnowNo, Tally, evaluate_cell
from handrail.evaluate.task_parts import Components, execution_risk, product_bounds, union_bounds

KEYS = {"certified", "false_rate", "help", "achieved", "silent"}


@pytest.fixture(scope="module")
def population():
    return populate(CELLS[0], 6000, np.random.default_rng(0))


def test_there_are_enough_cells_with_every_kind_of_trouble():
    assert len(CELLS) >= 8 and len(SETTINGS) == 240
    assert any(c.fooled for c in CELLS) and any(c.human_error > 0.05 for c in CELLS)
    assert any(c.false_positive == 0 for c in CELLS) and any(not c.calibrated for c in CELLS)
    assert any(abs(c.sensitivity - c.copy_failure) < 1e-9 and c.blind == 0 for c in CELLS)  # useless dry-run


def test_losses_of_the_world(population):
    losses = run_all(population)
    assert np.all(losses.task >= losses.silent) and np.all(losses.help >= losses.asked)
    for i, s in enumerate(SETTINGS[:40]):
        assert np.array_equal(losses.task[i] - losses.silent[i], ~acts(population, s))


def test_more_asking_and_stricter_limits_do_what_they_should(population):
    risk = {s: (x.mean(), t.mean()) for s, x, t in zip(SETTINGS, *_two(run_all(population)), strict=True)}
    for s in SETTINGS:
        if s.replans == 3:
            assert risk[replace(s, replans=6)][1] <= risk[s][1]  # more replans, fewer hand-overs
        if s.strictness == 0.8:
            assert risk[replace(s, strictness=0.9)][0] <= risk[s][0]  # stricter, fewer silent failures


def _two(losses):
    return losses.silent, losses.task


def test_confidence_is_calibrated_where_it_says_so():
    for which, right in ((0, True), (2, False)):
        p = populate(CELLS[which], 20_000, np.random.default_rng(1))
        unsure = (p.confidence > 0.4) & (p.confidence < 0.8) & p.listed & p.active
        gap = p.confidence[unsure].mean() - p.own_right[unsure].mean()
        assert bool(abs(gap) < 0.02) is right and gap > -0.02


def test_knowno_keeps_its_own_promise_and_not_the_other(population):
    """Coverage is what was calibrated; task success is not."""
    k = KnowNo.of(population)
    i = k.at(float(np.quantile(k.scores, 0.8)))
    assert abs(k.covered[i] - 0.8) < 0.02
    assert k.open_loop[i] < 0.6 and k.silent[i] > 0.05


def test_union_bounds_cover_and_products_do_not_where_objects_stay_hard():
    rng = np.random.default_rng(2)
    cell = CELLS[11]
    p = populate(cell, 20_000, rng)
    c = Components.measure(cell, p, SETTINGS)
    losses = run_all(p)
    truth = np.array([execution_risk(p, s) for s in SETTINGS])
    for _ in range(5):
        union, product = union_bounds(c, 0.05, rng), product_bounds(c, 0.05, rng)
        assert np.all(union.silent >= losses.silent.mean(axis=1))
        assert np.all(union.task >= losses.task.mean(axis=1))
        assert np.all(union.execution >= truth)
        assert np.mean(product.execution < truth) > 0.5


def test_a_cell_has_all_methods_and_honest_ones_are_seldom_false():
    found = evaluate_cell(replace(CELLS[12], episodes=200), 4000, 60, np.random.default_rng(3))
    assert set(found.methods) == {
        "certificate",
        "certificate, one start",
        "certificate, Bonferroni",
        "certificate, a run per setting",
        "best-looking setting",
        "KnowNo alone, open loop",
        "KnowNo alone, in this loop",
        "union bound",
        "per-skill product",
    }
    out = found.to_json()["methods"]
    assert all(set(row) == KEYS for row in out.values())
    assert out["certificate"]["certified"] > 0.3 and out["certificate"]["false_rate"] <= 0.1
    assert out["best-looking setting"]["false_rate"] > 0.2
    assert out["KnowNo alone, open loop"]["false_rate"] == 1.0


def test_a_tally_without_a_number_has_no_means():
    tally = Tally()
    tally.add(False)
    assert tally.summary() == {"certified": 0.0, "false_rate": 0.0, "help": None, "achieved": None, "silent": None}
    tally.add(True, True, (0.5, 0.9, 0.1))
    assert tally.summary() == {"certified": 0.5, "false_rate": 0.5, "help": 0.5, "achieved": 0.9, "silent": 0.1}


def test_type_one_error():
    found = type_one(400, np.random.default_rng(4))
    assert found["within"] and len(found["kinds"]) == 5
    assert all(0 < kind["rate"] < 0.1 for kind in found["kinds"].values())
    assert found["uncorrected"]["rate"] > 0.4


def test_alarms_see_what_they_can_see():
    found = alarms(3000, 12, np.random.default_rng(5))
    rows = {(r["change"], r["stream"]): r for r in found["rows"]}
    assert {c for c, _ in rows} == set(CHANGES)
    wear, verifier, ambiguity = CHANGES
    assert rows[wear, "hand-over"]["median_delay"] < 200
    assert rows[ambiguity, "ask"]["median_delay"] < 500
    # A worse verifier is invisible without audits.
    assert rows[verifier, "any free stream"]["detected"] < 0.2
    assert rows[verifier, "audited silent failure, 100 % audits"]["median_delay"] < 600
    assert all(r["false_rate"] <= 0.1 for r in found["rows"])
    assert found["risks"][verifier]["silent"] > 1.5 * found["risks"]["before"]["silent"]


@pytest.mark.slow
def test_the_evaluation_returns_the_keys_it_names():
    options = EvalOptions(quick=True, seed=1, extra={"deployments": 6, "population": 1500, "runs": 4})
    result = run(options)
    assert {"rate", "se"} <= set(result["type1"])
    assert all(set(row) >= KEYS for row in result["methods"].values())
    assert all({"change", "stream", "median_delay", "false_rate"} <= set(row) for row in result["alarms"])
    assert len(result["cells"]) >= 8 and len(result["table"]) == 9 * len(result["cells"])


def test_overall_keeps_the_worst_cell():
    results = [
        evaluate_cell(replace(CELLS[12], name=str(i), episodes=100), 800, 5, np.random.default_rng(i)) for i in (0, 1)
    ]
    found = overall(results)["best-looking setting"]
    assert found["worst_false_rate"] >= found["false_rate"]


def test_every_setting_verifies_as_it_says(population):
    for s in (SETTINGS[0], SETTINGS[-1]):
        done = acts(population, s)
        assert np.all(tried(population, s).lowest[done] >= s.strictness)
