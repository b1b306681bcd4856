"""A calibration: its scores, what they were made with, and the threshold that follows from them.

It is a small JSON file. What was scored how is part of it: a decision with another model, prompt, temperature,
option generator or skill list than the calibration's is refused, and the refusal names what changed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from handrail.decide.adaptive import LAC, Method
from handrail.decide.conformal import INFINITY, Floats, at_rank, usable
from handrail.decide.rank import Level, Rank, exact, minimum_n, rank
from handrail.decide.weighted import effective_size, valid_weights, weighted_threshold
from handrail.domain.option import Fingerprint
from handrail.errors import ConfigError, ParseError, StaleError, Where

FORMAT, VERSION = "handrail-calibration", 1
Unit = Literal["step", "episode"]


@dataclass(frozen=True, slots=True)
class Joint:
    """A threshold under which both limits hold, unless the calibration was unlucky (probability delta).

    Attributes:
        threshold: the largest nonconformity that stays in the set.
        miss: accepted share of misses.
        help: accepted share of requests that are asked about.
        delta: accepted probability of an unlucky calibration.
    """

    threshold: float
    miss: float
    help: float
    delta: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibration scores with everything needed to decide on them.

    Attributes:
        scores: one per case (or per episode), shape (n,); infinity where the right option had no usable score.
        epsilon: accepted share of misses.
        delta: None for the marginal guarantee; else the accepted probability of an unlucky calibration.
        fingerprint: what the scores depend on.
        temperature: of the softmax over options; part of the fingerprint, as "temperature".
        method: the nonconformity.
        unit: what one score stands for: a single step, or the strangest step of an episode.
        groups: the group of each score (ambiguity type, user, site), or None for one pool.
        minimum_group: a group with fewer scores always asks; None for as many as the level needs.
        weights: for known shift or audited labels, or None.
        joint: a threshold that keeps a joint limit on misses and help, in place of the rank's (see `limits`).
        notes: plain facts for people: date, command, domain, counts.
    """

    scores: Floats
    epsilon: Fraction
    delta: Fraction | None = None
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    temperature: float = 1.0
    method: Method = LAC
    unit: Unit = "step"
    groups: tuple[str, ...] | None = None
    minimum_group: int | None = None
    weights: Floats | None = None
    joint: Joint | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def make(
        cls,
        scores: Sequence[float] | Floats,
        epsilon: Level,
        delta: Level | None = None,
        **more: Any,
    ) -> Calibration:
        """From raw scores and levels; checks that the level can be met.

        Raises:
            ConfigError: bad scores or levels, or too few cases for (epsilon, delta).
        """
        values = usable(scores)
        values.setflags(write=False)
        more["temperature"] = float(more.get("temperature", 1.0))
        if more.get("weights") is not None:
            more["weights"] = valid_weights(more["weights"], values.size)
        if more.get("groups") is not None:
            more["groups"] = tuple(more["groups"])
        made = cls(values, exact(epsilon), None if delta is None else exact(delta, "delta"), **more)
        made._validate()
        return made

    def _validate(self) -> None:
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise ConfigError(f"temperature must be positive and finite, got {self.temperature}")
        if self.unit not in ("step", "episode"):
            raise ConfigError(f"a calibration's unit is 'step' or 'episode', got {self.unit!r}")
        if self.groups is not None and len(self.groups) != self.scores.size:
            raise ConfigError(f"{len(self.groups)} groups for {self.scores.size} scores")
        if self.weights is not None and self.delta is not None:
            raise ConfigError("weighted calibrations have the marginal guarantee only; leave delta out")
        if self.weights is not None and self.groups is not None:
            raise ConfigError("weights and groups can't be combined; weight within each group's own calibration")
        if self.joint is not None and (self.groups is not None or self.weights is not None):
            raise ConfigError("a joint limit goes with neither groups nor weights")
        if self.groups is None and self.joint is None:
            _ = self.rank

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return int(self.scores.size)

    @cached_property
    def rank(self) -> Rank:
        """The pooled rank, with what it promises."""
        return rank(self.n, self.epsilon, self.delta)

    @cached_property
    def _by_group(self) -> dict[str, float]:
        if self.groups is None:
            return {}
        names = np.array(self.groups)
        out = {}
        for name in sorted(set(self.groups)):
            own = self.scores[names == name]
            out[name] = at_rank(own, rank(own.size, self.epsilon, self.delta)) if own.size >= self.guard else INFINITY
        return out

    @cached_property
    def guard(self) -> int:
        """Fewest scores with which a group gets a threshold of its own."""
        needed = minimum_n(self.epsilon, self.delta)
        return needed if self.minimum_group is None else max(needed, self.minimum_group)

    @cached_property
    def _pooled(self) -> float:
        if self.joint is not None:
            return self.joint.threshold
        if self.weights is not None:
            return weighted_threshold(self.scores, self.weights, float(self.weights.max()), self.epsilon)
        return at_rank(self.scores, self.rank)

    def threshold(self, group: str | None = None, weight: float | None = None) -> float:
        """The largest nonconformity that stays in the set.

        Args:
            group: the new case's group; needed where the calibration has groups. A group that is unknown, or
                smaller than the guard, gives infinity: ask.
            weight: the new case's weight, where the calibration has weights; None takes the largest of the
                calibration's, which errs towards asking.

        Raises:
            ConfigError: a group or weight for a calibration without, or no group for one with.
        """
        if self.groups is not None:
            if group is None:
                raise ConfigError(f"this calibration has groups; say which: {', '.join(sorted(set(self.groups)))}")
            return self._by_group.get(group, INFINITY)
        if group is not None:
            raise ConfigError(f"this calibration has no groups, so '{group}' can't be promised anything of its own")
        if weight is not None:
            if self.weights is None:
                raise ConfigError("this calibration has no weights")
            return weighted_threshold(self.scores, self.weights, weight, self.epsilon)
        return self._pooled

    def at(self, epsilon: Level, delta: Level | None = None) -> Calibration:
        """The same scores at another level.

        Raises:
            ConfigError: the level can't be met; the message names how many cases would do.
        """
        made = replace(self, joint=None, epsilon=exact(epsilon), delta=None if delta is None else exact(delta, "delta"))
        made._validate()
        return made

    def require(self, now: Fingerprint) -> None:
        """Refuse to decide with anything else than what was calibrated.

        Raises:
            StaleError: names each part that changed.
        """
        if self.fingerprint.parts == now.parts:
            return
        changed = self.fingerprint.changes(now)
        if changed:
            raise StaleError(
                "the calibration doesn't fit what is running: " + "; ".join(changed)
                + ". Calibrate again: handrail calibrate"
            )

    def promise(self) -> str:
        """What may be claimed, and what not, in words."""
        what = "all steps of an episode" if self.unit == "episode" else "a step"
        if self.joint is not None:
            first = (
                f"the right option is missing in at most {self.joint.miss:.3g} of cases and a person is asked in at most "
                f"{self.joint.help:.3g}, unless this calibration of {self.n} was unlucky (probability at most "
                f"{self.joint.delta:.3g})"
            )
        elif self.weights is not None:
            share, size = float(1 - self.epsilon), effective_size(self.weights)
            first = (
                f"on average over calibrations the right option is in the set in at least {share:.3g} of cases, as "
                f"far as the weights are right ({self.n} cases, worth {size:.0f} equally weighted ones)"
            )
        elif self.groups is not None:
            sizes = {g: self.groups.count(g) for g in sorted(set(self.groups))}
            small = [g for g, n in sizes.items() if n < self.guard]
            how = "on average over calibrations"
            if self.delta is not None:
                how = f"unless its part was unlucky ({float(self.delta):.3g})"
            listed = ", ".join(f"{g}: {n}" for g, n in sizes.items())
            first = (
                f"within each group ({listed}), {how}, the right option is in the set in at least "
                f"{float(1 - self.epsilon):.3g} of cases"
            )
            if small:
                first += f"; always asks in {', '.join(small)} (fewer than {self.guard} cases)"
        else:
            first = self.rank.sentence()
        return (
            f"For {what}: {first}. It holds for requests like those calibrated on, with the same model, prompt, "
            "temperature, option generator and skills. It doesn't cover execution, perception or a wrong answer."
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data; infinity is the text "inf"."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "epsilon": str(self.epsilon),
            "delta": None if self.delta is None else str(self.delta),
            "unit": self.unit,
            "temperature": self.temperature,
            "method": {"name": self.method.name, "penalty": self.method.penalty, "free_rank": self.method.free_rank},
            "counts": {"cases": self.n, "right option without a score": int(np.isinf(self.scores).sum())},
            "fingerprint": dict(self.fingerprint.parts),
            "notes": dict(self.notes),
            "scores": ["inf" if math.isinf(s) else s for s in self.scores.tolist()],
        }
        if self.groups is not None:
            body["groups"], body["minimum_group"] = list(self.groups), self.minimum_group
        if self.weights is not None:
            body["weights"] = self.weights.tolist()
        if self.joint is not None:
            limit = self.joint.threshold
            body["joint"] = {**asdict(self.joint), "threshold": "inf" if math.isinf(limit) else limit}
        return body

    @cached_property
    def digest(self) -> str:
        """sha256 over the canonical JSON without its notes; names the calibration in a run's record."""
        body = {k: v for k, v in self.to_json().items() if k != "notes"}
        return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def save(self, path: Path) -> Path:
        """Write the file; returns its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**self.to_json(), "digest": self.digest}, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read a calibration file.

        Raises:
            ParseError: not a calibration, of another version, damaged, or changed by hand.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ParseError(f"can't read the calibration: {error.strerror}", Where(str(path))) from error
        try:
            body = json.loads(text, object_pairs_hook=_no_duplicates)
        except (json.JSONDecodeError, ConfigError) as error:
            line = getattr(error, "lineno", 0)
            raise ParseError(f"not a calibration file: {error}", Where(str(path), line)) from error
        return cls.from_json(body, str(path))

    @classmethod
    def from_json(cls, body: Any, source: str = "") -> Calibration:
        """From plain data, as `to_json` gives it.

        Raises:
            ParseError: see `load`.
        """
        where = Where(source)
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise ParseError(f"not a calibration: \"format\" must be \"{FORMAT}\"", where)
        if body.get("version") != VERSION:
            raise ParseError(f"calibration of version {body.get('version')!r}; valid here: {VERSION}", where)
        try:
            scores = [_number(s) for s in body["scores"]]
            made = cls.make(
                scores,
                body["epsilon"],
                body["delta"],
                fingerprint=Fingerprint.of(body["fingerprint"]),
                temperature=float(body["temperature"]),
                method=Method(**body["method"]),
                unit=body["unit"],
                groups=body.get("groups"),
                minimum_group=body.get("minimum_group"),
                weights=body.get("weights"),
                joint=_joint(body.get("joint")),
                notes=body.get("notes", {}),
            )
        except KeyError as error:
            raise ParseError(f"the calibration has no {error}", where) from error
        except (TypeError, ValueError, ConfigError) as error:
            raise ParseError(f"damaged calibration: {error}", where) from error
        if "digest" in body and body["digest"] != made.digest:
            raise ParseError("the calibration was changed after it was made: its digest doesn't fit its content", where)
        return made


def _joint(body: Any) -> Joint | None:
    if body is None:
        return None
    shares = [float(body[k]) for k in ("miss", "help", "delta")]
    if not all(0 < s < 1 for s in shares):
        raise ValueError(f"a joint limit's shares lie between 0 and 1, got {shares}")
    return Joint(_number(body["threshold"]), *shares)


def _number(value: Any) -> float:
    if value == "inf":
        return INFINITY
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a score must be a finite number or \"inf\", got {value!r}")
    return float(value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ConfigError(f"'{key}' stands twice")
        out[key] = value
    return out
