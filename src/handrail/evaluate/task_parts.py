"""The composed statements that a user could make from component data: union bounds, and the product of skill rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from handrail.decide.certificate import Setting
from handrail.evaluate.task_cells import SKILLS, Cell, Floats, Population, accepts, acts, tried

TEXTS, PLANS, CHECKS, BLOCKS = 400, 1000, 500, 2000
"""Labelled texts, audited plans, check questions, and blocks (or tries) per skill that the user has."""


@dataclass(frozen=True)
class Components:
    """True rates of the parts; (settings,) where a setting changes them.

    Attributes:
        missed: per task, the goal acted on is wrong though every answer was right.
        flawed: per task, an accepted plan is flawed without any step noticing.
        stuck: per task, an accepted plan has a step that can't be achieved.
        answers: per task, questions asked.
        human: P(an answer is wrong).
        motion: per step block, verified though it failed.
        given_up: per step block, a limit of the loop was passed (replans, strictness).
        gated: per step block, accepted with a score below the setting's strictness, which hands over.
        rejected: per plan, the dry-run rejects it.
        first_tries: per skill, P(the first try is rejected).
        passes: P(a failed try passes), on objects of average difficulty.
        replans: per setting.
        lengths: distribution of steps in a task, from 0.
    """

    missed: Floats
    flawed: Floats
    stuck: Floats
    answers: Floats
    human: float
    motion: Floats
    given_up: Floats
    gated: Floats
    rejected: Floats
    first_tries: Floats
    passes: float
    replans: NDArray[np.int64]
    lengths: Floats

    @property
    def steps(self) -> float:
        """Mean steps in a task."""
        return float(self.lengths @ np.arange(self.lengths.size))

    @classmethod
    def measure(cls, cell: Cell, p: Population, settings: tuple[Setting, ...]) -> Components:
        """Exact rates on a population."""
        steps = float(p.active.sum(axis=1).mean())
        rows = []
        for s in settings:
            asks = (p.confidence < s.ask) & p.active
            right = (asks | p.own_right | ~p.active).all(axis=1)
            rescued = ~right & p.irreversible & p.caught & s.read_back
            takes = accepts(p, s)
            rows.append(
                (
                    (~right & ~rescued).mean(),
                    (p.flaw_silent & takes).mean(),
                    (p.flaw_seen & takes).mean(),
                    (asks.sum(axis=1) + (p.irreversible & s.read_back)).mean(),
                    (tried(p, s).wrong & (tried(p, s).lowest >= s.strictness)).mean() / steps,
                    (takes & ~acts(p, s)).mean() / steps,
                    (tried(p, s).lowest < s.strictness).mean() / steps,
                    (~takes).mean(),
                )
            )
        missed, flawed, stuck, answers, motion, given_up, gated, rejected = (
            np.array(x, dtype=np.float64) for x in zip(*rows, strict=True)
        )
        return cls(
            missed=missed,
            flawed=flawed,
            stuck=stuck,
            answers=answers,
            human=float(p.human_wrong.mean()),
            motion=motion,
            given_up=given_up,
            gated=gated,
            rejected=rejected,
            first_tries=np.array([p.first_failed[p.active & (p.skill == k)].mean() for k in range(SKILLS)]),
            passes=cell.false_positive,
            replans=np.array([s.replans for s in settings]),
            lengths=np.bincount(p.active.sum(axis=1), minlength=p.active.shape[1] + 1) / p.size,
        )


def measured(rate: Floats | float, trials: int, delta: float, rng: np.random.Generator) -> Floats:
    """Exact upper bounds that data of `trials` trials would give; one draw shared by all settings.

    The shared draw makes settings with equal rates see the same data.
    """
    from scipy.stats import binom

    r = np.atleast_1d(np.asarray(rate, dtype=np.float64))
    values, back = np.unique(r, return_inverse=True)
    k = binom.ppf(rng.random(), trials, values)
    bound = np.where(k >= trials, 1.0, betaincinv(k + 1, np.maximum(trials - k, 1), 1 - delta))
    return np.asarray(bound[back], dtype=np.float64)


@dataclass(frozen=True)
class Bounds:
    """Claimed upper bounds of every setting: silent failure, task failure, and the carrying out alone.

    `execution` bounds P(a step is verified though it failed, or given up): what skills and verifier are blamed for.
    """

    silent: Floats
    task: Floats
    execution: Floats


def union_bounds(c: Components, delta: float, rng: np.random.Generator) -> Bounds:
    """Bounds of every setting from one deployment's component data (proposition 1: no independence)."""
    each = delta / 6
    slips = c.steps * measured(c.motion, BLOCKS * SKILLS, each, rng)
    given_up = c.steps * measured(c.given_up, BLOCKS * SKILLS, each, rng)
    silent = (
        measured(c.missed, TEXTS, each, rng)
        + c.answers * measured(c.human, CHECKS, each, rng)
        + measured(c.flawed, PLANS, each, rng)
        + slips
    )
    return Bounds(silent, silent + measured(c.rejected, PLANS, each, rng) + given_up, slips + given_up)


def product_bounds(c: Components, delta: float, rng: np.random.Generator) -> Bounds:
    """The same by multiplying success rates, as if steps, tries and verifications were independent.

    Every skill's first-try rate and the verifier's error are exact bounds; what is wrong is the multiplication.
    """
    from scipy.special import nbdtrc

    each = delta / (7 + SKILLS)
    rejects = float(np.mean([measured(r, BLOCKS, each, rng)[0] for r in c.first_tries]))
    passes = float(measured(c.passes, BLOCKS, each, rng)[0])
    slips = min(1.0, rejects / max(1e-9, 1 - passes)) * passes / (1 - rejects)
    lengths = np.arange(c.lengths.size)
    unseen = float(c.lengths @ (1 - (1 - slips) ** lengths))
    caps, back = np.unique(c.replans, return_inverse=True)
    gated = measured(c.gated, BLOCKS * SKILLS, each, rng)
    held = c.lengths @ (1 - gated[None, :]) ** lengths[:, None]
    # P(more than `cap` rejected tries before the task's steps have all succeeded), if all tries were independent.
    over = (c.lengths[1:] @ nbdtrc(caps[None, :], lengths[1:, None], 1 - rejects))[back]
    over = 1 - (1 - over) * held
    intent = 1 - (1 - measured(c.missed, TEXTS, each, rng)) * (1 - measured(c.human, CHECKS, each, rng)) ** c.answers
    silent = 1 - (1 - intent) * (1 - measured(c.flawed, PLANS, each, rng)) * (1 - unseen)
    plan = (1 - measured(c.rejected, PLANS, each, rng)) * (1 - measured(c.stuck, PLANS, each, rng))
    task = 1 - (1 - silent) * plan * (1 - over)
    return Bounds(silent, task, 1 - (1 - unseen) * (1 - over))


def execution_risk(p: Population, s: Setting) -> float:
    """The truth behind `Bounds.execution`, for plans that can be carried out at all."""
    t = tried(p, s)
    return float(
        (~p.flaw_seen & accepts(p, s) & (t.wrong | (t.replans > s.replans) | (t.lowest < s.strictness))).mean()
    )
