"""What is watched after deployment, and from which rate on a stream counts as changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handrail.decide.certificate.binomial import check_share
from handrail.decide.certificate.certify import Certificate
from handrail.decide.certificate.episode import Episode
from handrail.decide.certificate.replay import replay
from handrail.errors import ConfigError
from handrail.numbers import upper_bound

HAND_OVER = "hand-over"
ASK = "ask"
SILENT = "audited silent failure"
TASK = "audited task failure"
WRONG_GIVEN_DONE = "audited wrong although done"
CHECK_ERROR = "wrong answers to check questions"
COMPLAINT = "complaints"
FIRST_TRY = "first try failed: "

MEANINGS: Mapping[str, str] = {
    HAND_OVER: "the robot hands over more often",
    ASK: "the robot asks more often",
    SILENT: "more tasks end as done without being what was meant",
    TASK: "fewer tasks end as meant",
    WRONG_GIVEN_DONE: "'done' is wrong more often",
    CHECK_ERROR: "people answer the robot's questions wrongly more often",
    COMPLAINT: "people complain more often",
}


def meaning(stream: str) -> str:
    """A clause on what a change in this stream is."""
    if stream.startswith(FIRST_TRY):
        return f"the skill '{stream.removeprefix(FIRST_TRY)}' fails more often on its first try"
    return MEANINGS.get(stream, f"the rate of '{stream}' has gone up")


@dataclass(frozen=True, slots=True)
class Stream:
    """One watched rate.

    Attributes:
        name: which.
        unchanged: the largest rate that counts as unchanged, in (0, 1).
        per_task: observations per task, where known by design (the audit share); in (0, 1]. The false-alarm budget is
            in tasks, so a stream that is seen in one task of ten may alarm on ten times less evidence.
    """

    name: str
    unchanged: float
    per_task: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a rate outside (0, 1) and a frequency outside (0, 1].

        Raises:
            ConfigError: as above.
        """
        check_share(f"the unchanged rate of '{self.name}'", self.unchanged)
        if not 0 < self.per_task <= 1:
            raise ConfigError(f"'{self.name}' is seen in a share of tasks in (0, 1], got {self.per_task}")


def baseline(name: str, events: int, trials: int, delta: float = 0.01, per_task: float = 1.0) -> Stream:
    """A stream whose unchanged rate is the exact upper bound from earlier counts, so that luck is no change.

    Raises:
        ConfigError: every trial was an event, or there was none: a rise can't be seen.
    """
    if trials < 1 or events >= trials:
        raise ConfigError(f"'{name}' has {events} events in {trials} trials: no rise above that could be seen")
    return Stream(name, upper_bound(events, trials, delta), per_task)


def streams_of(
    certificate: Certificate,
    episodes: Sequence[Episode],
    *,
    checks: tuple[int, int] | None = None,
    complaints: tuple[int, int] | None = None,
    audit_share: float = 1.0,
    delta: float = 0.01,
) -> tuple[Stream, ...]:
    """The streams to watch under a certificate, with baselines from its own episodes.

    Audited silent and task failure alarm against the certified limits themselves; the others against exact upper
    bounds of what was seen. First-try streams come from the episodes' `first_tries`.

    Args:
        certificate: with a chosen setting.
        episodes: the episodes it was made from.
        checks: (wrong, asked) check questions so far; no such stream without them.
        complaints: (complaints, tasks) so far; no such stream without them.
        audit_share: the share of tasks that will be audited.
        delta: chance, per stream, that a baseline is too low.

    Raises:
        ConfigError: nothing is certified.
    """
    if certificate.setting is None:
        raise ConfigError("nothing is certified, so there is nothing whose end could be told")
    losses = replay([certificate.setting], episodes)
    n = losses.task.shape[1]
    silent, task, asked = int(losses.silent.sum()), int(losses.task.sum()), int(losses.asked.sum())
    limits = certificate.declaration.limits
    streams = [Stream(SILENT, limits.silent, audit_share), Stream(TASK, limits.task, audit_share)]
    counts: list[tuple[str, int, int]] = [
        (HAND_OVER, task - silent, n),
        (ASK, asked, n),
    ]
    done = n - task + silent
    if silent < done:
        streams.append(baseline(WRONG_GIVEN_DONE, silent, done, delta, audit_share))
    if checks is not None:
        counts.append((CHECK_ERROR, *checks))
    if complaints is not None:
        counts.append((COMPLAINT, *complaints))
    tries: dict[str, list[int]] = {}
    for episode in episodes:
        for skill, (failed, tried) in episode.first_tries.items():
            total = tries.setdefault(skill, [0, 0])
            total[0], total[1] = total[0] + failed, total[1] + tried
    counts += [(FIRST_TRY + skill, failed, tried) for skill, (failed, tried) in sorted(tries.items())]
    # A stream that was always on (for instance: asks in every task) can't rise, so it is left out.
    streams += [baseline(name, k, m, delta) for name, k, m in counts if 0 <= k < m]
    return tuple(streams)
