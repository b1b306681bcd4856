"""Numbers that a model gave for scenarios, kept so that every figure can be made again without the model.

One JSON line per scenario, compressed: which candidates were listed in which order (as indices, no scenario text),
letter log-probabilities for each rotation of the options, and each text's log-likelihood and length with and without
the request. Requests are named by a digest, so that a changed prompt or scenario is recorded again, not reused.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from handrail.domain.option import Option
from handrail.errors import ParseError, Where
from handrail.evaluate.scenarios.scenario import Scenario
from handrail.intent.options import question_of, shortlist
from handrail.intent.scores.averages import examples_of, rotations
from handrail.intent.scores.letters import LABELS, log_masses
from handrail.intent.scores.prompts import LETTERED_DIGEST, NOTHING_ASKED, SPOKEN_DIGEST, continuation, lettered, spoken
from handrail.intent.scores.scorer import Context, digest
from handrail.intent.scores.words import overlap, verb_fits
from handrail.language.model import Model
from handrail.language.records import Message

IN_WORDS = {
    "set": "Which options could be right? Answer with their letters only.",
    "certain": "Are you certain which option is right? Answer with one word: Certain or Uncertain.",
}
"""What Prompt Set and Binary ask."""


@dataclass
class Record:
    """What was recorded for one scenario.

    Attributes:
        key: the scenario's.
        request: digest of everything that the numbers depend on.
        order: the options asked, as indices into the candidates; -1 is the not-listed option.
        after: [log-likelihood, tokens] of each option's text after the request.
        before: the same after "Do something.".
        letters: for each rotation, the log-mass of each option's letter, in option order.
        answers: texts that the model wrote, by the question's name.
        votes: of an ensemble's prompts, indices into `order`.
        seconds: wall time by kind of call.
        calls: model calls by kind.
    """

    key: str
    request: str
    order: list[int]
    after: list[list[float]] = field(default_factory=list)
    before: list[list[float]] = field(default_factory=list)
    letters: list[list[float]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    votes: list[int] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)


def context_of(scenario: Scenario) -> Context:
    """What a scorer is told."""
    return Context(scenario.scene, scenario.request, scenario.done)


def reading(scenario: Scenario) -> Callable[[Option], float]:
    """The quick reading that makes shortlists: shared words and the verb, no model."""
    return lambda o: overlap(scenario.request, o.text) + verb_fits(scenario.request, o.text)


def asked(scenario: Scenario, seed: int = 0, most: int = 4) -> tuple[Option, ...]:
    """The multiple-choice question about a scenario; its order depends on the seed and the scenario alone."""
    turn = int(digest(scenario.key, str(seed)), 16) % 2**31
    if len(scenario.candidates) <= most:
        return question_of(scenario.candidates, turn)
    return question_of(shortlist(scenario.candidates, reading(scenario), most, turn), turn)


def order_of(scenario: Scenario, options: Sequence[Option]) -> list[int]:
    """Options as indices into the scenario's candidates; -1 for the not-listed one."""
    place = {o.key: i for i, o in enumerate(scenario.candidates)}
    return [place.get(o.key, -1) for o in options]


def name(model: Model, scenario: Scenario, options: Sequence[Option]) -> str:
    """Digest of model, prompts, scene, request, earlier steps and options."""
    parts = (model.fingerprint.digest, SPOKEN_DIGEST, LETTERED_DIGEST, scenario.scene, scenario.request, *scenario.done)
    return digest(*parts, *(o.text for o in options))


class Recorder:
    """Asks a model about scenarios and keeps what it says.

    Args:
        model: scores letters and texts.
        path: of the compressed file; what it holds already is reused.
        every: save after so many new records.
    """

    def __init__(self, model: Model, path: Path, every: int = 10) -> None:
        self.model, self.path, self.every = model, path, every
        self.records = {r.key: r for r in load(path)} if path.exists() else {}
        self._new = 0

    def record(
        self, scenario: Scenario, options: Sequence[Option], *, orders: int = 0, texts: bool = True, prior: bool = True
    ) -> Record:
        """Numbers for one scenario, from the file where they are there.

        Args:
            scenario: the case.
            options: what is asked.
            orders: letter rotations wanted, 0 for none.
            texts: whether text likelihoods are wanted.
            prior: whether those without a request are wanted too (pmi needs them).
        """
        request = name(self.model, scenario, options)
        record = self.records.get(scenario.key)
        if record is None or record.request != request:
            record = Record(scenario.key, request, order_of(scenario, options))
            self.records[scenario.key] = record
        changed = False
        context = context_of(scenario)
        words = [continuation(o.text) for o in options]
        if texts and not record.after:
            began = time.perf_counter()
            record.after = [[round(s.logprob, 4), s.tokens] for s in self.model.likelihoods(spoken(context), words)]
            record.seconds["texts"] = round(time.perf_counter() - began, 3)
            record.calls["texts"] = 1
            changed = True
        if texts and prior and not record.before:
            nothing = Context(context.scene, NOTHING_ASKED, context.done)
            began = time.perf_counter()
            record.before = [[round(s.logprob, 4), s.tokens] for s in self.model.likelihoods(spoken(nothing), words)]
            took = time.perf_counter() - began
            record.seconds["texts and prior"] = round(record.seconds["texts"] + took, 3)
            record.calls["texts and prior"] = 2
            changed = True
        for order in rotations(len(options), orders)[len(record.letters) :] if orders else ():
            labels = LABELS[: len(options)]
            prompt = lettered(context, [options[i].text for i in order], labels)
            began = time.perf_counter()
            masses = log_masses(self.model.letters(prompt, labels), labels)
            took = time.perf_counter() - began
            values = [0.0] * len(options)
            for place, index in enumerate(order):
                values[index] = round(masses[place][0], 4)
            record.letters.append(values)
            record.seconds.setdefault("letters", round(took, 3))
            record.seconds["all orders"] = round(record.seconds.get("all orders", 0.0) + took, 3)
            record.calls.update({"letters": 1, "all orders": len(record.letters)})
            changed = True
        if changed:
            self.touch()
        return record

    def in_words(self, record: Record, scenario: Scenario, options: Sequence[Option]) -> None:
        """Ask the model for a set of letters, and whether it is certain (Prompt Set and Binary)."""
        if record.answers:
            return
        labels = LABELS[: len(options)]
        asked_so = lettered(context_of(scenario), [o.text for o in options], labels).removesuffix("\nAnswer:")
        for kind, question in IN_WORDS.items():
            began = time.perf_counter()
            answer = self.model.chat([Message("user", f"{asked_so}\n{question}")], max_tokens=16)
            record.answers[kind] = answer.text.strip()
            record.seconds[kind] = round(time.perf_counter() - began, 3)
            record.calls[kind] = 1
        self.touch()

    def vote(self, turn: int, subset: Sequence[int], todo: Sequence[tuple[Record, Scenario, Sequence[Option]]]) -> None:
        """One prompt of an ensemble on many scenarios; prompts come one after the other, so that a server can reuse them.

        A record's votes must be filled in the prompts' order; records that have this vote already are skipped.
        """
        for record, scenario, options in todo:
            if len(record.votes) != turn:
                continue
            labels = LABELS[: len(options)]
            prompt = lettered(context_of(scenario), [o.text for o in options], labels, examples_of(subset, turn))
            masses = [v for v, _ in log_masses(self.model.letters(prompt, labels), labels)]
            record.votes.append(max(range(len(masses)), key=lambda i: masses[i]))
        self.touch()

    def touch(self) -> None:
        """Count a change, and save now and then."""
        self._new += 1
        if self._new % self.every == 0:
            self.save()

    def save(self) -> None:
        """Write the file whole, then put it in the old one's place."""
        save(self.path, self.records.values())


def save(path: Path, records: Iterable[Record]) -> None:
    """Write records as compressed JSON lines; the same records give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(r), separators=(",", ":")) for r in sorted(records, key=lambda r: r.key)]
    draft = path.with_suffix(".part")
    with draft.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())
    draft.replace(path)


def load(path: Path) -> list[Record]:
    """Read records.

    Raises:
        ParseError: not such a file.
    """
    out = []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    body: dict[str, Any] = json.loads(line)
                    out.append(Record(**body))
    except (OSError, ValueError, TypeError, EOFError) as error:
        raise ParseError(f"not a file of recordings: {error}", Where(str(path))) from error
    return out
