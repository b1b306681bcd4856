"""What a step costs this robot: in [0, 1] per motion and object, from ability, measured history, tools and objects.

0 is free, 1 means that the robot can't do it. Three sources, as in the consolidation paper: physical ability (a table),
past experience (success counts, taken at a lower confidence bound), availability of tools and objects.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.errors import ConfigError, Where
from handrail.network.model import FunctionalUnit
from handrail.network.names import DATA, load_yaml
from handrail.numbers import wilson

SCALE = 1000
"""Costs are searched as integers: round(cost x SCALE)."""
IMPOSSIBLE = 1.0
MIN_TRIALS = 5
"""Fewer tries than this leave the ability table in force."""


def valid_cost(value: object, what: str, where: Where | None = None) -> float:
    """A cost as a float.

    Raises:
        ConfigError: not a number, NaN, or outside [0, 1].
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise ConfigError(f"{what}: a cost is a number from 0 (free) to 1 (can't), got {value!r}", where)
    return float(value)


@dataclass(frozen=True)
class CostProfile:
    """One robot's costs.

    Attributes:
        name: of the profile.
        motions: motion -> cost.
        objects: (motion, object label) -> cost where an input has that label; the dearest one counts.
        history: (motion, object label or '') -> (succeeded, tried).
        missing_tools: labels that this robot's kitchen lacks.
        missing_tool_cost: what a unit with a missing tool costs.
        unknown: cost of a motion that is in no table.
        person: cost of a step that a person does.
        confidence: one-sided level of the lower bound on the success rate.
    """

    name: str
    motions: Mapping[str, float]
    objects: Mapping[tuple[str, str], float] = field(default_factory=dict)
    history: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    missing_tools: frozenset[str] = frozenset()
    missing_tool_cost: float = IMPOSSIBLE
    unknown: float = 0.5
    person: float = 0.05
    confidence: float = 0.9

    @classmethod
    def load(cls, name_or_path: str | Path) -> CostProfile:
        """A shipped profile (`one_arm`, `two_arms`), or a YAML file of the same shape, or a JSON motion table.

        Raises:
            ConfigError: no such profile, a value outside [0, 1], or a part of the wrong shape.
        """
        path = Path(name_or_path)
        if not path.suffix:
            path = DATA / f"{name_or_path}.yaml"
            if not path.exists() or str(name_or_path) not in SHIPPED:
                raise ConfigError(f"no cost profile '{name_or_path}'; shipped: {', '.join(SHIPPED)}, or give a file")
        if path.suffix == ".json":
            return cls.from_table(path)
        raw = load_yaml(path)
        where = Where(str(path))
        known = {"name", "says", "base", "unknown", "person", "motions", "objects", "missing_tools",
                 "missing_tool_cost", "confidence"}  # fmt: skip
        if raw.keys() - known:
            raise ConfigError(f"unknown keys {sorted(raw.keys() - known)}; valid: {sorted(known)}", where)
        base = cls.load(str(raw["base"])) if "base" in raw else cls("", {})
        motions = dict(base.motions)
        for motion, cost in dict(raw.get("motions", {})).items():
            motions[str(motion)] = valid_cost(cost, f"motion '{motion}'", where)
        objects = dict(base.objects)
        for row in raw.get("objects", ()):
            if not isinstance(row, dict) or row.keys() != {"motion", "object", "cost"}:
                raise ConfigError(f"'objects' rows need motion, object and cost, got {row!r}", where)
            key = (str(row["motion"]), str(row["object"]))
            objects[key] = valid_cost(row["cost"], f"{key[0]} of {key[1]}", where)
        return cls(
            str(raw.get("name", path.stem)),
            motions,
            objects,
            {},
            frozenset(map(str, raw.get("missing_tools", ()))),
            valid_cost(raw.get("missing_tool_cost", base.missing_tool_cost), "missing_tool_cost", where),
            valid_cost(raw.get("unknown", base.unknown), "unknown", where),
            valid_cost(raw.get("person", base.person), "person", where),
        )

    @classmethod
    def from_table(cls, path: str | Path, unknown: float = 0.5) -> CostProfile:
        """A JSON object motion -> cost, as the consolidation paper's code has it."""
        path = Path(path)
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"can't read the motion table: {error}", Where(str(path))) from error
        if not isinstance(raw, dict):
            raise ConfigError("a motion table maps motions to costs", Where(str(path)))
        motions = {str(m): valid_cost(c, f"motion '{m}'", Where(str(path))) for m, c in raw.items()}
        return cls(path.stem, motions, unknown=unknown)

    def renamed(self, motion: Callable[[str], str]) -> CostProfile:
        """The profile under normal motion names; where two become one the cheaper stays."""
        motions: dict[str, float] = {}
        for name, cost in self.motions.items():
            new = motion(name)
            motions[new] = min(cost, motions.get(new, 1.0))
        return replace(self, motions=motions)

    def with_history(self, counts: Mapping[tuple[str, str], tuple[int, int]]) -> CostProfile:
        """The profile with measured success counts (motion, object or '') -> (succeeded, tried)."""
        for key, (good, tried) in counts.items():
            if not 0 <= good <= tried:
                raise ConfigError(f"history of {key}: need 0 <= succeeded <= tried, got {good} of {tried}")
        return replace(self, history=dict(counts))

    def motion_cost(self, motion: str) -> float:
        """The table's cost; FOON's starred variants cost as the plain motion; hyphens and spaces are the same."""
        for name in (motion, motion.rstrip("*"), motion.rstrip("*").replace("-", " "),
                     motion.rstrip("*").replace(" ", "-")):  # fmt: skip
            if name in self.motions:
                return self.motions[name]
        return self.unknown

    def knows(self, motion: str) -> bool:
        """True where the table has the motion."""
        return self.motion_cost(motion) != self.unknown or motion.rstrip("*") in self.motions

    def success(self, motion: str, objects: Iterable[str]) -> float | None:
        """Lower confidence bound of the measured success rate; None with fewer than MIN_TRIALS tries.

        The object with the lowest bound counts; counts for the motion alone ('' as the object) stand in for objects
        without enough tries.
        """
        bounds: list[float] = []
        for label in objects:
            good, tried = self.history.get((motion, label), (0, 0))
            if tried >= MIN_TRIALS:
                bounds.append(wilson(good, tried, 2 * self.confidence - 1)[0])
        if bounds:
            return min(bounds)
        good, tried = self.history.get((motion, ""), (0, 0))
        return wilson(good, tried, 2 * self.confidence - 1)[0] if tried >= MIN_TRIALS else None

    def explain(self, unit: FunctionalUnit) -> tuple[float, str]:
        """The cost of a unit and the source it comes from."""
        labels = sorted({n.label for n in unit.inputs})
        absent = [label for label in labels if label in self.missing_tools]
        if absent:
            return self.missing_tool_cost, f"no {', '.join(absent)} here"
        motion = unit.motion.rstrip("*")
        measured = self.success(motion, labels)
        if measured is not None:
            return round(1 - measured, 6), f"measured: {motion} succeeds at least {measured:.2f}"
        special = [(self.objects[motion, label], label) for label in labels if (motion, label) in self.objects]
        if special:
            cost, label = max(special)
            return cost, f"{motion} of {label}"
        cost = self.motion_cost(unit.motion)
        return cost, f"{motion}" if self.knows(unit.motion) else f"{motion} is in no table"

    def cost(self, unit: FunctionalUnit) -> float:
        """The cost of a unit in [0, 1]."""
        return self.explain(unit)[0]

    def probability(self, unit: FunctionalUnit) -> float:
        """Chance that the robot does the unit right: measured where known, else 1 - cost (weighted FOON's reading)."""
        measured = self.success(unit.motion.rstrip("*"), sorted({n.label for n in unit.inputs}))
        return measured if measured is not None else 1.0 - self.cost(unit)

    def integers(self, units: Iterable[FunctionalUnit]) -> list[int]:
        """round(cost x SCALE) for each unit; minimising their sum minimises the plan's cost."""
        return [round(self.cost(u) * SCALE) for u in units]

    def log_integers(self, units: Iterable[FunctionalUnit], floor: float = 1e-3) -> list[int]:
        """round(-ln p x SCALE): minimising their sum maximises the product of the success probabilities.

        Paulius et al., "Task Planning with a Weighted Functional Object-Oriented Network" (ICRA 2021). Probabilities
        below `floor` count as `floor`.
        """
        return [round(-math.log(max(floor, self.probability(u))) * SCALE) for u in units]


SHIPPED = ("one_arm", "two_arms")


def seconds(unit: FunctionalUnit) -> float | None:
    """Duration of a unit in seconds from its recorded times; None where the file gives none."""

    def read(text: str) -> float | None:
        parts = text.split(":")
        if not all(p.isdigit() for p in parts) or not 2 <= len(parts) <= 3:
            return None
        total = 0.0
        for part in parts:
            total = total * 60 + int(part)
        return total

    start, end = read(unit.start), read(unit.end)
    if start is None or end is None or end < start:
        return None
    return end - start
