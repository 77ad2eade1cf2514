"""The OpenAI-compatible generator against a real HTTP server of raw bytes: answers, failures, leaving."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.openai_events import LONGEST_LINE, Malformed, events, pieces
from gateway.openai_generator import OpenAIGenerator, Target, configured
from gateway.templates import MESSAGES
from radrag import call
from radrag.errors import DeadlineExceeded, ModelUnavailable, Overloaded
from radrag.settings import SettingError
from radrag.triton import Piece
from tests.gateway.openai_stand import DONE, HEAD, Script, Stand, chunk, event, standing

SECRET = "доза CANARY"
PROMPT = MESSAGES.render("Rules.", SECRET)
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 3}}\n\n'
ANSWER = [
    event("", role="assistant"),
    event("Пре"),
    event("дел"),
    event(" 20"),
    event("", "stop"),
    USAGE,
    DONE,
]


def chunks(*parts: bytes) -> Script:
    """A whole reply: each part a chunk of its own, sent at once."""

    async def script(stand: Stand, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for part in (*parts, b""):
            writer.write(chunk(part))
            await writer.drain()

    return script


def raw(*parts: bytes) -> Script:
    """These bytes, and then the connection dies."""

    async def script(stand: Stand, writer: asyncio.StreamWriter) -> None:
        writer.write(b"".join(parts))
        await writer.drain()
        writer.close()
        raise ConnectionError

    return script


async def endless(stand: Stand, writer: asyncio.StreamWriter) -> None:
    """A word every 10 ms until the client is gone."""
    writer.write(HEAD)
    part = event("word ")
    while not writer.is_closing():
        writer.write(chunk(part))
        await writer.drain()
        await asyncio.sleep(0.01)
    raise ConnectionError


async def silent(stand: Stand, writer: asyncio.StreamWriter) -> None:
    """The head, and then nothing for a minute."""
    writer.write(HEAD)
    await writer.drain()
    await asyncio.sleep(60)


def status(line: str, body: str = SECRET, **headers: str) -> Script:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    length = len(body.encode())
    return raw(f"HTTP/1.1 {line}\r\n{lines}Content-Length: {length}\r\n\r\n{body}".encode())


async def written(generator: OpenAIGenerator, most: int = 7) -> list[Piece]:
    async with aclosing(generator.generate(PROMPT, most)) as found:
        return [piece async for piece in found]


async def test_pieces_come_as_written_and_the_last_has_the_reason_and_the_counts() -> None:
    async with standing(chunks(*ANSWER)) as (_, generator):
        found = await written(generator)
    assert [piece.text for piece in found] == ["Пре", "дел", " 20", ""]
    assert found[-1] == Piece("", "stop", 21, 3)
    assert all(piece.finish_reason == "" for piece in found[:-1])


async def test_system_and_user_go_as_two_messages_with_full_sampling() -> None:
    sampling = {
        "temperature": 0.1,
        "top_p": 0.9,
        "seed": 5,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    async with standing(chunks(*ANSWER), **sampling) as (stand, generator):
        await written(generator, 7)
    assert stand.asked == [
        sampling
        | {
            "model": "qwen",
            "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": SECRET}],
            "max_tokens": 7,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]
    assert stand.heads[0].startswith("POST /v1/chat/completions ")


async def test_the_key_goes_as_a_bearer_token_and_no_proxy_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    file = tmp_path / "key"
    file.write_text("s3cret\n", encoding="utf-8")
    async with standing(chunks(*ANSWER)) as (stand, _):
        generator = configured(Target(stand.url, "qwen", str(file)), "{}", {}, 5)
        await written(generator)
        await generator.close()
    assert "authorization: bearer s3cret" in stand.heads[0].lower()


async def test_what_is_thought_aloud_is_no_part_of_the_answer() -> None:
    thinking = [event(reasoning_content="hmm"), event("yes"), event("", "stop"), DONE]
    async with standing(chunks(*thinking)) as (_, generator):
        assert [piece.text for piece in await written(generator)] == ["yes", ""]


@pytest.mark.parametrize(
    ("said", "reason"), [("stop", "stop"), ("length", "length"), ("content_filter", "length")]
)
async def test_an_answer_that_was_cut_says_so(said: str, reason: str) -> None:
    async with standing(chunks(event("a"), event("", said), DONE)) as (_, generator):
        assert (await written(generator))[-1].finish_reason == reason


@pytest.mark.parametrize("cut", range(1, 40, 3))
async def test_events_may_be_cut_anywhere_also_within_a_letter(cut: int) -> None:
    whole = b"".join(ANSWER).replace(b"\n\n", b"\r\n\r\n", 2) + b": ping\n"
    parts = [whole[at : at + cut] for at in range(0, len(whole), cut)]
    async with standing(chunks(*parts)) as (_, generator):
        assert "".join(piece.text for piece in await written(generator)) == "Предел 20"


async def test_a_server_without_counts_and_without_a_closing_mark_is_fine() -> None:
    async with standing(chunks(event("a"), event("", "stop"))) as (_, generator):
        assert (await written(generator))[-1] == Piece("", "stop", 0, 0)


@pytest.mark.parametrize(
    ("halves", "text"),
    [
        (("a\\ud83e", "\\udee0b"), "a\U0001fae0b"),
        (("\\ud83e\\udee0", ""), "\U0001fae0"),
        (("a\\ud83e", "b"), "a\N{REPLACEMENT CHARACTER}b"),
        (("\\udee0", "b"), "\N{REPLACEMENT CHARACTER}b"),
        (("a", "\\ud83e"), "a\N{REPLACEMENT CHARACTER}"),
    ],
)
async def test_a_letter_that_was_cut_in_two_is_one_again_and_half_of_one_is_replaced(
    halves: tuple[str, str], text: str
) -> None:
    sent = [f'data: {{"choices": [{{"delta": {{"content": "{half}"}}}}]}}\n\n'.encode() for half in halves]
    async with standing(chunks(*sent, event("", "stop"), DONE)) as (_, generator):
        found = [piece.text for piece in await written(generator)]
    assert "".join(found) == text
    assert "".join(found).encode()


@pytest.mark.parametrize(
    ("counts", "known"),
    [
        ('{"prompt_tokens": 99999999999999999999, "completion_tokens": 4294967295}', (0, 2**32 - 1)),
        ('{"prompt_tokens": true, "completion_tokens": 3.5}', (0, 0)),
        ('{"prompt_tokens": -1, "completion_tokens": "3"}', (0, 0)),
        ("[1]", (0, 0)),
    ],
)
async def test_counts_of_no_sense_are_none(counts: str, known: tuple[int, int]) -> None:
    usage = f'data: {{"choices": [], "usage": {counts}}}\n\n'.encode()
    async with standing(chunks(event("a"), event("", "stop"), usage, DONE)) as (_, generator):
        last = (await written(generator))[-1]
    assert (last.input_tokens, last.output_tokens) == known
    assert type(last.input_tokens) is int


async def test_another_answer_beside_the_first_is_not_mixed_into_it() -> None:
    other = b'data: {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}]}\n\n'
    async with standing(chunks(event("a"), other, event("", "stop"), DONE)) as (_, generator):
        found = await written(generator)
    assert ("".join(piece.text for piece in found), found[-1].finish_reason) == ("a", "stop")


MISSING: dict[str, Script] = {
    "dies in the middle": raw(HEAD, b"40\r\n", event("Пре")[:30]),
    "dies after a piece": raw(HEAD, chunk(event("a"))),
    "ends before its answer": chunks(event("a"), DONE),
    "fails in the middle": chunks(event("a"), b'data: {"error": {"message": "CANARY"}}\n\n', DONE),
    "sends no JSON": chunks(event("a"), b"data: {CANARY\n\n", DONE),
    "sends another JSON": chunks(b"data: [1]\n\n", DONE),
    "sends odd choices": chunks(b'data: {"choices": [1]}\n\n', DONE),
    "sends lists within lists": chunks(b"data: " + b"[" * 200_000 + b"\n\n", DONE),
    "is not UTF-8": chunks(b"data: \xff\n\n", DONE),
    "sends a page": chunks(b"<html>CANARY</html>"),
    "is no HTTP": raw(b"CANARY\r\n\r\n"),
    "is broken": status("500 Internal Server Error"),
    "is starting": status("503 Service Unavailable"),
    "refuses its input": status("400 Bad Request"),
    "wants a key": status("401 Unauthorized"),
    "knows no such model": status("404 Not Found"),
    "has moved": status("307 Temporary Redirect", Location="http://127.0.0.1:1/v1"),
}


@pytest.mark.parametrize("script", MISSING.values(), ids=MISSING)
async def test_a_server_that_fails_is_a_missing_model_and_nothing_of_the_text_is_told(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with standing(script) as (_, generator):
            with pytest.raises(ModelUnavailable) as failure:
                await written(generator)
    assert "CANARY" not in f"{failure.value} {failure.value.__cause__} {caplog.text}"
    assert failure.value.role == "generator"


async def test_nobody_there_is_a_missing_model_within_a_second() -> None:
    generator, began = OpenAIGenerator(Target("http://127.0.0.1:1/v1", "qwen"), {}), time.monotonic()
    with pytest.raises(ModelUnavailable):
        await written(generator)
    assert not await generator.ready()
    assert not await generator.is_there()
    assert time.monotonic() - began < 1
    await generator.close()


@pytest.mark.parametrize(
    ("header", "seconds"), [({"Retry_After": "7"}, 7.0), ({}, 1.0), ({"Retry_After": "Fri, 31 Dec"}, 1.0)]
)
async def test_a_full_server_is_overload_with_its_hint(header: dict[str, str], seconds: float) -> None:
    async with standing(status("429 Too Many Requests", **header)) as (_, generator):
        with pytest.raises(Overloaded) as failure:
            await written(generator)
    assert (failure.value.retry_after, failure.value.reason) == (seconds, "MODEL_QUEUE_FULL")
    assert "CANARY" not in str(failure.value)


@pytest.mark.parametrize("line", ["408 Request Timeout", "504 Gateway Timeout"])
async def test_a_server_that_gave_up_waiting_is_a_deadline(line: str) -> None:
    async with standing(status(line)) as (_, generator):
        with pytest.raises(DeadlineExceeded):
            await written(generator)


@pytest.mark.parametrize("script", [silent, endless])
async def test_the_callers_deadline_ends_it_whether_or_not_something_comes(
    script: Script,
) -> None:
    async with standing(script) as (stand, generator):
        began = time.monotonic()
        with call.running(replace(call.current(), deadline=began + 0.3)), pytest.raises(DeadlineExceeded):
            await written(generator)
        assert 0.25 < time.monotonic() - began < 1
        if script is endless:
            await asyncio.wait_for(stand.left.wait(), 1)


async def test_a_deadline_that_passed_already_asks_nobody() -> None:
    async with standing(chunks(*ANSWER)) as (stand, generator):
        with call.running(replace(call.current(), deadline=0.0)), pytest.raises(DeadlineExceeded):
            await written(generator)
    assert stand.asked == []


async def test_leaving_early_closes_the_connection_within_200_milliseconds() -> None:
    async with standing(endless) as (stand, generator):
        async with aclosing(generator.generate(PROMPT, 7)) as found:
            assert (await anext(found)).text == "word "
        left = time.monotonic()
        await asyncio.wait_for(stand.left.wait(), 1)
        assert time.monotonic() - left < 0.2


async def test_a_cancelled_task_closes_the_connection_too() -> None:
    async with standing(silent) as (_, generator):
        task = asyncio.create_task(written(generator))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    ("listed", "there"),
    [
        (b'{"data": [{"id": "other"}, {"id": "qwen"}]}', True),
        (b'{"data": [{"id": "other"}]}', False),
        (b'{"data": []}', False),
        (b"<html>", False),
        (b"[]", False),
        (b"[" * 200_000, False),
        (b'{"data": {"id": "qwen"}}', False),
    ],
)
async def test_it_is_ready_when_the_server_lists_the_model(listed: bytes, there: bool) -> None:
    async with standing(chunks(*ANSWER)) as (stand, generator):
        stand.listed = listed
        assert await generator.ready() is there
        assert await generator.is_there() is there


@pytest.mark.parametrize(
    ("target", "body", "named"),
    [
        (Target("http://h/v1", ""), "{}", "RADRAG_OPENAI_MODEL"),
        (Target("http://h/v1", "m"), "{", "RADRAG_OPENAI_BODY"),
        (Target("http://h/v1", "m"), "[]", "RADRAG_OPENAI_BODY"),
        (Target("http://h/v1", "m"), '{"temperature": NaN}', "RADRAG_OPENAI_BODY"),
        (Target("http://h/v1", "m"), "[" * 200_000, "RADRAG_OPENAI_BODY"),
        (Target("", "m"), "{}", "RADRAG_OPENAI_URL"),
        (Target("h:8000/v1", "m"), "{}", "RADRAG_OPENAI_URL"),
        (Target("http://[::1", "m"), "{}", "RADRAG_OPENAI_URL"),
        (Target("http:///v1", "m"), "{}", "RADRAG_OPENAI_URL"),
        (Target("http://h/v1", "m", "/nowhere/key"), "{}", "RADRAG_OPENAI_API_KEY_FILE"),
    ],
)
def test_a_wrong_setting_names_its_variable(target: Target, body: str, named: str) -> None:
    with pytest.raises(SettingError, match=named):
        configured(target, body, {}, 5)


@pytest.mark.parametrize("key", [b"", b" \n", b"a\nb", b"a b", "ключ".encode(), b"\xff\xfe", b"a\0b"])
def test_a_key_that_is_none_names_its_variable_and_not_the_key(tmp_path: Path, key: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(key)
    with pytest.raises(SettingError, match="RADRAG_OPENAI_API_KEY_FILE must hold one line") as failure:
        configured(Target("http://h/v1", "m", str(file)), "{}", {}, 5)
    assert failure.value.__cause__ is None


async def test_a_line_that_never_ends_does_not_fill_the_memory() -> None:
    async def flood() -> AsyncIterator[bytes]:
        for _ in range(LONGEST_LINE):
            yield b"x" * 1000

    with pytest.raises(Malformed):
        _ = [data async for data in events(flood())]


async def test_a_last_event_without_a_line_end_counts() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield event("a") + event("", "stop").rstrip()

    assert [piece.text async for piece in pieces(stream())] == ["a", ""]
