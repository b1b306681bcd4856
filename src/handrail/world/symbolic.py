"""The symbolic world: the domain's own effects as a world, with faults. The fake of every other world, and the truth of tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from handrail.domain.ground import failing
from handrail.domain.grounder import grounder
from handrail.domain.operator import Operator
from handrail.domain.plan import Step
from handrail.domain.state import Observation, State
from handrail.domain.types import Kind
from handrail.domain.values import UNKNOWN, Atom, Value
from handrail.errors import ConfigError, DomainError
from handrail.world.faults import NONE, SAYS, Fault, Faults
from handrail.world.protocol import Capabilities, Failure, Progress, Status, Stopped, StopVerdict

_SOURCE = "symbolic"


@dataclass
class _Attempt:
    """A step that was started."""

    step: Step
    goal_id: str
    number: int
    operator: Operator | None
    ends: float
    faults: frozenset[Fault]
    progress: Progress


@dataclass(frozen=True)
class Snapshot:
    """What `SymbolicWorld.fork` gives: the true state at a moment."""

    state: State
    time: float


class SymbolicWorld:
    """A world that does what the domain says, or what its faults say instead.

    Args:
        state: the truth at the start.
        faults: what goes wrong.
        seed: of every draw.
        pace: seconds that a skill takes per second of its declared duration (1 s where none is declared); 0 means that a step has
            ended when it is first polled.
        name: see `World.name`.
        robots: names of what moves; by default the objects of type `robot`, or "robot" where there is no such type.
        clock: seconds, monotonic.

    Raises:
        ConfigError: a negative pace, or faults about fluents that the domain doesn't have.
    """

    def __init__(
        self,
        state: State,
        faults: Faults = NONE,
        seed: int = 0,
        pace: float = 0.0,
        name: str = "symbolic",
        robots: tuple[str, ...] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        domain = state.objects.domain
        if not 0 <= pace < float("inf"):
            raise ConfigError(f"pace must be a finite number of seconds per second, at least 0, not {pace!r}")
        for wanted, kind in ((faults.moves, Kind.OBJECT), (faults.shuts, Kind.BOOL), (faults.hides, None)):
            for fluent in wanted:
                if fluent not in domain.fluents or kind not in (None, domain.fluents[fluent].kind):
                    fitting = sorted(f.name for f in domain.fluents.values() if kind in (None, f.kind))
                    raise ConfigError(f"faults name the fluent '{fluent}'; valid here: {', '.join(fitting)}")
        self.name = name
        self.truth: dict[Atom, Value] = dict(state.values)
        self.objects = state.objects
        self.faults = faults
        self.seed = seed
        self.pace = pace
        self.time = clock
        if robots is None:
            robots = (state.objects.of("robot") if "robot" in domain.types else ()) or ("robot",)
        self.capabilities = Capabilities(robots, forks=True, partial=faults.hidden > 0)
        self._attempts: dict[str, _Attempt] = {}
        self._blocks: dict[Step, int] = {}
        self._looks = 0
        self._lock = threading.RLock()
        self.done: list[tuple[str, Step]] = []
        """Goal id and step of every effect that really happened, in order: the witness that tests ask."""

    @property
    def state(self) -> State:
        """The truth, as a state."""
        with self._lock:
            return State(self.objects, self.truth)

    def change(self, *facts: tuple[Atom, Value]) -> None:
        """Change the truth from outside, as a person would."""
        with self._lock:
            self.truth.update(facts)

    def observe(self) -> Observation:
        """The truth, without what is hidden this time."""
        with self._lock:
            now = self.time()
            values = dict(self.truth)
            if self.faults.hidden:
                look = self._looks
                self._looks += 1
                chance = self.faults.draw(self.seed, "hidden", str(look))
                for atom in sorted(values):
                    unseen = chance.random() < self.faults.hidden
                    if unseen and (not self.faults.hides or atom[0] in self.faults.hides):
                        values[atom] = UNKNOWN
            return Observation(State(self.objects, values), now, _SOURCE)

    def start(self, step: Step, goal_id: str) -> str:
        """Begin a step; see `World.start`."""
        with self._lock:
            if goal_id in self._attempts:
                return goal_id
            number = len(self._attempts)
            now = self.time()
            self._people(number, step)
            op, refusal = self._ready(step, now)
            struck = frozenset(f for f in Fault if self.faults.strikes(self.seed, f, number, step))
            if Fault.BLOCKED in struck and not self._is_blocked(step, number):
                struck -= {Fault.BLOCKED}
            progress = refusal or Progress(Status.RUNNING, time=now)
            ends = now + self._duration(step)
            self._attempts[goal_id] = _Attempt(step, goal_id, number, op, ends, struck, progress)
            return goal_id

    def _people(self, number: int, step: Step) -> None:
        """What people do just before a step."""
        f = self.faults
        if f.strikes(self.seed, Fault.MOVED, number, step):
            chance = f.draw(self.seed, "moved what", str(number))
            held = {v for a, v in self.truth.items() if a[0] not in f.moves and isinstance(v, str)}
            able = [a for a in sorted(self.truth) if a[0] in f.moves and self.truth[a] is not None and a[1] not in held]
            if able:
                atom = chance.choice(able)
                others = [v for v in self.objects.values_of(self.objects.domain.fluents[atom[0]]) if v is not None]
                places = [v for v in others if v != self.truth[atom] and v not in atom]
                if places:
                    self.truth[atom] = chance.choice(places)
        if f.strikes(self.seed, Fault.SHUT, number, step):
            able = [a for a in sorted(self.truth) if a[0] in f.shuts and self.truth[a] is True]
            if able:
                self.truth[f.draw(self.seed, "shut what", str(number)).choice(able)] = False

    def _ready(self, step: Step, now: float) -> tuple[Operator | None, Progress | None]:
        """The step's operator, or why it can't begin."""
        try:
            op = grounder(self.objects).operator(step)
        except DomainError as e:
            return None, Progress(Status.FAILED, Failure.REFUSED, e.message, now)
        for p, a in zip(self.objects.domain.skills[step.skill].params, step.args, strict=True):
            if a not in self.objects.members(*p.types):
                return None, Progress(
                    Status.FAILED, Failure.REFUSED, f"{step}: '{a}' is no {' or '.join(p.types)} here", now
                )
        if not op.applicable(self.truth):
            missing = [str(n) for _, node in op.needs for n in failing(node, self.truth)]
            missing += [g.text for g in op.guards if not g.node.holds(self.truth)]
            return None, Progress(Status.FAILED, Failure.NOT_READY, f"{step} needs {' and '.join(missing)}", now)
        return op, None

    def _is_blocked(self, step: Step, number: int) -> bool:
        met = self._blocks.get(step, 0)
        self._blocks[step] = met + 1
        return number in self.faults.script or self.faults.blocked_for == 0 or met < self.faults.blocked_for

    def _duration(self, step: Step) -> float:
        skill = self.objects.domain.skills.get(step.skill)
        return self.pace * (skill.duration if skill is not None and skill.duration is not None else 1.0)

    def poll(self, handle: str) -> Progress:
        """Where a step stands; its effect happens when its time is over, whether or not anybody polls at that moment."""
        with self._lock:
            found = self._attempts.get(handle)
            if found is None:
                return Progress(Status.LOST, sentence=f"this world knows no step '{handle}'", time=self.time())
            self._settle(found)
            if found.progress.status is Status.RUNNING and self.pace:
                span = self._duration(found.step)
                left = max(0.0, found.ends - self.time())
                return replace(found.progress, fraction=min(1.0, 1 - left / span) if span else None)
            return found.progress

    def _settle(self, a: _Attempt) -> None:
        if a.progress.status.terminal or a.operator is None or self.time() < a.ends:
            return
        if a.faults & {Fault.HANG, Fault.DEAF}:
            return
        now = max(a.ends, a.progress.time)
        if Fault.LOST in a.faults:
            if self.faults.draw(self.seed, "lost after", str(a.number)).random() < 0.5:
                self._effect(a)
            a.progress = Progress(Status.LOST, sentence=f"this world lost track of {a.step}", time=now)
            return
        for fault in (Fault.BLOCKED, Fault.SLIP):
            if fault in a.faults:
                code, says = SAYS[fault]
                a.progress = Progress(Status.FAILED, code, says, now)
                return
        if not a.operator.applicable(self.truth):
            a.progress = Progress(Status.FAILED, Failure.NOT_READY, "something changed under way", now)
            return
        if Fault.LIAR not in a.faults:
            self._effect(a)
        if Fault.DENIER in a.faults:
            code, says = SAYS[Fault.DENIER]
            a.progress = Progress(Status.FAILED, code, says, now)
            return
        a.progress = Progress(Status.SUCCEEDED, time=now, fraction=1.0)

    def _effect(self, a: _Attempt) -> None:
        if a.operator is not None:
            a.operator.apply(self.truth)
            self.done.append((a.goal_id, a.step))

    def cancel(self, handle: str) -> None:
        """End one step; see `World.cancel`."""
        with self._lock:
            found = self._attempts.get(handle)
            if found is not None:
                self._settle(found)
                if not found.progress.status.terminal and Fault.DEAF not in found.faults:
                    self._cut(found, "cancelled")

    def _cut(self, a: _Attempt, why: str) -> None:
        if self.faults.cut and self.faults.draw(self.seed, "cut", str(a.number)).random() < self.faults.cut:
            self._effect(a)
        a.progress = Progress(Status.CANCELLED, Failure.STOPPED, f"it was {why}", self.time())

    def stop(self) -> StopVerdict:
        """End everything that runs."""
        with self._lock:
            for a in self._attempts.values():
                self._settle(a)
                if not a.progress.status.terminal:
                    self._cut(a, "stopped")
            return StopVerdict.every(self.capabilities.robots, Stopped.STOPPED, time=self.time())

    def running(self) -> tuple[str, ...]:
        """Goal ids of what has not ended."""
        with self._lock:
            for a in self._attempts.values():
                self._settle(a)
            return tuple(a.goal_id for a in self._attempts.values() if not a.progress.status.terminal)

    def fork(self) -> Snapshot:
        """The truth now, as a copy."""
        with self._lock:
            return Snapshot(State(self.objects, self.truth), self.time())
