"""MuJoCo's own viewer on a running world, where there is a screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from handrail.errors import WorldError
from handrail.world.mujoco.sim import Sim


@contextmanager
def viewer(sim: Sim) -> Iterator[Any]:
    """Show a simulation while it runs; closing the window does not stop it.

    Raises:
        WorldError: there is no screen, or GLFW does not work here.
    """
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        # GLFW would end the whole process here instead of raising.
        raise WorldError("there is no screen for --view; leave it out: the report has pictures without a screen")
    try:
        import mujoco.viewer

        window = mujoco.viewer.launch_passive(sim.model, sim.data, show_left_ui=False, show_right_ui=False)
    except Exception as error:  # GLFW reports a missing display in several ways
        raise WorldError(
            f"MuJoCo's viewer can't open a window here ({error}); leave out --view: the report has pictures without a screen"
        ) from error
    sim.on_tick = lambda _: window.sync() if window.is_running() else None
    try:
        yield window
    finally:
        sim.on_tick = None
        window.close()
