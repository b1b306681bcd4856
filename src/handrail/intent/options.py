"""Options to choose among: written by a model or made from symbols, merged by meaning, marked, in a seeded order.

A strong model writes up to four different next steps after a few examples; a weak one can't, and the domain's own
candidates take their place. Either way two options of one meaning are one option, what the checker refutes is marked and
stays, and the not-listed option closes the list.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from handrail.domain.option import MarkCode, Option, not_listed
from handrail.errors import ConfigError
from handrail.intent.scores.letters import LABELS
from handrail.intent.scores.prompts import FEW, Example, lines
from handrail.intent.scores.scorer import Context, digest
from handrail.language.model import Model

MOST = 4
"""Listed options in a multiple-choice question, without the not-listed one."""

_LINE = re.compile(r"^\s*(?:\(?([A-Za-z]|\d{1,2})[).:]|[-*•])\s+(.*\S)\s*$")

Reading = Callable[[str], Hashable | None]
"""Reads a text's meaning; None where it can't be read."""
Check = Callable[[Hashable], str | None]
"""Refutes a meaning with a sentence; None where nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model's answer gave.

    Attributes:
        options: those that could be read, one per meaning, in the order written.
        unread: lines whose meaning could not be read; kept for the record, never acted on.
        merged: texts that said again what an earlier one meant.
    """

    options: tuple[Option, ...]
    unread: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


def writing_prompt(context: Context, examples: Sequence[Example] = FEW) -> str:
    """A few-shot prompt for different next steps."""
    labels = LABELS[:MOST]
    parts = ["A robot helps a person. It lists four different things that the person could mean."]
    for example in examples:
        things = [t.split(" ", 1)[1] for t in example.scene.replace(" and ", ", ").split(", ")]
        ways = [example.meant, *(f"bring the {t} to you" for t in things), f"put the {things[-1]} away"]
        unique = list(dict.fromkeys(ways))[:MOST]
        listed = "\n".join(f"{label}) {way}" for label, way in zip(labels, unique, strict=True))
        parts.append(f"{lines(Context(example.scene, example.request))}\n{listed}")
    parts.append(f"{lines(context)}\nA)")
    return "\n\n".join(parts)


WRITING_DIGEST = digest(writing_prompt(Context("S", "R")))


def read_written(answer: str, read: Reading, most: int = MOST) -> Written:
    """Options from an answer of lettered, numbered or dashed lines.

    Reading stops at the first line that begins no option (the model went on to another scene). Fewer than `most`
    options are fewer: nothing is padded.

    Args:
        answer: the model's text; a first line without its letter continues the prompt's "A)".
        read: meaning of a text.
        most: options taken at most.
    """
    options: dict[Hashable, Option] = {}
    unread: list[str] = []
    merged: list[str] = []
    for number, line in enumerate(answer.strip().splitlines()):
        match = _LINE.match(line)
        text = match.group(2) if match else line.strip()
        if not match and number > 0:
            break
        text = text.rstrip(" .")
        if not text:
            break
        meaning = read(text)
        if meaning is None:
            unread.append(text)
        elif meaning in options:
            merged.append(text)
        elif len(options) < most:
            options[meaning] = Option(str(meaning), text, meaning)
    return Written(tuple(options.values()), tuple(unread), tuple(merged))


def write(model: Model, context: Context, read: Reading, most: int = MOST) -> Written:
    """Ask a model for options; none readable is an empty result, not an error.

    Raises:
        ModelError: the model failed.
    """
    from handrail.language.records import Message

    answer = model.chat([Message("user", writing_prompt(context))], max_tokens=40 * most, stop=("\n\n",))
    return read_written(answer.text, read, most)


def merge(options: Iterable[Option]) -> tuple[Option, ...]:
    """One option per meaning: the first one's text, the marks of all."""
    found: dict[str, Option] = {}
    for option in options:
        if option.key in found:
            first = found[option.key]
            more = tuple(m for m in option.marks if m not in first.marks)
            attributes = first.attributes or option.attributes
            found[option.key] = replace(first, marks=(*first.marks, *more), attributes=attributes)
        else:
            found[option.key] = option
    return tuple(found.values())


def marked(options: Iterable[Option], check: Check, code: MarkCode = MarkCode.IMPOSSIBLE) -> tuple[Option, ...]:
    """The options, those that a check refutes with a mark that says why."""
    out = []
    for option in options:
        sentence = None if option.is_not_listed else check(option.meaning)
        out.append(option.marked(code, sentence) if sentence else option)
    return tuple(out)


def shortlist(
    options: Sequence[Option], fits: Callable[[Option], float], most: int = MOST, seed: int = 0
) -> tuple[Option, ...]:
    """The options that fit best by a quick reading, in their own order; ties are broken by the seed.

    Args:
        options: candidates without the not-listed one.
        fits: higher is better.
        most: how many to keep.
        seed: of the tie-break.
    """
    if most < 1:
        raise ConfigError("a shortlist keeps at least one option")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    ranked = sorted(range(len(options)), key=lambda i: (-fits(options[i]), rng.random()))
    keep = set(ranked[:most])
    return tuple(o for i, o in enumerate(options) if i in keep)


def question_of(options: Sequence[Option], seed: int) -> tuple[Option, ...]:
    """A multiple-choice question: the listed options and the not-listed one, in an order drawn from the seed."""
    listed = [o for o in merge(options) if not o.is_not_listed]
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    every = [*listed, not_listed()]
    rng.shuffle(every)
    return tuple(every)
