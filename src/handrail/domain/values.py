"""Values, atoms and the unknown: the smallest vocabulary of handrail.

A *fact* is an atom with a value. An atom is a tuple `(fluent, *objects)` and never a joined string, so that `p(o, aob)` and
`p(oa, ob)` can't be mistaken for one another.
"""

from __future__ import annotations

from typing import Final, TypeAlias


class _Unknown:
    """The value of a fact that nobody has seen; it equals only itself and satisfies neither a test nor its negation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"

    def __reduce__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("unknown is neither true nor false; compare with `is UNKNOWN`")


UNKNOWN: Final = _Unknown()

Atom: TypeAlias = tuple[str, ...]
"""`(fluent, *objects)`, for example `("at", "robot_1")`."""

Value: TypeAlias = "bool | int | str | _Unknown | None"
"""bool for boolean fluents, int for counts, an object's or symbol's name, None for `none`, or UNKNOWN."""


def show_atom(atom: Atom) -> str:
    """`at(robot_1)`: the way people read and write an atom."""
    return f"{atom[0]}({', '.join(atom[1:])})"


def show_value(value: Value) -> str:
    """A value as the domain language writes it."""
    if value is None:
        return "none"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return str(value)


def show_fact(atom: Atom, value: Value) -> str:
    """`at(robot_1) == kitchen`, `open(fridge)` or `not open(fridge)`."""
    if value is True:
        return show_atom(atom)
    if value is False:
        return f"not {show_atom(atom)}"
    return f"{show_atom(atom)} == {show_value(value)}"
