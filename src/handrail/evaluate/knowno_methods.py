"""Methods, outcomes and intervals for the comparison: everything but the data.

An outcome of one decision:

    plan        the right option is in the set (the paper's plan success: a perfect person picks it when asked; where nothing
                listed is right, the not-listed option is)
    task        the same and a *listed* option was right, so that the task could be done and not merely handed over
    help        the set is not one listed option
    silent      acted alone, and wrong
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from handrail.decide.adaptive import LAC, Method
from handrail.decide.baselines import binary_set, ensemble_set, no_help, prompt_set, says_certain, simple_set
from handrail.decide.conformal import Floats, episode_score, threshold
from handrail.decide.rank import minimum_n, rank
from handrail.evaluate.knowno_cases import Case, probabilities
from handrail.intent.scores.letters import LABELS

UNCALIBRATED = ("Simple Set", "Ensemble Set", "Prompt Set", "Binary", "No Help")
OUTCOMES = ("plan", "task", "help", "silent", "size")
APS = Method("aps")


@dataclass(frozen=True)
class Level:
    """What is asked of a method: accepted misses, and the chance of an unlucky calibration (None: on average)."""

    epsilon: float
    delta: float | None


Rule = Callable[[Case], Sequence[int]]
Maker = Callable[[Sequence[Case], Level], Rule]
"""Makes a rule (case -> set) from calibration cases; baselines ignore them."""


def conformal(kind: str, method: Method = LAC, temperature: float = 1.0, marginal: bool = False) -> Maker:
    """KnowNo's rule on a kind of score; episodes are calibrated by their strangest step."""

    def make(calibration: Sequence[Case], level: Level) -> Rule:
        scores = grouped_scores(calibration, lambda c: method.case_score(probabilities(c, kind, temperature), c.right))
        q = threshold(scores, level.epsilon, None if marginal else level.delta)
        return lambda case: method.members(probabilities(case, kind, temperature), q)

    return make


def naive(kind: str) -> Maker:
    """Per-step calibration that forgets that an episode has several steps."""

    def make(calibration: Sequence[Case], level: Level) -> Rule:
        scores = [LAC.case_score(probabilities(c, kind), c.right) for c in calibration]
        q = threshold(scores, level.epsilon, level.delta)
        return lambda case: LAC.members(probabilities(case, kind), q)

    return make


def grouped_scores(cases: Sequence[Case], score: Callable[[Case], float]) -> list[float]:
    """One score per episode, or per case where there are no episodes."""
    steps: dict[str, list[float]] = {}
    for case in cases:
        steps.setdefault(case.episode or case.key, []).append(score(case))
    return [episode_score(s) for s in steps.values()]


def simple(kind: str) -> Maker:
    """Simple Set."""
    return lambda _, level: lambda case: simple_set(probabilities(case, kind), level.epsilon)


def without_help(kind: str) -> Maker:
    """No Help."""
    return lambda _, __: lambda case: no_help(probabilities(case, kind))


def ensemble() -> Maker:
    """Ensemble Set, from recorded votes."""
    return lambda _, level: lambda case: ensemble_set(
        [v if v >= 0 else None for v in case.record.votes], len(case.record.order), level.epsilon
    )


def stated() -> Maker:
    """Prompt Set, from the recorded answer."""
    return lambda _, __: lambda case: prompt_set(case.record.answers["set"], LABELS[: len(case.record.order)])


def binary(kind: str) -> Maker:
    """Binary, from the recorded answer."""
    return lambda _, __: lambda case: binary_set(
        probabilities(case, kind), says_certain(case.record.answers["certain"])
    )


def outcome(case: Case, kept: Sequence[int]) -> tuple[float, float, float, float, float]:
    """See the module; in the order of `OUTCOMES`."""
    hit = any(i in kept for i in case.right)
    alone = len(kept) == 1 and kept[0] != case.other
    return float(hit), float(hit and case.listed), float(not alone), float(alone and not hit), float(len(kept))


def trials(cases: Sequence[Case]) -> list[list[Case]]:
    """Episodes as lists of steps; single decisions as lists of one."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.episode or case.key, []).append(case)
    return list(found.values())


def episode_outcome(steps: Sequence[Case], rule: Rule) -> tuple[list[float], float]:
    """A whole trial's outcome, and its help per step.

    An episode succeeds where every step does; help is whether any step asked; the set size is the mean.
    """
    each = np.array([outcome(case, rule(case)) for case in steps])
    whole = [each[:, 0].min(), each[:, 1].min(), each[:, 2].max(), each[:, 3].max(), each[:, 4].mean()]
    return [float(w) for w in whole], float(each[:, 2].mean())


def splits(
    cases: Sequence[Case], makers: Mapping[str, Maker], level: Level, count: int, share: float, rng: np.random.Generator
) -> dict[str, dict[str, Any]]:
    """Many random splits into calibration and test, by trial.

    Args:
        cases: all of one suite.
        makers: methods by name.
        level: what is asked.
        count: number of splits.
        share: of the trials that calibrates.
        rng: of the splits.

    Returns:
        By method: each outcome's mean with half a 95 % interval over *trials* (splits share their trials, so that an interval
        over splits would be too narrow), and help per step; `n` calibration trials. Methods whose level can't be met with so
        few trials have "infeasible" with the number that would do.
    """
    every = trials(cases)
    n = max(1, round(share * len(every)))
    found: dict[str, dict[str, Any]] = {}
    needed = {m: 0 if m.startswith(UNCALIBRATED) else minimum_n(level.epsilon, level.delta) for m in makers}
    needed |= {m: minimum_n(level.epsilon) for m in makers if m.endswith("on average)")}
    able = {m: maker for m, maker in makers.items() if n >= needed[m]}
    sums = {m: np.zeros((len(every), len(OUTCOMES) + 1)) for m in able}
    seen = np.zeros(len(every))
    for _ in range(count):
        order = rng.permutation(len(every))
        cal = [c for i in order[:n] for c in every[i]]
        rules = {name: maker(cal, level) for name, maker in able.items()}
        for i in order[n:]:
            seen[i] += 1
            for name, rule in rules.items():
                whole, per_step = episode_outcome(every[i], rule)
                sums[name][i] += [*whole, per_step]
    used = seen > 0
    for name, total in sums.items():
        means = total[used] / seen[used, None]
        row: dict[str, Any] = {"n": n, "trials": len(every)}
        for column, label in enumerate((*OUTCOMES, "help_per_step")):
            row[label] = float(means[:, column].mean())
            row[f"{label}_ci"] = float(1.96 * means[:, column].std(ddof=1) / math.sqrt(len(means)))
        found[name] = row
    for name in makers.keys() - able.keys():
        found[name] = {"infeasible": f"{n} calibration trials; {needed[name]} would do"}
    return {name: found[name] for name in makers}


@dataclass(frozen=True)
class Operating:
    """What every threshold on one kind of score does to every trial, without any calibration: what the score is worth.

    Attributes:
        hit: plan success, shape (thresholds, trials), thresholds rising.
        asked: help, likewise.
        size: mean set size of the trial's steps, likewise.
    """

    hit: Floats
    asked: Floats
    size: Floats

    def least(self, what: str, success: float, columns: npt.NDArray[np.int64] | None = None) -> float:
        """Least mean help ("asked") or set size ("size") with which a plan success is reached.

        NaN where it never is; with `columns`, over these trials only.
        """
        hit, value = self.hit, np.asarray(getattr(self, what))
        if columns is not None:
            hit, value = hit[:, columns], value[:, columns]
        enough = hit.mean(axis=1) >= success
        return float(value.mean(axis=1)[enough].min()) if enough.any() else math.nan


def operating(cases: Sequence[Case], kind: str, points: int = 60) -> Operating:
    """The operating points of a kind of score, on thresholds spread over the right options' own scores."""
    every = trials(cases)
    starts: list[int] = []
    label: list[float] = []
    top: list[float] = []
    second: list[float] = []
    listed: list[bool] = []
    sets: list[list[float]] = []
    for steps in every:
        starts.append(len(label))
        for case in steps:
            strange = [1.0 - p for p in probabilities(case, kind)]
            order = sorted(range(len(strange)), key=lambda i: strange[i])
            label.append(LAC.case_score(probabilities(case, kind), case.right))
            top.append(strange[order[0]])
            second.append(strange[order[1]])
            listed.append(order[0] != case.other)
            sets.append(strange)
    values = np.unique(np.array(label))
    values = values[np.isfinite(values)]
    q = values[np.unique(np.linspace(0, len(values) - 1, min(points, len(values))).astype(int))][:, None]
    hit = np.array(label) <= q
    alone = (np.array(top) <= q) & (np.array(second) > q) & np.array(listed)
    size = np.array([[sum(s <= limit for s in strange) for strange in sets] for limit in q[:, 0].tolist()], dtype=float)
    steps_in = np.diff([*starts, len(label)])
    return Operating(
        np.logical_and.reduceat(hit, starts, axis=1).astype(float),
        (~np.logical_and.reduceat(alone, starts, axis=1)).astype(float),
        np.add.reduceat(size, starts, axis=1) / steps_in,
    )


def difference(
    first: Operating, second: Operating, what: str, success: float, rng: np.random.Generator, draws: int = 1000
) -> dict[str, float]:
    """Help or set size of the first minus the second's, both at one plan success, with a bootstrap interval over trials.

    Both must have been computed on the same trials: they are drawn together. Draws in which one of them can't reach the
    success are left out; `reached` is the share of the others.
    """
    count = first.hit.shape[1]
    values = []
    for _ in range(draws):
        columns = np.asarray(rng.integers(0, count, count), dtype=np.int64)
        values.append(first.least(what, success, columns) - second.least(what, success, columns))
    usable = [v for v in values if v == v]
    low, high = np.quantile(usable, [0.025, 0.975]) if usable else (math.nan, math.nan)
    point = first.least(what, success) - second.least(what, success)
    return {"difference": point, "low": float(low), "high": float(high), "reached": len(usable) / draws}


def expected(n: int, level: Level) -> float:
    """Coverage that theory expects of n calibration trials; nan where the level can't be met."""
    if n < minimum_n(level.epsilon, level.delta):
        return math.nan
    return rank(n, level.epsilon, level.delta).expected_coverage
