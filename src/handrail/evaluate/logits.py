"""`handrail eval logits`: coverage on real logits of three open models.

The data are the option logits of LLM-Uncertainty-Bench (MIT licence; 2,000 questions with six options, three models,
three prompts), read from the data folder and not part of this package. Labels are *pseudo-labels*, drawn from the
consensus of three larger models: fit to test coverage, never to claim accuracy.
"""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handrail.decide.conformal import Floats, membership, threshold
from handrail.errors import ParseError, Where
from handrail.evaluate.options import EvalOptions

Ints = npt.NDArray[np.int64]
OPTIONS = ("A", "B", "C", "D", "E_idk", "F_none")
CALIBRATION = 400


def run(options: EvalOptions, epsilon: float = 0.15) -> dict[str, Any]:
    """Coverage and set size of LAC, APS and Simple Set over many splits.

    Returns:
        target, splits, calibration, rows: [{model, prompt, method, coverage, coverage_se, size, alone, ...}].
    """
    folder = options.need_data("llm_uq_bench")
    labels, logits = read(folder)
    splits = 60 if options.quick else 400
    rows = []
    for index, ((model, prompt), values) in enumerate(sorted(logits.items())):
        options.progress(f"{model} {prompt}", index, len(logits))
        probs = softmax_rows(values)
        rng = np.random.default_rng([options.seed, index])
        rows += [{"model": model, "prompt": prompt, **row} for row in compare(probs, labels, epsilon, splits, rng)]
    options.progress("done", len(logits), len(logits))
    return {"target": 1 - epsilon, "splits": splits, "calibration": CALIBRATION, "labels": "pseudo", "rows": rows}


def read(folder: Path) -> tuple[Ints, dict[tuple[str, str], Floats]]:
    """Labels (questions,) and, by (model, prompt), logits (questions, options).

    Raises:
        ParseError: a row that can't be read, or questions that don't fit together.
    """
    table = folder / "mmlu_option_logits_2000x3.csv.gz"
    by_id: dict[str, int] = {}
    with (folder / "mmlu_consensus_2000.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_id[row["id"]] = "ABCDEF".index(row["consensus_sampled_seed12345"])
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    with gzip.open(table, "rt", newline="", encoding="utf-8") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                values = [float(row[o]) for o in OPTIONS]
            except (KeyError, TypeError, ValueError) as error:
                raise ParseError(f"six logits expected: {error}", Where(str(table), line)) from error
            if not all(map(math.isfinite, values)) or row["id"] not in by_id:
                raise ParseError("a logit that is no number, or a question without a label", Where(str(table), line))
            found.setdefault((row["model"], row["prompt"]), {})[row["id"]] = values
    ids = sorted(by_id, key=int)
    labels = np.array([by_id[i] for i in ids], dtype=np.int64)
    out = {}
    for key, rows in found.items():
        if set(rows) != set(ids):
            raise ParseError(f"{key}: {len(rows)} of {len(ids)} questions", Where(str(table)))
        out[key] = np.array([rows[i] for i in ids])
    return labels, out


def softmax_rows(logits: Floats) -> Floats:
    """Row-wise softmax."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def cumulative(probs: Floats) -> Floats:
    """APS nonconformities, shape as the input: probability of all options ranked at least as high."""
    order = np.argsort(-probs, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probs, order, axis=1), axis=1)
    out = np.empty_like(probs)
    np.put_along_axis(out, order, sums, axis=1)
    return out


def simple_sets(probs: Floats, epsilon: float) -> npt.NDArray[np.bool_]:
    """`baselines.simple_set` for all rows: an option is in where those before it don't reach 1 - epsilon."""
    return cumulative(probs) - probs < 1 - epsilon - 1e-12


def compare(
    probs: Floats, labels: Ints, epsilon: float, splits: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """One row per method.

    `coverage_se` is the error of the mean over splits of these very questions; the splits share them, so that it says
    nothing about other questions. `coverage_sd` is what a user with one calibration sees.
    """
    n = len(labels)
    at = np.arange(n)
    aps = cumulative(probs)
    simple = simple_sets(probs, epsilon)
    found: dict[str, list[tuple[float, float, float]]] = {"LAC": [], "APS": [], "Simple Set": []}
    for _ in range(splits):
        order = rng.permutation(n)
        cal, new = order[:CALIBRATION], order[CALIBRATION:]
        sets = {
            "LAC": membership(probs[new], threshold(1 - probs[at, labels][cal], epsilon)),
            "APS": aps[new] <= threshold(aps[at, labels][cal], epsilon),
            "Simple Set": simple[new],
        }
        for name, kept in sets.items():
            size = kept.sum(axis=1)
            found[name].append((kept[np.arange(len(new)), labels[new]].mean(), size.mean(), (size == 1).mean()))
    rows = []
    for name, values in found.items():
        coverage, size, alone = np.array(values).T
        rows.append(
            {
                "method": name,
                "coverage": float(coverage.mean()),
                "coverage_sd": float(coverage.std(ddof=1)),
                "coverage_se": float(coverage.std(ddof=1) / math.sqrt(splits)),
                "size": float(size.mean()),
                "alone": float(alone.mean()),
            }
        )
    return rows
