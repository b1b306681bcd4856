"""Reading whole files: the frame, its mistakes with their places, scenes, and what is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.domain import UNKNOWN, Domain, Kind, OnStop, Plan, RuleKind, Task
from handrail.domain import formula as f
from handrail.domain.files import Expect, domain_from_text, load_domain, load_scene, scene_names
from handrail.domain.grounder import grounder
from handrail.domains import NAMES, path
from handrail.errors import ConfigError, DomainError


def test_the_frame_becomes_records(kitchen: Domain) -> None:
    d = kitchen
    assert d.name == "small kitchen"
    assert d.supertypes("container") == ("container", "place")
    assert d.attributes["material"].symbols == ("glass", "metal")
    assert d.fluents["in"].optional and d.fluents["in"].types == ("item",)
    assert (d.fluents["portions"].kind, d.fluents["portions"].high) == (Kind.COUNT, 3)
    assert [p.name for p in d.skills["pour"].params] == ["r", "hand", "source", "target"]
    pick = d.skills["pick"]
    assert pick.says == "Pick up {thing} with {hand}."
    assert (pick.speed, pick.force, pick.on_stop, pick.approval) == (0.25, None, OnStop.HOLD, f.TRUE)
    assert d.skills["open"].force == 40
    assert not d.skills["pour"].repeatable
    assert str(d.skills["go"].approval) == "occupied(b)"
    assert [r.kind for r in d.safety.rules] == [RuleKind.NEVER, RuleKind.AFTER]
    assert d.safety.rules[1].because == "the fridge is shut again"
    assert d.safety.limits == {"speed": 0.5, "force": 40.0}
    assert [o.name for o in d.constants] == ["table", "fridge", "robot_1", "hand_1"]
    assert d.constants[3].words == ("gripper",)


def test_costs_follow_profile_and_tables(kitchen: Domain) -> None:
    def cost(domain: Domain, *step: str) -> float:
        scene = load_scene(domain)
        return grounder(scene.objects).operator(Plan.of(step).steps[0]).cost

    assert cost(kitchen, "go", "robot_1", "table", "fridge") == 0.5 + 0.5 * 2
    assert cost(kitchen, "go", "robot_1", "fridge", "table") == 0.5 + 0.5 * 2
    assert cost(kitchen, "go", "robot_1", "table", "table") == 0.5 + 0.5 * 1
    assert cost(kitchen.with_profile("big"), "go", "robot_1", "table", "fridge") == 1 + 0.5 * 2
    assert cost(kitchen.with_profile("big"), "pick", "robot_1", "hand_1", "mug") == 0.2


def test_every_profile_and_scene_number_counts(kitchen_text: str) -> None:
    scene = kitchen_text.replace("  later:\n", '  later:\n    numbers: {distance: {"table, fridge": 7}}\n')
    d = domain_from_text(scene)
    later = load_scene(d, "later")
    assert grounder(later.objects).operator(Plan.of(("go", "robot_1", "table", "fridge")).steps[0]).cost == 0.5 + 3.5


def test_scenes_build_on_each_other(kitchen: Domain) -> None:
    assert scene_names(kitchen) == ("noon", "later")
    noon, later = load_scene(kitchen), load_scene(kitchen, "later")
    assert noon.name == "noon"
    assert "knife" in noon.objects and "knife" not in later.objects
    assert "pan" in later.objects and "pan" not in noon.objects
    assert later.state[("open", "fridge")] is True
    assert later.state[("on", "mug")] is UNKNOWN
    assert later.state[("portions", "jug")] == 3
    assert ("on", "knife") not in later.state.values
    assert later.requests == ()
    assert later.goal is None


def test_requests_have_goals_or_reasons(kitchen: Domain) -> None:
    do, ask, refuse = load_scene(kitchen).requests
    assert (do.expect, str(do.goal)) == (Expect.DO, "on(mug) == fridge and not open(fridge)")
    assert do.goal is not None and do.goal.text == "Cool the mug."
    assert ask.expect is Expect.ASK and str(ask.goal) == "in(hand_1) == jug"
    assert (refuse.expect, refuse.goals, refuse.because) == (Expect.REFUSE, (), "knives are not thrown")
    assert load_scene(kitchen).goal == do.goal


def test_the_cool_mug_can_be_checked(kitchen: Domain) -> None:
    scene = load_scene(kitchen)
    r, h = "robot_1", "hand_1"
    plan = Plan.of(
        ("go", r, "table", "fridge"),
        ("open", r, h, "fridge"),
        ("go", r, "fridge", "table"),
        ("pick", r, h, "mug"),
    )
    task = Task(scene.objects, scene.goal)
    values = task.start(scene.state)
    for step in plan.steps[:3]:
        assert task.operator(step).applicable(values)
        task.operator(step).apply(values)
    assert not task.operator(plan.steps[3]).applicable(values), "the fridge must be shut within two steps"


# (what to replace, by what with ¦ before the character that is wrong, part of the message)
WRONG = [
    ('"at(r) == on(thing)"', '"at(r) == on(¦thng)"', "skill 'pick' needs \"at(r) == on(thng)\": there is no parameter"),
    ('"in(hand) := thing"', '"in(hand) ¦= thing"', "'==' tests for equality and ':=' assigns"),
    ('"Pick up {thing}', '¦"Pick up {thng}', "slot {thng}, which is no parameter. Did you mean 'thing'?"),
    ("thing: item}\n    needs:\n", "thing: ¦itm}\n    needs:\n", "there is no type 'itm'. Did you mean 'item'?"),
    ("container: {is: place}", "container: {is: ¦plce}", "there is no type 'plce'. Did you mean 'place'?"),
    ("  place:\n  container", "  ¦place: {is: container}\n  container", "its own ancestor"),
    ("sharp: bool}}", "sharp: ¦yes}}", "the attribute 'sharp' is `bool` or a list of words"),
    (
        '"open(c: container): bool"',
        '"open(c: container): ¦boolean"',
        "there is no type 'boolean'. Did you mean 'bool'?",
    ),
    ('"open(c: container): bool"', '"open(c: container)¦"', "expected ':' and the fluent's values"),
    ('"portions(v: vessel): 0..3"', '"portions(v: vessel): 3..¦0"', "from a smaller to a larger number"),
    ('"portions(v: vessel): 0..3"', '"portions(v: vessel): bool¦?"', "a bool can't be none"),
    ('"wet(i: item): bool"', '¦"open(i: item): bool"', "'open' is a fluent already (line 15)"),
    ('"wet(i: item): bool"', '"wet(i: item, ¦i: place): bool"', "'i' is there twice"),
    ('"wet(i: item): bool"', '¦"sharp(i: item): bool"', "'sharp' is an attribute already"),
    ("  table: place\n", "  table: ¦plce\n", "object 'table': there is no type 'plce'"),
    ("  table: place\n", "  table: {is: place, ¦colour: red}\n", "object 'table' has no key 'colour'"),
    ("  table: place\n", "  ¦open: place\n", "'open' is a fluent already"),
    ("  table: place\n", "  ¦and: place\n", "'and' is a word of the language"),
    ("  table: place\n", "  ¦big-table: place\n", "'big-table' can't be the name of an object"),
    ("cost: 0.2\n", "cost: ¦-0.2\n", "'cost' is a finite number of at least 0, not -0.2"),
    ("cost: 0.2\n", "cost: ¦.nan\n", "finite number"),
    ("cost: 0.2\n", "cost: ¦.inf\n", "finite number"),
    ("speed: 25 cm/s", "speed: ¦25", "the speed 25 has no unit; write '25 m/s'"),
    ("speed: 25 cm/s", "speed: ¦-25 cm/s", "must be finite and above 0"),
    ("speed: 25 cm/s", "speed: ¦25 mph", "unknown unit 'mph'; valid: m/s, cm/s, mm/s, km/h"),
    ("speed: 25 cm/s", "speed: ¦quick", "'quick' is not a speed"),
    ("speed: 25 cm/s", "speed: ¦1e999 m/s", "must be finite"),
    ("speed: 0.5 m/s, force", "speed: ¦.inf, force", "has no unit"),
    ("force: 40 N}", "force: ¦0 N}", "must be finite and above 0"),
    ("force: 40 N}", "¦torque: 40 N}", "safety limits has no key 'torque'"),
    ("on_stop: hold", "on_stop: ¦freeze", "'on_stop' is one of hold, release, retract"),
    ("repeatable: false", "repeatable: ¦maybe", "'repeatable' is true or false, not 'maybe'"),
    ("    cost: 0.2\n", "    ¦costs: 0.2\n", "skill 'pick' has no key 'costs'. Did you mean 'cost'?"),
    ("    cost: 0.2\n", "    ¦preconditions: []\n", "Preconditions are `needs`"),
    ("safety:\n", "¦rules: []\nsafety:\n", "Rules stand under `safety:`"),
    ('per: "distance(a, b)"', 'per: "¦distnce(a, b)"', "there is no number 'distnce'"),
    ('per: "distance(a, b)"', 'per: "¦distance(a)"', "'distance' takes 2 arguments, here it has 1"),
    ('per: "distance(a, b)"', 'per: "distance(a, ¦r)"', "'r' is a robot"),
    ('per: "distance(a, b)"', 'per: "distance(¦at(r), b)"', "nothing that a step may change"),
    ('approval: "occupied(b)"', 'approval: "occupied(¦c)"', "no parameter or object 'c'"),
    ('"after open(fridge) within 2 steps', '"after open(fridge) within 2 ¦days', "expected 'steps'"),
    ("skill: place, when", "skill: ¦plce, when", "there is no skill 'plce'. Did you mean 'place'?"),
    ("wet(thing) and to == fridge", "wet(¦item) and to == fridge", "'item' is a type"),
    (
        "with: {r: robot, where: place}",
        "with: {r: robot, where: place, ¦table: place}",
        "'table' is an object; choose another name",
    ),
    (
        'makes: ["open(what) := false"]',
        'makes: ["open(what) := false", "¦open(what) := true"]',
        "says otherwise; one step gives one target one value",
    ),
    ("with: {r: robot, where: place}", "with: ¦[r, where]", "'with' must be a mapping, not a list"),
    ('  - "occupied(p: place): bool"', "  - occupied(p: place)¦: bool", "Put quotes around a text that has ': ' in it"),
    (
        '  - "occupied(p: place): bool"',
        "  - ¦{occupied: bool}",
        "each item of 'fluents' is a text, not a mapping. Put quotes",
    ),
    ('{"table, fridge": 2', '{¦"table": 2', "'table' names 1 objects; distance takes 2"),
    ('{"table, fridge": 2', '{"table, fridge": ¦-2', "not a finite number of at least 0"),
    ("domain: small kitchen\n", "¦", "the file needs the key 'domain'"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda c: c[1].strip()[:40])
def test_a_mistake_is_named_with_its_place(case: tuple[str, str, str], kitchen_text: str) -> None:
    old, new, part = case
    assert kitchen_text.count(old) >= 1, old
    before, _, rest = kitchen_text.replace(old, new, 1).partition("¦")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    with pytest.raises(DomainError) as e:
        domain_from_text(before + rest, "k.yaml")
    assert part in str(e.value), str(e.value)
    assert str(e.value).count("\n") == 0, "one mistake, one line"
    assert str(e.value.where) == f"k.yaml:{line}:{column}", str(e.value)


def test_every_mistake_is_named_at_once(kitchen_text: str) -> None:
    text = kitchen_text.replace("on(thing)", "on(thng)").replace("open(what) := true", "opn(what) := true")
    with pytest.raises(DomainError) as e:
        domain_from_text(text, "k.yaml")
    lines = str(e.value).splitlines()
    assert len(lines) == 4
    assert all(line.startswith("k.yaml:") for line in lines)
    assert sum("'thng'" in line for line in lines) == 3
    assert sum("Did you mean 'open' or 'on'?" in line for line in lines) == 1


def test_derived_fluents_in_a_circle_are_refused(kitchen_text: str) -> None:
    text = kitchen_text.replace(
        '  - "free(h: hand): in(h) == none"\n',
        '  - "free(h: hand): not busy(h)"\n  - "busy(h: hand): not free(h)"\n',
    )
    with pytest.raises(DomainError, match="circle: free uses busy uses free") as e:
        domain_from_text(text, "k.yaml")
    assert e.value.where is not None and e.value.where.line == 20


SCENES = [
    (
        '"on(mug) := table"',
        '"on(mug) := tble"',
        "scene 'noon' state \"on(mug) := tble\": there is no parameter or object 'tble'",
    ),
    ('"on(mug) := table"', '"on(jug) := table"', "says twice what on(jug) is"),
    ("    from: noon\n", "    from: non\n", "there is no scene 'non'. Did you mean 'noon'?"),
    ("    from: noon\n", "    from: later\n", "builds on itself"),
    ("without: [knife]", "without: [knive]", "takes away 'knive', which is not there. Did you mean 'knife'?"),
    ("      pan: item\n", "      thing: item\n", "'thing' is a parameter of the skill 'pick'"),
    ("      pan: item\n", "      open: item\n", "has the name of a fluent"),
    (
        'goal: "on(mug) == fridge',
        'goal: "on(mgu) == fridge',
        'goal "on(mgu) == fridge and not open(fridge)": there is no',
    ),
    ("meant: 1", "meant: 2", "'meant' counts the goals from 0 to 1"),
    ("expect: ask", "expect: dance", "'expect' is one of do, ask, refuse"),
    (', expect: refuse, because: "knives are not thrown"', "", "a request that is carried out needs a `goal`"),
    (
        'goals: ["in(hand_1) == mug", "in(hand_1) == jug"]',
        'goals: ["in(hand_1) == mug", "in(hand_1) == mug and"]',
        "found the end",
    ),
    ('        goals: ["in(hand_1) == mug", "in(hand_1) == jug"]\n', "", "needs two `goals` or more"),
]


@pytest.mark.parametrize("case", SCENES, ids=lambda c: c[1].strip()[:40] or c[0].strip()[:20])
def test_a_mistake_in_a_scene_is_named_when_it_is_read(case: tuple[str, str, str], kitchen_text: str) -> None:
    old, new, part = case
    d = domain_from_text(kitchen_text.replace(old, new, 1), "k.yaml")
    with pytest.raises(DomainError) as e:
        for name in scene_names(d):
            load_scene(d, name)
    assert part in str(e.value)
    assert e.value.where is None or e.value.where.source == "k.yaml"


def test_an_unknown_scene_is_not_guessed(kitchen: Domain) -> None:
    with pytest.raises(DomainError, match="Did you mean 'noon'"):
        load_scene(kitchen, "non")
    with pytest.raises(DomainError, match="has no scenarios"):
        load_scene(domain_from_text("domain: d\nskills: {go: {}}"))


def test_files_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="can't read the domain file: No such file"):
        load_domain(tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_bytes(b"domain: \xff\xfe")
    with pytest.raises(DomainError, match="not UTF-8"):
        load_domain(bad)


def test_a_byte_order_mark_is_fine(tmp_path: Path, kitchen_text: str) -> None:
    file = tmp_path / "k.yaml"
    file.write_text("\ufeff" + kitchen_text, encoding="utf-8")
    assert load_domain(file).name == "small kitchen"


def test_reading_twice_gives_the_same_fingerprint(kitchen_text: str) -> None:
    one, two = domain_from_text(kitchen_text, "a"), domain_from_text(kitchen_text, "b")
    assert one.fingerprint == two.fingerprint
    for old, new in [
        ("within 2", "within 3"),
        ('"table, fridge": 2', '"table, fridge": 3'),
        ("0.5 m/s, f", "0.6 m/s, f"),
    ]:
        assert domain_from_text(kitchen_text.replace(old, new), "c").fingerprint != one.fingerprint


def test_extra_parts_are_passed_on(kitchen_text: str) -> None:
    d = domain_from_text(kitchen_text + "physical: {rooms: {a: [1, 2.5]}}\n")
    assert d.extra["physical"] == {"rooms": {"a": [1, 2.5]}}


@pytest.mark.parametrize("name", NAMES)
def test_shipped_domains_have_scenes_that_read(name: str) -> None:
    d = load_domain(path(name))
    requests = [r for s in scene_names(d) for r in load_scene(d, s).requests]
    assert {r.expect for r in requests} == set(Expect)
    assert len({r.say for r in requests}) == len(requests)
    assert all(r.because for r in requests if r.expect is not Expect.DO)
    assert all(s.says and s.approval is not None for s in d.skills.values())


def test_the_home_has_enough_to_say() -> None:
    d = load_domain(path("home"))
    requests = [r for s in scene_names(d) for r in load_scene(d, s).requests]
    assert len(requests) >= 40
    assert sum(r.expect is Expect.DO for r in requests) >= 12


def test_an_unknown_shipped_domain_is_not_guessed() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'home'"):
        path("hom")


@given(st.data())
@settings(max_examples=60)
def test_a_damaged_file_reads_or_is_a_domain_error(kitchen_text: str, data: st.DataObject) -> None:
    lines = kitchen_text.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "twice", "cut", "swap", "junk", "indent"]))
        if what == "drop":
            del lines[i]
        elif what == "twice":
            lines.insert(i, lines[i])
        elif what == "cut":
            lines[i] = lines[i][: data.draw(st.integers(0, len(lines[i])))] + "\n"
        elif what == "swap":
            j = data.draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], lines[i]
        elif what == "junk":
            at = data.draw(st.integers(0, len(lines[i])))
            junk = data.draw(
                st.sampled_from(
                    ['"', "{", "}", "[", ": ", "- ", "null", "1", "&a ", "*a ", "!!set ", "\t", "~", "=", "none"]
                )
            )
            lines[i] = lines[i][:at] + junk + lines[i][at:]
        else:
            lines[i] = "  " + lines[i]
    text = "".join(lines)
    try:
        d = domain_from_text(text, "k.yaml")
        for name in scene_names(d):
            load_scene(d, name)
    except DomainError as e:
        assert e.message
        assert e.where is None or e.where.source in ("k.yaml", "")
