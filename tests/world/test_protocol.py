from __future__ import annotations

import pytest

from handrail.world.host import LocalHost
from handrail.world.protocol import Forks, Status, Stopped, StopVerdict, World, goal_id
from handrail.world.symbolic import SymbolicWorld

S, N, U = Stopped.STOPPED, Stopped.NOT_STOPPED, Stopped.UNKNOWN


@pytest.mark.parametrize(
    ("robots", "overall"),
    [([], U), ([S], S), ([S, S], S), ([S, U], U), ([S, N], N), ([U, N], N), ([N], N)],
)
def test_one_robot_that_moves_decides(robots, overall):
    assert StopVerdict({str(i): r for i, r in enumerate(robots)}).overall is overall


def test_only_pending_and_running_can_still_change():
    assert {s for s in Status if not s.terminal} == {Status.PENDING, Status.RUNNING}


def test_goal_ids_can_be_derived_again():
    assert goal_id("a1", 3, 0) == goal_id("a1", 3, 0) == "a1/3/0"
    assert len({goal_id("a", i, j) for i in range(5) for j in range(5)}) == 25


def test_the_symbolic_world_is_a_world(state):
    world = SymbolicWorld(state)
    assert isinstance(world, World) and isinstance(world, Forks)
    assert LocalHost(world).capabilities == world.capabilities
