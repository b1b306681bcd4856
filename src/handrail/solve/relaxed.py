"""The delete relaxation of a program: facts never go away, and every condition is a set of rules over facts.

A disjunction becomes an auxiliary fact that free rules give, so a condition's size stays its own. An effect under a condition becomes
a rule of its own that shares its action's cost. Both only make things easier, so the cheapest way here is never dearer than a plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from handrail.domain.ground import FALSE, TRUE, All, Any_, Cmp, Node, Ref, Switch, Truth, atoms
from handrail.domain.rules import RuleKind
from handrail.domain.values import UNKNOWN, Value
from handrail.solve.model import branches, pairs
from handrail.solve.program import Compact, Program

FREE = -1
"""Owner of a rule that costs nothing."""


@dataclass(frozen=True, slots=True)
class RelaxedRule:
    """When all of `before` are reached, `after` are, for the cost of the action `owner`."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    owner: int


class Relaxed:
    """Facts and rules of a program.

    Attributes:
        goal: the fact that stands for the goal.
        always: the fact that holds everywhere.
        facts: how many there are.
        rules: what leads from facts to facts.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.offset: list[int] = []
        n = 0
        for d in program.domains:
            self.offset.append(n)
            n += len(d)
        self.always = n
        self.goal = n + 1
        self.facts = n + 2
        self.rules: list[RelaxedRule] = []
        self._known: dict[Node, tuple[int, ...] | None] = {}
        self._promises = {r.atom for r in program.model.task.rules if r.rule.kind is RuleKind.AFTER}
        for i, move in enumerate(program.moves):
            needs = move.action.needs
            if self._promises:
                needs = tuple(n for n in needs if self._promises.isdisjoint(atoms(n)))
            self._action(i, needs)
        self._rule(self.condition_of(program.model.goal), (self.goal,), FREE)
        self.costs = [m.action.cost for m in program.moves]

    def of(self, state: Compact) -> list[int]:
        """The facts of a state."""
        out = [o + v for o, v in zip(self.offset, state, strict=True)]
        out.append(self.always)
        return out

    def _action(self, i: int, needs: tuple[Node, ...]) -> None:
        program = self.program
        base = self.condition_of(needs)
        if base is None:
            return
        plain: list[int] = []
        for e in program.moves[i].action.effects:
            if e.atom in self._promises and (e.value != 0 or isinstance(e.value, Ref)):
                continue  # a promise can only be opened and run down by this; that it must be kept in time is relaxed too
            v = program.index[e.atom]
            when = self.condition(e.condition)
            if when is None:
                continue
            if isinstance(e.value, Ref) and e.value.atom in program.index:
                j = program.index[e.value.atom]
                for k, value in enumerate(program.domains[j]):
                    shifted = value + e.value.offset if e.value.offset and isinstance(value, int) else value
                    if shifted in program.place[v] and value is not UNKNOWN:
                        after = self.offset[v] + program.place[v][shifted]
                        self._rule((*base, *when, self.offset[j] + k), (after,), i)
                continue
            constant = e.value.read(program.model.values) if isinstance(e.value, Ref) else e.value
            fact = self._fact(v, constant)
            if when:
                self._rule((*base, *when), (fact,), i)
            else:
                plain.append(fact)
        if plain:
            self._rule(base, tuple(plain), i)

    def _fact(self, variable: int, value: Value) -> int:
        return self.offset[variable] + self.program.place[variable][value]

    def _rule(self, before: tuple[int, ...] | None, after: tuple[int, ...], owner: int) -> None:
        if before is not None:
            unique = tuple(dict.fromkeys(before)) or (self.always,)
            self.rules.append(RelaxedRule(unique, after, owner))

    def condition_of(self, nodes: tuple[Node, ...]) -> tuple[int, ...] | None:
        """Facts that together stand for a conjunction; None where it can't hold."""
        out: dict[int, None] = {}
        for n in nodes:
            facts = self.condition(n)
            if facts is None:
                return None
            out.update(dict.fromkeys(facts))
        return tuple(out)

    def condition(self, node: Node) -> tuple[int, ...] | None:
        """Facts that together stand for a condition; None where it can't hold."""
        if node not in self._known:
            self._known[node] = self._condition(node)
        return self._known[node]

    def _condition(self, node: Node) -> tuple[int, ...] | None:
        program = self.program
        if isinstance(node, Truth):
            return () if node is TRUE else None
        if isinstance(node, All):
            return self.condition_of(node.parts)
        literal = program.literal(node)
        if literal is not None:
            i, good = literal
            if len(good) == len(program.domains[i]):
                return ()
            return self._either([(self.offset[i] + v,) for v in sorted(good)])
        if isinstance(node, Any_):
            return self._either([self.condition(p) for p in node.parts])
        if isinstance(node, Switch):
            return self._switch(node)
        if isinstance(node, Cmp) and isinstance(node.right, Ref):
            left, right = node.left.atom, node.right.atom
            good_pairs = pairs(node, program.model.values_of(left), program.model.values_of(right))
            ways: list[tuple[int, ...] | None] = []
            for a, b in good_pairs:
                parts = [(program.index[x], v) for x, v in ((left, a), (right, b)) if x in program.index]
                ways.append(tuple(self._fact(i, v) for i, v in parts))
            return self._either(ways)
        return () if node.holds(program.model.values) else None

    def _switch(self, node: Switch) -> tuple[int, ...] | None:
        program = self.program
        if node.atom not in program.index:
            v = program.model.start(node.atom)
            return self.condition(FALSE if v is UNKNOWN else node.cases.get(v, node.otherwise))
        i = program.index[node.atom]
        ways: list[tuple[int, ...] | None] = []
        for inner, values in branches(node, program.domains[i]).items():
            facts = self.condition(inner)
            if facts is not None:
                if len(values) == len(program.domains[i]):
                    return facts
                ways += [(self._fact(i, v), *facts) for v in values]
        return self._either(ways)

    def _either(self, ways: list[tuple[int, ...] | None]) -> tuple[int, ...] | None:
        real = [w for w in ways if w is not None]
        if not real:
            return None
        if any(not w for w in real):
            return ()
        if len(real) == 1:
            return real[0]
        fact = self.facts
        self.facts += 1
        for w in real:
            self._rule(w, (fact,), FREE)
        return (fact,)

    def reachable(self) -> list[bool]:
        """Per action, whether its condition can be reached at all from the start."""
        reached = [False] * self.facts
        waiting = [len(r.before) for r in self.rules]
        users: list[list[int]] = [[] for _ in range(self.facts)]
        for k, r in enumerate(self.rules):
            for f in r.before:
                users[f].append(k)
        found = [False] * len(self.program.moves)
        stack = self.of(self.program.start)
        for f in stack:
            reached[f] = True
        while stack:
            f = stack.pop()
            for k in users[f]:
                waiting[k] -= 1
                if not waiting[k]:
                    rule = self.rules[k]
                    if rule.owner != FREE:
                        found[rule.owner] = True
                    for a in rule.after:
                        if not reached[a]:
                            reached[a] = True
                            stack.append(a)
        return found
