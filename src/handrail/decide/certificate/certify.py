"""From episodes to a certificate: Learn-then-Test on the closed loop as a black box (Angelopoulos et al. 2021)."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from handrail.decide.certificate import testing
from handrail.decide.certificate.binomial import hoeffding_bentkus, minimum_episodes, p_value, required_episodes
from handrail.decide.certificate.declaration import Declaration, differences
from handrail.decide.certificate.episode import Ended, Episode
from handrail.decide.certificate.eprocess import p_process
from handrail.decide.certificate.log import now
from handrail.decide.certificate.replay import Losses, replay
from handrail.decide.certificate.setting import Setting, strictness_key
from handrail.errors import ConfigError, ParseError, StaleError, Where


class Status(StrEnum):
    """What came of a declaration."""

    CERTIFIED = "certified"
    """At least one setting met both limits."""
    NOT_CERTIFIED = "not certified"
    """None did: the robot asks and hands over, and claims nothing."""
    COLLECTING = "collecting"
    """Not all declared episodes are in, and looking early would void a fixed-N test."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was counted for one setting; `silent` and `task` may be fractions where clusters repeat."""

    silent: float
    task: float
    help: float
    p_silent: float
    p_task: float

    @property
    def p(self) -> float:
        """p-value for "some limit is broken"."""
        return max(self.p_silent, self.p_task)


@dataclass(frozen=True)
class Certificate:
    """The outcome of a declared procedure.

    Attributes:
        declaration: what was fixed beforehand.
        status: see `Status`.
        episodes: started episodes that were counted.
        units: independent units tested: episodes, or clusters where clusters repeat.
        clusters: different clusters seen.
        rows: per setting, in the declaration's order; empty while collecting.
        accepted: indices of settings that meet both limits.
        chosen: the accepted setting that helps least, as an index; None without one.
        blocked: the risk that kept the best setting from being accepted ("silent", "task"); "" otherwise.
        needed: episodes (units) that would give the best setting a 90 % chance at its estimated risks, None where
            no number would.
        reason: a sentence on why there is no certificate; "" where there is one.
        group: the part of the population, "" for all.
        first: time of the first episode.
        last: time of the last episode.
        made: when this was computed.
        done: runs that ended as done under the collecting setting, among `episodes`.
    """

    declaration: Declaration
    status: Status
    episodes: int
    units: int
    clusters: int
    rows: tuple[Row, ...] = ()
    accepted: tuple[int, ...] = ()
    chosen: int | None = None
    blocked: str = ""
    needed: int | None = None
    reason: str = ""
    group: str = ""
    first: str = ""
    last: str = ""
    made: str = ""
    done: int = 0

    @property
    def setting(self) -> Setting | None:
        """The setting to run with."""
        return None if self.chosen is None else self.declaration.settings[self.chosen]

    @property
    def strictest(self) -> Setting | None:
        """The most cautious accepted setting: where an alarm moves to."""
        pool = [self.declaration.settings[i] for i in self.accepted]
        return min(pool, key=strictness_key) if pool else None

    def require(self, components: Mapping[str, str]) -> None:
        """Refuse to be used for another system than the one that was tested.

        Raises:
            StaleError: a component differs; the message names which.
        """
        if changed := differences(self.declaration.components, components):
            raise StaleError(f"the certificate '{self.declaration.name}' is not for this system: {'; '.join(changed)}")

    def to_json(self) -> str:
        """The certificate as a file."""
        body: dict[str, Any] = asdict(self)
        body["declaration"] = json.loads(self.declaration.to_json())
        return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "") -> Certificate:
        """Read a certificate file.

        Raises:
            ParseError: it is not of this format.
            StaleError: its declaration was changed.
        """
        try:
            body = json.loads(text)
            declared = body.pop("declaration")
            rest = TypeAdapter(_Rest).validate_python(body)
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
            raise ParseError(f"not a certificate: {error}", Where(source)) from error
        declaration = Declaration.from_json(json.dumps(declared), source)
        values = {name: getattr(rest, name) for name in _Rest.__dataclass_fields__}
        return cls(declaration=declaration, **values)


@dataclass(frozen=True)
class _Rest:
    """The fields of a certificate besides its declaration, as they are in its file."""

    status: Status
    episodes: int
    units: int
    clusters: int
    rows: tuple[Row, ...]
    accepted: tuple[int, ...]
    chosen: int | None
    blocked: str
    needed: int | None
    reason: str
    group: str
    first: str
    last: str
    made: str
    done: int


def certify(
    declaration: Declaration, episodes: Sequence[Episode], *, group: str = "", missing_as_lost: bool = False
) -> Certificate:
    """Test every declared setting on the started episodes.

    Args:
        declaration: what was fixed before the episodes were run.
        episodes: *all* started episodes in the order of their starts. In fixed mode the first N count.
        group: which of the declared groups; "" where none are declared.
        missing_as_lost: in fixed mode, test although fewer than N were started, counting each missing one as lost.

    Raises:
        StaleError: an episode ran with other components than declared.
        ConfigError: an undeclared group, a repeated id, repeated clusters in sequential mode, or an episode that
            can't score a setting.
    """
    pool = _of_group(declaration, episodes, group)
    counted = pool[: declaration.episodes]
    for episode in counted:
        if changed := differences(declaration.components, episode.components):
            raise StaleError(f"episode '{episode.id}' ran on another system than declared: {'; '.join(changed)}")
    clusters = Counter(e.cluster for e in counted)
    base: dict[str, Any] = {
        "declaration": declaration,
        "episodes": len(counted),
        "clusters": len(clusters),
        "group": group,
        "first": counted[0].started if counted else "",
        "last": counted[-1].started if counted else "",
        "made": now(),
        "done": sum(e.ended is Ended.DONE for e in counted),
    }
    missing = declaration.episodes - len(counted)
    if declaration.mode == "fixed" and missing and not missing_as_lost:
        reason = (
            f"{len(counted)} of the {declaration.episodes} declared episodes were started; testing earlier would void "
            "the test"
        )
        return Certificate(**base, status=Status.COLLECTING, units=len(clusters), reason=reason)
    if not counted:
        return Certificate(**base, status=Status.COLLECTING, units=0, reason="no episode was started yet")
    losses = replay(declaration.settings, counted)
    rows, units = _rows(declaration, losses, counted, missing if declaration.mode == "fixed" else 0)
    return _judge(declaration, rows, {**base, "units": units})


def _of_group(declaration: Declaration, episodes: Sequence[Episode], group: str) -> list[Episode]:
    if group not in (declaration.groups or ("",)):
        valid = ", ".join(declaration.groups) or "none (leave it empty)"
        raise ConfigError(f"'{group}' is not a declared group; declared: {valid}")
    ids = Counter(e.id for e in episodes)
    if repeated := [i for i, n in ids.items() if n > 1]:
        raise ConfigError(f"episode ids must differ; repeated: {', '.join(repeated[:5])}")
    return [e for e in episodes if not declaration.groups or e.group == group]


def _rows(declaration: Declaration, losses: Losses, episodes: Sequence[Episode], missing: int) -> tuple[list[Row], int]:
    """Counts and p-values per setting, and the number of independent units."""
    names = [e.cluster for e in episodes]
    repeated = len(set(names)) < len(names)
    limits = declaration.limits
    help_share = losses.help.mean(axis=1)
    if declaration.mode == "sequential":
        if repeated:
            raise ConfigError(
                "the sequential test needs one episode per cluster; here clusters repeat "
                f"({len(set(names))} clusters in {len(names)} episodes). Declare a fixed number instead"
            )
        p_s = p_process(losses.silent, limits.silent)[:, -1]
        p_t = p_process(losses.task, limits.task)[:, -1]
        silent, task = losses.silent.sum(axis=1), losses.task.sum(axis=1)
        units = len(names)
    elif repeated:
        means_s, means_t = _cluster_means(losses.silent, names), _cluster_means(losses.task, names)
        units = means_s.shape[1] + missing
        silent, task = means_s.sum(axis=1) + missing, means_t.sum(axis=1) + missing
        p_s = hoeffding_bentkus(np.minimum(1.0, silent / units), units, limits.silent)
        p_t = hoeffding_bentkus(np.minimum(1.0, task / units), units, limits.task)
    else:
        units = len(names) + missing
        silent, task = losses.silent.sum(axis=1) + missing, losses.task.sum(axis=1) + missing
        p_s, p_t = p_value(silent, units, limits.silent), p_value(task, units, limits.task)
    columns = zip(silent, task, help_share, p_s, p_t, strict=True)
    return [Row(*(float(v) for v in row)) for row in columns], units


def _cluster_means(losses: NDArray[np.uint8], names: Sequence[str]) -> NDArray[np.float64]:
    _, index = np.unique(np.asarray(names), return_inverse=True)
    sizes = np.bincount(index)
    sums = np.zeros((losses.shape[0], sizes.size))
    np.add.at(sums.T, index, losses.T.astype(np.float64))
    return np.asarray(sums / sizes, dtype=np.float64)


def accept(declaration: Declaration, p_values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Indices of the settings that the declared procedure accepts at this group's share of delta."""
    delta = declaration.share / max(1, len(declaration.groups))
    p = np.asarray(p_values, dtype=np.float64)
    if declaration.procedure == "bonferroni":
        return testing.bonferroni(p, delta)
    if declaration.procedure == "starts":
        return testing.several_starts(p, declaration.starts, delta)
    weights, edges = order_graph(len(p), declaration.starts)
    return testing.graphical(p, weights, edges, delta)


def order_graph(size: int, starts: Sequence[Sequence[int]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The orders as a graph: each start gets an equal weight, an accepted setting hands its level to its followers."""
    weights, edges = np.zeros(size), np.zeros((size, size))
    for order in starts:
        weights[order[0]] += 1 / len(starts)
        for a, b in itertools.pairwise(order):
            edges[a, b] += 1.0
    totals = edges.sum(axis=1, keepdims=True)
    return weights, np.divide(edges, totals, out=np.zeros_like(edges), where=totals > 0)


def _judge(declaration: Declaration, rows: Sequence[Row], base: dict[str, Any]) -> Certificate:
    accepted = accept(declaration, [r.p for r in rows])
    if accepted:
        chosen = min(accepted, key=lambda i: (rows[i].help, rows[i].silent, i))
        return Certificate(**base, status=Status.CERTIFIED, rows=tuple(rows), accepted=tuple(accepted), chosen=chosen)
    blocked, needed, reason = _why_not(declaration, rows, base["units"])
    return Certificate(
        **base, status=Status.NOT_CERTIFIED, rows=tuple(rows), blocked=blocked, needed=needed, reason=reason
    )


def _why_not(declaration: Declaration, rows: Sequence[Row], units: int) -> tuple[str, int | None, str]:
    """Which risk blocked the setting that came nearest, and what number of episodes would probably do."""
    best = min(rows, key=lambda r: r.p)
    blocked = "silent" if best.p_silent >= best.p_task else "task"
    name = "silent failure" if blocked == "silent" else "task failure"
    lost = best.silent if blocked == "silent" else best.task
    limit = getattr(declaration.limits, blocked)
    where = f"{name} ({lost:g} of {units} at the setting that came nearest; limit {100 * limit:g} in 100)"
    level = declaration.level
    least = minimum_episodes(min(declaration.limits.silent, declaration.limits.task), level)
    if units < least:
        return blocked, least, f"only {units} independent units (clusters) were counted; at least {least} are needed"
    wanted = [
        required_episodes(limit_r, level, (lost_r + 0.5) / (units + 1), 0.95)
        for limit_r, lost_r in ((declaration.limits.silent, best.silent), (declaration.limits.task, best.task))
    ]
    if any(w is None for w in wanted):
        return blocked, None, f"blocked by {where}. At these shares no number of episodes would do"
    needed = max(max(w[0] for w in wanted if w is not None), declaration.episodes)
    return blocked, needed, f"blocked by {where}. With about {needed} new episodes it would probably pass"
