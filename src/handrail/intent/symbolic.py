"""Readings of a request made from symbols: every goal of the scene, shortened to the few that the words suggest.

For models too weak to write options, and for none at all. The list is complete before it is shortened, so that what is
missing at the end is missing because of the words and not because nobody thought of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from handrail.domain import Domain, State
from handrail.domain.option import Fingerprint, Option, not_listed
from handrail.intent.candidates import facts_of, generator_of, goals
from handrail.intent.options import MOST, shortlist
from handrail.intent.scores.scorer import Context, Scorer, digest
from handrail.intent.scores.words import Unexplained, Words


class SymbolicReader:
    """Reads requests in one scene.

    Args:
        state: the scene as it is now.
        most: readings kept, beside "none of these".
    """

    def __init__(self, state: State, most: int = MOST) -> None:
        self.state, self.most = state, most
        self.candidates = goals(state)
        facts = facts_of(state.objects)
        self.words = tuple(Words(kind, facts) for kind in ("overlap", "verb", "facts", "other"))
        self.scorers: tuple[Scorer, ...] = (*self.words, Unexplained(facts))

    def read(self, request: str, domain: Domain | None = None, state: State | None = None) -> list[Option]:
        """The most fitting readings of a request, and the not-listed option last.

        Args:
            request: the person's words.
            domain: not needed; the scene knows its domain.
            state: the scene, where it is another one than at the start.
        """
        if state is not None and state is not self.state:
            return SymbolicReader(state, self.most).read(request, domain)
        context = Context("", request)
        seed = int(digest(request), 16) % 2**31
        kept = shortlist(
            self.candidates, lambda o: sum(w.number(context, o) for w in self.words[:3]), self.most, seed
        )
        return [*kept, not_listed()]

    def context(self, request: str, options: Sequence[Option]) -> Context:
        """What a model is told: the things and places that the readings are about, and the request."""
        return Context(scene_of(options), request)

    @property
    def fingerprint(self) -> Fingerprint:
        """The part of a calibration's fingerprint that the scorer doesn't know."""
        name = generator_of(self.state.objects)
        return Fingerprint.of(options=f"{name}, {self.most} and not-listed", skills=self.state.objects.domain.fingerprint)


def scene_of(options: Sequence[Option]) -> str:
    """The things and places that options are about, as a phrase: "the cola, the fridge and the table"."""
    names = dict.fromkeys(v for o in options for role in ("object", "place") if (v := o.attribute(role)))
    things = [f"the {name}" for name in names]
    if len(things) < 2:
        return "".join(things) or "nothing known"
    return ", ".join(things[:-1]) + " and " + things[-1]
