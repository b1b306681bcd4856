"""A certified robot at work: the monitor, which tasks are audited, and what is still to be audited, on disk.

monitor.json    the detectors' state and the suspension, if there is one
deployed.json   the audit plan, runs taken so far, audits still to be carried out
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.decide.certificate.certify import Certificate
from handrail.decide.certificate.episode import Ended, Episode
from handrail.decide.certificate.runs import RunFacts
from handrail.decide.drift.audit import AuditPlan
from handrail.decide.drift.monitor import Monitor, Suspension, TaskReport
from handrail.decide.drift.streams import streams_of
from handrail.errors import ConfigError, ParseError, StoreError, Where


class Deployment:
    """Feeds finished runs to the monitor, once each, and keeps count of audits.

    Attributes:
        folder: the certificate's folder.
        monitor: its state.
        plan: which tasks are audited.
        runs: ids of the runs taken so far, in order.
        pending: run id -> how it ended, for audits still to be carried out.
    """

    def __init__(self, folder: Path) -> None:
        """Read the state of a deployment that was begun.

        Raises:
            ConfigError: none was begun in this folder.
            ParseError: its state can't be read.
        """
        self.folder = folder
        if not (folder / "deployed.json").exists():
            raise ConfigError(f"no deployment was begun in {folder} (handrail certificate deploy)")
        try:
            body = json.loads((folder / "deployed.json").read_text(encoding="utf-8"))
            self.plan = AuditPlan(**body["plan"])
            self.runs: list[str] = list(body["runs"])
            self.pending = {str(k): Ended(v) for k, v in body["pending"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise ParseError(f"not the state of a deployment: {error}", Where(str(folder / "deployed.json"))) from error
        self.monitor = Monitor.from_json((folder / "monitor.json").read_text(encoding="utf-8"))

    @classmethod
    def begin(
        cls,
        folder: Path,
        certificate: Certificate,
        episodes: Sequence[Episode],
        plan: AuditPlan,
        checks: tuple[int, int] | None = None,
    ) -> Deployment:
        """Start watching a certified setting.

        Args:
            folder: where the state is kept.
            certificate: with a chosen setting.
            episodes: the episodes it was made from, for the baselines.
            plan: of the audits.
            checks: (wrong, asked) check questions so far.

        Raises:
            ConfigError: nothing is certified, or a deployment was begun here before.
        """
        if (folder / "deployed.json").exists():
            raise ConfigError(f"a deployment was begun in {folder} already; a new certificate gets a new folder")
        monitor = Monitor(certificate, streams_of(certificate, episodes, checks=checks, audit_share=plan.share))
        made = cls.__new__(cls)
        made.folder, made.monitor, made.plan, made.runs, made.pending = folder, monitor, plan, [], {}
        made.save()
        return made

    def task(
        self, run: str, facts: RunFacts, components: Mapping[str, str] | None = None
    ) -> tuple[bool, Suspension | None]:
        """Take a finished run; whether it is to be audited, and the suspension if there is one now.

        Raises:
            ConfigError: the run was taken before.
        """
        if run in self.runs:
            raise ConfigError(f"run '{run}' was taken before; each counts once")
        self.runs.append(run)
        # Only counts of first tries are known, which is all that a rate needs.
        tries = {s: [True] * failed + [False] * (tried - failed) for s, (failed, tried) in facts.first_tries.items()}
        found = self.monitor.task(TaskReport(run, facts.ended, facts.asks > 0, tries, components))
        audited = self.plan.audited(len(self.runs))
        if audited and facts.ended is Ended.DONE:
            self.pending[run] = facts.ended
        elif audited:
            found = self.monitor.audit(facts.ended, None)  # not done: its truth changes no loss
        self.save()
        return audited and run in self.pending, found

    def audit(self, run: str, as_meant: bool | None) -> Suspension | None:
        """Take the result of an audit; None where it could not be carried out, which counts as lost.

        Raises:
            ConfigError: no audit of this run is pending.
        """
        if run not in self.pending:
            raise ConfigError(f"no audit of run '{run}' is pending. Pending: {', '.join(self.pending) or 'none'}")
        found = self.monitor.audit(self.pending.pop(run), as_meant)
        self.save()
        return found

    def save(self) -> None:
        """Write the state; each file is replaced as a whole.

        Raises:
            StoreError: it can't be written.
        """
        body: dict[str, Any] = {
            "plan": {"seed": self.plan.seed, "share": self.plan.share, "first": self.plan.first},
            "runs": self.runs,
            "pending": {k: str(v) for k, v in self.pending.items()},
        }
        try:
            for name, text in (
                ("monitor.json", self.monitor.to_json()),
                ("deployed.json", json.dumps(body, indent=1) + "\n"),
            ):
                fresh = self.folder / f".{name}.new"
                fresh.write_text(text, encoding="utf-8")
                fresh.replace(self.folder / name)
        except OSError as error:
            raise StoreError(f"can't write the deployment's state in {self.folder}: {error}") from error
