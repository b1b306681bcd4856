from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from handrail.domain import Plan, Step
from handrail.domain.files import load_domain
from handrail.domain.pddl import read_domain, read_problem
from handrail.errors import ConfigError, MissingExtra, ParseError
from handrail.network import behaviortree, fastdownward, graphs, pddl
from handrail.network.costs import CostProfile
from handrail.network.library import shipped
from handrail.network.names import DATA
from handrail.network.network import merge
from handrail.network.retrieval import Kitchen, Prices
from handrail.network.retrieve.search import solve

from .nets import merged, small

NETWORK = merge(shipped())
KITCHEN = Kitchen(NETWORK, Prices(CostProfile.load("one_arm")))
MOTIONS = [u.motion for u in NETWORK.units]


def test_pddl_is_read_by_our_own_reader_and_has_one_action_per_unit() -> None:
    goal = KITCHEN.node(shipped()[0].target or NETWORK.nodes[0])
    written = pddl.write(KITCHEN.graph, KITCHEN.stock - {goal}, [goal], NETWORK.nodes, MOTIONS)
    domain = read_domain(written.domain, "domain.pddl")
    problem = read_problem(written.problem, domain, "problem.pddl")
    assert len(domain.skills) == written.actions == sum(bool(o) for o in KITCHEN.graph.outs)
    assert problem.goal is not None


def test_our_planner_finds_the_same_optimum_on_the_written_problem() -> None:
    from handrail.domain import Task
    from handrail.solve.astar import solve as plan_of

    seen = 0
    for seed in range(30):
        graph, start, goals = small(seed)
        answer = solve(graph, start, goals)
        written = pddl.write(graph, start, goals)
        domain = read_domain(written.domain)
        problem = read_problem(written.problem, domain)
        found = plan_of(Task(problem.objects, problem.goal), problem.state)
        assert (found.plan is None) == (answer.order is None), seed
        if found.plan is not None:
            seen += 1
            assert found.proved
            assert round(found.cost) == answer.cost, seed
            order = pddl.read_plan("".join(f"({s.skill})\n" for s in found.plan.steps), graph)
            assert graph.executable(order, start, goals) == ""
    assert seen > 15


def test_consuming_actions_delete_what_they_use_up() -> None:
    graph, start, goals = small(1)
    monotone, consuming = (pddl.write(graph, start, goals, consuming=c) for c in (False, True))
    assert "(not (avail" not in monotone.domain
    eaten = any(
        n not in start and n not in graph.kept[u] for u, ins in enumerate(graph.ins) for n in ins if graph.outs[u]
    )
    assert ("(not (avail" in consuming.domain) == eaten


def test_plans_are_read_back_one_to_one() -> None:
    graph, *_ = small(1)
    assert pddl.read_plan("(fu0-pour)\n; cost = 3\n(FU2)\n", graph) == (0, 2)
    with pytest.raises(ParseError, match="unit 99 is not in the network"):
        pddl.read_plan("(fu99)", graph)
    with pytest.raises(ParseError, match=r"plan:2.*expected an action"):
        pddl.read_plan("(fu0)\nhello", graph, "plan")


@pytest.mark.slow
def test_fast_downward_agrees_on_the_optimum() -> None:
    pytest.importorskip("up_fast_downward")
    for seed in range(8):
        graph, start, goals = merged(seed, 4, 20)
        found = fastdownward.solve(pddl.write(graph, start, goals), 60)
        answer = solve(graph, start, goals)
        assert found.solved
        assert answer.proved
        assert found.cost == answer.cost
        assert graph.executable(pddl.read_plan(found.plan or "", graph), start, goals) == ""


def test_a_missing_planner_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"up-fast-downward.*pip install 'handrail\[planners\]'"):
        fastdownward.driver()


def test_a_planner_that_does_not_end_is_ended(tmp_path: Path) -> None:
    stdout, _, code = fastdownward._within(["sh", "-c", "echo f = 3; sleep 60"], tmp_path, 0.2)
    assert code < 0
    assert stdout == "f = 3\n"


def xml(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def test_behaviour_trees_have_one_leaf_per_step_in_order() -> None:
    domain = load_domain(DATA / "domains" / "suitcase.yaml")
    plan = Plan((Step("go", ("robot_1", "suitcase")), Step("open", ("robot_1", "hand_1", "suitcase"))))
    root = xml(behaviortree.of_plan(plan, domain.skills))
    assert root.attrib == {"BTCPP_format": "4", "main_tree_to_execute": "Plan"}
    sequence = root.find("BehaviorTree/Sequence")
    leaves = [] if sequence is None else list(sequence)
    assert [(n.tag, n.attrib.get("to"), n.attrib.get("what")) for n in leaves] == [
        ("go", "suitcase", None),
        ("open", None, "suitcase"),
    ]
    described = {a.attrib["ID"]: [p.attrib["name"] for p in a] for a in root.iter("Action")}
    assert described == {"go": ["r", "to"], "open": ["r", "h", "what"]}
    again = xml(behaviortree.of_plan(plan, retries=2))
    assert [n.attrib["num_attempts"] for n in again.iter("RetryUntilSuccessful")] == ["3", "3"]
    with pytest.raises(ConfigError, match="retries"):
        behaviortree.of_plan(plan, retries=-1)


def test_trees_become_behaviour_trees_with_safe_names() -> None:
    for tree in shipped():
        root = xml(behaviortree.of_tree(tree))
        sequence = root.find("BehaviorTree/Sequence")
        assert len([] if sequence is None else list(sequence)) == len(tree.units)


def test_behaviortree_cpp_loads_the_structure() -> None:
    py = pytest.importorskip("behaviortreepy")
    text = behaviortree.of_tree(shipped()[0], ports=False)
    ids = behaviortree.leaf_ids(text)
    assert len(ids) == len(shipped()[0].units)
    ticked = run_tree(py, text, ids)
    assert ticked == ids


def run_tree(py: object, text: str, ids: list[str]) -> list[str]:
    """Load the XML with the real library, tick it with leaves that succeed, and say which ran."""
    ticked: list[str] = []
    factory = py.BehaviorTreeFactory()  # type: ignore[attr-defined]
    for name in ids:

        def leaf(*_: object, name: str = name) -> object:
            ticked.append(name)
            return py.NodeStatus.SUCCESS  # type: ignore[attr-defined]

        factory.register_simple_action(name, leaf)
    tree = factory.create_tree_from_text(text)
    tree.tick_while_running()
    return ticked


def test_graphs_name_every_unit_and_escape_their_labels() -> None:
    tree = shipped()[0]
    dot, mermaid = graphs.graphviz(tree, [0]), graphs.mermaid(NETWORK, [1])
    assert dot.count("shape=box") == len(tree.units)
    assert "penwidth=3" in dot
    assert mermaid.startswith("flowchart LR")
    assert "class m1 plan" in mermaid
    assert mermaid.count('["') == len(NETWORK.units) + len(NETWORK.nodes)
    assert '"' not in "".join(line.split('"', 1)[1].rsplit('"', 1)[0] for line in mermaid.splitlines() if '["' in line)
