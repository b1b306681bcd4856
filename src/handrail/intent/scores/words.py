"""Scores without a model: shared words, what the verb asks for, what is known of the objects.

They are as accurate as a 0.1B model alone and mostly wrong elsewhere than it, so that a fusion of both is better than
either (`fusion`). Each is a number in [0, 1]; higher fits better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from handrail.domain.option import Option, Score
from handrail.intent.scores.scorer import Context, digest, provenance

_LITTLE = """
    a an the that this it i me my you your we to in on at of for and or is are can could would please do will with
"""
_COMMON = frozenset(_LITTLE.split())
_WORD = re.compile(r"[a-z0-9]+")

FAMILIES: dict[str, tuple[str, str]] = {
    # family -> (what a request says, what an option's text says)
    "waste": (r"\b(dispos\w*|throw\w*|trash|bin|recycl\w*|compost|landfill|get rid|waste)\b", r"\b(bin|trash|waste)\b"),
    "drawer": (r"\bdrawer", r"\bdrawer"),
    "beside": (r"\b(next to|beside|near|close to|by the)\b", r"\b(next to|beside|left of|right of|front of|behind)\b"),
    "heat": (r"\b(microwave|cooktop|stove|oven|heat)\b", r"\b(microwave|cooktop|stove|oven)\b"),
    "put": (r"\b(put|place|move|set|store|stow|sort)\b", r"\b(put|place)\b"),
    "bring": (
        r"\b(bring|give|hand|pass|have|want|need|like|get me|fetch|crav\w*|fancy|mood|looking for)\b",
        r"\b(bring|pick up|hand)\b",
    ),
}
"""The first family whose pattern is found names what a text asks for; a request that none fits is a wish to be brought."""


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
    if wanted == given:
        return 1.0
    return 0.5 if wanted == "put" and given in ("drawer", "beside", "heat", "waste") else 0.0


def facts_fit(request: str, facts: Sequence[str]) -> float:
    """1 where a word of the request is one of the stated facts of the option's object (its kind, material ...)."""
    return float(bool(words_of(request) & {stem(f.lower()) for f in facts}))


class Words:
    """One of the three readings as a scorer.

    Args:
        kind: "overlap", "verb" or "facts".
        facts: object -> words that the domain states of it; used by "facts".
    """

    def __init__(self, kind: str, facts: Mapping[str, Sequence[str]] | None = None) -> None:
        self.kind = kind
        self.facts = {k: tuple(v) for k, v in (facts or {}).items()}
        text = repr(sorted(self.facts.items())) + repr(FAMILIES)
        self.provenance = provenance(kind, words=digest(text))

    def number(self, context: Context, option: Option) -> float:
        """The reading of one option, in [0, 1]; the not-listed option gets 0 by all of them."""
        if option.is_not_listed:
            return 0.0
        if self.kind == "overlap":
            return overlap(context.request, option.text)
        if self.kind == "verb":
            return verb_fits(context.request, option.text)
        return facts_fit(context.request, self.facts.get(option.attribute("object") or "", ()))

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`; on the log scale, for fusion: the number itself is the logarithm."""
        return [Score(self.number(context, o), self.kind, "log", False, self.provenance) for o in options]
