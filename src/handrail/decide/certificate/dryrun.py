"""Dry-runs as a score: how many copies must succeed, calibrated on real outcomes, whatever the simulator is worth.

A plan is carried out when at least m of its n simulated copies succeed. Each version says another thing, and
the wording must not be mixed:

- *joint*, with confidence 1 - delta: at most alpha of all plans are accepted and then really fail;
- *conditional*, with confidence 1 - delta: of the accepted plans at most alpha really fail;
- *average*: the first, on average over calibrations only (conformal risk control, Angelopoulos et al. 2022).

All need the real outcomes of plans that the simulator disliked: log them, don't obey, while calibrating. More
copies don't repair a shared blind spot: they converge to the simulator's belief, not to the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.decide.certificate.binomial import check_share, p_value
from handrail.decide.certificate.claims import allowed
from handrail.errors import ConfigError

Version = Literal["joint", "conditional", "average"]


@dataclass(frozen=True, slots=True)
class DryRunThreshold:
    """What was found.

    Attributes:
        version: which statement holds.
        passes: the copies that must succeed; None when no threshold meets the limit (then accept none).
        copies: copies per plan, n.
        limit: alpha.
        delta: chance that the statement is wrong; None for "average", which has no confidence level.
        accepted: share of the calibration plans that this threshold accepts.
        plans: calibration plans.
    """

    version: Version
    passes: int | None
    copies: int
    limit: float
    delta: float | None
    accepted: float
    plans: int

    def text(self) -> str:
        """The statement, in the words of its version and no other."""
        return allowed(self._text())

    def _text(self) -> str:
        if self.passes is None:
            return f"No number of passed dry-runs was found that meets the limit of {100 * self.limit:g} in 100."
        head = f"A plan runs when at least {self.passes} of {self.copies} dry-runs pass"
        share = f"{100 * self.limit:g} in 100"
        if self.version == "average":
            return (
                f"{head}. Averaged over calibrations like this one, at most {share} plans pass and then fail; "
                "for this one calibration nothing is promised."
            )
        wrong = f"By a method that is wrong at most {_one_in(self.delta or 1.0)}"
        if self.version == "joint":
            return f"{head}. {wrong}, at most {share} of all plans pass and then fail."
        return f"{head}. {wrong}, at most {share} of the plans that pass fail."


def _one_in(share: float) -> str:
    n = 1 / share
    return f"1 time in {n:.0f}" if abs(n - round(n)) < 0.01 else f"{100 * share:.3g} times in 100"


def risk_control_index(errors: Sequence[int], plans: int, alpha: float) -> int | None:
    """The loosest of the thresholds (ordered strict to loose) with (errors + 1) / (plans + 1) <= alpha; None if none."""
    fits = [i for i, k in enumerate(errors) if (k + 1) / (plans + 1) <= alpha]
    return fits[-1] if fits else None


def calibrate_dry_run(
    passes: ArrayLike,
    failed: ArrayLike,
    copies: int,
    limit: float,
    *,
    version: Version = "joint",
    delta: float = 0.05,
    starts: Sequence[int] = (),
) -> DryRunThreshold:
    """The loosest number of passes for which the statement of `version` holds.

    Args:
        passes: copies that succeeded, per plan, 0..copies, (plans,).
        failed: whether the plan really failed, (plans,).
        copies: copies per plan.
        limit: alpha, in (0, 1).
        version: which statement.
        delta: chance that it is wrong; not used by "average".
        starts: for "conditional": thresholds at which a walk towards looser ones starts, each at delta / number of
            starts; by default four, spread evenly, because the strictest accept too few plans to have any power.

    Raises:
        ConfigError: a value is out of range.
    """
    s, f = np.asarray(passes), np.asarray(failed).astype(bool)
    check_share("the limit", limit)
    check_share("delta", delta)
    if s.ndim != 1 or s.shape != f.shape or s.size == 0 or copies < 1 or s.min() < 0 or s.max() > copies:
        raise ConfigError(f"need one number of passes 0..{copies} and one outcome per plan")
    accepts = s[None, :] >= np.arange(copies, -1, -1)[:, None]  # strict -> loose, (copies + 1, plans)
    errors, taken = (accepts & f).sum(axis=1), accepts.sum(axis=1)
    if version == "average":
        index = risk_control_index(errors.tolist(), s.size, limit)
    elif version == "joint":
        above = np.flatnonzero(p_value(errors, s.size, limit) > delta)
        index = (int(above[0]) if above.size else copies + 1) - 1
        index = None if index < 0 else index
    else:
        index = _conditional(errors, taken, limit, delta, starts or _spread(copies), copies)
    found = None if index is None else copies - index
    return DryRunThreshold(
        version,
        found,
        copies,
        limit,
        None if version == "average" else delta,
        0.0 if index is None else float(taken[index] / s.size),
        s.size,
    )


def _spread(copies: int) -> tuple[int, ...]:
    return tuple(sorted({round(copies * share) for share in (1.0, 0.8, 0.6, 0.4)}, reverse=True))


def _conditional(
    errors: NDArray[np.int_], taken: NDArray[np.int_], limit: float, delta: float, starts: Sequence[int], copies: int
) -> int | None:
    """Not monotone in the threshold, so a fixed sequence (from several places) is really needed."""
    best: int | None = None
    for start in starts:
        if not 0 <= start <= copies:
            raise ConfigError(f"a start must be a number of passes 0..{copies}, got {start}")
        for i in range(copies - start, copies + 1):
            if taken[i] == 0 or float(p_value(errors[i], int(taken[i]), limit)) > delta / len(starts):
                break
            best = i if best is None else max(best, i)
    return best
