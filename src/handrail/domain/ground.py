"""Ground conditions: what a step needs, once its parameters are objects.

Every node answers `holds(values)`: is it *definitely* true in a state whose fluents may be unknown. Nodes are kept in negation
normal form, so "definitely true" needs no third truth value while it is computed: an unknown satisfies neither a test nor its
negation (Kleene's strong logic). `negate(node).holds(values)` asks whether a condition is definitely false.

Reading one fluent is one dictionary look-up and nested terms become a `Switch` on the inner fluent's value, so the cost of a check
depends on the condition, not on how many objects there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from handrail.domain.values import UNKNOWN, Atom, Value, show_atom, show_fact, show_value

Values: TypeAlias = Mapping[Atom, Value]

_FLIP: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATE: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ORDER: Final[dict[str, Callable[[int, int], bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of a ground fluent, plus an offset where it is a count."""

    atom: Atom
    default: Value
    offset: int = 0

    def read(self, values: Values) -> Value:
        """Its value in a state; UNKNOWN stays UNKNOWN."""
        v = values.get(self.atom, self.default)
        if self.offset and v is not UNKNOWN:
            return v + self.offset  # type: ignore[operator]
        return v

    def __str__(self) -> str:
        return show_atom(self.atom) + (f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else "")


@dataclass(frozen=True, slots=True)
class Truth:
    """Always or never."""

    value: bool

    def holds(self, values: Values) -> bool:  # noqa: ARG002 - one shape for all nodes
        """Whether it is definitely true."""
        return self.value

    def __str__(self) -> str:
        return "true" if self.value else "false"


TRUE: Final = Truth(True)
FALSE: Final = Truth(False)


@dataclass(frozen=True, slots=True)
class Eq:
    """The fluent is known and has this value."""

    atom: Atom
    default: Value
    value: Value

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        return values.get(self.atom, self.default) == self.value

    def __str__(self) -> str:
        return show_fact(self.atom, self.value)


@dataclass(frozen=True, slots=True)
class Ne:
    """The fluent is known and has another value."""

    atom: Atom
    default: Value
    value: Value

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        v = values.get(self.atom, self.default)
        return v is not UNKNOWN and v != self.value

    def __str__(self) -> str:
        return f"{show_atom(self.atom)} != {show_value(self.value)}"


@dataclass(frozen=True, slots=True)
class Cmp:
    """A comparison of a fluent with a count or with another fluent."""

    left: Ref
    op: str
    right: Ref | int

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        a = self.left.read(values)
        b = self.right.read(values) if isinstance(self.right, Ref) else self.right
        if a is UNKNOWN or b is UNKNOWN:
            return False
        if self.op == "==":
            return a == b and a is not None
        if self.op == "!=":
            return a != b or a is None
        return a is not None and b is not None and _ORDER[self.op](a, b)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


@dataclass(frozen=True, slots=True)
class All:
    """Conjunction of two or more nodes."""

    parts: tuple[Node, ...]

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        return all(p.holds(values) for p in self.parts)

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, Any_) else str(p) for p in self.parts)


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801 - `Any` is taken by typing
    """Disjunction of two or more nodes."""

    parts: tuple[Node, ...]

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        return any(p.holds(values) for p in self.parts)

    def __str__(self) -> str:
        return " or ".join(f"({p})" if isinstance(p, All) else str(p) for p in self.parts)


class Switch:
    """One of several conditions, chosen by the value of a fluent; false where the fluent is unknown."""

    __slots__ = ("_hash", "atom", "cases", "default", "otherwise")

    def __init__(self, atom: Atom, default: Value, cases: Mapping[Value, Node], otherwise: Node = FALSE) -> None:
        self.atom = atom
        self.default = default
        self.cases: dict[Value, Node] = dict(cases)
        self.otherwise = otherwise
        self._hash = hash((atom, frozenset(self.cases.items()), otherwise))

    def holds(self, values: Values) -> bool:
        """Whether it is definitely true."""
        v = values.get(self.atom, self.default)
        return v is not UNKNOWN and self.cases.get(v, self.otherwise).holds(values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Switch)
            and self.atom == other.atom
            and self.cases == other.cases
            and self.otherwise == other.otherwise
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        known = [
            str(conj(Eq(self.atom, self.default, v), n))
            for v, n in sorted(self.cases.items(), key=lambda i: str(i[0]))
            if n is not FALSE
        ]
        if self.otherwise is not FALSE:
            known.append(f"({show_atom(self.atom)} is something else and {self.otherwise})")
        return " or ".join(f"({k})" for k in known) if len(known) > 1 else (known[0] if known else "false")

    def __repr__(self) -> str:
        return f"Switch({self})"


Node: TypeAlias = Truth | Eq | Ne | Cmp | All | Any_ | Switch
Operand: TypeAlias = "Ref | Value"


def conj(*parts: Node) -> Node:
    """Conjunction, simplified: flattened, without repeats, false where two parts contradict each other."""
    flat: dict[Node, None] = {}
    seen: dict[Atom, Value] = {}
    stack: list[Node] = list(reversed(parts))
    while stack:
        p = stack.pop()
        if isinstance(p, All):
            stack.extend(reversed(p.parts))
        elif p is FALSE:
            return FALSE
        elif p is not TRUE:
            if isinstance(p, Eq):
                if p.atom in seen and seen[p.atom] != p.value:
                    return FALSE
                seen[p.atom] = p.value
            flat[p] = None
    for p in flat:
        if isinstance(p, Ne) and p.atom in seen and seen[p.atom] == p.value:
            return FALSE
    if not flat:
        return TRUE
    return next(iter(flat)) if len(flat) == 1 else All(tuple(flat))


def disj(*parts: Node) -> Node:
    """Disjunction, simplified: flattened and without repeats."""
    flat: dict[Node, None] = {}
    stack: list[Node] = list(reversed(parts))
    while stack:
        p = stack.pop()
        if isinstance(p, Any_):
            stack.extend(reversed(p.parts))
        elif p is TRUE:
            return TRUE
        elif p is not FALSE:
            flat[p] = None
    if not flat:
        return FALSE
    return next(iter(flat)) if len(flat) == 1 else Any_(tuple(flat))


def switch(atom: Atom, default: Value, cases: Mapping[Value, Node], otherwise: Node = FALSE) -> Node:
    """A Switch, simplified: one case becomes a conjunction, no case its `otherwise`."""
    kept = {v: n for v, n in cases.items() if n != otherwise}
    if not kept:
        # The condition still asks that the fluent be known, except where nothing can make it true.
        return FALSE if otherwise is FALSE else Switch(atom, default, {}, otherwise)
    if otherwise is FALSE and len(kept) == 1:
        ((v, n),) = kept.items()
        return conj(Eq(atom, default, v), n)
    if otherwise is TRUE and len(kept) == 1:
        ((v, n),) = kept.items()
        if n is FALSE:
            return Ne(atom, default, v)
    return Switch(atom, default, kept, otherwise)


def some(parts: Iterable[Node]) -> Node:
    """Disjunction of many alike parts; where each part fixes the same fluent to a value, one Switch on that fluent."""
    flat = [p for p in parts if p is not FALSE]
    if any(p is TRUE for p in flat):
        return TRUE
    if len(flat) > 1:
        first = _fixed(flat[0])
        for atom, lit in first.items():
            cases: dict[Value, list[Node]] = {}
            for p in flat:
                mine = _fixed(p).get(atom)
                if mine is None:
                    break
                rest = [q for q in p.parts if q != mine] if isinstance(p, All) else []
                cases.setdefault(mine.value, []).append(conj(*rest))
            else:
                return switch(atom, lit.default, {v: disj(*ns) for v, ns in cases.items()})
    return disj(*flat)


def _fixed(p: Node) -> dict[Atom, Eq]:
    """The fluents that a node needs to have one value."""
    parts = p.parts if isinstance(p, All) else (p,)
    return {q.atom: q for q in parts if isinstance(q, Eq)}


def compare(left: Operand, op: str, right: Operand, none_written: bool = False) -> Node:
    """A comparison, folded where both sides are constants. `none == none` is true only where `none` was written."""
    if not isinstance(left, Ref):
        if isinstance(right, Ref):
            return compare(right, _FLIP[op], left, none_written)
        if left is UNKNOWN or right is UNKNOWN:
            return FALSE
        if op in ("==", "!="):
            same = left == right and (left is not None or none_written)
            return TRUE if same == (op == "==") else FALSE
        if left is None or right is None:
            return FALSE
        return TRUE if _ORDER[op](left, right) else FALSE  # type: ignore[arg-type]
    if isinstance(right, Ref):
        return Cmp(left, op, right)
    if right is UNKNOWN:
        return FALSE
    if right is None and not none_written:
        if op == "==":
            return FALSE
        return Ne(left.atom, left.default, "\0never") if op == "!=" else FALSE
    if op in ("==", "!="):
        value = right - left.offset if left.offset and isinstance(right, int) else right
        return (Eq if op == "==" else Ne)(left.atom, left.default, value)
    if not isinstance(right, int):
        return FALSE
    return Cmp(Ref(left.atom, left.default), op, right - left.offset)


def negate(node: Node) -> Node:
    """The node that is definitely true exactly where `node` is definitely false."""
    if isinstance(node, Truth):
        return FALSE if node.value else TRUE
    if isinstance(node, Eq):
        if isinstance(node.value, bool):
            return Eq(node.atom, node.default, not node.value)
        return Ne(node.atom, node.default, node.value)
    if isinstance(node, Ne):
        if node.value == "\0never":
            return FALSE
        if isinstance(node.value, bool):
            return Eq(node.atom, node.default, node.value)
        return Eq(node.atom, node.default, node.value)
    if isinstance(node, Cmp):
        return Cmp(node.left, _NEGATE[node.op], node.right)
    if isinstance(node, All):
        return disj(*(negate(p) for p in node.parts))
    if isinstance(node, Any_):
        return conj(*(negate(p) for p in node.parts))
    return switch(node.atom, node.default, {v: negate(n) for v, n in node.cases.items()}, negate(node.otherwise))


def atoms(node: Node) -> frozenset[Atom]:
    """Every ground fluent that a node reads."""
    found: set[Atom] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, (Eq, Ne)):
            found.add(n.atom)
        elif isinstance(n, Cmp):
            found.add(n.left.atom)
            if isinstance(n.right, Ref):
                found.add(n.right.atom)
        elif isinstance(n, (All, Any_)):
            stack.extend(n.parts)
        elif isinstance(n, Switch):
            found.add(n.atom)
            stack.extend(n.cases.values())
            stack.append(n.otherwise)
    return frozenset(found)


def support(node: Node, values: Values) -> frozenset[Atom]:
    """The fluents that decide a node in a state: of a Switch only the branch taken, of a disjunction that holds one part that does."""
    if isinstance(node, Switch):
        v = values.get(node.atom, node.default)
        rest = frozenset() if v is UNKNOWN else support(node.cases.get(v, node.otherwise), values)
        return frozenset((node.atom,)) | rest
    if isinstance(node, All):
        return frozenset().union(*(support(p, values) for p in node.parts))
    if isinstance(node, Any_):
        held = next((p for p in node.parts if p.holds(values)), None)
        return support(held, values) if held is not None else frozenset().union(*(support(p, values) for p in node.parts))
    return atoms(node)


def failing(node: Node, values: Values) -> tuple[Node, ...]:
    """The smallest parts that keep a node from holding, in reading order; empty where it holds.

    Of a disjunction the branch with the fewest failing parts is given (the first of several), because that is the branch that a
    person would mend.
    """
    if node.holds(values):
        return ()
    if isinstance(node, All):
        return tuple(f for p in node.parts for f in failing(p, values))
    if isinstance(node, Any_):
        return min((failing(p, values) for p in node.parts), key=len)
    if isinstance(node, Switch):
        v = values.get(node.atom, node.default)
        if v is not UNKNOWN:
            inner = node.cases.get(v, node.otherwise)
            if inner is not FALSE:
                return failing(inner, values)
        if node.otherwise is FALSE:
            return (disj(*(Eq(node.atom, node.default, c) for c, n in node.cases.items() if n is not FALSE)),)
    return (node,)
