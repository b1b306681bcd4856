"""The physical home: forks, dry-runs and refusals in process-CPU seconds, beside a plain MuJoCo stepping loop on the same motions."""

from __future__ import annotations

import copy
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any

import mujoco
import numpy as np

from handrail.evaluate.home_parts import physical
from handrail.world.mujoco.scene import Scene
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.skills import perform

TASKS = (("mug", "table"), ("water", "table"), ("bowl", "counter"), ("cube", "counter"))
REFUSALS = (
    ("pick", "vase"),  # on the high shelf
    ("pick", "cola"),  # behind a closed door
    ("pick", "box"),  # too wide
    ("pick", "pot"),  # too heavy
)


def cpu(call: Any, times: int) -> float:
    """Median process-CPU seconds."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return median(taken)


def forks(sim: Sim) -> dict[str, float]:
    def one() -> None:
        for _ in range(100):
            sim.release(sim.fork())

    one()
    return {"fork_us": cpu(one, 20) / 100 * 1e6, "new_mjdata_us": cpu(lambda: copy.copy(sim.data), 20) * 1e6}


class Recorded(Sim):
    """Keeps the commands of every control period."""

    def tick(self) -> None:
        self.commands.append(np.array(self.data.ctrl))
        super().tick()


def pick_place(scene: Scene, item: str, to: str) -> dict[str, Any]:
    sim = Recorded(scene)
    sim.commands = []
    start = mujoco.MjData(scene.model)
    mujoco.mj_copyData(start, scene.model, sim.data)
    began, clock = time.process_time(), sim.time
    outcomes = [perform(sim, "pick", item), perform(sim, "place", item, to)]
    full = time.process_time() - began
    sim_s = sim.time - clock
    began = time.process_time()
    for ctrl in sim.commands:
        start.ctrl[:] = ctrl
        mujoco.mj_step(scene.model, start, scene.substeps)
    plain = time.process_time() - began
    return {
        "ok": all(o.ok for o in outcomes), "cpu_s": round(full, 3), "sim_s": round(sim_s, 2), "real_time_factor": round(sim_s / full, 1),
        "plain_loop_cpu_s": round(plain, 3), "ratio_to_plain_loop": round(full / plain, 2),
        "same_end_state": bool((start.qpos == sim.data.qpos).all()),
    }  # fmt: skip


def refusals(scene: Scene) -> dict[str, Any]:
    out = {}
    for skill, item in REFUSALS:
        sim = Sim(scene)
        perform(sim, skill, item)  # fills the caches that a scene makes once
        began = time.process_time()
        outcome = perform(sim, skill, item)
        out[item] = {"code": str(outcome.code), "cpu_s": round(time.process_time() - began, 4)}
    sim = Sim(scene)
    if perform(sim, "pick", "mug").ok:
        began = time.process_time()
        outcome = perform(sim, "place", "mug", "shelf_high")
        out["mug onto the high shelf"] = {"code": str(outcome.code), "cpu_s": round(time.process_time() - began, 4)}
    return out


def idle(scene: Scene, periods: int) -> dict[str, float]:
    sim = Sim(scene)
    for _ in range(50):
        sim.tick()
    awake_model = copy.copy(scene.model)
    awake_model.opt.enableflags = 0
    awake = mujoco.MjData(awake_model)
    awake.qpos[:], awake.ctrl[:] = sim.data.qpos, sim.data.ctrl
    mujoco.mj_forward(awake_model, awake)
    n = scene.substeps * periods

    def run(model: Any, data: Any) -> float:
        began = time.process_time()
        mujoco.mj_step(model, data, n)
        return n / (time.process_time() - began)

    asleep, up = run(scene.model, sim.data), run(awake_model, awake)
    return {"steps_per_s_asleep": round(asleep), "steps_per_s_awake": round(up), "ratio": round(asleep / up, 2)}


def _job(_: int) -> bool:
    global _SIM
    try:
        sim = _SIM
    except NameError:
        sim = _SIM = Sim(Scene.compile(physical()))
    fork = sim.fork()
    try:
        return perform(fork, "pick", "mug").ok
    finally:
        sim.release(fork)


def scaling(jobs: int) -> dict[str, float]:
    """Dry-runs of a pick per wall second, by number of worker processes; on a busy machine this shows the machine."""
    out = {}
    for n in (1, 2):
        with ProcessPoolExecutor(n, mp_context=get_context("spawn")) as pool:
            list(pool.map(_job, range(n)))
            began = time.perf_counter()
            list(pool.map(_job, range(jobs)))
            out[f"picks_per_s_{n}_processes"] = round(jobs / (time.perf_counter() - began), 2)
    return out


def run(quick: bool) -> dict[str, Any]:
    """All figures."""
    began = time.process_time()
    scene = Scene.compile(physical())
    compiled = time.process_time() - began
    sim = Sim(scene)
    return {
        "timestep_s": scene.model.opt.timestep,
        "control_period_s": sim.period,
        "compile_s": round(compiled, 4),
        **{k: round(v, 1) for k, v in forks(sim).items()},
        "pick_place": {item: pick_place(scene, item, to) for item, to in (TASKS[:2] if quick else TASKS)},
        "refusals": refusals(scene),
        "idle": idle(scene, 100 if quick else 1000),
        "scaling": {} if quick else scaling(12),
    }
