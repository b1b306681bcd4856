"""A symbolic world with known truth, in which certificates can be checked: the cells of `handrail eval task`.

Synthetic: it tests the statistics, not any robot. A task has 1 to 8 steps. At each step the robot chooses among
options with a confidence and may ask a person; a plan may be flawed and is run in simulated copies; each try of a
skill may fail and is verified by an imperfect verifier; hard objects may stay hard when tried again, and may fool
the verifier too. All settings see the same random numbers, so their true risks are exact on the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.decide.certificate import (
    Choice,
    DryRun,
    Ended,
    Episode,
    Limits,
    Losses,
    ReadBack,
    Replan,
    Setting,
    Verified,
    collecting,
    grid,
)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

STEPS, SKILLS, COPIES, TRIES = 8, 10, 5, 7
LOOSE, STRICT, STRICTER = 0.5, 0.8, 0.9

ASK = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96)
SETTINGS = grid(
    ask=ASK,
    read_back=(True, False),
    dry_runs=((0, 0), (COPIES, 2)),
    replans=(3, 6),
    strictness=(LOOSE, STRICT, STRICTER),
)
"""10 ask thresholds x read-back x dry-run x 2 replan caps x 3 verifications = 240 settings.

At `LOOSE` and `STRICT` a rejected try is tried again; at `STRICTER` a try between `STRICT` and `STRICTER` hands over.
"""

LOGGED = tuple(i for i, s in enumerate(SETTINGS) if s.strictness >= STRICT)
"""The settings that one log, collected at `STRICT`, can score. Retrying at `LOOSE` would need a log of its own."""


@dataclass(frozen=True)
class Cell:
    """One kind of world.

    Attributes:
        name: what is special about it.
        limits: accepted risks.
        episodes: calibration episodes of a deployment.
        hard: concentration of persistent difficulty; 0 for tries that are independent.
        fooled: hard objects also fool the verifier.
        false_positive: P(a failed try passes the loose verification).
        human_error: P(a person's answer is wrong).
        sensitivity: P(a copy of a bad plan fails, where the simulator is not blind).
        blind: share of bad plans that the simulator can't tell from good ones.
        copy_failure: P(a copy of a good plan fails).
        calibrated: confidences are right on average; otherwise too high.
        easiest: smallest failure rate of a skill's try.
        hardest: largest.
        steps: the most steps in a task.
        ambiguous: share of ambiguous steps.
    """

    name: str
    limits: Limits = Limits(0.08, 0.20)  # noqa: RUF009 - frozen
    episodes: int = 400
    hard: float = 0.0
    fooled: bool = False
    false_positive: float = 0.03
    human_error: float = 0.02
    sensitivity: float = 0.8
    blind: float = 0.15
    copy_failure: float = 0.1
    calibrated: bool = True
    easiest: float = 0.02
    hardest: float = 0.30
    steps: int = STEPS
    ambiguous: float = 0.15


CELLS: tuple[Cell, ...] = (
    Cell("base: independent tries, calibrated scores"),
    Cell("hard objects stay hard and fool the verifier", hard=4, fooled=True),
    Cell("scores too confident", calibrated=False),
    Cell("perfect verifier", false_positive=0.0),
    Cell("verifier passes 5 % of failures", false_positive=0.05),
    Cell("easy skills, tighter limits", limits=Limits(0.05, 0.15), easiest=0.02, hardest=0.10),
    Cell("base, 1000 episodes", episodes=1000),
    Cell("hard objects, 1000 episodes", episodes=1000, hard=4, fooled=True),
    Cell("useless dry-run", sensitivity=0.1, blind=0.0),
    Cell("good dry-run", sensitivity=0.95, blind=0.02, copy_failure=0.02),
    Cell("people wrong in 10 %", human_error=0.10),
    Cell(
        "harder objects, wider limits",
        limits=Limits(0.12, 0.30),
        episodes=1000,
        hard=2,
        fooled=True,
        false_positive=0.05,
    ),
    Cell("short tasks", steps=2),
)


@dataclass(frozen=True)
class Tried:
    """What came of all tries under one verification, (n,) each.

    Attributes:
        wrong: some step was accepted though it failed.
        lowest: lowest score among accepted tries.
        replans: replans needed; more than the tries simulated where none suffices.
    """

    wrong: Bools
    lowest: Floats
    replans: NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Episodes with everything that any setting could need; n episodes, arrays (n, ...).

    Attributes:
        active: which of the 8 steps exist.
        skill: the skill of each step, 0..9.
        confidence: in the robot's own choice, per step.
        second: probability of its second option, per step.
        own_right: its own choice is what was meant.
        listed: what was meant is among its options.
        human_wrong: the person's answer would be wrong.
        irreversible: the task has a step that can't be undone.
        caught: the person would notice a wrong goal when it is read back.
        again_wrong: the goal stated after a denied read-back is wrong.
        flaw_silent: the plan breaks a constraint or misses the goal in a way no step's verifier sees.
        flaw_seen: the plan is flawed so that a step can't be achieved.
        copies: which dry-run copies pass, (n, 5).
        first_failed: the first try of each step was rejected by the strict verification.
        loose: what came of the tries under the loose verification.
        strict: the same under the strict one.
    """

    active: Bools
    skill: NDArray[np.int64]
    confidence: Floats
    second: Floats
    own_right: Bools
    listed: Bools
    human_wrong: Bools
    irreversible: Bools
    caught: Bools
    again_wrong: Bools
    flaw_silent: Bools
    flaw_seen: Bools
    copies: Bools
    first_failed: Bools
    loose: Tried
    strict: Tried

    @property
    def size(self) -> int:
        """Number of episodes."""
        return int(self.active.shape[0])


def populate(cell: Cell, size: int, rng: np.random.Generator) -> Population:
    """Draw episodes of a cell."""
    shape = (size, STEPS)
    active = np.arange(STEPS) < rng.integers(1, cell.steps + 1, size)[:, None]
    skill = rng.integers(0, SKILLS, shape)
    ambiguous = rng.random(shape) < cell.ambiguous
    listed = rng.random(shape) >= np.where(ambiguous, 0.06, 0.02)
    # Where the right option is missing, the model is as unsure as in an ambiguous step.
    unsure = ambiguous | ~listed
    confidence = np.where(unsure, rng.beta(2.5, 2.0, shape), rng.beta(60.0, 0.6, shape))
    right = confidence if cell.calibrated else confidence**1.6
    own_right = listed & (rng.random(shape) < right)
    second = (1 - confidence) * rng.uniform(0.5, 1.0, shape)
    flawed = rng.random(size) < 0.05
    flaw_silent = flawed & (rng.random(size) < 0.3)
    blind = rng.random(size) < cell.blind
    seen_bad = flawed & ~blind
    copies = rng.random((size, COPIES)) >= np.where(seen_bad, cell.sensitivity, cell.copy_failure)[:, None]
    loose, strict, first_failed = _motion(cell, skill, active, flawed & ~flaw_silent, rng)
    return Population(
        active=active,
        skill=skill,
        confidence=confidence,
        second=second,
        own_right=own_right,
        listed=listed,
        human_wrong=rng.random(shape) < cell.human_error,
        irreversible=rng.random(size) < 0.3,
        caught=rng.random(size) < 0.92 - cell.human_error,
        again_wrong=rng.random(size) < cell.human_error,
        flaw_silent=flaw_silent,
        flaw_seen=flawed & ~flaw_silent,
        copies=copies,
        first_failed=first_failed,
        loose=loose,
        strict=strict,
    )


def _motion(
    cell: Cell, skill: NDArray[np.int64], active: Bools, stuck: Bools, rng: np.random.Generator
) -> tuple[Tried, Tried, Bools]:
    """Tries of every step until one is accepted, loosely and strictly, and which first tries were rejected."""
    shape = active.shape
    rate = np.linspace(cell.easiest, cell.hardest, SKILLS)[skill]
    fails = rng.beta(cell.hard * rate, cell.hard * (1 - rate)) if cell.hard else rate
    passes = np.full(shape, cell.false_positive)
    if cell.fooled:
        passes = np.clip(cell.false_positive * fails / rate, 0.0, 0.9)
    never = np.zeros(shape, dtype=bool)
    never[:, 0] = stuck  # a seen flaw shows at the first step: it fails however often it is tried
    loose, strict = _Tries(shape), _Tries(shape)
    first = np.zeros(shape, dtype=bool)
    for number in range(TRIES):
        failed = never | (rng.random(shape) < fails)
        u, v = rng.random(shape), rng.random(shape)
        # A failed try passes loosely with `passes` and gets a score anywhere above; a good one scores above STRICTER
        # but for 4 in 100: 1 rejected, 1 loosely accepted, 2 strictly accepted.
        bad = np.where(u < passes, LOOSE + (1 - LOOSE) * v, 0.0)
        good = np.select([u < 0.01, u < 0.02, u < 0.04], [0.0, LOOSE + 0.29 * v, STRICT + 0.09 * v], STRICTER + 0.1 * v)
        score = np.where(failed, bad, good)
        if number == 0:
            first = (score < STRICT) & active
        loose.take(score >= LOOSE, failed, score)
        strict.take(score >= STRICT, failed, score)
    return loose.result(active), strict.result(active), first


class _Tries:
    """The tries of each step until one is accepted; a step still open after all of them needs very many."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.open = np.ones(shape, dtype=bool)
        self.wrong = np.zeros(shape, dtype=bool)
        self.score = np.ones(shape)
        self.tries = np.zeros(shape, dtype=np.int64)

    def take(self, accepted: Bools, failed: Bools, score: Floats) -> None:
        now = self.open & accepted
        self.wrong |= now & failed
        self.score = np.where(now, score, self.score)
        self.tries += self.open & ~accepted
        self.open = self.open & ~accepted

    def result(self, active: Bools) -> Tried:
        return Tried(
            wrong=np.asarray((self.wrong & active).any(axis=1)),
            lowest=np.where(active, self.score, 1.0).min(axis=1),
            replans=(self.tries * active).sum(axis=1),
        )


def goal_right(p: Population, asks: Bools, read_back: bool) -> tuple[Bools, Bools]:
    """Whether the goal acted on is what was meant, and whether it had to be stated again after a read-back.

    Args:
        p: the population.
        asks: which steps ask, (n, 8).
        read_back: the goal is read back where the task is irreversible.
    """
    right = (np.where(asks, ~p.human_wrong, p.own_right) | ~p.active).all(axis=1)
    denied = ~right & p.irreversible & p.caught if read_back else np.zeros(p.size, dtype=bool)
    return np.where(denied, ~p.again_wrong, right), denied


def tried(p: Population, s: Setting) -> Tried:
    """The tries under a setting's verification."""
    return p.loose if s.strictness < STRICT else p.strict


def accepts(p: Population, s: Setting) -> Bools:
    """Which plans the dry-run lets pass."""
    return np.asarray(p.copies[:, : s.copies].sum(axis=1) >= s.passes)


def acts(p: Population, s: Setting) -> Bools:
    """Which episodes end as done; the others are handed over."""
    t = tried(p, s)
    return np.asarray(accepts(p, s) & (t.replans <= s.replans) & (t.lowest >= s.strictness))


def run_all(p: Population, settings: Sequence[Setting] = SETTINGS) -> Losses:
    """The true losses of every setting, (settings, n)."""
    rows = []
    for s in settings:
        asks = (p.confidence < s.ask) & p.active
        right, _ = goal_right(p, asks, s.read_back)
        asked = asks.any(axis=1) | (p.irreversible & s.read_back)
        done = acts(p, s)
        meant = right & ~p.flaw_silent & ~tried(p, s).wrong
        rows.append((done & ~meant, ~(done & meant), asked | ~done, asked))
    return Losses(*(np.array(x, dtype=np.uint8) for x in zip(*rows, strict=True)))


def replayed(p: Population, settings: Sequence[Setting]) -> Losses:
    """The losses that replaying one log of the collecting setting gives: exact or over-stated.

    The same as `handrail.decide.certificate.replay` on `episodes(p, ...)`, for whole populations.
    """
    log = collecting(settings)
    asked_log = (p.confidence < log.ask) & p.active
    right, denied = goal_right(p, asked_log, log.read_back)
    meant = right & ~p.flaw_silent & ~p.strict.wrong
    differs = asked_log & ~(p.own_right & ~p.human_wrong)
    rows = []
    for s in settings:
        asks = (p.confidence < s.ask) & p.active
        lost = (differs & ~asks).any(axis=1)
        asked = (asks & asked_log).any(axis=1)
        if s.read_back:
            asked = asked | (p.irreversible & ~lost)
        else:
            lost = lost | denied
        done = acts(p, s)
        silent = lost | (done & ~meant)
        rows.append((silent, silent | ~done, asked | ~done | lost, asked | lost))
    return Losses(*(np.array(x, dtype=np.uint8) for x in zip(*rows, strict=True)))


def episodes(p: Population, which: NDArray[np.int64], log: Setting, prefix: str = "e") -> list[Episode]:
    """Some of the population as logged episodes of the collecting setting `log`, in the order of `which`."""
    asked = (p.confidence < log.ask) & p.active
    right, denied = goal_right(p, asked, log.read_back)
    meant = right & ~p.flaw_silent & ~p.strict.wrong
    found = []
    for number, i in enumerate(which):
        trace: list[Choice | ReadBack | DryRun | Replan | Verified] = []
        for j in np.flatnonzero(p.active[i]):
            own = "meant" if p.own_right[i, j] else "other"
            answer = ("wrong" if p.human_wrong[i, j] else "meant") if asked[i, j] else None
            trace.append(Choice(float(p.confidence[i, j]), own, bool(asked[i, j]), answer))
        if log.read_back and p.irreversible[i]:
            trace.append(ReadBack(confirmed=not denied[i]))
        trace.append(DryRun(tuple(bool(c) for c in p.copies[i, : log.copies])))
        trace += [Replan(k) for k in range(1, min(int(p.strict.replans[i]), log.replans + 1) + 1)]
        trace.append(Verified(float(p.strict.lowest[i])))
        found.append(
            Episode(
                id=f"{prefix}{number}",
                cluster=f"{prefix}{number}",
                setting=log,
                ended=Ended.DONE if p.strict.replans[i] <= log.replans else Ended.HANDED_OVER,
                asks=int(asked[i].sum()) + int(log.read_back and p.irreversible[i]),
                truth=bool(meant[i]),
                trace=tuple(trace),
            )
        )
    return found
