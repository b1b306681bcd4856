"""Reading SayCan's published plans and start states in the words of our office domain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handrail.domain import UNKNOWN, Atom, Domain, Obj, Step, Value
from handrail.domain.files import load_domain, load_scene
from handrail.domains import path

ROBOT, YOU = "robot_1", "you"

_STEP = re.compile(r"(\d+)\s*\.\s*")
_VERBS = (
    ("find", re.compile(r"find (?P<article>an?|the) (?P<thing>.+)")),
    ("pick_up", re.compile(r"pick up (?:(?P<article>an?|the) )?(?P<thing>.+)")),
    ("put_down", re.compile(r"put down (?:(?P<article>an?|the) )?(?P<thing>.+)")),
    ("bring_to", re.compile(r"bring it to you")),
    ("go_to", re.compile(r"go to (?:the )?(?P<place>.+)")),
    ("open", re.compile(r"open (?:the )?(?P<place>.+)")),
    ("close", re.compile(r"close (?:the )?(?P<place>.+)")),
)


@dataclass
class Read:
    """A published plan as steps.

    Attributes:
        steps: of the office domain.
        objects: the things it touches; several of a kind are several objects.
        problem: why it could not be read; "" if it could.
    """

    steps: list[Step] = field(default_factory=list)
    objects: dict[str, Obj] = field(default_factory=dict)
    problem: str = ""


def phrases(text: str) -> list[str]:
    """The numbered phrases of a plan, up to and without `done`."""
    parts = _STEP.split(text)[2::2]
    out: list[str] = []
    for part in parts:
        phrase = part.strip().strip(".,").strip().lower()
        if phrase == "done" or phrase.startswith("done,"):
            break
        out.append(phrase)
    return out


class Office:
    """The office domain and the words for its things and places."""

    def __init__(self, domain: Domain | None = None) -> None:
        self.domain = domain or load_domain(path("office"))
        self.things: dict[str, Obj] = {}
        self.places: dict[str, str] = {}
        for o in load_scene(self.domain, "morning").objects:
            for word in (o.name.replace("_", " "), *o.words):
                if "item" in self.domain.supertypes(o.type):
                    self.things.setdefault(word, o)
                elif "place" in self.domain.supertypes(o.type):
                    self.places.setdefault(word, o.name)

    def read(self, text: str) -> Read:
        """A published plan as steps.

        An indefinite `find a coke` after a coke was put down means another coke; `the coke` means the same one.
        """
        out = Read()
        count: dict[str, int] = {}
        placed: set[str] = set()
        held = ""
        for phrase in phrases(text):
            said = next(((s, m) for s, pattern in _VERBS if (m := pattern.fullmatch(phrase)) is not None), None)
            if said is None:
                out.problem = f"no skill for '{phrase}'"
                return out
            skill, found = said
            parts = found.groupdict()
            if "place" in parts:
                place = self.places.get(parts["place"])
                if place is None:
                    out.problem = f"no place '{parts['place']}'"
                    return out
                out.steps.append(Step(skill, (ROBOT, place)))
                continue
            if skill == "bring_to":
                if not held:
                    out.problem = "'bring it to you' with nothing in hand"
                    return out
                out.steps.append(Step(skill, (ROBOT, held, YOU)))
                continue
            kind = self.things.get(parts["thing"])
            if kind is None:
                out.problem = f"no thing '{parts['thing']}'"
                return out
            current = self._instance(kind.name, count.setdefault(kind.name, 1))
            if skill == "find" and parts["article"] != "the" and current in placed:
                count[kind.name] += 1
                current = self._instance(kind.name, count[kind.name])
            out.objects[current] = Obj(current, kind.type, kind.attributes, kind.words)
            out.steps.append(Step(skill, (ROBOT, current)))
            if skill == "pick_up":
                held = current
            elif skill == "put_down":
                held = ""
                placed.add(current)
        return out

    @staticmethod
    def _instance(kind: str, n: int) -> str:
        return kind if n == 1 else f"{kind}_{n}"

    def whence(self, request: str) -> str | None:
        """The place from which a request wants things, if it says so: `from the drawer`, `off the table`, `the fruit on the table`."""
        found = re.search(
            r"(?:\b(?:from|off)|(?:snacks|drinks|fruits|items|everything) on|clear off) (?:the )?(close counter|far counter|table|drawer)",
            request.lower(),
        )
        return self.places[found[1]] if found else None

    def published(self, robot: str, env: str) -> dict[Atom, Value] | None:
        """A published start state as facts; None where a word in it is not understood."""
        facts: dict[Atom, Value] = {("at", ROBOT): YOU}
        at = re.search(r"(?:at|in front of) (?:the )?(table|close counter|far counter|near counter)", robot.lower())
        if at:
            facts[("at", ROBOT)] = self.places[at[1]]
        hand = re.search(r"with (?:the )?(.+?) in hand", robot.lower())
        if hand:
            thing = self.things.get(hand[1])
            if thing is None:
                return None
            facts[("holding", ROBOT)] = thing.name
        if env.strip().lower() in ("", "nav only"):
            return facts
        waiting: list[str] = []
        for piece in re.split(r",| and ", env.lower()):
            piece = piece.strip().strip('"')
            if not piece:
                continue
            found = re.fullmatch(r"(?:an? |the )?(.+?) on (?:the )?(.+)", piece)
            waiting.append(found[1] if found else piece)
            if found is None:
                continue
            place = self.places.get(found[2])
            named = [self.things.get(w) for w in waiting]
            if place is None or None in named:
                return None
            facts.update({("on", t.name): place for t in named if t is not None})
            waiting = []
        return None if waiting else facts


def usual(atom: Atom, values: Sequence[Value]) -> list[Value]:
    """Values in the order in which they are tried: nothing in hand, shut, on a table rather than with the person."""
    return sorted(
        values,
        key=lambda v: (v not in (None, False) or atom[0] == "on", v in (YOU, "trash", "drawer", None), v != "table"),
    )


def consistent(facts: Mapping[Atom, Value]) -> bool:
    """What is held is nowhere else, and what is inside is on a container."""
    held = facts.get(("holding", ROBOT))
    if isinstance(held, str) and facts.get(("on", held)) not in (None, UNKNOWN):
        return False
    inside = [a[1] for a, v in facts.items() if a[0] == "inside" and v is True]
    return all(facts.get(("on", i)) in ("drawer", UNKNOWN) for i in inside)
