"""The command line. Each command is loaded when it is used, so that `handrail --help` and completion stay quick."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point: a mistake of the user's ends with its sentence and an exit code, never with a stack trace."""
    from handrail.cli.main import run_app

    sys.exit(run_app())
