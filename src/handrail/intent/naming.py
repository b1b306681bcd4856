"""Names that people use: from objects to words and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from handrail.domain.types import Kind, Objects

_WORD = re.compile(r"[a-z0-9]+")
_LIGHT = frozenset({"a", "an", "the", "of", "my", "your", "his", "her", "our", "their", "some", "this", "that"})


def tokens(text: str) -> tuple[str, ...]:
    """Lower-case words of a text, without articles and possessives, with crude stems."""
    return tuple(stem(w) for w in _WORD.findall(text.lower().replace("'s", "")) if w not in _LIGHT)


def stem(word: str) -> str:
    """The word without its plural ending: 'glasses' and 'glass', 'dishes' and 'dish', 'mugs' and 'mug'."""
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Names:
    """Words for the objects of one scene.

    Args:
        objects: the scene's objects.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        phrases: dict[str, tuple[str, ...]] = {}
        for o in objects:
            plain = o.name.replace("_", " ")
            phrases[o.name] = tuple(dict.fromkeys((*o.words, plain)))
        self.phrases: Mapping[str, tuple[str, ...]] = phrases
        """Object to everything it may be called, the best first."""
        shared: dict[str, int] = {}
        for said in phrases.values():
            for text in set(said):
                shared[text] = shared.get(text, 0) + 1
        self.best: Mapping[str, str] = {
            name: next((s for s in said if shared[s] == 1), name.replace("_", " ")) for name, said in phrases.items()
        }
        """Object to the first of its names that no other object has."""

    @classmethod
    def of(cls, objects: Objects) -> Names:
        """The names of a set of objects, made once."""
        kept = objects.cache.get("names")
        if not isinstance(kept, cls):
            kept = objects.cache["names"] = cls(objects)
        return kept

    def say(self, name: str) -> str:
        """The best name of an object; any other text with blanks for underscores."""
        return self.best.get(name, name.replace("_", " "))

    def listed(self, names: Iterable[str]) -> str:
        """Names as a phrase: 'a mug, a bowl and a plate'."""
        said = [with_article(self.say(n)) for n in names]
        if not said:
            return "nothing"
        return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"

    def traits(self, name: str) -> tuple[tuple[str, str], ...]:
        """What the domain states of an object, as (attribute, word): ('material', 'glass'), ('sharp', 'sharp')."""
        domain = self.objects.domain
        out = []
        for attribute in sorted(domain.attributes_of(self.objects[name].type)):
            value = self.objects.attribute(attribute, name)
            if domain.attributes[attribute].kind is Kind.BOOL:
                if value is True:
                    out.append((attribute, attribute.replace("_", " ")))
            elif isinstance(value, str):
                out.append((attribute, value.replace("_", " ")))
        return tuple(out)

    def kinds(self, name: str) -> tuple[str, ...]:
        """The object's type and those above it, in words."""
        return tuple(t.replace("_", " ") for t in self.objects.domain.supertypes(self.objects[name].type))


def with_article(text: str) -> str:
    """'a mug', 'an apple'; names that begin with a capital or an article stay as they are."""
    if not text or text[0].isupper() or text.split(" ", 1)[0] in _LIGHT:
        return text
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"
