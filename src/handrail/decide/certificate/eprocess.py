"""Evidence that can be looked at after every episode: the truncated-beta mixture e-process.

An e-process starts at 1 and, while its null hypothesis holds, exceeds 1/alpha *at any time* with probability at
most alpha (Ville's inequality). It answers "is the risk below the limit?" when episodes are collected until the
answer is clear, and "up to where may the risk be?" with a bound that holds at all times at once.

With S losses in t episodes and a Beta(a, b) prior restricted to one side of m,

    E_t = B(a+S, b+t-S) P(Beta(a+S, b+t-S) on that side)
          / [ B(a, b) P(Beta(a, b) on that side) m^S (1-m)^(t-S) ].

Source: mixtures of the likelihood ratio bets of Waudby-Smith and Ramdas (2024), research of this project.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handrail.decide.certificate.binomial import check_share
from handrail.errors import ConfigError

JEFFREYS = (0.5, 0.5)
"""The default prior (a, b): it pays nearly equally for low and for high risks."""


def _log_mixture(losses: ArrayLike, episodes: ArrayLike, m: ArrayLike, above: bool) -> NDArray[np.float64]:
    from scipy.special import betainc, betaincc, betaln

    s, t = np.asarray(losses, dtype=np.float64), np.asarray(episodes, dtype=np.float64)
    limit = np.asarray(m, dtype=np.float64)
    if np.any(s < 0) or np.any(s > t) or not np.all((limit > 0) & (limit < 1)):
        raise ConfigError(f"need 0 <= losses <= episodes and a limit in (0, 1), got {losses!r}, {episodes!r}, {m!r}")
    a, b = JEFFREYS
    tail = betaincc if above else betainc
    with np.errstate(divide="ignore"):  # a tail of zero is no evidence: log E = -inf is the right value
        posterior = np.log(tail(a + s, b + t - s, limit))
        prior = np.log(tail(a, b, limit))
    return np.asarray(
        betaln(a + s, b + t - s) + posterior - betaln(a, b) - prior - s * np.log(limit) - (t - s) * np.log1p(-limit),
        dtype=np.float64,
    )


def log_e_above(losses: ArrayLike, episodes: ArrayLike, m: ArrayLike) -> NDArray[np.float64]:
    """Log E against *risk <= m* at every time: large when the risk is above m (an alarm)."""
    return _log_mixture(losses, episodes, m, above=True)


def log_e_below(losses: ArrayLike, episodes: ArrayLike, m: ArrayLike) -> NDArray[np.float64]:
    """Log E against *risk >= m*: large when the risk is below m (a certificate)."""
    return _log_mixture(losses, episodes, m, above=False)


def anytime_upper(losses: int, episodes: int, alpha: float) -> float:
    """Upper bound u_t = sup{m : E_t(m) < 1/alpha} of a constant risk; all u_t hold together w.p. >= 1 - alpha."""
    return _anytime(losses, episodes, alpha, upper=True)


def anytime_lower(losses: int, episodes: int, alpha: float) -> float:
    """Lower bound of a constant risk; all of them hold together with probability >= 1 - alpha."""
    return _anytime(losses, episodes, alpha, upper=False)


def _anytime(losses: int, episodes: int, alpha: float, upper: bool) -> float:
    from scipy.optimize import brentq

    check_share("alpha", alpha)
    if not 0 <= losses <= episodes:
        raise ConfigError(f"need 0 <= losses <= episodes, got {losses} of {episodes}")
    if losses == (episodes if upper else 0):
        return 1.0 if upper else 0.0
    log_e = log_e_below if upper else log_e_above
    share = losses / episodes

    def excess(m: float) -> float:
        return float(log_e(losses, episodes, m)) + math.log(alpha)

    inner, outer = (max(share, 1e-12), 1 - 1e-12) if upper else (min(share, 1 - 1e-12), 1e-12)
    if excess(outer) < 0:
        return 1.0 if upper else 0.0
    return float(brentq(excess, inner, outer, xtol=1e-14, rtol=1e-13))


def p_process(losses: ArrayLike, m: float) -> NDArray[np.float64]:
    """Anytime-valid p-values against *risk >= m* after each episode: 1 / max of E so far, at most 1.

    Args:
        losses: 0/1, episodes along the last axis, in the order in which they were started.
        m: the limit.

    Returns:
        p-values in the shape of `losses`; never rising along the last axis.
    """
    x = np.asarray(losses, dtype=np.float64)
    if not np.all((x == 0) | (x == 1)):
        raise ConfigError("the sequential test needs 0/1 losses; clusters of episodes have no sequential version")
    s = np.cumsum(x, axis=-1)
    t = np.broadcast_to(np.arange(1, x.shape[-1] + 1, dtype=np.float64), x.shape)
    log_e = np.maximum.accumulate(log_e_below(s, t, m), axis=-1)
    return np.asarray(np.exp(-np.maximum(log_e, 0.0)), dtype=np.float64)


def first_certifying(losses: int, m: float, delta: float, most: int = 1_000_000) -> int | None:
    """The first episode count at which `losses` losses would be accepted by the sequential test; None beyond `most`.

    With none lost this is the smallest N that the sequential version could ever pass with.
    """
    check_share("delta", delta)
    target = -math.log(delta)
    low, high = max(1, losses), max(2, losses + 1)
    while float(log_e_below(losses, high, m)) < target:
        low, high = high, high * 2
        if low > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if float(log_e_below(losses, middle, m)) >= target:
            high = middle
        else:
            low = middle
    return low if float(log_e_below(losses, low, m)) >= target else high
