"""Approvals: for one proof and one card, used once, and only for a while."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handrail.check.proof import Notary, VerifiedPlan
from handrail.errors import ConfigError, StaleError, UnprovenError
from handrail.execute.card import Card

LIFETIME = 600.0
"""Seconds for which an approval may be used."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Leave to carry out one plan, once. `Approvals.grant` makes it; a forged one has no valid token.

    Attributes:
        proof_id: of the plan.
        card_id: of the card that was shown; "" where the policy needs no card.
        by: who approved, or "policy".
        words: what they added.
        expires: seconds since the epoch.
        nonce: makes it one of a kind.
        token: the notary's.
    """

    proof_id: str
    card_id: str
    by: str
    words: str
    expires: float
    nonce: str
    token: str = ""

    @property
    def claim(self) -> str:
        """What the token signs."""
        return json.dumps(
            ["approval", self.proof_id, self.card_id, self.by, self.expires, self.nonce], ensure_ascii=False
        )

    def to_json(self) -> dict[str, Any]:
        """A plain dict, without the token, which is worth nothing outside its run."""
        return {
            "proof_id": self.proof_id,
            "card_id": self.card_id,
            "by": self.by,
            "words": self.words,
            "expires": self.expires,
            "nonce": self.nonce,
        }


class Approvals:
    """Grants and uses up approvals.

    Args:
        notary: seals them; the one that the plans are sealed with.
        lifetime: seconds.
        clock: seconds since the epoch.

    Raises:
        ConfigError: a lifetime that is not a positive number.
    """

    def __init__(self, notary: Notary, lifetime: float = LIFETIME, clock: Callable[[], float] = time.time) -> None:
        if not 0 < lifetime < float("inf"):
            raise ConfigError(f"an approval's lifetime must be a positive number of seconds, not {lifetime!r}")
        self._notary = notary
        self._lifetime = lifetime
        self.clock = clock
        self._used: set[str] = set()

    def grant(self, verified: VerifiedPlan, card: Card | None, by: str, words: str = "") -> Approval:
        """An approval for a plan.

        Args:
            verified: the plan.
            card: what was shown; None where the policy needs none.
            by: who approved.
            words: what they added.

        Raises:
            UnprovenError: the card was shown for another plan, or the plan is not genuine.
        """
        self._notary.require(verified)
        if card is not None and card.proof_id != verified.proof_id:
            raise UnprovenError("the card that was shown belongs to another plan; show this plan's card")
        card_id = card.card_id if card is not None else ""
        return self._sealed(
            Approval(verified.proof_id, card_id, by, words, self.clock() + self._lifetime, secrets.token_hex(8))
        )

    def from_record(self, body: dict[str, Any]) -> Approval:
        """An approval of this run as it was recorded, sealed again. For replay and resume only."""
        return self._sealed(
            Approval(**{k: body[k] for k in ("proof_id", "card_id", "by", "words", "expires", "nonce")})
        )

    def _sealed(self, bare: Approval) -> Approval:
        from dataclasses import replace

        return replace(bare, token=self._notary.sign(bare.claim))

    def use(self, approval: object, verified: VerifiedPlan, now: float | None = None) -> Approval:
        """Use an approval up.

        Args:
            approval: the approval.
            verified: the plan that is about to be carried out.
            now: seconds since the epoch; the clock's by default.

        Raises:
            UnprovenError: not an approval of this run, or for another plan.
            StaleError: used before, or expired.
        """
        if not isinstance(approval, Approval) or not self._notary.genuine(approval.claim, approval.token):
            raise UnprovenError("this is not an approval that this run gave; ask for one")
        if approval.proof_id != verified.proof_id:
            raise UnprovenError(
                f"the approval is for plan {approval.proof_id[:8]}, not for {verified.proof_id[:8]}; ask again for this one"
            )
        if approval.nonce in self._used:
            raise StaleError("the approval was used already; each is good for one execution")
        moment = self.clock() if now is None else now
        if moment > approval.expires:
            raise StaleError(f"the approval expired {moment - approval.expires:.0f} s ago; ask again")
        self._used.add(approval.nonce)
        return approval
