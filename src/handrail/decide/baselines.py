"""The rules that KnowNo is compared with (arXiv 2307.01928, section 4).

    Simple Set     options by confidence until their sum reaches 1 - epsilon: takes the model at its word
    Ensemble Set   the same over vote shares of many prompts with different examples
    Prompt Set     the model states the set itself; no epsilon, and none is ever given to it
    Binary         the model says whether it is certain; no epsilon either
    No Help        always the most likely option

None has a guarantee. All give a list of option indices; `policy.read_set` says what such a set means.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

from handrail.decide.rank import Level, exact
from handrail.errors import ConfigError
from handrail.intent.scores.answers import stated_letters

_TOLERANCE = 1e-12


def simple_set(probabilities: Sequence[float], epsilon: Level) -> list[int]:
    """Options by confidence until their sum reaches 1 - epsilon, the crossing one included; unusable ones give all."""
    if any(not p >= 0 for p in probabilities):
        return list(range(len(probabilities)))
    needed, total, out = float(1 - exact(epsilon)) - _TOLERANCE, 0.0, []
    for index in sorted(range(len(probabilities)), key=lambda i: (-probabilities[i], i)):
        out.append(index)
        total += probabilities[index]
        if total >= needed:
            break
    return out


def vote_shares(votes: Sequence[int | None], options: int) -> list[float]:
    """Share of the votes for each option; votes for nothing that is listed are left out; NaN where none is left."""
    counts = [0] * options
    for vote in votes:
        if vote is not None:
            if not 0 <= vote < options:
                raise ConfigError(f"vote for option {vote} of {options}")
            counts[vote] += 1
    total = sum(counts)
    return [c / total for c in counts] if total else [math.nan] * options


def example_subsets(pool: int, prompts: int = 20, seed: int = 0) -> list[list[int]]:
    """Which examples each of the ensemble's prompts holds: random subsets of a pool, of random size from 1 on."""
    if pool < 1 or prompts < 1:
        raise ConfigError("an ensemble needs at least one prompt and one example")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    return [sorted(rng.sample(range(pool), rng.randint(1, pool))) for _ in range(prompts)]


def ensemble_set(votes: Sequence[int | None], options: int, epsilon: Level) -> list[int]:
    """Simple Set over the vote shares; all options where nothing usable was voted for."""
    return simple_set(vote_shares(votes, options), epsilon)


def prompt_set(answer: str, labels: Sequence[str]) -> list[int]:
    """The set that the model states; all options where it states none."""
    return stated_letters(answer, labels) or list(range(len(labels)))


def says_certain(answer: str) -> bool:
    """Whether the answer says Certain; anything else, and "Uncertain", is read as not."""
    match = re.search(r"\b(un|not )?certain\b", answer.strip().lower())
    return match is not None and match.group(1) is None


def binary_set(probabilities: Sequence[float], certain: bool) -> list[int]:
    """The most likely option where the model says it is certain; else all, which asks."""
    return no_help(probabilities) if certain else list(range(len(probabilities)))


def no_help(probabilities: Sequence[float]) -> list[int]:
    """The most likely option, whatever its confidence; unusable confidences give the first."""
    usable = [i for i, p in enumerate(probabilities) if p == p]
    return [max(usable, key=lambda i: (probabilities[i], -i))] if usable else [0]
