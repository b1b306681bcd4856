"""A copy of the live state that a dry-run may use, here or in another process."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from handrail.domain.values import Atom, Value
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.spec import Physical

_FIELDS = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")


@lru_cache(maxsize=8)
def _compiled(spec: str) -> Scene:
    return Scene.compile(Physical.model_validate_json(spec))


class Snapshot:
    """The state of a `MujocoWorld` at a moment.

    In the process that made it a dry-run on it is bitwise equal to the live run. Pickled, poses, speeds and commands travel and
    everything wakes up: MuJoCo's sleep state can't be restored elsewhere, so motions then agree within solver tolerance only.

    Attributes:
        sim: the copied simulation; `check` forks it again, so a snapshot serves many times.
        facts: what holds in it, facts that no physics carries included.
    """

    def __init__(self, sim: Sim, facts: dict[Atom, Value], robot: str, hand: str) -> None:
        self.sim, self.facts, self.robot, self.hand = sim, facts, robot, hand

    def __getstate__(self) -> dict[str, Any]:
        data = self.sim.data
        return {
            "spec": self.sim.scene.spec.model_dump_json(),
            "arrays": {n: np.array(getattr(data, n)) for n in _FIELDS},
            "time": float(data.time),
            "memory": self.sim.memory,
            "seed": self.sim.seed,
            "noise": self.sim.noise,
            "facts": self.facts,
            "robot": self.robot,
            "hand": self.hand,
        }

    def __setstate__(self, body: dict[str, Any]) -> None:
        scene = _compiled(body["spec"])
        sim = Sim(scene, body["seed"], body["noise"])
        mujoco.mj_resetData(sim.model, sim.data)
        for name, value in body["arrays"].items():
            getattr(sim.data, name)[:] = value
        sim.data.time = body["time"]
        mujoco.mj_forward(sim.model, sim.data)
        sim.memory = body["memory"]
        self.sim, self.facts, self.robot, self.hand = sim, body["facts"], body["robot"], body["hand"]
