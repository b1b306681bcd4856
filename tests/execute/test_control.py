"""Other programs: they stop a run, answer it, approve its plans; nothing that they send can do more."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from handrail.errors import WorldError
from handrail.execute.budget import Budgets, Ended
from handrail.execute.control import Control, ControlClient, Inbox
from handrail.execute.person import Deadline, Kind, Nobody, Question
from handrail.world.faults import Fault, Faults
from handrail.world.protocol import Stopped
from handrail.world.wire import private_path, socket_path

Q = Question("e1", Kind.FACT, "Is it open?", ("yes", "no"))


@pytest.fixture
def folder():
    path = socket_path("x").parent
    yield path
    for left in path.iterdir():
        left.unlink()
    path.rmdir()


def within(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("it did not happen in time")


def in_thread(work):
    out: list = []
    thread = threading.Thread(target=lambda: out.append(work()), daemon=True)
    thread.start()
    return thread, out


def test_a_stop_from_another_program_stops_a_running_step(make, plain, folder):
    kit = make(pace=20.0, person=Nobody())
    thread, out = in_thread(lambda: kit.run("on(mug) == shelf", *plain, control=folder))
    within(lambda: kit.world.running())
    client = ControlClient(folder / "r1.sock")
    assert client.status()["moving"] == ["r1/0/0"]
    verdict = client.stop("alex")
    assert verdict.overall is Stopped.STOPPED and kit.world.running() == ()
    client.close()
    thread.join(5)
    assert out[0].ended is Ended.STOPPED and out[0].verdict == verdict
    assert "Stopped by alex: robot 1 stands still" in out[0].sentence
    assert not (folder / "r1.sock").exists()


def test_a_stop_while_the_planner_thinks_is_not_lost(make, plain, folder):
    thinking = threading.Event()

    class Slow:
        def replan(self, situation):
            thinking.set()
            time.sleep(30)

    kit = make(faults=Faults(script={1: Fault.BLOCKED}), replanner=Slow(), person=Nobody())
    thread, out = in_thread(lambda: kit.run("on(mug) == shelf", *plain, control=folder))
    assert thinking.wait(5)
    client = ControlClient(folder / "r1.sock")
    client.stop("alex")
    client.close()
    thread.join(5)
    assert out[0].ended is Ended.STOPPED


def test_a_stop_while_a_person_is_asked_is_not_lost(make, plain, folder):
    kit = make(person=Nobody(), budgets=Budgets(answer_seconds=30.0))
    thread, out = in_thread(
        lambda: kit.run(
            "on(mug) == shelf", *plain, control=folder, during=lambda _: kit.world.change((("on", "mug"), "store"))
        )
    )
    client = within(lambda: _connect(folder))
    within(lambda: client.status()["cards"])
    assert kit.host.stop("somebody at the robot").overall is Stopped.STOPPED
    client.stop("alex")
    client.close()
    thread.join(5)
    assert out[0].ended is Ended.STOPPED and kit.world.done == []


def _connect(folder):
    try:
        return ControlClient(folder / "r1.sock")
    except WorldError:
        return None


def test_an_approval_from_another_program_is_for_the_card_that_was_shown(make, plain, folder):
    kit = make(person=Nobody(), budgets=Budgets(answer_seconds=20.0))
    thread, out = in_thread(
        lambda: kit.run(
            "on(mug) == shelf", *plain, control=folder, during=lambda _: kit.world.change((("on", "mug"), "store"))
        )
    )
    client = within(lambda: _connect(folder))
    (card,) = within(lambda: client.status()["cards"])
    assert "Open the store" in card["text"] and "Not checked" in card["text"] and "{" not in card["text"]
    with pytest.raises(WorldError, match="waits for approval"):
        client.approve(True, "alex", "0" * 32, card["card_id"])
    with pytest.raises(WorldError, match="changed"):
        client.approve(True, "alex", card["proof_id"], "0" * 16)
    assert kit.world.done == []
    client.approve(True, "alex", card["proof_id"], card["card_id"])
    thread.join(10)
    assert out[0].done
    with pytest.raises(WorldError):
        client.approve(True, "alex", card["proof_id"], card["card_id"])
    client.close()


def test_an_answer_from_another_program(make, folder):
    kit = make(
        person=Nobody(), faults=Faults(script={1: Fault.HANG}), budgets=Budgets(step_seconds=0.1, answer_seconds=20.0)
    )
    thread, out = in_thread(
        lambda: kit.run("full(glass)", ("go", "robot_1", "table"), ("pour", "robot_1", "glass"), control=folder)
    )
    client = within(lambda: _connect(folder))
    (question,) = within(lambda: client.status()["questions"])
    assert "Has it?" in question["sentence"]
    with pytest.raises(WorldError, match="none of the answers"):
        client.answer("perhaps", "alex")
    client.answer("it has not happened", "alex", question["id"])
    thread.join(10)
    assert out[0].done
    with pytest.raises(WorldError, match="not asking"):
        client.answer("yes", "alex")
    client.close()


def test_the_inbox_gives_up_at_its_deadline():
    inbox = Inbox()
    assert inbox.answer(Q, Deadline(0.05)) is None
    assert inbox.open() == {"questions": [], "cards": []}


def test_junk_on_the_channel_is_answered_and_harms_nothing(folder):
    stops = []
    control = Control(folder / "c.sock", Inbox(), lambda by: stops.append(by))
    try:
        for junk in (
            b"\n",
            b"{}\n",
            b"[]\n",
            b'{"do": "start"}\n',
            b'{"do": "approve", "yes": 1}\n',
            b'{"do":"answer"}\n',
            b"\xff\n",
        ):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(control.path))
                s.sendall(junk)
                with s.makefile("rb") as lines:
                    assert b"error" in lines.readline()
        assert stops == []
    finally:
        control.close()
        control.close()


def test_an_open_folder_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    with pytest.raises(WorldError, match="chmod 700"):
        Control(tmp_path / "c.sock", Inbox(), lambda by: None)


def test_a_socket_left_behind_by_a_killed_run_is_taken_over(folder):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "c.sock"))
    control = Control(folder / "c.sock", Inbox(), lambda by: None)
    with pytest.raises(WorldError, match="in use"):
        Control(folder / "c.sock", Inbox(), lambda by: None)
    control.close()


def test_a_folder_too_deep_for_an_address_gets_another_one(tmp_path):
    deep = tmp_path / ("x" * 120)
    path = private_path(deep, "abcd1234")
    assert len(str(path)) < 104 and path.name == "abcd1234.sock" and path.parent.stat().st_mode & 0o077 == 0
    path.parent.rmdir()
    assert private_path(tmp_path.parent, "a").is_absolute()
