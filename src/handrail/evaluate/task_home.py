"""The certificate on the real line in a home: declare, collect, judge, test, and see whether it holds on fresh episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handrail.decide.certificate import (
    Certificate,
    CertificateFolder,
    Declaration,
    Ended,
    Episode,
    EpisodeLog,
    Judgement,
    Limits,
    Losses,
    Setting,
    grid,
    replay,
    starts_from_simulator,
    statement,
)
from handrail.decide.conformal import threshold
from handrail.evaluate.options import EvalOptions
from handrail.evaluate.task_line import PHYSICAL, SYMBOLIC, Line, Place, Reading
from handrail.numbers import upper_bound, wilson

SETTINGS = grid(ask=(0.0, 0.45, 0.6, 0.75, 0.9), read_back=(True, False), dry_runs=((0, 0), (1, 1)), replans=(0, 1, 3))
DELTA = 0.05


def run(options: EvalOptions) -> dict[str, Any]:
    """Certify the line in the physical home (the symbolic one when quick) and check the outcome.

    Options of its own (`options.extra`): `physical`; `episodes`, `fresh` (how many each); `simulated` (episodes that
    give the order); `folder` (kept and resumed there; by default one in
    the cache, or a temporary one when quick); `silent` and `task` limits.

    Raises:
        MissingExtra: the physical home needs MuJoCo.

    Returns:
        `certificate` {status, setting, text ...}, `fresh` {n, silent, task, help ...} of episodes really run with the
        certified setting, `holds`, and `methods` {name: {certified, false, help, achieved, silent}} scored by replay of
        fresh episodes (silent and task failures exact or over-stated).
    """
    physical = bool(options.extra.get("physical", not options.quick))
    many = int(options.extra.get("episodes", 20 if options.quick else 500))
    fresh = int(options.extra.get("fresh", many // 2 if options.quick else many))
    first = int(options.extra.get("simulated", 6 if options.quick else 100))
    wide = (0.20, 0.45) if many < 100 else (0.15, 0.40) if many < 400 else (0.10, 0.40)
    limits = Limits(float(options.extra.get("silent", wide[0])), float(options.extra.get("task", wide[1])))
    place = PHYSICAL if physical else SYMBOLIC
    with TemporaryDirectory() as temporary:
        kept = (
            options.cache / f"task-home-{place.physical}-{many}-{options.seed}"
            if options.cache and not options.quick
            else temporary
        )
        folder = Path(options.extra.get("folder", kept))
        folder.mkdir(parents=True, exist_ok=True)
        where = CertificateFolder(folder / "certificate")
        if not where.attempts:
            where.declare(_declaration(limits, many, place, _orders(options, first, limits, many)))
        line = Line(place, seed=options.seed)
        readings = _collect(
            where.log(), line, where.declaration(), many, folder / "readings.json", options, "collecting"
        )
        found = where.certificates() or where.certify()
        return _check(found[0], where, folder, place, fresh, readings, options)


def _orders(options: EvalOptions, first: int, limits: Limits, many: int) -> tuple[tuple[int, ...], ...]:
    """Orders of tests from episodes in the symbolic home, which knows nothing of contact."""
    from handrail.decide.certificate import collecting

    line, log, episodes = Line(SYMBOLIC, seed=options.seed + 1), collecting(SETTINGS), []
    for i in range(first):
        options.progress("order from the symbolic home", i, first)
        episodes.append(line.episode(i, log))
    losses = replay(SETTINGS, episodes)
    silent, task, helped = (x.mean(axis=1) for x in (losses.silent, losses.task, losses.help))
    return starts_from_simulator(silent, task, helped, limits, many)


def _declaration(limits: Limits, many: int, place: Place, starts: tuple[tuple[int, ...], ...]) -> Declaration:
    kind = "MuJoCo home" if place.physical else "symbolic home"
    return Declaration(
        name=f"the line in the {kind}",
        place=f"{kind}, faults injected",
        population="requests to the home that some skill can meet: plain ones, ones that fit two things, open ones",
        limits=limits,
        settings=SETTINGS,
        judge="the simulator's truth: an acceptable goal holds and no other thing lies elsewhere",
        clusters="every episode a home of its own",
        world="simulated",
        people="simulated",
        components=_components(),
        made="",
        delta=DELTA,
        share=DELTA,
        episodes=many,
        starts=starts,
    )


def _components() -> dict[str, str]:
    from handrail import __version__
    from handrail.domain.domain import Domain

    home = Path(__file__).parents[1] / "domains" / "home.yaml"
    return {"handrail": __version__, "domain": Domain.load(home).fingerprint, "reader": "words, no model"}


def _collect(
    log: EpisodeLog, line: Line, declaration: Declaration, many: int, side: Path, options: EvalOptions, what: str
) -> dict[str, Reading]:
    """Run the missing episodes under the collecting setting; resumable, every start is on disk before it runs."""
    setting = declaration.collecting
    kept = {k: Reading(**v) for k, v in json.loads(side.read_text()).items()} if side.exists() else {}
    known, running = {e.id for e in log.episodes()}, _components()
    for number in range(many):
        if f"{line.seed}-{number}" in known:
            continue
        options.progress(what, number, many)
        record(log, line, number, setting, running)
        kept[f"{line.seed}-{number}"] = line.readings[number]
        side.write_text(json.dumps({k: asdict(v) for k, v in kept.items()}))
    return kept


def record(log: EpisodeLog, line: Line, number: int, setting: Setting, components: dict[str, str]) -> Episode:
    """Run one episode and write its start, end and judgement."""
    _, scenario = line.scenario(number)
    name = f"{line.seed}-{number}"
    start = Episode(name, name, setting, components, scenario.request, " or ".join(sorted(scenario.acceptable)))
    log.start(start)
    e = line.episode(number, setting, components)
    log.end(name, e.ended, why=e.why, asks=e.asks, seconds=e.seconds, trace=e.trace, first_tries=e.first_tries)
    if e.truth is not None:
        log.judge(Judgement(name, goal=e.truth, judge="simulator"))
    return e


def _check(
    certificate: Certificate,
    where: CertificateFolder,
    folder: Path,
    place: Place,
    fresh: int,
    readings: dict[str, Reading],
    options: EvalOptions,
) -> dict[str, Any]:
    """Fresh episodes: really run with the certified setting, and collected again to score the other methods."""
    d = certificate.declaration
    result: dict[str, Any] = {
        "world": d.place,
        "limits": asdict(d.limits),
        "certificate": {
            "status": str(certificate.status),
            "episodes": certificate.episodes,
            "setting": certificate.setting.text() if certificate.setting else None,
            "accepted": len(certificate.accepted),
            "blocked": certificate.blocked,
            "needed": certificate.needed,
            "text": statement(certificate),
        },
    }
    calibration = where.log().episodes()[: d.episodes]
    again = _open(folder / "fresh-collecting.jsonl", d.seal)
    line = Line(place, seed=options.seed + 1000)
    more = _collect(again, line, d, fresh, folder / "fresh-readings.json", options, "fresh, collecting setting")
    result["methods"] = methods(certificate, calibration, again.episodes()[:fresh], {**readings, **more})
    if certificate.setting is not None:
        own = _open(folder / "fresh-certified.jsonl", d.seal)
        line = Line(place, seed=options.seed + 2000)
        known = {e.id for e in own.episodes()}
        for number in range(fresh):
            if f"{line.seed}-{number}" not in known:
                options.progress("fresh, certified setting", number, fresh)
                record(own, line, number, certificate.setting, _components())
        result["fresh"] = outcome(own.episodes()[:fresh], d.limits)
        result["holds"] = result["fresh"]["silent"] <= d.limits.silent and result["fresh"]["task"] <= d.limits.task
    return result


def _open(path: Path, seal: str) -> EpisodeLog:
    return EpisodeLog(path) if path.exists() else EpisodeLog.create(path, seal)


def outcome(episodes: Sequence[Episode], limits: Limits) -> dict[str, Any]:
    """Counted risks of episodes as they were run, with 95 % intervals."""
    losses = np.array([e.losses for e in episodes])
    n, (silent, task, helped) = len(episodes), (int(x) for x in losses.sum(axis=0))
    done = sum(e.ended is Ended.DONE for e in episodes)
    return {
        "n": n,
        "silent": round(silent / n, 4),
        "silent_interval": [round(v, 4) for v in wilson(silent, n)],
        "task": round(task / n, 4),
        "task_interval": [round(v, 4) for v in wilson(task, n)],
        "help": round(helped / n, 4),
        "wrong_given_done": round(silent / done, 4) if done else None,
        "seconds_mean": round(float(np.mean([e.seconds for e in episodes])), 2),
        "limits": asdict(limits),
    }


def methods(
    certificate: Certificate, calibration: Sequence[Episode], fresh: Sequence[Episode], readings: dict[str, Reading]
) -> dict[str, dict[str, Any]]:
    """What each way of quoting a number would have chosen, and how that does on the fresh episodes (by replay)."""
    d = certificate.declaration
    before, after = replay(d.settings, calibration), replay(d.settings, fresh)
    silent, task, helped = (x.mean(axis=1) for x in (before.silent, before.task, before.help))
    fits = np.flatnonzero((silent <= d.limits.silent) & (task <= d.limits.task))
    naive = int(fits[np.argmin(helped[fits])]) if fits.size else None
    found = {
        "certificate": _row(after, certificate.chosen, d.limits),
        "best-looking setting": _row(after, naive, d.limits),
    }
    found |= _knowno(d, calibration, fresh, readings)
    found["per-skill product"] = _product(d, calibration, after, readings)
    return found


def _row(after: Losses, index: int | None, limits: Limits) -> dict[str, Any]:
    if index is None:
        return {"certified": False, "false": False, "help": None, "achieved": None, "silent": None}
    return _figures(after.silent[index], after.task[index], after.help[index], limits)


def _figures(silent: NDArray[Any], task: NDArray[Any], helped: NDArray[Any], limits: Limits) -> dict[str, Any]:
    s, t = float(np.mean(silent)), float(np.mean(task))
    return {
        "certified": True,
        "false": bool(s > limits.silent or t > limits.task),
        "help": round(float(np.mean(helped)), 4),
        "achieved": round(1 - t, 4),
        "silent": round(s, 4),
    }


def _knowno(
    d: Declaration, calibration: Sequence[Episode], fresh: Sequence[Episode], readings: dict[str, Reading]
) -> dict[str, dict[str, Any]]:
    """KnowNo's prediction sets at the task target; its number read as task success."""
    target = 1 - d.limits.task
    q = threshold([1 - readings[e.id].meant for e in calibration], d.limits.task, DELTA)
    alone = np.array([readings[e.id].best >= 1 - q and readings[e.id].second < 1 - q for e in fresh])
    most = max(s.ask for s in d.settings)
    pair = [Setting(ask, read_back=False, replans=3) for ask in (most, 0.0)]
    both = replay(pair, fresh)
    silent, task, helped = (np.where(alone, x[1], x[0]) for x in (both.silent, both.task, both.help))
    single = np.array([all(f == 0 for f, _ in e.first_tries.values()) and e.ended is Ended.DONE for e in fresh])
    opened = (task == 0) & single
    covered = np.array([1 - readings[e.id].meant <= q for e in fresh])
    loop = _figures(silent, task, helped, d.limits) | {"coverage": round(float(covered.mean()), 4)}
    loop["false"] = bool(1 - task.mean() < target)
    return {
        "KnowNo alone, in this loop": loop,
        "KnowNo alone, open loop": {
            "certified": True,
            "false": bool(opened.mean() < target),
            "help": round(float(helped.mean()), 4),
            "achieved": round(float(opened.mean()), 4),
            "silent": None,
            "coverage": loop["coverage"],
        },
    }


def _product(
    d: Declaration,
    calibration: Sequence[Episode],
    after: Losses,
    readings: dict[str, Reading],
) -> dict[str, Any]:
    """Success rates multiplied: intent, and per skill first tries with independent retries, for each setting.

    Each factor is an exact bound at delta split over all; the setting with least help whose product meets the limit on
    task failure is chosen. It claims nothing about silent failure.
    """
    tries: dict[str, list[int]] = {}
    for e in calibration:
        for skill, (failed, tried) in e.first_tries.items():
            total = tries.setdefault(skill, [0, 0])
            total[0], total[1] = total[0] + failed, total[1] + tried
    each = DELTA / (len(tries) + 1)
    n = len(calibration)
    best: tuple[float, int] | None = None
    claimed: dict[int, float] = {}
    for i, s in enumerate(d.settings):
        acted = [e for e in calibration if readings[e.id].best >= s.ask]
        wrong = sum(not readings[e.id].right for e in acted)
        success = 1 - upper_bound(wrong, n, each)
        for failed, tried in tries.values():
            rate = upper_bound(failed, tried, each)
            success *= (1 - rate ** (s.replans + 1)) ** (tried / n)
        claimed[i] = success
        if 1 - success <= d.limits.task:
            helped = float(after.help[i].mean())
            best = min(best, (helped, i)) if best else (helped, i)
    row = _row(after, best[1] if best else None, d.limits)
    if best:
        row["claimed"] = round(claimed[best[1]], 4)
        row["false"] = bool(after.task[best[1]].mean() > 1 - claimed[best[1]])
    return row
