"""Calibrating, deciding and scoring, each against a peer in the same run.

Peers: MAPIE for calibrating and for the sets; scoring each option by itself for scoring.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from handrail.decide.calibration import Calibration
from handrail.decide.policy import decide
from handrail.domain.option import Option, Score, not_listed


def timed(call: Callable[[], Any], times: int) -> float:
    """Median seconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return median(taken)


def mapie(scores: np.ndarray) -> float | None:
    """Seconds that MAPIE takes to calibrate on as many binary cases with these scores; None where it isn't installed."""
    try:
        from mapie.classification import SplitConformalClassifier
        from sklearn.base import BaseEstimator, ClassifierMixin
    except ImportError:
        return None

    class Table(ClassifierMixin, BaseEstimator):
        def fit(self, _x: Any, _y: Any) -> Any:
            self.classes_ = np.arange(2)
            self.fitted_ = True
            return self

        def predict_proba(self, x: Any) -> Any:
            return np.asarray(x)

        def predict(self, x: Any) -> Any:
            return np.asarray(x).argmax(1)

    probs = np.stack([1 - scores, scores], axis=1)
    labels = (np.arange(len(scores)) % 7 == 0).astype(int)
    model = SplitConformalClassifier(
        Table().fit(probs, labels), confidence_level=0.85, conformity_score="lac", prefit=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        model.conformalize(probs, labels)
        model.predict_set(probs[:1])
        return time.perf_counter() - began


def calibrating(n: int) -> dict[str, Any]:
    """A million scores to a threshold."""
    scores = np.random.default_rng(0).random(n)
    ours = timed(lambda: Calibration.make(scores, 0.15).threshold(), 5)
    sure = timed(lambda: Calibration.make(scores, 0.15, 0.01).threshold(), 5)
    theirs = mapie(scores)
    return {
        "scores": n,
        "seconds": ours,
        "seconds_with_delta": sure,
        "mapie_seconds": theirs,
        "ratio": theirs / ours if theirs else None,
        "budget_seconds": 0.2,
    }


def deciding() -> dict[str, Any]:
    """One decision over five options, the calibration's digest and threshold known."""
    calibration = Calibration.make(np.random.default_rng(0).random(400), 0.15, 0.01)
    options = [Option(f"k{i}", f"bring the thing {i}") for i in range(4)] + [not_listed()]
    one = [Score(v, "letters") for v in (-0.1, -6.0, -7.0, -6.5, -8.0)]
    many = [Score(v, "letters") for v in (-1.0, -1.1, -1.2, -1.3, -1.4)]
    rows = {}
    for name, scores in (("act", one), ("ask", many)):
        decide(options, scores, calibration)
        rows[name] = timed(lambda s=scores: [decide(options, s, calibration) for _ in range(200)], 15) / 200 * 1e6
    asked = decide(options, many, calibration)
    rows["ask with its question"] = timed(lambda: [type(asked).question.func(asked) for _ in range(20)], 7) / 20 * 1e6
    return {"microseconds": rows, "budget_microseconds": 50}


def scoring(times: int) -> dict[str, Any] | None:
    """Five options with the embedded model: letters in one pass, texts after one prompt, against naive scoring.

    The pass it is measured against is one generated token after the same text in the chat template (some 20 tokens more);
    "prompt and tokens" adds the plain generation of as many tokens as the options have.
    """
    try:
        from handrail.language.embedded import Embedded, available
    except ImportError:
        return None
    if available():
        return None
    from handrail.intent.scores import Context
    from handrail.intent.scores.letters import LABELS
    from handrail.intent.scores.prompts import continuation, lettered, spoken
    from handrail.language.records import Message

    model = Embedded(threads=1)
    context = Context("a cola, an apple, a metal bowl and a plastic bowl", "Bring me something to drink.")
    words = [f"bring the {w} to you" for w in ("cola", "apple", "metal bowl", "plastic bowl")] + ["do something else"]
    labels = LABELS[:5]
    question, prompt = lettered(context, words, labels), spoken(context)
    texts = [continuation(w) for w in words]
    tokens = sum(len(model.tokenise(t)) for t in texts)
    # one token generated after the same text: a forward pass over the prompt, and nothing scored
    first = timed(lambda: model.chat([Message("user", question)], max_tokens=1), times)
    letters = timed(lambda: model.letters(question, labels), times)
    together = timed(lambda: model.likelihoods(prompt, texts), times)
    apart = timed(lambda: [model.likelihoods(prompt, [t]) for t in texts], max(1, times // 2))
    alone = timed(lambda: model.chat([Message("user", prompt)], max_tokens=1), times)
    say = [Message("user", "Count from one to fifty in words.")]
    written = model.chat(say, max_tokens=64).tokens
    short, long = (timed(lambda n=n: model.chat(say, max_tokens=n), times) for n in (1, 64))
    per_token = max(1e-9, (long - short) / max(1, written - 1))
    model.close()
    return {
        "letters_over_one_pass": letters / first,
        "letters_budget": 1.2,
        "texts_over_prompt_and_tokens": together / (alone + tokens * per_token),
        "texts_budget": 1.2,
        "one_prompt_over_one_each": together / apart,
        "seconds": {"one pass": first, "letters": letters, "texts": together, "texts one by one": apart},
        "option_tokens": tokens,
        "milliseconds_per_token": per_token * 1e3,
    }


def run(quick: bool) -> dict[str, Any]:
    """All three."""
    return {
        "calibrating": calibrating(100_000 if quick else 1_000_000),
        "deciding": deciding(),
        "scoring": scoring(3 if quick else 9) or "the embedded model is not installed",
    }
