"""The HTTP client against a server that lies, and against a real llama.cpp server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import ConfigError, ModelError
from handrail.language.embedded import Embedded
from handrail.language.endpoint import Endpoint, key_for
from handrail.language.faults import (
    IncapableError,
    ModelAnswerError,
    ModelCancelledError,
    ModelRefusedError,
    ModelTimeoutError,
)
from handrail.language.probe import probe
from handrail.language.records import Capabilities, Message

HELLO = (Message("user", "Say hi."),)
SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"], "additionalProperties": False}
KEY = "sk-secretsecretsecret42"


def good(text: str = "hi", **choice: Any) -> Callable[[Any], None]:
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop", **choice}]}
    usage = {"usage": {"completion_tokens": 1, "prompt_tokens": 3}}
    return lambda lie: lie.json({**message, **usage})


def says(data: Any, status: int = 200, **headers: str) -> Callable[[Any], None]:
    return lambda lie: lie.json(data, status, **headers)


def hang(lie: Any) -> None:
    lie.server.over.wait(20)


def drip(lie: Any) -> None:
    lie.send_response(200)
    lie.send_header("Content-Length", "100000")
    lie.end_headers()
    while not lie.server.over.wait(0.02):
        lie.wfile.write(b" ")
        lie.wfile.flush()


def cut(lie: Any) -> None:
    lie.send_response(200)
    lie.send_header("Content-Type", "application/json")
    lie.send_header("Content-Length", "1000")
    lie.end_headers()
    lie.wfile.write(b'{"choices": [{"mess')
    lie.close_connection = True


def endless(lie: Any) -> None:
    lie.send_response(200)
    lie.send_header("Transfer-Encoding", "chunked")
    lie.end_headers()
    block = b"%x\r\n%s\r\n" % (2**20, b" " * 2**20)
    while not lie.server.over.is_set():
        lie.wfile.write(block)


@pytest.fixture
def client() -> Iterator[Callable[..., Endpoint]]:
    made: list[Endpoint] = []

    def make(server: Any, **options: Any) -> Endpoint:
        settings = {"key": KEY, "retries": 2, "backoff": 0.01, "capabilities": Capabilities(top_logprobs=5), **options}
        made.append(Endpoint(server.url, "m", **settings))
        return made[-1]

    yield make
    for endpoint in made:
        endpoint.close()


def test_a_good_answer(lying: Any, client: Any) -> None:
    server = lying(good("hi"))
    answer = client(server).chat(HELLO, max_tokens=7, stop=("\n",), seed=3)
    assert (answer.text, answer.tokens, answer.prompt_tokens, answer.finish) == ("hi", 1, 3, "stop")
    path, body = server.seen[0]
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "m", "messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 7, "temperature": 0.0,
        "seed": 3, "stop": ["\n"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    [
        says({"error": {"message": "slow down"}}, 429),
        says({"error": {"message": "slow down"}}, 429, Retry_After="0"),
        says({"error": {"message": "oops"}}, 500),
        lambda lie: lie.send(503, b"<html>busy</html>", "text/html"),
        cut,
        lambda lie: lie.send(200, b"<!doctype html><title>Sign in</title>", "text/html"),
        lambda lie: lie.send(200, b"", "application/json"),
        lambda lie: lie.send(200, b"[1]"),
        lambda lie: lie.send(200, b"\xff\xfe\x00"),
        says({"error": {"message": "model is loading"}}),
        says({"choices": []}),
        says({}),
    ],
    ids=["429", "429 with wait", "500", "503 html", "cut", "html", "nothing", "a list", "bytes", "error in 200",
         "no choices", "empty object"],
)  # fmt: skip
def test_what_may_pass_is_tried_again(bad: Any, lying: Any, client: Any) -> None:
    server = lying(bad, good("hi"))
    assert client(server).chat(HELLO).text == "hi"
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("bad", "kind", "says_", "requests"),
    [
        (says({"error": {"message": "slow down"}}, 429), ModelRefusedError, "429: slow down (3 tries)", 3),
        (says({"error": {"message": "slow"}}, 429, Retry_After="999"), ModelRefusedError, "429", 1),
        (says({"error": {"message": "oops"}}, 500), ModelRefusedError, "500: oops (3 tries)", 3),
        (says({"error": {"message": "no such model"}}, 404), ModelRefusedError, "404: no such model", 1),
        (says({"error": {"message": f"bad key {KEY}"}}, 401), ModelRefusedError, "is the key right", 1),
        (cut, ModelError, "can't reach", 3),
        (lambda lie: lie.send(200, b"<html>Sign in</html>", "text/html"), ModelAnswerError, "HTML", 3),
        (lambda lie: lie.send(200, b'{"choices": [{"mess'), ModelAnswerError, "no JSON", 3),
        (says({"choices": []}), ModelAnswerError, "no choices", 2),
        (says({"choices": [{}]}), ModelAnswerError, "no text", 1),
        (says({"choices": [{"message": {"content": None}}]}), ModelAnswerError, "no text", 1),
        (says({"choices": ["x"]}), ModelAnswerError, "no choices", 1),
        (endless, ModelAnswerError, "more than", 1),
    ],
    ids=["429", "429 long", "500", "404", "401", "cut", "html", "cut json", "no choices", "no message", "null text",
         "choice a text", "endless"],
)  # fmt: skip
def test_what_stays_bad_is_an_error(
    bad: Any, kind: type[Exception], says_: str, requests: int, lying: Any, client: Any
) -> None:
    server = lying(bad)
    with pytest.raises(kind) as caught:
        client(server).chat(HELLO, timeout=20)
    assert says_ in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.seen) == requests


@pytest.mark.parametrize("slow", [hang, drip])
def test_a_call_ends_at_its_time(slow: Any, lying: Any, client: Any) -> None:
    with pytest.raises(ModelTimeoutError, match=r"within 0\.3 s"):
        client(lying(slow)).chat(HELLO, timeout=0.3)


@pytest.mark.parametrize("slow", [hang, drip])
def test_a_call_can_be_cancelled(slow: Any, lying: Any, client: Any) -> None:
    cancel = threading.Event()
    server = lying(slow)

    def later() -> None:
        while not server.seen:
            server.over.wait(0.01)
        cancel.set()

    thread = threading.Thread(target=later)
    thread.start()
    with pytest.raises(ModelCancelledError):
        client(server).chat(HELLO, timeout=15, cancel=cancel)
    thread.join()


def test_cancelling_while_waiting_to_try_again(lying: Any, client: Any) -> None:
    cancel = threading.Event()

    def refuse(lie: Any) -> None:
        lie.json({"error": {"message": "slow down"}}, 429)
        cancel.set()

    server = lying(refuse)
    with pytest.raises(ModelCancelledError):
        client(server, backoff=5).chat(HELLO, timeout=15, cancel=cancel)
    assert len(server.seen) == 1


def test_an_unreachable_server_is_told(client: Any) -> None:
    class Nowhere:
        url = "http://127.0.0.1:9/v1"

    with pytest.raises(ModelError, match="can't reach"):
        client(Nowhere, retries=0).chat(HELLO)


def test_a_refused_schema_is_told_in_words_instead(lying: Any, client: Any) -> None:
    server = lying(says({"error": {"message": "response_format json_schema is not supported"}}, 400), good('{"a": "x"}'))
    endpoint = client(server, capabilities=Capabilities(json_schema=True))
    first = endpoint.json(HELLO, SCHEMA)
    assert (first.text, first.constrained) == ('{"a": "x"}', False)
    assert "response_format" in server.seen[0][1]
    told = server.seen[1][1]
    assert "response_format" not in told and '"enum": ["x"]' in told["messages"][0]["content"]
    assert not endpoint.capabilities().json_schema
    endpoint.json((Message("system", "Be brief."), *HELLO), SCHEMA)
    assert len(server.seen) == 3  # it does not ask for what was refused again
    assert [m["role"] for m in server.seen[2][1]["messages"]] == ["system", "user"]
    with pytest.raises(ModelRefusedError, match="too long"):
        client(lying(says({"error": {"message": "too long"}}, 400))).json(HELLO, SCHEMA)


def test_a_content_filter_is_no_answer(lying: Any, client: Any) -> None:
    server = lying(says({"choices": [{"message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"}]}))
    answer = client(server).chat(HELLO)
    assert (answer.text, answer.finish) == ("I can't.", "filter")


CHAT_SHAPE = {"content": [{"token": "A", "logprob": -0.5, "top_logprobs": [
    {"token": "A", "logprob": -0.5}, {"token": " A", "logprob": -2.0}, {"token": "B", "logprob": -3.0}]}]}  # fmt: skip
OLD_SHAPE = {"tokens": ["A"], "token_logprobs": [-0.5], "top_logprobs": [{"A": -0.5, " A": -2.0, "B": -3.0}]}


@pytest.mark.parametrize("shape", [CHAT_SHAPE, OLD_SHAPE], ids=["chat", "completions"])
@pytest.mark.parametrize("prompt", [HELLO, "Say"], ids=["messages", "text"])
def test_both_shapes_of_logprobs(shape: Any, prompt: Any, lying: Any, client: Any) -> None:
    server = lying(good("A", logprobs=shape))
    scores = client(server).letters(prompt, ["A", "B"])
    assert [(t.token, t.logprob) for t in scores.tokens] == [("A", -0.5), (" A", -2.0), ("B", -3.0)]
    assert not scores.complete
    assert server.seen[0][0] == ("/v1/completions" if isinstance(prompt, str) else "/v1/chat/completions")


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": []}, {"content": [{"top_logprobs": []}]}, {"content": [{"top_logprobs": [{"token": "A"}]}]},
     {"content": [{"top_logprobs": [{"token": "A", "logprob": "NaN"}]}]},
     {"content": [{"top_logprobs": [{"token": "A", "logprob": None}]}]}, {"top_logprobs": []}, [1], "x"],
)  # fmt: skip
def test_missing_or_broken_logprobs_are_errors(logprobs: Any, lying: Any, client: Any) -> None:
    with pytest.raises(ModelAnswerError):
        client(lying(good("A", logprobs=logprobs))).letters(HELLO, ["A"])


def test_the_older_interface_lists_fewer(lying: Any, client: Any) -> None:
    refuse = says({"error": {"message": "logprobs must be at most 5"}}, 400)
    server = lying(refuse, good("A", logprobs=OLD_SHAPE), refuse)
    endpoint = client(server, capabilities=Capabilities(top_logprobs=20))
    assert len(endpoint.letters("Say", ["A"]).tokens) == 3
    assert [body["logprobs"] for _, body in server.seen] == [20, 5]
    with pytest.raises(ModelRefusedError):
        endpoint.letters("Say", ["A"])


def test_what_it_can_not_do_it_does_not_try(lying: Any, client: Any) -> None:
    server = lying(good())
    endpoint = client(server, capabilities=Capabilities())
    with pytest.raises(IncapableError, match="next-token"):
        endpoint.letters(HELLO, ["A"])
    with pytest.raises(IncapableError, match="likelihood"):
        endpoint.likelihoods("x", [" y"])
    assert server.seen == []


def test_probe_of_a_bare_server(lying: Any, client: Any) -> None:
    """It answers every chat with the same words, knows nothing else and gives no log-probabilities."""

    def bare(lie: Any) -> None:
        if lie.path == "/v1/chat/completions":
            good("The sea is wide.")(lie)
        else:
            lie.json({"error": {"message": "not found"}}, 404)

    can = probe(client(lying(bare), capabilities=None))
    assert can.chat and not can.letters
    assert (can.json_schema, can.likelihoods, can.top_logprobs, can.logit_bias, can.tokenise) == (
        False, "", 0, "unknown", False,
    )  # fmt: skip
    assert any("no log-probabilities" in note for note in can.notes)


def test_probe_finds_the_limit_and_post_bias(lying: Any, client: Any) -> None:
    """Lists 5 next tokens at most and reports log-probabilities after the bias, as OpenAI's hosted API does."""

    def hosted(lie: Any) -> None:
        if lie.path == "/tokenize":
            lie.json({"tokens": [7]})
        elif lie.path != "/v1/chat/completions":
            lie.json({"error": {"message": "not found"}}, 404)
        elif lie.body.get("top_logprobs", 0) > 5:
            lie.json({"error": {"message": "top_logprobs must be at most 5"}}, 400)
        else:
            biased = "logit_bias" in lie.body
            token = {"token": "yes" if biased else "three", "logprob": 0.0 if biased else -0.4}
            top = [token] + [{"token": f"t{i}", "logprob": -3.0 - i} for i in range(lie.body.get("top_logprobs", 1) - 1)]
            good('{"colour": "teal", "count": 2}', logprobs={"content": [{**token, "top_logprobs": top}]})(lie)

    can = probe(client(lying(hosted), capabilities=None))
    assert (can.top_logprobs, can.logit_bias, can.json_schema, can.likelihoods) == (5, "post", True, "")


def test_probe_is_kept(lying: Any, tmp_path: Path) -> None:
    server = lying(good("hello"))
    endpoint = Endpoint(server.url, "m", key="", cache=tmp_path, backoff=0.01, retries=0)
    first = endpoint.capabilities()
    asked = len(server.seen)
    again = Endpoint(server.url, "m", key="", cache=tmp_path)
    assert again.capabilities() == first and len(server.seen) == asked
    next(tmp_path.glob("probes/*.json")).write_text("{broken")
    fresh = Endpoint(server.url, "m", key="", cache=tmp_path, backoff=0.01, retries=0)
    assert fresh.capabilities() == first and len(server.seen) == 2 * asked
    for one in (endpoint, again, fresh):
        one.close()


def test_echoed_likelihoods(lying: Any, client: Any) -> None:
    """The older shape, with offsets, as vLLM gives it."""

    def echo(lie: Any) -> None:
        tokens = {"ab cd": ["ab", " cd", "!"], "abcd": ["abc", "d", "!"]}[lie.body["prompt"]]
        starts = [sum(len(t) for t in tokens[:i]) for i in range(len(tokens))]
        logprobs = {"tokens": tokens, "token_logprobs": [None, -1.5, -9.0], "text_offset": starts}
        lie.json({"choices": [{"text": "".join(tokens), "logprobs": logprobs}]})

    endpoint = client(lying(echo), capabilities=Capabilities(likelihoods="echo"))
    (score,) = endpoint.likelihoods("ab", [" cd"])
    assert (score.logprob, score.tokens) == (-1.5, 1)
    with pytest.raises(ModelAnswerError, match="across the border"):
        endpoint.likelihoods("ab", ["cd"])


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x/v1", "http://user:pw@x/v1", "http://x/v1?key=1", "http:///v1", ""]
)
def test_urls_are_checked(url: str) -> None:
    with pytest.raises(ConfigError):
        Endpoint(url)


@pytest.mark.parametrize("options", [{"retries": -1}, {"retries": 11}, {"backoff": float("nan")}, {"backoff": -1}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Endpoint("http://127.0.0.1:9/v1", "m", **options)


def test_an_openai_key_goes_to_openai_only() -> None:
    environment = {"OPENAI_API_KEY": "sk-o"}
    assert key_for("https://api.openai.com/v1", environment) == "sk-o"
    assert key_for("https://elsewhere.example/v1", environment) == ""
    assert key_for("https://api.openai.com.evil.example/v1", environment) == ""
    assert key_for("http://elsewhere.example/v1", {**environment, "HANDRAIL_API_KEY": "k"}) == "k"


def test_several_models_need_a_name(lying: Any) -> None:
    endpoint = Endpoint(lying(says({"data": [{"id": "a"}, {"id": "b"}]})).url, key="")
    with pytest.raises(ConfigError, match="a, b"):
        endpoint.chat(HELLO)
    endpoint.close()


def test_a_real_llama_server(embedded: Embedded, tmp_path: Path) -> None:
    """The same model, asked in process and over HTTP, gives the same words and scores."""
    endpoint = Endpoint(embedded.address + "/v1", cache=tmp_path)
    can = endpoint.capabilities()
    assert (can.json_schema, can.likelihoods, can.top_logprobs, can.logit_bias, can.tokenise) == (
        True, "forced", 100, "pre", True,
    )  # fmt: skip
    assert len(can.letter_bias) == 5 and sum(can.letter_bias) == pytest.approx(1)
    assert endpoint.chat(HELLO, max_tokens=8).text == embedded.chat(HELLO, max_tokens=8).text
    texts = [" pick up the apple\n", " go", " wash_up the_knife\n"]
    prompt = "You are a robot. Task: bring it. I will"
    for ask in (prompt, HELLO):
        ours, theirs = embedded.likelihoods(ask, texts), endpoint.likelihoods(ask, texts)
        assert [s.tokens for s in ours] == [s.tokens for s in theirs]
        # The server may reuse cached prompt parts, so that sums differ a little; the embedded model never does.
        assert [s.logprob for s in ours] == pytest.approx([s.logprob for s in theirs], abs=0.6)
    letters = endpoint.letters(prompt, ["A"])
    assert len(letters.tokens) == 100 and letters.tokens[0].token == embedded.letters(prompt, ["A"]).tokens[0].token
    answer = endpoint.json(HELLO, SCHEMA, max_tokens=40)
    assert answer.constrained and '"x"' in answer.text
    with pytest.raises(ModelRefusedError, match="context"):
        endpoint.chat((Message("user", "word " * 6000),))
    endpoint.close()
