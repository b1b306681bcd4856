"""From a request to one decided goal: read, weigh, and ask until one reading is left or nobody can say.

    request ─▶ readings ─▶ scores ─▶ act │ ask ─▶ answer ─▶ fewer readings, or a new request │ refuse

Everything that comes from outside (a model's scores, a person's answers) goes through the run's journal, so the talk can be
replayed. An answer is data: what it leaves is checked like any other proposal, and asking is never counted as success.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from handrail.decide.policy import Act, Ask, Refuse, read_set
from handrail.domain.formula import And
from handrail.domain.goal import Goal, GoalSource
from handrail.domain.option import Option
from handrail.domain.state import State
from handrail.errors import StaleError
from handrail.execute.person import Answer, Kind, Question
from handrail.intent.clauses import clauses
from handrail.intent.readings import MOST_CLAUSES
from handrail.intent.refute import Refutation, refute
from handrail.intent.scores.words import words_of
from handrail.intent.verbs import VERBS
from handrail.record.journal import Journal
from handrail.weighing import Weigher, pack_decision, unpack_decision

MOST_ROUNDS = 4
"""Questions about one request before it is given back."""

NONE_OF_THESE = "none of these"
_NO_ANSWER = "A question about the request was not answered in time."


class End(StrEnum):
    """How the talk about a request ended."""

    GOAL = "goal"
    REFUSED = "refused"
    IMPOSSIBLE = "impossible"
    UNANSWERED = "unanswered"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Understood:
    """What came out.

    Attributes:
        end: see `End`.
        goal: the decided goal; None unless `end` is GOAL.
        sentence: why, for a person.
        asked: how many questions it took.
        calibrated: the promise that the decision rests on; "" where none was made.
        readings: the texts of the readings that were left when it was decided or first asked about.
    """

    end: End
    goal: Goal | None
    sentence: str
    asked: int = 0
    calibrated: str = ""
    readings: tuple[str, ...] = ()


class Understander:
    """Talks about a request until it has one goal, or an end that is none.

    Args:
        weigher: decides about readings.
        ask: asks a person; None for no answer in time.
        journal: of the run.
        off_thread: runs what may take long, so that the runner's loop goes on.
    """

    def __init__(
        self,
        weigher: Weigher,
        ask: Callable[[Question], Answer | None],
        journal: Journal,
        off_thread: Callable[[Callable[[], Any]], Any] = lambda do: do(),
    ) -> None:
        self._weigher = weigher
        self._ask = ask
        self._journal = journal
        self._off_thread = off_thread
        self._asked = 0
        self._about = ""

    def understand(self, request: str, state: State) -> Understood:
        """The goal of a request in a state: part by part where it asks for several things, then put together in order.

        Raises:
            StaleError: the calibration does not fit what is running.
        """
        parts = _parts(request)
        found: list[Understood] = []
        for part in parts:
            self._about = part if len(parts) > 1 else ""
            one = self._one(part, state)
            if one.goal is None:
                return replace(one, sentence=f"{self._lead()}{one.sentence}")
            found.append(one)
        if len(found) == 1:
            return found[0]
        goals = [u.goal for u in found if u.goal is not None]
        promise = next((u.calibrated for u in found if u.calibrated), "")
        sentence = f"{len(goals)} parts, each decided by itself"
        texts = tuple(t for u in found for t in u.readings)
        return Understood(End.GOAL, in_order(goals, state), sentence, self._asked, promise, texts)

    def _lead(self) -> str:
        return f"\u201c{self._about}\u201d: " if self._about else ""

    def _one(self, request: str, state: State) -> Understood:
        decision = self._weigh(request, state)
        readings = tuple(o.text for o in decision.options)
        for _ in range(MOST_ROUNDS):
            if isinstance(decision, Act):
                return self._act(decision, readings)
            if isinstance(decision, Refuse):
                return Understood(End.REFUSED, None, decision.sentence, self._asked, self._promise(decision), readings)
            found = self._question(decision, request, state)
            if isinstance(found, Understood):
                return replace(found, readings=readings)
            decision = found
        why = f"After {self._asked} questions it is still open what is meant."
        return Understood(End.UNCLEAR, None, why, self._asked, "", readings)

    def _promise(self, decision: Act | Ask | Refuse) -> str:
        return self._weigher.promise if decision.calibration else ""

    def _weigh(self, request: str, state: State) -> Act | Ask | Refuse:
        def weigh() -> Act | Ask | Refuse:
            found: Act | Ask | Refuse = self._off_thread(lambda: self._weigher.weigh(request, state))
            return found

        decision = self._journal.outside(
            "weighed", {"request": request}, weigh, pack_decision, lambda body: unpack_decision(body, state)
        )
        keys = [o.key for o in decision.options]
        self._journal.note(
            "decided", {"kind": type(decision).__name__, "reason": str(decision.reason), "options": keys}
        )
        return decision

    def _put(self, sentence: str, choices: tuple[str, ...] = ()) -> Answer | None:
        question = Question(f"goal-{self._asked}", Kind.GOAL, self._lead() + sentence, choices)
        self._asked += 1
        return self._journal.outside(
            "asked",
            question.to_json(),
            lambda: self._ask(question),
            lambda a: a.to_json() if a else None,
            lambda b: Answer(b["text"], b["choice"], b["by"]) if b else None,
        )

    def _act(self, decision: Act, readings: tuple[str, ...]) -> Understood:
        """One reading: a calibrated one is acted on, another one is read back first."""
        option = decision.option
        goal = _goal(option)
        if decision.calibration:
            return Understood(End.GOAL, goal, decision.sentence, self._asked, self._promise(decision), readings)
        said = self._put(f"I understand: {option.text}. Is that right?", ("yes", "no"))
        if said is None:
            why = "Nobody said whether the request was understood rightly."
            return Understood(End.UNANSWERED, None, why, self._asked, "", readings)
        if said.choice == 0:
            goal = replace(goal, source=GoalSource.PERSON)
            return Understood(End.GOAL, goal, "A person confirmed the reading.", self._asked, "", readings)
        why = f"A person said that '{option.text}' is not what is meant."
        return Understood(End.UNCLEAR, None, why, self._asked, "", readings)

    def _question(self, decision: Ask, request: str, state: State) -> Act | Ask | Refuse | Understood:
        q = decision.question
        choices = tuple(c.words for c in q.cells)
        shown = (*choices, NONE_OF_THESE) if choices else ()
        said = self._put(q.sentence, shown)
        if said is None:
            return Understood(End.UNANSWERED, None, _NO_ANSWER, self._asked)
        if said.choice is not None and said.choice < len(choices):
            return self._left(decision, q.remaining(said.choice))
        if said.choice == len(choices) and choices:
            if q.rest:
                return self._left(decision, q.rest)
            said = self._put("What would you like me to do instead?")
            if said is None:
                return Understood(End.UNANSWERED, None, _NO_ANSWER, self._asked)
        if said.text.strip().casefold() in ("", "nothing", "never mind", "cancel", "no", "stop"):
            return Understood(End.UNCLEAR, None, "The person wants nothing done.", self._asked)
        narrowed = _mentioned(decision.options, said.text)
        if narrowed:
            return self._left(decision, narrowed)
        whole = said.text if _acts(said.text) else f"{request} {said.text}"
        return self._weigh(whole, state)

    def _left(self, decision: Ask, keys: Sequence[str]) -> Act | Ask | Refuse | Understood:
        """What a person's choice leaves. One reading that a person chose needs no reading back."""
        kept = [i for i, o in enumerate(decision.options) if o.key in keys]
        options = [decision.options[i] for i in kept]
        listed = [o for o in options if not o.is_not_listed]
        if len(listed) == 1:
            only = listed[0]
            why = " ".join(m.sentence for m in only.marks)
            if only.unsafe:
                return Understood(End.REFUSED, None, why, self._asked)
            if only.impossible:
                return Understood(End.IMPOSSIBLE, None, why, self._asked)
            goal = replace(_goal(only), source=GoalSource.PERSON)
            return Understood(End.GOAL, goal, f"A person chose: {only.text}.", self._asked)
        shares = [decision.probabilities[i] if decision.probabilities else 1.0 for i in kept]
        shares = [1.0 / max(1, len(kept)) if p != p else p for p in shares]
        return read_set(options, shares, range(len(options)))


def _acts(text: str) -> bool:
    """Whether a text names something to do; "the fridge" only completes what was asked before."""
    return any(word in VERBS for word in text.casefold().replace(",", " ").split())


def _parts(request: str) -> tuple[str, ...]:
    """The parts of a request that asks for several things in turn; the request itself where one of them limits the others."""
    found = clauses(request, VERBS)
    if not 1 < len(found) <= MOST_CLAUSES or any(c.negative or c.question for c in found):
        return (request,)
    return tuple(c.text for c in found)


def in_order(goals: Sequence[Goal], state: State) -> Goal:
    """One goal out of several that are wanted in turn: each holds at its time, and at the end all that can hold together.

    None comes about before its turn, unless that is impossible; then each is reached in its turn, and may have been so before.

    Whether an earlier one can still hold at the end is asked of the planner: what it proves impossible stays a subgoal only.
    """
    final = goals[-1].final
    for goal in reversed(goals[:-1]):
        together = And((goal.final, *(final.parts if isinstance(final, And) else (final,))))
        if not isinstance(refute(Goal(together), state), Refutation):
            final = together
    turns = tuple(t for g in goals for t in (*g.subgoals, g.final))
    keep = tuple(dict.fromkeys(k for g in goals for k in g.keep))
    source = GoalSource.PERSON if all(g.source is GoalSource.PERSON for g in goals) else GoalSource.CHOSEN
    made = Goal(final, turns, keep, source, ", then ".join(g.text for g in goals), strict=True)
    if isinstance(refute(made, state), Refutation):
        # "wipe the table, then go to the sink" takes the robot to the sink for the sponge before its turn
        return replace(made, strict=False)
    return made


def _goal(option: Option) -> Goal:
    if not isinstance(option.meaning, Goal):
        raise StaleError(f"the reading '{option.text}' carries no goal")
    return option.meaning


def _mentioned(options: Sequence[Option], text: str) -> tuple[str, ...]:
    """Keys of the options that an answer in a person's own words picks out.

    Those whose words hold all of the answer's; where there are none and the answer names nothing to do ("the bottle of water"), those
    that share most of its words. Nothing is picked out where that leaves all of them.
    """
    said = words_of(text)
    listed = [o for o in options if not o.is_not_listed]
    held = [o.key for o in listed if said and said <= words_of(o.text)]
    if not held and not _acts(text):
        shared = {o.key: len(said & words_of(f"{o.text} {' '.join(v for _, v in o.attributes)}")) for o in listed}
        most = max(shared.values(), default=0)
        held = [k for k, n in shared.items() if n == most and n > 0]
    return tuple(held) if 0 < len(held) < len(options) else ()
