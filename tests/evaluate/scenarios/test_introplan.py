from __future__ import annotations

from collections import Counter

import pytest

from handrail.errors import ParseError
from handrail.evaluate.scenarios import introplan

BLOCK = """0
Scene: a cola, a bottled water, and a bottled unsweetened tea
Task: Put the cola near the bottle.
User intent (object): cola
User intent (location): bottled water
Possible objects: cola
Possible locations: bottled water, bottled unsweetened tea
Scene objects: cola, bottled water, bottled unsweetened tea
Task category: spatial_ambiguous_task
"""


def write(tmp_path, *blocks):
    path = tmp_path / "file.txt"
    path.write_text("\n".join(blocks))
    return path


def test_one_block(tmp_path):
    found = introplan.read(write(tmp_path, BLOCK))
    (s,) = found.scenarios
    assert (s.key, s.category, s.intent) == ("file-0", "spatial_ambiguous", "cola > bottled water")
    assert s.acceptable == {"cola > bottled water"}
    assert found.possible[s.key] == {"cola > bottled water", "cola > bottled unsweetened tea"}
    assert len(s.candidates) == 24 and not found.quirks


def test_quirks(tmp_path):
    cut = BLOCK.replace("(location): bottled water", "(location): bottled").replace("0\n", "1\n", 1)
    itself = BLOCK.replace("(location): bottled water", "(location): cola").replace("near", "by")
    gone = BLOCK.replace("(location): bottled water", "(location): microwave").replace("near", "in")
    path = write(tmp_path, BLOCK, cut, itself, gone)
    found = introplan.read(path)
    assert found.quirks == Counter({"repeats": 1, "bottled": 1, "self": 1, "absent": 1})
    assert found.scenarios[1].intent == "cola > bottled water"
    assert found.scenarios[2].acceptable == {"cola > bottled water", "cola > bottled unsweetened tea"}
    assert found.scenarios[3].intent == "cola > microwave"
    assert len(introplan.read(path, drop_repeats=True).scenarios) == 3


def test_what_is_no_such_file(tmp_path):
    with pytest.raises(ParseError, match="Task category"):
        introplan.read(write(tmp_path, BLOCK.replace("Task category: spatial_ambiguous_task", "")))
    with pytest.raises(ParseError, match="unexpected line") as caught:
        introplan.read(write(tmp_path, BLOCK.replace("Task:", "Job:")))
    assert caught.value.where.line == 3


@pytest.mark.data
def test_the_published_files(data_dir):
    found = introplan.read(data_dir / "introplan" / "mobile_manipulation.txt")
    assert len(found.scenarios) == 600
    assert found.quirks["repeats"] == 60
    count = Counter(s.category for s in found.scenarios)
    assert count["singlelabel"] == 183 and count["winograd"] == 95
    for s in found.scenarios:
        assert s.acceptable <= found.possible[s.key]
    for name, n in (("mobile_manipulation_knowledge", 200), ("safe_mobile_calibration", 200), ("safe_mobile_knowledge", 200)):
        assert len(introplan.read(data_dir / "introplan" / f"{name}.txt").scenarios) == n
