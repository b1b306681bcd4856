"""The best question about a set of options: the one whose answer leaves the fewest.

A question names a few alternatives ("the metal or the plastic bowl?") and leaves a way out ("or something
else?"). Each alternative is a *cell*: the options that share some attribute values, or one single option. With
the options' probabilities, a question's worth is the expected number of options left after its answer,
sum over cells of P(cell) x |cell|; asking about an attribute can beat listing, since it cuts many options at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from handrail.domain.option import Option
from handrail.errors import ConfigError

MOST_NAMED = 3
"""Alternatives named beside the way out; people choose well among four spoken things, not among nine."""

_BEAM = 24
_LEEWAY = 0.02
_TRAITS = ("material", "colour", "color", "size")
_PLACES = ("place", "location", "target", "destination", "to", "where")

Values = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One alternative of a question: what is said, and which options it leaves."""

    words: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask a person.

    Attributes:
        sentence: ready to be shown or spoken.
        cells: the alternatives named in it, in order; empty for an open question.
        rest: keys of the options that "something else" leaves.
        expected_remaining: options left after the answer, on average; 0 for an open question.
    """

    sentence: str
    cells: tuple[Cell, ...] = ()
    rest: tuple[str, ...] = ()
    expected_remaining: float = 0.0

    def remaining(self, answer: int | None) -> tuple[str, ...]:
        """Keys left after an answer: the number of a cell, from 0, or None for "something else".

        Raises:
            ConfigError: no such alternative.
        """
        if answer is None:
            return self.rest
        if not 0 <= answer < len(self.cells):
            raise ConfigError(f"the question has alternatives 0 to {len(self.cells) - 1}, not {answer}")
        return self.cells[answer].keys


def open_question(sentence: str = "What would you like me to do?") -> Question:
    """A question that takes any words for an answer; they go back into the line as a request."""
    return Question(sentence)


def describable(options: Sequence[Option]) -> dict[int, list[Values]]:
    """Every cell that words can name: bit set over the options -> the attribute values that pick it out.

    The empty tuple of values stands for naming the single option by its own text.
    """
    cells: dict[int, list[Values]] = {1 << i: [()] for i in range(len(options))}
    seen: set[Values] = set()
    for option in options:
        own = sorted(set(option.attributes))
        for size in range(1, min(len(own), 3) + 1):
            for values in combinations(own, size):
                if values in seen:
                    continue
                seen.add(values)
                mask = sum(1 << i for i, o in enumerate(options) if set(values) <= set(o.attributes))
                cells.setdefault(mask, []).append(values)
    return cells


def expected_remaining(masks: Sequence[int], weights: Sequence[float]) -> float:
    """The sum of P(cell) x |cell| over the named cells and the rest.

    Args:
        masks: disjoint bit sets over the options.
        weights: probabilities of the options, summing to 1.
    """
    left = (1 << len(weights)) - 1
    total = 0.0
    for mask in masks:
        left &= ~mask
        total += _mass(mask, weights) * mask.bit_count()
    return total + _mass(left, weights) * left.bit_count()


def _mass(mask: int, weights: Sequence[float]) -> float:
    total = 0.0
    while mask:
        low = mask & -mask
        total += weights[low.bit_length() - 1]
        mask ^= low
    return total


def best_partition(
    options: Sequence[Option], weights: Sequence[float], most_named: int = MOST_NAMED
) -> tuple[int, ...]:
    """The named cells of the best question, as bit sets.

    A beam search adds one cell at a time and keeps the most promising partial questions. Among questions within
    `_LEEWAY` of the best one found, the one that is easiest to say wins: one attribute for all cells, then single
    options, then mixtures; fewer alternatives before more.
    """
    every = (1 << len(options)) - 1
    cells = {m: w for m, w in describable(options).items() if m != every}
    mass = {m: _mass(m, weights) for m in cells}
    if not cells:
        return ()
    start = (float(len(options)), (), every, 0.0)
    beam: list[tuple[float, tuple[int, ...], int, float]] = [start]
    found: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(min(most_named, len(options))):
        grown: dict[frozenset[int], tuple[float, tuple[int, ...], int, float]] = {}
        for _, chosen, left, cost in beam:
            for mask in cells:
                if mask & ~left:
                    continue
                now, paid = left & ~mask, cost + mass[mask] * mask.bit_count()
                value = paid + _mass(now, weights) * now.bit_count()
                grown.setdefault(frozenset((*chosen, mask)), (value, (*chosen, mask), now, paid))
        if not grown:
            break
        beam = sorted(grown.values(), key=lambda item: item[0])[:_BEAM]
        found += [(value, chosen) for value, chosen, _, _ in beam]
    best = min(value for value, _ in found)
    near = [item for item in found if item[0] <= best * (1 + _LEEWAY)]
    return min(near, key=lambda item: (_clumsy(_with_rest(item[1], every, cells), cells), len(item[1]), item[0]))[1]


def _with_rest(masks: tuple[int, ...], every: int, cells: Mapping[int, list[Values]]) -> tuple[int, ...]:
    """The cells, and the rest as one more where words can name it: "metal or plastic?", not "metal, or else?"."""
    left = every
    for mask in masks:
        left &= ~mask
    return (*masks, left) if left in cells else masks


def _clumsy(masks: Sequence[int], cells: Mapping[int, list[Values]]) -> int:
    """0 where one attribute names all cells, 1 where all are single options, 2 for mixtures."""
    names = [{values[0][0] for values in cells[mask] if len(values) == 1} for mask in masks]
    if set.intersection(*names):
        return 0
    return 1 if all(mask.bit_count() == 1 for mask in masks) else 2


def best_question(
    options: Sequence[Option], weights: Sequence[float] | None = None, most_named: int = MOST_NAMED
) -> Question:
    """The question about these options whose answer leaves the fewest of them.

    Args:
        options: the prediction set without the not-listed option.
        weights: their probabilities, normalised here; None or unusable ones for equal.
        most_named: alternatives named at most, at least 1.
    """
    if most_named < 1:
        raise ConfigError("a question must name at least one alternative")
    if not options:
        return open_question()
    if len(options) == 1:
        text = options[0].text
        return Question(f"Should I {_plain(text)}?", (Cell(text, (options[0].key,)),), (), 1.0)
    shares = _normal(weights, len(options))
    masks = best_partition(options, shares, most_named)
    if not masks:
        return open_question(f"I see {len(options)} ways to read that. What exactly do you mean?")
    every = (1 << len(options)) - 1
    masks = tuple(sorted(_with_rest(masks, every, describable(options)), key=lambda m: (-_mass(m, shares), m)))
    left = every
    for mask in masks:
        left &= ~mask
    words, frame = _words(options, masks, describable(options))
    listed = _either(words) + (", or something else" if left else "")
    return Question(
        frame.format(listed),
        tuple(Cell(w, tuple(options[i].key for i in _bits(m))) for w, m in zip(words, masks, strict=True)),
        tuple(options[i].key for i in _bits(left)),
        expected_remaining(masks, shares),
    )


def _normal(weights: Sequence[float] | None, n: int) -> list[float]:
    if weights is None or any(not w >= 0 for w in weights) or not sum(weights) > 0:
        return [1 / n] * n
    total = sum(weights)
    return [w / total for w in weights]


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _words(
    options: Sequence[Option], masks: Sequence[int], cells: Mapping[int, list[Values]]
) -> tuple[list[str], str]:
    """What to call each cell, and the sentence around them."""
    names = [{v[0][0]: v[0][1] for v in reversed(cells[m]) if len(v) == 1} for m in masks]
    shared = [n for n in names[0] if all(n in other for other in names)]
    for name in ("object", "action", *_PLACES, *sorted(shared)):
        if name not in shared:
            continue
        values = [n[name] for n in names]
        kinds = {o.attribute("kind") for o in options}
        if name == "object":
            tail = _common_tail(values)
            if tail:
                heads = [v[: -len(tail)].strip() for v in values]
                # with a way out the noun comes first: "the metal bowl or the plastic bowl, or something else?"
                if _leaves_rest(options, masks):
                    return [f"the {v}" for v in values], "Do you mean {}?"
                return [f"the {h}" for h in heads], "Do you mean {} " + tail + "?"
            return [f"the {v}" for v in values], "Do you mean {}?"
        if name in _PLACES:
            return [_the(v) for v in values], "Where to: {}?"
        if name in ("action", "skill"):
            return [v.replace("_", " ") for v in values], "Should I {}?"
        if len(kinds) == 1 and None not in kinds:
            return [f"the {v}" for v in values], "Do you mean {} " + str(next(iter(kinds))) + "?"
        if name in _TRAITS:
            return [f"the {v}" for v in values], "Do you mean {} one?"
        return [_the(v) for v in values], "Do you mean {}?"
    return [_name(options, m, cells[m]) for m in masks], "Should I {}?"


def _leaves_rest(options: Sequence[Option], masks: Sequence[int]) -> bool:
    return sum(m.bit_count() for m in masks) < len(options)


def _name(options: Sequence[Option], mask: int, ways: Sequence[Values]) -> str:
    if mask.bit_count() == 1:
        return _plain(options[mask.bit_length() - 1].text)
    values = min(ways, key=len)
    return "do something with the " + " and the ".join(f"{value} one" if name in _TRAITS else value for name, value in values)


def _common_tail(values: Sequence[str]) -> str:
    """The last words that all share, leaving something to tell them apart: 'metal bowl', 'plastic bowl' -> 'bowl'."""
    parts = [v.split() for v in values]
    tail: list[str] = []
    for words in zip(*(reversed(p) for p in parts), strict=False):
        if len(set(words)) > 1:
            break
        tail.insert(0, words[0])
    if not tail or any(len(p) <= len(tail) for p in parts):
        return ""
    return " ".join(tail)


def _the(value: str) -> str:
    return value if value.startswith(("the ", "next to ", "your ")) else f"the {value}"


def _plain(text: str) -> str:
    """A step's text as the second half of "Should I ...?"."""
    text = text.strip().rstrip(".")
    return text[0].lower() + text[1:] if text[:1].isupper() and text[1:2].islower() else text


def _either(words: Sequence[str]) -> str:
    if len(words) <= 1:
        return "".join(words)
    return ", ".join(words[:-1]) + " or " + words[-1]
