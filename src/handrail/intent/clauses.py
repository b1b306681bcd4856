"""A request as clauses: what is asked for, in which order, and what must not happen.

"Put the milk away, then bring me the apple and the water without opening the drawer" is three things to do, the first
before the others, and one to keep as it is. Words are only cut here; what each clause means is read elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail.intent.verbs import VERBS

MAX_WORDS = 120
"""A longer request is not cut: it is asked about as a whole."""

_THEN = re.compile(
    r"(?:[,;.!]\s*|\s+)(?:and\s+)?(?:then|after(?:wards| that| this)?|next|finally|lastly)\b[,:]?\s*|[;!]\s+|\.\s+(?=\S)"
)
_FIRST = re.compile(r"^(?:first(?:ly)?|to begin with|start by|and|(?:and )?then|next|finally)[,:]?\s+", re.IGNORECASE)
_BEFORE = re.compile(r"^(.*\S)\s+before\s+(?:you\s+)?(.+)$", re.IGNORECASE)
_AFTER = re.compile(r"^(?:after|once|when)\s+(?:you(?:\s+have|'ve)?\s+)?(.+?),\s*(.+)$", re.IGNORECASE)
_AND = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:also\s+)?|\s+as well as\s+")
_WITHOUT = re.compile(r"(?:,?\s+|^)(?:without|but (?:don't|do not|never))\s+", re.IGNORECASE)
_NEVER = re.compile(
    r"^(?:please\s+)?(?:do not|don't|dont|never|no need to|stop|avoid|(?:you )?(?:must|should|may|can)(?: not|n't))\s+",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:hey|hi|hello|ok(?:ay)?|so|well|now|please|kindly|just|robot)[,!]?\s+"
    r"|(?:can|could|would|will) you\s+(?:please\s+)?|i(?:'d| would) like you to\s+|i want you to\s+|you (?:should|can|may)\s+"
    r"|(?:i )?need you to\s+|make sure (?:that )?(?:you )?|be so kind (?:as )?to\s+|go and\s+|let's\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:,?\s*(?:please|thanks|thank you|will you|would you|for me))+[.!?]*$|[.!?]+$", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|them|they|that|this|those|these)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|into|on|onto|to|from|next to|at)\s+(?:the\s+|a\s+|my\s+)?[\w ]+$")
_NAMED = re.compile(
    r"\b(?:the|a|an|my|some)\s+([\w ]+?)(?=\s+(?:in|into|on|onto|to|from|out|off|at|with|up|down|away|back|for)\b|$)"
)
_POURS = re.compile(r"^(?:pour|fill)\b")
_FROM_LAST = re.compile(r"^(?:open|shut|close|switch|turn|start|stop)\b")
_QUESTION = re.compile(r"^(?:where|what|which|who|whose|when|why|how|is|are|was|were|does|do you|did|has|have)\b", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that a request asks for.

    Attributes:
        text: its words, lower case, without politeness.
        stage: 0, 1, ...: clauses of a later stage come after those of an earlier one.
        negative: it must not happen, or must be kept as it is.
        question: it asks for words rather than for a deed.
    """

    text: str
    stage: int = 0
    negative: bool = False
    question: bool = False


def clauses(request: str, verbs: frozenset[str] = VERBS) -> tuple[Clause, ...]:
    """Cut a request into clauses.

    Args:
        request: a person's words.
        verbs: words that begin a request, such as 'put' and 'bring'; only before one of these does "and" begin a new
            clause, so that "the apple and the water" can be told from "open the fridge and take the milk".

    Returns:
        At least one clause; a part without a verb of its own takes the verb of the one before it.
    """
    text = " ".join(request.split()).strip()
    if len(text.split()) > MAX_WORDS:
        return (Clause(text.lower()),)
    stages = [_FIRST.sub("", s).strip() for s in _stages(text)]
    out: list[Clause] = []
    for stage, part in enumerate(s for s in stages if s):
        wanted, *forbidden = _WITHOUT.split(part)
        if wanted.strip():
            negative = bool(_NEVER.match(_polite(wanted)))
            body = _NEVER.sub("", _polite(wanted))
            question = bool(_QUESTION.match(_polite(wanted)))
            out += [Clause(p, stage, negative, question) for p in _coordinated(body, verbs)]
        out += [Clause(_base(p), stage, negative=True) for p in forbidden if p.strip()]
    return tuple(out) or (Clause(text.lower()),)


def _stages(text: str) -> list[str]:
    turned = _AFTER.match(text)
    if turned:
        text = f"{turned.group(1)}, then {turned.group(2)}"
    parts: list[str] = []
    for part in _THEN.split(text):
        earlier = _BEFORE.match(part)
        parts += [earlier.group(1), _base(earlier.group(2))] if earlier else [part]
    return parts


def _polite(text: str) -> str:
    return _TAIL.sub("", _POLITE.sub("", text.strip())).strip().lower()


def _base(text: str) -> str:
    """'opening the drawer' as 'open the drawer': a gerund at the beginning loses its ending."""
    first, _, rest = text.strip().partition(" ")
    low = first.lower()
    if low.endswith("ing") and len(low) > 5:
        base = low[:-3]
        tries = (base, f"{base}e", base[:-1] if base[-1] == base[-2] else base)
        low = next((t for t in tries if t in VERBS), base)
    return _TAIL.sub("", f"{low} {rest}".strip()).lower()


def _coordinated(text: str, verbs: frozenset[str]) -> list[str]:
    """Split at 'and' and commas; a part without a verb inherits the one before, and a pronoun its object."""
    pieces = [p.strip() for p in _AND.split(_polite(text)) if p and p.strip()]
    out: list[str] = []
    for piece in pieces:
        head = _polite(piece)
        first = head.split(" ", 1)[0]
        if not out or first in verbs:
            out.append(head)
            continue
        out.append(_inherit(out[-1], head, verbs))
        place = _PLACE.search(out[-1])
        for i in range(len(out) - 2, -1, -1):  # "put the apple, the book and the mug on the table"
            if not place or _PLACE.search(out[i]):
                break
            out[i] = f"{out[i]} {place.group()}"
    return [_resolved(out, i) for i in range(len(out))] or [_polite(text)]


def _inherit(before: str, piece: str, verbs: frozenset[str]) -> str:
    """'bring me the apple' and 'the water' as 'bring me the water'."""
    words = before.split()
    keep = [words[0]]
    for word in words[1:]:
        if word in ("me", "us", "him", "her", "up", "on", "off", "down", "away", "back") or word in verbs:
            keep.append(word)
        else:
            break
    place = _PLACE.search(before)
    tail = f" {place.group()}" if place and not _PLACE.search(piece) and place.start() > len(" ".join(keep)) else ""
    return f"{' '.join(keep)} {piece}{tail}"


def _resolved(parts: list[str], index: int) -> str:
    """Put the object of an earlier part in the place of a pronoun.

    It is what was handled ("take the milk and put it away"), except after pouring, and for what is opened, shut or
    switched, where it is what was named last ("put the milk into the fridge and shut it").
    """
    text = parts[index]
    if index == 0 or not _PRONOUN.search(text):
        return text
    named = _NAMED.findall(parts[index - 1])
    if not named:
        return text
    last = _FROM_LAST.match(text) or _POURS.match(parts[index - 1])
    return _PRONOUN.sub(lambda _: f"the {named[-1 if last else 0]}", text, count=1)
