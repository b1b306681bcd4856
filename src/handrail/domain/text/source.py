"""One string of the domain language and how to point into it."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.domain.text.document import Text
from handrail.errors import DomainError, Where


@dataclass(frozen=True, slots=True)
class Source:
    """A string to be parsed.

    Attributes:
        text: the string; a `Text` knows its place in a file.
        label: what it belongs to, such as "skill 'pick' needs"; begins every error.
        where: the place of a plain string; columns are counted from its own start where it is None.
    """

    text: str
    label: str = ""
    where: Where | None = None

    def place(self, offset: int) -> Where:
        """Where the character at `offset` stands."""
        if isinstance(self.text, Text):
            return self.text.locate(offset)
        if self.where is not None:
            return self.where
        before = self.text[:offset]
        return Where("", before.count("\n") + 1, offset - before.rfind("\n"))

    def error(self, offset: int, problem: str) -> DomainError:
        """An error at a character."""
        shown = " ".join(self.text.split())
        if len(shown) > 120:
            shown = shown[:117] + "..."
        label = f"{self.label} " if self.label else ""
        return DomainError(f'{label}"{shown}": {problem}', self.place(offset))
