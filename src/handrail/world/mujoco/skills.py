"""The skills by name, and running one: a control period at a time, cancellable at each."""

from __future__ import annotations

from collections.abc import Callable, Generator

from handrail.errors import WorldError, did_you_mean
from handrail.world.mujoco import motion, suction
from handrail.world.mujoco.act import Act
from handrail.world.mujoco.doors import close, open_
from handrail.world.mujoco.give import hand_over
from handrail.world.mujoco.go import navigate_to
from handrail.world.mujoco.lever import switch_off, switch_on
from handrail.world.mujoco.outcome import Code, Outcome, SkillFailure
from handrail.world.mujoco.pick import pick
from handrail.world.mujoco.place import place
from handrail.world.mujoco.pour import pour
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.wipe import wipe

Skill = Callable[..., Generator[None, None, None]]

LIMIT = 6000
"""Control periods that a skill may take (two minutes of simulated time)."""

SKILLS: dict[str, Skill] = {
    "navigate_to": navigate_to,
    "pick": pick,
    "place": place,
    "open": open_,
    "close": close,
    "pour": pour,
    "wipe": wipe,
    "hand_over": hand_over,
    "switch_on": switch_on,
    "switch_off": switch_off,
}

SUCTION: dict[str, Skill] = {"pick": suction.pick, "place": suction.place}


def skills_of(sim: Sim) -> dict[str, Skill]:
    """What the robot of a scene can do, by name."""
    return SKILLS if sim.scene.profile.kind == "mobile_arm" else SUCTION


class Running:
    """A skill in progress. Planning happens inside `step`, motion one control period for each call."""

    def __init__(self, sim: Sim, skill: str, *args: str, limit: int = LIMIT) -> None:
        known = skills_of(sim)
        if skill not in known:
            raise WorldError(f"the simulated robot has no skill '{skill}'.{did_you_mean(skill, set(known))}")
        self.sim = sim
        self.act = Act(sim, limit)
        self.outcome: Outcome | None = None
        self._motion = known[skill](self.act, *args)

    def step(self) -> Outcome | None:
        """Move on by one control period; the outcome once it ended."""
        if self.outcome is not None:
            return self.outcome
        try:
            next(self._motion)
            self.sim.tick()
            self.act.watch()
        except StopIteration:
            self.outcome = self.act.finish(Code.DONE, "Done.")
        except SkillFailure as failure:
            self._end(failure.code, failure.sentence, failure.blockers, **failure.details)
        return self.outcome

    def cancel(self, code: Code = Code.CANCELLED, sentence: str = "Cancelled.") -> Outcome:
        """End now: the drives hold where they are, the gripper keeps its grip."""
        if self.outcome is None:
            self._end(code, sentence)
        assert self.outcome is not None
        return self.outcome

    def _end(self, code: Code, sentence: str, blockers: tuple[str, ...] = (), **details: float | str) -> None:
        self._motion.close()
        motion.hold(self.sim)
        self.outcome = self.act.finish(code, sentence, blockers, **details)

    def run(self) -> Outcome:
        """To the end."""
        while self.outcome is None:
            self.step()
        return self.outcome


def perform(sim: Sim, skill: str, *args: str, limit: int = LIMIT) -> Outcome:
    """Run one skill to its end."""
    return Running(sim, skill, *args, limit=limit).run()
