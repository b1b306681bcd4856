"""Words, counts and signs of the domain language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from handrail.domain.text.source import Source

RESERVED: Final = frozenset(
    {"and", "or", "not", "some", "all", "if", "then", "each", "none", "true", "false", "unknown"}
)
"""Words that no object, parameter, fluent or type may have as its name."""


class TokenKind(StrEnum):
    """What a token is."""

    NAME = "name"
    INT = "count"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text and the offset where it begins."""

    kind: TokenKind
    text: str
    at: int

    def __str__(self) -> str:
        return "the end" if self.kind is TokenKind.END else f"'{self.text}'"


_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<name>[^\W\d]\w*)|(?P<count>\d+(?!\w))|(?P<sign>:=|\+=|-=|==|!=|<=|>=|\.\.|[<>(),:?|;])"
)
_HINTS: Final = (
    ("=>", "there is no '=>'; write 'if ... then ...'"),
    ("->", "there is no '->'; write 'if ... then ...'"),
    ("&&", "write 'and'"),
    ("||", "write 'or'"),
    ("&", "write 'and'"),
    ("!", "write 'not', or '!=' for unequal"),
    ("=", "'==' tests for equality and ':=' assigns"),
    ("-", "names are made of letters, digits and '_', and counts are whole and not negative"),
    ("+", "counts change by 'fluent(...) += 1'; there is no other arithmetic"),
    ('"', "names need no quotes"),
    ("'", "names need no quotes"),
    (".", "there are no fractions here; write 'fluent(object)', not 'object.fluent'"),
)


def is_name(text: str) -> bool:
    """Whether a text could be the name of something."""
    found = _TOKEN.fullmatch(text)
    return found is not None and found.lastgroup == "name" and text not in RESERVED


def tokenize(source: Source) -> list[Token]:
    """All tokens, with one END token last.

    Raises:
        DomainError: a character that has no place in the language, with what to write instead.
    """
    text, at = source.text, 0
    out: list[Token] = []
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise source.error(at, _unknown(text, at))
        kind = found.lastgroup
        if kind != "space":
            out.append(Token(TokenKind(str(kind)), found.group(), at))
        at = found.end()
    out.append(Token(TokenKind.END, "", len(text.rstrip())))
    return out


def _unknown(text: str, at: int) -> str:
    for sign, hint in _HINTS:
        if text.startswith(sign, at):
            return f"'{sign}' has no meaning here: {hint}."
    if text[at].isdigit():
        word = re.match(r"\w+", text[at:])
        return f"'{word.group() if word else text[at]}' is neither a count nor a name; a name begins with a letter."
    return f"the character '{text[at]}' has no meaning here."
