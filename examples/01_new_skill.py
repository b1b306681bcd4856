"""A new skill: write down what `open_door` needs and makes, and see what handrail does with it.

The skill brings its own few-shot example for language models (made by the planner, checked by the checks), and the planner uses
it at once.
"""

import handrail as hr
from handrail.domain.files import domain_from_text
from handrail.domain.text import parse_goal
from handrail.propose.examples import examples

DOMAIN = """
domain: corridor
types:
  robot:
  room:
  door: {attributes: {heavy: bool}}
fluents:
  - "at(r: robot): room"
  - "opened(d: door): bool"
  - "leads(d: door, a: room, b: room): bool"
skills:
  go_through:
    says: "Go through the {d} into the {to}."
    with: {r: robot, d: door, to: room}
    needs: ["opened(d)", "leads(d, at(r), to)"]
    makes: ["at(r) := to"]
  open_door:
    says: "Open the {d}."
    with: {r: robot, d: door, here: room, there: room}
    needs: ["at(r) == here", "leads(d, here, there)", "not opened(d)", "not heavy(d)"]
    makes: ["opened(d) := true"]
    cost: 2
scenarios:
  evening:
    objects: {rosie: robot, hall: room, study: room, vault: room, oak_door: door, steel_door: {is: door, heavy: true}}
    state:
      - "at(rosie) := hall"
      - "leads(oak_door, hall, study)"
      - "leads(oak_door, study, hall)"
      - "leads(steel_door, study, vault)"
    requests:
      - {say: "Go to the study.", goal: "at(rosie) == study"}
"""

domain = domain_from_text(DOMAIN, "corridor.yaml")
scene = hr.load_scene(domain)

print("What a model is shown of the new skill (each example passes our own checks):")
for example in examples(domain, scene.state):
    print(f"  {example.kind}: told     {example.user.splitlines()[-1]}")
    print(f"  {' ' * len(example.kind)}  answers  {example.answer}")

goal = scene.requests[0].goals[0]
found = hr.find_plan(hr.Task(scene.objects, goal), scene.state)
print(f"\nPlan for '{goal.text}': {found.plan}  (cost {found.cost:g}, {'proved cheapest' if found.proved else 'not proved'})")

vault = parse_goal("at(rosie) == vault", domain, scene.objects)
none = hr.find_plan(hr.Task(scene.objects, vault), scene.state)
print(f"Plan for the vault: {none.plan}  {none.why}")
