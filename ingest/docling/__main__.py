"""The child process: files come in on standard input, blocks of Markdown go out on standard output.

A message is a length (8 bytes, big-endian) and JSON; a request's file follows it. Before the reply, an empty
object tells each time that the work goes on. The one argument says how to read. Nothing is logged.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import BinaryIO

from ingest.docling.convert import Format, Unreadable, convert
from ingest.reading import Reading, reading_in

LENGTH = 8


def main() -> None:
    """Serves requests until standard input ends."""
    reading = reading_in(sys.argv[1])
    logging.disable(logging.CRITICAL)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up between our messages
    while (header := sys.stdin.buffer.read(LENGTH)) and len(header) == LENGTH:
        request = json.loads(sys.stdin.buffer.read(int.from_bytes(header, "big")))
        data = sys.stdin.buffer.read(request["size"])
        send(replies, answer(request["name"], request["kind"], data, reading, lambda: send(replies, {})))


def answer(
    name: str, kind: Format, data: bytes, reading: Reading, done: Callable[[], None]
) -> dict[str, object]:
    """The blocks of a file, or why there are none."""
    try:
        converted = convert(name, kind, data, reading, done)
    except Unreadable as error:
        return {"field": error.field, "reason": error.reason}
    except Exception as error:  # noqa: BLE001  # any fault of a parser is one of the file
        # Not its message: that may quote the document.
        return {"field": "content", "reason": f"the {kind.upper()} is damaged ({type(error).__name__})"}
    return asdict(converted)


def send(stream: BinaryIO, message: dict[str, object]) -> None:
    body = json.dumps(message).encode()
    stream.write(len(body).to_bytes(LENGTH, "big") + body)
    stream.flush()


if __name__ == "__main__":
    main()
