"""The one ground operator: a skill call, a functional unit and a PDDL action all become this.

Condition, (condition, assignment) effects, cost. `apply` runs it forward on a mutable dictionary of values, `regress` takes a
condition backward through it: the weakest condition before the step under which the given one holds after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from handrail.domain.ground import (
    FALSE,
    TRUE,
    All,
    Any_,
    Cmp,
    Eq,
    Ne,
    Node,
    Operand,
    Ref,
    Switch,
    Truth,
    Values,
    atoms,
    compare,
    conj,
    disj,
    negate,
    support,
    switch,
)
from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_value


@dataclass(frozen=True, slots=True)
class GroundEffect:
    """`if condition then atom := value`; the value may read another fluent, or the same one with an offset."""

    condition: Node
    atom: Atom
    default: Value
    value: Operand

    def __str__(self) -> str:
        value = str(self.value) if isinstance(self.value, Ref) else show_value(self.value)
        text = f"{show_atom(self.atom)} := {value}"
        return text if self.condition is TRUE else f"if {self.condition} then {text}"


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of a step that is not one of the skill's own: a rule, a count's range, a conflict of effects.

    Attributes:
        code: the reason code a failure gets.
        text: the rule as its author wrote it, or a sentence.
        node: what must hold before the step.
    """

    code: str
    text: str
    node: Node


@dataclass(frozen=True)
class Operator:
    """A ground operator.

    Attributes:
        name: the step it came from, `(skill, *args)`.
        needs: pairs of (text as written, ground node), in the order written.
        effects: all read the state before the step.
        guards: further conditions, each with its reason code.
        cost: at least 0, in the domain's one unit.
        true_wins: PDDL's rule that an atom both deleted and added is added; otherwise two values for one target are an error.
    """

    name: Atom
    needs: tuple[tuple[str, Node], ...]
    effects: tuple[GroundEffect, ...]
    guards: tuple[Guard, ...] = ()
    cost: float = 1.0
    true_wins: bool = False
    _by_atom: dict[Atom, tuple[GroundEffect, ...]] = field(default_factory=dict, repr=False, compare=False)
    _quick: tuple[tuple[Atom, Value, Value], ...] | None = field(default=None, repr=False, compare=False)
    _plain: tuple[tuple[Atom, Value], ...] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        by: dict[Atom, list[GroundEffect]] = {}
        for e in self.effects:
            by.setdefault(e.atom, []).append(e)
        object.__setattr__(self, "_by_atom", {a: tuple(es) for a, es in by.items()})
        nodes = [n for _, n in self.needs] + [g.node for g in self.guards]
        if not all(isinstance(n, Eq) for n in nodes):  # the usual case needs no simplification
            whole = conj(*nodes)
            nodes = list(whole.parts) if isinstance(whole, All) else [] if whole is TRUE else [whole]
        quick = [(p.atom, p.default, p.value) for p in nodes if isinstance(p, Eq)]
        object.__setattr__(self, "_quick", tuple(quick) if len(quick) == len(nodes) else None)
        if all(e.condition is TRUE and not isinstance(e.value, Ref) for e in self.effects) and (
            all(len({e.value for e in es}) == 1 for es in by.values()) or self.true_wins
        ):
            ordered = sorted(self.effects, key=lambda e: e.value is True) if self.true_wins else self.effects
            object.__setattr__(self, "_plain", tuple({e.atom: e.value for e in ordered}.items()))

    @property
    def condition(self) -> Node:
        """Everything that must hold before the step: needs and guards."""
        return conj(*(n for _, n in self.needs), *(g.node for g in self.guards))

    def applicable(self, values: Values) -> bool:
        """Whether the whole condition is definitely true."""
        quick = self._quick
        if quick is not None:
            for atom, default, value in quick:  # noqa: SIM110 - a loop is twice as fast as all() here
                if values.get(atom, default) != value:
                    return False
            return True
        return all(n.holds(values) for _, n in self.needs) and all(g.node.holds(values) for g in self.guards)

    def changes(self, values: Values) -> dict[Atom, Value]:
        """What the step assigns, read from the state before it.

        An effect whose condition is unknown, or that reads an unknown value, makes its target unknown. Check `applicable` first:
        where guards hold no two effects disagree.
        """
        if self._plain is not None:
            return dict(self._plain)
        out: dict[Atom, Value] = {}
        maybe: set[Atom] = set()
        for e in self.effects:
            if e.condition is TRUE or e.condition.holds(values):
                v = e.value.read(values) if isinstance(e.value, Ref) else e.value
                # Where adding wins, neither a certain nor a possible addition gives way to a deletion.
                if self.true_wins and v is False and (out.get(e.atom) is True or e.atom in maybe):
                    continue
                out[e.atom] = v
            elif not negate(e.condition).holds(values):
                # A certain effect on the same target stands: a guard keeps the two from disagreeing, or adding wins.
                if self.true_wins and e.value is True and out.get(e.atom) is False:
                    out[e.atom] = UNKNOWN
                out.setdefault(e.atom, UNKNOWN)
                if e.value is True:
                    maybe.add(e.atom)
        return out

    def apply(self, values: dict[Atom, Value]) -> dict[Atom, Value]:
        """Run the step on a mutable state; returns the assignments made."""
        done = self.changes(values)
        values.update(done)
        return done

    @property
    def writes(self) -> frozenset[Atom]:
        """Every fluent that the step may change."""
        return frozenset(self._by_atom)

    def circumstances(self, values: Values) -> dict[Atom, Value]:
        """The facts under which the step runs from a state: what decides its own needs there, and what it may change.

        Rules are left out: they have nothing to do with whether a skill works.
        """
        found = frozenset().union(*(support(n, values) for _, n in self.needs)) | self.writes
        by_default = {e.atom: e.default for e in self.effects}
        return {a: values.get(a, by_default.get(a, UNKNOWN)) for a in sorted(found) if a[0][0] != "$"}

    def default(self, atom: Atom) -> Value:
        """The default of a fluent that the step writes."""
        return self._by_atom[atom][0].default

    @property
    def reads(self) -> frozenset[Atom]:
        """Every fluent that the step's conditions or effects read."""
        found = set(atoms(self.condition))
        for e in self.effects:
            found |= atoms(e.condition)
            if isinstance(e.value, Ref):
                found.add(e.value.atom)
        return frozenset(found)

    def after(self, ref: Ref) -> list[tuple[Node, Operand]]:
        """What a fluent will hold after the step, as exclusive cases over the state before it."""
        effects = self._by_atom.get(ref.atom)
        if not effects:
            return [(TRUE, ref)]
        shift = ref.offset
        if self.true_wins:
            yes = disj(*(e.condition for e in effects if e.value is True))
            no = disj(*(e.condition for e in effects if e.value is False))
            cases: list[tuple[Node, Operand]] = [(yes, True), (conj(no, negate(yes)), False)]
            if all(isinstance(e.value, bool) for e in effects):
                cases.append((conj(negate(yes), negate(no)), ref))
                return [(c, v) for c, v in cases if c is not FALSE]
        cases = []
        rest: list[Node] = []
        for e in effects:
            cases.append((e.condition, _shifted(e.value, shift)))
            rest.append(negate(e.condition))
        cases.append((conj(*rest), ref))
        return [(c, v) for c, v in cases if c is not FALSE]

    def regress(self, node: Node) -> Node:
        """The weakest condition before the step under which `node` holds after it (given that the step's own condition holds)."""
        if isinstance(node, Truth):
            return node
        if isinstance(node, (Eq, Ne)):
            if node.atom not in self._by_atom:
                return node
            op = "==" if isinstance(node, Eq) else "!="
            written = node.value is None
            return disj(
                *(conj(c, compare(v, op, node.value, written)) for c, v in self.after(Ref(node.atom, node.default)))
            )
        if isinstance(node, Cmp):
            right = self.after(node.right) if isinstance(node.right, Ref) else [(TRUE, node.right)]
            return disj(
                *(
                    conj(c1, c2, compare(v1, node.op, v2))
                    for (c1, v1), (c2, v2) in product(self.after(node.left), right)
                )
            )
        if isinstance(node, All):
            return conj(*(self.regress(p) for p in node.parts))
        if isinstance(node, Any_):
            return disj(*(self.regress(p) for p in node.parts))
        return self._regress_switch(node)

    def _regress_switch(self, node: Switch) -> Node:
        parts: list[Node] = []
        for c, v in self.after(Ref(node.atom, node.default)):
            if isinstance(v, Ref):
                cases = {k: self.regress(n) for k, n in node.cases.items()}
                parts.append(conj(c, switch(v.atom, v.default, cases, self.regress(node.otherwise))))
            elif v is not UNKNOWN:
                parts.append(conj(c, self.regress(node.cases.get(v, node.otherwise))))
        return disj(*parts)


def _shifted(value: Operand, shift: int) -> Operand:
    if not shift:
        return value
    if isinstance(value, Ref):
        return Ref(value.atom, value.default, value.offset + shift)
    return value + shift if isinstance(value, int) and not isinstance(value, bool) else value


def conflicts(effects: Iterable[GroundEffect]) -> tuple[Guard, ...]:
    """Guards against two effects giving one target two values.

    A pair that can never disagree gives no guard; a pair that always does gives one that never holds.
    """
    by: dict[Atom, list[GroundEffect]] = {}
    for e in effects:
        by.setdefault(e.atom, []).append(e)
    out: list[Guard] = []
    for atom, es in by.items():
        for i, a in enumerate(es):
            for b in es[i + 1 :]:
                differ = compare(a.value, "!=", b.value, none_written=True)
                both = conj(a.condition, b.condition, differ)
                if both is not FALSE:
                    text = f"two effects set {show_atom(atom)}: {a} / {b}"
                    out.append(Guard("EFFECT_CONFLICT", text, negate(both)))
    return tuple(out)
