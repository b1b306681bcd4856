"""Making a calibration for goal readings from labelled requests.

The requests are cut in two: the first part fits the fusion's weights, the rest calibrates. Nothing of the second part has any
say in how it is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from handrail.decide.adaptive import LAC, Method
from handrail.decide.calibration import Calibration
from handrail.decide.conformal import softmax
from handrail.decide.goals import FEATURES, WORDS, scorer_of
from handrail.decide.rank import Level
from handrail.domain import State
from handrail.domain.option import Option
from handrail.errors import ConfigError
from handrail.intent.scores.fusion import Floats, fit
from handrail.intent.scores.scorer import Context
from handrail.intent.scores.texts import Texts
from handrail.intent.symbolic import SymbolicReader
from handrail.language.model import Model

Likelihood = Callable[["Labelled", Context, Sequence[Option]], Sequence[float]]
"""The model's score (pmi) of each option; a hook for recorded numbers."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A request whose meaning is known.

    Attributes:
        key: names it.
        request: the person's words.
        right: keys of the goals that would do; empty where no goal of the scene would.
        group: its kind, for group-conditional calibration and for plots.
    """

    key: str
    request: str
    right: frozenset[str]
    group: str = ""


@dataclass(frozen=True)
class Judged:
    """One calibration case as plots and reports need it.

    Attributes:
        key: the request's.
        group: its kind.
        probabilities: one per option.
        right: indices of the options that would do.
        other: index of the not-listed option.
        listed: whether one of the listed options would do.
    """

    key: str
    group: str
    probabilities: tuple[float, ...]
    right: tuple[int, ...]
    other: int
    listed: bool = True


@dataclass(frozen=True)
class Made:
    """A calibration and the cases it rests on."""

    calibration: Calibration
    cases: list[Judged] = field(default_factory=list)


def right_indices(options: Sequence[Option], right: frozenset[str]) -> tuple[int, ...]:
    """The options that would do; the not-listed one where no listed one would."""
    found = tuple(i for i, o in enumerate(options) if o.key in right)
    return found or tuple(i for i, o in enumerate(options) if o.is_not_listed)


def calibrate(
    state: State,
    labelled: Sequence[Labelled],
    model: Model | None,
    epsilon: Level,
    delta: Level | None = None,
    *,
    tuning: int = 60,
    by_group: bool = False,
    method: Method = LAC,
    likelihood: Likelihood | None = None,
    notes: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Score labelled requests and calibrate.

    Args:
        state: the scene they were said in.
        labelled: requests as they come in use; the first `tuning` fit the weights.
        model: scores texts; None for words alone.
        epsilon: accepted share of misses.
        delta: accepted probability of an unlucky calibration; None for the promise on average.
        tuning: how many fit the weights, at least 20.
        by_group: a threshold for each kind of request.
        method: the nonconformity.
        likelihood: the model's numbers from elsewhere than the model.
        notes: facts for people that go into the file.
        progress: called with (done, total).

    Raises:
        ConfigError: too few requests for the level; the message says how many would do.
        ModelError: the model failed.
    """
    if tuning < 20 or len(labelled) <= tuning:
        raise ConfigError(f"need at least 20 requests to fit the weights and more to calibrate, got {len(labelled)}")
    reader = SymbolicReader(state)
    names = FEATURES if model is not None else WORDS
    score = likelihood or (_asked(model) if model is not None else None)
    rows: list[tuple[Labelled, list[Option], Floats, tuple[int, ...]]] = []
    for index, one in enumerate(labelled):
        if progress is not None:
            progress(index, len(labelled))
        options = reader.read(one.request)
        context = reader.context(one.request, options)
        columns = [[s.value for s in scorer.score(context, options)] for scorer in reader.scorers]
        if score is not None:
            columns.insert(0, list(score(one, context, options)))
        rows.append((one, options, np.array(columns).T, right_indices(options, one.right)))
    first = rows[:tuning]
    weights = fit(names, [x for _, _, x, _ in first], [r for _, _, _, r in first], nonnegative=True)
    cases = []
    for one, options, x, right in rows[tuning:]:
        shares = tuple(softmax(weights.utility(x).tolist()))
        listed = any(not options[i].is_not_listed for i in right)
        cases.append(Judged(one.key, one.group, shares, right, len(options) - 1, listed))
    _, options, _, _ = rows[0]
    scorer = scorer_of(reader, weights, model)
    made_with = scorer.provenance.merged(reader.fingerprint)
    about = {
        "fusion": {"names": list(weights.names), "values": list(weights.values), "cases": weights.cases},
        "date": date.today().isoformat(),
        "domain": state.objects.domain.name,
        "requests": {"fitted on": tuning, "calibrated on": len(cases)},
        **(notes or {}),
    }
    calibration = Calibration.make(
        [method.case_score(c.probabilities, c.right) for c in cases],
        epsilon,
        delta,
        fingerprint=made_with,
        method=method,
        groups=[c.group for c in cases] if by_group else None,
        notes=about,
    )
    return Made(calibration, cases)


def _asked(model: Model) -> Likelihood:
    texts = Texts(model, "pmi")
    return lambda _, context, options: [s.value for s in texts.score(context, options)]
