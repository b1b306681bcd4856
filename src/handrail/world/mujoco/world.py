"""The physical home as a World: steps become skills by contact, observations come through perception."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from handrail.domain.grounder import grounder
from handrail.domain.operator import Operator
from handrail.domain.plan import Step
from handrail.domain.skill import OnStop
from handrail.domain.state import Observation, State
from handrail.domain.values import Atom, Value
from handrail.errors import ConfigError, DomainError, WorldError
from handrail.world.mujoco import motion
from handrail.world.mujoco.arrange import compile_for, physical_of
from handrail.world.mujoco.faults import Disturbance, Fault, Faults
from handrail.world.mujoco.outcome import Code, Outcome
from handrail.world.mujoco.perception import SEEN, Perception, facts, perceived
from handrail.world.mujoco.scene import PARKED_Y, UNSEEN
from handrail.world.mujoco.sim import Sim
from handrail.world.mujoco.skills import Running, skills_of
from handrail.world.mujoco.snapshot import Snapshot
from handrail.world.mujoco.spec import Physical, read_physical
from handrail.world.protocol import Capabilities, Failure, Progress, Status, Stopped, StopVerdict

PERIODS_PER_POLL = 50
"""Control periods that one poll drives on (a second of simulated time)."""
STILL = 0.02
"""Largest joint speed that counts as standing [rad/s, m/s]."""
_LOOK = 1e-6
"""How far the clock moves for each observation, so that a later look is later although nothing moved."""


@dataclass
class _Attempt:
    """A step that was started."""

    step: Step
    goal_id: str
    progress: Progress
    running: Running | None = None
    operator: Operator | None = None
    undo: deque[np.ndarray] = field(default_factory=lambda: deque(maxlen=150))
    ending: list[np.ndarray] = field(default_factory=list)
    outcome: Outcome | None = None


def physical_args(step: Step, robot: str, hand: str) -> tuple[str, ...]:
    """A step's arguments without the robot and its hand, which the simulated robot does not need to be told."""
    return tuple(a for a in step.args if a not in (robot, hand))


class MujocoWorld:
    """A simulated home or table top.

    Args:
        state: the start, in symbols.
        spec: the physical description; by default the `physical:` part of the state's domain.
        seed: of perception, faults and everything else that is random.
        perception: how well the robot sees.
        faults: what goes wrong.
        name: see `World.name`.
        watch: called with (simulation, step, "before" or "after") around each step, for pictures.

    Raises:
        DomainError, ConfigError: the two descriptions don't fit together.
        MissingExtra: MuJoCo is not installed.
    """

    def __init__(
        self,
        state: State,
        spec: Physical | None = None,
        *,
        seed: int = 0,
        perception: Perception | None = None,
        faults: Faults | None = None,
        name: str = "mujoco",
        watch: Callable[[Sim, Step, str], None] | None = None,
    ) -> None:
        self.name, self.seed = name, seed
        self.spec = spec if spec is not None else read_physical(physical_of(state))
        self.robot, placed = next(iter(self.spec.robots.items()))
        self.hand = placed.hand
        self.perception = perception or Perception()
        self.faults = faults or Faults()
        self.watch = watch
        self.template = state
        self.sim = Sim(compile_for(state, self.spec), seed, self.perception.noise)
        for fork in [self.sim.fork() for _ in range(2)]:
            self.sim.release(fork)
        known = set(state.objects.domain.skills)
        passive = {s.name for s in state.objects.domain.skills.values() if s.asks}
        self.capabilities = Capabilities(
            (self.robot,),
            tuple(sorted((set(skills_of(self.sim)) & known) | passive)),
            forks=True,
            partial=self.perception.miss > 0,
        )
        self._told: dict[Atom, Value] = {a: v for a, v in state.values.items() if a[0] not in SEEN}
        self._attempts: dict[str, _Attempt] = {}
        self._looks = 0
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self.outcomes: list[tuple[str, Step, Outcome]] = []
        """Goal id, step and physical outcome of every step that ended, in order."""

    def time(self) -> float:
        """Simulated time [s], moved on a little by every look."""
        return self.sim.time + self._looks * _LOOK

    @property
    def truth(self) -> State:
        """What is really the case; for tests and scores, never for the one who executes."""
        with self._lock:
            return State(self.template.objects, {**self._told, **facts(self.sim, self.template, self.hand, self.robot)})

    def observe(self) -> Observation:
        """What the robot perceives."""
        with self._lock:
            true = facts(self.sim, self.template, self.hand, self.robot)
            look = self._looks
            self._looks += 1
            scene = self.sim.scene
            seen = perceived(
                true, self.perception.identities(scene, self.seed, look), self.perception.missed(scene, self.seed, look)
            )
            return Observation(State(self.template.objects, {**self._told, **seen}), self.time(), self.name)

    def start(self, step: Step, goal_id: str) -> str:
        """Begin a step; see `World.start`."""
        with self._lock:
            if goal_id in self._attempts:
                return goal_id
            number = len(self._attempts)
            attempt = _Attempt(step, goal_id, Progress(Status.RUNNING, time=self.time()))
            self._attempts[goal_id] = attempt
            self._stop.clear()
            try:
                attempt.operator = grounder(self.template.objects).operator(step)
                skill = self.template.objects.domain.skill(step.skill)
            except DomainError as e:
                return self._refuse(attempt, e.message)
            if any(a.running is not None and not a.progress.status.terminal for a in self._attempts.values()):
                return self._refuse(attempt, "the robot is still busy with another step")
            if skill.asks:
                return goal_id
            if step.skill not in skills_of(self.sim):
                return self._refuse(attempt, f"the simulated robot has no skill '{step.skill}'")
            args = self._resolve(step, number)
            fault = self.faults.drawn(self.seed, number)
            thing = next((a for a in args if a in self.sim.scene.items), None)
            self.sim.disturb = Disturbance(fault, self.seed, number, thing) if fault is not None else None
            if self.watch is not None:
                self.watch(self.sim, step, "before")
            try:
                attempt.running = Running(self.sim, step.skill, *args)
            except (WorldError, TypeError) as e:
                return self._refuse(attempt, str(e))
            return goal_id

    def _refuse(self, attempt: _Attempt, why: str) -> str:
        attempt.progress = Progress(Status.FAILED, Failure.REFUSED, why, self.time())
        return attempt.goal_id

    def _resolve(self, step: Step, number: int) -> tuple[str, ...]:
        """The bodies that perception takes for the step's objects."""
        args = physical_args(step, self.robot, self.hand)
        taken = self.perception.identities(self.sim.scene, self.seed, 100_000 + number)
        # What is in the hand is known by having picked it up; only what lies about can be mistaken.
        held = self.sim.held()
        return tuple(taken.get(a, a) if held is None else a for a in args)

    def poll(self, handle: str) -> Progress:
        """Drive the simulation on and say where the step stands."""
        attempt = self._attempts.get(handle)
        if attempt is None:
            return Progress(Status.LOST, sentence=f"this world knows no step '{handle}'", time=self.time())
        with self._lock:
            if attempt.progress.status.terminal:
                return attempt.progress
            if attempt.running is None:
                self._tell(attempt)
                attempt.progress = Progress(Status.SUCCEEDED, time=self.time(), fraction=1.0)
                return attempt.progress
            for _ in range(PERIODS_PER_POLL):
                if self._stop.is_set() or attempt.progress.status.terminal:
                    break
                self._drive(attempt)
            return attempt.progress

    def _drive(self, attempt: _Attempt) -> None:
        """One control period of a running or ending step."""
        running = attempt.running
        assert running is not None
        if attempt.ending:
            self.sim.data.ctrl[:] = attempt.ending.pop()
            self.sim.tick()
            if not attempt.ending:
                motion.hold(self.sim)
                self._end(attempt, Status.CANCELLED)
            return
        attempt.undo.append(np.array(self.sim.data.ctrl))
        outcome = running.step()
        disturb = self.sim.disturb
        if isinstance(disturb, Disturbance) and disturb.stop_now:
            running.cancel(Code.STOPPED, "The emergency stop was pressed.")
            self._brake()
            attempt.outcome = running.outcome
            self._end(attempt, Status.CANCELLED)
        elif outcome is not None:
            attempt.outcome = outcome
            self._end(attempt, Status.SUCCEEDED if outcome.ok else Status.FAILED)

    def _end(self, attempt: _Attempt, status: Status) -> None:
        outcome = attempt.outcome
        assert outcome is not None
        if status is Status.SUCCEEDED:
            self._tell(attempt)
        self.sim.disturb = None
        self.sim.data.qfrc_applied[:] = 0.0
        details = {"seconds": outcome.seconds, "work": outcome.work, "clearance": outcome.clearance, **outcome.details}
        code = "" if status is Status.SUCCEEDED else str(outcome.code)
        attempt.progress = Progress(status, code, outcome.sentence, self.time(), 1.0 if outcome.ok else None, details)
        self.outcomes.append((attempt.goal_id, attempt.step, outcome))
        if self.watch is not None:
            self.watch(self.sim, attempt.step, "after")

    def _tell(self, attempt: _Attempt) -> None:
        """Effects on facts that no physics carries (hot, asked ...) happen as the domain says."""
        state = {**self._told, **facts(self.sim, self.template, self.hand, self.robot)}
        assert attempt.operator is not None
        changes = attempt.operator.changes({**self.template.values, **state})
        self._told |= {a: v for a, v in changes.items() if a[0] not in SEEN}

    def cancel(self, handle: str) -> None:
        """End one step; the motion ends within a control period, then the hand does what the skill's `on_stop` says."""
        with self._lock:
            attempt = self._attempts.get(handle)
            if attempt is None or attempt.progress.status.terminal or attempt.ending:
                return
            if attempt.running is None:
                attempt.progress = Progress(
                    Status.CANCELLED, Failure.STOPPED, f"{attempt.step} was cancelled", self.time()
                )
                return
            attempt.outcome = attempt.running.cancel()
            skill = self.template.objects.domain.skill(attempt.step.skill)
            here = np.array(self.sim.data.ctrl)
            match skill.on_stop:
                case OnStop.RETRACT:
                    # Back the way it came, which is free; `ending` is taken from its end.
                    attempt.ending = [here, *attempt.undo]
                case OnStop.RELEASE:
                    open_ = here.copy()
                    open_[self.sim.scene.grip_u] = self.sim.scene.profile.opening / 2
                    attempt.ending = [open_] * 15
                case _:
                    self._end(attempt, Status.CANCELLED)

    def stop(self) -> StopVerdict:
        """Hold everything where it is, keep the grip, and look whether it stands; may be called from any thread."""
        self._stop.set()
        if not self._lock.acquire(timeout=5.0):
            return StopVerdict.every(
                (self.robot,), Stopped.UNKNOWN, "The simulator is busy planning; nothing moves meanwhile.", self.time()
            )
        try:
            for attempt in self._attempts.values():
                if attempt.progress.status.terminal:
                    continue
                if attempt.running is None:
                    attempt.progress = Progress(Status.CANCELLED, Failure.STOPPED, "stopped", self.time())
                    continue
                attempt.ending = []
                attempt.outcome = attempt.running.cancel(Code.STOPPED, "Stopped.")
                self._brake()
                self._end(attempt, Status.CANCELLED)
            standing = self._brake()
            sentence = "" if standing else "The arm or the base still moves."
            found = Stopped.STOPPED if standing else Stopped.NOT_STOPPED
            return StopVerdict.every((self.robot,), found, sentence, self.time())
        finally:
            self._lock.release()

    def _brake(self) -> bool:
        """Hold for up to a second of simulated time; whether the robot stands then."""
        sim = self.sim
        if self._speed() < STILL:
            return True
        motion.hold(sim)
        for _ in range(50):
            sim.tick()
            if self._speed() < STILL:
                return True
        return False

    def _speed(self) -> float:
        return float(np.abs(self.sim.data.qvel[self.sim.scene.robot_v]).max())

    def running(self) -> tuple[str, ...]:
        """Goal ids of what has not ended."""
        return tuple(a.goal_id for a in tuple(self._attempts.values()) if not a.progress.status.terminal)

    def fork(self) -> Snapshot:
        """The state now, for a dry-run: the simulator's own poses, but without what no sensor has met yet."""
        with self._lock:
            fork = self.sim.fork()
            if not fork.memory.bumps:
                hide_unseen(fork)
            return Snapshot(fork, self.truth.values, self.robot, self.hand)

    def give_back(self, snapshot: Snapshot) -> None:
        """Reuse a snapshot's buffers; optional, makes the next fork cheap."""
        self.sim.release(snapshot.sim)


def hide_unseen(sim: Sim) -> None:
    """Park the obstacle that no map knows where a run begins; a dry-run must not know what the robot can't."""
    if UNSEEN not in sim.scene.body:
        return
    a, v = int(sim.model.joint(UNSEEN).qposadr[0]), int(sim.model.joint(UNSEEN).dofadr[0])
    if sim.data.qpos[a + 1] < PARKED_Y - 1:
        sim.data.qpos[a : a + 7] = (0.0, PARKED_Y, 0.251, 1, 0, 0, 0)
        sim.data.qvel[v : v + 6] = (0, 0, -1e-6, 0, 0, 0)


def scripted(fault: str, attempt: int) -> Faults:
    """Faults of which exactly one strikes.

    Raises:
        ConfigError: there is no such fault.
    """
    if fault not in set(Fault):
        raise ConfigError(f"there is no fault '{fault}'; valid: {', '.join(Fault)}")
    return Faults(script={attempt: Fault(fault)})
