from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from handrail.cli.exits import Exit
from handrail.cli.network import app as network_app
from handrail.cli.tree import app as tree_app
from handrail.errors import ConfigError, ParseError, StaleError
from handrail.network.document import read
from handrail.network.marks import verdict
from handrail.network.names import DATA

app = typer.Typer()
app.add_typer(tree_app, name="tree")
app.add_typer(network_app, name="network")
TEA = DATA / "trees" / "cup-of-tea.txt"
WRONG = "O\tonion\t1\nS\tchopped\nM\tpress\t<Assumed>\nO\tonion\t1\nS\twhole\n//\n"


def call(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def test_show_in_every_view(tmp_path: Path) -> None:
    assert "--fill-->" in call("tree", "show", TEA)
    assert call("tree", "show", TEA, "--view", "units").count("\n") == 5
    assert json.loads(call("tree", "show", TEA, "--json"))[0]["ingredient"] == "water"
    out = tmp_path / "tea.svg"
    call("tree", "show", TEA, "--view", "svg", "--out", out)
    ElementTree.fromstring(out.read_text())
    assert call("tree", "show", TEA, "--view", "mermaid").startswith("flowchart")
    assert call("tree", "show", TEA, "--view", "graphviz").startswith("digraph")


def test_check_ends_with_a_code_that_says_wrong(tmp_path: Path) -> None:
    assert json.loads(call("tree", "check", "shipped", "--json"))[0]["units"] > 0
    path = tmp_path / "bad.txt"
    path.write_text(WRONG)
    said = call("tree", "check", path, code=Exit.REFUSED)
    assert "bad.txt:1  press: wrong" in said
    assert "whole again" in said
    body = json.loads(call("tree", "review", path, "--json"))
    assert body["doubtful"][0]["line"] == 0
    assert "? " in call("tree", "review", path)


def test_a_person_marks_lines_and_the_marks_stay(tmp_path: Path) -> None:
    path = tmp_path / "tea.txt"
    path.write_text(TEA.read_text())
    assert "2 lines to look at" in call("tree", "review", path)
    numbers = [row["line"] for row in json.loads(call("tree", "show", path, "--json"))]
    call("tree", "review", path, "--right", numbers[0])
    assert json.loads(call("tree", "review", path, "--json"))["right"] is None
    assert call("tree", "review", path, "--right", numbers[1]).endswith("right\n")
    assert call("tree", "review", path, "--wrong", numbers[1], code=Exit.REFUSED).endswith("wrong\n")
    with pytest.raises(ConfigError, match="there are lines 0 to"):
        call("tree", "review", path, "--right", 99)
    path.write_text(path.read_text().replace("liquid", "cold"))
    with pytest.raises(StaleError, match="another revision"):
        call("tree", "review", path)


def test_a_person_is_asked_about_each_line(tmp_path: Path) -> None:
    path = tmp_path / "tea.txt"
    path.write_text(TEA.read_text())
    result = CliRunner().invoke(app, ["tree", "review", str(path), "--ask"], input="y\nn\n")
    assert result.exit_code == Exit.REFUSED
    assert verdict(path, read(path).tree) is False
    (tmp_path / "tea.txt.marks.json").write_text("[]")
    with pytest.raises(ParseError, match="not a file of marks"):
        call("tree", "review", path)


def test_convert_round_trip(tmp_path: Path) -> None:
    for form in ("foon", "foon-numbered", "foon-plain", "json"):
        out = tmp_path / f"tea.{'json' if form == 'json' else 'txt'}"
        call("tree", "convert", TEA, "--to", form, "--out", out)
        assert read(out).tree.units == read(TEA).tree.units
    assert "relation word unknown" in call("tree", "convert", TEA, "--to", "paper-json")
    assert 'BTCPP_format="4"' in call("tree", "convert", TEA, "--to", "behavior-tree")


def test_edit_writes_the_tree_and_says_what_changed(tmp_path: Path) -> None:
    out = tmp_path / "edited.txt"
    said = call("tree", "edit", TEA, "--line", 2, "--state", "cold", "--out", out)
    assert "  + fill" in said
    assert "water" in {n.label for u in read(out).units for n in u.objects() if "cold" in n.states}
    with pytest.raises(ConfigError, match="exactly one"):
        call("tree", "edit", TEA, "--line", 2)


def test_retrieve_says_how_sure_it_is() -> None:
    said = call("network", "retrieve", "cup-of-tea", "shipped")
    assert said.startswith("5 steps, cost 1.1 (monotone), proved cheapest among")
    body = json.loads(call("network", "retrieve", "cup-of-tea", "shipped", "--robot", "two_arms", "--json"))
    assert body["proved"] is True
    assert body["replay"] == "valid"
    assert json.loads(call("network", "retrieve", "cup-of-tea", "shipped", "--best", 3, "--json"))[0]["cost"] == 1.1
    with pytest.raises(ConfigError, match="nothing makes 'moon'"):
        call("network", "retrieve", "moon", "shipped")
    with pytest.raises(ConfigError, match="could be any of"):
        call("network", "retrieve", "water", "shipped")


def test_out_of_reach_has_its_own_code(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("O\tsauce\t1\nS\tmixed\nS\tcontains\t{a,b}\nM\tpour\nO\tdish\t1\n//\n")
    assert "nothing makes sauce" in call("network", "retrieve", "dish", path, code=Exit.REFUSED)
    assert "buy" in call("network", "retrieve", "dish", path, "--buy", "0.5")


def test_stats_pddl_and_graph(tmp_path: Path) -> None:
    assert json.loads(call("network", "stats", "shipped", "--json"))["trees"] == 15
    assert "pick-and-place" in call("network", "stats", "shipped")
    call("network", "pddl", "cup-of-tea", "shipped", "--out", tmp_path)
    assert (tmp_path / "domain.pddl").read_text().startswith("(define (domain foon)")
    assert call("network", "graph", "shipped").startswith("digraph")
