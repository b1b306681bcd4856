"""What experience says: how often a skill has had its effect, for which kind of object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from handrail.record.event import Event
from handrail.record.store import RunStore


@dataclass
class SkillHistory:
    """Counts of attempts and of effects that were seen, by skill and by the types of its arguments.

    Attributes:
        tried: (skill, type) to attempts; type "" counts all.
        succeeded: the same for attempts whose effect was seen.
    """

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    succeeded: Counter[tuple[str, str]] = field(default_factory=Counter)

    def counts(self, skill: str, kind: str = "") -> tuple[int, int]:
        """(succeeded, tried) of a skill, for one type of object or ("") for all."""
        return self.succeeded[skill, kind], self.tried[skill, kind]

    def add(self, events: Iterable[Event]) -> None:
        """Count a run's judged steps. What nobody knows (no answer, a lapsed lease) counts as not tried."""
        types: Mapping[str, str] = {}
        for e in events:
            if e.kind == "execute.begin":
                types = {o["name"]: o["type"] for o in e.body["scene"]["objects"]}
            elif e.kind == "execute.judged" and e.body["code"] not in ("LEASE", "NO_ANSWER", "NOT_STARTED", "STOPPED"):
                skill, *args = e.body["step"]
                for kind in {"", *(types.get(a, "") for a in args)}:
                    self.tried[skill, kind] += 1
                    self.succeeded[skill, kind] += e.body["effect"] == "seen"

    @classmethod
    def of(cls, store: RunStore, limit: int = 1000) -> SkillHistory:
        """The history of the newest runs of a store."""
        made = cls()
        for info in store.runs(limit):
            made.add(store.events(info.id))
        return made
