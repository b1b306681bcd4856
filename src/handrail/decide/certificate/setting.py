"""The knobs of the closed loop that a certificate chooses among."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from handrail.errors import ConfigError


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """One way to run the loop; frozen while its episodes are collected.

    Attributes:
        ask: the robot acts without asking only where its confidence is at least this, in [0, 1].
        read_back: the goal is read back to the person before the first step that can't be undone.
        copies: simulated copies of a plan that are run before it is carried out; 0 turns dry-runs off.
        passes: copies that must succeed, 0..copies.
        replans: replans allowed in a task before it is handed over.
        strictness: a step counts as achieved only where the verifier's score is at least this, in [0, 1].
    """

    ask: float
    read_back: bool = True
    copies: int = 0
    passes: int = 0
    replans: int = 3
    strictness: float = 0.0

    def __post_init__(self) -> None:
        """Refuse values outside their range.

        Raises:
            ConfigError: a knob is out of range; the message names it.
        """
        if not 0 <= self.ask <= 1:
            raise ConfigError(f"ask must lie in [0, 1], got {self.ask}")
        if not 0 <= self.strictness <= 1:
            raise ConfigError(f"strictness must lie in [0, 1], got {self.strictness}")
        if self.copies < 0 or not 0 <= self.passes <= self.copies:
            raise ConfigError(f"need 0 <= passes <= copies, got {self.passes} of {self.copies}")
        if self.replans < 0:
            raise ConfigError(f"replans must not be negative, got {self.replans}")

    def text(self) -> str:
        """The setting in words, for people."""
        dry = f"{self.passes} of {self.copies} dry-runs must pass" if self.copies else "no dry-run"
        back = "reads the goal back" if self.read_back else "does not read the goal back"
        return (
            f"asks below confidence {self.ask:g}, {back}, {dry}, replans at most {self.replans}, "
            f"a step needs verifier score {self.strictness:g}"
        )


def strictness_key(setting: Setting) -> tuple[float, bool, float, float, int]:
    """Sorts settings by caution: who asks more comes first, then read-back, verification, dry-runs, fewer replans."""
    share = setting.passes / setting.copies if setting.copies else 0.0
    return (-setting.ask, not setting.read_back, -setting.strictness, -share, setting.replans)


def grid(
    ask: Iterable[float],
    read_back: Iterable[bool] = (True, False),
    dry_runs: Iterable[tuple[int, int]] = ((0, 0),),
    replans: Iterable[int] = (3,),
    strictness: Iterable[float] = (0.0,),
) -> tuple[Setting, ...]:
    """All combinations, `dry_runs` being (copies, passes); each setting once, in a fixed order."""
    product = itertools.product(ask, read_back, dry_runs, replans, strictness)
    return tuple(dict.fromkeys(Setting(a, b, c, m, r, s) for a, b, (c, m), r, s in product))


def collecting(settings: Iterable[Setting]) -> Setting:
    """The setting under which one set of episodes can be scored for all `settings` (replay lemma).

    It asks most, reads back if any does, allows the most replans, runs the most dry-runs without obeying them,
    and accepts a step wherever the least strict setting would.

    Raises:
        ConfigError: there are no settings.
    """
    pool = list(settings)
    if not pool:
        raise ConfigError("there are no settings to collect episodes for")
    return Setting(
        ask=max(s.ask for s in pool),
        read_back=any(s.read_back for s in pool),
        copies=max(s.copies for s in pool),
        passes=0,
        replans=max(s.replans for s in pool),
        strictness=min(s.strictness for s in pool),
    )
