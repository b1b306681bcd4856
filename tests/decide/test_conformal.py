"""Sets and thresholds: worked values, laws, and two libraries as oracles."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.decide.conformal import (
    case_score,
    confidences,
    episode_score,
    label_of,
    membership,
    nonconformity,
    prediction_set,
    softmax,
    threshold,
)
from handrail.domain.option import Score
from handrail.errors import ConfigError

WORKED = json.loads((Path(__file__).parent / "conformal.json").read_text())["worked_examples"]


def number(value):
    return math.inf if value == "inf" else value


def test_single_step():
    for row in WORKED["single_step"]:
        assert threshold(WORKED["single_step_scores"], row["epsilon"]) == number(row["qhat"])


def test_ties():
    for row in WORKED["ties"]["cases"]:
        assert threshold(WORKED["ties"]["scores"], row["epsilon"]) == row["qhat"]


def test_prediction_sets():
    probs = WORKED["prediction_set"]["probs"]
    for row in WORKED["prediction_set"]["sets"]:
        limit = number(row["qhat"])
        # thresholds are calibration scores, made by the same expression: put them on the point itself
        near = [nonconformity(p) for p in probs if abs(1 - p - limit) < 1e-9]
        limit = near[0] if near else limit
        assert prediction_set(probs, limit) == row["set"]
        assert list(np.flatnonzero(membership([probs], limit)[0])) == row["set"]


def test_episodes():
    case = WORKED["multi_step"]
    steps = case["p_true_per_step"]
    assert [min(s) for s in steps] == case["sequence_confidence_min"]
    scores = [episode_score(nonconformity(p) for p in s) for s in steps]
    assert scores == pytest.approx(case["sequence_scores"])
    assert threshold(scores, 0.25) == pytest.approx(case["qhat_eps_0.25_N4"])
    assert threshold(scores, 0.2) == threshold(scores, 0.25)
    assert threshold(scores, 0.19) == math.inf


def test_several_acceptable():
    case = WORKED["multi_label"]
    assert label_of(case["probs"], case["acceptable"]) == case["label_used"]
    assert case_score(case["probs"], case["acceptable"]) == pytest.approx(case["score"])


def test_temperature():
    case = WORKED["temperature"]
    assert softmax(case["logprobs"], case["T"]) == pytest.approx(case["softmax"], abs=1e-9)


@pytest.mark.parametrize(
    ("probs", "acceptable"), [([0.5, math.nan], [1]), ([0.5, 0.5], []), ([math.nan] * 3, [0, 1, 2]), ([1.5, 0.1], [0])]
)
def test_a_case_without_a_usable_label_is_infinitely_strange(probs, acceptable):
    assert case_score(probs, acceptable) == math.inf


def test_nan_fails_closed_on_both_sides():
    assert prediction_set([0.9, math.nan, 0.1], 0.3) == [0, 1]
    assert membership([[0.9, math.nan, 0.1]], 0.3).tolist() == [[True, True, False]]
    assert threshold([0.1, math.nan, 0.2, 0.3], 0.5) == 0.3
    assert threshold([0.1, math.nan, 0.2, 0.3], 0.2) == math.inf


def test_scores_that_can_not_be_normalised():
    for values in ([math.nan, 0.0], [-math.inf, -math.inf], [math.inf, 0.0]):
        assert all(math.isnan(p) for p in confidences([Score(v, "letters") for v in values]))
    for values in ([0.0, 0.0], [-0.1, 1.1], [math.nan, 0.5]):
        scores = [Score(v, "sampling", "probability") for v in values]
        assert all(math.isnan(p) for p in confidences(scores))
    assert confidences([Score(-math.inf, "letters"), Score(0.0, "letters")]) == [0.0, 1.0]
    assert confidences([]) == []
    with pytest.raises(ConfigError, match="scale"):
        confidences([Score(0.5, "a", "probability"), Score(-1.0, "b")])


@pytest.mark.parametrize("bad", [[], [[0.1]], [-math.inf, 0.2]])
def test_bad_calibration_scores(bad):
    with pytest.raises(ConfigError):
        threshold(bad, 0.2)


def test_other_misuse():
    with pytest.raises(ConfigError, match="threshold"):
        prediction_set([0.5], math.nan)
    with pytest.raises(ConfigError, match="without steps"):
        episode_score([])
    with pytest.raises(ConfigError, match="not among"):
        label_of([0.5, 0.5], [2])
    with pytest.raises(ConfigError, match="temperature"):
        softmax([0.0], 0)


probabilities = st.lists(st.floats(-20, 0), min_size=2, max_size=8).map(softmax)


@given(probabilities, st.data())
def test_the_calibration_point_itself_is_in_its_set(probs, data):
    """What a comparison in probability space gets wrong in 37 % of draws."""
    label = data.draw(st.integers(0, len(probs) - 1))
    assert label in prediction_set(probs, case_score(probs, [label]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 99))
def test_enough_scores_lie_at_or_below_the_threshold(scores, percent):
    q = threshold(scores, percent / 100)
    k = len(scores) + 1 - (len(scores) + 1) * percent // 100
    if k > len(scores):
        assert q == math.inf
    else:
        assert q in scores
        assert sum(s <= q for s in scores) >= k
        assert sum(s < q for s in scores) < k


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.integers(2, 60))
def test_thresholds_fall_as_more_misses_are_accepted(scores, percent):
    assert threshold(scores, percent / 100) <= threshold(scores, (percent - 1) / 100)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_with_true_probabilities_no_sets_of_that_size_cover_more(seed):
    """Eq. 3, by brute force over every rule on a small world: the threshold sets are the smallest at their level."""
    rng = np.random.default_rng(seed)
    contexts, options = 3, 3
    weight = rng.dirichlet(np.ones(contexts))
    truth = rng.dirichlet(np.ones(options), size=contexts)
    limit = float(rng.choice((1 - truth).ravel()))
    ours = membership(truth, limit)
    coverage = float((weight[:, None] * truth * ours).sum())
    size = float((weight[:, None] * ours).sum())
    for rule in itertools.product([0, 1], repeat=contexts * options):
        other = np.array(rule).reshape(contexts, options)
        if (weight[:, None] * truth * other).sum() >= coverage - 1e-12:
            assert (weight[:, None] * other).sum() >= size - 1e-9


def _problem(rng):
    classes = int(rng.integers(2, 7))
    n, tests = int(rng.integers(20, 120)), 25
    logits = rng.normal(0, rng.uniform(0.5, 3), size=(n + tests, classes))
    probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = np.array([rng.choice(classes, p=p) for p in probs])
    labels[:classes] = np.arange(classes)  # the oracle wants to see every class
    return probs[:n], labels[:n], probs[n:], float(rng.choice([0.05, 0.1, 0.15, 0.2, 0.3]))


def test_agrees_with_two_libraries_on_every_membership():
    """300 random problems, LAC: crepes' hinge for all, MAPIE for all where it gives an answer (k <= n)."""
    crepes = pytest.importorskip("crepes")
    mapie = pytest.importorskip("mapie.classification")
    base = pytest.importorskip("sklearn.base")

    class Table(base.ClassifierMixin, base.BaseEstimator):
        """A classifier that reads its probabilities off its input."""

        def __init__(self, classes=2):
            self.classes = classes

        def fit(self, x, y):
            self.classes_ = np.arange(self.classes)
            self.fitted_ = True
            return self

        def predict_proba(self, x):
            return np.asarray(x)

        def predict(self, x):
            return np.asarray(x).argmax(1)

    rng = np.random.default_rng(5)
    compared = {"crepes": 0, "mapie": 0}
    for _ in range(300):
        cal, labels, new, eps = _problem(rng)
        ours = membership(new, threshold(1 - cal[np.arange(len(cal)), labels], eps))
        hinge = crepes.ConformalClassifier().fit(alphas=1 - cal[np.arange(len(cal)), labels])
        # it keeps p-values of exactly epsilon, one rank more than needed where (n + 1) epsilon is whole: the
        # nudge asks for p > epsilon, which is the rule
        theirs = hinge.predict_set(alphas=1 - new, confidence=1 - eps - 1e-12, smoothing=False)
        assert (np.asarray(theirs).astype(bool) == ours).all()
        compared["crepes"] += ours.size
        model = Table(cal.shape[1]).fit(cal, labels)
        split = mapie.SplitConformalClassifier(model, confidence_level=1 - eps, conformity_score="lac", prefit=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            split.conformalize(cal, labels)
            _, sets = split.predict_set(new)
        assert (sets[:, :, 0].astype(bool) == ours).all()
        compared["mapie"] += ours.size
    assert min(compared.values()) > 300 * 25 * 2


def test_coverage_follows_the_law():
    """2,000 calibrations of 60: mean and spread of the coverage against Beta(k, n + 1 - k)."""
    rng = np.random.default_rng(1)
    n, eps, runs = 60, 0.15, 2000
    # the coverage of uniform scores is the threshold itself
    coverages = np.array([threshold(rng.random(n), eps) for _ in range(runs)])
    k = 52
    mean, spread = k / (n + 1), math.sqrt(k * (n + 1 - k) / ((n + 1) ** 2 * (n + 2)))
    assert abs(coverages.mean() - mean) < 4 * spread / math.sqrt(runs)
    assert coverages.std() == pytest.approx(spread, rel=0.1)
