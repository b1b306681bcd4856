"""Lifted terms, conditions and effects: what skills, rules, goals and PDDL actions are written in.

Grammar and meaning follow the domain language. These are plain frozen records: the reader of texts makes them, the grounder
turns them into ground nodes (`ground.py`), and `str()` gives the text back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from handrail.domain.values import Value, show_value


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a skill, derived fluent or quantifier."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Const:
    """An object, an attribute's symbol, `none`, a count, or a truth value."""

    value: Value

    def __str__(self) -> str:
        return show_value(self.value)


@dataclass(frozen=True, slots=True)
class Call:
    """`name(args)`: a fluent, an attribute, a derived fluent or a type test."""

    name: str
    args: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


Term: TypeAlias = Param | Const | Call


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison; a bare call `open(x)` is `Test(call, "==", Const(True))`."""

    left: Term
    op: str
    right: Term

    def __str__(self) -> str:
        if self.op == "==" and isinstance(self.right, Const) and self.right.value is True:
            return str(self.left)
        return f"{self.left} {self.op} {self.right}"


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    part: Condition

    def __str__(self) -> str:
        return f"not {_unit(self.part)}"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; empty means true."""

    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return " and ".join(_unit(p) for p in self.parts) if self.parts else "1 == 1"


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; empty means false."""

    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return " or ".join(_unit(p) for p in self.parts) if self.parts else "1 == 0"


@dataclass(frozen=True, slots=True)
class Some:
    """`some var in type (body)`: there is an object of the type (or a type below it) for which body holds."""

    var: str
    type: str
    body: Condition

    def __str__(self) -> str:
        return f"some {self.var} in {self.type} ({self.body})"


@dataclass(frozen=True, slots=True)
class All:
    """`all var in type (body)`."""

    var: str
    type: str
    body: Condition

    def __str__(self) -> str:
        return f"all {self.var} in {self.type} ({self.body})"


Condition: TypeAlias = Test | Not | And | Or | Some | All

TRUE = And()
FALSE = Or()


def _unit(c: Condition) -> str:
    """A part inside `and`, `or` or `not`: parentheses where they are needed."""
    if isinstance(c, (And, Or)) and len(c.parts) != 1:
        return f"({c})"
    if isinstance(c, (And, Or)):
        return _unit(c.parts[0])
    return str(c)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target := value`."""

    target: Call
    value: Term

    def __str__(self) -> str:
        return f"{self.target} := {self.value}"


@dataclass(frozen=True, slots=True)
class Change:
    """`target += amount` (amount may be negative); only for counts."""

    target: Call
    amount: int

    def __str__(self) -> str:
        return f"{self.target} {'+=' if self.amount >= 0 else '-='} {abs(self.amount)}"


@dataclass(frozen=True, slots=True)
class When:
    """`if condition then effect`; the condition reads the state before the step."""

    condition: Condition
    effect: Effect

    def __str__(self) -> str:
        return f"if {self.condition} then {self.effect}"


@dataclass(frozen=True, slots=True)
class Each:
    """`each var in type (effect)`."""

    var: str
    type: str
    effect: Effect

    def __str__(self) -> str:
        return f"each {self.var} in {self.type} ({self.effect})"


Effect: TypeAlias = Assign | Change | When | Each
