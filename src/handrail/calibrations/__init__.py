"""Calibrations that ship with handrail, made by the commands in `README` beside them.

For the home domain there are two: with the embedded SmolLM2-135M, and without any model. The first fits only the very model,
backend build and processor features that it was made with; where it doesn't, the second does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from handrail.decide.calibration import Calibration
from handrail.errors import StaleError

if TYPE_CHECKING:
    from handrail.decide.goals import GoalDecider
    from handrail.domain import State
    from handrail.language.model import Model

HERE = Path(__file__).parent


def path(domain: str, model: str = "words") -> Path | None:
    """The file for a domain and a model's name ("words" for none); None where there is none."""
    found = HERE / f"{domain}-{model}.json"
    return found if found.exists() else None


def shipped(state: State, model: Model | None = None) -> tuple[GoalDecider | None, str]:
    """A decider for a scene from what ships, and a sentence on which and why.

    With a model its own calibration is tried first; where the model, its build or this processor is not the one it was made with,
    the calibration without a model takes its place. Neither fits an edited domain.

    Args:
        state: the scene.
        model: the language model at hand, if any.
    """
    from handrail.decide.goals import GoalDecider

    name = state.objects.domain.name
    said: list[str] = []
    choices: list[tuple[str, Model | None]] = [("words", None)]
    if model is not None:
        choices.insert(0, (model.fingerprint.model, model))
    for label, used in choices:
        file = path(name, label)
        if file is None:
            said.append(f"no calibration ships for the domain '{name}' with '{label}'")
            continue
        decider = GoalDecider(state, Calibration.load(file), used)
        try:
            decider.calibration.require(decider.scorer.provenance.merged(decider.reader.fingerprint))
        except StaleError as error:
            said.append(str(error))
            continue
        return decider, " ".join([*said, f"Calibrated by {file.name}: {decider.calibration.promise()}"])
    return None, " ".join([*said, "So every request is asked about or read back."])
