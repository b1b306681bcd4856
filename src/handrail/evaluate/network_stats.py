"""`handrail eval network_stats`: what the public FOON and the recorded trees are made of (the paper's Figure 5)."""

from __future__ import annotations

from typing import Any

from handrail.evaluate.options import EvalOptions
from handrail.network.document import read_all
from handrail.network.library import shipped
from handrail.network.statistics import of


def run(options: EvalOptions) -> dict[str, Any]:
    """Commonest motions, ingredients, utensils and states of FOON, the recorded trees and our own."""
    folder = options.need_data("foon_mit")
    recorded = [d.tree for k in range(1, 6) for d in read_all([folder / "generated_trees" / str(k)])]
    return {
        "foon": of(d.tree for d in read_all([folder / "foon_subgraphs" / "TXT"])),
        "recorded": of(recorded),
        "shipped": of(shipped()),
    }
