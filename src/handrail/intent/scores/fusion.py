"""Several scores as one: a conditional logit.

The probability of an option is softmax over the list of w . x, with x the option's numbers (McFadden 1974). The
weights are fitted by maximum likelihood on scenarios of their own, never on those that calibrate; where several options
are acceptable, the likelihood is of any of them. A small ridge keeps weights finite where data are few.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from handrail.domain.option import Fingerprint, Option, Score
from handrail.errors import ConfigError, ParseError, Where
from handrail.intent.scores.scorer import Context, Scorer, digest, provenance

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """A fitted conditional logit.

    Attributes:
        names: of the features, in order.
        values: one weight each.
        cases: how many scenarios it was fitted on.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    cases: int = 0

    def utility(self, features: Floats) -> Floats:
        """Shape (options, features) -> (options,)."""
        return np.asarray(features @ np.array(self.values))

    def save(self, path: Path) -> Path:
        """Write as JSON."""
        body = {"names": self.names, "values": self.values, "cases": self.cases}
        path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read from JSON.

        Raises:
            ParseError: not such a file.
        """
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
            made = cls(tuple(body["names"]), tuple(float(v) for v in body["values"]), int(body["cases"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ParseError(f"not a file of fusion weights: {error}", Where(str(path))) from error
        if len(made.names) != len(made.values) or not np.isfinite(made.values).all():
            raise ParseError("fusion weights need one finite number for each name", Where(str(path)))
        return made


def fit(
    names: Sequence[str],
    cases: Sequence[Floats],
    acceptable: Sequence[Sequence[int]],
    ridge: float = 0.01,
    nonnegative: bool = False,
) -> Weights:
    """Fit the weights.

    Args:
        names: of the features.
        cases: features per scenario, shape (options, features), all finite.
        acceptable: indices of the options that would do, per scenario; scenarios without any are left out.
        ridge: penalty on the squared weights, of features scaled to unit spread, per scenario.
        nonnegative: no feature counts against an option: for scores, where "higher is better" was known before.

    Raises:
        ConfigError: nothing to learn from, or features that don't fit together.
    """
    from scipy.optimize import minimize

    used = [(x, list(a)) for x, a in zip(cases, acceptable, strict=True) if a]
    if not used:
        raise ConfigError("no scenario with an acceptable option to fit on")
    if any(x.ndim != 2 or x.shape[1] != len(names) or not np.isfinite(x).all() for x, _ in used):
        raise ConfigError(f"each scenario needs finite features of shape (options, {len(names)})")
    spread = np.concatenate([x - x.mean(axis=0) for x, _ in used]).std(axis=0)
    spread[spread == 0] = 1.0
    scaled = [(x / spread, a) for x, a in used]

    def loss(w: Floats) -> tuple[float, Floats]:
        total, slope = ridge * len(scaled) * float(w @ w), 2 * ridge * len(scaled) * w
        for x, a in scaled:
            p = _softmax(x @ w)
            mass = float(p[a].sum())
            total -= float(np.log(max(mass, 1e-300)))
            slope -= (p[a] @ x[a]) / max(mass, 1e-300) - p @ x
        return total, slope

    bounds = [(0.0, None)] * len(names) if nonnegative else None
    found = minimize(loss, np.full(len(names), 0.1), jac=True, method="L-BFGS-B", bounds=bounds)
    return Weights(tuple(names), tuple((found.x / spread).tolist()), len(used))


def _softmax(u: Floats) -> Floats:
    e = np.exp(u - u.max())
    return np.asarray(e / e.sum())


class Fusion:
    """Scorers combined by fitted weights; all must be on the log scale. One that counts for nothing is not asked.

    Args:
        scorers: in the weights' order; their kinds must be the weights' names.
        weights: see `fit`.
    """

    kind = "fusion"

    def __init__(self, scorers: Sequence[Scorer], weights: Weights) -> None:
        if len(scorers) != len(weights.names):
            raise ConfigError(f"{len(scorers)} scorers for the weights of {', '.join(weights.names)}")
        self.scorers, self.weights = tuple(scorers), weights

    @property
    def provenance(self) -> Fingerprint:
        """What the fused scores depend on: the weights, and all that the single scores do."""
        parts: dict[str, object] = {"weights of the fusion": digest(repr(self.weights))}
        for scorer, name in zip(self.scorers, self.weights.names, strict=True):
            for part, value in scorer.provenance.parts:
                if part == "score":
                    continue
                clash = part in parts and parts[part] != value
                parts[f"{name} {part}" if clash else part] = value
        return provenance(self.kind, **parts)

    def score(self, context: Context, options: Sequence[Option]) -> list[Score]:
        """See `Scorer`.

        Raises:
            ConfigError: a scorer is not the one that its weight was fitted for.
        """
        columns: list[list[float]] = []
        bounds = [False] * len(options)
        for scorer, name, weight in zip(self.scorers, self.weights.names, self.weights.values, strict=True):
            if weight == 0:
                columns.append([0.0] * len(options))
                continue
            scores = scorer.score(context, options)
            if scores[0].kind != name or scores[0].scale != "log":
                raise ConfigError(
                    f"the weight '{name}' is for another scorer than '{scores[0].kind}' ({scores[0].scale})"
                )
            columns.append([s.value for s in scores])
            bounds = [b or s.upper_bound for b, s in zip(bounds, scores, strict=True)]
        made = self.provenance
        values = self.weights.utility(np.array(columns).T)
        return [Score(float(v), self.kind, "log", b, made) for v, b in zip(values, bounds, strict=True)]
