"""Reads an OpenAI-compatible server's event stream as pieces of an answer. Pure: bytes in, pieces out."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import TypeAlias

from radrag.triton import Piece

Json: TypeAlias = "str | float | bool | list[Json] | dict[str, Json] | None"

# An event holds a word or two; a line that never ends must not fill the memory.
LONGEST_LINE = 1_000_000
# Of tokens; what a reply's counters hold.
MOST_TOKENS = 2**32 - 1
DONE = "[DONE]"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Malformed(Exception):
    """The stream is none, reports a failure, or ends before its answer does. Holds nothing of its text."""


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """The data of each event of a `text/event-stream`, one line each as these servers write them."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            data = _data(line)
            if data:
                yield data
        if len(rest) > LONGEST_LINE:
            raise Malformed("a line without an end")
    data = _data(rest)
    if data:
        yield data


async def pieces(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Piece, None]:
    """The pieces of an answer; the last has the reason and, where the server counts, the tokens.

    Raises Malformed. A server may leave out the closing mark, but not the reason.
    """
    ending, letters = _Ending(), _Letters()
    async for data in events(chunks):
        if data == DONE:
            break
        text = letters.whole(ending.read(_object(data)))
        if text:
            yield Piece(text, "", 0, 0)
    if not ending.reason:
        raise Malformed("the stream ended before the answer did")
    if letters.half:
        yield Piece(REPLACEMENT, "", 0, 0)
    yield Piece("", ending.reason, ending.input_tokens, ending.output_tokens)


@dataclass
class _Letters:
    r"""Letters beyond U+FFFF that some servers cut in two: "\ud83e" in one event, the rest in the next."""

    half: str = ""

    def whole(self, text: str) -> str:
        """What is complete by now. A half without its other half becomes U+FFFD: it is no text."""
        text = self.half + text
        self.half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        complete = text[: len(text) - len(self.half)]
        return complete.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class _Ending:
    """What is known of the answer's end by now."""

    reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def read(self, event: dict[str, Json]) -> str:
        """The event's part of the text; what a model thinks aloud beside it is not part of the answer."""
        if event.get("error"):
            raise Malformed("the server reports a failure")
        self._count(event.get("usage"))
        choices = event.get("choices")
        # The event with the counts has no choice.
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            raise Malformed("a choice is no object")
        if choice.get("index"):
            return ""  # one answer was asked for; another beside it is not part of it
        if choice.get("finish_reason"):
            # Whatever cut the answer, a filter or a limit: it is not whole.
            self.reason = "stop" if choice["finish_reason"] == "stop" else "length"
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, dict) else None
        return text if isinstance(text, str) else ""

    def _count(self, usage: Json) -> None:
        if isinstance(usage, dict):
            self.input_tokens = _whole(usage.get("prompt_tokens"))
            self.output_tokens = _whole(usage.get("completion_tokens"))


def _data(line: bytes) -> str:
    """The data of a line; empty for a comment, another field, or an empty line."""
    if not line.startswith(b"data:"):
        return ""
    try:
        return line[5:].decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Malformed("an event is not UTF-8") from None


def _object(data: str) -> dict[str, Json]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Malformed("an event is no JSON object")
    return value


def _whole(value: Json) -> int:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
    return int(value) if known else 0  # type: ignore[arg-type]
