"""What is written down before any episode is run: limits, chance of error, episodes, knobs, order, judge, attempts.

A certificate is a statement about a *procedure*. It holds only where the procedure was fixed beforehand, so the
declaration is sealed with a hash that the episode log and the certificate carry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from handrail.decide.certificate.binomial import check_share, minimum_episodes
from handrail.decide.certificate.eprocess import first_certifying
from handrail.decide.certificate.setting import Setting, collecting
from handrail.errors import ConfigError, ParseError, StaleError, Where

MOST_SETTINGS = 300


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest accepted shares of tasks: `silent` (said done, was not as meant), `task` (not done as meant)."""

    silent: float
    task: float

    def __post_init__(self) -> None:
        """Refuse shares outside (0, 1) and a silent limit above the task limit.

        Raises:
            ConfigError: as above.
        """
        check_share("the limit on silent failure", self.silent)
        check_share("the limit on task failure", self.task)
        if self.silent > self.task:
            raise ConfigError(
                f"a silent failure is a task failure too, so its limit ({self.silent:g}) can't be above "
                f"the limit on task failure ({self.task:g})"
            )


@dataclass(frozen=True, slots=True)
class EarlierAttempt:
    """An earlier declaration for the same purpose: its seal, what it spent of delta, what came of it."""

    seal: str
    spent: float
    result: str


@dataclass(frozen=True)
class Declaration:
    """Everything that has to be fixed before data is seen.

    Attributes:
        name: what is certified, for people.
        place: where the episodes run (a room, a lab, the simulator's name).
        population: which tasks, in words: the certificate is about the average over tasks like these.
        limits: the accepted risks.
        delta: chance of a false certificate for all attempts together, in (0, 1).
        share: what this attempt spends of delta.
        earlier: the attempts before this one.
        episodes: how many episodes count; in sequential mode the most that will be run.
        mode: "fixed" tests once, after all episodes; "sequential" may be looked at after each.
        procedure: "starts" (fixed sequences), "graphical" (the same orders as a graph) or "bonferroni".
        settings: the candidates.
        starts: for "starts" and "graphical": the orders in which settings are tested, as indices.
        judge: who or what judges the truth, and how, apart from the robot.
        clusters: what a cluster is here (a room, a person, a day).
        groups: parts of the population that are certified apart, each with its share of delta; () for none.
        world: "simulated" or "real".
        people: "simulated" or "real": who answered the questions.
        components: name -> hash of every part that is frozen (model, prompt, skills, verifier, simulator ...).
        made: ISO 8601 time.
    """

    name: str
    place: str
    population: str
    limits: Limits
    settings: tuple[Setting, ...]
    judge: str
    clusters: str
    world: Literal["simulated", "real"]
    people: Literal["simulated", "real"]
    components: Mapping[str, str]
    made: str
    delta: float = 0.05
    share: float = 0.05
    earlier: tuple[EarlierAttempt, ...] = ()
    episodes: int = 720
    mode: Literal["fixed", "sequential"] = "fixed"
    procedure: Literal["starts", "graphical", "bonferroni"] = "starts"
    starts: tuple[tuple[int, ...], ...] = ()
    groups: tuple[str, ...] = ()
    version: int = field(default=1)

    def __post_init__(self) -> None:
        """Refuse what could not be tested, with the reason.

        Raises:
            ConfigError: too few episodes to ever pass, delta overspent, an order that names no setting ...
        """
        for name in ("name", "place", "population", "judge", "clusters"):
            if not str(getattr(self, name)).strip():
                raise ConfigError(f"the declaration must say its {name}")
        check_share("delta", self.delta)
        check_share("this attempt's share of delta", self.share)
        spent = sum(a.spent for a in self.earlier)
        if spent + self.share > self.delta + 1e-12:
            raise ConfigError(
                f"{len(self.earlier)} earlier attempts spent {spent:g} of delta {self.delta:g}; {self.share:g} more is "
                f"too much. Either declare a larger delta for all attempts together (at least {spent + self.share:g}), "
                f"or spend at most {max(0.0, self.delta - spent):g} here"
            )
        if not self.settings or len(set(self.settings)) != len(self.settings):
            raise ConfigError("a declaration needs at least one setting, each once")
        if len(self.settings) > MOST_SETTINGS:
            raise ConfigError(f"{len(self.settings)} settings are too many to test well; at most {MOST_SETTINGS}")
        if self.procedure != "bonferroni":
            self._check_orders()
        if len(set(self.groups)) != len(self.groups):
            raise ConfigError("each group can be named once")
        self._check_episodes()

    def _check_orders(self) -> None:
        if not self.starts or any(not order for order in self.starts):
            raise ConfigError(f"procedure '{self.procedure}' needs at least one order of settings, none of them empty")
        for order in self.starts:
            if len(set(order)) != len(order) or not all(0 <= i < len(self.settings) for i in order):
                raise ConfigError(
                    f"an order must name each setting at most once, by an index 0..{len(self.settings) - 1}"
                )

    def _check_episodes(self) -> None:
        least = self.least_episodes
        if self.episodes < least:
            tightest = min(self.limits.silent, self.limits.task)
            raise ConfigError(
                f"{self.episodes} episodes can't certify a limit of {tightest:g} at level {self.level:g}: even without "
                f"one failure at least {least} are needed"
            )

    @property
    def level(self) -> float:
        """The level at which a single setting is tested first: share / groups / starts (or / settings)."""
        per_group = self.share / max(1, len(self.groups))
        return per_group / (len(self.settings) if self.procedure == "bonferroni" else len(self.starts))

    @property
    def least_episodes(self) -> int:
        """The smallest N (per group) that could pass, if no episode were lost."""
        tightest = min(self.limits.silent, self.limits.task)
        if self.mode == "fixed":
            return minimum_episodes(tightest, self.level)
        found = first_certifying(0, tightest, self.level)
        if found is None:
            raise ConfigError(f"no number of episodes up to a million could certify {tightest:g} at {self.level:g}")
        return found

    @property
    def collecting(self) -> Setting:
        """The setting under which the episodes are run, so that one set of them scores all settings."""
        return collecting(self.settings)

    @property
    def simulated(self) -> bool:
        """The world or the people were simulated: then the certificate is about the simulator."""
        return self.world == "simulated" or self.people == "simulated"

    @property
    def seal(self) -> str:
        """Hash of all that is declared."""
        body = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(body.encode()).hexdigest()[:24]

    def to_json(self) -> str:
        """The declaration as a file, with its seal."""
        return json.dumps({**asdict(self), "seal": self.seal}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "") -> Declaration:
        """Read a declaration file.

        Raises:
            ParseError: it is not of this format.
            StaleError: it was changed after it was sealed.
        """
        try:
            body: dict[str, Any] = json.loads(text)
            seal = body.pop("seal")
            known = {f.name for f in fields(cls)}
            if unknown := set(body) - known:
                raise ParseError(f"unknown fields {sorted(unknown)}", Where(source))
            declaration = TypeAdapter(cls).validate_python(body)
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
            raise ParseError(f"not a declaration: {error}", Where(source)) from error
        if declaration.seal != seal:
            raise StaleError(f"{source or 'the declaration'} was changed after it was sealed: it claims {seal}")
        return declaration


def next_share(delta: float, earlier: Sequence[EarlierAttempt], spending: Literal["all", "series"] = "all") -> float:
    """What the next attempt may spend of `delta`.

    "all" takes what is left (no further attempt is then possible at this delta); "series" takes
    delta / (j (j + 1)) for attempt j, which sums to delta however many attempts follow.

    Raises:
        ConfigError: nothing is left.
    """
    check_share("delta", delta)
    left = delta - sum(a.spent for a in earlier)
    j = len(earlier) + 1
    share = left if spending == "all" else min(left, delta / (j * (j + 1)))
    if share <= 1e-12:
        raise ConfigError(
            f"all of delta = {delta:g} is spent by {len(earlier)} earlier attempts. A new attempt has to share a larger "
            "delta with them, and the certificate's words will then say so"
        )
    return share


def differences(declared: Mapping[str, str], running: Mapping[str, str]) -> list[str]:
    """The components that are not as declared, each as a clause; empty when all fit."""
    found = [f"'{name}' is missing" for name in sorted(set(declared) - set(running))]
    found += [f"'{name}' is new" for name in sorted(set(running) - set(declared))]
    found += [
        f"'{name}' changed ({declared[name][:12]} -> {running[name][:12]})"
        for name in sorted(set(declared) & set(running))
        if declared[name] != running[name]
    ]
    return found
