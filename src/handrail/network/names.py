"""One name for one thing: singular forms, synonyms, compounds, quantities. Every change is explained and reversible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from handrail.errors import ConfigError, Where
from handrail.network.model import FunctionalUnit, ObjectNode, Relation, TaskTree

DATA = Path(__file__).parent / "data"
_QUANTITY = re.compile(r"^((?:\d+\s+)?\d+(?:[./]\d+)?)\s*([a-z]+)?(?:\s+of)?\s+(.+)$")
_ES = ("ches", "shes", "sses", "xes", "zes", "oes")


def load_yaml(path: str | Path) -> dict[str, Any]:
    """Read one of our data files, or a user's of the same shape.

    Raises:
        ConfigError: the file can't be read or is not a mapping.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"can't read it: {error.strerror}", Where(str(path))) from error
    except YAMLError as error:
        raise ConfigError(f"not YAML: {error}", Where(str(path))) from error
    if not isinstance(value, dict):
        raise ConfigError("expected a mapping at the top", Where(str(path)))
    return value


class Rule(StrEnum):
    """Why a name became another."""

    CASE = "case and spaces"
    SINGULAR = "singular"
    SYNONYM = "synonym"
    MOTION = "motion alias"
    STATE = "state alias"
    COMPOUND = "missing space"
    PREFIX = "state written into the label"
    QUANTITY = "quantity written into the label"


@dataclass(frozen=True, slots=True)
class Change:
    """One name that was changed: `before` became `after` because of `rule`; `detail` is what was taken out of it."""

    rule: Rule
    before: str
    after: str
    detail: str = ""

    def __str__(self) -> str:
        """`pans -> cooking pan (synonym)`."""
        return f"{self.before} -> {self.after} ({self.rule.value}{': ' + self.detail if self.detail else ''})"


@dataclass(frozen=True, slots=True)
class Named:
    """A tree with normal names, the tree it came from, and every change made."""

    tree: TaskTree
    original: TaskTree
    changes: tuple[Change, ...]


@cache
def _library_singular(word: str) -> str:
    """Singular by lemminflect, then inflect where lemminflect leaves the word as it is; plain rules without them."""
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4:
        return word
    try:
        from lemminflect import getLemma
    except ImportError:
        return plain_singular(word)
    lemma = getLemma(word, upos="NOUN")
    if lemma and lemma[0] != word:
        return str(lemma[0])
    try:
        singular = _inflect().singular_noun(word)
    except ImportError:
        return plain_singular(word)
    return str(singular) if singular else word


@cache
def _inflect() -> Any:
    """The inflect engine; importing it takes a second or more, so only when it is needed."""
    import inflect

    return inflect.engine()


def plain_singular(word: str) -> str:
    """Singular by three rules, for installations without the extra `network`."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_ES):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@dataclass(frozen=True)
class Names:
    """The rules that say which names are one.

    Attributes:
        singular: exceptions for the last word of a label.
        synonyms: label -> label; chains are followed.
        motions: motion alias -> motion.
        states: state alias -> state.
        compounds: labels of several words, found again when written without spaces.
        prefixes: states that may be glued to the front of a known label.
        measures: words that make a leading number a quantity.
        known: labels known from elsewhere (a knowledge base); a prefix is only split off a known label.
        off: names that are left as they are, whatever the rules say: this undoes a merge.
    """

    singular: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    motions: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    compounds: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    measures: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    _cache: dict[str, tuple[str, tuple[str, ...], tuple[Change, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def load(cls, *extra: str | Path, known: Iterable[str] = ()) -> Names:
        """The shipped rules, extended by files of the same shape (later files win).

        Raises:
            ConfigError: a file can't be read, or has a part that is not of this shape.
        """
        merged: dict[str, Any] = {}
        for path in (DATA / "names.yaml", *extra):
            for part, value in load_yaml(path).items():
                if part in ("singular", "synonyms", "motions", "states"):
                    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
                        raise ConfigError(f"'{part}' must map names to names", Where(str(path)))
                    merged.setdefault(part, {}).update({str(k): v for k, v in value.items()})
                elif part in ("compounds", "prefixes", "measures"):
                    if not isinstance(value, list):
                        raise ConfigError(f"'{part}' must be a list of names", Where(str(path)))
                    merged.setdefault(part, []).extend(map(str, value))
                else:
                    raise ConfigError(
                        f"unknown part '{part}'; valid: singular, synonyms, motions, states, compounds, prefixes, "
                        "measures",
                        Where(str(path)),
                    )
        return cls(
            merged.get("singular", {}),
            merged.get("synonyms", {}),
            merged.get("motions", {}),
            merged.get("states", {}),
            frozenset(merged.get("compounds", ())),
            tuple(merged.get("prefixes", ())),
            frozenset(merged.get("measures", ())),
            frozenset(known),
        )

    def without(self, *names: str) -> Names:
        """The same rules with these names left alone: undoes their merges."""
        return Names(
            self.singular, self.synonyms, self.motions, self.states, self.compounds, self.prefixes, self.measures,
            self.known, self.off.union(names),
        )  # fmt: skip

    def knowing(self, labels: Iterable[str]) -> Names:
        """The same rules with more known labels."""
        return Names(
            self.singular, self.synonyms, self.motions, self.states, self.compounds, self.prefixes, self.measures,
            self.known.union(labels), self.off,
        )  # fmt: skip

    def label(self, text: str) -> tuple[str, tuple[str, ...], tuple[Change, ...]]:
        """The normal label, states that were written into it, and why."""
        done = self._cache.get(text)
        if done is None:
            done = self._cache[text] = self._label(text)
        return done

    def _label(self, text: str) -> tuple[str, tuple[str, ...], tuple[Change, ...]]:
        changes: list[Change] = []
        states: tuple[str, ...] = ()

        def step(rule: Rule, before: str, after: str, detail: str = "") -> str:
            if after != before:
                changes.append(Change(rule, before, after, detail))
            return after

        if text in self.off:
            return text, (), ()
        name = step(Rule.CASE, text, " ".join(text.replace("_", " ").lower().split()))
        quantity = _QUANTITY.match(name)
        if quantity:
            measure = quantity[2] or ""
            if measure and measure.rstrip("s") not in self.measures and measure not in self.measures:
                rest, amount = f"{measure} {quantity[3]}", quantity[1]
            else:
                rest, amount = quantity[3], f"{quantity[1]} {measure}".strip()
            name = step(Rule.QUANTITY, name, rest, amount)
        name = step(Rule.COMPOUND, name, self._spaced(name))
        name = step(Rule.SINGULAR, name, self.singular_of(name))
        if " " not in name:
            name = step(Rule.COMPOUND, name, self._spaced(name))
            for prefix in self.prefixes:
                if not name.startswith(prefix) or name in self.known:
                    continue
                rest = self._spaced(self.singular_of(name[len(prefix) :]))
                if rest in self.known:
                    states = (prefix,)
                    name = step(Rule.PREFIX, name, rest, prefix)
                    break
        for _ in range(8):
            if name in self.off or name not in self.synonyms:
                break
            name = step(Rule.SYNONYM, name, self.synonyms[name])
        return name, states, tuple(changes)

    def singular_of(self, label: str) -> str:
        """The label with its last word in the singular."""
        head, _, last = label.rpartition(" ")
        last = self.singular[last] if last in self.singular else _library_singular(last)
        return f"{head} {last}" if head else last

    def _spaced(self, label: str) -> str:
        if " " in label:
            return label
        glued = self._glued
        found = glued.get(label.replace("-", ""))
        return found or glued.get(plain_singular(label), label)

    @property
    def _glued(self) -> dict[str, str]:
        table: dict[str, str] | None = self.__dict__.get("_glue")
        if table is None:
            table = {c.replace(" ", ""): c for c in sorted(self.known | self.compounds) if " " in c}
            object.__setattr__(self, "_glue", table)
        return table

    def state(self, text: str) -> tuple[str, tuple[Change, ...]]:
        """The normal state and why."""
        name = " ".join(text.lower().split())
        after = name if name in self.off else self.states.get(name, name)
        if after == text:
            return after, ()
        return after, (Change(Rule.STATE if after != name else Rule.CASE, text, after),)

    def motion(self, text: str) -> tuple[str, tuple[Change, ...]]:
        """The normal motion and why; the star of FOON's motion variants (`mix*`) is kept."""
        name = " ".join(text.lower().replace("_", " ").split())
        after = name if name in self.off else self.motions.get(name, name)
        if after == text:
            return after, ()
        return after, (Change(Rule.MOTION if after != name else Rule.CASE, text, after),)

    def node(self, node: ObjectNode) -> tuple[ObjectNode, tuple[Change, ...]]:
        """The node under normal names."""
        changes: list[Change] = []

        def label(text: str) -> str:
            name, _, why = self.label(text)
            changes.extend(why)
            return name

        def state(text: str) -> str:
            name, why = self.state(text)
            changes.extend(why)
            return name

        name, extra, why = self.label(node.label)
        changes.extend(why)
        renamed = ObjectNode(
            name,
            {*map(state, node.states), *extra},
            map(label, node.ingredients),
            (Relation(r.word, label(r.container)) for r in node.relations),
            ((state(word), frozenset(map(label, items))) for word, items in node.treatments),
        )
        return (renamed, tuple(changes)) if changes else (node, ())

    def normalise(self, tree: TaskTree) -> Named:
        """The tree under normal names, with its original and every distinct change."""
        seen: dict[Change, None] = {}
        nodes: dict[ObjectNode, ObjectNode] = {}

        def rename(node: ObjectNode) -> ObjectNode:
            done = nodes.get(node)
            if done is None:
                done, why = self.node(node)
                seen.update(dict.fromkeys(why))
                nodes[node] = done
            return done

        units: list[FunctionalUnit] = []
        for unit in tree.units:
            motion, why = self.motion(unit.motion)
            seen.update(dict.fromkeys(why))
            units.append(unit.but(inputs=map(rename, unit.inputs), motion=motion, outputs=map(rename, unit.outputs)))
        goal = None if tree.goal is None else rename(tree.goal)
        return Named(TaskTree(tuple(units), goal, tree.name, tree.source), tree, tuple(seen))
