"""PlanBench's recorded plans against their labels: the reading of the sets, and what a disagreement says."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pytest

from handrail.errors import ConfigError
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.planbench import run

BLOCKS = """(define (domain blocks) (:predicates (clear ?x) (ontable ?x) (handempty) (holding ?x) (on ?x ?y))
(:action pick-up :parameters (?ob) :precondition (and (clear ?ob) (ontable ?ob) (handempty))
 :effect (and (holding ?ob) (not (clear ?ob)) (not (ontable ?ob)) (not (handempty))))
(:action stack :parameters (?ob ?underob) :precondition (and (clear ?underob) (holding ?ob))
 :effect (and (handempty) (clear ?ob) (on ?ob ?underob) (not (clear ?underob)) (not (holding ?ob)))))"""
PROBLEM = """(define (problem two) (:domain blocks) (:objects a b)
(:init (handempty) (clear a) (clear b) (ontable a) (ontable b)) (:goal (and (on a b))))"""
ROOT = "llm_planning_analysis/instances/"
SETS = (
    "blocksworld", "blocksworld_3", "logistics", "mystery_blocksworld", "mystery_blocksworld_3", "random_blocksworld",
    "random_blocksworld_3", "sokoban", "unsolvable_blocksworld", "obfuscated_randomized_blocksworld",
    "obfuscated_randomized_blocksworld_3", "obfuscated_randomized_logistics", "unsolvable_obfuscated_randomized_blocksworld",
)  # fmt: skip


def row(plan, label, query="", instance=1):
    return {"domain": "d", "model": "m", "variant": "v", "instance": instance, "query": query, "response": "",
            "extracted_plan": plan, "ground_truth_plan": "", "label_correct": label}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A data folder in PlanBench's layout with two blocks in every set."""
    base = tmp_path / "planbench"
    base.mkdir()
    files = {}
    for name in ("blocksworld", "blocksworld/mystery", "logistics", "sokoban", "unsolvable_blocksworld"):
        files[f"{ROOT}{name}/generated_domain.pddl"] = BLOCKS
        for part in ("generated_basic", "generated_basic_3"):
            files[f"{ROOT}{name}/{part}/instance-1.pddl"] = PROBLEM
    for archive in ("blocksworld", "logistics", "sokoban", "unsolvable_blocksworld"):
        with tarfile.open(base / f"instances_{archive}.tar.gz", "w:gz") as tar:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text.encode()))

    def write(rows):
        for name in SETS:
            with gzip.open(base / f"responses_{name}.jsonl.gz", "wt") as out:
                out.writelines(json.dumps(r) + "\n" for r in rows.get(name, []))
        return run(EvalOptions(data=tmp_path))

    return write


GOOD = "(pick-up a)\n(stack a b)\n"


def test_agreement_and_every_kind_of_refusal(folder):
    found = folder({"blocksworld": [
        row(GOOD, True), row(GOOD.split("\n")[:2], True), row("(stack a b)", False), row("(pick-up a)", False),
        row("(pick-up a b)", False), row("(pick-up c)", False), row("(fly a)", False), row("", False), row(None, False),
        row("first, (pick-up a)", False),
    ]})  # fmt: skip
    assert (found["plans"], found["agree"], found["without_plan"], found["disagreements"]) == (10, 10, 2, [])
    assert found["reasons"] == {
        "EMPTY_PLAN": 2, "PRECONDITION": 1, "GOAL_NOT_REACHED": 1, "WRONG_ARGUMENTS": 1, "UNKNOWN_OBJECT": 1,
        "UNKNOWN_SKILL": 1, "NOT_A_PLAN": 1,
    }  # fmt: skip
    assert found["ms_per_plan"] > 0


def test_a_disagreement_says_what_our_verdict_rests_on(folder):
    found = folder({"blocksworld": [row(GOOD, False), row("", True), row("(stack a b)", True)]})
    assert found["agree"] == 0
    ours, empty, broken = found["disagreements"]
    assert ours["ours"] and "all 2 steps" in ours["why"]
    assert "extraction lost" in empty["why"]
    assert "holding(a)" in broken["why"]


def test_pddl_inside_a_prompt(folder):
    prompt = (
        f"Here under the heading [DOMAIN], and so on.\n[DOMAIN]\n{BLOCKS}\n\n[QUERY PROBLEM]\n{PROBLEM})\n\n[PLAN]\n"
    )
    found = folder({"obfuscated_randomized_blocksworld": [
        row(GOOD, True, prompt), row(GOOD, True), row(GOOD, True, instance=2)
    ]})  # fmt: skip
    variant = found["variants"]["obfuscated_randomized_blocksworld"]
    assert (variant["rows"], variant["checked"], variant["without_pddl"], variant["agree"]) == (3, 2, 1, 2)
    assert found["plans"] == 0


def test_no_data_is_said():
    with pytest.raises(ConfigError, match="--data"):
        run(EvalOptions())


@pytest.mark.data
def test_a_sample_of_the_real_set(data_dir):
    found = run(EvalOptions(data=data_dir, quick=True))
    assert found["plans"] == 1200
    assert found["agree"] >= 1199
