"""Replay of everything before the approval: the mission's own page, run over its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from handrail.check import Notary
from handrail.domain.domain import Domain
from handrail.execute.packed import unpack_scene
from handrail.execute.runner import Runner
from handrail.mission import Consolidate, Mission, Prepared
from handrail.record.event import Event
from handrail.record.journal import Diverged, EndOfRecord, Journal
from handrail.weighing import Weigher
from handrail.world.hosting import Host


class Offline:
    """Stands for the runner where a preparation is replayed: it has a notary, and nothing else is ever asked of it."""

    def __init__(self) -> None:
        self.notary = Notary()

    def trace(self, kind: str, body: dict[str, Any]) -> None:
        """Nothing is written down."""


@dataclass(frozen=True)
class Replayed:
    """What came of taking the decisions before the approval again.

    Attributes:
        decisions: how many events were gone through.
        prepared: the proven plan or the end; None where the record breaks off before that.
        diverged: what came out otherwise; "" for nothing.
    """

    decisions: int
    prepared: Prepared | None
    diverged: str = ""


def replay_preparation(events: Sequence[Event], domain: Domain | None = None) -> Replayed:
    """Take every decision before the approval again from the record alone: no model, no planner, no person, no world.

    Args:
        events: of one run.
        domain: where the record has no text of it (a domain made in Python).

    Raises:
        StaleError: the domain is not the one of the record.
    """
    seen = next((e.body["answer"] for e in events if e.kind == "mission.observed"), None)
    if seen is None:
        return Replayed(0, None)
    request = next((str(e.body["request"]) for e in events if e.kind == "run.request"), "")
    known = unpack_scene(seen["scene"], domain).domain
    mission = Mission(known, cast(Host, None), cast(Weigher, None), (), cast(Consolidate, None))
    journal = Journal(None, events, section="mission")
    try:
        made = mission.prepare(request, cast(Runner, Offline()), journal)
    except EndOfRecord:
        return Replayed(journal.reproduced, None)
    except Diverged as e:
        return Replayed(journal.reproduced, None, str(e))
    left = journal.left
    return Replayed(journal.reproduced, made, f"the record goes on after the end: {left}" if left else "")
