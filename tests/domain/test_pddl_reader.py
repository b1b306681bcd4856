"""The PDDL reader: what it takes, what it refuses and where it points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.check.symbolic import check_symbolic
from handrail.domain import Plan, Step, Task
from handrail.domain.pddl import read_domain, read_plan, read_problem, write_plan
from handrail.errors import ParseError

BLOCKS = """
(define (domain blocks)
  (:requirements :strips)
  (:predicates (clear ?x) (table ?x) (empty) (held ?x) (on ?x ?y))
  (:action grab :parameters (?x)
    :precondition (and (clear ?x) (table ?x) (empty))
    :effect (and (held ?x) (not (clear ?x)) (not (table ?x)) (not (empty))))
  (:action stack :parameters (?x ?y)
    :precondition (and (clear ?y) (held ?x))
    :effect (and (empty) (clear ?x) (on ?x ?y) (not (clear ?y)) (not (held ?x)))))
"""
TWO = """
(define (problem two) (:domain blocks) (:objects a b)
  (:init (clear a) (clear b) (table a) (table b) (empty))
  (:goal (on a b)))
"""


def read(domain: str, problem: str):
    d = read_domain(domain)
    return d, read_problem(problem, d)


def verdict(domain: str, problem: str, *steps: tuple[str, ...]):
    _, p = read(domain, problem)
    return check_symbolic(Plan.of(*steps), Task(p.objects, p.goal), p.state)


def one(predicates: str, effect: str = "()", precondition: str = "()", parameters: str = "()", more: str = "") -> str:
    return (
        f"(define (domain d) {more} (:predicates {predicates}) "
        f"(:action act :parameters {parameters} :precondition {precondition} :effect {effect}))"
    )


def test_a_domain_and_a_problem():
    d, p = read(BLOCKS, TWO)
    assert sorted(d.skills) == ["grab", "stack"]
    assert p.objects.names() == ("a", "b")
    assert verdict(BLOCKS, TWO, ("grab", "a"), ("stack", "a", "b")).passed
    assert not verdict(BLOCKS, TWO, ("stack", "a", "b")).passed


# the rows of the complaints note, each with the issue it came from


def test_constants_in_actions_and_start():
    """PlanSys2 #135, #257."""
    domain = """(define (domain d) (:requirements :typing) (:types crate place) (:constants c1 - crate)
      (:predicates (at ?c - crate ?p - place) (moved ?c - crate))
      (:action move :parameters (?p - place) :precondition (at c1 ?p) :effect (moved c1)))"""
    problem = "(define (problem p) (:domain d) (:objects dock - place) (:init (at c1 dock)) (:goal (moved c1)))"
    assert verdict(domain, problem, ("move", "dock")).passed


def test_negated_goals_and_facts():
    """PlanSys2 #205, ROSPlan #276."""
    domain = one("(need ?p ?f) (docked ?r)", "(not (need ?p ?f))", "(not (docked ?r))", "(?p ?f ?r)")
    problem = """(define (problem p) (:domain d) (:objects p1 food r)
      (:init (need p1 food) (not (docked r))) (:goal (not (need p1 food))))"""
    _, p = read(domain, problem)
    assert p.state.values[("docked", "r")] is False
    assert verdict(domain, problem, ("act", "p1", "food", "r")).passed
    assert not verdict(domain, problem, ("act", "food", "p1", "r")).passed


@pytest.mark.parametrize("requirements", ["", "(:requirements :strips)", "(:requirements :no-such-thing)"])
def test_requirements_may_be_missing_or_wrong(requirements):
    """PlanSys2 #309 and others: typing, disjunction and conditions are read whatever `:requirements` says."""
    domain = one(
        "(p ?x - t) (q ?x - t)",
        "(when (p ?x) (q ?x))",
        "(or (p ?x) (not (q ?x)))",
        "(?x - t)",
        f"{requirements} (:types t)",
    )
    assert "act" in read_domain(domain).skills


@pytest.mark.parametrize("section", [":durative-action", ":process", ":event", ":derived", ":constraints"])
def test_what_is_beyond_is_named(section):
    """PlanSys2 #87 (`at start`), UP #573 (PDDL+): refused by name, not misread."""
    with pytest.raises(ParseError, match="not read"):
        read_domain(f"(define (domain d) (:predicates (p)) ({section} x :parameters () :effect (at start (p))))")


def test_repeated_parameter_names_are_refused():
    """UP #816: two parameters of one name used to collapse into one."""
    with pytest.raises(ParseError, match="'\\?x' twice"):
        read_domain(one("(rel ?x - thing ?x - thing)", more="(:types thing)"))
    with pytest.raises(ParseError, match="'\\?x' twice"):
        read_domain(one("(p ?x)", "(p ?x)", parameters="(?x ?x)"))


def test_no_blank_before_a_variable():
    """UP #818."""
    domain = one("(aircraft?a) (at?a?b)", "(at?x?y)", "(aircraft?x)", "(?x?y)")
    assert len(read_domain(domain).fluents["at"].params) == 2


def test_sections_in_any_order():
    """UP #464."""
    domain = """(define (domain d)
      (:action go :parameters (?a - place) :precondition (not (at ?a)) :effect (at ?a))
      (:predicates (at ?a - place)) (:types place) (:requirements :typing))"""
    problem = "(define (problem p) (:goal (at x)) (:init) (:objects x - place) (:domain d))"
    assert verdict(domain, problem, ("go", "x")).passed


@pytest.mark.parametrize(
    "word", ["when", "at", "start", "over", "object", "increase", "domain", "problem", "define", "either"]
)
def test_predicates_named_like_keywords(word):
    """UP #479."""
    domain = one(f"({word} ?a ?b)", f"({word} ?x ?x)", f"(not ({word} ?x ?x))", "(?x)")
    problem = f"(define (problem p) (:domain d) (:objects o) (:init) (:goal ({word} o o)))"
    assert verdict(domain, problem, ("act", "o")).passed


def test_a_connective_can_not_be_a_predicate():
    with pytest.raises(ParseError, match="can't be named 'not'"):
        read_domain(one("(not ?x)"))


@pytest.mark.parametrize("parameters", ["", ":parameters ()"])
def test_no_parameters(parameters):
    """UP #245."""
    domain = f"(define (domain d) (:predicates (p)) (:action act {parameters} :precondition () :effect (and (p))))"
    assert verdict(domain, "(define (problem x) (:domain d) (:init) (:goal (p)))", ("act",)).passed


def test_nested_forall_and_imply():
    """UP #239, #610."""
    domain = one(
        "(edge ?a ?b) (red ?a) (done)",
        "(done)",
        "(forall (?a) (forall (?b) (imply (edge ?a ?b) (and (red ?a) (red ?b)))))",
    )
    good = "(define (problem x) (:domain d) (:objects a b c) (:init (edge a b) (red a) (red b)) (:goal (done)))"
    bad = good.replace("(red b)", "")
    assert verdict(domain, good, ("act",)).passed
    assert not verdict(domain, bad, ("act",)).passed


def test_costs_that_depend_on_parameters():
    """UP #660."""
    domain = """(define (domain d) (:predicates (at ?a))
      (:functions (distance ?a ?b) - number (total-cost) - number)
      (:action go :parameters (?a ?b) :precondition (at ?a)
        :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (+ 1 (* 2 (distance ?a ?b)))))))"""
    problem = """(define (problem x) (:domain d) (:objects k l)
      (:init (at k) (= (total-cost) 0) (= (distance k l) 3.5)) (:goal (at l)) (:metric minimize (total-cost)))"""
    _, p = read(domain, problem)
    assert Task(p.objects).operator(Step("go", ("k", "l"))).cost == 8.0


def test_actions_without_cost_are_free_where_others_cost():
    domain = """(define (domain d) (:predicates (p) (q)) (:functions (total-cost))
      (:action dear :parameters () :effect (and (p) (increase (total-cost) 4))) (:action free :parameters () :effect (q)))"""
    d = read_domain(domain)
    assert (d.skills["dear"].cost.of(""), d.skills["free"].cost.of("")) == (4.0, 0.0)
    assert read_domain(BLOCKS).skills["grab"].cost.of("") == 1.0


def test_names_shared_between_kinds():
    """UP #127, #287: an object, a type, a predicate and an action of one name."""
    domain = one("(lift ?x - lift)", "(lift ?x)", "()", "(?x - lift)", "(:types lift)").replace(" act ", " lift ")
    problem = "(define (problem x) (:domain d) (:objects lift - lift) (:init) (:goal (lift lift)))"
    assert verdict(domain, problem, ("lift", "lift")).passed


def test_a_plan_from_elsewhere():
    """UP #451: times, costs, comments, letter case and several steps in a line."""
    text = "; found it\n0.000: (GRAB A) [1.000]\n 1: (stack a b)\n; cost = 2\n"
    assert read_plan(text).steps == (Step("grab", ("a",)), Step("stack", ("a", "b")))
    assert read_plan("(grab a) (stack a b)").steps == read_plan("(grab a)\n(stack a b)\\\n").steps
    with pytest.raises(ParseError, match="expected a step") as e:
        read_plan("(grab a)\nthen stack it")
    assert (e.value.where.line, e.value.where.column) == (2, 1)


def test_facts_are_never_joined_strings():
    """VAL #27: a wrong plan was accepted, because `p o aob` and `p oa ob` had one key."""
    domain = one("(p ?x ?y)", "(p ?x ?y)", "()", "(?x ?y)")
    problem = "(define (problem x) (:domain d) (:objects o oa ob aob) (:init) (:goal (p oa ob)))"
    assert not verdict(domain, problem, ("act", "o", "aob")).passed
    assert verdict(domain, problem, ("act", "oa", "ob")).passed


def test_errors_point_at_the_place():
    """AI-Planning/pddl #55, UP #313: line, column, the line itself, a mark, and what would be valid."""
    with pytest.raises(ParseError) as e:
        read_domain(BLOCKS.replace("(held ?x) (not (clear", "(hold ?x) (not (clear"), "blocks.pddl")
    where = e.value.where
    assert (where.source, where.line, where.column) == ("blocks.pddl", 7, 19)
    assert "'held'" in e.value.message
    line, mark = e.value.message.split("\n")[1:]
    assert line[mark.index("^") :].startswith("hold")


# strictness and tolerance


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (one("(p ?x)", "(q)"), "predicate 'q' is not declared"),
        (one("(p ?x)", "(p)"), "has 0 arguments"),
        (one("(p ?x)", "(p ?y)", parameters="(?x)"), "variable '\\?y' is not declared"),
        (one("(p ?x)", "(p c)"), "no object or constant 'c'"),
        (one("(p ?x - t)"), "type 't' is not declared"),
        (one("(p)", "(and (p) (not (p)))"), "contradicting effects"),
        (one("(p ?x)", "(and (not (p ?x)) (p ?x))", parameters="(?x)"), "contradicting effects"),
        (one("(p) (p)"), "declared twice"),
        (one("(p)") + "(x)", "expected '\\(define"),
        (one("(p ?x - t) (q ?x - u)", "(q ?x)", "()", "(?x - t)", "(:types t u)"), "'\\?x' is a t"),
        ("(define (domain d) (:types a - b b - a))", "its own ancestor"),
        ("(define (domain d) (:types a - b a - c))", "one parent"),
        ("(define (domain d) (:predicats (p)))", "Did you mean ':predicates'"),
        ("(define (domain d) (:predicates (p))", "never closed"),
        ("(define (domain d)))", "closes nothing"),
        ("(define (problem d))", "it defines a problem"),
        ("", "0 '\\(define"),
        (one("(p)", "(or (p))"), "can't stand here"),
        (one("(p)", "(assign (x) 3)"), "numeric"),
        (one("(p)", "(increase (fuel) 3)"), "only '\\(total-cost\\)'"),
    ],
)
def test_strict_about_what_would_change_the_meaning(domain, said):
    with pytest.raises(ParseError, match=said) as e:
        read_domain(domain)
    assert e.value.where.line >= 1 and e.value.where.column >= 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(clear a) (clear b)", "(clean a)", "'clean' is not declared. Did you mean 'clear'"),
        ("(clear a) (clear b)", "(clear c)", "no object or constant 'c'"),
        ("(clear a) (clear b)", "(clear a b)", "has 2 arguments"),
        ("(clear a) (clear b)", "(clear a) (not (clear a))", "both that this holds and that it does not"),
        (":objects a b", ":objects a b - block", "type 'block' is not declared"),
        ("(:goal (on a b))", "", "no '\\(:goal"),
        ("(:goal (on a b))", "(:goal (on a b) (clear a))", "takes one condition"),
        ("(:goal (on a b))", "(:goal (on a b)) (:metric maximize (total-cost))", "metric"),
        ("(table a)", "(at 5 (table a))", "timed facts"),
    ],
)
def test_strict_about_problems(old, new, said):
    with pytest.raises(ParseError, match=said):
        read(BLOCKS, TWO.replace(old, new))


def test_facts_about_the_wrong_type_are_noted_and_left_out():
    domain = one("(sits ?p - person)", more="(:types person thing)")
    problem = "(define (problem x) (:domain d) (:objects t - thing) (:init (sits t)) (:goal (and)))"
    _, p = read(domain, problem)
    assert p.state.values == {}
    assert "sits(t)" in p.notes[0]


def test_either():
    domain = """(define (domain d) (:types a b c - thing) (:predicates (in ?x - (either a b)) (ok))
      (:action act :parameters (?x - (either a b)) :precondition (in ?x) :effect (ok)))"""
    problem = "(define (problem p) (:domain d) (:objects x - a z - c) (:init (in x)) (:goal (ok)))"
    assert verdict(domain, problem, ("act", "x")).passed
    assert verdict(domain, problem, ("act", "z")).reasons[0].code == "WRONG_TYPE"


def test_a_type_listed_twice_keeps_the_narrower_parent():
    d = read_domain("(define (domain d) (:types surface area - object crate area - surface))")
    assert d.types["area"].parent == "surface"


def test_an_atom_that_is_deleted_and_added_is_added():
    domain = one("(at ?x)", "(and (not (at ?a)) (at ?b))", "(at ?a)", "(?a ?b)")
    problem = "(define (problem p) (:domain d) (:objects k) (:init (at k)) (:goal (at k)))"
    assert verdict(domain, problem, ("act", "k", "k")).passed


def test_another_domains_name_is_noted():
    _, p = read(BLOCKS, TWO.replace(":domain blocks", ":domain bricks"))
    assert "bricks" in p.notes[0]


@given(st.text(alphabet="()?:- abde;\n\\", max_size=60))
def test_no_text_breaks_the_reader(text):
    """Whatever the text, it is read or refused with a place."""
    for reader in (read_domain, lambda t: read_problem(t, read_domain(BLOCKS)), read_plan):
        try:
            reader(text)
        except ParseError as e:
            assert e.where is not None


NAME = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True)


@given(st.lists(st.tuples(NAME, st.lists(NAME, max_size=3)), max_size=6))
def test_plans_come_back(steps):
    plan = Plan(tuple(Step(n, tuple(a)) for n, a in steps))
    assert read_plan(write_plan(plan)).steps == plan.steps


@pytest.mark.data
def test_recorded_household_problems(data_dir):
    """VirtualHome's and BEHAVIOR's PDDL: 438 problems, of which 3 name undeclared objects or ask for what their types forbid."""
    import tarfile

    read_well, refused = 0, []
    with tarfile.open(data_dir / "eai" / "eai_data.tar.gz") as tar:
        files = {
            m.name.lstrip("./"): tar.extractfile(m).read().decode()
            for m in tar
            if m.isfile() and m.name.endswith(".pddl")
        }
    root = "virtualhome_eval/resources/"
    for world, file in (("virtualhome", "virtualhome.pddl"), ("behavior", "behavior.pddl")):
        domain = read_domain(files[f"{root}{world}/{file}"])
        for name, text in files.items():
            if name.startswith(f"{root}{world}/problem_pddl"):
                try:
                    read_problem(text, domain, name)
                    read_well += 1
                except ParseError as e:
                    refused.append(str(e))
    assert (read_well, len(refused)) == (435, 3), refused
