"""`handrail stop`, `answer`, `approve`, `pending`: a run that is going on, from another terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.cli.exits import Exit
from handrail.cli.runs import ByOption, ConfigOption, JsonOption, RunsOption, live, print_json, say, store, who
from handrail.errors import StoreError, WorldError

if TYPE_CHECKING:
    from handrail.execute.control import ControlClient
    from handrail.record.store import RunInfo
    from handrail.world.protocol import StopVerdict


def stop(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="a run; the one that is going on by default")
    ] = None,
    by: ByOption = None,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop the robot at once, and say for each robot whether it stands still.

    Goes straight to the world host, not through the run, whatever the run is doing. It is no safety-rated stop: the robot's own
    emergency stop stays independent of it. Ends with code 0 only where every robot was found standing still.
    """
    from handrail.execute.course import stop_sentence
    from handrail.world.protocol import Stopped

    info = live(store(runs, config), run)
    verdict, told = stop_run(info, who(by))
    if as_json:
        print_json({
            "run": info.id,
            "overall": str(verdict.overall),
            "robots": {r: str(s) for r, s in verdict.robots.items()},
            "sentence": verdict.sentence,
            "runner_told": told,
        })  # fmt: skip
    else:
        say(stop_sentence(who(by), verdict))
        if not told:
            say("The run itself does not answer; it can't start anything any more.")
        if verdict.overall is not Stopped.STOPPED:
            say("Use the robot's own stop. Then: handrail stop " + info.id)
    raise typer.Exit(Exit.OK if verdict.overall is Stopped.STOPPED else Exit.STOPPED)


def stop_run(info: RunInfo, by: str) -> tuple[StopVerdict, bool]:
    """Stop a run's world: at its host first, then tell the runner. Gives the verdict, and whether the runner heard.

    Raises:
        StoreError: neither can be reached.
    """
    from handrail.execute.control import ControlClient
    from handrail.world.protocol import Stopped
    from handrail.world.remote import RemoteHost

    verdict: StopVerdict | None = None
    problems: list[str] = []
    if info.host:
        try:
            host = RemoteHost(info.host, timeout=2.0)
            verdict = host.stop(by)
            host.close()
        except WorldError as e:
            problems.append(str(e))
    told = False
    if info.control:
        try:
            client = ControlClient(info.control)
            heard = client.stop(by)
            client.close()
            told = True
            if verdict is None or heard.overall is Stopped.STOPPED:
                verdict = heard
        except WorldError as e:
            problems.append(str(e))
    if verdict is None:
        raise StoreError(
            f"run {info.id} can't be reached, so whether its robot stands still is unknown: "
            f"{'; '.join(problems) or 'it has neither a host of its own nor a control channel'}. Use the robot's own stop."
        )
    return verdict, told


@contextmanager
def _control(info: RunInfo) -> Iterator[ControlClient]:
    from handrail.execute.control import ControlClient

    if not info.control:
        raise StoreError(f"run {info.id} has no control channel")
    client = ControlClient(info.control)
    try:
        yield client
    finally:
        client.close()


def answer(
    text: Annotated[list[str], typer.Argument(help="the answer: its number, or the words")],
    run: Annotated[str | None, typer.Option("--run", help="a run; the one that is going on by default")] = None,
    question: Annotated[str, typer.Option("--question", help="which question, where several are open")] = "",
    by: ByOption = None,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer the question that a run is asking. Without words that fit, the question is shown with its choices."""
    info = live(store(runs, config), run)
    with _control(info) as client:
        asked = client.answer(" ".join(text), who(by), question)
    if as_json:
        print_json({"run": info.id, "question": asked, "answer": " ".join(text)})
    else:
        say(f"{asked}  {' '.join(text)}")


def pending(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="a run; the one that is going on by default")
    ] = None,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a run is doing and asking right now."""
    info = live(store(runs, config), run)
    with _control(info) as client:
        status = client.status()
    if as_json:
        print_json(status)
        return
    say(f"Run {info.id}: {status['doing']}")
    for q in status["questions"]:
        say(f"Question {q['id']}: {q['sentence']}")
        for i, choice in enumerate(q["choices"], 1):
            say(f"  {i}  {choice}")
        say(f"Answer with: handrail answer --run {info.id} --question {q['id']} WORDS")
    for card in status["cards"]:
        say(card["text"])
        say(f"Approve with: handrail approve {info.id}   refuse with: handrail approve {info.id} --no")
    if not status["questions"] and not status["cards"]:
        say("It is not waiting for anybody.")


def approve(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="a run; the one that is going on by default")
    ] = None,
    no: Annotated[bool, typer.Option("--no", help="refuse it")] = False,
    words: Annotated[str, typer.Option("--because", help="why, for the record")] = "",
    proof: Annotated[
        str, typer.Option("--proof", help="only if it is still this plan (its proof_id or the beginning)")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="do not ask again after the card was shown")] = False,
    by: ByOption = None,
    runs: RunsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the plan that waits for approval, and approve or refuse it. An approval is for that very card, once."""
    info = live(store(runs, config), run)
    with _control(info) as client:
        cards = [c for c in client.status()["cards"] if c["proof_id"].startswith(proof)]
        if not cards:
            raise StoreError(f"run {info.id} has no plan{f' {proof}' if proof else ''} that waits for approval")
        card = cards[0]
        if not as_json:
            say(card["text"])
        if not no and not yes and not typer.confirm("Approve?"):
            no = True
        client.approve(not no, who(by), card["proof_id"], card["card_id"], words)
    if as_json:
        print_json({"run": info.id, "proof_id": card["proof_id"], "approved": not no})
    else:
        say("Refused." if no else "Approved.")
