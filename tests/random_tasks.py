"""Small random tasks that use every part of the language, and a search without any cleverness to compare with."""

from __future__ import annotations

import heapq
import itertools
import random

from handrail.domain import UNKNOWN, Goal, Obj, Objects, State, Step, Task
from handrail.domain.exclusions import Exclusions
from handrail.domain.files import domain_from_text
from handrail.domain.text import parse_condition
from handrail.errors import DomainError

NEEDS = [
    "at(r) == on(i)", "free(h)", "held(h) == i", "open(p)", "not open(p)", "at(r) == p", "n(i) > 0", "n(i) < 2", "on(i) != p",
    "not lit()", "lit() or open(p)", "on(i) != none", "at(r) != p", "all j in item (on(j) != p)", "some j in item (n(j) == 1)",
    "n(i) == 1 or held(h) == i", "on(held(h)) == p", "some q in place (open(q) and at(r) == q)", "mark(i)", "not mark(i)",
    "n(i) <= n(held(h))",
]  # fmt: skip
MAKES = [
    "at(r) := p", "held(h) := i", "held(h) := none", "on(i) := p", "on(i) := none", "open(p) := true", "open(p) := false",
    "n(i) += 1", "n(i) -= 1", "lit() := true", "lit() := false", "if open(p) then on(i) := p", "if on(i) == p then mark(i) := true",
    "each j in item (if on(j) == p then mark(j) := true)", "on(i) := at(r)", "n(i) := 2", "if lit() then open(p) := false",
    "mark(i) := false", "on(held(h)) := p", "if n(i) == 2 then lit() := true",
]  # fmt: skip
RULES = [
    "never some j in item (mark(j) and on(j) == p1)", "never lit() and open(p0)", "always not open(p1) or lit()",
    "lit() before open(p0)", "after open(p1) within 2 steps not open(p1)", "after lit() within 1 steps not lit()",
    "never some h in hand (held(h) == i1 and lit())", "on(i0) == p1 before mark(i0)",
]  # fmt: skip
GOALS = [
    "on(i0) == p1", "held(h0) == i1", "n(i0) == 2", "mark(i1)", "open(p0) and not lit()", "on(i0) == p0 and on(i1) == p1",
    "all j in item (mark(j))", "lit()", "on(i0) == at(r0)", "n(i1) > n(i0)", "some j in item (on(j) == p1)",
    "not open(p0) and on(i1) == none", "n(i0) == 1 and held(h0) == none",
]  # fmt: skip
KEEP = ["on(i1) != p1", "not lit()", "n(i0) < 2"]


def random_task(seed: int, *, unknown: bool = True, items: int = 0) -> tuple[Task, State] | None:
    """A task and a start; None where the drawn domain contradicts itself, which its reader says."""
    rng = random.Random(seed)
    skills = ""
    for k in range(rng.randint(2, 6)):
        needs, makes = rng.sample(NEEDS, rng.randint(0, 3)), rng.sample(MAKES, rng.randint(1, 3))
        body = f"    needs: {needs!r}\n    makes: {makes!r}\n".replace("'", '"')
        cost = rng.choice(["1", "0.3", "2", "0.5"])
        skills += f"  s{k}:\n    with: {{r: robot, h: hand, i: item, p: place}}\n{body}    cost: {cost}\n"
    rules = rng.sample(RULES, rng.choice([0, 0, 1, 1, 2]))
    text = (
        "domain: drawn\ntypes: {robot: , hand: , place: , item: }\nfluents:\n"
        '  - "at(r: robot): place"\n  - "held(h: hand): item?"\n  - "on(i: item): place?"\n  - "open(p: place): bool"\n'
        '  - "n(i: item): 0..2"\n  - "lit(): bool"\n  - "mark(i: item): bool"\n'
        'derived:\n  - "free(h: hand): held(h) == none"\n'
        "objects: {r0: robot, h0: hand, p0: place, p1: place, i0: item, i1: item}\n"
        f"skills:\n{skills}"
    )
    if rules:
        text += "safety:\n  rules:\n" + "".join(f'    - "{r}"\n' for r in rules)
    try:
        domain = domain_from_text(text)
    except DomainError:
        return None
    more = [Obj(f"i{k}", "item") for k in range(2, items or rng.randint(2, 4))]
    if rng.random() < 0.5:
        more.append(Obj("p2", "place"))
    objects = Objects(domain, more)
    places, things = objects.of("place"), objects.of("item")
    values = {("at", "r0"): rng.choice(places)}
    for i in things:
        values[("on", i)] = rng.choice([None, *places])
        values[("n", i)] = rng.randint(0, 2)
        values[("mark", i)] = rng.random() < 0.2
    for p in places:
        values[("open", p)] = rng.random() < 0.3
    values[("lit",)] = rng.random() < 0.3
    if rng.random() < 0.3:
        values[("held", "h0")] = rng.choice(things)
    if rng.random() < 0.25 and unknown:
        values[rng.choice(sorted(values))] = UNKNOWN

    def conditions(pool, counts):
        return tuple(parse_condition(g, domain, objects=objects) for g in rng.sample(pool, rng.choice(counts)))

    goal = Goal(conditions(GOALS, [1])[0], conditions(GOALS, [0, 0, 0, 1, 2]), conditions(KEEP, [0, 0, 0, 1]))
    excluded = Exclusions()
    if rng.random() < 0.3:
        because = {("lit",): rng.random() < 0.5} if rng.random() < 0.7 else None
        excluded.add(Step("s0", ("r0", "h0", "i0", rng.choice(places))), because)
    return Task(objects, goal, excluded), State(objects, values)


def every_step(task: Task) -> list[Step]:
    """Every well-typed ground step."""
    of = task.objects.of
    skills = task.domain.skills.values()
    return [Step(s.name, a) for s in skills for a in itertools.product(*(of(*p.types) for p in s.params))]


def blind(task: Task, state: State, limit: int = 2500) -> float | str | None:
    """Cost of the cheapest plan by Dijkstra over all ground steps; None if there is none, "limit" if it was too much."""
    operators = [task.operator(s) for s in every_step(task)]
    first = task.start(state)
    for o in operators:
        for a in o.writes:
            first.setdefault(a, o.default(a))

    def key(values):
        return frozenset((a, type(v).__name__, str(v)) for a, v in values.items())

    heap, best, expanded, order = [(0.0, 0, first)], {key(first): 0.0}, 0, 0
    while heap:
        cost, _, values = heapq.heappop(heap)
        if cost > best[key(values)] + 1e-9:
            continue
        if task.end.holds(values):
            return cost
        expanded += 1
        if expanded > limit:
            return "limit"
        for o in operators:
            if o.applicable(values):
                after = dict(values)
                o.apply(after)
                new, k = cost + o.cost, key(after)
                if new < best.get(k, 1e18) - 1e-9:
                    best[k] = new
                    order += 1
                    heapq.heappush(heap, (new, order, after))
    return None
