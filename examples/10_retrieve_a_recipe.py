"""Fifteen task trees become one network, and each robot gets the tree that it executes best, with the proof."""

from handrail.network import CostProfile, Kitchen, Prices, Semantics, lines_of, merge, shipped
from handrail.network.lines import text

trees = shipped()
network = merge(trees)
print(f"{len(trees)} trees, {len(network.units)} distinct units")

by_name = {tree.name.removesuffix(".txt"): tree for tree in trees}
goal = by_name["pack-a-suitcase"].target
assert goal is not None

for robot in ("one_arm", "two_arms"):
    kitchen = Kitchen(network, Prices(CostProfile.load(robot)))
    found = kitchen.retrieve(goal)
    print(f"{robot}: {found.sentence}")
    for step in found.steps or ():
        print(f"  {step.cost:.2f}  {step.unit.motion:15} {', '.join(n.label for n in step.unit.inputs)}")

print()
print("The same as progress lines:")
print(text(lines_of(found.tree)))

# Whole or sliced: a robot that finds cutting hard puts the banana into the blender as it is.
smoothie = by_name["banana-milk-smoothie"].target
assert smoothie is not None
whole = Kitchen(network, Prices(CostProfile.load("one_arm"))).retrieve(smoothie)
print()
print("Banana smoothie:", ", ".join(s.unit.motion for s in whole.steps or ()))
assert whole.proved
assert "slice" not in [s.unit.motion for s in whole.steps or ()]
assert whole.semantics is Semantics.MONOTONE
