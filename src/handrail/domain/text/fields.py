"""Reading the keys of a mapping, with errors that say where and what would be valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from handrail.domain.text.document import Map, Seq, plain, where_of
from handrail.errors import DomainError, Where, did_you_mean


class Problems:
    """Mistakes found so far."""

    def __init__(self) -> None:
        self.found: list[DomainError] = []

    def add(self, problem: DomainError) -> None:
        """Keep a mistake and go on."""
        if str(problem) not in {str(p) for p in self.found}:
            self.found.append(problem)

    @contextmanager
    def catch(self) -> Iterator[None]:
        """Keep a DomainError raised inside instead of letting it out."""
        try:
            yield
        except _CollectedError:
            pass
        except DomainError as e:
            self.add(e)

    def raise_all(self) -> None:
        """Raise one DomainError that names every mistake, if there is any; its `where` is the first one's."""
        if not self.found:
            return
        first, *rest = self.found
        message = "\n".join([first.message, *(str(p) for p in rest)])
        raise _CollectedError(message, first.where)


class _CollectedError(DomainError):
    """Several mistakes that a `Problems` holds already."""


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None:
        return "empty"
    return f"'{plain(value)}'"


class Fields:
    """The keys of one mapping.

    Args:
        data: what stands there; anything but a mapping is an error.
        label: what it is, such as "skill 'pick'".
        where: its place, for what is missing.
        problems: where mistakes go.
        hints: for wrong keys that people write, what to write instead.
    """

    def __init__(
        self, data: Any, label: str, where: Where, problems: Problems, hints: Mapping[str, str] | None = None
    ) -> None:
        if data is None:
            data = Map(where)
        if not isinstance(data, Mapping):
            raise DomainError(f"{label} must be a mapping with keys, not {_kind(data)}", where_of(data, where))
        self.data: Mapping[str, Any] = data
        self.label, self.where, self.problems, self.hints = label, where, problems, dict(hints or {})

    def at(self, key: str) -> Where:
        """Where a key's value begins."""
        return self.data.value_at.get(key, self.where) if isinstance(self.data, Map) else self.where

    def key_at(self, key: str) -> Where:
        """Where a key stands."""
        return self.data.key_at.get(key, self.where) if isinstance(self.data, Map) else self.where

    def key_of(self, section: str, key: str) -> Where:
        """Where a key inside a section stands."""
        inner = self.data.get(section)
        return inner.key_at.get(key, self.at(section)) if isinstance(inner, Map) else self.at(section)

    def item_where(self, section: str, index: int) -> Where:
        """Where an item of a list stands."""
        inner = self.data.get(section)
        return inner.item_at[index] if isinstance(inner, Seq) else self.at(section)

    def only(self, *keys: str) -> None:
        """Every other key is a mistake."""
        for key in self.data:
            if key not in keys:
                hint = f" {self.hints[key][0].upper()}{self.hints[key][1:]}." if key in self.hints else ""
                said = f"{self.label} has no key '{key}'.{hint or did_you_mean(key, set(keys))}"
                self.problems.add(DomainError(said, self.key_at(key)))

    def error(self, key: str, problem: str) -> DomainError:
        """An error at a key's value."""
        return DomainError(f"{self.label}: {problem}", self.at(key))

    def text(self, key: str, default: str = "", required: bool = False) -> str:
        """A string."""
        if key not in self.data:
            if required:
                raise DomainError(f"{self.label} needs the key '{key}'", self.where)
            return default
        value = self.data[key]
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"'{key}' must be a text, not {_kind(value)}")
        return value

    def choice(self, key: str, default: str, *valid: str) -> str:
        """One of a few words."""
        value = self.data.get(key, default)
        if value not in valid:
            said = did_you_mean(str(plain(value)), set(valid))
            raise self.error(key, f"'{key}' is one of {', '.join(valid)}, not {_kind(value)}.{said}")
        return str(value)

    def truth(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"'{key}' is true or false, not {_kind(value)}")
        return value

    def map(self, key: str, required: bool = False) -> Map:
        """A mapping; empty where there is none."""
        value = self.data.get(key)
        if value is None:
            if required:
                raise DomainError(f"{self.label} needs the key '{key}'", self.where)
            return Map(self.at(key))
        if not isinstance(value, Map):
            raise self.error(key, f"'{key}' must be a mapping, not {_kind(value)}")
        return value

    def list(self, key: str) -> list[tuple[Any, Where]]:
        """Items of a list with their places; one item may stand without a list."""
        value = self.data.get(key)
        if value is None:
            return []
        if isinstance(value, Seq):
            return list(zip(value, value.item_at, strict=True))
        if isinstance(value, (list, tuple)):
            return [(v, self.at(key)) for v in value]
        if isinstance(value, Mapping):
            raise self.error(key, f"'{key}' must be a list, not a mapping; begin each line with '- ' and use quotes")
        return [(value, self.at(key))]

    def strings(self, key: str) -> Iterator[tuple[str, Where]]:
        """Strings of a list; anything else is kept as a mistake."""
        for value, where in self.list(key):
            if isinstance(value, str):
                yield value, where
            else:
                hint = " Put quotes around it: ': ' begins a mapping in YAML." if isinstance(value, Mapping) else ""
                said = f"{self.label}: each item of '{key}' is a text, not {_kind(value)}.{hint}"
                self.problems.add(DomainError(said, where_of(value, where)))
