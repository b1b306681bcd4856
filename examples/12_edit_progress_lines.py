"""A person edits a progress line; the task tree follows, is checked again, and the edit can be undone."""

from handrail.network import Edit, Field, History, Transitions, UnitCheck, lines_of, shipped
from handrail.network.lines import text

tree = next(t for t in shipped() if t.name.startswith("vinaigrette"))
history = History(tree, UnitCheck(Transitions.learn(shipped())))
print(text(lines_of(tree)))

row = next(k for k, line in enumerate(lines_of(tree).lines) if line.name == "olive oil")
done = history.edit(Edit(Field.PLACE, row, 0, place="cup"), expected=history.revision)
print("\nThe olive oil comes out of a cup instead:")
print(text(done.lines))
for change in done.changes:
    print(f"  unit {change.unit + 1}:")
    print(f"    - {change.before}")
    print(f"    + {change.after}")
for verdict in done.verdicts:
    print(f"  check: {verdict.sentence}")

assert history.undo()
assert history.tree == tree
print("\nUndone.")
