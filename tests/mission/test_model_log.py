"""Every request to a model and every answer goes to the run's log, failures too."""

from __future__ import annotations

import json
from pathlib import Path

import handrail as hr
from handrail.language.watch import LISTED, Exchange, RunRecorder
from handrail.record.store import RunStore


def test_requests_and_answers_are_in_the_run(tmp_path: Path) -> None:
    home = hr.Domain.load(hr.domains.path("home"))
    store = RunStore(tmp_path / "runs.sqlite")
    model = hr.models.canned(scores=lambda prompt, text: -float(len(text)), name="fake")
    person = hr.people.callback(lambda q: "yes", lambda c: True, "tester")
    mission = hr.assemble(home, hr.worlds.symbolic(home), model=model, person=person, store=store)
    outcome = mission.run("wipe the table")
    assert outcome.done
    told = [e for e in store.events(outcome.run) if e.kind == "model.answer"]
    assert told and all(e.body["model"] == "fake" and e.body["error"] == "" for e in told)
    assert told[0].body["kind"] == "likelihoods" and told[0].body["fingerprint"] == model.fingerprint.digest
    assert told[0].body["tokens"] > 0 and told[0].body["seconds"] >= 0
    assert "wipe the table" in told[0].body["request"]["prompt"]
    count = len(model.requests)
    assert len(told) == count


def test_between_runs_nothing_is_written() -> None:
    kept: list[tuple[str, dict[str, object]]] = []
    recorder = RunRecorder()
    tokens = [{"token": str(i), "logprob": -1.0} for i in range(200)]
    exchange = Exchange("letters", {}, {"tokens": tokens}, "", 0.1, 0, 0, "f", "m")
    recorder(exchange)
    recorder.to(lambda kind, body: kept.append((kind, body)))
    recorder(exchange)
    recorder.to(None)
    recorder(exchange)
    assert [kind for kind, _ in kept] == ["model.answer"]
    assert len(kept[0][1]["reply"]["tokens"]) == LISTED  # type: ignore[index,call-overload]
    assert len(tokens) == 200
    json.dumps(kept[0][1], allow_nan=False)
