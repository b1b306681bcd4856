"""One logged set of episodes scores every setting (replay lemma).

Episodes are run under the *collecting* setting: it asks most, replans most, runs dry-runs without obeying them and
accepts steps most readily. A candidate setting is scored by walking the log up to the first point where it would
have gone another way:

- it would not have asked: where its own choice equals the person's answer nothing changes; otherwise, and where
  the question was never answered, the episode counts as lost in both senses;
- it has fewer replans, a stricter dry-run or a stricter verifier: it *hands over* there. That is exact for the
  variant that hands over where its limits are passed, which is the variant that has to be deployed.

So losses are exact or over-stated, and p-values stay valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handrail.decide.certificate.episode import Choice, DryRun, Ended, Episode, ReadBack, Replan, Verified
from handrail.decide.certificate.setting import Setting
from handrail.errors import ConfigError


@dataclass(frozen=True)
class Losses:
    """0/1 losses, each (settings, episodes): `silent`, `task`, `help` (asked, or not done), and `asked` alone.

    Where a setting is lost because the log can't follow it, it counts as having asked: over-stated like the rest.
    """

    silent: NDArray[np.uint8]
    task: NDArray[np.uint8]
    help: NDArray[np.uint8]
    asked: NDArray[np.uint8]


def replay(settings: Sequence[Setting], episodes: Sequence[Episode]) -> Losses:
    """The losses that each setting would have had in each episode.

    Raises:
        ConfigError: a setting asks, checks or replans more than an episode was collected with, so that its log
            does not tell what would have happened.
    """
    knobs = _Knobs(settings)
    silent, task, help_, asked = (np.empty((len(settings), len(episodes)), dtype=np.uint8) for _ in range(4))
    for j, episode in enumerate(episodes):
        silent[:, j], task[:, j], help_[:, j], asked[:, j] = knobs.walk(episode)
    return Losses(silent, task, help_, asked)


class _Knobs:
    """The settings as arrays, one entry per setting."""

    def __init__(self, settings: Sequence[Setting]) -> None:
        self.settings = settings
        self.ask = np.array([s.ask for s in settings])
        self.read_back = np.array([s.read_back for s in settings], dtype=bool)
        self.copies = np.array([s.copies for s in settings])
        self.passes = np.array([s.passes for s in settings])
        self.replans = np.array([s.replans for s in settings])
        self.strictness = np.array([s.strictness for s in settings])

    def walk(self, episode: Episode) -> tuple[NDArray[np.bool_], ...]:
        """(silent, task, help, asked) of every setting in one episode."""
        n = len(self.settings)
        if episode.ended is Ended.DROPPED:
            return (np.ones(n, dtype=bool),) * 4
        self._check(episode)
        alive = np.ones(n, dtype=bool)
        """Settings whose run is the logged run so far."""
        lost = np.zeros(n, dtype=bool)
        """Settings that acted where the log can't show that it was right: lost in both senses."""
        over = np.zeros(n, dtype=bool)
        """Settings that handed over before the logged end."""
        asked = np.zeros(n, dtype=bool)
        for point in episode.trace:
            if isinstance(point, Choice):
                if point.own is None:
                    asked |= alive
                    continue
                asks = alive & (point.confidence < self.ask)
                if not point.asked:
                    if asks.any():
                        self._refuse(episode, int(np.flatnonzero(asks)[0]), "asks where the logged run did not")
                    continue
                asked |= asks
                if point.answer is None or point.answer != point.own:
                    lost |= alive & ~asks
                    alive &= asks
            elif isinstance(point, ReadBack):
                asked |= alive & self.read_back
                if point.confirmed is not True:
                    lost |= alive & ~self.read_back
                    alive &= self.read_back
            elif isinstance(point, DryRun):
                over |= (stop := alive & self._rejects(episode, point))
                alive &= ~stop
            elif isinstance(point, Replan):
                over |= (stop := alive & (point.number > self.replans))
                alive &= ~stop
            elif isinstance(point, Verified) and point.score >= episode.setting.strictness:
                over |= (stop := alive & (point.score < self.strictness))
                alive &= ~stop
        done = alive & (episode.ended is Ended.DONE)
        wrong = done & (episode.truth is not True)
        handed = over | (alive & (episode.ended is not Ended.DONE))
        return wrong | lost, wrong | lost | handed, asked | handed | lost, asked | lost

    def _rejects(self, episode: Episode, point: DryRun) -> NDArray[np.bool_]:
        passed = np.concatenate([[0], np.cumsum(point.passed)])
        short = self.copies > len(point.passed)
        if short.any():
            self._refuse(
                episode, int(np.flatnonzero(short)[0]), f"runs more than the {len(point.passed)} logged copies"
            )
        return np.asarray(passed[self.copies] < self.passes)

    def _check(self, episode: Episode) -> None:
        ran = episode.setting
        for found, what in (
            (self.read_back & (not ran.read_back), "reads the goal back, which the logged run did not"),
            (self.replans > ran.replans, f"replans more than the {ran.replans} times of the logged run"),
            (self.strictness < ran.strictness, f"is less strict than the logged run ({ran.strictness:g})"),
            (self.copies > ran.copies, f"runs more dry-runs than the {ran.copies} of the logged run"),
        ):
            if found.any():
                self._refuse(episode, int(np.flatnonzero(found)[0]), what)

    def _refuse(self, episode: Episode, index: int, what: str) -> None:
        raise ConfigError(
            f"episode '{episode.id}' can't score the setting ({self.settings[index].text()}): it {what}. "
            "Collect episodes under the declaration's collecting setting"
        )
