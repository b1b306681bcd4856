"""Figures 3 and 4 of KnowNo from a result of `handrail eval knowno`: `python -m handrail.evaluate.knowno_plots RESULT FOLDER`.

deviation-SUITE.png   plan success minus target, by target (figure 3)
tradeoff-SUITE.png    plan success against help (figure 4)
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.errors import MissingExtra


def figures(result: Mapping[str, Any]) -> dict[str, bytes]:
    """PNG by file name, for each suite of the result.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    suites = [s["suite"] for s in result["suites"] if s["used"]]
    out = {}
    for suite in suites:
        name = f"{suite} ({result['model']})"
        deviation = [r for r in result["deviation"] if r["suite"] == suite and "deviation" in r]
        tradeoff = [r for r in result["tradeoff"] if r["suite"] == suite]
        if deviation:
            labels = ("target plan success", "what came − target")
            out[f"deviation-{suite}.png"] = _lines(deviation, "target", "deviation", labels, name, level=0.0)
        if tradeoff:
            labels = ("plan success", "share of trials with help")
            out[f"tradeoff-{suite}.png"] = _lines(tradeoff, "plan", "help", labels, name)
    return out


def _lines(
    rows: Sequence[Mapping[str, Any]], x: str, y: str, labels: tuple[str, str], title: str, level: float | None = None
) -> bytes:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("drawing plots", "plots", "matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.5, 3.8), layout="constrained")
    for method in sorted({str(r["method"]) for r in rows}):
        own = sorted((r for r in rows if r["method"] == method), key=lambda r: float(r[x]))
        axes.plot([r[x] for r in own], [r[y] for r in own], "o-", label=method)
    if level is not None:
        axes.axhline(level, color="grey", lw=1, ls="--")
    axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
    axes.legend(fontsize="small")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return buffer.getvalue()


def main(arguments: Sequence[str]) -> int:
    """Draw the figures of a saved result."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m handrail.evaluate.knowno_plots RESULT.json FOLDER\n")
        return 2
    body = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    folder = Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in figures(body.get("result", body)).items():
        (folder / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
