"""`handrail domain` and `handrail init`: what a person and a script get."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from handrail.cli.domain import app, init
from handrail.domain.files import domain_from_text, load_domain
from handrail.domain.pddl import read_domain, read_problem
from handrail.domains import path

run = CliRunner()

BAD = "domain: d\nfluents: ['at(r: robt): bool']\ntypes: {robot: }\nskills: {go: {makes: ['att() := true']}}\n"


def test_lint_says_where(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(BAD, encoding="utf-8")
    got = run.invoke(app, ["lint", str(file)])
    assert got.exit_code == 2
    assert f"{file}:2:18" in got.output.replace("\n", "") and "Did you mean 'robot'?" in got.output
    assert "Traceback" not in got.output


def test_lint_as_json(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(BAD, encoding="utf-8")
    got = run.invoke(app, ["lint", str(file), "home", "--json"])
    assert got.exit_code == 2
    wrong, home = json.loads(got.stdout)["files"]
    assert wrong["errors"][0]["line"] == 2 and wrong["errors"][0]["column"] == 18
    assert home == {"file": "home", "ok": True, "errors": [], "warnings": []}


def test_warnings_count_only_when_strict(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("domain: d\nskills: {go: {}}\n", encoding="utf-8")
    assert run.invoke(app, ["lint", str(file)]).exit_code == 0
    got = run.invoke(app, ["lint", str(file), "--strict"])
    assert got.exit_code == 3
    assert "[no-says]" in got.output and f"{file}:2:10" in got.output.replace("\n", "")


def test_a_file_that_is_not_there() -> None:
    got = run.invoke(app, ["show", "nowhere.yaml"])
    assert got.exit_code == 2
    assert "home, office, tabletop" in got.output


def test_show_for_people_and_programs() -> None:
    people = run.invoke(app, ["show", "tabletop"])
    assert people.exit_code == 0
    assert "pick(a: arm, item: block)" in people.output
    assert "no towers" not in people.output and "never some b in block" in people.output
    body = json.loads(run.invoke(app, ["show", "home", "--json"]).stdout)
    assert body["skills"]["pick"]["needs"][1] == "free(hand)"
    assert body["safety"]["limits"] == {"speed": 0.5, "force": 40.0}
    assert len(body["scenes"]["evening"]) >= 12
    assert body["fingerprint"] == load_domain(path("home")).fingerprint


def test_export_yaml_reads_back(tmp_path: Path) -> None:
    out = tmp_path / "sub" / "o.yaml"
    assert run.invoke(app, ["export", "office", "--out", str(out)]).exit_code == 0
    assert load_domain(out).fingerprint == load_domain(path("office")).fingerprint
    printed = run.invoke(app, ["export", "office"])
    assert domain_from_text(printed.stdout).fingerprint == load_domain(path("office")).fingerprint


def test_export_pddl_reads_back(tmp_path: Path) -> None:
    got = run.invoke(app, ["export", "tabletop", "--to", "pddl"])
    assert got.exit_code == 0, got.output
    assert {"pick", "place"} <= set(read_domain(got.stdout).skills)
    assert (
        run.invoke(app, ["export", "starter", "--to", "pddl", "--scene", "first", "--out", str(tmp_path)]).exit_code
        == 0
    )
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [f"starter-first-0{i}-{part}.pddl" for i in (1, 2) for part in ("domain", "problem")]
    domain = read_domain((tmp_path / names[0]).read_text(encoding="utf-8"))
    problem = read_problem((tmp_path / names[1]).read_text(encoding="utf-8"), domain)
    assert "cup" in problem.objects


def test_export_pddl_without_a_goal(tmp_path: Path) -> None:
    file = tmp_path / "k.yaml"
    file.write_text("domain: d\nskills: {go: {}}\nscenarios: {empty: {}}\n", encoding="utf-8")
    got = run.invoke(app, ["export", str(file), "--to", "pddl", "--scene", "empty"])
    assert got.exit_code == 2
    assert "no request with a goal" in got.output


def test_schema_is_json() -> None:
    assert json.loads(run.invoke(app, ["schema"]).stdout)["title"] == "handrail domain file"


def test_init_writes_a_file_that_works(tmp_path: Path) -> None:
    file = tmp_path / "new" / "robot.yaml"
    init(file)
    assert load_domain(file).name == "starter"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(typer.Exit) as e:
        init(file)
    assert e.value.exit_code == 2
    assert file.read_text(encoding="utf-8") == "mine"
    init(file, force=True)
    assert load_domain(file).name == "starter"
