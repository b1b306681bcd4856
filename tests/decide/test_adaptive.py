from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.decide.adaptive import LAC, Method
from handrail.decide.conformal import softmax, threshold
from handrail.domain.option import Score
from handrail.errors import ConfigError

APS = Method("aps")
probabilities = st.lists(st.floats(-6, 0), min_size=2, max_size=7).map(softmax)


def test_by_hand():
    assert APS.strangeness([0.2, 0.5, 0.3]) == pytest.approx([1.0, 0.5, 0.8])
    assert Method("raps", penalty=0.1, free_rank=1).strangeness([0.2, 0.5, 0.3]) == pytest.approx([1.2, 0.5, 0.9])
    assert APS.strangeness([0.4, 0.4, 0.2]) == pytest.approx([0.8, 0.8, 1.0])
    assert APS.case_score([0.2, 0.5, 0.3], [0, 2]) == pytest.approx(0.8)
    assert APS.members([0.2, 0.5, 0.3], 0.8000001) == [1, 2]
    assert LAC.members([0.2, 0.5, 0.3], 0.7) == [1, 2]


@given(probabilities, st.randoms())
def test_the_order_of_options_is_irrelevant(probs, random):
    order = list(range(len(probs)))
    random.shuffle(order)
    for method in (LAC, APS, Method("raps", 0.05, 2)):
        once = method.strangeness(probs)
        again = method.strangeness([probs[i] for i in order])
        assert again == pytest.approx([once[i] for i in order])


@given(probabilities, st.data())
def test_likelier_options_are_never_stranger(probs, data):
    method = data.draw(st.sampled_from([LAC, APS, Method("raps", 0.1, 1)]))
    strange = method.strangeness(probs)
    for i, p in enumerate(probs):
        for j, q in enumerate(probs):
            if p > q:
                assert strange[i] <= strange[j]


@pytest.mark.parametrize("method", [LAC, APS, Method("raps", 0.1, 1)])
def test_nan_fails_towards_asking(method):
    assert method.case_score([math.nan, 0.5], [0]) == math.inf
    assert 0 in method.members([math.nan, 0.9], 0.2)
    with pytest.raises(ConfigError):
        method.members([0.5, 0.5], math.nan)


def test_an_upper_bound_is_the_worst_in_calibration_and_stays_in_use():
    made = [Score(0.0, "letters"), Score(-0.1, "letters", upper_bound=True), Score(-3.0, "letters")]
    assert LAC.score_of(made, [1]) == math.inf
    assert LAC.score_of(made, [1, 2]) == LAC.score_of(made, [2]) < math.inf
    assert LAC.score_of(made, [0]) == pytest.approx(1 - softmax([0.0, -0.1, -3.0])[0])
    assert 1 in LAC.members(softmax([s.value for s in made]), 0.6)


def test_misuse():
    for bad in ({"name": "best"}, {"name": "raps", "penalty": -1}, {"name": "aps", "penalty": 0.5}):
        with pytest.raises(ConfigError):
            Method(**bad)


def test_agrees_with_mapie():
    """100 random problems, on every membership."""
    scores = pytest.importorskip("mapie.conformity_scores")
    base = pytest.importorskip("sklearn.base")
    mapie = pytest.importorskip("mapie.classification")

    class Table(base.ClassifierMixin, base.BaseEstimator):
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

    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(100):
        classes, n = int(rng.integers(3, 7)), int(rng.integers(30, 100))
        logits = rng.normal(0, 1.5, size=(n + 20, classes))
        probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        labels = np.array([rng.choice(classes, p=p) for p in probs])
        labels[:classes] = np.arange(classes)
        eps = float(rng.choice([0.1, 0.2, 0.3]))
        # MAPIE draws u and calibrates on score - u p(y), then keeps the option that crosses the threshold,
        # that is score - p < threshold: the same cumulative sums and ranks, randomised
        u = np.random.RandomState(3).uniform(size=n)
        cases = zip(probs[:n], labels[:n], u, strict=True)
        q = threshold([APS.case_score(list(p), [y]) - x * p[y] for p, y, x in cases], eps)
        split = mapie.SplitConformalClassifier(
            Table(classes).fit(probs, labels),
            confidence_level=1 - eps,
            conformity_score=scores.APSConformityScore(),
            prefit=True,
            random_state=3,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            split.conformalize(probs[:n], labels[:n])
            _, sets = split.predict_set(probs[n:], conformity_score_params={"include_last_label": True})
        for p, theirs in zip(probs[n:], sets[:, :, 0], strict=True):
            ours = [i for i, s in enumerate(APS.strangeness(list(p))) if s - p[i] < q]
            assert ours == list(np.flatnonzero(theirs))
            compared += classes
    assert compared > 100 * 20 * 2
