"""A world adapter of one's own: a toy conveyor with a blocking driver, made fit for handrail, tried by the conformance kit, driven.

The driver below stands for what a robot's vendor gives you: a call that blocks until the motion is over, and a stop button. The
adapter is the part that you write.
"""

import threading
import time

import handrail as hr
from handrail.check import Pipeline
from handrail.domain import Observation, State, Step
from handrail.domain.files import domain_from_text
from handrail.domain.text import parse_goal
from handrail.execute.loop import Executor
from handrail.execute.replan import PlannerFirst
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.world.conformance import check_world
from handrail.world.host import LocalHost
from handrail.world.protocol import Capabilities, Failure, Progress, Status, Stopped, StopVerdict

BELT = """
domain: belt
types:
  belt:
  station:
fluents:
  - "tray(b: belt): station"
skills:
  convey:
    says: "Convey the tray to {to}."
    with: {b: belt, to: station}
    makes: ["tray(b) := to"]
    approval: never
    duration: 1 s
scenarios:
  shift:
    objects: {belt_1: belt, oven: station, icing: station, packing: station}
    state: ["tray(belt_1) := oven"]
"""


class Driver:
    """The vendor's driver: one motor that runs a tray to a station."""

    def __init__(self):
        self.tray = "oven"
        self.halt = threading.Event()

    def convey(self, station, seconds=0.25):
        """Blocks until the tray is there; whether it is."""
        if self.halt.wait(seconds):
            return False
        self.tray = station
        return True

    @property
    def speed(self):
        """Metres per second; this toy brakes at once."""
        return 0.0 if self.halt.is_set() else 0.1


class BeltWorld:
    """The adapter. Its host adds lease, stop in order, proof tokens and the one-run-at-a-time rule."""

    name = "belt"
    capabilities = Capabilities(robots=("belt_1",), skills=("convey",))
    time = staticmethod(time.monotonic)

    def __init__(self):
        domain = domain_from_text(BELT, "belt.yaml")
        self.scene = hr.load_scene(domain)
        self.objects = self.scene.objects
        self.driver = Driver()
        self.lock = threading.Lock()
        self.jobs = {}

    def observe(self):
        """What a sensor sees: where the tray is."""
        return Observation(State(self.objects, {("tray", "belt_1"): self.driver.tray}), self.time(), "light barrier")

    def start(self, step: Step, goal_id):
        """Start in a thread of its own, because the driver blocks; the same goal id never runs twice."""
        with self.lock:
            if goal_id in self.jobs:
                return goal_id
            known = step.skill == "convey" and len(step.args) == 2 and step.args[1] in self.objects.of("station")
            if not known:
                text = f"this belt can't do {step}"
                self.jobs[goal_id] = Progress(Status.FAILED, Failure.REFUSED, text, self.time())
            elif any(not p.status.terminal for p in self.jobs.values()):
                self.jobs[goal_id] = Progress(Status.FAILED, Failure.NOT_READY, "the belt is busy", self.time())
            else:
                self.driver.halt.clear()
                self.jobs[goal_id] = Progress(Status.RUNNING, time=self.time())
                threading.Thread(target=self._work, args=(goal_id, step.args[1]), daemon=True).start()
            return goal_id

    def _work(self, goal_id, station):
        arrived = self.driver.convey(station)
        with self.lock:
            ended = Status.SUCCEEDED if arrived else Status.CANCELLED
            self.jobs[goal_id] = Progress(ended, "" if arrived else Failure.STOPPED, time=self.time())

    def poll(self, handle):
        """Where a job stands; one that nobody started is lost."""
        with self.lock:
            return self.jobs.get(handle) or Progress(Status.LOST, time=self.time())

    def cancel(self, handle):
        """This belt has one job at a time, so a cancel halts the motor, if that job is the one that runs."""
        with self.lock:
            job = self.jobs.get(handle)
        if job is not None and not job.status.terminal:
            self.driver.halt.set()

    def stop(self):
        """Halt, then look at the motor: the verdict is what was measured, not what was ordered."""
        self.driver.halt.set()
        until = time.monotonic() + 0.5
        while self.running() and time.monotonic() < until:
            time.sleep(0.005)
        found = Stopped.STOPPED if self.driver.speed == 0 and not self.running() else Stopped.NOT_STOPPED
        return StopVerdict({"belt_1": found}, time=self.time())

    def running(self):
        """Goal ids of what has not ended."""
        with self.lock:
            return tuple(g for g, p in self.jobs.items() if not p.status.terminal)


def make():
    """What `handrail world check examples.31_a_world_of_your_own:make` would call."""
    return BeltWorld()


if __name__ == "__main__":
    print("The conformance kit:")
    findings = check_world(make())
    for finding in findings:
        print(f"  {finding.outcome:<8} {finding.check}  {finding.sentence}")
    assert not [f for f in findings if f.outcome == "failed"]

    world = make()
    with Runner(LocalHost(world), MemoryLog("example")) as runner:
        pipeline = Pipeline(notary=runner.notary)
        goal = parse_goal("tray(belt_1) == packing", world.objects.domain, world.objects)
        state = world.observe().state
        plan = hr.find_plan(hr.Task(world.objects, goal), state).plan
        verified = pipeline.verify(plan, state, goal)
        approval = runner.approvals.grant(verified, None, "policy: this belt needs nobody")
        outcome = Executor(runner, pipeline, PlannerFirst(hr.find_plan)).run(verified, approval)
    print(f"\nDriven: {outcome.reason}, {outcome.sentence}")

    world = make()
    with Runner(LocalHost(world), MemoryLog("example")) as runner:
        pipeline = Pipeline(notary=runner.notary)
        verified = pipeline.verify(plan, state, goal)
        threading.Timer(0.1, lambda: runner.stop("alex")).start()
        outcome = Executor(runner, pipeline).run(verified, runner.approvals.grant(verified, None, "policy"))
    print(f"Stopped under way: {outcome.sentence}  The tray is at {world.driver.tray}.")
    assert outcome.reason == "STOPPED" and world.running() == ()
