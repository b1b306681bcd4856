"""Pictures of a certificate: risks against limits, power against episodes, the audit stream, the parts' shares.

Each function draws one figure into a PNG file and returns its path. matplotlib is loaded only here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from handrail.decide.certificate.binomial import power
from handrail.decide.certificate.certify import Certificate
from handrail.decide.certificate.declaration import Declaration
from handrail.decide.certificate.parts import PartsEstimate
from handrail.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from handrail.decide.drift.detector import Detector

INK, ACCEPTED, CHOSEN, LIMIT = "#8a8f98", "#2b7a3f", "#c77800", "#b3261e"


def _figure(width: float = 7.0, height: float = 4.6) -> tuple[Any, Any]:
    """A figure and its axes, drawn without any display.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("plots", "plots", "matplotlib") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


def risks(certificate: Certificate, path: Path) -> Path:
    """Every setting's counted risks against the two limits.

    Raises:
        ConfigError: the certificate has no counts yet.
        MissingExtra: matplotlib is not installed.
    """
    if not certificate.rows:
        raise ConfigError("nothing was tested yet, so there is nothing to draw")
    limits, n = certificate.declaration.limits, certificate.units
    figure, axes = _figure()
    silent = np.array([r.silent for r in certificate.rows]) / n
    task = np.array([r.task for r in certificate.rows]) / n
    taken = np.isin(np.arange(len(silent)), certificate.accepted)
    axes.scatter(100 * task[~taken], 100 * silent[~taken], s=16, color=INK, label="not accepted")
    axes.scatter(100 * task[taken], 100 * silent[taken], s=22, color=ACCEPTED, label="accepted")
    if certificate.chosen is not None:
        i = certificate.chosen
        axes.scatter(100 * task[i], 100 * silent[i], s=120, facecolors="none", edgecolors=CHOSEN, label="chosen")
    axes.axvline(100 * limits.task, color=LIMIT, lw=1)
    axes.axhline(100 * limits.silent, color=LIMIT, lw=1, label="limits")
    axes.set_xlabel("not done as meant, in 100 tasks")
    axes.set_ylabel("said done, was not as meant, in 100 tasks")
    axes.set_title(f"{certificate.declaration.name}: {n} {'clusters' if n != certificate.episodes else 'episodes'}")
    axes.legend(frameon=False)
    return _save(figure, path)


def power_curve(declaration: Declaration, path: Path) -> Path:
    """The chance to pass against the number of episodes, for true risks of 1/4, 1/2 and 7/10 of the limits.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure, axes = _figure()
    counts = np.unique(np.geomspace(declaration.least_episodes, 6 * max(declaration.episodes, 100), 70).astype(int))
    limits = declaration.limits
    for share in (0.25, 0.5, 0.7):
        both = [
            power(int(n), limits.silent, declaration.level, share * limits.silent)
            * power(int(n), limits.task, declaration.level, share * limits.task)
            for n in counts
        ]
        axes.plot(counts, both, label=f"true risks at {share:g} of the limits")
    axes.axvline(declaration.episodes, color=LIMIT, lw=1, label=f"declared: {declaration.episodes}")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.set_xlabel("episodes")
    axes.set_ylabel("chance to be certified (one setting, both limits)")
    axes.legend(frameon=False)
    return _save(figure, path)


def stream(name: str, observed: Sequence[float], detector: Detector, path: Path) -> Path:
    """One stream's evidence over time with its alarm line, and its running rate.

    Args:
        name: of the stream.
        observed: its observations in order, 0/1.
        detector: gives the rate that counts as unchanged and the threshold; it is not changed.
        path: the PNG file.

    Raises:
        ConfigError: nothing was observed.
        MissingExtra: matplotlib is not installed.
    """
    from dataclasses import replace

    if not len(observed):
        raise ConfigError(f"the stream '{name}' has no observations to draw")
    fresh = replace(detector, level=[], since=[], evidence=[], seen=0, events=0.0)
    values, alarm = [], None
    for i, x in enumerate(observed, start=1):
        if fresh.add(x) and alarm is None:
            alarm = (i, fresh.changed_at)
        values.append(max(fresh.value, 1e-3))
    figure, axes = _figure()
    axes.plot(range(1, len(values) + 1), values, color="#1f4e9c", lw=1.2)
    axes.axhline(detector.threshold, color=LIMIT, lw=1, label="alarm")
    if alarm is not None:
        axes.axvline(alarm[0], color=LIMIT, ls="--", lw=1, label=f"alarm at {alarm[0]}")
        axes.axvline(alarm[1], color=CHOSEN, ls=":", lw=1.4, label=f"changed at about {alarm[1]}")
    axes.set_yscale("log")
    axes.set_xlabel("observation")
    axes.set_ylabel("evidence of a rise")
    axes.set_title(f"{name}: {sum(observed):g} of {len(observed)}; unchanged up to {100 * detector.m:.1f} in 100")
    axes.legend(frameon=False)
    return _save(figure, path)


def parts(estimate: PartsEstimate, path: Path) -> Path:
    """Each part's share of the composed estimate: what was seen, and the bound.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure, axes = _figure(height=0.5 * len(estimate.task_parts) + 1.6)
    names = [p.name for p in reversed(estimate.task_parts)]
    bounds = [100 * p.bound for p in reversed(estimate.task_parts)]
    seen = [100 * p.seen for p in reversed(estimate.task_parts)]
    axes.barh(names, bounds, color="#c9d3e6", label="upper bound")
    axes.barh(names, seen, color="#1f4e9c", height=0.45, label="seen")
    axes.set_xlabel("tasks in 100 (estimate from the parts, not the certificate)")
    axes.legend(frameon=False)
    return _save(figure, path)
