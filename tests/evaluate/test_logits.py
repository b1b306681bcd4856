from __future__ import annotations

import gzip

import numpy as np
import pytest

from handrail.decide.adaptive import Method
from handrail.decide.baselines import simple_set
from handrail.errors import ConfigError, ParseError
from handrail.evaluate import logits
from handrail.evaluate.options import EvalOptions


def test_row_wise_forms_are_those_of_single_cases():
    rng = np.random.default_rng(0)
    probs = logits.softmax_rows(rng.normal(size=(50, 6)))
    aps, simple = logits.cumulative(probs), logits.simple_sets(probs, 0.15)
    for i, p in enumerate(probs.tolist()):
        assert aps[i].tolist() == pytest.approx(Method("aps").strangeness(p))
        assert np.flatnonzero(simple[i]).tolist() == sorted(simple_set(p, 0.15))


def write(folder, rows, label="A"):
    folder = folder / "llm_uq_bench"
    folder.mkdir(exist_ok=True)
    (folder / "mmlu_consensus_2000.csv").write_text(f"id,consensus_sampled_seed12345\n0,{label}\n")
    with gzip.open(folder / "mmlu_option_logits_2000x3.csv.gz", "wt") as file:
        file.write("id,model,prompt,A,B,C,D,E_idk,F_none\n" + rows)
    return folder


def test_reading(tmp_path):
    labels, found = logits.read(write(tmp_path, "0,m,p,1,2,3,4,5,6\n", "C"))
    assert labels.tolist() == [2] and found["m", "p"].tolist() == [[1, 2, 3, 4, 5, 6]]
    for bad, says in (("0,m,p,1,2,3,4,5\n", "six"), ("0,m,p,1,2,nan,4,5,6\n", "no number"), ("1,m,p,1,2,3,4,5,6\n", "label")):
        with pytest.raises(ParseError, match=says):
            logits.read(write(tmp_path, bad))
    with pytest.raises(ConfigError, match="data"):
        logits.run(EvalOptions())


@pytest.mark.data
def test_real_logits(data_dir):
    result = logits.run(EvalOptions(data=data_dir, quick=True))
    assert len(result["rows"]) == 27
    for row in result["rows"]:
        if row["method"] in ("LAC", "APS"):
            assert abs(row["coverage"] - result["target"]) < 0.015
        assert 1 <= row["size"] <= 6
    spread = [r["coverage"] for r in result["rows"] if r["method"] == "Simple Set"]
    assert max(spread) - min(spread) > 0.05  # it takes the model at its word, and models differ
