"""What the verbs of a request ask for, as families that the sentences of skills belong to as well.

A skill that says "Grasp the {thing}." and a request to "take the mug" meet in the family `take`, whatever the skill's
name is. English only; a domain whose skills say something else is matched by its own first word.
"""

from __future__ import annotations

import re

_FAMILIES: dict[str, str] = {
    "give": r"bring|give|hand(?: over)?|pass|fetch|deliver|serve|offer|get (?:me|us)|carry",
    "put": (
        r"put|place|set|store|stow|move|leave|drop|lay|return|tidy|clear|stack|load|insert|throw|dispose|discard|bin"
        r"|trash|get rid|deposit|transfer|stick|pop|sort"
    ),
    "take": r"pick(?: up)?|take|grab|grasp|lift|hold|get|collect|retrieve|remove",
    "open": r"open|unlock",
    "close": r"close|shut",
    "pour": r"pour|fill",
    "wipe": r"wipe|clean|scrub|mop|dust|wash|polish",
    "switch on": r"(?:switch|turn|power)(?: \w+){0,4} on|switch on|turn on|start|light|activate",
    "switch off": r"(?:switch|turn|power)(?: \w+){0,4} off|switch off|turn off|stop|deactivate",
    "go": r"go|drive|come|navigate|walk|head|roll",
    "make hot": r"heat|warm|cook|boil|reheat|make it so that .* hot",
    "ask": r"ask|tell|say|inform",
}
_PATTERNS = {name: re.compile(rf"^(?:{pattern})\b") for name, pattern in _FAMILIES.items()}
_WISH = re.compile(
    r"\b(?:i(?:'m| am|'d| would)?|we|may i|can i|could i|alex|he|she)\b.*\b(?:want|need|like|have|thirsty|hungry|fancy|love|use)\b"
)
_BELONGS = re.compile(r"\b(?:goes|belongs?|should (?:be|go)|needs to (?:be|go)|ought to (?:be|go))\b")
_NAMELY = re.compile(r"^(?:the|a|an|some|something|anything|my|one|another|more|two|both|all)\b")
_AWAY = re.compile(r"\b(?:throw|dispose|discard|bin|trash|get rid)\b")
_TOWARDS = re.compile(r"\b(?:to|into|onto|in|on|back to|over to)\s+(?:the\s+|my\s+|a\s+)?\w+")

VERBS = frozenset(
    word for pattern in _FAMILIES.values() for word in re.findall(r"(?:^|\|)\(?(?:\?:)?([a-z]+)", pattern)
)
"""Words that begin a request."""


def family_of(text: str) -> str:
    """The family of an imperative such as "put the mug on the table"; its own first word where none fits."""
    low = text.lower().strip()
    for name in ("switch on", "switch off", "make hot", *_PATTERNS):  # two-word verbs before "turn" or "make" alone
        if _PATTERNS[name].match(low):
            return name
    return low.split(" ", 1)[0]


def families_of(clause: str, *, place: bool, person: bool) -> dict[str, float]:
    """What a clause may ask for: family to weight in (0, 1].

    Args:
        clause: one thing a person asks for, lower case, without politeness.
        place: whether it names a place that things can go to.
        person: whether it names a person, the speaker included.
    """
    low = clause.strip()
    first = family_of(low)
    if first not in _PATTERNS:
        if _BELONGS.search(low):
            return {"put": 1.0, "give": 0.3}
        if _WISH.search(low):
            return {"give": 1.0, "take": 0.4}
        if _NAMELY.match(low):
            return {"give": 0.8}  # "something to drink, please"
        return {first: 1.0}  # a verb that no family has: only a skill with that very word will do
    towards = place and bool(_TOWARDS.search(low))
    if first == "give":
        if person or not towards:
            return {"give": 1.0, "take": 0.3}
        return {"put": 1.0, "give": 0.4}
    if first == "take":
        if person:
            return {"give": 1.0, "take": 0.5}
        if towards:
            return {"put": 1.0, "take": 0.5}
        return {"take": 1.0, "give": 0.5}
    if first == "put" and low.startswith("move") and not place:
        return {"put": 0.8, "go": 0.5}
    return {first: 1.0}


def throws_away(clause: str) -> bool:
    """Whether a clause asks to get rid of something, which names the bin without saying so."""
    return bool(_AWAY.search(clause))
