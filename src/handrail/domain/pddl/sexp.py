"""Text to nested groups of words, each with its place, for the PDDL reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NoReturn, TypeAlias

from handrail.errors import ParseError, Where

# A word also ends before `?`, because people write `(aircraft?a)`.
_TOKEN = re.compile(r"[()]|\?[^\s()?;]*|[^\s()?;]+")
_COMMENT = re.compile(r";[^\n]*")


class Word(str):
    """A lower-case word; `at` is its offset in the text."""

    __slots__ = ("at",)
    at: int


class Group(list["Word | Group"]):
    """What stands between two parentheses; `at` is the offset of the opening one."""

    __slots__ = ("at",)

    def __init__(self, at: int, items: Iterable[Word | Group] = ()) -> None:
        super().__init__(items)
        self.at = at

    @property
    def head(self) -> str:
        """The first word, or "" where the group is empty or starts with a group."""
        return self[0] if self and isinstance(self[0], Word) else ""


Item: TypeAlias = "Word | Group"


class Text:
    """A PDDL text, which knows how to point at a place in itself."""

    def __init__(self, text: str, source: str = "") -> None:
        self.text = text
        self.source = source

    def where(self, at: int) -> Where:
        """Line and column of an offset."""
        at = min(max(at, 0), len(self.text))
        return Where(self.source, self.text.count("\n", 0, at) + 1, at - (self.text.rfind("\n", 0, at) + 1) + 1)

    def fail(self, at: int | Item, message: str) -> NoReturn:
        """Raise a ParseError that shows line, column, the line itself and a mark under the place."""
        offset = at if isinstance(at, int) else at.at
        where = self.where(offset)
        line = self.text.split("\n")[where.line - 1].rstrip("\r") if self.text else ""
        start = max(0, where.column - 60)
        shown = line[start : start + 100].replace("\t", " ")
        raise ParseError(f"{message}\n    {shown}\n    {' ' * (where.column - 1 - start)}^", where)

    def groups(self) -> Group:
        """All top-level groups.

        Raises:
            ParseError: a parenthesis without its partner, or a word outside of all parentheses.
        """
        text = self.text.lower()
        if len(text) != len(self.text):  # a letter whose lower case is longer would shift every place
            text = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.text)
        if ";" in text:
            text = _COMMENT.sub(lambda m: " " * len(m.group()), text)
        top = Group(0)
        stack = [top]
        here = top
        for m in _TOKEN.finditer(text):
            word_ = m.group()
            if word_ == "(":
                inner = Group(m.start())
                here.append(inner)
                stack.append(inner)
                here = inner
            elif word_ == ")":
                if here is top:
                    self.fail(m.start(), "this ')' closes nothing")
                stack.pop()
                here = stack[-1]
            elif here is top:
                self.fail(m.start(), f"'{word_}' stands outside of all parentheses; a PDDL text is one '(define ...)'")
            else:
                word = Word(word_)
                word.at = m.start()
                here.append(word)
        if here is not top:
            self.fail(here, f"this '(' is never closed ({len(stack) - 1} still open at the end of the text)")
        return top

    def define(self, what: str) -> tuple[Word | None, list[Group]]:
        """The name and the sections of the one `(define (domain|problem NAME) ...)`.

        Raises:
            ParseError: there is none, or it defines something else.
        """
        found: list[Group] = []
        other = ""
        for g in self.groups():
            if not isinstance(g, Group) or g.head != "define":
                self.fail(g, f"expected '(define ({what} NAME) ...)'")
            kind = g[1].head if len(g) > 1 and isinstance(g[1], Group) else ""
            if kind == what:
                found.append(g)
            else:
                other = other or kind or "nothing"
        if len(found) != 1:
            hint = f"; it defines a {other}" if other else ""
            at = found[1].at if found else 0
            self.fail(at, f"the text has {len(found)} '(define ({what} NAME) ...)', expected one{hint}")
        head = found[0][1]
        assert isinstance(head, Group)
        name = head[1] if len(head) > 1 and isinstance(head[1], Word) else None
        return name, list(self.sections(found[0][2:]))

    def sections(self, items: Iterable[Item]) -> Iterator[Group]:
        """The groups that start with a `:keyword`; `(: keyword` and `(keyword` without its colon are told apart from them."""
        for item in items:
            if not isinstance(item, Group) or not item.head.startswith(":"):
                shown = item if isinstance(item, Word) else (item.head or "()")
                self.fail(item, f"expected a section such as '(:action ...)', found '{shown}'")
            yield item
