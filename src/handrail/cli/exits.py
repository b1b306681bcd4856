"""Exit codes that mean something, for scripts."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code says."""

    OK = 0
    """Done as asked, or the answer is yes."""
    BROKEN = 1
    """handrail itself, or something under it, failed."""
    USAGE = 2
    """Wrong input: a file, a name, an option. The message says what would be valid."""
    REFUSED = 3
    """A plan, request or domain was refused; the reasons were given."""
    HANDED_OVER = 4
    """Not done: handed over to a person with a summary of what was tried."""
    UNANSWERED = 5
    """A question or an approval was needed and nobody gave one."""
    STOPPED = 6
    """Stopped by a person; the verdict says whether the robot stands still."""
    MODEL = 7
    """The language model could not be reached or used."""
    MISSING = 8
    """An optional part is not installed; the message has the command that adds it."""


TABLE = "\n\n".join(f"{int(e)}  {e.name.lower().replace('_', ' ')}" for e in Exit)
