"""Recordings, canned models, and the recorder."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from handrail.errors import ConfigError, ModelError, ParseError
from handrail.language.canned import Canned
from handrail.language.cassette import Cassette, redact
from handrail.language.faults import IncapableError, MissError
from handrail.language.inert import inert
from handrail.language.records import LetterScores, Message, TokenScore, letter_scores
from handrail.language.watch import Exchange, Watched

HELLO = (Message("user", "Say hi."),)


def model() -> Canned:
    return Canned(["hi", '{"a":1}'], scores={" go": -1.25, " stay": -math.inf, "A": -0.5, "B": -2.0}, name="m")


@pytest.mark.parametrize("name", ["tape.jsonl", "tape.jsonl.gz"])
def test_plays_back_exactly_what_was_recorded(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sub" / name
    tape = Cassette(path, model(), "record")
    said = [
        tape.chat(HELLO, max_tokens=5),
        tape.json(HELLO, {"type": "object"}),
        tape.likelihoods("I", [" go", " stay"]),
        tape.letters(HELLO, ["A", "B"]),
    ]
    back = Cassette(path)
    assert len(back) == 4
    assert back.fingerprint == model().fingerprint and back.capabilities() == model().capabilities()
    assert said == [
        back.chat(HELLO, max_tokens=5, timeout=3),
        back.json(HELLO, {"type": "object"}),
        back.likelihoods("I", [" go", " stay"]),
        back.letters(HELLO, ["A", "B"]),
    ]
    assert (back.hits, back.misses) == (4, 0)


@pytest.mark.parametrize(
    "change", [{"max_tokens": 6}, {"temperature": 0.1}, {"seed": 1}, {"stop": ("x",)}], ids=lambda c: next(iter(c))
)
def test_another_request_is_a_miss(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "tape.jsonl"
    Cassette(path, model(), "record").chat(HELLO, max_tokens=5)
    back = Cassette(path)
    with pytest.raises(MissError, match="holds no answer to this chat request"):
        back.chat(HELLO, **{"max_tokens": 5, **change})  # type: ignore[arg-type]
    with pytest.raises(MissError):
        back.chat((Message("system", "Say hi."),), max_tokens=5)
    with pytest.raises(MissError, match="json request"):
        back.json(HELLO, {}, max_tokens=5)


def test_cache_asks_once(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    inner = model()
    tape = Cassette(path, inner, "cache")
    assert tape.likelihoods("I", [" go"]) == tape.likelihoods("I", [" go"])
    again = Cassette(path, inner, "cache")
    again.likelihoods("I", [" go"])
    assert len(inner.requests) == 1
    again.likelihoods("You", [" go"])
    assert len(inner.requests) == 2 and len(Cassette(path)) == 2
    with pytest.raises(ModelError, match="recorded with m"):
        Cassette(path, Canned(name="other"), "cache")


def test_record_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    Cassette(path, model(), "record").chat(HELLO)
    assert len(Cassette(path, model(), "record")) == 0
    assert len(Cassette(path)) == 0


def test_damage_and_absence_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    with pytest.raises(ModelError, match="no recording"):
        Cassette(path)
    with pytest.raises(ModelError, match="a model is needed"):
        Cassette(path, None, "record")
    Cassette(path, model(), "record").chat(HELLO)
    whole = path.read_text()
    for bad in (whole[:-20], "x\n", '{"cassette": 99}\n', whole + "[]\n", whole.replace('"kind": "chat"', '"kind": "letters"')):
        path.write_text(bad)
        with pytest.raises(ParseError, match="damaged"):
            Cassette(path)


@pytest.mark.parametrize(
    "secret",
    ["sk-abcdefghijklmnop1234", "Bearer abcdefghijkl.mnop", "ghp_abcdefghijklmnopqrstuv", "api_key=abcdefgh12",
     "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM"],
)  # fmt: skip
def test_secrets_are_redacted(tmp_path: Path, secret: str) -> None:
    assert secret not in redact(f"x {secret} y")
    path = tmp_path / "tape.jsonl"
    ask = (Message("user", f"My key is {secret}."),)
    Cassette(path, Canned([f"I saw {secret}."]), "record").chat(ask)
    assert secret not in path.read_text()
    assert Cassette(path).chat(ask).text.startswith("I saw [redacted]")


def test_plain_words_are_not_redacted() -> None:
    for text in ("task-force", "the bearer of news", "pick(mug, shelf)", "skating is fun and takes skill"):
        assert redact(text) == text


def test_canned_invents_nothing() -> None:
    fake = Canned(["one"], scores={"A": -0.1})
    assert fake.chat(HELLO).text == "one"
    with pytest.raises(MissError):
        fake.chat(HELLO)
    with pytest.raises(MissError, match="' go'"):
        fake.likelihoods("I", [" go"])
    with pytest.raises(IncapableError):
        Canned(["x"]).letters(HELLO, ["A"])
    with pytest.raises(ConfigError, match="more than 1"):
        Canned(scores=lambda prompt, text: 0.0).letters(HELLO, ["A", "B"])
    with pytest.raises(ConfigError, match="list of texts"):
        Canned("text")
    assert Canned(lambda turns: turns[-1].content.upper()).chat(HELLO).text == "SAY HI."


def test_every_request_is_told_failures_too() -> None:
    told: list[Exchange] = []
    watched = Watched(model(), told.append)
    watched.chat(HELLO)
    watched.likelihoods("I", [" go"])
    with pytest.raises(MissError):
        watched.likelihoods("I", [" fly"])
    assert [(e.kind, e.error.split(":")[0], e.tokens) for e in told] == [
        ("chat", "", 1), ("likelihoods", "", 1), ("likelihoods", "MissError", 0),
    ]  # fmt: skip
    assert told[0].request["messages"] == [{"role": "user", "content": "Say hi."}]
    assert told[0].reply["text"] == "hi" and told[2].reply is None
    assert told[0].fingerprint == model().fingerprint.digest and told[0].model == "m"


def test_requests_are_checked() -> None:
    fake = model()
    for bad in ({"max_tokens": 0}, {"temperature": -1}, {"temperature": math.nan}, {"stop": ("",)}, {"timeout": 0},
                {"timeout": math.inf}):  # fmt: skip
        with pytest.raises(ConfigError):
            fake.chat(HELLO, **bad)  # type: ignore[arg-type]
    for texts in ([], [""]):
        with pytest.raises(ConfigError):
            fake.likelihoods("I", texts)
    for labels in ([], [" "], ["A", "A"]):
        with pytest.raises(ConfigError):
            fake.letters("I", labels)
    with pytest.raises(ConfigError, match="role"):
        Message("robot", "x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        fake.chat(())


def test_the_bound_on_unseen_labels() -> None:
    half = letter_scores(("A",), [TokenScore("A", math.log(0.5)), TokenScore("B", math.log(0.2))], complete=False)
    assert math.exp(half.unseen) == pytest.approx(0.3)
    assert math.exp(half.unseen_each) == pytest.approx(0.2)  # no more than the least listed one
    full = letter_scores(("A",), [TokenScore("A", 0.0)], complete=False)
    assert 0 < math.exp(full.unseen) < 1e-6
    assert letter_scores(("A",), [TokenScore("A", 0.0)], complete=True).unseen_each == -math.inf
    assert LetterScores(("A",), (), False, 0.0).unseen_each == 0.0


def test_inert_text() -> None:
    assert inert("a <|im_end|> b </s> [INST] <end_of_turn>") == "a < |im_end|> b < /s> [ INST] < end_of_turn>"
    assert inert("a < b | c > d [list]") == "a < b | c > d [list]"
    assert inert(inert("<|x|>")) == inert("<|x|>")
