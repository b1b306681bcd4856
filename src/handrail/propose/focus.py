"""Which objects a model is told of: those that matter for the goal first, then others, within a budget of tokens.

With 500 objects in the world a prompt can't hold them all, and a small model is lost in them long before. The order
is fixed by the goal, the request and the state, so that equal states give equal prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from handrail.domain.goal import Goal
from handrail.domain.ground import FALSE
from handrail.domain.grounder import grounder
from handrail.domain.skill import Skill
from handrail.domain.state import State
from handrail.domain.text.walk import calls_in, params_in, targets
from handrail.errors import ConfigError
from handrail.intent.matching import Matcher
from handrail.intent.naming import Names
from handrail.intent.scene import objects_of

Count = Callable[[str], int]

_TOOLS = 3


def estimated(text: str) -> int:
    """Tokens of a text, estimated from above for English prose and identifiers: one for each 2.8 characters."""
    return int(len(text) / 2.8) + 1


def described(name: str, state: State, names: Names) -> str:
    """One line on an object: its type, what it is also called, its traits, and every fact about it that is not usual."""
    objects = state.objects
    traits = [word if key.replace("_", " ") == word else f"{key} {word}" for key, word in names.traits(name)]
    called = [p for p in names.phrases[name] if p != name.replace("_", " ")]
    head = f"- {name}: {objects[name].type}"
    if called:
        head += f' "{_one_line(called[0])}"'
    if traits:
        head += f" ({', '.join(traits)})"
    facts = [_fact(atom, value) for atom, value in state.facts() if len(atom) > 1 and atom[1] == name]
    return f"{head}; {'; '.join(facts)}" if facts else head


def _one_line(text: str) -> str:
    """A name as data: what perception or a label calls a thing can't begin a line or quote its way out."""
    return " ".join(text.replace('"', "'").split())[:60]


def _fact(atom: tuple[str, ...], value: object) -> str:
    rest = f"({', '.join(atom[2:])})" if len(atom) > 2 else ""
    if value is True:
        return f"{atom[0]}{rest}"
    if value is False:
        return f"not {atom[0]}{rest}"
    shown = "none" if value is None else value if isinstance(value, str | int) else "unknown"
    return f"{atom[0]}{rest} {shown}"


def focus(
    goal: Goal,
    request: str,
    state: State,
    budget: int,
    *,
    names: Names | None = None,
    count: Count = estimated,
) -> tuple[str, ...]:
    """Objects to tell of, sorted by name.

    Args:
        goal: what is to be reached; its objects always come along.
        request: the person's words; what they may mean comes next.
        state: where things are.
        budget: tokens for all the lines together (see `described`).
        names: words for the objects.
        count: counts the tokens of a text.

    Raises:
        ConfigError: the goal's own objects already take more than the budget.
    """
    names = names or Names.of(state.objects)
    chosen: dict[str, None] = {}
    spent = 0
    for tier, group in enumerate(_tiers(goal, request, state, names)):
        for name in group:
            if name in chosen:
                continue
            price = count(described(name, state, names) + "\n")
            if spent + price > budget:
                if tier == 0:
                    raise ConfigError(f"a budget of {budget} tokens can't hold the goal's own objects; raise it")
                continue  # a shorter line may still fit
            chosen[name] = None
            spent += price
    return tuple(sorted(chosen))


def _tiers(goal: Goal, request: str, state: State, names: Names) -> Iterable[list[str]]:
    objects = state.objects
    own = list(objects_of(goal, objects))
    yield own
    direct, indirect = _useful(goal, state)
    needed = {p.name: p for s in (*direct, *indirect) for p in s.params}
    single = sorted({found[0] for p in needed.values() if len(found := objects.of(*p.types)) == 1})
    yield single
    mentioned = Matcher(state, names).analyse(request.lower()).mentions
    clear = sorted({o for m in mentioned if len(m.objects) <= 6 for o in m.objects})
    seeds = list(dict.fromkeys([*own, *single, *clear]))
    yield clear
    yield _tools(direct, set(seeds), state)
    near = _near(seeds, state)
    yield near
    yield _near(near, state)
    yield _tools(indirect, set(seeds), state)
    places = sorted({str(v) for a, v in state.values.items() if isinstance(v, str) and len(a) == 2 and v in objects})
    yield places
    yield sorted(o for m in mentioned for o in m.objects)
    yield list(objects.names())


def _near(seeds: Iterable[str], state: State) -> list[str]:
    """Where things are and what they hold: values of the seeds' fluents, and objects whose value is a seed's vessel."""
    found: dict[str, None] = {}
    wanted = set(seeds)
    for atom, value in sorted(state.facts(), key=lambda f: f[0]):
        inside = wanted.intersection(atom[1:])
        if inside and isinstance(value, str) and value in state.objects:
            found[value] = None
        if inside:
            found.update(dict.fromkeys(a for a in atom[1:] if a in state.objects))
    return [n for n in sorted(found) if n not in wanted]


def _useful(goal: Goal, state: State) -> tuple[list[Skill], list[Skill]]:
    """Skills that change a fluent of the goal, and those that change what these need."""
    domain = state.objects.domain
    wanted = {c.name for part in (goal.final, *goal.subgoals, *goal.keep) for c in calls_in(part)}
    levels: list[list[Skill]] = []
    found: set[str] = set()
    for _ in range(2):
        inner = [domain.derived[name].condition for name in wanted if name in domain.derived]
        wanted |= {c.name for condition in inner for c in calls_in(condition)}
        new = [
            s
            for s in sorted(domain.skills.values(), key=lambda s: s.name)
            if s.name not in found and any(t.name in wanted for e in s.makes for t in targets(e))
        ]
        found |= {s.name for s in new}
        levels.append(new)
        wanted |= {c.name for s in new for need in s.needs for c in calls_in(need)}
    return levels[0], levels[1]


def _tools(skills: list[Skill], seeds: set[str], state: State) -> list[str]:
    """A few objects for parameters that a need singles out by an attribute: a cleaning tool, something switchable."""
    node = grounder(state.objects).node
    out: dict[str, None] = {}
    for skill in skills:
        for p in skill.params:
            own = [n for n in skill.needs if params_in(n) == {p.name}]
            names = state.objects.of(*p.types)
            if not own or len(names) == 1 or seeds.intersection(names) == set(names):
                continue
            fits = [o for o in names if all(node(n, {p.name: o}) is not FALSE for n in own)]
            if len(fits) < len(names):
                out.update(dict.fromkeys(sorted(fits)[:_TOOLS]))
    return [o for o in out if o not in seeds]
