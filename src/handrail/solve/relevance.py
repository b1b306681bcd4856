"""Backward relevance: which actions can matter for the goal at all.

An action matters only where it lies on a loop-free path of some variable, from a value that the variable may have when its turn comes
to a value that the goal or another action that matters asks for. Everything else can be cut out of any plan without breaking it or
making it dearer, so the cheapest plan stays (path reducibility: Scholz, "Reducing planning problems by path reduction", 2004;
Haslum, Helmert and Jonsson, "Safe, strong and tractable relevance analysis for planning", ICAPS 2013). Here a demand is a *set* of
values, so that "anything but the knife" is not mistaken for a wish to pick up every cup.

Why it is safe. Take a plan and keep only the actions that matter. When one of them asks for a variable to be in a set S, it was in S
in the full plan. Let s be the value that the last kept action gave it. If s is not in S, the dropped actions led from s into S, hence
along a loop-free path into S, hence they matter: a contradiction. Effects under conditions fire alike because their conditions
and negations are demands too. Counters of promises run slower when steps are dropped, which only helps.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from handrail.domain.ground import TRUE, All, Any_, Cmp, Node, Ref, Switch, Truth, atoms, negate
from handrail.domain.operator import GroundEffect
from handrail.domain.rules import RuleKind
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.solve.model import Action, Model, branches, satisfying, single

_Edge = tuple[frozenset[Value] | None, Value, int]
"""From which values (None for any), to which value, by which action."""


class Relevance:
    """The actions of a model that can matter, by index: `kept`.

    Args:
        model: variables and actions.
        free: for variables whose object stands for others of its class, the starts of all of them.
    """

    def __init__(self, model: Model, free: Mapping[Atom, set[Value]] | None = None) -> None:
        self.model = model
        self.kept: set[int] = set()
        self.asked: set[Atom] = set()
        """Fluents that something which matters reads, whether or not an action here changes them."""
        self._sources: dict[Atom, set[Value]] = {a: {model.start(a)} for a in model.domains}
        for atom, starts in (free or {}).items():
            self._sources[atom] = set(starts)
        self._later: dict[Atom, list[GroundEffect]] = defaultdict(list)
        self._demands: dict[Atom, set[frozenset[Value]]] = defaultdict(set)
        self._edges: dict[Atom, list[_Edge]] = defaultdict(list)
        self._writers: dict[Atom, list[int]] = defaultdict(list)
        self._promises = {r.atom: r for r in model.task.rules if r.rule.kind in (RuleKind.AFTER, RuleKind.BEFORE)}
        for i, action in enumerate(model.actions):
            self._index(i, action)
        self._graphs: dict[Atom, _Graph] = {}
        self._dirty: set[Atom] = set()
        self._waiting: deque[int] = deque()
        self._working = False
        self._forced: set[Atom] = set()
        for node in model.goal:
            self._ask(node)
        self._run()

    def _index(self, i: int, action: Action) -> None:
        before: dict[Atom, frozenset[Value]] = {}
        for n in action.needs:
            a = single(n)
            if a is not None and a in self.model.domains:
                values = satisfying(n, self.model.domains[a])
                before[a] = before.get(a, values) & values
        for e in action.effects:
            if e.atom in self._promises:
                continue  # see `_force`: every action moves the counter of a promise
            self._writers[e.atom].append(i)
            if isinstance(e.value, Ref):
                for v in self.model.all_values(e.value):
                    self._edges[e.atom].append((before.get(e.atom), v, i))
            else:
                self._edges[e.atom].append((before.get(e.atom), e.value, i))
            if e.condition is not TRUE and UNKNOWN in self.model.domains[e.atom]:
                self._edges[e.atom].append((before.get(e.atom), UNKNOWN, i))

    def _want(self, atom: Atom, values: frozenset[Value]) -> None:
        self.asked.add(atom)
        domain = self.model.domains.get(atom)
        if domain is None or not values or len(values) == len(domain):
            return
        if atom in self._promises:
            # a promise that is not open stays so until something that matters moves its conditions, and that forces it itself
            if self._promises[atom].rule.kind is RuleKind.BEFORE or self._open(atom):
                self._force(atom)
            return
        if values not in self._demands[atom]:
            self._demands[atom].add(values)
            self._dirty.add(atom)
            for e in self._later.pop(atom, ()):
                self._ask_effect(e)

    def _exactly(self, atom: Atom) -> None:
        for v in self.model.values_of(atom):
            self._want(atom, frozenset((v,)))

    def _ask(self, node: Node) -> None:
        """Demand that a condition that holds in a plan still holds when actions are dropped."""
        atom = single(node)
        if atom is not None:
            self._want(atom, satisfying(node, self.model.values_of(atom)))
        elif isinstance(node, (All, Any_)):
            for p in node.parts:
                self._ask(p)
        elif isinstance(node, Cmp):
            for a in atoms(node):
                self._exactly(a)
        elif isinstance(node, Switch):
            groups = branches(node, self.model.values_of(node.atom))
            always = groups.pop(TRUE, [])
            if always and not groups:
                self._want(node.atom, frozenset(always))
            for inner, values in groups.items():
                self._want(node.atom, frozenset((*values, *always)))
                self._ask(inner)
        elif not isinstance(node, Truth):
            raise TypeError(f"unknown node {node!r}")

    def _force(self, atom: Atom) -> None:
        """A promise or order matters: whatever moves its two conditions matters, and exactly."""
        if atom in self._forced:
            return
        self._forced.add(atom)
        rule = self._promises[atom]
        for a in rule.reads:
            if a in self.model.domains and a not in self._promises:
                self._exactly(a)
                for i in self._writers[a]:
                    self._keep(i)

    def _keep(self, i: int) -> None:
        if i in self.kept:
            return
        self.kept.add(i)
        # A queue, not recursion: what matters can be a long chain.
        self._waiting.append(i)
        if self._working:
            return
        self._working = True
        while self._waiting:
            self._look_into(self._waiting.popleft())
        self._working = False

    def _look_into(self, i: int) -> None:
        """Ask for everything that an action which matters depends on."""
        action = self.model.actions[i]
        if action.hook is not None:  # nobody knows what a Python guard reads
            for other in range(len(self.model.actions)):
                self._keep(other)
        for n in action.needs:
            if not self._promise_guard(n, action):
                self._ask(n)
        for e in action.effects:
            if e.atom in self._promises:
                if self._promises[e.atom].reads & action.op.writes:
                    self._force(e.atom)
                continue
            sources = self._sources[e.atom]
            new = set(self.model.all_values(e.value)) if isinstance(e.value, Ref) else {e.value}
            if e.condition is not TRUE and UNKNOWN in self.model.domains[e.atom]:
                new.add(UNKNOWN)
            if not new <= sources:
                sources |= new
                self._dirty.add(e.atom)
            if e.condition is not TRUE or isinstance(e.value, Ref):
                if self._demands.get(e.atom):
                    self._ask_effect(e)
                else:
                    self._later[e.atom].append(e)

    def _ask_effect(self, e: GroundEffect) -> None:
        """Demand that an effect fires, and with the same value, exactly where it did."""
        if e.condition is not TRUE:
            self._ask(e.condition)
            self._ask(negate(e.condition))
        if isinstance(e.value, Ref):
            self._exactly(e.value.atom)

    def _promise_guard(self, node: Node, action: Action) -> bool:
        """Whether a condition only watches promises that this action has nothing to do with.

        Every action asks that no promise runs out with it. With fewer steps a promise runs out later, so where the promise is
        about nothing that matters, the guard asks for nothing.
        """
        read = atoms(node)
        watched = [self._promises[a] for a in read if a in self._promises]
        if not watched or any(r.reads & action.op.writes for r in watched):
            return False
        allowed = {a for r in watched for a in r.reads} | {r.atom for r in watched}
        return read <= allowed and all(r.rule.kind is RuleKind.AFTER for r in watched)

    def _open(self, atom: Atom) -> bool:
        now = self.model.start(atom)
        return self._promises[atom].rule.kind is RuleKind.AFTER and (now is UNKNOWN or bool(now))

    def _run(self) -> None:
        for r in self._promises.values():
            if self._open(r.atom):
                self._force(r.atom)
        while self._dirty:
            atom = min(self._dirty)
            self._dirty.discard(atom)
            for wanted in list(self._demands[atom]):
                for source in list(self._sources[atom]):
                    if source not in wanted:
                        self._paths(atom, source, wanted)

    def _paths(self, atom: Atom, source: Value, wanted: frozenset[Value]) -> None:
        """Keep every action on a loop-free path from a value to its first value in a set."""
        graph = self._graphs.get(atom)
        if graph is None:
            graph = self._graphs[atom] = _Graph(self.model.domains[atom], self._edges[atom])
        for i in graph.on_paths(source, wanted, self.kept):
            self._keep(i)


class _Graph:
    """How the actions move one variable; sets of values are bit masks."""

    def __init__(self, domain: tuple[Value, ...], edges: list[_Edge]) -> None:
        self._bit = {v: 1 << k for k, v in enumerate(domain)}
        self._size = len(domain)
        everything = (1 << self._size) - 1
        self._edges: list[tuple[int, int, int]] = []
        self._out = [0] * self._size
        self._in = [0] * self._size
        for before, after, i in edges:
            if after not in self._bit:
                continue
            b = self._bit[after]
            a = (everything if before is None else self.mask(before)) & ~b
            if a:
                self._edges.append((a, b, i))
                self._in[b.bit_length() - 1] |= a
                for k in _bits(a):
                    self._out[k] |= b

    def mask(self, values: Iterable[Value]) -> int:
        """Values as a bit mask."""
        out = 0
        for v in values:
            out |= self._bit.get(v, 0)
        return out

    def _reach(self, start: int, neighbours: list[int], blocked: int) -> int:
        found = start
        fresh = start
        while fresh:
            following = 0
            for k in _bits(fresh):
                following |= neighbours[k]
            fresh = following & ~found & ~blocked
            found |= fresh
        return found

    def on_paths(self, source: Value, wanted: Iterable[Value], kept: set[int]) -> list[int]:
        """Actions on loop-free paths, without those that are kept already.

        An edge a to b is left out where every way to a and every way on from b pass through one and the same value, since then no
        path through the edge is free of loops. That is a superset of the exact answer, which is safe.
        """
        s, w = self._bit[source], self.mask(wanted)
        forward = self._reach(s, self._out, w)
        backward = self._reach(w, self._in, s)
        found = [e for e in self._edges if e[2] not in kept and e[1] & backward and not e[1] & s and e[0] & forward]
        if not found:
            return []
        comes_by = [0] * self._size
        goes_by = [0] * self._size
        for k in _bits(forward & backward & ~w):
            c = 1 << k
            away = forward & ~self._reach(s, self._out, w | c)
            for j in _bits(away | c):
                comes_by[j] |= c
            away = backward & ~self._reach(w, self._in, s | c)
            for j in _bits(away | c):
                goes_by[j] |= c
        out: list[int] = []
        for before, after, i in found:
            onward = goes_by[after.bit_length() - 1]
            if any(not comes_by[k] & onward for k in _bits(before & forward & ~w)):
                out.append(i)
        return out


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
