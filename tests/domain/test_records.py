"""Types, objects, states, plans, goals, skills, verdicts and exclusions: what they hold and what they refuse."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import pytest

from handrail.domain import (
    UNKNOWN,
    Attribute,
    Cost,
    Derived,
    Domain,
    Exclusions,
    Fluent,
    Goal,
    GoalSource,
    Kind,
    LayerResult,
    Obj,
    Parameter,
    Plan,
    Reason,
    Safety,
    Skill,
    State,
    Step,
    Task,
    Type,
    Verdict,
    show_atom,
    show_fact,
)
from handrail.domain import formula as f
from handrail.domain.files import load_scene
from handrail.domain.grounder import grounder
from handrail.domain.plan import steps_of
from handrail.domain.state import state_from_json
from handrail.domain.types import Objects
from handrail.errors import DomainError


def test_unknown_is_one_thing_and_no_truth_value() -> None:
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    assert repr(UNKNOWN) == "unknown"
    assert UNKNOWN not in (None, False, 0, "unknown")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(UNKNOWN)


def test_facts_are_shown_as_they_are_written() -> None:
    assert show_atom(("at", "robot_1")) == "at(robot_1)"
    assert show_fact(("open", "fridge"), True) == "open(fridge)"
    assert show_fact(("open", "fridge"), False) == "not open(fridge)"
    assert show_fact(("on", "mug"), None) == "on(mug) == none"
    assert show_fact(("portions", "jug"), 3) == "portions(jug) == 3"
    assert show_fact(("on", "mug"), UNKNOWN) == "on(mug) == unknown"


def test_defaults_of_fluents() -> None:
    assert Fluent("a").default is False
    assert Fluent("a", kind=Kind.COUNT, low=2, high=5).default == 2
    assert Fluent("a", kind=Kind.OBJECT, types=("t",), optional=True).default is None
    assert Fluent("a", kind=Kind.OBJECT, types=("t",)).default is UNKNOWN
    assert str(Fluent("n", (Parameter("x", ("t", "u")),), Kind.COUNT, low=1, high=4)) == "n(x: t | u): 1..4"
    assert str(Fluent("n", (), Kind.OBJECT, ("t", "u"), True)) == "n(): t | u?"


def domain(**changes: object) -> Domain:
    parts: dict[str, object] = {
        "name": "d",
        "types": {"a": Type("a"), "b": Type("b", "a", (Attribute("soft", "b"),)), "c": Type("c", "b"), "z": Type("z")},
        "fluents": {"f": Fluent("f", (Parameter("x", ("a",)),))},
        "skills": {"s": Skill("s", (Parameter("x", ("a",)),))},
    }
    return Domain(**{**parts, **changes})  # type: ignore[arg-type]


def test_hierarchy() -> None:
    d = domain()
    assert d.subtypes("a") == {"a", "b", "c"}
    assert d.subtypes("object") == {"a", "b", "c", "z", "object"}
    assert d.supertypes("c") == ("c", "b", "a")
    assert set(d.attributes_of("c")) == {"soft"} and not d.attributes_of("a")
    with pytest.raises(DomainError, match="no type 'q'"):
        d.subtypes("q")
    with pytest.raises(DomainError, match="its own ancestor: x is y is x"):
        domain(types={"x": Type("x", "y"), "y": Type("y", "x")})
    with pytest.raises(DomainError, match="which is not declared"):
        domain(types={"x": Type("x", "why")})


def test_names_mean_one_thing_unless_loose() -> None:
    clash = {"f": Derived("f", (), f.TRUE)}
    with pytest.raises(DomainError, match="'f' is both fluent and derived fluent"):
        domain(derived=clash)
    assert domain(derived=clash, loose_names=True).kind_of_name("f") == ""
    assert domain().kind_of_name("soft") == "attribute"
    assert domain(skills={"f": Skill("f")}).skill("f").name == "f", "skills stand in plans only and may share a name"
    with pytest.raises(DomainError, match=r"no skill 'ss'\. Did you mean 's'\?"):
        domain().skill("ss")


FINGERPRINTED = [
    {"types": {"a": Type("a"), "b": Type("b", "a"), "c": Type("c", "b"), "z": Type("z")}},
    {"fluents": {"f": Fluent("f", (Parameter("x", ("b",)),))}},
    {"derived": {"d": Derived("d", (), f.TRUE)}},
    {"constants": (Obj("o", "a"),)},
    {"safety": Safety(no_go=("o",))},
    {"safety": Safety(limits={"speed": 1.0})},
    {"skills": {"s": Skill("s", (Parameter("x", ("b",)),))}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), cost=Cost({"": 2.0}))}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), approval=f.FALSE)}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), repeatable=False)}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), speed=0.1)}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), true_wins=True)}},
    {"skills": {"s": Skill("s", (Parameter("x", ("a",)),), hook=lambda *_: None)}},
]


@pytest.mark.parametrize("i", range(len(FINGERPRINTED)))
def test_the_fingerprint_sees_what_decides(i: int) -> None:
    assert domain(**FINGERPRINTED[i]).fingerprint != domain().fingerprint


def test_the_fingerprint_ignores_what_does_not() -> None:
    assert domain(name="e", source="elsewhere", extra={"about": "x"}).fingerprint == domain().fingerprint


def test_profiles(kitchen: Domain) -> None:
    assert kitchen.with_profile("big").profile == "big"
    assert kitchen.with_profile("").fingerprint == kitchen.fingerprint
    with pytest.raises(DomainError, match=r"no skill has a cost for the profile 'bgi'\. Did you mean 'big'"):
        kitchen.with_profile("bgi")


BAD_OBJECTS = [
    ((Obj("o", "q"),), "unknown type 'q'"),
    ((Obj("o", "a", {"soft": True}),), r"object 'o' \(a\) has no attribute 'soft'"),
    ((Obj("o", "b", {"soft": "very"}),), "must be true or false"),
    ((Obj("o", "a"), Obj("o", "b")), "declared twice, as a and as b"),
    ((Obj("f", "a"),), "has the name of a fluent"),
]


@pytest.mark.parametrize("i", range(len(BAD_OBJECTS)))
def test_wrong_objects(i: int) -> None:
    objects, part = BAD_OBJECTS[i]
    with pytest.raises(DomainError, match=part):
        domain().objects(*objects)


def test_objects_by_type() -> None:
    d = domain(constants=(Obj("k", "c"),))
    o = d.objects(Obj("y", "b"), Obj("x", "a", words=("ex",)), Obj("k", "c"))
    assert o.of("a") == ("k", "x", "y") and o.of("b") == ("k", "y") and o.of("z") == ()
    assert o.of("z", "c") == ("k",)
    assert o.members("b") == {"k", "y"}
    assert o.names() == ("k", "x", "y") and len(o) == 3
    assert o.get("x") == Obj("x", "a", words=("ex",)) and o.get("nobody") is None
    assert o.attribute("soft", "y") is False and o.attribute("soft", "nobody") is False
    assert "w" in o.with_(Obj("w", "z")) and "w" not in o
    assert o == d.objects(Obj("x", "a", words=("ex",)), Obj("y", "b")) and o != d.objects()
    assert o.values_of(Fluent("g", (), Kind.OBJECT, ("b",), True)) == (None, "k", "y")
    assert o.values_of(Fluent("g", (), Kind.COUNT, low=1, high=3)) == (1, 2, 3)
    with pytest.raises(DomainError, match=r"gives a number for far\(x\)"):
        o.number(("far", "x"))
    assert Objects(d, (), {("far", "k"): 2.5}).number(("far", "k")) == 2.5


def test_states(kitchen: Domain) -> None:
    scene = load_scene(kitchen)
    s = scene.state
    assert s[("open", "fridge")] is False and s[("in", "hand_1")] is None and s[("on", "mug")] == "table"
    changed = s.with_({("open", "fridge"): True, ("on", "mug"): UNKNOWN})
    assert s[("open", "fridge")] is False
    assert changed.unknown() == (("on", "mug"),)
    assert changed != s and s.with_({("open", "fridge"): False}) == s
    assert hash(s) == hash(s.with_({("open", "fridge"): False}))
    assert s.state_id == s.with_({("wet", "mug"): False}).state_id != changed.state_id
    assert state_from_json(scene.objects, json.loads(json.dumps(changed.to_json()))) == changed
    assert "on(mug) == unknown" in str(changed)
    with pytest.raises(DomainError, match="no fluent 'opn'"):
        s.get(("opn", "fridge"))
    with pytest.raises(DomainError, match="is not a fact"):
        state_from_json(scene.objects, {"open fridge": True})


BAD_FACTS = [
    (("opn", "fridge"), True, "no fluent 'opn'"),
    (("open",), True, "has 0 arguments"),
    (("open", "fridg"), True, "no object 'fridg'. Did you mean 'fridge'"),
    (("open", "table"), True, "'table' is a place, but c must be container"),
    (("open", "fridge"), 1, "must be true or false"),
    (("portions", "mug"), 4, "a whole number 0..3"),
    (("portions", "mug"), True, "a whole number"),
    (("at", "robot_1"), None, "must be one of fridge, table"),
    (("on", "mug"), "robot_1", "or none"),
]


@pytest.mark.parametrize("i", range(len(BAD_FACTS)))
def test_wrong_facts_are_refused(i: int, kitchen: Domain) -> None:
    atom, value, part = BAD_FACTS[i]
    with pytest.raises(DomainError) as e:
        State.checked(load_scene(kitchen).objects, {atom: value})
    assert part in str(e.value)


def test_plans_and_their_ids() -> None:
    one = Plan.of(("go", "a", "b"), Step("stop"))
    assert str(one) == "go(a, b), stop()" and len(one) == 2 and next(iter(one)).key == ("go", "a", "b")
    assert one.plan_id == replace(one, reasoning="because", source="model").plan_id
    assert one.plan_id != Plan.of(("go", "b", "a"), ("stop",)).plan_id
    assert Plan.of(("p", "o", "aob")).plan_id != Plan.of(("p", "oa", "ob")).plan_id
    assert steps_of([("go", "a", "b"), ("stop",)]) == one.steps


def test_goals_and_their_ids() -> None:
    done = f.Test(f.Call("open", (f.Const("fridge"),)), "==", f.Const(True))
    one = Goal(done, text="open it", source=GoalSource.PERSON)
    assert one.goal_id == Goal(done).goal_id
    assert len({Goal(done).goal_id, Goal(f.TRUE, (done,)).goal_id, Goal(keep=(done,)).goal_id, Goal().goal_id}) == 4
    assert Goal(f.TRUE, (done, done), strict=True).goal_id != Goal(f.TRUE, (done, done)).goal_id


def test_a_skill_in_words() -> None:
    s = Skill("put_on", (Parameter("x", ("a",)), Parameter("to", ("a",))), says="Put {x} on {to}.")
    assert s.words(("blue_mug", "table")) == "Put blue mug on table."
    assert s.words(("blue_mug", "table"), {"blue_mug": "the mug"}) == "Put the mug on table."
    assert replace(s, says="").words(("blue_mug", "table")) == "put on blue mug, table"
    assert s.bind(("m", "t")) == {"x": "m", "to": "t"}
    with pytest.raises(ValueError, match="zip"):
        s.bind(("m",))
    assert Cost({"": 2.0, "fast": 1.0}).of("fast") == 1.0
    assert Cost({"": 2.0, "fast": 1.0}).of("slow") == 2.0


def test_grounding_names_what_is_wrong(kitchen: Domain) -> None:
    objects = load_scene(kitchen).objects
    ground = grounder(objects)
    assert grounder(objects) is ground
    for step, part in [
        (Step("pik"), "no skill 'pik'"),
        (Step("pick", ("robot_1",)), "has 1 arguments; the skill is pick("),
    ]:
        with pytest.raises(DomainError) as e:
            ground.operator(step)
        assert part in str(e.value)
    for condition, part in [
        (f.Test(f.Param("thng"), "==", f.Const("mug")), "no parameter or object 'thng'"),
        (f.Test(f.Call("opn", (f.Const("fridge"),)), "==", f.Const(True)), "no fluent, attribute or type 'opn'"),
        (f.Test(f.Call("open", ()), "==", f.Const(True)), "has 0 arguments"),
        (f.Test(f.Call("sharp", ()), "==", f.Const(True)), "takes one"),
        (f.Test(f.Call("free", ()), "==", f.Const(True)), "has 0 arguments"),
        (f.Test(f.Call("free", (f.Const("hand_1"),)), "==", f.Const("mug")), "can't be compared"),
    ]:
        with pytest.raises(DomainError) as e:
            ground.node(condition)
        assert part in str(e.value)


def test_a_verdict_as_json() -> None:
    bad = Reason("PRECONDITION", "no", 2, ("open", "fridge"), 1, "open it", 3, 4, {"n": 1})
    assert bad.to_json() == {
        "code": "PRECONDITION", "sentence": "no", "step": 2, "fact": "open(fridge)", "changed_by": 1, "hint": "open it",
        "line": 3, "column": 4, "details": {"n": 1},
    }  # fmt: skip
    assert Reason("X", "y").to_json() == {"code": "X", "sentence": "y"}
    verdict = Verdict(
        False, (LayerResult("schema", True), LayerResult("symbolic", False, (bad,), (bad,))), ("physics",)
    )
    assert verdict.reasons == (bad,) and verdict.flags == (bad,)
    assert json.loads(json.dumps(verdict.to_json()))["unchecked"] == ["physics"]


def test_exclusions_end_when_their_facts_change() -> None:
    step = Step("pick", ("mug",))
    e = Exclusions()
    made = e.add(
        step, {("open", "door"): False, ("on", "mug"): "shelf", ("wet", "mug"): UNKNOWN}, "it slipped", "SLIPPED"
    )
    assert (
        len(e) == 1 and e.add(step, {("on", "mug"): "shelf", ("open", "door"): False}, "it slipped", "SLIPPED") == made
    )
    assert len(e) == 1
    assert ("wet", "mug") not in dict(made.because)
    here = {("open", "door"): False, ("on", "mug"): "shelf"}
    assert e.active(step, here) == made
    assert e.active(step, {**here, ("open", "door"): True}) is None
    assert e.active(step, {("open", "door"): False}) is None, "a fact that is not listed counts as changed"
    assert e.active(Step("pick", ("cup",)), here) is None
    again = Exclusions([type(made).from_json(json.loads(json.dumps(made.to_json())))])
    assert again.snapshot_id == e.snapshot_id and list(again) == list(e)
    before = e.snapshot_id
    e.extend([made])
    assert e.snapshot_id == before
    e.add(step)
    assert e.snapshot_id != before
    assert str(made) == "pick(mug) while on(mug) == shelf and not open(door): it slipped"


def test_a_no_go_place_that_means_nothing_is_an_error(kitchen: Domain) -> None:
    scene = load_scene(kitchen)
    own = [o for o in scene.objects if o not in kitchen.constants]
    assert Task(Objects(replace(kitchen, safety=Safety(no_go=("fridge",))), own)).rules
    with pytest.raises(DomainError, match="no-go place 'robot_1' means nothing"):
        Task(Objects(replace(kitchen, safety=Safety(no_go=("robot_1",))), own))
    with pytest.raises(DomainError, match=r"'frige' is not an object\. Did you mean 'fridge'"):
        Task(Objects(replace(kitchen, safety=Safety(no_go=("frige",))), own))


def test_no_go_covers_robots_of_every_kind() -> None:
    d = Domain(
        "d",
        {
            "mover": Type("mover"),
            "robot": Type("robot", "mover"),
            "drone": Type("drone", "robot"),
            "spot": Type("spot"),
        },
        {"at": Fluent("at", (Parameter("m", ("mover",)),), Kind.OBJECT, ("spot",))},
        {
            "go": Skill(
                "go",
                (Parameter("m", ("mover",)), Parameter("to", ("spot",))),
                makes=(f.Assign(f.Call("at", (f.Param("m"),)), f.Param("to")),),
            )
        },
        safety=Safety(no_go=("pit",)),
    )
    objects = d.objects(Obj("flyer", "drone"), Obj("cat", "mover"), Obj("pit", "spot"), Obj("hall", "spot"))
    task = Task(objects)
    values = task.start(State(objects, {("at", "flyer"): "hall", ("at", "cat"): "hall"}))
    assert not task.operator(Step("go", ("flyer", "pit"))).applicable(values)
    assert task.operator(Step("go", ("flyer", "hall"))).applicable(values)
    assert task.operator(Step("go", ("cat", "pit"))).applicable(values), "a cat may go where it likes"
