"""Outcomes from run logs: what a recorded run means for a certificate.

The events are those of `handrail.record`; only their kind and body are read, so any source of them will do. A run
without an end has crashed or fallen silent, and counts as failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from handrail.decide.certificate.episode import Choice, DryRun, Ended, Point, ReadBack, Replan

DONE = frozenset({"DONE", "ALREADY"})
"""Reasons with which the robot says that it is done."""
BROKEN = frozenset({"WORLD", "LEASE", "BROKEN", "ERROR"})
"""Reasons with which it says that something under it failed."""


class Happening(Protocol):
    """An event of a run."""

    @property
    def kind(self) -> str:
        """`part.what`."""

    @property
    def body(self) -> Mapping[str, Any]:
        """Plain values."""


@dataclass(frozen=True)
class RunFacts:
    """What a run's log says about it: the arguments of `EpisodeLog.end`."""

    ended: Ended
    why: str
    asks: int
    trace: tuple[Point, ...]
    first_tries: Mapping[str, tuple[int, int]]


def facts_of(events: Iterable[Happening], ask: float, dry_runs: Iterable[DryRun] = ()) -> RunFacts:
    """Read a run's events.

    Args:
        events: all of the run's, in order.
        ask: the threshold that the run asked at. A question at a confidence above it had another reason (a reading that
            the checks doubt), so every setting would have asked it.
        dry_runs: results that were logged apart because they were not obeyed; they come before the execution.
    """
    found = list(events)
    ended, why = _end(found)
    trace: list[Point] = [*_choices(found, ask), *_logged_dry_runs(found), *dry_runs]
    trace += [Replan(k) for k in range(1, _replans(found) + 1)]
    asks = sum(e.kind == "person.asked" for e in found)
    return RunFacts(ended, why, asks, tuple(trace), _first_tries(found))


def _end(events: list[Happening]) -> tuple[Ended, str]:
    """The last word of the run; without one it has crashed or is silent."""
    reason, sentence = "", ""
    for e in events:
        if e.kind in ("run.end", "mission.ended"):
            reason, sentence = str(e.body["reason"]), str(e.body.get("sentence", ""))
        elif e.kind == "execute.end":
            reason, sentence = str(e.body["ended"]), str(e.body.get("sentence", ""))
    if not reason:
        return Ended.FAILED, "watchdog: the run's log has no end"
    if reason in DONE:
        return Ended.DONE, sentence
    return (Ended.FAILED if reason in BROKEN else Ended.HANDED_OVER), f"{reason}: {sentence}"


def _answer(event: Happening) -> Mapping[str, Any]:
    """The body of a journalled answer; some sections wrap it once more, as {"ok": ...}."""
    value = event.body.get("answer")
    if isinstance(value, Mapping) and set(value) == {"ok"}:
        value = value["ok"]
    return value if isinstance(value, Mapping) else {}


def _meaning(goal: object) -> str:
    """A goal as a key: what must hold, and what must stay; who chose it does not matter."""
    if not isinstance(goal, Mapping):
        return ""
    return repr([goal.get("final"), goal.get("subgoals"), goal.get("keep")])


def _choices(events: list[Happening], ask: float) -> list[Point]:
    """The first choice among readings, and whether it was read back."""
    weighed = next((_answer(e) for e in events if e.kind == "mission.weighed"), {})
    if not weighed or weighed.get("kind") == "Refuse":
        return []  # a refusal comes from the checks, at every threshold
    acted_on = next((_meaning(e.body.get("asked", {}).get("goal")) for e in events if e.kind == "mission.chosen"), None)
    pairs = [
        (p, _meaning(o.get("goal")))
        for o, p in zip(weighed.get("options", ()), weighed.get("probabilities", ()), strict=False)
        if p is not None and o.get("goal")
    ]
    confidence, own = max(pairs, default=(0.0, None), key=lambda pair: pair[0])
    asked = weighed.get("kind") != "Act"
    if asked and confidence >= ask:
        own = None
    points: list[Point] = [Choice(min(1.0, max(0.0, float(confidence))), own, asked, acted_on if asked else None)]
    points += [
        ReadBack(None if not _answer(e) else _answer(e).get("choice") == 0)
        for e in events
        if e.kind == "mission.asked" and tuple(e.body.get("asked", {}).get("choices", ())) == ("yes", "no")
    ]
    return points


def _logged_dry_runs(events: list[Happening]) -> list[Point]:
    """Copies that the pipeline itself ran; only their number is logged, so passes are put first."""
    found: list[Point] = []
    for e in events:
        if e.kind != "mission.checked":
            continue
        for layer in _answer(e).get("verdict", {}).get("layers", ()):
            figures = layer.get("figures", {})
            if "copies" in figures:
                n, ok = int(figures["copies"]), int(figures["copies_ok"])
                found.append(DryRun((True,) * ok + (False,) * (n - ok)))
    return found


def _replans(events: list[Happening]) -> int:
    """New plans asked for in all executions of the run."""
    return sum(int(e.body.get("spent", {}).get("replans", 0)) for e in events if e.kind == "execute.end")


def _first_tries(events: list[Happening]) -> dict[str, tuple[int, int]]:
    """Per skill, (failed, tried) over the first try of each started step."""
    counts: dict[str, tuple[int, int]] = {}
    first = False
    for e in events:
        if e.kind == "execute.intent":
            first = e.body.get("try") == 0
        elif e.kind == "execute.judged" and first:
            skill = str(e.body["step"][0])
            failed, tried = counts.get(skill, (0, 0))
            counts[skill] = (failed + (e.body.get("effect") != "seen"), tried + 1)
            first = False
    return counts
