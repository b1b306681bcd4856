"""How well a reading fits the words of a clause: mentions, verb and stated attributes. No model.

A clause mentions objects by name ("the blue mug"), by what is stated of them ("something to drink", "the metal one"),
or by kind. A good reading is about what is mentioned, leaves no mention unexplained, adds nothing that is not
mentioned, and does what the verb asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from handrail.domain.grounder import grounder
from handrail.domain.state import State
from handrail.intent.literals import Literal, fact_of
from handrail.intent.naming import Names, stem, tokens
from handrail.intent.verbs import VERBS, families_of, throws_away

_SENSE = {
    "drink": "drinkable", "thirsty": "drinkable", "beverage": "drinkable", "sip": "drinkable",
    "eat": "edible", "hungry": "edible", "food": "edible", "snack": "edible", "bite": "edible",
    "breakable": "fragile", "delicate": "fragile",
}  # fmt: skip
"""Everyday words for attributes that domains commonly state."""

_SPEAKER = frozenset({"me", "us", "my", "i", "mine"})
_PEOPLE = frozenset({"person", "human", "user", "people"})
_SELF = frozenset({"robot", "hand", "arm", "gripper"})
_SOURCE = frozenset({"from", "off"})
_EVERY = frozenset({"all", "both", "every", "each"})
_LITTLE = """
to in on into onto of at for from with by up down off out over back away here there it them one ones thing something
anything please and or is are be that this these those so it's me us him her which who i you he she we they to next so
also too again now all both every each other more bit little s m d ll re ve go some any
"""
_PLAIN = frozenset(_LITTLE.split())
"""Words that carry no name: what is left of a clause besides them and its verbs should be a mention."""

_BIN = frozenset({"bin", "trash", "waste", "rubbish", "garbage"})

VERB, ABOUT, EXPLAINED = 1.0, 1.5, 1.5
"""Weights of the three parts; a perfect fit adds up to 4."""
BEST = VERB + ABOUT + EXPLAINED
_DONE = 0.25
_UNKNOWN = 0.2
"""Taken off where the reading is so already, and for each word that names nothing here."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Some words of a clause and the objects they may mean.

    Attributes:
        start: index of the first word.
        end: index after the last.
        objects: candidates.
        weight: 1 for a full name, less for a part of one, an attribute or a kind.
        every: "all", "both" or the like stands before it.
        source: "from", "off" or "out of" stands before it: it says where something is, not where it is to go.
    """

    start: int
    end: int
    objects: frozenset[str]
    weight: float
    every: bool = False
    source: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the words of a clause say.

    Attributes:
        mentions: in order, not overlapping.
        families: verb family to weight.
        unknown: words that name nothing here, though they seem to say something.
    """

    mentions: tuple[Mention, ...]
    families: dict[str, float] = field(hash=False)
    unknown: tuple[str, ...] = ()


class _Lexicon:
    """What words may mean which objects; the same for every state of a scene."""

    def __init__(self, names: Names) -> None:
        objects = names.objects
        self.phrases: dict[tuple[str, ...], dict[str, float]] = {}
        self.traits: dict[str, set[str]] = {}
        kinds: dict[str, set[str]] = {}
        for o in objects:
            for said in names.phrases[o.name]:
                words = tokens(said)
                # where people's words are given, the bare name ("cube", beside "cube 2") is only a part of them
                self._phrase(words, o.name, 1.0 if said in o.words or not o.words else 0.75)
                if len(words) > 1:
                    self._phrase(words[-1:], o.name, 0.75)  # "mug" for "blue mug"
                    self._phrase(words[:1], o.name, 0.5)
            for attribute, word in names.traits(o.name):
                for w in {*tokens(attribute), *tokens(word)}:
                    self.traits.setdefault(w, set()).add(o.name)
            for said in names.kinds(o.name):
                kinds.setdefault(" ".join(tokens(said)), set()).add(o.name)
        for said, members in kinds.items():
            for name in members:
                self._phrase(tuple(said.split()), name, 0.5)
        self.longest = max((len(p) for p in self.phrases), default=1)
        self.people = frozenset(o.name for o in objects if set(names.kinds(o.name)) & _PEOPLE)
        self.self = frozenset(o.name for o in objects if set(names.kinds(o.name)) & _SELF)
        self.bins = frozenset(o.name for o in objects if _BIN & set(tokens(" ".join(names.phrases[o.name]))))

    def _phrase(self, words: tuple[str, ...], name: str, weight: float) -> None:
        if words:
            known = self.phrases.setdefault(words, {})
            known[name] = max(known.get(name, 0.0), weight)

    @classmethod
    def of(cls, names: Names) -> _Lexicon:
        """Made once for a set of names."""
        kept = names.objects.cache.get("lexicon")
        if not isinstance(kept, tuple) or kept[0] is not names:
            kept = names.objects.cache["lexicon"] = (names, cls(names))
        lexicon: _Lexicon = kept[1]
        return lexicon


class Matcher:
    """Fits readings to clauses in one scene.

    Args:
        state: the scene; where things are tells "the mug on the shelf" from the other one.
        names: words for its objects.
    """

    def __init__(self, state: State, names: Names | None = None) -> None:
        self.state = state
        self.names = names or Names.of(state.objects)
        self._words = _Lexicon.of(self.names)
        self._places = frozenset(v for a, v in state.values.items() if isinstance(v, str) and len(a) == 2)
        self._where: dict[str, set[str]] = {}
        for atom, value in state.values.items():
            if isinstance(value, str) and len(atom) == 2:
                self._where.setdefault(atom[1], set()).add(value)

    def analyse(self, clause: str) -> Analysis:
        """Mentions and verb of a clause."""
        words = tokens(clause)
        mentions: list[Mention] = []
        at = 1 if words and words[0] in VERBS else 0  # "hand me ...": not the robot's hand
        while at < len(words):
            found = self._mention(words, at)
            if found is None:
                at += 1
                continue
            before = mentions[-1] if mentions else None
            if before and before.end == found.start and before.objects & found.objects:
                both = before.objects & found.objects  # "metal bowl", "blue mug"
                mentions[-1] = Mention(before.start, found.end, both, max(before.weight, found.weight), before.every, before.source)
            else:
                source = found.start > 0 and bool(_SOURCE & set(words[max(0, found.start - 2) : found.start]))
                mentions.append(replace(found, source=source and bool(found.objects & self._places)))
            at = found.end
        if throws_away(clause):
            bins = self._words.bins
            if bins and not any(m.objects & bins for m in mentions):
                mentions.append(Mention(len(words), len(words), bins, 0.9))
        place = any(m.objects & self._places for m in mentions)
        person = any(m.objects & self._words.people for m in mentions)
        covered = {i for m in mentions for i in range(m.start, m.end)}
        unknown = tuple(
            w for i, w in enumerate(words) if i not in covered and w not in _PLAIN and w not in VERBS and i > 0
        )
        return Analysis(tuple(mentions), families_of(clause, place=place, person=person), unknown)

    def _mention(self, words: tuple[str, ...], at: int) -> Mention | None:
        every = at > 0 and bool(_EVERY & set(words[max(0, at - 2) : at]))
        word = words[at]
        trait = (
            self._words.traits.get(word) or self._words.traits.get(_SENSE.get(word, "")) or self._words.traits.get(_root(word)) or set()
        )
        for length in range(min(self._words.longest, len(words) - at), 0, -1):
            known = self._words.phrases.get(words[at : at + length])
            if known:
                best = max(known.values())
                found = frozenset(n for n, w in known.items() if w == best)
                if length == 1 and best < 1 and trait:  # "drink" is part of "soft drink" and what all drinks share
                    return Mention(at, at + 1, found | trait, max(best, 0.7), every)
                return Mention(at, at + length, found, best, every)
        if word in _SPEAKER and self._words.people:
            return Mention(at, at + 1, self._words.people, 1.0)
        if trait:
            return Mention(at, at + 1, frozenset(trait), 0.7, every)
        return None

    def score(self, analysis: Analysis, *parts: Literal) -> float:
        """Fit of a reading to a clause, 0 to `BEST`; higher is better.

        It is 0 where the verb asks for something else, and where the thing it is mainly about is not mentioned: which
        thing is meant is not guessed at.

        Args:
            analysis: of the clause.
            parts: the reading, the first part being the one that the verb asks for.
        """
        first = parts[0]
        verb = analysis.families.get(first.family, 0.0)
        if not verb:
            return 0.0
        about = [o for o in dict.fromkeys(o for p in parts for o in p.objects) if o not in self._words.self]
        strengths = {o: self._strength(analysis, o) for o in about} or {
            o: self._strength(analysis, o) for o in first.objects
        }
        main = self.main(first)
        if not main or not strengths.get(main, 0.0):
            return 0.0
        cover = sum(strengths.values()) / len(strengths)
        explained = [max(self._explains(m, p) for p in parts) for m in analysis.mentions]
        share = sum(explained) / len(explained) if explained else 0.0
        total = VERB * verb + ABOUT * cover + EXPLAINED * share - _UNKNOWN * min(2, len(analysis.unknown))
        if all(self.done(p) for p in parts):
            total -= _DONE
        return max(0.0, total)

    def main(self, literal: Literal) -> str:
        """What a reading is mainly about: its first object that is not a part of the robot."""
        return next((o for o in literal.objects if o not in self._words.self), "")

    def unexplained(self, analysis: Analysis, literal: Literal) -> tuple[Mention, ...]:
        """Mentions that a reading says nothing about."""
        return tuple(m for m in analysis.mentions if not self._explains(m, literal))

    def done(self, literal: Literal) -> bool:
        """Whether what it asks for is so already."""
        cache = self.state.objects.cache
        key = ("holds", literal.condition)
        if key not in cache:
            cache[key] = grounder(self.state.objects).node(literal.condition)
        return bool(cache[key].holds(self.state.values))

    def contradict(self, one: Literal, other: Literal) -> bool:
        """Whether two readings give one fluent two values."""
        a, b = fact_of(one.condition), fact_of(other.condition)
        return a is not None and b is not None and a[0] == b[0] and a[1] != b[1]

    def _strength(self, analysis: Analysis, name: str) -> float:
        named = [m.weight for m in analysis.mentions if name in m.objects]
        if named:
            return max(named)
        if name in self._words.people and len(self._words.people) == 1 and "give" in analysis.families:
            return 0.8  # "fetch the apple": for whom else?
        return 0.0

    def _explains(self, mention: Mention, literal: Literal) -> float:
        if mention.objects & set(literal.objects) and not mention.source:
            return 1.0
        if any(self._where.get(o, set()) & mention.objects for o in literal.objects):
            return 1.0 if mention.source else 0.7  # "the cola from the fridge", "the cola in the fridge"
        return 0.0


def _root(word: str) -> str:
    """'drinkable' from 'drinking', 'cleaning' from 'clean': the attribute that a verb belongs to."""
    base = stem(word).removesuffix("ing")
    return f"{base}able" if not word.endswith("able") else base
