"""After deployment: watch the streams, and say when the certificate is no longer true.

One stream's alarm suspends the certificate at once. The budget of false alarms is shared: with S streams each
detector's threshold is S times the mean number of tasks to a false alarm that was asked for, times the share of tasks
in which the stream is seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from handrail.decide.certificate.certify import Certificate
from handrail.decide.certificate.claims import allowed
from handrail.decide.certificate.declaration import differences
from handrail.decide.certificate.episode import Ended
from handrail.decide.certificate.eprocess import anytime_upper
from handrail.decide.certificate.log import now
from handrail.decide.certificate.setting import Setting
from handrail.decide.drift import streams as names
from handrail.decide.drift.detector import Detector
from handrail.decide.drift.streams import Stream, meaning
from handrail.errors import ConfigError, ParseError

MEAN_TASKS_TO_FALSE_ALARM = 10_000.0


class Cause(StrEnum):
    """Why a certificate is suspended."""

    ALARM = "alarm"
    """A stream's rate has risen."""
    COMPONENT = "component"
    """A part of the system is another one than was tested."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """The certificate holds no longer.

    Attributes:
        cause: alarm or component.
        stream: the stream that changed; "" for a component.
        at: the task after which it was noticed, from 1.
        since: the task since about when; 0 when unknown.
        sentence: what happened and what to do, for people.
        episodes: new episodes that a new certificate needs.
        when: ISO 8601 time.
    """

    cause: Cause
    stream: str
    at: int
    since: int
    sentence: str
    episodes: int
    when: str

    def __post_init__(self) -> None:
        """Refuse a sentence that claims what can't be known.

        Raises:
            ForbiddenClaimError: it does.
        """
        allowed(self.sentence)


@dataclass(frozen=True)
class TaskReport:
    """What is known for free after a deployed task.

    Attributes:
        id: the run.
        ended: how it ended.
        asked: a question was put to the person during it.
        first_tries: per skill, whether each first try failed, in order.
        components: the running system's hashes; compared when given.
    """

    id: str
    ended: Ended
    asked: bool
    first_tries: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    components: Mapping[str, str] | None = None


@dataclass
class Monitor:
    """Detectors over all streams, and the certificate's present state.

    Attributes:
        certificate: what is watched.
        streams: the watched rates.
        mean_tasks: mean number of tasks to a false alarm for all streams together, at least.
        tasks: deployed tasks so far.
        suspension: why the certificate does not hold; None while it does.
        audits: (audited, silent failures, task failures, done) so far.
    """

    certificate: Certificate
    streams: tuple[Stream, ...]
    mean_tasks: float = MEAN_TASKS_TO_FALSE_ALARM
    tasks: int = 0
    suspension: Suspension | None = None
    audits: tuple[int, int, int, int] = (0, 0, 0, 0)
    _detectors: dict[str, Detector] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Set up one detector per stream, each with its share of the false-alarm budget.

        Raises:
            ConfigError: no streams, one twice, or nothing certified.
        """
        if self.certificate.setting is None:
            raise ConfigError("nothing is certified, so there is nothing to watch")
        if not self.streams or len({s.name for s in self.streams}) != len(self.streams):
            raise ConfigError("a monitor needs at least one stream, each once")
        for stream in self.streams:
            budget = self.mean_tasks * len(self.streams) * stream.per_task
            self._detectors.setdefault(stream.name, Detector(stream.unchanged, budget))

    @property
    def holds(self) -> bool:
        """No alarm and no changed component so far. It does not say that nothing has changed."""
        return self.suspension is None

    @property
    def setting(self) -> Setting:
        """What to run with: the chosen setting while the certificate holds, the strictest accepted one after."""
        chosen = self.certificate.setting if self.holds else self.certificate.strictest
        assert chosen is not None  # the constructor refused a certificate without a setting
        return chosen

    def task(self, report: TaskReport) -> Suspension | None:
        """Take a finished task; the suspension if there is one now."""
        self.tasks += 1
        if report.components is not None:
            self.running(report.components)
        self._feed(names.HAND_OVER, report.ended is not Ended.DONE)
        self._feed(names.ASK, report.asked)
        for skill, failures in report.first_tries.items():
            for failed in failures:
                self._feed(names.FIRST_TRY + skill, failed)
        return self.suspension

    def audit(self, ended: Ended, as_meant: bool | None) -> Suspension | None:
        """Take an audit of a task drawn by an `AuditPlan`; one that was not carried out counts as lost."""
        done = ended is Ended.DONE
        silent = done and as_meant is not True
        lost = not done or silent
        n, s, t, d = self.audits
        self.audits = (n + 1, s + silent, t + lost, d + done)
        self._feed(names.SILENT, silent)
        self._feed(names.TASK, lost)
        if done:
            self._feed(names.WRONG_GIVEN_DONE, silent)
        return self.suspension

    def check_answer(self, wrong: bool) -> Suspension | None:
        """Take the answer to a check question."""
        self._feed(names.CHECK_ERROR, wrong)
        return self.suspension

    def complaint(self, complained: bool) -> Suspension | None:
        """Take, once per task when its time for complaints is over, whether somebody complained."""
        self._feed(names.COMPLAINT, complained)
        return self.suspension

    def running(self, components: Mapping[str, str]) -> Suspension | None:
        """Compare the running system with the certified one; any difference suspends at once."""
        changed = differences(self.certificate.declaration.components, components)
        if changed and self.suspension is None:
            n = self._episodes()
            self.suspension = Suspension(
                Cause.COMPONENT,
                "",
                self.tasks,
                self.tasks,
                f"The certificate is suspended: {'; '.join(changed)}. It was made for another system; the robot now "
                f"asks and hands over as cautiously as it can. A new certificate needs {n} new episodes.",
                n,
                now(),
            )
        return self.suspension

    def bounds(self, delta: float = 0.05) -> dict[str, float]:
        """Anytime-valid upper bounds of the deployed risks from audits, together at level 1 - `delta`.

        Keys `silent`, `task`, `wrong_given_done`. They bound a *constant* risk; after a change only the alarm counts.
        """
        n, s, t, d = self.audits
        each = delta / 3
        return {
            "silent": anytime_upper(s, n, each) if n else 1.0,
            "task": anytime_upper(t, n, each) if n else 1.0,
            "wrong_given_done": anytime_upper(s, d, each) if d else 1.0,
        }

    def _episodes(self) -> int:
        return self.certificate.declaration.episodes * max(1, len(self.certificate.declaration.groups))

    def _feed(self, stream: str, event: bool) -> None:
        detector = self._detectors.get(stream)
        if detector is None:
            return
        if detector.add(float(event), max(1, self.tasks)) and self.suspension is None:
            since = detector.changed_at
            n = self._episodes()
            self.suspension = Suspension(
                Cause.ALARM,
                stream,
                self.tasks,
                since,
                f"The certificate is suspended: {meaning(stream)}, since about task {since} (noticed at task "
                f"{self.tasks}). The robot now runs with its most cautious accepted setting. Find out what changed; "
                f"a new certificate needs {n} new episodes.",
                n,
                now(),
            )

    def to_json(self) -> str:
        """The monitor's state, to go on from after a restart."""
        body: dict[str, Any] = {
            "certificate": json.loads(self.certificate.to_json()),
            "streams": [asdict(s) for s in self.streams],
            "mean_tasks": self.mean_tasks,
            "tasks": self.tasks,
            "suspension": None if self.suspension is None else asdict(self.suspension),
            "audits": self.audits,
            "detectors": {name: asdict(d) for name, d in self._detectors.items()},
        }
        return json.dumps(body, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """Read a state written by `to_json`.

        Raises:
            ParseError: it is not of this format.
        """
        try:
            body = json.loads(text)
            kept = body["suspension"]
            return cls(
                certificate=Certificate.from_json(json.dumps(body["certificate"])),
                streams=tuple(Stream(**s) for s in body["streams"]),
                mean_tasks=body["mean_tasks"],
                tasks=body["tasks"],
                suspension=None if kept is None else Suspension(**{**kept, "cause": Cause(kept["cause"])}),
                audits=tuple(body["audits"]),
                _detectors={n: Detector(**{**d, "odds": tuple(d["odds"])}) for n, d in body["detectors"].items()},
            )
        except (ValueError, KeyError, TypeError) as error:
            raise ParseError(f"not the state of a monitor: {error}") from error
