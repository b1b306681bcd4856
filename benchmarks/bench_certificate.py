"""Testing a grid of settings on logged episodes, against MAPIE's p-values and against one walk per setting."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from handrail.decide.certificate import collecting, p_value, replay
from handrail.decide.certificate.testing import several_starts
from handrail.decide.drift import Detector
from handrail.evaluate.task_cells import CELLS, LOGGED, SETTINGS, episodes, populate


def timed(call: Callable[[], Any], times: int) -> float:
    """Median seconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return median(taken)


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds for one certificate's parts, and ratios against peers in the same run."""
    n = 120 if quick else 720
    settings = [SETTINGS[i] for i in LOGGED]
    p = populate(CELLS[0], n, np.random.default_rng(0))
    pool = episodes(p, np.arange(n), collecting(settings))
    together = timed(lambda: replay(settings, pool), 3)
    few = settings[:8]
    apart = timed(lambda: [replay([s], pool) for s in few], 3) * len(settings) / len(few)
    losses = replay(settings, pool)
    k = losses.task.sum(axis=1)
    ours = timed(lambda: p_value(k, n, 0.2), 20)
    out: dict[str, Any] = {
        "episodes": n,
        "settings": len(settings),
        "replay_seconds": together,
        "replay_over_one_walk_per_setting": together / apart,
        "p_values_seconds": ours,
        "fixed_sequences_seconds": timed(
            lambda: several_starts(p_value(k, n, 0.2), [range(len(settings))] * 4, 0.05), 20
        ),
    }
    try:
        from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value
    except ImportError:
        out["p_values_over_mapie"] = None
    else:
        theirs = timed(lambda: compute_hoeffding_bentkus_p_value(k / n, n, 0.2), 20)
        out["p_values_over_mapie"] = ours / theirs
    detector = Detector(0.1, 1e5)
    out["microseconds_per_observation"] = 1e6 * timed(lambda: [detector.add(0.0) for _ in range(1000)], 5) / 1000
    return out
