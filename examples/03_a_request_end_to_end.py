"""A request, end to end, in the symbolic world: read, asked about, planned, proven, approved, carried out, recorded."""

import tempfile
from pathlib import Path

import handrail as hr

home = hr.Domain.load(hr.domains.path("home"))
robot = hr.worlds.symbolic(home, faults={"script": {"1": "slip"}})  # the second step slips
alex = hr.people.scripted(
    frozenset({"approve", "goal"}),
    {"put the milk away": "the fridge", "something to drink": "the bottle of water"},
    say=print,
)

with tempfile.TemporaryDirectory() as folder:
    mission = hr.assemble(home, robot, person=alex, store=hr.RunStore(Path(folder) / "runs.sqlite"))
    outcome = mission.run("Put the milk away, then bring me something to drink.")
    print(outcome.reason, "-", outcome.sentence)
    print("Spent:", outcome.execution.spent.to_json() if outcome.execution else "nothing moved")
