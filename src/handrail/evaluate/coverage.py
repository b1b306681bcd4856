"""`handrail eval coverage`: do the guarantees hold, over thousands of simulated deployments?

Nothing here needs a model. Each *deployment* draws a fresh calibration set and is then judged by its true
coverage, which is known exactly: scores are uniform, or a step function of them, so that P(score <= q) is a formula.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handrail.decide.calibration import Calibration
from handrail.decide.conformal import Floats, at_rank, episode_score, threshold
from handrail.decide.feedback import Answered, extend
from handrail.decide.rank import minimum_n, rank
from handrail.domain.option import Fingerprint
from handrail.evaluate.options import EvalOptions

CELLS = ((100, 0.05), (100, 0.15), (200, 0.1), (200, 0.2), (400, 0.05), (400, 0.15), (400, 0.25))
DELTAS = (0.01, 0.05)
STEPS = tuple(range(1, 9))


def run(options: EvalOptions) -> dict[str, Any]:
    """All five tables.

    Returns:
        deployments, and marginal, conditional, episodes, groups, audits: rows as described by each function here.
    """
    deployments = 1000 if options.quick else 10_000
    rng = np.random.default_rng(options.seed)
    result: dict[str, Any] = {"deployments": deployments}
    parts = (("marginal", marginal), ("conditional", conditional), ("episodes", episodes), ("groups", groups))
    for index, (name, part) in enumerate(parts):
        options.progress(name, index, 5)
        result[name] = part(rng, deployments)
    options.progress("audits", 4, 5)
    result["audits"] = audits(rng, 200 if options.quick else 1000)
    options.progress("done", 5, 5)
    return result


def marginal(rng: np.random.Generator, deployments: int) -> list[dict[str, float]]:
    """Mean coverage against the mean k / (n + 1) of the law, with the Monte-Carlo error of the mean.

    The coverage of uniform scores at threshold q is q itself.
    """
    rows = []
    for n, epsilon in CELLS:
        chosen = rank(n, epsilon)
        coverage = np.array([at_rank(rng.random(n), chosen) for _ in range(deployments)])
        rows.append(
            {
                "n": n,
                "epsilon": epsilon,
                "mean": float(coverage.mean()),
                "expected": chosen.expected_coverage,
                "mc_error": float(coverage.std(ddof=1) / math.sqrt(deployments)),
                "below_target": float((coverage < 1 - epsilon).mean()),
                "below_expected": chosen.probability_below(1 - epsilon),
            }
        )
    return rows


def conditional(rng: np.random.Generator, deployments: int) -> list[dict[str, float]]:
    """How often a calibration covers less than its target, against delta."""
    rows = []
    for n, epsilon in CELLS:
        for delta in DELTAS:
            if n < minimum_n(epsilon, delta):
                continue
            chosen = rank(n, epsilon, delta)
            coverage = np.array([at_rank(rng.random(n), chosen) for _ in range(deployments)])
            rows.append(
                {
                    "n": n,
                    "epsilon": epsilon,
                    "delta": delta,
                    "miss_rate": float((coverage < 1 - epsilon).mean()),
                    "expected": chosen.probability_below(1 - epsilon),
                    "mc_error": math.sqrt(delta * (1 - delta) / deployments),
                    "mean": float(coverage.mean()),
                }
            )
    return rows


def episodes(rng: np.random.Generator, deployments: int, n: int = 200, epsilon: float = 0.15) -> list[dict[str, float]]:
    """Whole episodes: the threshold of strangest steps against the naive one of single steps.

    Steps are independent, the case in which naive calibration does worst; it has n single first steps. Coverage of an
    episode is P(all steps <= q), judged on fresh episodes.
    """
    rows = []
    runs = max(200, deployments // 10)
    for steps in STEPS:
        ours, naive = [], []
        for _ in range(runs):
            cal = _steps(rng, n, steps)
            new = _steps(rng, 500, steps)
            q = threshold([episode_score(row) for row in cal.tolist()], epsilon)
            single = threshold(cal[:, 0], epsilon)
            ours.append((new.max(axis=1) <= q).mean())
            naive.append((new.max(axis=1) <= single).mean())
        rows.append(
            {
                "steps": steps,
                "sequence": float(np.mean(ours)),
                "naive": float(np.mean(naive)),
                "target": 1 - epsilon,
                "mc_error": float(np.std(ours, ddof=1) / math.sqrt(runs)),
            }
        )
    return rows


def _steps(rng: np.random.Generator, n: int, steps: int) -> Floats:
    """Nonconformities of n episodes, shape (n, steps)."""
    return rng.random((n, steps))


def groups(rng: np.random.Generator, deployments: int, epsilon: float = 0.15) -> list[dict[str, Any]]:
    """Coverage within groups: own thresholds against one pooled threshold.

    Three kinds of request with different difficulty; scores are Beta distributed, so their coverage is exact.
    """
    from scipy.stats import beta

    laws = {"easy": (200, 2.0, 8.0), "middling": (120, 3.0, 3.0), "hard": (80, 8.0, 2.0)}
    names = [g for g, (size, _, _) in laws.items() for _ in range(size)]
    runs = max(200, deployments // 5)
    own: dict[str, list[float]] = {g: [] for g in laws}
    pooled: dict[str, list[float]] = {g: [] for g in laws}
    for _ in range(runs):
        scores = np.concatenate([rng.beta(a, b, size) for size, a, b in laws.values()])
        grouped = Calibration.make(scores, epsilon, groups=names)
        single = threshold(scores, epsilon)
        for g, (_, a, b) in laws.items():
            own[g].append(float(beta.cdf(grouped.threshold(g), a, b)))
            pooled[g].append(float(beta.cdf(single, a, b)))
    return [
        {
            "group": g,
            "n": laws[g][0],
            "coverage": float(np.mean(own[g])),
            "expected": rank(laws[g][0], epsilon).expected_coverage,
            "pooled": float(np.mean(pooled[g])),
            "target": 1 - epsilon,
            "mc_error": float(np.std(own[g], ddof=1) / math.sqrt(runs)),
        }
        for g in laws
    ]


def audits(rng: np.random.Generator, deployments: int, epsilon: float = 0.15, rate: float = 0.1) -> dict[str, Any]:
    """Recalibrating from use, four ways: what is the coverage afterwards?

    A robot with 100 calibration cases works through 2,000 requests: where it asks it learns the truth. Then it
    calibrates again on everything it learned, and its coverage is judged. Options' probabilities are true (drawn from a
    Dirichlet), so that whether a case is asked about depends on how hard it is.
    """
    ways = ("all labels", "asked only", "silence taken for right", "audits, weighted")
    found: dict[str, list[float]] = {w: [] for w in ways}
    fresh_label, _, _ = _cases(rng, 40_000)
    for _ in range(deployments):
        start = _cases(rng, 100)[0]
        first = Calibration.make(start, epsilon, fingerprint=Fingerprint())
        q = first.threshold()
        label, top, second = _cases(rng, 2000)
        asked = ~((top <= q) & (second > q))
        audited = ~asked & (rng.random(label.size) < rate)
        learned = {
            "all labels": np.concatenate([start, label]),
            "asked only": np.concatenate([start, label[asked]]),
            "silence taken for right": np.concatenate([start, label[asked], top[~asked]]),
        }
        for way, scores in learned.items():
            found[way].append(float((fresh_label <= threshold(scores, epsilon)).mean()))
        cases = [Answered(s) for s in label[asked].tolist()]
        cases += [Answered(s, looked=rate) for s in label[audited].tolist()]
        weighted = extend(first, cases).threshold(weight=1.0)
        found["audits, weighted"].append(float((fresh_label <= weighted).mean()))
    return {
        "target": 1 - epsilon,
        "audit_rate": rate,
        "rows": [
            {
                "way": way,
                "coverage": float(np.mean(values)),
                "mc_error": float(np.std(values, ddof=1) / math.sqrt(deployments)),
                "spread": float(np.std(values, ddof=1)),
            }
            for way, values in found.items()
        ],
    }


def _cases(rng: np.random.Generator, n: int, options: int = 5) -> tuple[Floats, Floats, Floats]:
    """Nonconformities of n cases with true probabilities: of the label, the likeliest and the second option."""
    p = rng.dirichlet(np.full(options, 0.4), size=n)
    pick = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(0, options - 1)
    order = np.sort(1 - p, axis=1)
    return 1 - p[np.arange(n), pick], order[:, 0], order[:, 1]

