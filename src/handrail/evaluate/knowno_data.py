"""Which scenarios the comparison uses, and where their recordings come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.domain.option import Option
from handrail.evaluate.knowno_cases import RECORDED, Case, case_of
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.recordings import Record, Recorder, asked, load
from handrail.evaluate.scenarios import introplan, kitchen, sorting, tabletop
from handrail.evaluate.scenarios.scenario import Episode, Scenario

SHIPPED = "smollm2-135m"
SUITES = ("mobile", "kitchen", "tabletop", "arms", "sorting")
MOBILE_FILE = ("introplan", "mobile_manipulation.txt")
SIZES = {"mobile": 540, "kitchen": 400, "tabletop": 250, "arms": 200, "sorting": 120}
"""Scenarios (for sorting: episodes) of a whole run with a model."""

Label = Callable[[Record, Sequence[Option], Sequence[int]], int]


@dataclass
class Found:
    """Cases by suite, and the model that gave the numbers."""

    model: str
    cases: dict[str, list[Case]] = field(default_factory=dict)


def single(suite: str, data: Path | None) -> list[Scenario]:
    """The scenarios of a suite of single decisions; none where they are in a data folder that is not there."""
    if suite == "mobile":
        path = data.joinpath(*MOBILE_FILE) if data else None
        return introplan.read(path, drop_repeats=True).scenarios if path and path.exists() else []
    make = {"kitchen": kitchen.generate, "tabletop": tabletop.generate, "arms": sorting.two_arms}[suite]
    return make(SIZES[suite], 0)


def cases_of(options: EvalOptions) -> Found:
    """Cases with recorded numbers; with a model, what is missing is recorded first.

    Raises:
        ConfigError: the model's name is not understood.
        ModelError: the model failed.
    """
    if options.model is None:
        found = Found(SHIPPED)
        for suite in SUITES:
            path = RECORDED / SHIPPED / f"{suite}.json.gz"
            records = {r.key: r for r in load(path)} if path.exists() else {}
            found.cases[suite] = list(_replayed(suite, options.data, records))
        return found
    from handrail import models

    model = models.named(options.model)
    found = Found(model.fingerprint.model)
    folder = (options.cache or Path("eval-cache")) / f"knowno-{model.fingerprint.digest[:12]}"
    scale = 8 if options.quick else 1
    for suite in SUITES:
        recorder = Recorder(model, folder / f"{suite}.json.gz")
        found.cases[suite] = list(_recorded(suite, options, recorder, max(40, SIZES[suite] // scale)))
        recorder.save()
    model.close()
    return found


def _replayed(suite: str, data: Path | None, records: dict[str, Record]) -> Iterator[Case]:
    if suite == "sorting":
        for episode in sorting.sorting(SIZES[suite], 0):
            steps = list(walk(episode, lambda s: records.get(s.key)))
            if steps and all(r is not None for _, r in steps):
                yield from (case_of(s, r) for s, r in steps if r is not None)
        return
    for scenario in single(suite, data):
        record = records.get(scenario.key)
        if record is not None and record.after:
            yield case_of(scenario, record)


def _recorded(suite: str, options: EvalOptions, recorder: Recorder, size: int) -> Iterator[Case]:
    if suite == "sorting":
        for index, episode in enumerate(sorting.sorting(size, 0)):
            options.progress(f"asking about {suite}", index, size)
            steps = walk(episode, lambda s: recorder.record(s, asked(s), orders=1))
            yield from (case_of(s, r) for s, r in steps if r is not None)
        return
    scenarios = single(suite, options.data)[:size]
    for index, scenario in enumerate(scenarios):
        options.progress(f"asking about {suite}", index, len(scenarios))
        yield case_of(scenario, recorder.record(scenario, asked(scenario), orders=5 if index < size // 4 else 1))


def walk(
    episode: Episode, record_of: Callable[[Scenario], Record | None]
) -> Iterator[tuple[Scenario, Record | None]]:
    """The steps of an episode along right actions: of those acceptable, the one that the model ranks highest (by sum).

    A step whose right actions were not among the options goes on with the first right one. Ends early, with None, where a
    step has no record.
    """
    done: list[str] = []
    while (scenario := episode.at(done)) is not None:
        record = record_of(scenario)
        yield scenario, record
        if record is None or not record.after:
            return
        case = case_of(scenario, record)
        listed = [i for i in case.right if i != case.other]
        ranked = case.scores["sum"]
        best = max(listed, key=lambda i: ranked[i], default=None)
        if best is None:
            done.append(min(scenario.acceptable))
        else:
            done.append(scenario.candidates[record.order[best]].key)


__all__ = ["SIZES", "SUITES", "Found", "cases_of", "single", "walk"]
