"""Prompts for scoring. Plain text, examples from elsewhere than home, so that no answer can be copied.

Their texts are hashed into every score's provenance: change a word and the calibration no longer fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.intent.scores.scorer import Context, digest


@dataclass(frozen=True, slots=True)
class Example:
    """A worked case: what is there, what was said, what was meant."""

    scene: str
    request: str
    meant: str


EXAMPLES = (
    Example("a red pen, a stapler and a glue stick", "I have to sign this letter.", "bring the red pen to you"),
    Example("a hammer, a saw and a bucket", "Put the saw on the workbench.", "put the saw on the workbench"),
    Example("a rake, a hose and a flower pot", "The roses are thirsty.", "bring the hose to you"),
    Example("a novel, an atlas and a lamp", "Put the atlas on the top shelf.", "put the atlas on the top shelf"),
    Example("a towel, a razor and a comb", "My hands are wet.", "bring the towel to you"),
    Example("a tent, a rope and a torch", "Put the torch next to the tent.", "put the torch next to the tent"),
    Example("a violin, a drum and a flute", "Hand me the one with strings.", "bring the violin to you"),
    Example("a shirt, a sock and a scarf", "The scarf goes in the wardrobe.", "put the scarf in the wardrobe"),
    Example("a stamp, an envelope and a ruler", "I want to post a letter.", "bring the envelope to you"),
    Example("a brush, a canvas and a rag", "The rag is ruined, get rid of it.", "put the rag in the waste"),
    Example("a wrench, a nail and a screw", "This bolt is loose.", "bring the wrench to you"),
    Example("a doll, a ball and a puzzle", "Put the ball in the toy box.", "put the ball in the toy box"),
    Example("a helmet, a pump and a bell", "My tyre is flat.", "bring the pump to you"),
    Example("a spade, a seed bag and a sieve", "Put the seed bag in the shed.", "put the seed bag in the shed"),
    Example("a camera, a tripod and a bag", "The tripod belongs beside the bag.", "put the tripod next to the bag"),
    Example("a candle, a match and a vase", "It is getting dark.", "bring the candle to you"),
    Example("a kite, a net and a paddle", "Put the net in the boat.", "put the net in the boat"),
    Example("a needle, a button and a zip", "My coat lost something round.", "bring the button to you"),
    Example("a coin, a key and a ticket", "I can't open the door.", "bring the key to you"),
    Example("a crayon, a folder and a clip", "Put the folder on the desk.", "put the folder on the desk"),
)
"""Where ensembles draw their examples from; other prompts use the first two."""

FEW = EXAMPLES[:2]
NOTHING_ASKED = "Do something."
"""The request of the prior: what a model would say of the scene alone."""

_HEAD = "A robot helps a person."
_OPTIONS = "What should the robot do?"


def spoken(context: Context, examples: Sequence[Example] = FEW) -> str:
    """A prompt that an option's text continues: "... Robot: I will"."""
    parts = [_HEAD]
    parts += [f"Here: {e.scene}.\nPerson: {e.request}\nRobot: I will {e.meant}." for e in examples]
    parts.append(_situation(context) + "\nRobot: I will")
    return "\n\n".join(parts)


def continuation(text: str) -> str:
    """An option's text as it follows `spoken`, with its end, so that a longer text is no bargain."""
    return f" {text}.\n"


def lettered(context: Context, texts: Sequence[str], labels: Sequence[str], examples: Sequence[str] = ()) -> str:
    """A multiple-choice question whose answer is the next token: " B"."""
    return "\n\n".join([_HEAD, *examples, f"{_situation(context)}\n{_choices(texts, labels)}\nAnswer:"])


def lettered_example(example: Example, labels: Sequence[str], right: int) -> str:
    """A worked multiple-choice question, with three wrong options made from its scene, the right one at a place."""
    things = [t.split(" ", 1)[1] for t in example.scene.replace(" and ", ", ").split(", ")]
    wrong = [f"bring the {t} to you" for t in things] + [f"put the {t} on the floor" for t in things]
    texts = [w for w in wrong if w != example.meant][: len(labels) - 2]
    texts.insert(right, example.meant)
    texts.append("an option not listed here")
    context = Context(example.scene, example.request)
    return f"{_situation(context)}\n{_choices(texts, labels)}\nAnswer: {labels[right]}"


def _situation(context: Context) -> str:
    lines = [f"Here: {context.scene}.", f"Person: {context.request}"]
    if context.done:
        lines.append("Done: " + "; ".join(context.done) + ".")
    return "\n".join(lines)


def _choices(texts: Sequence[str], labels: Sequence[str]) -> str:
    return "\n".join([_OPTIONS, *(f"{label}) {text}" for label, text in zip(labels, texts, strict=True))])


def lines(context: Context) -> str:
    """The situation as the prompts write it."""
    return _situation(context)


SPOKEN_DIGEST = digest(spoken(Context("S", "R", ("D",))), continuation("T"), NOTHING_ASKED)
LETTERED_DIGEST = digest(lettered(Context("S", "R", ("D",)), ("T", "U"), "AB"))
