"""Sorting in several steps, with a taste or a custom that only the person knows in full.

*Sorting on the table*: food goes on the plate for what the person likes or on the other one; a taste is told,
and it leaves some things open. Any remaining thing may come next, so several steps are right at once.

*Two arms*: every request names a thing that there are two of, and the arms reach different bins, so that each single
one is ambiguous (thing, arm and bin follow from each other only in part).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handrail.domain.option import Option
from handrail.evaluate.scenarios.scenario import Episode, Scenario, article, listed, rng_of

FOOD = {
    "carrot": ("vegetable", "crunchy"),
    "cucumber": ("vegetable", "crunchy"),
    "broccoli": ("vegetable", "green"),
    "spinach": ("vegetable", "green"),
    "strawberry": ("fruit", "sweet"),
    "grape": ("fruit", "sweet"),
    "lime": ("fruit", "sour"),
    "cookie": ("treat", "sweet"),
    "chocolate": ("treat", "sweet"),
    "pretzel": ("treat", "crunchy"),
}
TASTES: dict[str, Callable[[str, str], bool]] = {
    "I like vegetables and dislike everything else.": lambda kind, _: kind == "vegetable",
    "I like what is sweet, and nothing else.": lambda _, trait: trait == "sweet",
    "I like fruit, but not sour things.": lambda kind, trait: kind == "fruit" and trait != "sour",
    "I love anything crunchy and can't stand the rest.": lambda _, trait: trait == "crunchy",
    "I am on a diet: no treats for me.": lambda kind, _: kind != "treat",
}
PLATES = ("blue plate", "green plate")


def _place(food: str, plate: str) -> Option:
    return Option(f"{food} > {plate}", f"put the {food} on the {plate}", (food, plate), (), (("object", food), ("place", plate)))


@dataclass(frozen=True)
class Sorting(Episode):
    """One tray of food, one person's taste; the blue plate takes what the person likes."""

    key: str
    foods: tuple[str, ...]
    taste: str
    liked: frozenset[str]
    suite: str = "sorting"
    category: str = "preference"

    def _right(self, food: str) -> str:
        return PLATES[0] if food in self.liked else PLATES[1]

    def at(self, done: Sequence[str]) -> Scenario | None:
        """The next decision: any thing left, to its plate."""
        gone = {d.split(" > ")[0] for d in done}
        left = [f for f in self.foods if f not in gone]
        if not left:
            return None
        options = tuple(_place(f, p) for f in left for p in PLATES)
        acceptable = [f"{f} > {self._right(f)}" for f in left]
        return Scenario(
            key=f"{self.key}-{len(done)}",
            suite=self.suite,
            category=self.category,
            scene=listed([article(f) for f in left]) + ", a blue plate and a green plate",
            request=f"{self.taste} Put what I like on the blue plate and the rest on the green plate.",
            candidates=options,
            intent=acceptable[0],
            acceptable=frozenset(acceptable),
            done=tuple(_place(*d.split(" > ")).text for d in done),
            episode=self.key,
        )


def sorting(n: int, seed: int = 0, steps: tuple[int, int] = (2, 5)) -> list[Sorting]:
    """Trays of food, n of them, with between steps[0] and steps[1] things; hidden exceptions make one thing in eight surprising."""
    out = []
    for index in range(n):
        rng = rng_of(seed, "sorting", index)
        foods = rng.sample(sorted(FOOD), rng.randint(*steps))
        taste = rng.choice(sorted(TASTES))
        liked = {f for f in foods if TASTES[taste](*FOOD[f]) != (rng.random() < 1 / 8)}
        out.append(Sorting(f"sorting-{seed}-{index}", tuple(foods), taste, frozenset(liked)))
    return out


WASTE = ("bottle", "can", "cup", "box", "jar")
BINS = ("red bin", "blue bin")
ARMS = ("left arm", "right arm")
LOOKS = ("clear", "dark")


def _hand(arm: str, thing: str, target: str) -> Option:
    parts = (("object", thing), ("arm", arm), ("place", target), ("kind", thing.split()[-1]))
    return Option(f"{arm}: {thing} > {target}", f"put the {thing} in the {target} with the {arm}", (arm, thing, target), (), parts)


def two_arms(n: int, seed: int = 0) -> list[Scenario]:
    """Requests to two arms, n of them, every one ambiguous in the thing, in the bin or in both."""
    out = []
    for index in range(n):
        rng = rng_of(seed, "arms", index)
        noun, other = rng.sample(WASTE, 2)
        things = [f"{look} {noun}" for look in LOOKS] + [f"{rng.choice(LOOKS)} {other}"]
        # each thing lies within reach of one arm only; each arm reaches both bins
        reach = {thing: rng.choice(ARMS) for thing in things}
        options = tuple(_hand(reach[t], t, b) for t in things for b in BINS)
        request, thing, target = _ambiguous(rng, noun, things)
        right = f"{reach[thing]}: {thing} > {target}"
        scene = listed([f"{article(t)} within reach of the {reach[t]}" for t in things]) + ", a red bin and a blue bin"
        out.append(
            Scenario(f"arms-{seed}-{index}", "arms", "two-armed", scene, request, options, right, frozenset({right}))
        )
    return out


def _ambiguous(rng: random.Random, noun: str, things: Sequence[str]) -> tuple[str, str, str]:
    target, which = rng.choice(BINS), rng.choice(things[:2])
    how = rng.choice(["thing", "bin", "both"])
    if how == "thing":
        return f"Put the {noun} in the {target}.", which, target
    if how == "bin":
        return f"Throw away the {which}.", which, target
    return f"Throw away the {noun}.", which, target
