"""The control channel of a run: a Unix socket on which other programs stop it, answer its questions and approve its plans.

The channel has its own threads. A stop goes straight to the world host from there, whatever the runner is doing.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError, WorldError
from handrail.execute.card import Card
from handrail.execute.person import Answer, Deadline, Question, Reply
from handrail.world.protocol import StopVerdict
from handrail.world.wire import LIMIT, Line, listen, pack_verdict, unpack_verdict


class Inbox:
    """A person in another process: what is open is shown to whoever connects, and their words come back here."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._questions: dict[str, Question] = {}
        self._cards: dict[str, Card] = {}
        self._answers: dict[str, Answer] = {}
        self._replies: dict[str, Reply] = {}

    def answer(self, question: Question, deadline: Deadline) -> Answer | None:
        """Wait for somebody to answer; see `Person.answer`."""
        with self._change:
            self._questions[question.id] = question
            try:
                while question.id not in self._answers and not deadline.over:
                    self._change.wait(min(0.05, deadline.left(0.05)) or 0.001)
                return self._answers.pop(question.id, None)
            finally:
                self._questions.pop(question.id, None)

    def approve(self, card: Card, proof_id: str, deadline: Deadline) -> Reply | None:
        """Wait for somebody to say yes or no; see `Person.approve`."""
        with self._change:
            self._cards[proof_id] = card
            try:
                while proof_id not in self._replies and not deadline.over:
                    self._change.wait(min(0.05, deadline.left(0.05)) or 0.001)
                return self._replies.pop(proof_id, None)
            finally:
                self._cards.pop(proof_id, None)

    def open(self) -> dict[str, Any]:
        """What is being asked right now."""
        with self._change:
            return {
                "questions": [q.to_json() for q in self._questions.values()],
                "cards": [{"proof_id": p, "card_id": c.card_id, "text": c.text} for p, c in self._cards.items()],
            }

    def put_answer(self, text: str, by: str, question: str = "") -> str:
        """An answer from outside; returns the sentence it answers.

        Raises:
            WorldError: nothing is being asked, the id is unknown or not unique, or the text is none of the choices.
        """
        with self._change:
            if not self._questions:
                raise WorldError("this run is not asking anything at the moment")
            exact = self._questions.get(question)
            found = [exact] if exact else [q for i, q in self._questions.items() if i.startswith(question)]
            if len(found) != 1:
                raise WorldError(f"which question? open are: {', '.join(self._questions)}")
            asked = found[0]
            choice = asked.choice(text)
            if asked.choices and choice is None:
                raise WorldError(f"'{text}' is none of the answers: {'; '.join(asked.choices)}")
            self._answers[asked.id] = Answer(text if choice is None else asked.choices[choice], choice, by)
            self._change.notify_all()
            return asked.sentence

    def put_reply(self, approved: bool, by: str, words: str, proof: str, card: str) -> str:
        """A yes or no from outside; returns the proof_id it is about.

        Args:
            approved: yes or no.
            by: who.
            words: what they add.
            proof: the plan's proof_id.
            card: id of the card that was shown to them; must be that of the open card.

        Raises:
            WorldError: no card is open, or another one than was shown.
        """
        with self._change:
            shown = self._cards.get(proof)
            if shown is None:
                open_now = ", ".join(p[:12] for p in self._cards) or "nothing"
                raise WorldError(
                    f"no plan {proof[:12]} waits for approval; waiting: {open_now}. Look at the card again."
                )
            if card != shown.card_id:
                raise WorldError("the card has changed since you saw it; look at it again")
            self._replies[proof] = Reply(approved, by, words)
            self._change.notify_all()
            return proof


class Control:
    """Serves a run's control channel.

    Args:
        path: of the socket.
        inbox: where answers and approvals go.
        stop: stops the world at once and tells the runner; called from this channel's threads.
        status: what `status` shows besides what is open.
    """

    def __init__(
        self,
        path: Path,
        inbox: Inbox,
        stop: Callable[[str], StopVerdict],
        status: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self.path = path
        self._inbox = inbox
        self._stop = stop
        self._status = status
        self._listener = listen(path)
        self._listener.settimeout(0.2)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="handrail-control", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), name="handrail-control-talk", daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as lines:
                connection.settimeout(60.0)
                for line in iter(lambda: lines.readline(LIMIT), b""):
                    connection.sendall(json.dumps(self._answer(line)).encode() + b"\n")
        except OSError:
            return  # the other side is gone or silent

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            body = json.loads(line)
            do = body["do"]
            if do == "stop":
                return {"ok": pack_verdict(self._stop(str(body.get("by", "another program"))))}
            if do == "status":
                return {"ok": {**self._status(), **self._inbox.open()}}
            if do == "answer":
                by, question = str(body.get("by", "another program")), str(body.get("question", ""))
                return {"ok": self._inbox.put_answer(str(body["text"]), by, question)}
            if do == "approve":
                if not isinstance(body["yes"], bool):
                    raise ValueError("'yes' must be true or false")
                by, words = str(body.get("by", "another program")), str(body.get("words", ""))
                proof, card = str(body["proof_id"]), str(body["card_id"])
                return {"ok": self._inbox.put_reply(body["yes"], by, words, proof, card)}
            raise ValueError(f"'{do}' is not one of stop, status, answer, approve")
        except HandrailError as e:
            return {"error": str(e), "type": type(e).__name__}
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            return {"error": f"not a request this channel knows: {e}", "type": "WorldError"}

    def close(self) -> None:
        """End the channel and remove its socket. May be called twice."""
        self._closed.set()
        self._listener.close()
        self._thread.join(1.0)
        self.path.unlink(missing_ok=True)


class ControlClient:
    """The other end: what `handrail stop`, `answer` and `approve` use.

    Args:
        path: of the run's control socket.
        timeout: seconds for an answer.

    Raises:
        WorldError: nobody listens there: the run has ended or its process is gone.
    """

    def __init__(self, path: Path | str, timeout: float = 5.0) -> None:
        self._line = Line(path, timeout)

    def stop(self, by: str) -> StopVerdict:
        """Stop the world and the run; gives the verdict."""
        found = unpack_verdict(self._line.ask("stop", by=by))
        if found is None:
            raise WorldError("the run gave no verdict on the stop")
        return found

    def status(self) -> dict[str, Any]:
        """What the run is doing and asking."""
        body: dict[str, Any] = self._line.ask("status")
        return body

    def answer(self, text: str, by: str, question: str = "") -> str:
        """Answer an open question; gives the sentence that was answered."""
        return str(self._line.ask("answer", text=text, by=by, question=question))

    def approve(self, yes: bool, by: str, proof_id: str, card_id: str, words: str = "") -> str:
        """Approve or refuse an open card; gives the proof_id."""
        return str(self._line.ask("approve", yes=yes, by=by, proof_id=proof_id, card_id=card_id, words=words))

    def close(self) -> None:
        """End the connection."""
        self._line.close()
