"""Three plans, none of which works, become one that does; every step says whom it was taken from."""

from pathlib import Path

import handrail.network
from handrail.domain import Plan, Step
from handrail.domain.files import load_domain, load_scene
from handrail.network import consolidate

domain = load_domain(Path(handrail.network.__file__).parent / "data" / "domains" / "tidy_room.yaml")
scene = load_scene(domain)
goal = scene.requests[0].goals[0]
print(scene.says, "Goal:", goal)


def go(to: str) -> Step:
    return Step("go", ("robot_1", to))


def pick(hand: str, thing: str) -> Step:
    return Step("pick", ("robot_1", hand, thing))


def put(hand: str, thing: str, to: str) -> Step:
    return Step("put", ("robot_1", hand, thing, to))


opened, closed = (Step(s, ("robot_1", "left", "drawer_1")) for s in ("open", "close"))
wipe = Step("wipe", ("robot_1", "left", "table"))

# forgets to open the drawer
first = Plan(
    (pick("left", "pen"), go("drawer_1"), put("left", "pen", "drawer_1"), go("floor"), pick("left", "book"),
     pick("right", "sock"), go("shelf"), put("left", "book", "shelf"), go("basket"), put("right", "sock", "basket")),
    source="model A",
)  # fmt: skip
# opens it, but never wipes the table
second = Plan((go("drawer_1"), opened, go("table"), pick("right", "pen"), closed), source="model B")
# only thinks of the plate and the table
third = Plan((pick("left", "plate"), go("shelf"), put("left", "plate", "shelf"), go("table"), wipe), source="model C")

for plan in (first, second, third):
    alone = consolidate([plan], scene.state, goal)
    print(f"{plan.source} alone: {alone.why}")

found = consolidate([first, second, third], scene.state, goal)
print(f"together: {found.why}")
assert found.plan is not None
assert found.proved
for taken in found.taken:
    print(f"  {taken.cost:g}  {taken.step}  from {', '.join(taken.sources)}")
