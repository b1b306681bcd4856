"""A model as a program on compact states: a state is a tuple of small integers, one a variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from handrail.domain.ground import TRUE, All, Any_, Cmp, Node, Ref, Switch, Truth, negate
from handrail.domain.skill import Hook
from handrail.domain.state import State
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.solve.model import Action, Model, branches, pairs, satisfying, single

Compact: TypeAlias = tuple[int, ...]
Test = Callable[[Compact], bool]


def _never(state: Compact) -> bool:  # noqa: ARG001 - one shape for all tests
    return False


class Program:
    """Runs a model's actions on compact states.

    Attributes:
        model: the model.
        atoms: the variables' fluents, sorted.
        domains: per variable its values; a state holds their positions.
        start: the start.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.atoms: tuple[Atom, ...] = tuple(sorted(model.domains))
        self.index: dict[Atom, int] = {a: i for i, a in enumerate(self.atoms)}
        self.domains: tuple[tuple[Value, ...], ...] = tuple(model.domains[a] for a in self.atoms)
        self.place: tuple[dict[Value, int], ...] = tuple({v: k for k, v in enumerate(d)} for d in self.domains)
        self.start: Compact = tuple(self.place[i][model.start(a)] for i, a in enumerate(self.atoms))
        self._tests: dict[Node, Test | None] = {}
        self.moves = [Move(self, a) for a in model.actions]
        goal = [self.test(n) for n in model.goal]
        self._goal = tuple(t for t in goal if t is not None)
        self._always = [i for i, m in enumerate(self.moves) if m.key is None]
        self._by_value: list[dict[int, list[int]]] = [{} for _ in self.atoms]
        for i, m in enumerate(self.moves):
            if m.key is not None:
                self._by_value[m.key[0]].setdefault(m.key[1], []).append(i)
        self._keyed = [i for i, d in enumerate(self._by_value) if d]

    def at_goal(self, state: Compact) -> bool:
        """Whether a plan may end here."""
        for t in self._goal:  # noqa: SIM110 - a loop is faster here
            if not t(state):
                return False
        return True

    def successors(self, state: Compact) -> list[tuple[int, Compact]]:
        """Every action that can run here, by index, and where it leads; in the actions' order."""
        found = list(self._always)
        for i in self._keyed:
            found += self._by_value[i].get(state[i], ())
        out: list[tuple[int, Compact]] = []
        for i in sorted(found):
            after = self.moves[i].run(state)
            if after is not None and after != state:
                out.append((i, after))
        return out

    def values(self, state: Compact) -> dict[Atom, Value]:
        """The whole state as the domain sees it."""
        return {**self.model.values, **{a: d[v] for a, d, v in zip(self.atoms, self.domains, state, strict=True)}}

    def literal(self, node: Node) -> tuple[int, frozenset[int]] | None:
        """A test of one variable as its position and the positions of the values that pass; None for other nodes."""
        atom = single(node)
        if atom is None or atom not in self.index:
            return None
        i = self.index[atom]
        return i, frozenset(self.place[i][v] for v in satisfying(node, self.domains[i]))

    def test(self, node: Node) -> Test | None:
        """A condition as a function of a state; None where it always holds."""
        if node not in self._tests:
            self._tests[node] = self._compile(node)
        return self._tests[node]

    def _compile(self, node: Node) -> Test | None:
        if isinstance(node, Truth):
            return None if node.value else _never
        if isinstance(node, (All, Any_)):
            return self._joined(node)
        if isinstance(node, Switch):
            return self._switched(node)
        literal = self.literal(node)
        if literal is not None:
            i, good = literal
            if len(good) == len(self.domains[i]):
                return None
            if len(good) == 1:
                (k,) = good
                return lambda s: s[i] == k
            return (lambda s: s[i] in good) if good else _never
        if isinstance(node, Cmp) and isinstance(node.right, Ref):
            return self._compared(node)
        return None if node.holds(self.model.values) else _never

    def _joined(self, node: All | Any_) -> Test | None:
        tests = [self.test(p) for p in node.parts]
        if isinstance(node, All):
            real = tuple(t for t in tests if t is not None)
            return (lambda s: all(t(s) for t in real)) if real else None
        if any(t is None for t in tests):
            return None
        open_ = tuple(t for t in tests if t is not None and t is not _never)
        return (lambda s: any(t(s) for t in open_)) if open_ else _never

    def _switched(self, node: Switch) -> Test | None:
        if node.atom not in self.index:
            v = self.model.start(node.atom)
            return _never if v is UNKNOWN else self.test(node.cases.get(v, node.otherwise))
        i = self.index[node.atom]
        table: list[Test | None] = [_never] * len(self.domains[i])
        for inner, values in branches(node, self.domains[i]).items():
            test = self.test(inner)
            for v in values:
                table[self.place[i][v]] = test
        if all(t is None for t in table):
            return None

        def choose(s: Compact) -> bool:
            t = table[s[i]]
            return t is None or t(s)

        return choose

    def _compared(self, node: Cmp) -> Test | None:
        assert isinstance(node.right, Ref)
        left, right = node.left.atom, node.right.atom
        i, j = self.index.get(left), self.index.get(right)
        good = pairs(node, self.model.values_of(left), self.model.values_of(right))
        if i is None and j is None:
            return None if good else _never
        if i is None or j is None:
            k = i if i is not None else j
            assert k is not None
            alone = frozenset(self.place[k][a if i is not None else b] for a, b in good)
            return (lambda s: s[k] in alone) if alone else _never
        both = frozenset((self.place[i][a], self.place[j][b]) for a, b in good)
        return (lambda s: (s[i], s[j]) in both) if both else _never


class Move:
    """One action on compact states."""

    def __init__(self, program: Program, action: Action) -> None:
        self.action = action
        self._program = program
        fixed: dict[int, int] = {}
        tests: list[Test] = []
        for n in action.needs:
            literal = program.literal(n)
            if literal is not None and len(literal[1]) == 1 and literal[0] not in fixed:
                fixed[literal[0]] = next(iter(literal[1]))
            else:
                t = program.test(n)
                if t is not None:
                    tests.append(t)
        self.fixed = tuple(sorted(fixed.items()))
        self._tests = tuple(tests)
        self.key = max(self.fixed, key=lambda p: len(program.domains[p[0]]), default=None)
        ordered = action.effects
        if action.op.true_wins:
            ordered = tuple(sorted(ordered, key=lambda e: e.value is True))
        self._plain: tuple[tuple[int, int], ...] = tuple(
            (program.index[e.atom], program.place[program.index[e.atom]][e.value])
            for e in ordered
            if e.condition is TRUE and not isinstance(e.value, Ref)
        )
        self._staged = [self._stage(e.condition, e.atom, e.value) for e in ordered]
        self._simple = len(self._plain) == len(ordered)

    def _stage(self, condition: Node, atom: Atom, value: Value | Ref) -> tuple[Test | None, Test | None, int, object]:
        p = self._program
        i = p.index[atom]
        unsure = condition is not TRUE and UNKNOWN in p.place[i]
        not_ = (p.test(negate(condition)) or _always) if unsure else None
        if isinstance(value, Ref):
            if value.atom in p.index:
                j = p.index[value.atom]
                copied: list[int | None] = []
                for v in p.domains[j]:
                    shifted = v + value.offset if value.offset and isinstance(v, int) else v
                    copied.append(p.place[i].get(shifted))
                return p.test(condition), not_, i, (j, tuple(copied))
            value = value.read(p.model.values)
        return p.test(condition), not_, i, p.place[i][value]

    def run(self, state: Compact) -> Compact | None:
        """The state after the action; None where it can't run."""
        for i, v in self.fixed:
            if state[i] != v:
                return None
        for t in self._tests:
            if not t(state):
                return None
        if self.action.hook is not None and not self._hooked(self.action.hook, state):
            return None
        out = list(state)
        if self._simple:
            for i, v in self._plain:
                out[i] = v
            return tuple(out)
        sure: set[int] = set()
        for when, not_, i, value in self._staged:
            if when is None or when(state):
                sure.add(i)
                if isinstance(value, tuple):
                    read = value[1][state[value[0]]]
                    if read is not None:
                        out[i] = read
                else:
                    out[i] = value  # type: ignore[call-overload]
            elif not_ is not None and not not_(state) and (i not in sure or self._may_add(i, value, out[i])):
                out[i] = self._program.place[i][UNKNOWN]
        return tuple(out)

    def _may_add(self, i: int, value: object, now: int) -> bool:
        """Whether a possible addition stands against a certain deletion; otherwise a certain effect on the same target stands."""
        place = self._program.place[i]
        return self.action.op.true_wins and value == place.get(True) and now == place.get(False)

    def _hooked(self, hook: Hook, state: Compact) -> bool:
        """Whether the skill's Python guard lets it run; one that fails refuses, as in the checker."""
        model = self._program.model
        plain: Mapping[Atom, Value] = {a: v for a, v in self._program.values(state).items() if a[0][0] != "$"}
        step = self.action.step
        try:
            return hook(State(model.task.objects, plain), model.task.domain.skill(step.skill).bind(step.args)) is None
        except Exception:
            return False


def _always(state: Compact) -> bool:  # noqa: ARG001 - one shape for all tests
    return True
