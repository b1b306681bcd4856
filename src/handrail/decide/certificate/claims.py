"""Claims that no text may make, whatever the data; every text about certificates, parts, dry-runs and alarms passes here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.errors import HandrailError


class ForbiddenClaimError(HandrailError):
    """A text would claim what can't be known; the message quotes the words and says why."""


@dataclass(frozen=True, slots=True)
class NeverClaim:
    """A pattern of words and the reason why nobody may say them."""

    pattern: re.Pattern[str]
    why: str


def _never(pattern: str, why: str) -> NeverClaim:
    return NeverClaim(re.compile(pattern, re.IGNORECASE), why)


NEVER: tuple[NeverClaim, ...] = (
    _never(
        r"\b(never|can(no|')t) (fails?|(be|is|go|goes) wrong|makes? (a )?mistakes?)\b",
        "an average is no promise of never",
    ),
    _never(r"\b(proved|proven|guaranteed|certified) (to be )?safe\b|\bsafety guarantee\b", "nothing here shows safety"),
    _never(r"\b100 ?%|\balways (succeeds|works|right)\b", "no finite number of episodes shows certainty"),
    _never(
        r"\b(for|in) (this|your|the next) task,? .{0,40}\b(guarantee|certain|at most|at least)\b"
        r"|\bthis task (will|is guaranteed)\b",
        "the number is an average over tasks, not about one task, user or object",
    ),
    _never(
        r"\bcertificate (is|being) (right|true|correct) with (a )?probability|\d ?% (sure|likely) that (this|the) certif",
        "the method is seldom wrong; a given certificate is right or not",
    ),
    _never(r"\bcoverage\b.{0,60}\b(task )?success\b", "coverage of prediction sets is not task success"),
    _never(r"\b(skill|step)s?('|’)? (success )?(rates?|probabilit\w+) multipl", "skill rates must not be multiplied"),
    _never(
        r"\bdry-?runs? passed\b.{0,40}(probab|chance|confidence|%)", "passed dry-runs are a score, not a probability"
    ),
    _never(r"\bno alarm\b.{0,40}\b(so|means|therefore|proves)\b", "no alarm does not mean no change"),
    _never(r"\baverag\w+ over calibrations\b.{0,80}\bconfidence\b", "an average over calibrations has no confidence"),
)
"""Claims that no text may make, whatever the data."""


def allowed(text: str) -> str:
    """`text`, when it makes none of these claims.

    Raises:
        ForbiddenClaimError: it does; the message quotes the words and says why.
    """
    for never in NEVER:
        if found := never.pattern.search(text):
            raise ForbiddenClaimError(f'the text may not say "{found.group(0)}": {never.why}')
    return text


def never_list() -> Sequence[str]:
    """The reasons behind the claims that are never made, for documentation."""
    return [n.why for n in NEVER]
