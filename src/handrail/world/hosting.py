"""What a runner and a world host say to one another: orders, status, and the seam between them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from handrail.domain.plan import Step
from handrail.domain.state import Observation
from handrail.world.protocol import Capabilities, Progress, StopVerdict

LEASE = 0.25
"""Seconds that a renewal lasts. With the stop itself a world stands still at most 0.3 s after the last renewal."""

RENEW_EVERY = 0.1
"""Seconds between a runner's renewals at most."""


@dataclass(frozen=True, slots=True)
class Order:
    """One step to start.

    Attributes:
        run: the run that holds the lease.
        goal_id: see `handrail.world.protocol.goal_id`.
        step: the ground step.
        proof_id: of the plan it belongs to.
        index: its index in that plan.
        token: `Notary.step_token` of it.
    """

    run: str
    goal_id: str
    step: Step
    proof_id: str
    index: int
    token: str

    @property
    def claim(self) -> str:
        """What the token signs; equals `handrail.check.proof.step_claim`."""
        return json.dumps(["step", self.proof_id, self.index, list(self.step.key)], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class HostStatus:
    """What a host says about itself.

    Attributes:
        world: the world's name.
        run: who holds the lease; "" for nobody.
        lease_left: seconds; 0 where it has lapsed.
        stop: why motion is barred ("" where it isn't).
        verdict: what the last stop found; None where none was made or its finding is still awaited.
        moving: goal ids under way.
        instance: names this very host; another one after a restart.
    """

    world: str
    run: str
    lease_left: float
    stop: str
    verdict: StopVerdict | None
    moving: tuple[str, ...]
    instance: str = ""


class Host(Protocol):
    """What a runner drives: `LocalHost`, or `RemoteHost` for a host in a process of its own."""

    name: str

    @property
    def capabilities(self) -> Capabilities: ...  # noqa: D102 - as World
    def time(self) -> float: ...  # noqa: D102 - as World
    def acquire(self, run: str, key: bytes) -> None: ...  # noqa: D102 - see LocalHost
    def renew(self, run: str) -> None: ...  # noqa: D102 - see LocalHost
    def release(self, run: str) -> None: ...  # noqa: D102 - see LocalHost
    def observe(self) -> Observation: ...  # noqa: D102 - as World
    def start(self, order: Order) -> None: ...  # noqa: D102 - see LocalHost
    def poll(self, goal_id: str) -> Progress: ...  # noqa: D102 - see LocalHost
    def cancel(self, goal_id: str) -> None: ...  # noqa: D102 - see LocalHost
    def running(self) -> tuple[str, ...]: ...  # noqa: D102 - as World
    def stop(self, by: str) -> StopVerdict: ...  # noqa: D102 - see LocalHost
    def status(self) -> HostStatus: ...  # noqa: D102 - see LocalHost
    def fork(self) -> Any: ...  # noqa: D102 - as Forks
    def close(self) -> None: ...  # noqa: D102 - see LocalHost
