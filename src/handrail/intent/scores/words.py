"""Scores without a model: shared words, what the verb asks for, what is known of the objects.

They are as accurate as a 0.1B model alone and mostly wrong elsewhere than it, so that a fusion of both is better than
either (`fusion`). Each is a number in [0, 1]; higher fits better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from handrail.domain.option import Option, Score
from handrail.errors import ConfigError
from handrail.intent.scores.scorer import Context, digest, provenance

_LITTLE = """
    a an the that this it i me my you your we to in on at of for and or is are can could would please do will with into
"""
_COMMON = frozenset(_LITTLE.split())
_WORD = re.compile(r"[a-z0-9]+")

FAMILIES: dict[str, tuple[str, str]] = {
    # family -> (what a request says, what an option's text says); the first that is found names what a text asks for
    "waste": (r"\b(dispos\w*|throw\w*|trash|bin|recycl\w*|compost|landfill|get rid|waste)\b", r"\b(bin|trash|waste)\b"),
    "on": (r"\b(switch|turn)\b.*\bon\b", r"^(switch|turn) on\b"),
    "off": (r"\b(switch|turn)\b.*\boff\b", r"^(switch|turn) off\b"),
    "open": (r"\bopen\b", r"^open\b"),
    "close": (r"\b(close|shut)\b", r"^(close|shut)\b"),
    "pour": (r"\b(pour|fill)\b", r"^(pour|fill)\b"),
    "bring": (r"\b(bring|give|hand|pass|get me|fetch)\b", r"^(bring|give|hand)\b"),
    "wipe": (r"\b(clean|wipe|mop|dirty)\b", r"^(wipe|clean)\b"),
    "pick": (r"\b(pick up|lift|grasp|hold)\b", r"^(pick up|lift|grasp|hold)\b"),
    "drawer": (r"\bdrawer", r"\bdrawer"),
    "beside": (r"\b(next to|beside|near|close to|by the)\b", r"\b(next to|beside|left of|right of|front of|behind)\b"),
    "heat": (r"\b(microwave|cooktop|stove|oven|heat)\b", r"\b(microwave|cooktop|stove|oven)\b"),
    "put": (r"\b(put|place|move|set|store|stow|sort)\b", r"\b(put|place)\b"),
    "go": (r"\b(go|drive|come|move) to\b", r"^(go|drive) to\b"),
}
"""A request that no pattern fits is a wish to be brought something."""

_NEAR = {
    ("bring", "pick"): 0.75,
    ("pick", "bring"): 0.5,
    **{("put", specific): 0.9 for specific in ("drawer", "beside", "heat", "waste")},
}
"""How well an option of another family than the request's fits; nought where nothing is said."""


def stem(word: str) -> str:
    """A crude stem: plural, -ing and -ed endings cut off."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def words_of(text: str) -> set[str]:
    """Stems of a text's words that carry meaning."""
    return {stem(w) for w in _WORD.findall(text.lower()) if w not in _COMMON}


def overlap(request: str, text: str) -> float:
    """Share of the text's words that the request has too."""
    own = words_of(text)
    return len(own & words_of(request)) / len(own) if own else 0.0


def family(text: str, side: int) -> str:
    """Which family a request (side 0) or an option's text (side 1) belongs to; '' where none fits."""
    low = text.lower()
    return next((name for name, patterns in FAMILIES.items() if re.search(patterns[side], low)), "")


def verb_fits(request: str, text: str) -> float:
    """1 where the option does what the verb of the request asks for, else 0."""
    wanted, given = family(request, 0) or "bring", family(text, 1)
    return 1.0 if wanted == given else _NEAR.get((wanted, given), 0.0)


WISHES = {
    "thirsty": "drinkable",
    "drink": "drinkable",
    "hungry": "edible",
    "eat": "edible",
    "snack": "edible",
    "food": "edible",
    "spill": "cleaning",
    "spilled": "cleaning",
    "clean": "cleaning",
}
"""Words of a wish -> the attribute that meets it, as domains call it."""


def explained(request: str, text: str, facts: Sequence[str]) -> float:
    """Share of the request's words that the option's text or the stated facts of its objects have too."""
    known = words_of(text) | {stem(w) for fact in facts for w in fact.lower().split()}
    wishes = {stem(w): stem(a) for w, a in WISHES.items()}
    asked = {wishes[w] if wishes.get(w) in known else w for w in words_of(request)}
    return len(asked & known) / len(asked) if asked else 0.0


class Words:
    """One of the three readings as a scorer.

    Args:
        kind: "overlap" (share of the option's words in the request), "verb", "facts" (share of the request's words that
            the option and what is known of its objects explain), or "other" (1 for the not-listed option alone).
        facts: what people call an object -> words that the domain states of it; used by "facts".

    Raises:
        ConfigError: another kind.
    """

    def __init__(self, kind: str, facts: Mapping[str, Sequence[str]] | None = None) -> None:
        if kind not in ("overlap", "verb", "facts", "other"):
            raise ConfigError(f"no reading of words '{kind}'; valid: overlap, verb, facts, other")
        self.kind = kind
        self.facts = {k: tuple(v) for k, v in (facts or {}).items()}
        # the facts belong to the scene, as the state does; what reads them is this module
        self.provenance = provenance(kind, words=digest(repr((FAMILIES, _NEAR, WISHES))))

    def number(self, context: Context, option: Option) -> float:
        """The reading of one option, in [0, 1]; the not-listed option gets 0 by all but "other"."""
        if option.is_not_listed or self.kind == "other":
            return float(self.kind == "other" and option.is_not_listed)
        if self.kind == "overlap":
            return overlap(context.request, option.text)
        if self.kind == "verb":
            return verb_fits(context.request, option.text)
        named = [w for role in ("object", "place") for w in self.facts.get(option.attribute(role) or "", ())]
        return explained(context.request, option.text, named)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`; on the log scale, for fusion: the number itself is the logarithm."""
        return [Score(self.number(context, o), self.kind, "log", False, self.provenance) for o in options]


class Unexplained:
    """How much of the request no listed option explains: what speaks for "something else".

    The not-listed option gets one minus the best explained share among the listed ones, all others get 0. "Warm up some
    milk" is not explained by "pick up the milk", however much better that is than the other options.

    Args:
        facts: what people call an object -> words that the domain states of it.
    """

    kind = "unexplained"

    def __init__(self, facts: Mapping[str, Sequence[str]] | None = None) -> None:
        self._facts = Words("facts", facts)
        parts = {k: v for k, v in self._facts.provenance.parts if k != "score"}
        self.provenance = provenance(self.kind, **parts)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`."""
        best = max((self._facts.number(context, o) for o in options if not o.is_not_listed), default=0.0)
        return [
            Score(1.0 - best if o.is_not_listed else 0.0, self.kind, "log", False, self.provenance) for o in options
        ]
