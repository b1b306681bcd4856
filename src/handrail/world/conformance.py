"""The conformance kit: what an adapter must keep so that its robot can be trusted, tried on the adapter itself.

Each check comes from a failure seen in the field: a cancel lost in the first moments, a stop that reports nothing, a goal that runs
twice, an unknown place that hangs the client. `handrail world check module:factory` runs them all.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from handrail.domain.grounder import grounder
from handrail.domain.plan import Step
from handrail.domain.state import State, check_fact
from handrail.domain.values import UNKNOWN, show_fact
from handrail.errors import DomainError, HandrailError
from handrail.world.protocol import Forks, Progress, Status, StopVerdict, World


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        check: its name.
        outcome: "passed", "failed" or "skipped".
        sentence: what was found, or why it was skipped.
    """

    check: str
    outcome: str
    sentence: str = ""


class _Failed(Exception):  # noqa: N818 - ends one check
    pass


class _Skipped(Exception):  # noqa: N818 - ends one check
    pass


@dataclass
class Kit:
    """Tries one world.

    Attributes:
        world: the adapter.
        steps: steps to try; by default every step whose conditions hold in what is observed.
        seconds: how long a step may take to its end.
        quick: seconds that `start` and `observe` may take.
    """

    world: World
    steps: tuple[Step, ...] = ()
    seconds: float = 60.0
    quick: float = 2.0
    _count: int = field(default=0, init=False)

    def run(self) -> Iterator[Finding]:
        """Every check in turn, each on the world as the one before has left it; nothing runs when it ends."""
        for check in CHECKS:
            name = (check.__doc__ or check.__name__).rstrip(".").splitlines()[0]
            try:
                said = check(self)
                yield Finding(name, "passed", said or "")
            except _Failed as e:
                yield Finding(name, "failed", str(e))
            except _Skipped as e:
                yield Finding(name, "skipped", str(e))
            except Exception as e:  # an adapter may raise anything; that is a finding
                yield Finding(name, "failed", f"it raised {type(e).__name__}: {e}")
            finally:
                self._rest()

    def _rest(self) -> None:
        try:
            if self.world.running():
                self.world.stop()
        except Exception:
            return  # the check about stopping says so

    def goal(self) -> str:
        """A goal id that was not used before."""
        self._count += 1
        return f"check/{self._count}/0"

    def state(self) -> State:
        """What is seen now."""
        return self.world.observe().state

    def step(self) -> Step:
        """A step that can be started from what is seen now, and that changes something; one that changes little is preferred."""
        state = self.state()
        domain = state.objects.domain
        allowed = self.world.capabilities.skills or tuple(domain.skills)
        best: tuple[int, Step] | None = None
        for step in self.steps or _all_steps(state, allowed):
            op = grounder(state.objects).operator(step)
            if op.applicable(state.values):
                changes = [a for a, v in op.changes(state.values).items() if state.get(a) != v]
                if changes and (best is None or len(changes) < best[0]):
                    best = (len(changes), step)
                    if len(changes) == 1:
                        break
        if best is None:
            raise _Skipped("no step can be started from what is seen; give --step")
        return best[1]

    def start(self, step: Step | None = None) -> tuple[Step, str, str]:
        """Start a step; returns it, its goal id and its handle."""
        chosen = step or self.step()
        goal = self.goal()
        return chosen, goal, self.world.start(chosen, goal)

    def end(self, handle: str) -> Progress:
        """Poll a step to its end."""
        until = time.monotonic() + self.seconds
        while not (progress := self.world.poll(handle)).status.terminal:
            if time.monotonic() > until:
                raise _Failed(f"it was still {progress.status} after {self.seconds:g} s")
            time.sleep(0.005)
        return progress


def _all_steps(state: State, skills: tuple[str, ...]) -> Iterator[Step]:
    domain = state.objects.domain
    for name in skills:
        skill = domain.skills.get(name)
        if skill is not None and not skill.asks:
            for args in product(*(state.objects.of(*p.types) for p in skill.params)):
                yield Step(name, args)


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise _Failed(sentence)


def capabilities(kit: Kit) -> str:
    """It names its robots, and only skills of its domain."""
    c = kit.world.capabilities
    _need(bool(kit.world.name), "the world has no name")
    _need(bool(c.robots) and all(c.robots), "no robot is named, so no stop can speak for one")
    known = kit.state().objects.domain.skills
    wrong = [s for s in c.skills if s not in known]
    _need(not wrong, f"these skills are not in the domain: {', '.join(wrong)}")
    return f"robots {', '.join(c.robots)}; skills {', '.join(c.skills) or 'all'}"


def clock(kit: Kit) -> None:
    """Its clock never goes back."""
    times = [kit.world.time() for _ in range(50)]
    _need(times == sorted(times), "time() went back")


def observation(kit: Kit) -> str:
    """It observes promptly, and only facts that its domain knows."""
    began = time.monotonic()
    seen = kit.world.observe()
    took = time.monotonic() - began
    _need(took <= kit.quick, f"observe() took {took:.1f} s; it must not take longer than {kit.quick:g} s")
    for atom, value in seen.state.values.items():
        try:
            check_fact(seen.state.objects, atom, value)
        except DomainError as e:
            raise _Failed(e.message) from e
    _need(seen.time <= kit.world.time(), "the observation is dated in the future")
    _need(kit.world.observe().time >= seen.time, "a later observation has an earlier time")
    unknown = sum(v is UNKNOWN for v in seen.state.values.values())
    return f"{len(seen.state.values)} facts, {unknown} unknown"


def unknown_skill(kit: Kit) -> str:
    """A skill that it doesn't know is refused with a code, and nothing hangs."""
    _, _, handle = kit.start(Step("no_such_skill_at_all", ()))
    return _refused(kit, handle)


def unknown_object(kit: Kit) -> str:
    """A place that it doesn't know is refused with a code, and nothing hangs."""
    step = kit.step()
    _, _, handle = kit.start(Step(step.skill, tuple("no_such_thing_11" for _ in step.args)))
    return _refused(kit, handle)


def _refused(kit: Kit, handle: str) -> str:
    progress = kit.end(handle)
    _need(progress.status is Status.FAILED, f"its status is {progress.status}, not failed")
    _need(bool(progress.code), "it failed without a code")
    return f"{progress.code}: {progress.sentence}"


def unknown_handle(kit: Kit) -> None:
    """A handle that it never gave is lost, not an error."""
    status = kit.world.poll("never/0/0").status
    _need(status is Status.LOST, f"its status is {status}, not lost")


def step_runs(kit: Kit) -> str:
    """A step runs to its end, stays ended, and its effect is seen by an observation that is not older."""
    step = kit.step()
    before = kit.state()
    expected = grounder(before.objects).operator(step).changes(before.values)
    began = time.monotonic()
    _, _, handle = kit.start(step)
    took = time.monotonic() - began
    _need(took <= kit.quick, f"start() took {took:.1f} s; it must not wait for the motion")
    progress = kit.end(handle)
    _need(kit.world.poll(handle).status is progress.status, "its status changed after its end")
    _need(progress.time <= kit.world.time(), "its end is dated in the future")
    if progress.status is not Status.SUCCEEDED:
        raise _Skipped(f"{step} ended as {progress.status} ({progress.code}); try another with --step")
    seen = kit.world.observe()
    _need(seen.time >= progress.time, "the observation after the end is older than the end")
    missing = [show_fact(a, v) for a, v in expected.items() if seen.state.get(a) not in (v, UNKNOWN)]
    _need(not missing, f"{step} reported success, but {' and '.join(missing)} is not so")
    return f"{step} in {time.monotonic() - began:.2f} s"


def running_lists(kit: Kit) -> None:
    """What runs is listed under its goal id, and no longer once it has ended."""
    _, goal, handle = kit.start()
    if not kit.world.poll(handle).status.terminal:
        _need(kit.world.running() == (goal,), f"running() is {kit.world.running()} while {goal} runs")
    kit.end(handle)
    _need(goal not in kit.world.running(), f"running() still lists {goal} after its end")


def goal_once(kit: Kit) -> None:
    """The same goal id never runs twice."""
    step, goal, handle = kit.start()
    _need(kit.world.start(step, goal) == handle, "a second start with the same goal id gave another handle")
    _need(kit.world.running().count(goal) <= 1, "the same goal id runs twice")
    kit.end(handle)
    after = kit.state()
    _need(kit.world.start(step, goal) == handle, "a start with the goal id of an ended step gave another handle")
    _need(kit.world.running() == (), "a start with the goal id of an ended step ran it again")
    _need(kit.state().to_json() == after.to_json(), "a start with the goal id of an ended step changed something")


def _cancel(kit: Kit, delay: float) -> str:
    _, _, handle = kit.start()
    time.sleep(delay)
    ended = kit.world.poll(handle).status.terminal
    kit.world.cancel(handle)
    began = time.monotonic()
    progress = kit.end(handle)
    took = time.monotonic() - began
    if ended:
        _need(progress.status is not Status.CANCELLED, "a cancel after the end changed its status")
        raise _Skipped("the step had ended before it could be cancelled")
    lost = progress.status is Status.SUCCEEDED and took > 0.1
    _need(not lost, f"the cancel was lost: the step went on for {took:.2f} s and succeeded")
    _need(kit.world.running() == (), "it is still listed as running after the cancel")
    return f"ended as {progress.status}"


def cancel_0(kit: Kit) -> str:
    """A cancel right after the start is not lost."""
    return _cancel(kit, 0.0)


def cancel_10(kit: Kit) -> str:
    """A cancel 10 ms after the start is not lost."""
    return _cancel(kit, 0.01)


def cancel_100(kit: Kit) -> str:
    """A cancel 100 ms after the start is not lost."""
    return _cancel(kit, 0.1)


def stop_idle(kit: Kit) -> str:
    """A stop while nothing moves gives a verdict for every robot, twice."""
    kit.world.stop()
    return _verdict(kit, kit.world.stop())


def _verdict(kit: Kit, verdict: StopVerdict) -> str:
    _need(isinstance(verdict, StopVerdict), f"stop() gave a {type(verdict).__name__}, not a StopVerdict")
    missing = set(kit.world.capabilities.robots) - set(verdict.robots)
    _need(not missing, f"the verdict says nothing about {', '.join(sorted(missing))}")
    return ", ".join(f"{r} {s}" for r, s in sorted(verdict.robots.items()))


def stop_running(kit: Kit) -> str:
    """A stop ends what runs, from another thread and without waiting for it."""
    _, goal, handle = kit.start()
    found: list[StopVerdict] = []
    thread = threading.Thread(target=lambda: found.append(kit.world.stop()), daemon=True)
    began = time.monotonic()
    thread.start()
    thread.join(kit.quick)
    _need(bool(found), f"stop() did not come back in {kit.quick:g} s")
    took = time.monotonic() - began
    said = _verdict(kit, found[0])
    progress = kit.end(handle)
    _need(goal not in kit.world.running(), "it is still listed as running after the stop")
    return f"{said} after {took * 1000:.0f} ms; the step ended as {progress.status}"


def three_in_a_row(kit: Kit) -> None:
    """Three steps in a row, the first of which is cancelled: the performer is not dead afterwards."""
    for i in range(3):
        _, _, handle = kit.start()
        if i == 0:
            kit.world.cancel(handle)
        progress = kit.end(handle)
        _need(
            i == 0 or progress.status is not Status.CANCELLED, "a later step was cancelled by an earlier one's cancel"
        )


def forks(kit: Kit) -> None:
    """A fork travels, and what happens afterwards does not change it."""
    if not kit.world.capabilities.forks:
        raise _Skipped("this world does not fork, so there is no dry-run")
    _need(isinstance(kit.world, Forks), "it says that it forks but has no fork()")
    assert isinstance(kit.world, Forks)
    snapshot = kit.world.fork()
    before = pickle.dumps(snapshot)
    _, _, handle = kit.start()
    kit.end(handle)
    _need(pickle.dumps(snapshot) == before, "the snapshot changed when the world went on")


CHECKS: tuple[Callable[[Kit], str | None], ...] = (
    capabilities,
    clock,
    observation,
    unknown_handle,
    unknown_skill,
    unknown_object,
    step_runs,
    running_lists,
    goal_once,
    cancel_0,
    cancel_10,
    cancel_100,
    stop_idle,
    stop_running,
    three_in_a_row,
    forks,
)
"""All checks, in order."""


def check_world(world: World, steps: tuple[Step, ...] = (), real: bool = False, seconds: float = 60.0) -> list[Finding]:
    """Run the kit on a world.

    Args:
        world: the adapter. It will move.
        steps: steps to try; by default whatever can be started.
        real: that real things may move for this; needed where the world says that they do.
        seconds: how long a step may take.

    Raises:
        HandrailError: the world moves real things and `real` was not given.
    """
    if world.capabilities.real and not real:
        raise HandrailError(f"'{world.name}' moves real things; clear the space and say so with --real")
    return list(Kit(world, steps, seconds).run())
