"""Lifted conditions to PDDL conditions.

Valued fluents become predicates, nested terms `exists`, counts objects, derived fluents their definitions.

A valued fluent `f(x): T?` is the predicate `(f ?x ?v)` with `(f-none ?x)`. A test of a value is written so that it asks for a value
the fluent has, never for one it lacks: where a value is unknown there is no such atom, and neither a test nor its negation holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handrail.domain import formula as f
from handrail.domain.domain import Domain
from handrail.domain.pddl.names import Names
from handrail.domain.pddl.tree import FALSE, NONE, TRUE, Lit, Tree, Vars, both, bound, either, inverse, same
from handrail.domain.types import Attribute, Fluent, Kind

Scope = Mapping[str, tuple[str, tuple[str, ...]]]
"""Parameter to its PDDL term and its types."""

COUNT = "count"
SYMBOL = "symbol"
_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Translator:
    """Translates conditions of one domain and notes which static predicates the texts use.

    Attributes:
        names: PDDL names.
        used: static predicates in use: ("type", name), ("attribute", name), ("less", "").
        constants: PDDL terms that are constants or objects.
        top: highest count in use; -1 for none.
        total: fluents whose value is always known, so that a test for another value is the negation of an atom.
    """

    def __init__(self, domain: Domain, names: Names) -> None:
        self.domain = domain
        self.names = names
        self.used: set[tuple[str, str]] = set()
        self.constants: set[str] = set()
        self.top = max((x.high for x in domain.fluents.values() if x.kind is Kind.COUNT), default=-1)
        self.low = min((x.low for x in domain.fluents.values() if x.kind is Kind.COUNT), default=0)
        self._fresh = 0
        self.total: set[str] = set()

    # names and types

    def object(self, name: str) -> str:
        """PDDL name of an object."""
        made = self.names("object", name)
        self.constants.add(made)
        return made

    def count(self, n: int) -> str:
        """PDDL object that stands for a count."""
        self.top, self.low = max(self.top, n), min(self.low, n)
        made = self.names("count", f"n{n}" if n >= 0 else f"minus{-n}")
        self.constants.add(made)
        return made

    def symbol(self, name: str) -> str:
        """PDDL object that stands for an attribute's symbol."""
        made = self.names("symbol", name)
        self.constants.add(made)
        return made

    def type(self, name: str) -> str:
        """PDDL name of a type."""
        return "object" if name == "object" else self.names("type", name)

    def types(self, names: tuple[str, ...]) -> str:
        """PDDL text of one type or several."""
        made = [self.type(n) for n in names]
        return made[0] if len(made) == 1 else f"(either {' '.join(made)})"

    def variable(self, hint: str) -> str:
        """A variable that is used nowhere else."""
        self._fresh += 1
        return f"?{hint}{self._fresh}"

    def predicate(self, name: str) -> str:
        """PDDL name of a fluent's predicate."""
        return self.names("fluent", name)

    def none(self, name: str) -> str:
        """PDDL name of the predicate that a fluent is none."""
        return self.names("fluent", f"{name}-none")

    def value_type(self, fluent: Fluent | Attribute) -> str:
        """PDDL type of a fluent's values."""
        if fluent.kind is Kind.COUNT:
            return self.names("type", COUNT)
        if isinstance(fluent, Attribute):
            return self.names("type", SYMBOL)
        return self.types(fluent.types)

    # terms

    def leaves(self, term: f.Term, scope: Scope) -> list[tuple[Vars, Tree, str]]:
        """What a term may be: variables, the condition that they are its value, and the PDDL term (or NONE, or a truth value)."""
        if isinstance(term, f.Param):
            return [((), TRUE, scope[term.name][0])]
        if isinstance(term, f.Const):
            return [((), TRUE, self._constant(term))]
        out: list[tuple[Vars, Tree, str]] = []
        for variables, cond, args in self.arguments(term.args, scope):
            out += [(variables + v, both((cond, c)), x) for v, c, x in self._call(term.name, args)]
        return out

    def _constant(self, term: f.Const) -> str:
        v = term.value
        if v is None:
            return NONE
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, int):
            return self.count(v)
        name = str(v)
        return self.symbol(name) if name in self.domain.symbols else self.object(name)

    def arguments(self, args: tuple[f.Term, ...], scope: Scope) -> list[tuple[Vars, Tree, tuple[str, ...]]]:
        """Every combination of what the arguments may be."""
        combos: list[tuple[Vars, Tree, tuple[str, ...]]] = [((), TRUE, ())]
        for a in args:
            found = self.leaves(a, scope)
            combos = [(vs + more, both((cond, c)), (*done, x)) for vs, cond, done in combos for more, c, x in found]
        return combos

    def _call(self, name: str, args: tuple[str, ...]) -> list[tuple[Vars, Tree, str]]:
        domain = self.domain
        fluent = domain.fluents.get(name)
        if fluent is not None:
            boolean, optional = fluent.kind is Kind.BOOL, fluent.optional
        elif name in domain.attributes:
            self.used.add(("attribute", name))
            boolean, optional = domain.attributes[name].kind is Kind.BOOL, True
        else:
            boolean, optional = True, False
        if NONE in args:
            return [((), TRUE, "false" if boolean else NONE)]
        if boolean:
            if fluent is None and name not in domain.attributes:
                if name == "object":
                    return [((), TRUE, "true")]
                self.used.add(("type", name))
                atom = Lit((self.names("is", f"is-{name}"), *args))
            else:
                atom = Lit((self.predicate(name), *args))
            return [((), atom, "true"), ((), inverse(atom), "false")]
        of = fluent if fluent is not None else domain.attributes[name]
        v = self.variable("v")
        out: list[tuple[Vars, Tree, str]] = [(((v, self.value_type(of)),), Lit((self.predicate(name), *args, v)), v)]
        if optional:
            out.append(((), Lit((self.none(name), *args)), NONE))
        return out

    # conditions

    def condition(self, c: f.Condition, scope: Scope, positive: bool = True) -> Tree:
        """A condition, or its negation (definitely false)."""
        if isinstance(c, f.Not):
            return self.condition(c.part, scope, not positive)
        if isinstance(c, (f.And, f.Or)):
            join = both if isinstance(c, f.And) == positive else either
            return join(self.condition(p, scope, positive) for p in c.parts)
        if isinstance(c, (f.Some, f.All)):
            v = self.variable(c.var.lower() if c.var.isascii() and c.var.isidentifier() else "v")
            kinds = tuple(c.type.split(" | "))
            body = self.condition(c.body, {**scope, c.var: (v, kinds)}, positive)
            return bound("exists" if isinstance(c, f.Some) == positive else "forall", ((v, self.types(kinds)),), body)
        return self._test(c, scope, positive)

    def _test(self, c: f.Test, scope: Scope, positive: bool) -> Tree:
        if isinstance(c.left, f.Call) and c.left.name in self.domain.derived:
            truth = isinstance(c.right, f.Const) and c.right.value is True
            return self._derived(c.left, scope, (truth == (c.op == "==")) == positive)
        none = any(isinstance(t, f.Const) and t.value is None for t in (c.left, c.right))
        if (
            (c.op == "!=") == positive
            and c.op in ("==", "!=")
            and isinstance(c.left, f.Call)
            and c.left.name in self.total
        ):
            plain = self._test(f.Test(c.left, "==", c.right), scope, True)
            if isinstance(plain, Lit):
                return inverse(plain)
        counted = self._counted(c, scope, positive)
        if counted is not None:
            return counted
        ways: list[Tree] = []
        for v1, c1, x in self.leaves(c.left, scope):
            for v2, c2, y in self.leaves(c.right, scope):
                ways.append(bound("exists", v1 + v2, both((c1, c2, self._compare(x, c.op, y, none, positive)))))
        return either(ways)

    def _counted(self, c: f.Test, scope: Scope, positive: bool) -> Tree | None:
        """A count against a number, where one atom or its negation says it."""
        if not isinstance(c.left, f.Call) or not isinstance(c.right, f.Const) or c.op not in _ORDER:
            return None
        fluent = self.domain.fluents.get(c.left.name)
        bound_ = c.right.value
        if fluent is None or fluent.kind is not Kind.COUNT or not isinstance(bound_, int):
            return None
        good = {n for n in range(fluent.low, fluent.high + 1) if _ORDER[c.op](n, bound_) == positive}
        found = [self.among(fluent, args, good) for _, _, args in self.arguments(c.left.args, scope)]
        alone = len(found) == 1 and not any(isinstance(a, f.Call) for a in c.left.args)
        return found[0] if alone else None

    def among(self, fluent: Fluent, args: tuple[str, ...], good: set[int]) -> Tree | None:
        """That a count is one of some numbers, as one atom or its negation; None where that can't be said so."""
        everything = set(range(fluent.low, fluent.high + 1))
        predicate = self.predicate(fluent.name)
        if not good:
            return FALSE
        if fluent.name in self.total:
            if good == everything:
                return TRUE
            if len(everything - good) == 1:
                (n,) = everything - good
                return Lit((predicate, *args, self.count(n)), False)
        if len(good) == 1:
            return Lit((predicate, *args, self.count(next(iter(good)))))
        return None

    def _compare(self, x: str, op: str, y: str, none_written: bool, positive: bool) -> Tree:
        if op in ("==", "!="):
            if NONE in (x, y):
                equal: Tree = TRUE if x == y and none_written else FALSE
            elif {x, y} & {"true", "false"}:
                equal = TRUE if x == y else FALSE
            else:
                equal = same(x, y, self.constants)
            return equal if (op == "==") == positive else inverse(equal)
        if NONE in (x, y):
            return FALSE if positive else TRUE
        if op in (">", "<="):
            tree = self._less(y, x)
            return tree if (op == ">") == positive else inverse(tree)
        tree = self._less(x, y)
        return tree if (op == "<") == positive else inverse(tree)

    def _less(self, x: str, y: str) -> Tree:
        if x == y:
            return FALSE
        self.used.add(("less", ""))
        return Lit((self.names("fluent", "less"), x, y))

    def _derived(self, call: f.Call, scope: Scope, positive: bool) -> Tree:
        d = self.domain.derived[call.name]
        ways: list[Tree] = []
        for variables, cond, args in self.arguments(call.args, scope):
            if NONE in args:
                body: Tree = FALSE if positive else TRUE
            else:
                inner = {p.name: (a, p.types) for p, a in zip(d.params, args, strict=True)}
                body = self.condition(d.condition, inner, positive)
            ways.append(bound("exists", variables, both((cond, body))))
        return either(ways)
