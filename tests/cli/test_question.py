"""Asking, over a real channel: what is printed where, and the status that tells the outcome."""

import io
import json
from collections.abc import AsyncIterator

import pytest

from cli import __main__ as command_line
from cli import arguments
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as pb
from tests import assistant
from tests.assistant import Assistant
from tests.cli import screens


@pytest.fixture
async def service() -> AsyncIterator[tuple[Assistant, str]]:
    async with assistant.running() as (servicer, address):
        yield servicer, address


async def asked(terminal: Terminal, address: str, *words: str) -> int:
    """The status of `radrag WORDS`."""
    given = arguments.parsed([*words, "--timeout", "10"])
    return await command_line.run(given, terminal, {"RADRAG_GATEWAY_ADDRESS": address})


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("доза", Exit.OK),
        ("invalid", Exit.USAGE),
        ("insufficient", Exit.INSUFFICIENT_EVIDENCE),
        ("off topic", Exit.OUT_OF_SCOPE),
        ("generator down", Exit.UNAVAILABLE),
        ("late", Exit.DEADLINE_EXCEEDED),
        ("overloaded", Exit.OVERLOADED),
        ("forbidden", Exit.REFUSED),
        ("unknown", Exit.NOT_FOUND),
        ("skewed", Exit.FAILED_PRECONDITION),
        ("broken", Exit.FAILURE),
    ],
)
@pytest.mark.parametrize("way", ["--no-stream", "--stream", "--json"])
async def test_the_status_tells_how_it_ended(
    service: tuple[Assistant, str], question: str, status: int, way: str
) -> None:
    assert await asked(screens.pipe(), service[1], "ask", question, way) == status


async def test_a_pipe_gets_answer_sources_and_warnings_as_plain_text(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    await asked(pipe, service[1], "ask", "доза")
    assert screens.out(pipe) == (
        "доза [1]\n"
        "\n"
        "Sources\n"
        "  [1] Пределы доз › Работники (regulation; ru; icrp-103@01234567; p. 2, 3) ✓ verified\n"
        "      https://www.icrp.org/\n"
        "warning: degraded (reranker)\n"
    )


async def test_on_a_terminal_the_answer_is_streamed(service: tuple[Assistant, str]) -> None:
    screen = screens.screen()
    assert await asked(screen, service[1], "ask", "доза") == Exit.OK
    assert isinstance(service[0].requests[0], pb.GenerateStreamRequest)
    assert screens.out(screen).startswith("доза [1]\n")


async def test_an_error_after_the_first_frame_keeps_what_was_said_and_fails(
    service: tuple[Assistant, str],
) -> None:
    pipe = screens.pipe()
    status = await asked(pipe, service[1], "ask", "dies while writing", "--stream")
    assert status == Exit.UNAVAILABLE
    assert screens.out(pipe).startswith("dies while writing [1]\n")
    assert "the generator does not answer" in screens.err(pipe)


async def test_json_is_the_reply_and_nothing_else(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    await asked(pipe, service[1], "ask", "доза", "--json")
    reply = json.loads(screens.out(pipe))
    assert (reply["outcome"], reply["text"], reply["citations"][0]["verified"]) == (
        "ANSWERED",
        "доза [1]",
        True,
    )
    assert screens.err(pipe) == ""


async def test_streamed_json_is_one_frame_a_line(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    await asked(pipe, service[1], "ask", "доза", "--json", "--stream")
    frames = [json.loads(line) for line in screens.out(pipe).splitlines()]
    assert "".join(frame["text"] or "" for frame in frames) == "доза [1]"
    assert frames[-1]["finish"]["outcome"] == "ANSWERED"


async def test_stage_times_are_shown_on_demand(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    await asked(pipe, service[1], "ask", "доза", "--stages")
    assert screens.out(pipe).splitlines()[-2:] == [
        "stage  start ms  duration ms  outcome",
        "embed  1.0       12.5         ok",
    ]


async def test_search_succeeds_whatever_its_outcome_advises(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    assert await asked(pipe, service[1], "search", "insufficient") == Exit.OK
    assert "Предел дозы — 20 мЗв в год." in screens.out(pipe)
    assert "rerank 0.9  fused 0.03" in screens.out(pipe)


async def test_prompt_prints_the_prompt_as_a_generator_would_get_it(service: tuple[Assistant, str]) -> None:
    pipe = screens.pipe()
    assert await asked(pipe, service[1], "prompt", "доза") == Exit.OK
    assert screens.out(pipe) == "prompt: доза\n"


async def test_filters_and_limits_are_sent(service: tuple[Assistant, str]) -> None:
    await asked(
        screens.pipe(), service[1], "ask", "q", "--topic", "physics", "--language", "ru", "--category", "web",
        "--document", "d", "--as-of", "2020-01-31", "--sources", "2", "--max-tokens", "9",
    )  # fmt: skip
    wanted = pb.Filter(
        topics=["physics"], languages=["ru"], categories=["web"], document_ids=["d"], as_of="2020-01-31"
    )
    assert service[0].requests == [
        pb.GenerateRequest(question="q", filter=wanted, limits=pb.Limits(sources=2, max_tokens=9))
    ]


async def test_where_nothing_listens_the_line_says_where_and_what_to_do() -> None:
    pipe = screens.pipe()
    assert await asked(pipe, "127.0.0.1:1", "ask", "q") == Exit.UNAVAILABLE
    assert screens.err(pipe) == "radrag: nothing answers at 127.0.0.1:1; `radrag up` starts it\n"


async def test_a_wrong_setting_is_named_and_is_a_usage_fault() -> None:
    pipe = screens.pipe()
    status = await command_line.run(arguments.parsed(["ask", "q"]), pipe, {"RADRAG_GATEWAY_ADRESS": "x"})
    assert status == Exit.USAGE
    assert "RADRAG_GATEWAY_ADDRESS" in screens.err(pipe)


@pytest.mark.parametrize("command", ["ask", "search", "prompt"])
@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # as in a UTF-8 and in a C locale
async def test_what_comes_in_and_is_no_text_is_a_wrong_argument(
    service: tuple[Assistant, str], monkeypatch: pytest.MonkeyPatch, command: str, errors: str
) -> None:
    came = io.TextIOWrapper(io.BytesIO(b"\377\376 bad"), encoding="utf-8", errors=errors)
    monkeypatch.setattr("sys.stdin", came)
    pipe = screens.pipe()
    assert await asked(pipe, service[1], command, "-") == Exit.USAGE
    assert screens.err(pipe) == "radrag: question: must be UTF-8 text\n"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["ask", "\udcff"], "question"),
        (["ask", "доза", "--topic", "\udcff"], "topic"),
        (["search", "доза", "--document", "\udcff"], "document"),
        (["prompt", "доза", "--as-of", "\udcff"], "as_of"),
    ],
)
async def test_a_word_that_is_no_text_is_a_wrong_argument(
    service: tuple[Assistant, str], words: list[str], field: str
) -> None:
    pipe = screens.pipe()
    assert await asked(pipe, service[1], *words) == Exit.USAGE
    assert screens.err(pipe) == f"radrag: {field}: must be UTF-8 text\n"
