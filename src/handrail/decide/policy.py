"""Act, ask or refuse: what a prediction set means for a robot.

    one option, listed, not marked          act
    one option, and it is unsafe            refuse, with the reason
    one option, and it can't be done        ask, saying why
    several options                         ask the question that splits the set best
    not-listed alone, or nothing            ask openly; the answer goes back into the line as a request

An answer is no order: the option that a person picks is checked like any other proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from handrail.decide.calibration import Calibration
from handrail.decide.conformal import confidences
from handrail.decide.question import Question, best_question, open_question
from handrail.domain.option import Fingerprint, Option, Score, check_options
from handrail.errors import ConfigError

_MOST = 0.75


class Reason(StrEnum):
    """Why a decision is what it is."""

    SINGLE = "single"
    """One option is left, and nothing speaks against it."""
    SEVERAL = "several"
    """More than one option could be meant."""
    EMPTY = "empty"
    """No option is likely enough."""
    NOT_LISTED = "not-listed"
    """Only "something else" is left."""
    UNSCORED = "unscored"
    """The scores are unusable, so nothing could be left out."""
    IMPOSSIBLE = "impossible"
    """What is meant can't be done as things are."""
    UNSAFE = "unsafe"
    """What is meant would be dangerous."""


@dataclass(frozen=True)
class Decision:
    """What all three have in common.

    Attributes:
        reason: why, as a code.
        sentence: why, for a person.
        options: the prediction set, most likely first; the not-listed option included where it is in the set.
        probabilities: the options' probabilities, in that order; NaN where unscored.
        calibration: digest of the calibration it rests on.
        likely: where the set is empty, the listed options that make up most of the probability: not enough to be
            promised anything, but what to ask about.
    """

    reason: Reason
    sentence: str
    options: tuple[Option, ...]
    probabilities: tuple[float, ...] = field(default=(), repr=False)
    calibration: str = field(default="", repr=False)
    likely: tuple[tuple[Option, float], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Act(Decision):
    """Go on with the one option that is left."""

    @property
    def option(self) -> Option:
        """What to do."""
        return self.options[0]


@dataclass(frozen=True)
class Ask(Decision):
    """Ask a person."""

    @cached_property
    def question(self) -> Question:
        """What to ask; made when it is looked at."""
        if self.reason is Reason.IMPOSSIBLE:
            return open_question(f"{self.sentence} What should I do instead?")
        pairs = self.likely or tuple(zip(self.options, self.probabilities, strict=True))
        listed = [(o, w) for o, w in pairs if not o.is_not_listed]
        if not listed:
            return open_question("I am not sure what you mean. What would you like me to do?")
        safe = [(o, w) for o, w in listed if not o.unsafe and not o.impossible]
        if not safe:
            return open_question("None of what I could do here is safe and possible. What would you like me to do?")
        return best_question([o for o, _ in safe], [w for _, w in safe])


@dataclass(frozen=True)
class Refuse(Decision):
    """Don't do it, and say why."""


class Decider(Protocol):
    """Whoever turns scored options into a decision."""

    def decide(
        self, options: Sequence[Option], scores: Sequence[Score], calibration: Calibration
    ) -> Act | Ask | Refuse:
        """The decision for one list of options."""


def decide(
    options: Sequence[Option],
    scores: Sequence[Score],
    calibration: Calibration,
    *,
    context: Fingerprint | None = None,
    group: str | None = None,
    weight: float | None = None,
) -> Act | Ask | Refuse:
    """Act on a singleton, ask otherwise, refuse what is unsafe.

    Args:
        options: all options, the not-listed one included where the generator makes one.
        scores: one per option, in the same order, of one scale.
        calibration: what the promise rests on.
        context: parts of the fingerprint that the scorer doesn't know (option generator, skills, history).
        group: the case's group, for a calibration with groups.
        weight: the case's weight, for a calibration with weights.

    Raises:
        ConfigError: options and scores that don't fit together, a group missing.
        StaleError: model, prompt, generator or skills are not those calibrated; the message names what changed.
    """
    if len(options) != len(scores):
        raise ConfigError(f"{len(options)} options and {len(scores)} scores; need one score for each option")
    check_options(options)
    now = _provenance(scores)
    calibration.require(now.merged(context) if context is not None else now)
    probabilities = confidences(scores, calibration.temperature)
    limit = calibration.threshold(group, weight)
    kept = calibration.method.members(probabilities, limit)
    return read_set(options, probabilities, kept, calibration.digest)


def _provenance(scores: Sequence[Score]) -> Fingerprint:
    first = scores[0].provenance
    for score in scores:
        if score.provenance is not first and score.provenance != first:
            differ = "; ".join(first.changes(score.provenance))
            raise ConfigError(f"scores of one list come from different models or prompts: {differ}")
    return first


def read_set(
    options: Sequence[Option], probabilities: Sequence[float], kept: Sequence[int], calibration: str = ""
) -> Act | Ask | Refuse:
    """The decision that a prediction set stands for.

    Args:
        options: all options.
        probabilities: one per option; NaN where unscored.
        kept: indices of the set.
        calibration: what the set rests on, for the record.
    """
    unscored = any(p != p for p in probabilities)
    order = sorted(kept, key=lambda i: (-probabilities[i] if not unscored else 0.0, i))
    chosen = tuple(options[i] for i in order)
    shares = tuple(probabilities[i] for i in order)
    if unscored:
        return Ask(Reason.UNSCORED, "I could not weigh what you might mean, so I ask.", chosen, shares, calibration)
    if not chosen:
        likely = _likely(options, probabilities)
        return Ask(Reason.EMPTY, "No reading is likely enough.", chosen, shares, calibration, likely)
    if len(chosen) == 1:
        only = chosen[0]
        if only.is_not_listed:
            sentence = "What you mean seems to be none of the things I thought of."
            return Ask(Reason.NOT_LISTED, sentence, chosen, shares, calibration)
        if only.unsafe:
            return Refuse(Reason.UNSAFE, _why(only), chosen, shares, calibration)
        if only.impossible:
            return Ask(Reason.IMPOSSIBLE, _why(only), chosen, shares, calibration)
        return Act(Reason.SINGLE, f"One reading is left: {only.text}.", chosen, shares, calibration)
    if all(o.unsafe for o in chosen):
        return Refuse(Reason.UNSAFE, _why(chosen[0]), chosen, shares, calibration)
    return Ask(Reason.SEVERAL, f"{len(chosen)} readings are left.", chosen, shares, calibration)


def _likely(options: Sequence[Option], probabilities: Sequence[float]) -> tuple[tuple[Option, float], ...]:
    """The likeliest options until they make up `_MOST` of the probability; none where "something else" leads."""
    out: list[tuple[Option, float]] = []
    total = 0.0
    for index in sorted(range(len(options)), key=lambda i: (-probabilities[i], i)):
        if options[index].is_not_listed and not out:
            return ()
        if not options[index].is_not_listed:
            out.append((options[index], probabilities[index]))
        total += probabilities[index]
        if total >= _MOST:
            break
    return tuple(out)


def _why(option: Option) -> str:
    return " ".join(m.sentence for m in option.marks)


class ConformalDecider:
    """The decider of this module, with the parts of the fingerprint that stay the same."""

    def __init__(self, context: Fingerprint | None = None) -> None:
        self._context = context

    def decide(
        self, options: Sequence[Option], scores: Sequence[Score], calibration: Calibration
    ) -> Act | Ask | Refuse:
        """See `decide`."""
        return decide(options, scores, calibration, context=self._context)
