"""People to ask: `hr.people.terminal()`, `nobody()`, `callback(...)`, `scripted(...)`."""

from __future__ import annotations

from handrail.execute.person import Callback as callback  # noqa: N813 - reads as a maker of persons
from handrail.execute.person import Nobody as nobody  # noqa: N813
from handrail.execute.person import Scripted as scripted  # noqa: N813
from handrail.execute.person import Terminal as terminal  # noqa: N813

__all__ = ["callback", "nobody", "scripted", "terminal"]
