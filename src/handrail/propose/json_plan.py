"""Road (a): a model writes the plan as JSON; what the checks say against it goes back to the model, up to a cap.

The goal was decided before. A plan that does not reach it is refused like one that can't be run, whatever the model
says about it; a question or a refusal is handed on as such.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.check.schema import MAX_STEPS, Declined, plan_schema, read_plan
from handrail.check.symbolic import check_symbolic
from handrail.domain.domain import Domain
from handrail.domain.exclusions import Exclusions
from handrail.domain.goal import Goal
from handrail.domain.plan import Plan
from handrail.domain.state import State
from handrail.domain.task import Task
from handrail.domain.values import Atom, Value
from handrail.domain.verdict import Code, LayerResult, Reason
from handrail.errors import ConfigError
from handrail.intent.naming import Names
from handrail.language.model import DEFAULT_TIMEOUT, Model
from handrail.language.records import Answer, Message
from handrail.propose.examples import examples
from handrail.propose.focus import Count, estimated, focus
from handrail.propose.prompt import feedback, prompt_id, system_text, user_text
from handrail.propose.proposal import Attempt, Effort, Proposal


@dataclass
class JsonPlanner:
    """Asks a model for a plan.

    Attributes:
        model: writes the answers.
        few_shot: put examples made from the domain into the prompt.
        told: tokens for the objects that the prompt tells of.
        max_tokens: of one answer.
        max_steps: longest plan.
        timeout: seconds for one answer.
        cancel: set it to end the call that runs.
        exclusions: steps that evidence says won't work.
        carried: monitor values of the run so far.
        count: counts the tokens of a text; an estimate by default.
    """

    model: Model
    few_shot: bool = True
    told: int = 900
    max_tokens: int = 400
    max_steps: int = MAX_STEPS
    timeout: float = DEFAULT_TIMEOUT
    cancel: threading.Event | None = None
    exclusions: Exclusions | None = None
    carried: Mapping[Atom, Value] | None = None
    count: Count = field(default=estimated, repr=False)

    def messages(self, goal: Goal, request: str, state: State) -> tuple[Message, ...]:
        """The conversation that asks for a plan; a function of its arguments and the settings alone."""
        names = Names.of(state.objects)
        told = focus(goal, request, state, self.told, names=names, count=self.count)
        turns = [Message("system", system_text(state.objects))]
        if self.few_shot:
            for example in examples(state.objects.domain, state, goal):
                turns += example.turns
        turns.append(Message("user", user_text(request, goal, told, state, names)))
        return tuple(turns)

    def propose(
        self, goal: Goal, request: str, domain: Domain, state: State, effort: Effort | None = None
    ) -> list[Proposal]:
        """See `Proposer`: one proposal, whose attempts are the model's answers with what was wrong with each."""
        if state.objects.domain is not domain:
            raise ConfigError(f"the state is of the domain '{state.objects.domain.name}', not of '{domain.name}'")
        effort = effort or Effort()
        task = Task(state.objects, goal, self.exclusions)
        names = Names.of(state.objects)
        told = focus(goal, request, state, self.told, names=names, count=self.count)
        schema = plan_schema(state.objects, self.max_steps, only=frozenset(told))
        first = self.messages(goal, request, state)
        turns = list(first)
        attempts: list[Attempt] = []
        provenance: dict[str, Any] = {
            "model": self.model.fingerprint.digest, "prompt": prompt_id(first), "few_shot": self.few_shot,
        }  # fmt: skip
        seen: set[str] = set()
        for _ in range(effort.calls):
            answer = self._ask(turns, schema)
            read = self._read(answer, state, provenance)
            result = read if isinstance(read, LayerResult) else None
            if isinstance(read, Plan):
                result = check_symbolic(read, task, state, self.carried)
            reasons = result.reasons if result is not None else ()
            plan = read if isinstance(read, Plan) else None
            attempts.append(Attempt(answer.text, reasons, answer.tokens, answer.prompt_tokens, answer.seconds, plan))
            if isinstance(read, Declined):
                return [Proposal("model", declined=read, attempts=tuple(attempts), provenance=provenance)]
            if not reasons:
                return [Proposal("model", plan=plan, attempts=tuple(attempts), provenance=provenance)]
            if answer.text in seen:
                break  # it says the same again: another round would only cost
            seen.add(answer.text)
            # only the last answer is shown again: a small model's context is short, and old errors are copied
            turns = [*first, Message("assistant", answer.text), Message("user", feedback(reasons))]
        last = attempts[-1].reasons[0].sentence
        why = f"The model gave no plan that passes in {len(attempts)} answers; the last one: {last}"
        return [Proposal("model", why=why, attempts=tuple(attempts), provenance=provenance)]

    def _ask(self, turns: list[Message], schema: dict[str, Any]) -> Answer:
        if self.model.capabilities().json_schema:
            return self.model.json(turns, schema, max_tokens=self.max_tokens, timeout=self.timeout, cancel=self.cancel)
        return self.model.chat(turns, max_tokens=self.max_tokens, timeout=self.timeout, cancel=self.cancel)

    def _read(self, answer: Answer, state: State, provenance: dict[str, Any]) -> Plan | Declined | LayerResult:
        if answer.finish == "length":
            text = f"The answer was cut off after {answer.tokens} tokens; write a shorter one."
            return LayerResult("schema", False, (Reason(Code.BAD_JSON, text),))
        return read_plan(answer.text, state.objects, max_steps=self.max_steps, source="model", provenance=provenance)
