"""Weighers: what turns a request into a decision about its readings, with a calibration's promise or without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handrail.decide.calibration import Calibration
from handrail.decide.conformal import confidences
from handrail.decide.goals import GoalDecider
from handrail.decide.policy import Act, Ask, Reason, Refuse, read_set
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.option import Mark, MarkCode, Option
from handrail.domain.state import State
from handrail.execute.packed import pack_goal, unpack_goal
from handrail.intent.readings import GoalReader
from handrail.intent.refute import marked
from handrail.intent.scores.scorer import Context, Scorer
from handrail.intent.symbolic import scene_of
from handrail.language.model import Model


class Weigher(Protocol):
    """Turns a request into a decision about its readings. Called from a worker thread; may use a model."""

    def weigh(self, request: str, state: State) -> Act | Ask | Refuse:
        """The decision for one request in one state."""

    @property
    def promise(self) -> str:
        """What a calibrated decision of this weigher promises; "" where it promises nothing."""


@dataclass
class WordsWeigher:
    """Decides without a calibration: it never claims a probability and never acts on its own reading alone.

    All readings whose confidence is within `share` of the best one stay in the set. One that is left is read back to a person.

    Attributes:
        reader: generates the readings.
        scorer: makes what weighs them in a state.
        share: readings at least this share as likely as the best one stay, in (0, 1].
        exclusions: what evidence speaks against, for marking.
    """

    reader: GoalReader
    scorer: Callable[[State], Scorer]
    share: float = 0.5
    exclusions: Exclusions = field(default_factory=Exclusions)
    promise: str = ""

    def weigh(self, request: str, state: State) -> Act | Ask | Refuse:
        """See `Weigher`."""
        options = self.reader.read(request, state.objects.domain, state)
        scores = self.scorer(state).score(Context(scene_of(options), request), options)
        shares = confidences(scores, 1.0)
        best = max((p for p in shares if p == p), default=0.0)
        kept = [i for i, p in enumerate(shares) if p == p and p >= self.share * best]
        return _marked(read_set(options, shares, kept), state, self.exclusions)


@dataclass
class CalibratedWeigher:
    """Decides by split conformal prediction: the set holds the meant reading with the calibration's promise.

    Attributes:
        calibration: its file; made for the readings and scores of `handrail.decide.goals`.
        model: where the calibration was made with one.
        group: names the case's group, for a calibration with groups.
        offers: finds readings to choose from where the calibrated set holds none; a person decides among them.
        exclusions: what evidence speaks against, for marking.
    """

    calibration: Calibration
    model: Model | None = None
    group: str | None = None
    offers: Weigher | None = None
    exclusions: Exclusions = field(default_factory=Exclusions)
    _decider: GoalDecider | None = field(default=None, init=False, repr=False)

    def weigh(self, request: str, state: State) -> Act | Ask | Refuse:
        """See `Weigher`.

        Raises:
            StaleError: the calibration was made for something else; the message names what changed.
            ModelError: the model failed.
        """
        if self._decider is None or self._decider.reader.state != state:
            self._decider = GoalDecider(state, self.calibration, self.model)
        decision = self._decider.decide(request, group=self.group).decision
        if isinstance(decision, Ask) and not any(not o.is_not_listed for o in decision.options):
            return self._offered(decision, request, state)
        return _marked(decision, state, self.exclusions)

    def _offered(self, decision: Ask, request: str, state: State) -> Ask:
        """Still an ask, as the calibration wants it, but with the readings that the words suggest to choose from."""
        if self.offers is None:
            return decision
        found = self.offers.weigh(request, state)
        if not any(not o.is_not_listed for o in found.options):
            return decision
        return replace(decision, options=found.options, probabilities=found.probabilities)

    @property
    def promise(self) -> str:
        """The calibration's own words."""
        return self.calibration.promise()


def _marked(decision: Act | Ask | Refuse, state: State, exclusions: Exclusions) -> Act | Ask | Refuse:
    """The same set with the planner's findings on its readings, decided again: what can't be done is not acted on."""
    options = marked(decision.options, state, exclusions=exclusions)
    if decision.reason in (Reason.UNSCORED, Reason.EMPTY):
        return replace(decision, options=options)
    return read_set(options, decision.probabilities, range(len(options)), decision.calibration)


@dataclass(frozen=True)
class Given:
    """A weigher for a goal that a person wrote down: nothing is read, nothing asked."""

    goal: Goal
    promise: str = ""

    def weigh(self, request: str, state: State) -> Act | Ask | Refuse:  # noqa: ARG002 - one shape for all
        """The goal, whatever the request says."""
        option = Option(self.goal.goal_id, self.goal.text or str(self.goal), self.goal)
        return Act(Reason.SINGLE, "The goal was given.", (option,), (1.0,), "given")


def pack_decision(decision: Act | Ask | Refuse) -> dict[str, Any]:
    """A decision as plain JSON values, complete enough to be taken again."""
    return {
        "kind": type(decision).__name__,
        "reason": str(decision.reason),
        "sentence": decision.sentence,
        "calibration": decision.calibration,
        "options": [_pack_option(o) for o in decision.options],
        "probabilities": [None if p != p else p for p in decision.probabilities],
    }


def _pack_option(o: Option) -> dict[str, Any]:
    return {
        "key": o.key,
        "text": o.text,
        "goal": pack_goal(o.meaning) if isinstance(o.meaning, Goal) else None,
        "marks": [[str(m.code), m.sentence] for m in o.marks],
        "attributes": [list(a) for a in o.attributes],
    }


def unpack_decision(body: dict[str, Any], state: State) -> Act | Ask | Refuse:
    """What `pack_decision` wrote."""
    options = tuple(
        Option(
            o["key"],
            o["text"],
            unpack_goal(o["goal"], state.objects) if o["goal"] else None,
            tuple(Mark(MarkCode(c), s) for c, s in o["marks"]),
            tuple((a, b) for a, b in o["attributes"]),
        )
        for o in body["options"]
    )
    kinds: dict[str, type[Act] | type[Ask] | type[Refuse]] = {"Act": Act, "Ask": Ask, "Refuse": Refuse}
    shares = tuple(float("nan") if p is None else p for p in body["probabilities"])
    return kinds[body["kind"]](Reason(body["reason"]), body["sentence"], options, shares, body["calibration"])
