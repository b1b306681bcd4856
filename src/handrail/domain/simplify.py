"""Simplification of ground nodes, for kernels: regression through many steps repeats itself, and a kernel is read by people.

`tidy` keeps meaning exactly, also where facts are unknown: what a conjunction fixes (`f == v`) is put into its other parts.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.domain.ground import (
    FALSE,
    TRUE,
    All,
    Any_,
    Cmp,
    Eq,
    Ne,
    Node,
    Ref,
    Switch,
    Truth,
    compare,
    conj,
    disj,
    switch,
)
from handrail.domain.values import Atom, Value


def tidy(node: Node, known: Mapping[Atom, Value] | None = None) -> Node:
    """An equivalent node, with what a conjunction fixes put into its other parts and weaker branches dropped.

    Args:
        node: a ground condition.
        known: values that the node's fluents have for certain; none of them UNKNOWN.
    """
    return _tidy(node, known or {})


def _tidy(node: Node, known: Mapping[Atom, Value]) -> Node:
    if isinstance(node, Truth):
        return node
    if isinstance(node, (Eq, Ne)):
        if node.atom not in known:
            return node
        same = known[node.atom] == node.value
        return TRUE if same == isinstance(node, Eq) else FALSE
    if isinstance(node, Cmp):
        return _compared(node, known)
    if isinstance(node, All):
        return _conjunction(node, known)
    if isinstance(node, Any_):
        return _absorb([_tidy(p, known) for p in node.parts])
    if node.atom in known:
        return _tidy(node.cases.get(known[node.atom], node.otherwise), known)
    cases = {v: _tidy(n, {**known, node.atom: v}) for v, n in node.cases.items()}
    return switch(node.atom, node.default, cases, _tidy(node.otherwise, known))


def _compared(node: Cmp, known: Mapping[Atom, Value]) -> Node:
    def value(r: Ref) -> Value | Ref:
        if r.atom not in known:
            return r
        v = known[r.atom]
        return v + r.offset if r.offset and isinstance(v, int) else v

    right = value(node.right) if isinstance(node.right, Ref) else node.right
    return compare(value(node.left), node.op, right)


def _conjunction(node: All, known: Mapping[Atom, Value]) -> Node:
    """Put fixed values into the other parts until nothing more gets fixed."""
    current: Node = node
    while isinstance(current, All):
        fixed = {p.atom: p.value for p in current.parts if isinstance(p, Eq)}
        both = {**known, **fixed}
        parts = [_tidy(p, known if isinstance(p, Eq) else both) for p in current.parts]
        made = conj(*parts)
        if made == current:
            return made
        current = made
    return _tidy(current, known) if not isinstance(current, (Truth, Eq, Ne, Cmp)) else current


def _absorb(parts: list[Node]) -> Node:
    """Disjunction without the branches that another branch already covers (`a or (a and b)` is `a`)."""
    made = disj(*parts)
    if not isinstance(made, Any_):
        return made
    sets = [frozenset(p.parts) if isinstance(p, All) else frozenset((p,)) for p in made.parts]
    kept = [p for i, p in enumerate(made.parts) if not any(s < sets[i] for j, s in enumerate(sets) if j != i)]
    return disj(*kept)


def size(node: Node) -> int:
    """Number of tests in a node."""
    if isinstance(node, (All, Any_)):
        return sum(size(p) for p in node.parts)
    if isinstance(node, Switch):
        return 1 + sum(size(n) for n in node.cases.values()) + size(node.otherwise)
    return 0 if isinstance(node, Truth) else 1
