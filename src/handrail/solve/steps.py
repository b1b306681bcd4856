"""Which ground steps there are: typed, with conditions that nothing can change already checked, for a chosen set of objects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from handrail.domain import formula as f
from handrail.domain.plan import Step
from handrail.domain.skill import Skill
from handrail.domain.task import Task
from handrail.domain.values import UNKNOWN, Atom, Value


def targets(task: Task) -> frozenset[str]:
    """Names of the fluents that some skill may change; every other fluent is static."""
    found: set[str] = set()
    for skill in task.domain.skills.values():
        stack: list[f.Effect] = list(skill.makes)
        while stack:
            e = stack.pop()
            if isinstance(e, (f.When, f.Each)):
                stack.append(e.effect)
            else:
                found.add(e.target.name)
    return frozenset(found)


def calls(x: f.Condition | f.Effect | f.Term) -> Iterator[f.Call | f.Param | f.Const]:
    """Every call, parameter and constant inside a condition, effect or term."""
    if isinstance(x, (f.Param, f.Const)):
        yield x
    elif isinstance(x, f.Call):
        yield x
        for a in x.args:
            yield from calls(a)
    elif isinstance(x, f.Test):
        yield from calls(x.left)
        yield from calls(x.right)
    elif isinstance(x, f.Not):
        yield from calls(x.part)
    elif isinstance(x, (f.And, f.Or)):
        for p in x.parts:
            yield from calls(p)
    elif isinstance(x, (f.Some, f.All)):
        yield from calls(x.body)
    elif isinstance(x, f.Assign):
        yield from calls(x.target)
        yield from calls(x.value)
    elif isinstance(x, f.Change):
        yield from calls(x.target)
    elif isinstance(x, f.When):
        yield from calls(x.condition)
        yield from calls(x.effect)
    else:
        yield from calls(x.effect)


class StepSource:
    """Enumerates the ground steps of a task.

    Args:
        task: the task.
        values: the start; only its static facts are read.
    """

    def __init__(self, task: Task, values: Mapping[Atom, Value]) -> None:
        self.task = task
        self.values = values
        self.changing = targets(task)
        self._static_tests = {s.name: self._tests(s) for s in task.domain.skills.values()}

    def static(self, condition: f.Condition) -> bool:
        """Whether no skill can change a condition's truth."""
        d = self.task.domain
        return all(
            not isinstance(c, f.Call) or (c.name not in self.changing and c.name not in d.derived)
            for c in calls(condition)
        )

    def _tests(self, skill: Skill) -> list[list[f.Condition]]:
        """Per parameter the static conditions that can be decided once it and those before it are bound."""
        place = {p.name: i for i, p in enumerate(skill.params)}
        out: list[list[f.Condition]] = [[] for _ in range(len(skill.params) + 1)]
        for need in skill.needs:
            if self.static(need):
                used = [place[c.name] for c in calls(need) if isinstance(c, f.Param) and c.name in place]
                out[max(used, default=-1) + 1].append(need)
        return out

    def steps(self, skill: Skill, allowed: Collection[str] | None = None) -> Iterator[Step]:
        """Ground steps of a skill whose static conditions hold, in the objects' order.

        Args:
            skill: the skill.
            allowed: only these objects as arguments; None for all.
        """
        objects = self.task.objects
        domains = [[o for o in objects.of(*p.types) if allowed is None or o in allowed] for p in skill.params]
        tests = self._static_tests[skill.name]
        node = self.task.ground.node
        names = [p.name for p in skill.params]

        def bind(i: int, args: tuple[str, ...]) -> Iterator[Step]:
            if tests[i]:
                binding = dict(zip(names, args, strict=False))
                if not all(node(t, binding).holds(self.values) for t in tests[i]):
                    return
            if i == len(names):
                yield Step(skill.name, args)
                return
            for o in domains[i]:
                yield from bind(i + 1, (*args, o))

        yield from bind(0, ())

    def all_steps(self, allowed: Collection[str] | None = None) -> Iterator[Step]:
        """Ground steps of all skills, skills in alphabetical order."""
        for _, skill in sorted(self.task.domain.skills.items()):
            yield from self.steps(skill, allowed)


def alike(task: Task, values: Mapping[Atom, Value], changing: frozenset[str]) -> list[list[str]]:
    """Classes of objects that nothing tells apart but where they happen to be.

    Two objects are alike where they have the same type and attributes, no skill, rule or goal names either of them, no fluent has one
    of them as its value at the start, and their static facts are the same. What the analysis of relevance finds for some of them
    therefore holds for all.
    """
    named: set[str] = {str(o.name) for o in task.domain.constants}
    goal = task.goal
    lifted: list[f.Condition | f.Effect] = [goal.final, *goal.subgoals, *goal.keep]
    for s in task.domain.skills.values():
        lifted += [*s.needs, *s.makes]
    lifted += [d.condition for d in task.domain.derived.values()]
    for r in task.rules:
        lifted += [r.rule.first, *([r.rule.second] if r.rule.second is not None else [])]
    lifted += [ban.when for ban in task.domain.safety.forbid]
    for x in lifted:
        named.update(str(c.value) for c in calls(x) if isinstance(c, f.Const) and isinstance(c.value, str))
    for e in task.exclusions:
        named.update(e.step.args)
        named.update(n for atom, v in e.because for n in (*atom[1:], str(v)))
    named.update(v for v in values.values() if isinstance(v, str))
    static: dict[str, list[tuple[Atom, Value]]] = {}
    for atom, v in values.items():
        if atom[0] not in changing and v is not UNKNOWN:
            for o in set(atom[1:]):
                static.setdefault(o, []).append((tuple("\0" if x == o else x for x in atom), v))
    classes: dict[tuple[object, ...], list[str]] = {}
    for thing in task.objects:
        if thing.name not in named:
            facts = tuple(sorted(static.get(thing.name, ()), key=repr))
            key = (thing.type, tuple(sorted(thing.attributes.items(), key=repr)), facts)
            classes.setdefault(key, []).append(thing.name)
    return [sorted(c) for c in classes.values()]


def sample(classes: Iterable[list[str]], size: int) -> tuple[set[str], list[list[str]]]:
    """A few of each class to stand for the rest, and the classes that are larger than that."""
    kept: set[str] = set()
    large: list[list[str]] = []
    for c in classes:
        kept.update(c[:size])
        if len(c) > size:
            large.append(c)
    return kept, large
