"""A judge that fails is counted, never a zero; and it is believed only as far as people agree with it."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evaluation.judging import judge
from evaluation.judging.outcomes import (
    NONSENSE,
    NOT_A_NUMBER,
    TIMEOUT,
    UNAVAILABLE,
    Case,
    JudgeFailure,
    Outcome,
    by_case,
    calibrated,
    judged,
    outcome,
)

BAD = [float("nan"), float("inf"), -0.1, 1.1, None, "0.5", True]


@pytest.mark.parametrize("score", BAD)
def test_what_is_no_score_is_a_failure(score: object) -> None:
    assert outcome("a", "m", 0, score) == Outcome("a", "m", 0, None, NOT_A_NUMBER)


def test_failures_leave_the_mean_alone_and_are_reported() -> None:
    given = [
        Outcome("a", "m", 0, 1.0),
        Outcome("a", "m", 1, 0.5),
        Outcome("b", "m", 0, None, TIMEOUT),
        Outcome("b", "m", 1, None, NONSENSE),
        Outcome("c", "m", 0, None, TIMEOUT),
        Outcome("a", "n", 0, None, TIMEOUT),
    ]
    first, second = judged(given)
    assert first.mean is not None
    assert (first.mean.mean, first.cases) == (0.75, 1)
    assert first.failures == {TIMEOUT: 2, NONSENSE: 1}
    assert first.spread == pytest.approx(0.5 / 2**0.5)
    assert (second.mean, second.cases, second.failures, second.spread) == (None, 0, {TIMEOUT: 1}, None)
    assert by_case(given) == {"m": {"a": 0.75}}


def test_calibration_shows_kappa_beside_its_base_rates() -> None:
    """Cohen's book case: 20 + 15 alike, 5 + 10 not: 0.7 observed, 0.5 by chance, 0.4."""
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    scores = {f"c{k}": 0.9 if one else 0.1 for k, (one, _) in enumerate(pairs)}
    labels = {f"c{k}": bool(other) for k, (_, other) in enumerate(pairs)}
    found = calibrated(scores, labels)
    figures = [found.kappa.value, found.agree, found.judge_yes, found.people_yes]
    assert figures == pytest.approx([0.4, 0.7, 0.5, 0.6])
    with pytest.raises(ValueError, match="share 2 cases"):
        calibrated(dict(list(scores.items())[:2]), labels)
    with pytest.raises(ValueError, match="kappa is not defined"):
        calibrated(dict.fromkeys(scores, 1.0), dict.fromkeys(scores, True))


class Server(BaseHTTPRequestHandler):
    """Answers by what the prompt asks for."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        if prompt == "slow":
            time.sleep(3)
        if prompt == "broken":
            self.send_error(500)
            return
        replies = {
            "schema": json.dumps({"choices": [{"message": {"content": json.dumps(body)}}]}),
            "no json": "<html>",
            "no text": '{"choices": []}',
        }
        data = replies.get(prompt, '{"choices": [{"message": {"content": "yes"}}]}').encode()
        with contextlib.suppress(OSError):  # who waited too long has gone
            self.send_response(200)
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


async def test_the_schema_goes_to_the_server(url: str) -> None:
    endpoint = judge.Endpoint(url, "m", "key")
    sent = judge.object_in(await endpoint.complete("schema", {"type": "object"}))
    await endpoint.close()
    assert (sent["model"], sent["temperature"]) == ("m", 0)
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": {"type": "object"}, "strict": True},
    }


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [("slow", TIMEOUT), ("broken", UNAVAILABLE), ("no json", NONSENSE), ("no text", NONSENSE)],
)
async def test_each_way_to_fail_has_its_name(url: str, prompt: str, kind: str) -> None:
    endpoint = judge.Endpoint(url, "m", seconds=1.0)
    with pytest.raises(JudgeFailure, match=kind):
        await endpoint.complete(prompt)
    await endpoint.close()


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    endpoint = judge.Endpoint("http://127.0.0.1:1/v1", "m")
    with pytest.raises(JudgeFailure, match=UNAVAILABLE):
        await endpoint.complete("a")
    await endpoint.close()


def test_thoughts_and_framing_are_no_part_of_the_object() -> None:
    assert judge.object_in('<think>{"a": 2}</think>Here: {"a": 1}.') == {"a": 1}
    for text in ("", "none", "{", "[1]", '{"a": }'):
        with pytest.raises(JudgeFailure, match=NONSENSE):
            judge.object_in(text)


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_is_none(answer: str) -> None:
    assert not Case("a", "q", answer, "r", ()).answered
