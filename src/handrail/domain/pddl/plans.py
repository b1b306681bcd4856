"""Plans as PDDL tools write them: one `(action object ...)` a line, with or without times and costs around it."""

from __future__ import annotations

import re

from handrail.domain.plan import Plan, Step
from handrail.errors import ParseError, Where

_STEP = re.compile(r"\(([^()]*)\)")
_LINE = re.compile(r"[ \t]*(?:\d+(?:\.\d*)?[ \t]*:[ \t]*)?\([^()\n]*\)[ \t]*(?:\[[^\]\n]*\])?[ \t\r]*")


def read_plan(text: str, source: str = "") -> Plan:
    """A plan from lines `(pick-up a)`, `0.000: (pick-up a) [1.000]`, or several steps in one line; `;` starts a comment.

    Words are turned to lower case, as PDDL has it. Names are not looked up: that is the checker's work, which has a reason for each.

    Raises:
        ParseError: something else stands among the steps; nothing is skipped.
    """
    text = text.replace("\\\n", "\n")  # a line that is continued with a backslash
    if ";" not in text and text.isascii():
        found = _STEP.findall(text)
        # the usual case in two passes: what is left after the steps are taken out is only white space
        if not _STEP.sub("", text).strip():
            return Plan(tuple(_step(s) for s in found), source=source)
    steps: list[Step] = []
    for n, raw in enumerate(text.split("\n"), 1):
        line = raw.split(";", 1)[0]
        if not line.strip():
            continue
        if not _LINE.fullmatch(line) and _STEP.sub("", line).strip():
            at = len(line) - len(line.lstrip()) + 1
            raise ParseError(f"expected a step such as '(pick-up a)', found: {line.strip()[:80]}", Where(source, n, at))
        for s in _STEP.findall(line):
            if not s.split():
                raise ParseError("'()' is no step: the action's name is missing", Where(source, n, line.find("(") + 1))
            steps.append(_step(s))
    return Plan(tuple(steps), source=source)


def _step(inside: str) -> Step:
    words = inside.lower().split()
    return Step(words[0], tuple(words[1:])) if words else Step("")


def write_plan(plan: Plan, names: dict[str, str] | None = None) -> str:
    """One `(action object ...)` a line; `names` gives other names to skills and objects, as `write_task` chose them."""
    names = names or {}
    return "".join(f"({' '.join(names.get(w, w) for w in s.key)})\n" for s in plan)
