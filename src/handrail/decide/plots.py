"""Pictures of a calibration: what was promised, what came, and what it cost. PNG bytes, and one HTML page with all.

Every number is computed from the calibration's own cases by splitting them anew many times; nothing is drawn that the
reader of the file could not compute again.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handrail.decide.adaptive import Method
from handrail.decide.calibration import Calibration
from handrail.decide.conformal import threshold
from handrail.decide.goal_calibration import Judged
from handrail.decide.rank import minimum_n
from handrail.errors import ConfigError, MissingExtra

TARGETS = (0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Point:
    """What many splits at one target gave: coverage, help, mean set size; with the spread of coverage over splits."""

    target: float
    coverage: float
    help: float
    size: float
    spread: float


def resplit(cases: Sequence[Judged], method: Method, splits: int = 100, seed: int = 0) -> list[Point]:
    """Calibrate on one half and look at the other, many times, for each target that a half can meet (on average)."""
    rng = np.random.default_rng(seed)
    half = len(cases) // 2
    scores = np.array([method.case_score(c.probabilities, c.right) for c in cases])
    out = []
    for target in TARGETS:
        if half < max(2, minimum_n(1 - target)):
            continue
        found = []
        for _ in range(splits):
            order = rng.permutation(len(cases))
            q = threshold(scores[order[:half]], 1 - target)
            found.append(np.mean([_judge(cases[i], method, q) for i in order[half:]], axis=0))
        coverage, asked, size = (float(v) for v in np.mean(found, axis=0))
        out.append(Point(target, coverage, asked, size, float(np.std([f[0] for f in found]))))
    return out


def _judge(case: Judged, method: Method, q: float) -> tuple[float, float, float]:
    kept = method.members(case.probabilities, q)
    hit = any(i in kept for i in case.right)
    asked = len(kept) != 1 or kept[0] == case.other
    return float(hit), float(asked), float(len(kept))


def reliability(cases: Sequence[Judged], bins: int = 10) -> list[tuple[float, float, int]]:
    """(mean stated probability, share right, count) of the likeliest option, by bins of the stated probability."""
    top = [(max(c.probabilities), int(np.argmax(c.probabilities)) in c.right) for c in cases if c.probabilities]
    rows = []
    for low in np.arange(bins) / bins:
        own = [(p, ok) for p, ok in top if low <= p < low + 1 / bins or (p == 1.0 and low + 1 / bins >= 1)]
        if own:
            rows.append((float(np.mean([p for p, _ in own])), float(np.mean([ok for _, ok in own])), len(own)))
    return rows


def by_group(cases: Sequence[Judged], calibration: Calibration) -> list[tuple[str, int, float, float]]:
    """(group, count, coverage, help) at the calibration's threshold, on its own cases: describes, promises nothing."""
    rows = []
    for name in sorted({c.group for c in cases}):
        own = [c for c in cases if c.group == name]
        q = calibration.threshold(name if calibration.groups else None)
        found = np.mean([_judge(c, calibration.method, q) for c in own], axis=0)
        rows.append((name, len(own), float(found[0]), float(found[1])))
    return rows


def _figure() -> tuple[Any, Any, Any]:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("drawing plots", "plots", "matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.6), layout="constrained")
    return pyplot, figure, axes


def _png(pyplot: Any, figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return buffer.getvalue()


def coverage_plot(points: Sequence[Point]) -> bytes:
    """Coverage against target, with one standard deviation over splits."""
    pyplot, figure, axes = _figure()
    targets = [p.target for p in points]
    axes.plot(TARGETS, TARGETS, color="grey", lw=1, ls="--", label="target")
    axes.errorbar(targets, [p.coverage for p in points], [p.spread for p in points], fmt="o-", capsize=3, label="came")
    axes.set(xlabel="target 1 − ε", ylabel="right option in the set", title="Promised and kept")
    axes.legend()
    return _png(pyplot, figure)


def help_plot(points: Sequence[Point]) -> bytes:
    """Help against success."""
    pyplot, figure, axes = _figure()
    axes.plot([p.coverage for p in points], [p.help for p in points], "o-")
    for p in points:
        axes.annotate(f"{p.target:g}", (p.coverage, p.help), textcoords="offset points", xytext=(4, -10))
    axes.set(
        xlabel="right option in the set", ylabel="share of requests asked about", ylim=(0, 1.05), title="What it costs"
    )
    return _png(pyplot, figure)


def size_plot(cases: Sequence[Judged], calibration: Calibration) -> bytes:
    """Histogram of set sizes at the calibration's threshold."""
    pyplot, figure, axes = _figure()
    sizes = []
    for c in cases:
        q = calibration.threshold(c.group if calibration.groups else None)
        sizes.append(len(calibration.method.members(c.probabilities, q)))
    most = max((len(c.probabilities) for c in cases), default=1)
    axes.hist(sizes, bins=np.arange(-0.5, most + 1.5), rwidth=0.8)
    axes.set(xlabel="options in the set", ylabel="requests", title="How much is left open")
    return _png(pyplot, figure)


def reliability_plot(cases: Sequence[Judged]) -> bytes:
    """Calibration curve: how often the likeliest option is right, by the probability stated for it."""
    pyplot, figure, axes = _figure()
    rows = reliability(cases)
    axes.plot([0, 1], [0, 1], color="grey", lw=1, ls="--")
    axes.scatter([r[0] for r in rows], [r[1] for r in rows], s=[20 + 3 * r[2] for r in rows])
    axes.set(xlabel="stated probability", ylabel="share right", xlim=(0, 1.02), ylim=(0, 1.02), title="Stated and true")
    return _png(pyplot, figure)


def group_plot(rows: Sequence[tuple[str, int, float, float]], target: float) -> bytes:
    """Coverage and help per group."""
    pyplot, figure, axes = _figure()
    place = np.arange(len(rows))
    axes.bar(place - 0.2, [r[2] for r in rows], 0.4, label="right option in the set")
    axes.bar(place + 0.2, [r[3] for r in rows], 0.4, label="asked")
    axes.axhline(target, color="grey", ls="--", lw=1)
    axes.set_xticks(place, [f"{r[0]} ({r[1]})" for r in rows], rotation=30, ha="right")
    axes.set(ylim=(0, 1.05), title="By kind of request")
    figure.legend(loc="outside lower center", ncols=2)
    return _png(pyplot, figure)


def pictures(calibration: Calibration, cases: Sequence[Judged]) -> dict[str, bytes]:
    """All plots by file name without ending.

    Raises:
        MissingExtra: matplotlib is not installed.
        ConfigError: fewer than ten cases.
    """
    if len(cases) < 10:
        raise ConfigError(f"plots need at least 10 cases, got {len(cases)}")
    points = resplit(cases, calibration.method)
    drawn: dict[str, Callable[[], bytes]] = {
        "coverage": lambda: coverage_plot(points),
        "help": lambda: help_plot(points),
        "sizes": lambda: size_plot(cases, calibration),
        "calibration": lambda: reliability_plot(cases),
        "groups": lambda: group_plot(by_group(cases, calibration), float(1 - calibration.epsilon)),
    }
    return {name: draw() for name, draw in drawn.items()}


def page(calibration: Calibration, images: dict[str, bytes]) -> str:
    """One HTML page that needs nothing else: the promise in words, what it rests on, and the pictures."""
    facts = {**dict(calibration.fingerprint.parts), **{str(k): str(v) for k, v in calibration.notes.items()}}
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
    shown = "".join(
        f'<img alt="{html.escape(name)}" src="data:image/png;base64,{base64.b64encode(data).decode()}">'
        for name, data in images.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Calibration</title>'
        "<style>body{font:16px/1.5 system-ui;max-width:70rem;margin:2rem auto;padding:0 1rem}"
        "th{text-align:left;vertical-align:top;padding-right:1rem}img{max-width:32rem;width:100%}</style>"
        f"<h1>Calibration</h1><p>{html.escape(calibration.promise())}</p>{shown}"
        f"<h2>What it rests on</h2><table>{rows}</table><p>Digest {calibration.digest}</p></html>\n"
    )
