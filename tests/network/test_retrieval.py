from __future__ import annotations

from itertools import islice

import pytest

from handrail.errors import ConfigError
from handrail.network.baselines import foods, greedy, path_search, substitute
from handrail.network.costs import CostProfile
from handrail.network.library import shipped
from handrail.network.model import FunctionalUnit, Identity, LeafKind, ObjectNode, Origin, Relation, Source, TaskTree
from handrail.network.network import Network, merge
from handrail.network.retrieval import Kitchen, Prices, Semantics
from handrail.network.statistics import of

PROFILE = CostProfile.load("one_arm")


def node(label: str, *states: str, inside: str = "", holds: tuple[str, ...] = ()) -> ObjectNode:
    return ObjectNode(label, states, holds, [Relation("in", inside)] if inside else [])


def unit(motion: str, ins: list[ObjectNode], outs: list[ObjectNode], voice: str = "") -> FunctionalUnit:
    return FunctionalUnit(ins, motion, outs, Source(voice))


def kitchen(trees: list[TaskTree], **prices: object) -> Kitchen:
    return Kitchen(merge(trees), Prices(PROFILE, **prices))  # type: ignore[arg-type]


def test_merging_remembers_every_source_and_counts_voices() -> None:
    a, b = node("a"), node("b", "cut")
    trees = [TaskTree((unit("cut", [a], [b], v),)) for v in ("m1", "m1", "m2")]
    network = merge(trees)
    assert len(network.units) == 1
    assert len(network.sources[0]) == 3
    assert network.votes(0) == 2
    assert not network.from_knowledge(0)
    assert network.find(a) == 0
    assert network.find(node("c")) is None


def test_the_identity_rule_decides_what_merges() -> None:
    on, at = (ObjectNode("a", (), (), [Relation(w, "bowl")]) for w in ("on", "at"))
    trees = [TaskTree((unit("mix", [n], [node("b")]),)) for n in (on, at)]
    assert len(merge(trees).units) == 2
    assert len(merge(trees, Identity.PLACE).units) == 1


def test_dangling_intermediates_are_not_in_stock() -> None:
    tree = TaskTree(
        (
            unit(
                "mix",
                [node("egg", "whole"), node("bowl", "empty"), node("sauce", "mixed", holds=("a", "b"))],
                [node("x")],
            ),
        )
    )
    network = merge([tree])
    leaves = network.leaves()
    assert {network.nodes[n].label for n in leaves[LeafKind.RAW]} == {"egg"}
    assert {network.nodes[n].label for n in leaves[LeafKind.TOOL]} == {"bowl"}
    assert {network.nodes[n].label for n in leaves[LeafKind.COMPOSITE]} == {"sauce"}
    assert {network.nodes[n].label for n in network.stock()} == {"egg", "bowl"}


def test_what_is_missing_is_named_or_bought() -> None:
    tree = TaskTree((unit("mix", [node("sauce", "mixed", holds=("a", "b"))], [node("dish", "ready")]),))
    found = kitchen([tree]).retrieve(node("dish", "ready"))
    assert found.steps is None
    assert found.proved
    assert [n.label for n in found.missing] == ["sauce"]
    assert "nothing makes sauce" in found.sentence
    bought = kitchen([tree]).retrieve(node("dish", "ready"), buy=0.7)
    assert [(b.node.label, b.cost, b.kind) for b in bought.shopping] == [("sauce", 0.7, LeafKind.COMPOSITE)]
    assert bought.cost == pytest.approx(0.7 + 0.2)


def test_an_unknown_goal_lists_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"It has: .*tea \(hot"):
        Kitchen(merge(shipped()), Prices(PROFILE)).retrieve(node("tea", "cold"))


def test_refused_units_are_not_used() -> None:
    trees = [TaskTree((unit(m, [node("a")], [node("b", "x")]),)) for m in ("mix", "stir")]
    network = merge(trees)
    assert [s.unit.motion for s in kitchen(trees).retrieve(node("b", "x")).steps or ()] == ["mix"]
    banned = Kitchen(network, Prices(PROFILE, banned=frozenset({0}))).retrieve(node("b", "x"))
    assert [s.unit.motion for s in banned.steps or ()] == ["stir"]
    assert "among 1 units" in banned.sentence


def test_doubtful_units_are_dearer() -> None:
    trees = [TaskTree((unit(m, [node("a")], [node("b", "x")]),)) for m in ("mix", "stir")]
    found = kitchen(trees, doubtful=frozenset({0}), doubt=0.2).retrieve(node("b", "x"))
    assert [s.unit.motion for s in found.steps or ()] == ["stir"]


def shared() -> tuple[list[TaskTree], ObjectNode]:
    """Whisked egg is used by two units: once is enough where nothing is used up, twice where it is."""
    egg, whisked = node("egg", "raw"), node("egg", "whisked")
    left, right = node("cake", "raw"), node("crust", "raw")
    units = (
        unit("whisk", [egg], [whisked]),
        unit("mix", [whisked, node("flour")], [left]),
        unit("brush", [whisked, node("dough")], [right]),
        unit("bake", [left, right], [node("pie", "baked")]),
    )
    return [TaskTree(units)], node("pie", "baked")


def test_the_two_semantics_differ_and_say_so() -> None:
    pytest.importorskip("ortools")
    trees, pie = shared()
    monotone = kitchen(trees).retrieve(pie)
    consuming = kitchen(trees).retrieve(pie, Semantics.CONSUMING)
    assert len(monotone.steps or ()) == 4
    assert len(consuming.steps or ()) == 5
    assert consuming.cost == pytest.approx(monotone.cost + 0.35)
    assert consuming.repeats == {0: 2}
    assert [(n.label, c) for n, c in consuming.copies] == [("egg", 2)]
    assert "consuming" in consuming.sentence
    assert monotone.replay == consuming.replay == ""


def test_a_person_takes_the_dearest_steps() -> None:
    pytest.importorskip("ortools")
    trees, pie = shared()
    alone = kitchen(trees).retrieve(pie)
    helped = kitchen(trees).retrieve(pie, person_steps=1)
    done = [s for s in helped.steps or () if s.person]
    assert [s.unit.motion for s in done] == ["brush"]
    assert helped.cost == pytest.approx(alone.cost - 0.4 + PROFILE.person)
    with pytest.raises(ConfigError, match="not offered together"):
        kitchen(trees).retrieve(pie, Semantics.CONSUMING, person_steps=1)


def test_the_stream_of_plans_begins_with_the_optimum() -> None:
    pytest.importorskip("ortools")
    goal = node("b", "x")
    trees = [TaskTree((unit(m, [node("a")], [goal]),)) for m in ("stir", "mix", "blend")]
    found = list(islice(kitchen(trees).plans(goal), 5))
    assert [s.unit.motion for f in found for s in f.steps or ()] == ["blend", "mix", "stir"]
    assert found[0].cost == kitchen(trees).retrieve(goal).cost


def test_every_shipped_tree_is_retrieved_proved_and_replayed() -> None:
    network = merge(shipped())
    assert len(shipped()) >= 12
    for profile in ("one_arm", "two_arms"):
        ready = Kitchen(network, Prices(CostProfile.load(profile)))
        for tree in shipped():
            assert tree.target is not None
            found = ready.retrieve(tree.target)
            assert found.steps, tree.name
            assert found.proved
            assert found.replay == ""
            assert found.cost <= sum(CostProfile.load(profile).cost(u) for u in tree.units) + 1e-9
            assert all(x.origin is Origin.KNOWLEDGE for s in found.steps for x in s.sources)


def test_json_names_costs_and_sources() -> None:
    body = Kitchen(merge(shipped()), Prices(PROFILE)).retrieve(shipped()[0].target or node("")).to_json()
    assert body["replay"] == "valid"
    assert body["proved"] is True
    assert body["steps"][0]["from"]


def test_statistics_count_each_unit_once() -> None:
    body = of(shared()[0], top=2)
    assert body["units"] == body["units_written"] == 4
    assert body["motions"][0][1] == 1
    assert sum(share for *_, share in of(shared()[0], top=99)["motions"]) == pytest.approx(1)


def built(network: Network) -> Kitchen:
    return Kitchen(network, Prices(PROFILE))


def test_greedy_is_a_plan_but_not_always_the_cheapest() -> None:
    goal = node("b", "x")
    ready = built(merge([TaskTree((unit(m, [node("a")], [goal]),)) for m in ("stir", "mix")]))
    found = greedy(ready.graph, ready.stock, ready.node(goal))
    assert found == (0,)
    assert ready.graph.total(found) > ready.retrieve(goal).cost * 1000
    assert greedy(ready.graph, frozenset(), ready.node(goal)) is None


def test_the_papers_search_lists_paths_that_are_no_plans() -> None:
    """A needed input that nothing makes does not stop it; ours says that there is no plan."""
    goal = node("dish", "ready")
    sauce = node("sauce", "mixed", holds=("a", "b"))
    first = unit("mix", [sauce, node("c", "cut")], [goal])
    tree = TaskTree((first, unit("cut", [node("c")], [node("c", "cut")])))
    ready = built(merge([tree]))
    found = path_search(ready.graph, ready.stock - {ready.node(goal)}, ready.node(goal))
    assert found.paths
    assert not any(ready.node(goal) in ready.graph.fire(p, ready.stock)[0] for p in found.paths)
    assert ready.retrieve(goal).steps is None


def test_substitution_swaps_ingredients_of_the_most_similar_recipe() -> None:
    tree, swaps = substitute(shipped(), {"strawberry", "milk"})
    assert swaps
    assert set(swaps.values()) <= {"strawberry", "milk"}
    assert {"strawberry", "milk"} <= foods(tree)
