"""Laws of the core: ground nodes, operators, rules and kernels against the plain reference semantics.

Random worlds come from the small kitchen: its skills, random states, random conditions with nested terms and quantifiers, random
walks. Unknown facts are checked by completing them at random.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handrail.domain import UNKNOWN, Atom, Domain, Goal, Objects, Rule, RuleKind, Safety, State, Step, Task, Value
from handrail.domain import formula as f
from handrail.domain.files import domain_from_text, load_scene
from handrail.domain.ground import atoms, failing, negate
from handrail.domain.grounder import grounder
from handrail.domain.simplify import tidy
from handrail.evaluate import reference


@pytest.fixture(scope="session", autouse=True)
def _world(kitchen_text: str) -> None:
    TEXT.append(kitchen_text)


TEXT: list[str] = []


@cache
def domain() -> Domain:
    return domain_from_text(TEXT[0], "kitchen.yaml")


@cache
def objects() -> Objects:
    return load_scene(domain()).objects


@cache
def all_atoms() -> dict[Atom, tuple[Value, ...]]:
    out: dict[Atom, tuple[Value, ...]] = {}
    for fluent in domain().fluents.values():
        combos: list[tuple[str, ...]] = [()]
        for p in fluent.params:
            combos = [(*c, o) for c in combos for o in objects().of(*p.types)]
        out.update({(fluent.name, *c): objects().values_of(fluent) for c in combos})
    return out


@cache
def all_steps() -> tuple[Step, ...]:
    out: list[Step] = []
    for skill in domain().skills.values():
        combos: list[tuple[str, ...]] = [()]
        for p in skill.params:
            combos = [(*c, o) for c in combos for o in objects().of(*p.types)]
        out.extend(Step(skill.name, c) for c in combos)
    return tuple(out)


@st.composite
def states(draw: st.DrawFn) -> dict[Atom, Value]:
    return {a: draw(st.sampled_from(values)) for a, values in all_atoms().items()}


@st.composite
def partial_states(draw: st.DrawFn) -> tuple[dict[Atom, Value], dict[Atom, Value]]:
    """A state with unknown facts, and one of its completions."""
    whole = draw(states())
    hidden = draw(st.sets(st.sampled_from(sorted(whole)), max_size=8))
    return {a: (UNKNOWN if a in hidden else v) for a, v in whole.items()}, whole


def call(name: str, *args: f.Term) -> f.Call:
    return f.Call(name, args)


HAND, ROBOT = f.Const("hand_1"), f.Const("robot_1")
ITEMS: list[f.Term] = [f.Const("mug"), f.Const("jug"), f.Const("knife"), call("in", HAND)]
VESSELS: list[f.Term] = [f.Const("mug"), f.Const("jug"), call("in", HAND)]
PLACES: list[f.Term] = [f.Const("table"), f.Const("fridge"), call("at", ROBOT), *(call("on", i) for i in ITEMS)]
COUNTS: list[f.Term] = [*(call("portions", v) for v in VESSELS), f.Const(0), f.Const(1), f.Const(2), f.Const(3)]
X = f.Param("x")


def comparisons(*more: f.Term) -> st.SearchStrategy[f.Condition]:
    item, place = st.sampled_from([*ITEMS, *more]), st.sampled_from(PLACES)
    same = st.sampled_from(["==", "!="])
    order = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])

    def true(name: str, args: st.SearchStrategy[f.Term]) -> st.SearchStrategy[f.Condition]:
        return st.builds(lambda a, v: f.Test(call(name, a), "==", f.Const(v)), args, st.booleans())

    return st.one_of(
        st.builds(f.Test, place, same, st.sampled_from([*PLACES, f.Const(None)])),
        st.builds(f.Test, item, same, st.sampled_from([*ITEMS, *more, f.Const(None)])),
        st.builds(f.Test, st.sampled_from(COUNTS), order, st.sampled_from(COUNTS)),
        true("wet", item),
        true("sharp", item),
        true("open", place),
        true("container", place),
        true("reachable", item),
        true("free", st.just(HAND)),
        st.builds(
            f.Test,
            st.builds(lambda i: call("material", i), item),
            same,
            st.sampled_from([f.Const("glass"), f.Const(None)]),
        ),
    )


def conditions() -> st.SearchStrategy[f.Condition]:
    def more(inner: st.SearchStrategy[f.Condition]) -> st.SearchStrategy[f.Condition]:
        parts = st.lists(inner, min_size=1, max_size=3).map(tuple)
        quantified = st.builds(lambda a, b: f.And((a, b)), comparisons(X), comparisons())
        return st.one_of(
            st.builds(f.Not, inner),
            st.builds(f.And, parts),
            st.builds(f.Or, parts),
            st.builds(
                lambda t, b: f.Some("x", t, b), st.sampled_from(["item", "vessel", "vessel | person"]), quantified
            ),
            st.builds(lambda t, b: f.All("x", t, f.Not(b)), st.sampled_from(["item", "vessel"]), quantified),
        )

    return st.recursive(comparisons(), more, max_leaves=6)


@given(conditions(), states())
@settings(max_examples=100)
def test_a_ground_condition_means_what_it_says(c: f.Condition, s: dict[Atom, Value]) -> None:
    node = grounder(objects()).node(c)
    wanted = reference.true(c, s, objects())
    assert node.holds(s) == wanted
    assert negate(node).holds(s) == (not wanted)
    assert negate(negate(node)).holds(s) == wanted


@given(conditions(), partial_states())
@settings(max_examples=100)
def test_definitely_true_stays_true_in_every_completion(
    c: f.Condition, both: tuple[dict[Atom, Value], dict[Atom, Value]]
) -> None:
    known, whole = both
    node = grounder(objects()).node(c)
    assert not (node.holds(known) and negate(node).holds(known))
    if node.holds(known):
        assert reference.true(c, whole, objects())
    if negate(node).holds(known):
        assert not reference.true(c, whole, objects())


@given(conditions(), partial_states())
@settings(max_examples=75)
def test_tidying_keeps_the_meaning(c: f.Condition, both: tuple[dict[Atom, Value], dict[Atom, Value]]) -> None:
    node = grounder(objects()).node(c)
    neat = tidy(node)
    known, whole = both
    assert neat.holds(whole) == node.holds(whole)
    assert neat.holds(known) == node.holds(known)
    assert atoms(neat) <= atoms(node)


@given(conditions(), states())
@settings(max_examples=60)
def test_failing_parts_are_there_exactly_where_a_condition_fails(c: f.Condition, s: dict[Atom, Value]) -> None:
    node = grounder(objects()).node(c)
    parts = failing(node, s)
    assert bool(parts) == (not node.holds(s))
    assert all(not p.holds(s) for p in parts)


@st.composite
def applicable_steps(draw: st.DrawFn, s: dict[Atom, Value]) -> Step:
    """A step and, in place, a state that is bent until its needs may hold."""
    step = draw(st.sampled_from(all_steps()))
    skill = domain().skills[step.skill]
    b = skill.bind(step.args)
    for n in skill.needs:
        if isinstance(n, f.Test) and n.op == "==" and isinstance(n.left, f.Call):
            left = n.left
            args = [reference.term(a, s, objects(), b) for a in left.args]
            value = reference.term(n.right, s, objects(), b)
            if (left.name, *args) in all_atoms() and value in all_atoms()[(left.name, *args)]:
                s[(left.name, *map(str, args))] = value
    return step


@given(st.data(), states(), conditions())
@settings(max_examples=125)
def test_apply_and_regress_agree_with_the_reference(data: st.DataObject, s: dict[Atom, Value], c: f.Condition) -> None:
    step = data.draw(applicable_steps(s))
    op = grounder(objects()).operator(step)
    run = reference.run([step], s, objects())
    assert op.applicable(s) == (run is not None)
    assert op.condition.holds(s) == (run is not None)
    assume(run is not None)
    after = dict(s)
    done = op.apply(after)
    assert run is not None and after == run[1]
    assert set(done) <= op.writes
    node = grounder(objects()).node(c)
    assert op.regress(node).holds(s) == node.holds(after)
    assert op.regress(negate(node)).holds(s) == (not node.holds(after))


@given(st.data(), partial_states(), conditions())
@settings(max_examples=125)
def test_steps_from_unknown_facts_are_sound(
    data: st.DataObject, both: tuple[dict[Atom, Value], dict[Atom, Value]], c: f.Condition
) -> None:
    known, whole = both
    step = data.draw(applicable_steps(whole))
    op = grounder(objects()).operator(step)
    needed = atoms(op.condition) if data.draw(st.integers(0, 3)) else frozenset()
    for atom, value in whole.items():
        if known[atom] is not UNKNOWN or atom in needed:
            known[atom] = value
    assume(op.applicable(known))
    assert op.applicable(whole)
    node = grounder(objects()).node(c)
    after_known, after_whole = dict(known), dict(whole)
    op.apply(after_known)
    op.apply(after_whole)
    for atom, value in after_known.items():
        assert value is UNKNOWN or value == after_whole[atom]
    if op.regress(node).holds(known):
        assert node.holds(after_whole)
    if node.holds(after_known):
        assert node.holds(after_whole)


def rules() -> st.SearchStrategy[Rule]:
    return st.one_of(
        st.builds(lambda k, c: Rule(k, c), st.sampled_from([RuleKind.NEVER, RuleKind.ALWAYS]), conditions()),
        st.builds(lambda a, b: Rule(RuleKind.BEFORE, a, b), conditions(), conditions()),
        st.builds(lambda a, b, k: Rule(RuleKind.AFTER, a, b, k), conditions(), conditions(), st.integers(0, 3)),
    )


@st.composite
def walks(draw: st.DrawFn, length: int = 6) -> tuple[dict[Atom, Value], list[Step]]:
    """A start and steps that can run from it, rules left out."""
    start = {a: draw(st.sampled_from(v)) for a, v in all_atoms().items()}
    start[("in", "hand_1")] = draw(st.sampled_from([None, "mug"]))
    ground, now, steps = grounder(objects()), dict(start), []
    for _ in range(draw(st.integers(1, length))):
        possible = [s for s in all_steps() if ground.operator(s).applicable(now)]
        if not possible:
            break
        steps.append(draw(st.sampled_from(possible)))
        ground.operator(steps[-1]).apply(now)
    assume(steps)
    return start, steps


def with_rules(*rules: Rule) -> Objects:
    own = [o for o in objects() if o not in domain().constants]
    return Objects(replace(domain(), safety=Safety(rules=rules)) if rules else _plain(), own)


@cache
def _plain() -> Domain:
    return replace(domain(), safety=Safety())


def accepted(task: Task, start: dict[Atom, Value], steps: list[Step]) -> bool:
    values = task.start(State(task.objects, start))
    for step in steps:
        op = task.operator(step)
        if not op.applicable(values):
            return False
        op.apply(values)
    return task.end.holds(values)


@given(walks(), rules())
@settings(max_examples=100)
def test_rules_are_kept_exactly(walk: tuple[dict[Atom, Value], list[Step]], rule: Rule) -> None:
    start, steps = walk
    states = reference.run(steps, start, objects())
    assert states is not None
    if rule.kind in (RuleKind.NEVER, RuleKind.ALWAYS):
        assume(reference.true(rule.first, start, objects()) == (rule.kind is RuleKind.ALWAYS))
    if rule.kind is RuleKind.AFTER and rule.within == 0:
        first, second = (reference.true(c, start, objects()) for c in (rule.first, rule.second or f.TRUE))
        assume(second or not first)
    task = Task(with_rules(rule))
    assert accepted(task, start, steps) == reference.keeps(rule, states, objects())


@given(
    walks(),
    st.lists(rules(), max_size=2),
    conditions(),
    st.lists(comparisons(), max_size=2),
    st.lists(comparisons(), max_size=1),
)
@settings(max_examples=75)
def test_a_kernel_holds_exactly_where_the_rest_works(
    walk: tuple[dict[Atom, Value], list[Step]],
    some: list[Rule],
    final: f.Condition,
    subgoals: list[f.Condition],
    keep: list[f.Condition],
) -> None:
    start, steps = walk
    task = Task(with_rules(*some), Goal(final, tuple(subgoals), tuple(keep)))
    kernels = task.kernels(tuple(steps))
    values = task.start(State(task.objects, start))
    assert kernels[0].holds(values) == accepted(task, start, steps)
    for i, step in enumerate(steps):
        op = task.operator(step)
        if not op.applicable(values):
            assert not kernels[i].holds(values)
            break
        works = kernels[i].holds(values)
        op.apply(values)
        assert kernels[i + 1].holds(values) == works
    else:
        assert kernels[-1].holds(values) == task.end.holds(values)


@given(walks(), states(), comparisons())
@settings(max_examples=60)
def test_a_kernel_judges_other_states_too(
    walk: tuple[dict[Atom, Value], list[Step]], other: dict[Atom, Value], final: f.Condition
) -> None:
    _, steps = walk
    task = Task(with_rules(), Goal(final))
    values = task.start(State(task.objects, other))
    assert task.kernels(tuple(steps))[0].holds(values) == accepted(task, other, steps)


@given(walks(), st.lists(comparisons(), min_size=1, max_size=3), st.lists(comparisons(), max_size=2))
@settings(max_examples=75)
def test_subgoals_in_order_and_things_kept(
    walk: tuple[dict[Atom, Value], list[Step]], subgoals: list[f.Condition], keep: list[f.Condition]
) -> None:
    start, steps = walk
    run = reference.run(steps, start, objects())
    assert run is not None
    assume(all(reference.true(k, start, objects()) for k in keep))
    at = 0
    for s in run:
        while at < len(subgoals) and reference.true(subgoals[at], s, objects()):
            at += 1
    kept = all(reference.true(k, s, objects()) for k in keep for s in run)
    task = Task(with_rules(), Goal(f.TRUE, tuple(subgoals), tuple(keep)))
    assert accepted(task, start, steps) == (at == len(subgoals) and kept)


@given(walks(length=4), rules())
@settings(max_examples=75)
def test_promises_survive_a_replan(walk: tuple[dict[Atom, Value], list[Step]], rule: Rule) -> None:
    """Running a plan in two parts, monitors carried, is the same as running it in one."""
    start, steps = walk
    task = Task(with_rules(rule))
    whole = task.start(State(task.objects, start))
    for step in steps[: len(steps) // 2]:
        op = task.operator(step)
        assume(op.applicable(whole))
        op.apply(whole)
    seen = {a: v for a, v in whole.items() if not a[0].startswith("$")}
    again = task.start(State(task.objects, seen), task.monitors(whole))
    assert again == whole


@given(walks(length=3), rules(), st.data())
@settings(max_examples=60)
def test_rules_are_kept_in_every_completion_of_what_is_not_known(
    walk: tuple[dict[Atom, Value], list[Step]], rule: Rule, data: st.DataObject
) -> None:
    """A plan accepted from a partly unknown state keeps the rule in every state that it might really be."""
    start, steps = walk
    hidden = data.draw(st.sets(st.sampled_from(sorted(start)), max_size=6))
    task = Task(with_rules(rule))
    assume(accepted(task, {a: (UNKNOWN if a in hidden else v) for a, v in start.items()}, steps))
    assert accepted(task, start, steps)


@given(walks(), states(), st.lists(rules(), max_size=1), comparisons())
@settings(max_examples=75)
def test_a_kernel_depends_on_nothing_but_what_it_reads(
    walk: tuple[dict[Atom, Value], list[Step]], other: dict[Atom, Value], some: list[Rule], final: f.Condition
) -> None:
    start, steps = walk
    task = Task(with_rules(*some), Goal(final))
    kernel = task.kernels(tuple(steps))[0]
    values = task.start(State(task.objects, start))
    reads = kernel.reads(values)
    assert all(start[a] == v for a, v in reads.items())
    mixed = {**other, **reads, **task.monitors(values)}
    assert kernel.holds(mixed) == kernel.holds(values)
    assert bool(kernel.gaps(mixed)) == (not kernel.holds(mixed))
