"""SayCan (Ahn et al. 2022): step by step, what is useful times what is possible.

At each step every skill call that is possible in the present state is an option, and so is being done. The scorer says how
useful each is after what was done so far, the affordance how likely it is to succeed; the best one is taken, and the state is
carried on in symbols. Nothing impossible can be chosen: it is not among the options.

The result is a proposal like any other: it is checked towards a goal that was read apart from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from handrail.domain import Domain, Goal, Plan, State, Step, Task
from handrail.domain.option import Option, Score
from handrail.errors import ConfigError
from handrail.intent.candidates import facts_of, name_of
from handrail.intent.scores.affordance import Affordance, useful_and_possible
from handrail.intent.scores.scorer import Context, Scorer
from handrail.intent.scores.words import explained, overlap
from handrail.propose.proposal import Effort, Proposal

DONE = Option("done", "be done", None)
"""The option that ends the plan."""

Afford = Callable[[State, Step], Affordance]


def always(_state: State, _step: Step) -> Affordance:
    """The affordance where nothing but the checker is known: what is possible succeeds."""
    return Affordance(True)


@dataclass(frozen=True)
class Turn:
    """One decision of the loop.

    Attributes:
        options: what was possible, by score, best first.
        scores: usefulness times affordance, in that order.
        left_out: how many possible steps were not scored because there were too many.
        kind: of the usefulness score.
    """

    options: tuple[Option, ...]
    scores: tuple[float, ...]
    left_out: int = 0
    kind: str = ""


class SayCan:
    """A planner of its own, and a proposer.

    Args:
        scorer: gives usefulness on the log scale.
        affordance: P(success) of a possible step in a state, from history and dry-runs.
        most_steps: the plan is cut off after so many.
        most_options: possible steps scored at each turn; those that the words fit least are left out, and counted.
    """

    def __init__(
        self, scorer: Scorer, *, affordance: Afford = always, most_steps: int = 12, most_options: int = 24
    ) -> None:
        if most_steps < 1 or most_options < 1:
            raise ConfigError("SayCan needs at least one step and one option")
        self.scorer, self.affordance = scorer, affordance
        self.most_steps, self.most_options = most_steps, most_options

    def propose(
        self, goal: Goal, request: str, domain: Domain, state: State, effort: Effort | None = None
    ) -> list[Proposal]:
        """One proposal; without a plan where "done" came first.

        Args:
            goal: kept apart; it neither guides nor ends the choice, only rules what is `keep`.
            request: the person's words.
            domain: of the state.
            state: where the plan starts.
            effort: not used; the loop is bounded by `most_steps`.

        Raises:
            ModelError: the scorer's model failed.
        """
        del effort, domain
        steps, turns, ended = self.plan(request, state, goal)
        made = {
            "turns": len(turns),
            "ended": "done" if ended else "cut off",
            "scorer": turns[0].kind,
            "left out": sum(t.left_out for t in turns),
        }
        if not steps:
            return [Proposal("saycan", why="nothing seemed useful: being done scored best at once", provenance=made)]
        return [Proposal("saycan", Plan(tuple(steps), source="saycan", provenance=made), provenance=made)]

    def plan(self, request: str, state: State, goal: Goal | None = None) -> tuple[list[Step], list[Turn], bool]:
        """Choose steps until "done".

        Returns:
            The steps, each turn's options with scores, and whether it ended by itself.
        """
        task = Task(state.objects, goal)
        values = task.start(state)
        done: list[str] = []
        steps: list[Step] = []
        turns: list[Turn] = []
        for _ in range(self.most_steps):
            now = State(state.objects, values)
            turn, ranked = self.turn(request, now, task, done)
            turns.append(turn)
            if not ranked or ranked[0].key == DONE.key:
                return steps, turns, True
            step = ranked[0].meaning
            assert isinstance(step, Step)
            steps.append(step)
            done.append(ranked[0].text)
            values = {**values, **task.operator(step).changes(values)}
        return steps, turns, False

    def turn(self, request: str, state: State, task: Task, done: Sequence[str]) -> tuple[Turn, list[Option]]:
        """Score what is possible now."""
        options = possible(state, task)
        kept = self._fitting(request, state, options)
        every = [*kept, DONE]
        context = Context(_scene(kept), request, tuple(done))
        useful = self.scorer.score(context, every)
        known = [self.affordance(state, o.meaning) if isinstance(o.meaning, Step) else Affordance(True) for o in every]
        scores = useful_and_possible(_on_log_scale(useful), known)
        order = sorted(
            range(len(every)), key=lambda i: -scores[i].value if scores[i].value == scores[i].value else math.inf
        )
        ranked = [every[i] for i in order]
        values = tuple(scores[i].value for i in order)
        return Turn(tuple(ranked), values, len(options) - len(kept), useful[0].kind), ranked

    def _fitting(self, request: str, state: State, options: Sequence[Option]) -> list[Option]:
        if len(options) <= self.most_options:
            return list(options)
        facts = facts_of(state.objects)

        def fit(option: Option) -> float:
            known = [w for role in ("object", "place") for w in facts.get(option.attribute(role) or "", ())]
            return overlap(request, option.text) + explained(request, option.text, known)

        keep = set(sorted(range(len(options)), key=lambda i: (-fit(options[i]), i))[: self.most_options])
        return [o for i, o in enumerate(options) if i in keep]


def possible(state: State, task: Task) -> list[Option]:
    """Every skill call whose whole condition is true now, rules included, and which changes something."""
    objects = state.objects
    out = []
    for skill in sorted(objects.domain.skills.values(), key=lambda s: s.name):
        if skill.asks:
            continue
        for args in product(*(objects.of(*p.types) for p in skill.params)):
            step = Step(skill.name, args)
            operator = task.operator(step)
            if not operator.applicable(state.values):
                continue
            changes = operator.changes(state.values)
            if all(state.values.get(a, operator.default(a)) == v for a, v in changes.items()):
                continue
            names = {a: name_of(objects, a) for a in args}
            text = skill.words(args, names).strip().rstrip(".")
            roles = [a for a in args if objects[a].type not in ("robot", "hand")]
            attributes = (("object", names[roles[0]]),) if roles else ()
            if len(roles) > 1:
                attributes = (*attributes, ("place", names[roles[1]]))
            out.append(Option(str(step), text[:1].lower() + text[1:], step, (), attributes))
    return out


def _scene(options: Sequence[Option]) -> str:
    names = dict.fromkeys(v for o in options for role in ("object", "place") if (v := o.attribute(role)))
    return ", ".join(f"the {n}" for n in names) or "nothing"


def _on_log_scale(scores: Sequence[Score]) -> list[Score]:
    """Probabilities and raw numbers become logarithms; 0 becomes -infinity."""
    if scores[0].scale == "log":
        return list(scores)
    return [replace(s, scale="log", value=math.log(s.value) if s.value > 0 else -math.inf) for s in scores]
