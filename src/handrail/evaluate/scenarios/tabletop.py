"""Blocks and bowls on a table, with requests that are open in an attribute, a number or a direction.

attribute   a block or bowl is named by a word that may fit one or several ("the grassy block", "a container")
numeric     "a few", "a couple of": how many?
spatial     "near", "beside": on which side?
"""

from __future__ import annotations

import random

from handrail.domain.option import Option
from handrail.evaluate.scenarios.scenario import Scenario, listed, rng_of

COLOURS = ("blue", "green", "yellow")
HINTS = {"blue": "sky-coloured", "green": "grass-coloured", "yellow": "lemon-coloured"}
SIDES = ("left of", "right of", "in front of", "behind")
NUMBERS = {"a couple of": (2,), "a few": (2, 3), "some": (2, 3), "several": (2, 3), "one or two": (1, 2)}
NAMES = {1: "one block", 2: "two blocks", 3: "three blocks"}
CATEGORIES = ("attribute", "numeric", "spatial")


def _move(block: str, relation: str, target: str) -> Option:
    words = f"put the {block} {relation} the {target}"
    parts = (("object", block), ("relation", relation), ("target", target))
    return Option(f"{block} {relation} {target}", words, (block, relation, target), (), parts)


def _count(number: int, target: str) -> Option:
    words = f"put {NAMES[number]} in the {target}"
    return Option(f"{number} in {target}", words, (number, "in", target), (), (("number", NAMES[number]), ("target", target)))


def _moves() -> list[Option]:
    blocks, bowls = [f"{c} block" for c in COLOURS], [f"{c} bowl" for c in COLOURS]
    return [_move(a, "in", b) for a in blocks for b in bowls]


def _attribute(rng: random.Random) -> tuple[str, list[Option], list[str]]:
    block, bowl = rng.choice(COLOURS), rng.choice(COLOURS)
    open_block, open_bowl = rng.choice([(True, False), (False, True), (True, True)])
    first = rng.choice(["cube", "block"]) if open_block else f"{rng.choice([block, HINTS[block]])} block"
    second = rng.choice(["bowl", "container"]) if open_bowl else f"{rng.choice([bowl, HINTS[bowl]])} bowl"
    return f"Put the {first} in the {second}.", _moves(), [f"{block} block in {bowl} bowl"]


def _numeric(rng: random.Random) -> tuple[str, list[Option], list[str]]:
    words = rng.choice(list(NUMBERS))
    bowl, number = rng.choice(COLOURS), rng.choice(NUMBERS[words])
    options = [_count(n, f"{c} bowl") for c in COLOURS for n in NAMES]
    return f"Put {words} blocks in the {bowl} bowl.", options, [f"{number} in {bowl} bowl"]


def _spatial(rng: random.Random) -> tuple[str, list[Option], list[str]]:
    block, bowl = rng.choice(COLOURS), rng.choice(COLOURS)
    word, side = rng.choice(["near", "next to", "beside", "close to"]), rng.choice(SIDES)
    options = [_move(f"{block} block", s, f"{c} bowl") for c in COLOURS for s in SIDES]
    options.append(_move(f"{block} block", "in", f"{bowl} bowl"))
    return f"Put the {block} block {word} the {bowl} bowl.", options, [f"{block} block {side} {bowl} bowl"]


_MAKERS = {"attribute": _attribute, "numeric": _numeric, "spatial": _spatial}


def generate(n: int, seed: int = 0) -> list[Scenario]:
    """Tabletop scenarios, n independent draws; the same seed gives the same."""
    out = []
    for index in range(n):
        rng = rng_of(seed, "tabletop", index)
        category = rng.choice(CATEGORIES)
        request, options, acceptable = _MAKERS[category](rng)
        things = [f"a {c} {t}" for t in ("block", "bowl") for c in COLOURS]
        out.append(
            Scenario(
                key=f"tabletop-{seed}-{index}",
                suite="tabletop",
                category=category,
                scene=listed(rng.sample(things, len(things))),
                request=request,
                candidates=tuple(options),
                intent=acceptable[0],
                acceptable=frozenset(acceptable),
            )
        )
    return out
