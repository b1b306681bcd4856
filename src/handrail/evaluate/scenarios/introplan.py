"""Reader for KnowNo-format scenario files (IntroPlan's `introplan/` folder, MIT licence; not part of this package).

A block has eight lines: scene, task, the user's intent (object, location), what is possible (objects,
locations), scene objects, category. Its labels have quirks; each is handled in one place and counted:

    bottled         a location "bottled" is the file's cut "bottled water" or "bottled unsweetened tea" (which of the
                    two is in the scene decides; the first listed where both are)
    repeats         the same scene and task again, with another sampled intent; kept or dropped by the caller's wish
    self            a thing to be put next to itself: what is possible is the sampled pair only
    absent          an object that is not in the scene (microwave, stove as places are in it); such options are added,
                    so that nothing is lost
    any             for "multilabel" categories the intent names all that will do; elsewhere one, and the rest of what
                    is possible is *not* acceptable to this person
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.domain.option import Option
from handrail.errors import ParseError, Where
from handrail.evaluate.scenarios.scenario import Scenario

FIELDS = (
    "Scene",
    "Task",
    "User intent (object)",
    "User intent (location)",
    "Possible objects",
    "Possible locations",
    "Scene objects",
    "Task category",
)
_PLACES = ("pick-up", "top drawer", "bottom drawer", "recycling", "landfill", "compost")
_APPLIANCES = {"microwave": "microwave", "portable induction cooktop": "cooktop"}


@dataclass(frozen=True)
class File:
    """What was read.

    Attributes:
        scenarios: in the file's order; `category` without its "_task".
        possible: scenario key -> keys of all readings that the words allow, by the file.
        quirks: name -> how often it was met.
    """

    scenarios: list[Scenario]
    possible: dict[str, frozenset[str]]
    quirks: Counter[str] = field(default_factory=Counter)


def read(path: Path, *, drop_repeats: bool = False) -> File:
    """Read one file.

    Raises:
        ParseError: a block lacks a line or has an unknown one; the message says where.
    """
    found = File([], {})
    seen: set[tuple[str, str]] = set()
    for number, block in _blocks(path):
        same = (block["Scene"], block["Task"])
        if same in seen:
            found.quirks["repeats"] += 1
            if drop_repeats:
                continue
        seen.add(same)
        scenario, possible = _scenario(f"{path.stem}-{number}", path.stem, block, found.quirks)
        found.scenarios.append(scenario)
        found.possible[scenario.key] = possible
    return found


def _blocks(path: Path) -> list[tuple[str, dict[str, str]]]:
    out: list[tuple[str, dict[str, str]]] = []
    number = ""
    block: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if not text:
            if block:
                missing = [f for f in FIELDS if f not in block]
                if missing:
                    raise ParseError(f"scenario {number or len(out)} has no line '{missing[0]}:'", Where(str(path), at))
                out.append((number or str(len(out)), block))
            number, block = "", {}
        elif text.isdigit() and not block:
            number = text
        else:
            name, colon, value = text.partition(":")
            if not colon or name not in FIELDS or name in block:
                raise ParseError(f"unexpected line {text[:60]!r}; valid: {', '.join(FIELDS)}", Where(str(path), at))
            block[name] = value.strip()
    return out


def _parts(text: str) -> list[str]:
    return [p.strip() for p in text.split(",") if p.strip()]


def _scenario(
    key: str, suite: str, block: dict[str, str], quirks: Counter[str]
) -> tuple[Scenario, frozenset[str]]:
    things = _parts(block["Scene objects"])
    category = block["Task category"].removesuffix("_task")

    def places(text: str) -> list[str]:
        out = []
        for place in _parts(text):
            if place == "bottled":
                quirks["bottled"] += 1
                place = next((t for t in things if t.startswith("bottled ")), "bottled water")
            out.append(place)
        return out

    def pairs(objects: Sequence[str], where: Sequence[str]) -> list[tuple[str, str]]:
        out = []
        for thing in objects:
            for place in where:
                if thing == place:
                    quirks["self"] += 1
                else:
                    out.append((thing, place))
        return out

    meant = pairs(_parts(block["User intent (object)"]), places(block["User intent (location)"]))
    could = pairs(_parts(block["Possible objects"]), places(block["Possible locations"]))
    options = {o.key: o for o in candidates(things)}
    for thing, place in [*meant, *could]:
        made = _option(thing, place)
        if made.key not in options:
            quirks["absent"] += 1
            options[made.key] = made
    # without a pair left (a thing next to itself) the person's wish can't be known: everything possible is acceptable
    acceptable = [_option(*pair).key for pair in (meant or could)]
    scenario = Scenario(
        key=key,
        suite=suite,
        category=category,
        scene=block["Scene"],
        request=block["Task"],
        candidates=tuple(options.values()),
        intent=acceptable[0],
        acceptable=frozenset(acceptable),
    )
    return scenario, frozenset(_option(*pair).key for pair in could)


def _option(thing: str, place: str) -> Option:
    if place == "pick-up":
        words = f"pick up the {thing}"
    elif place in ("recycling", "landfill", "compost"):
        words = f"put the {thing} in the {place} bin"
    elif place in ("top drawer", "bottom drawer", "microwave"):
        words = f"put the {thing} in the {place}"
    elif place == "cooktop":
        words = f"put the {thing} on the cooktop"
    else:
        words = f"put the {thing} next to the {place}"
    return Option(f"{thing} > {place}", words, (thing, place), (), (("object", thing), ("place", place)))


def candidates(things: Sequence[str]) -> list[Option]:
    """Everything that the robot of these scenarios could do: thing x place, next to each other thing included."""
    movable = [t for t in things if t not in _APPLIANCES]
    appliances = [_APPLIANCES[t] for t in things if t in _APPLIANCES]
    out = []
    for thing in movable:
        places = [*_PLACES, *appliances, *(t for t in movable if t != thing)]
        out += [_option(thing, place) for place in places]
    return out
