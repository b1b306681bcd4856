"""A fake robot that fails in every way there is: watch what the executor believes, tries again, asks, and refuses to claim.

The world is symbolic; its faults are scripted by the number of the start, so that every run is the same.
"""

import handrail as hr
from handrail.check import Pipeline
from handrail.domain.files import domain_from_text
from handrail.domain.text import parse_goal
from handrail.execute.budget import Budgets
from handrail.execute.card import make_card
from handrail.execute.loop import Executor
from handrail.execute.person import Callback
from handrail.execute.replan import PlannerFirst
from handrail.execute.replay import replay, sections
from handrail.execute.runner import Runner
from handrail.record.event import MemoryLog
from handrail.world.faults import Fault, Faults
from handrail.world.host import LocalHost
from handrail.world.symbolic import SymbolicWorld

PANTRY = """
domain: pantry
types:
  robot:
  hand:
  place:
  item:
  vessel: {is: item}
fluents:
  - "at(r: robot): place"
  - "holding(h: hand): item?"
  - "on(i: item): place?"
  - "full(v: vessel): bool"
skills:
  go:
    says: "Go to the {to}."
    with: {r: robot, to: place}
    makes: ["at(r) := to"]
    approval: never
  pick:
    says: "Pick up the {thing}."
    with: {r: robot, hand: hand, thing: item}
    needs: ["holding(hand) == none", "at(r) == on(thing)"]
    makes: ["holding(hand) := thing", "on(thing) := none"]
  place:
    says: "Put the {thing} on the {to}."
    with: {r: robot, hand: hand, thing: item, to: place}
    needs: ["holding(hand) == thing", "at(r) == to"]
    makes: ["holding(hand) := none", "on(thing) := to"]
  pour:
    says: "Pour into the {v}."
    with: {r: robot, v: vessel}
    needs: ["at(r) == on(v)", "not full(v)"]
    makes: ["full(v) := true"]
    repeatable: false
scenarios:
  noon:
    objects: {rosie: robot, gripper: hand, table: place, shelf: place, hatch: place, mug: item, glass: vessel}
    state: ["at(rosie) := shelf", "on(mug) := table", "on(glass) := table"]
"""

STORIES = [
    ("the grasp slips twice", "on(mug) == shelf", {1: Fault.SLIP, 2: Fault.SLIP}),
    ("it says that it grasped, and did not", "on(mug) == shelf", {1: Fault.LIAR}),
    ("it says that it failed, and did not", "on(mug) == shelf", {1: Fault.DENIER}),
    ("something is in the way to the table", "at(rosie) == table", {0: Fault.BLOCKED}),
    ("somebody moves the mug just before the grasp", "on(mug) == shelf", {1: Fault.MOVED}),
    ("the grasp hangs", "on(mug) == shelf", {1: Fault.HANG}),
    ("the pour is cut off: nobody may pour twice", "full(glass)", {1: Fault.HANG}),
    ("it hears no cancel", "on(mug) == shelf", {1: Fault.DEAF}),
    ("it lies every time", "on(mug) == shelf", dict.fromkeys(range(200), Fault.LIAR)),
]

domain = domain_from_text(PANTRY, "pantry.yaml")
scene = hr.load_scene(domain)

for title, wanted, script in STORIES:
    world = SymbolicWorld(scene.state, Faults(script=script, moves=("on",)), seed=3)
    log = MemoryLog("example")
    print(f"{title}:")

    def answer(question, world=world):
        """A person who looks: knows whether it was poured, tries nothing again."""
        if question.kind == "outcome":
            said = "it has happened" if world.state.get(("full", "glass")) else "it has not happened"
            print(f"    asked: {question.sentence}  answer: {said}")
            return said
        return "give up"

    person = Callback(answer, on_card=bool, name="alex")  # approves every card
    with Runner(LocalHost(world, lease=5.0), log, person) as runner:
        pipeline = Pipeline(notary=runner.notary)
        goal = parse_goal(wanted, domain, scene.objects)
        plan = hr.find_plan(hr.Task(scene.objects, goal), scene.state).plan
        verified = pipeline.verify(plan, scene.state, goal)
        approval = runner.approvals.grant(verified, make_card(verified, scene.state.values), "alex")
        budgets = Budgets(step_seconds=0.2, cancel_seconds=0.2)
        outcome = Executor(runner, pipeline, PlannerFirst(hr.find_plan), budgets).run(verified, approval)

    for event in log.events:
        if event.kind == "execute.judged":
            mark = "✓" if event.body["effect"] == "seen" else "✗"
            print(f"    {mark} {' '.join(event.body['step']):<28} {event.body['sentence']}")
    print(f"    {outcome.reason}: {outcome.sentence}")
    print(f"    {outcome.spent.retries} tried again, {outcome.spent.replans} new plans")
    truth = hr.Task(scene.objects, goal).end.holds(world.truth)
    assert outcome.done == truth, "a claim that is not true"
    again = replay(sections(log.events)[0])
    assert again.same, again.diverged
    print(f"    replayed without the world: {again.decisions} decisions, all the same\n")
