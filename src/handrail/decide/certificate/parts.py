"""The composed estimate: which part of the loop the risk comes from, and where more data or work would help.

Union bounds over the parts' failure events (no independence is assumed, neither across steps, retries nor
verification), each term with its own exact bound at an equal share of the estimate's *own* delta. It is labelled
an estimate, because each data set must represent the deployed mix for its own event; the certificate is the
direct test of whole episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from handrail.decide.certificate.binomial import check_share
from handrail.decide.certificate.claims import allowed
from handrail.errors import ConfigError
from handrail.numbers import upper_bound

Counts = tuple[int, int]
"""(events, trials)."""


@dataclass(frozen=True)
class PartsData:
    """Component data; each pair is (bad events, trials).

    Attributes:
        missed: the intent was not in the set acted on, and no person rescued it, per task (conformal intent).
        plans: a plan that the checker passed did not give the goal or broke a constraint, per audited plan.
        silent_blocks: per skill, a block (skill, verification and retries as deployed) ended un-achieved or broke
            a constraint, yet was verified.
        given_up_blocks: per skill, a block ended un-achieved and the robot knew.
        answers: a check question with a known answer was answered wrongly, per check question.
        unresolved: a question or hand-over was left open, per task.
        blocks_per_task: mean number of blocks per task, per skill.
        answers_per_task: mean number of used answers per task.
        real_people: people answered while `missed` was measured, so that their errors are in it already.
    """

    missed: Counts
    plans: Counts
    silent_blocks: Mapping[str, Counts]
    given_up_blocks: Mapping[str, Counts]
    answers: Counts
    unresolved: Counts
    blocks_per_task: Mapping[str, float]
    answers_per_task: float
    real_people: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One term: its name, what was seen per task, its upper bound per task, and its share of the composed bound."""

    name: str
    seen: float
    bound: float
    share: float


@dataclass(frozen=True)
class PartsEstimate:
    """The composed bounds of silent and task failure with their parts, at level 1 - `delta`, largest part first."""

    silent: float
    task: float
    silent_parts: tuple[Part, ...]
    task_parts: tuple[Part, ...]
    delta: float

    def text(self) -> str:
        """A few lines for people; says what it is not."""
        lines = ["Estimate from the parts (not the certificate; nothing is promised about whole tasks):"]
        lines.append(
            f"  silent failure below {100 * self.silent:.1f} in 100, task failure below {100 * self.task:.1f} in 100"
        )
        lines += [
            f"  {p.name}: seen {100 * p.seen:.2f}, below {100 * p.bound:.2f} in 100 ({100 * p.share:.0f} % of the bound)"
            for p in self.task_parts
        ]
        lines.append(f"To improve the robot or to measure more, start with: {self.task_parts[0].name}.")
        return allowed("\n".join(lines))


def parts_estimate(data: PartsData, delta: float = 0.05, skills: Literal["pooled", "each"] = "pooled") -> PartsEstimate:
    """Compose the bounds (union over parts; Boole's inequality).

    Args:
        data: component data.
        delta: this estimate's own chance of error, apart from the certificate's.
        skills: "pooled" counts all blocks together, tighter, right while the mix of skills stays as measured;
            "each" bounds every skill, which shows the worst one and pays one slack per skill.

    Raises:
        ConfigError: a part has no trials, or skills differ between the tables.
    """
    check_share("delta", delta)
    names = sorted(data.blocks_per_task)
    if not names or set(data.silent_blocks) != set(names) or set(data.given_up_blocks) != set(names):
        raise ConfigError("silent_blocks, given_up_blocks and blocks_per_task must name the same skills, at least one")
    silent_motion = _motion("motion, unseen", data.silent_blocks, data.blocks_per_task, skills)
    task_motion = _motion("motion, handed over", data.given_up_blocks, data.blocks_per_task, skills)
    silent_terms = [("intent missed", data.missed, 1.0), ("plan flaw passed", data.plans, 1.0)]
    if not data.real_people:
        silent_terms.append(("wrong answer", data.answers, data.answers_per_task))
    silent_terms += silent_motion
    task_terms = [*silent_terms, *task_motion, ("left unresolved", data.unresolved, 1.0)]
    each = delta / len(task_terms)
    for name, (_, trials), _ in task_terms:
        if trials < 1:
            raise ConfigError(f"the part '{name}' has no trials: measure it, or the estimate says nothing")
    silent_parts, silent = _compose(silent_terms, each)
    task_parts, task = _compose(task_terms, each)
    return PartsEstimate(silent, task, silent_parts, task_parts, delta)


Term = tuple[str, Counts, float]


def _motion(
    name: str, blocks: Mapping[str, Counts], per_task: Mapping[str, float], skills: Literal["pooled", "each"]
) -> list[Term]:
    if skills == "each":
        return [(f"{name}: {skill}", blocks[skill], per_task[skill]) for skill in sorted(blocks)]
    bad, trials = (sum(c[i] for c in blocks.values()) for i in (0, 1))
    return [(name, (bad, trials), sum(per_task.values()))]


def _compose(terms: Sequence[Term], each: float) -> tuple[tuple[Part, ...], float]:
    found = [(name, k / n * times, upper_bound(k, n, each) * times) for name, (k, n), times in terms]
    total = sum(bound for _, _, bound in found)
    parts = [Part(name, seen, bound, bound / total) for name, seen, bound in found]
    return tuple(sorted(parts, key=lambda p: -p.bound)), min(1.0, total)


def with_human_error(risk_if_perfect: float, answers_per_task: float, wrong_answer_bound: float) -> float:
    """Risk with real answers, from the risk with perfect ones: R0 + E[answers] h (coupling, no independence).

    Only where calibration used simulated people; with real people their errors are counted already.
    """
    return min(1.0, risk_if_perfect + answers_per_task * wrong_answer_bound)


def with_auditor_misses(bound: float, missed: float) -> float:
    """Risk bound when an auditor overlooks at most a share `missed` of the wrong outcomes: U / (1 - a).

    Raises:
        ConfigError: `missed` is not in [0, 1).
    """
    if not 0 <= missed < 1:
        raise ConfigError(f"the share that an auditor misses must lie in [0, 1), got {missed}")
    return min(1.0, bound / (1 - missed))


def retry_exhaustion(failure: float, concentration: float, tries: int) -> float:
    """P(all tries fail) when each object keeps its own failure rate p ~ Beta(c f, c (1 - f)).

    At least failure ** tries (Jensen), often many times that: why success rates must not be multiplied over retries.
    """
    value = 1.0
    for i in range(tries):
        value *= (concentration * failure + i) / (concentration + i)
    return value
