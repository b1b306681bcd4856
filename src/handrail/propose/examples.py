"""Few-shot examples made from the domain: two plans, a question and a refusal, each of which passes our own checks.

They are about the domain's own first scene (or the present one, where the file has none), found by the planner and by
the rules, never written by hand: a new skill brings its own example. An example is never about the goal that is asked
for, so that it can't be copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from handrail.check.schema import Declined, read_plan
from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.files import load_scene, scene_names
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.ground import TRUE
from handrail.domain.grounder import grounder
from handrail.domain.plan import Plan
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.errors import DomainError
from handrail.intent.literals import Literal, literals
from handrail.intent.naming import Names
from handrail.language.records import Message
from handrail.propose.focus import focus
from handrail.propose.prompt import declined_text, plan_text, user_text
from handrail.solve.astar import Budget, solve

_TOLD = 150
_QUICK = Budget(expansions=20, first=20)
_TRIES = 16
_SHORT, _LONG = 2, 5


@dataclass(frozen=True)
class Example:
    """A worked case.

    Attributes:
        kind: "plan", "ask" or "refuse".
        user: what the model would be told.
        answer: what it should write.
        goal: what the request means; for a question, one of its readings.
    """

    kind: str
    user: str
    answer: str
    goal: Goal

    @property
    def turns(self) -> tuple[Message, Message]:
        """As a conversation."""
        return Message("user", self.user), Message("assistant", self.answer)


def examples(domain: Domain, state: State, goal: Goal | None = None) -> tuple[Example, ...]:
    """Examples for a domain: plans first, then a question and a refusal, as far as the scene has cause for them.

    Args:
        domain: whose skills they show.
        state: the present state, used where the domain has no scene of its own.
        goal: left out of the examples.
    """
    own = scene_names(domain)
    made = _of_domain(domain) if own else _of_state(state)
    if goal is None:
        return made
    taken = {goal.goal_id, Goal(goal.final).goal_id}
    return tuple(e for e in made if e.goal.goal_id not in taken)


@lru_cache(maxsize=16)
def _of_domain(domain: Domain) -> tuple[Example, ...]:
    return _of_state(load_scene(domain).state)


@lru_cache(maxsize=16)
def _of_state(state: State) -> tuple[Example, ...]:
    names = Names.of(state.objects)
    every = literals(state, names)
    made = [*_plans(every, state, names)]
    made += [one for one in (_question(every, state, names), _refusal(every, state, names)) if one is not None]
    return tuple(made)


def _plans(every: tuple[Literal, ...], state: State, names: Names) -> list[Example]:
    """Two short plans by the planner, the second ending in another skill than the first."""
    found: list[tuple[Plan, Literal]] = []
    tried: dict[str, int] = {}
    for literal in _spread(every, state):
        if len(found) == 2 or tried.get(literal.skill, 0) >= 2 or sum(tried.values()) >= _TRIES:
            continue
        if any(literal.skill == other.skill for _, other in found):
            continue
        tried[literal.skill] = tried.get(literal.skill, 0) + 1
        solution = solve(Task(state.objects, Goal(literal.condition)), state, budget=_QUICK)
        if solution.plan is not None and _SHORT <= len(solution.plan) <= _LONG:
            found.append((solution.plan, literal))
    found.sort(key=lambda f: (-len(f[0]), f[1].text))
    return [_checked(plan, literal, state, names) for plan, literal in found[:2]]


def _spread(every: tuple[Literal, ...], state: State) -> list[Literal]:
    """What is not so yet, of all skills in turn, so that none of them fills the examples.

    Skills with about three needs come first: they take a few steps, and seldom none or many.
    """
    skills = state.objects.domain.skills
    node = grounder(state.objects).node
    groups: dict[str, list[Literal]] = {}
    for one in every:
        if not one.stated and not node(one.condition).holds(state.values):
            groups.setdefault(one.skill, []).append(one)
    order = sorted(groups, key=lambda name: (abs(len(skills[name].needs) - 3), name))
    deep = max((len(g) for g in groups.values()), default=0)
    # begin in the middle: the alphabet's first object is what every scene has
    return [
        groups[n][(len(groups[n]) // 2 + i) % len(groups[n])] for i in range(deep) for n in order if i < len(groups[n])
    ]


def _checked(plan: Plan, literal: Literal, state: State, names: Names) -> Example:
    goal = Goal(literal.condition, source=GoalSource.CHOSEN, text=literal.text)
    skills = state.objects.domain.skills
    last = plan.steps[-1]
    first = "; ".join(_said(skills[s.skill], s.args, names) for s in plan.steps[:-1])
    reasoning = f"To {literal.text}: first {first}; then {_said(skills[last.skill], last.args, names)}."
    answer = plan_text(plan, state.objects, reasoning)
    again = read_plan(answer, state.objects)
    if not isinstance(again, Plan) or not check_symbolic(again, Task(state.objects, goal), state).passed:
        raise AssertionError(f"an example does not pass its own check: {answer}")
    return Example("plan", _told(f"{_capital(literal.text)}.", goal, state, names, goal), answer, goal)


def _question(every: tuple[Literal, ...], state: State, names: Names) -> Example | None:
    """A request that names two objects at once, because they share a word or, where none do, a type."""
    for find, literal in product((_namesake, _sibling), _spread(every, state)):
        for role, name in literal.roles:
            twin = find(name, state, names)
            if twin is None:
                continue
            shared, other = twin
            both = [
                one
                for one in every
                if one.skill == literal.skill and dict(one.roles) == {**dict(literal.roles), role: other}
            ]
            if not both or literal.text.count(names.say(name)) != 1:
                continue
            request = _capital(literal.text.replace(names.say(name), shared)) + "."
            pair = sorted((names.say(name), names.say(other)))
            declined = Declined(
                "ask",
                f"Do you mean the {pair[0]} or the {pair[1]}?",
                f"There are two: the {pair[0]} and the {pair[1]}.",
            )
            goal = Goal(literal.condition, source=GoalSource.CHOSEN, text=literal.text)
            return _declined(declined, request, goal, state, names)
    return None


def _namesake(name: str, state: State, names: Names) -> tuple[str, str] | None:
    """A word that another object has too, and that object."""
    for said in names.phrases[name]:
        for other in state.objects.names():
            if other != name and said in names.phrases[other] and said != names.say(name):
                return said, other
    return None


def _sibling(name: str, state: State, names: Names) -> tuple[str, str] | None:  # noqa: ARG001 - as `_namesake`
    """Its type, and the first other object of just that type."""
    kind = state.objects[name].type
    alike = [o for o in state.objects.of(kind) if o != name and state.objects[o].type == kind]
    return (kind.replace("_", " "), alike[0]) if alike else None


def _refusal(every: tuple[Literal, ...], state: State, names: Names) -> Example | None:
    """Something that a rule forbids outright; where there is no such rule, something that is not there at all."""
    objects = state.objects
    node = grounder(objects).node
    by_skill: dict[str, list[Literal]] = {}
    for one in every:
        by_skill.setdefault(one.skill, []).append(one)
    for ban in objects.domain.safety.forbid:
        for literal in by_skill.get(ban.skill, ()):
            params = {p.name for p in objects.domain.skills[ban.skill].params}
            binding = {p: o for p, o in literal.roles if p in params}
            try:
                forbidden = node(ban.when, binding) is TRUE
            except DomainError:  # it hangs on a parameter that the literal leaves open
                continue
            if forbidden and ban.because:
                goal = Goal(literal.condition, source=GoalSource.CHOSEN, text=literal.text)
                declined = Declined("refuse", _capital(ban.because) + ".", "A rule forbids it.")
                return _declined(declined, _capital(literal.text) + ".", goal, state, names)
    return None


def _declined(declined: Declined, request: str, goal: Goal, state: State, names: Names) -> Example:
    answer = declined_text(declined)
    shown = None if declined.kind == "ask" else goal
    if read_plan(answer, state.objects) != declined:
        raise AssertionError(f"an example does not pass its own check: {answer}")
    return Example(declined.kind, _told(request, goal, state, names, shown), answer, goal)


def _told(request: str, goal: Goal, state: State, names: Names, shown: Goal | None) -> str:
    return user_text(request, shown, focus(goal, request, state, _TOLD, names=names), state, names)


def _said(skill: Skill, args: tuple[str, ...], names: Names) -> str:
    text = skill.words(args, names.best).rstrip(".")
    return text[:1].lower() + text[1:]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
