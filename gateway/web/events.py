"""A stream of messages as server-sent events: one event a message, its JSON as data, its kind as name.

A call that breaks off between two messages ends with one more event, `error`, whose data is its problem.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from google.protobuf.message import Message
from starlette.responses import StreamingResponse

from gateway.web import problems, translate
from radrag.errors import RadragError


class Events(StreamingResponse):
    """Of a stream whose first frame has come: until then a failure is a status."""

    def __init__(self, first: Message, rest: AsyncGenerator[Message, None], request_id: str) -> None:
        super().__init__(_events(first, rest, request_id), media_type="text/event-stream; charset=utf-8")
        self.headers["X-Accel-Buffering"] = "no"  # proxies would hold a stream back


async def _events(first: Message, rest: AsyncGenerator[Message, None], request_id: str) -> AsyncIterator[str]:
    async with aclosing(rest):
        yield event(first)
        try:
            async for frame in rest:
                yield event(frame)
        except RadragError as error:
            said = json.dumps(problems.described(error, request_id), ensure_ascii=False)
            yield f"event: error\ndata: {said}\n\n"


def event(frame: Message) -> str:
    """One event; JSON on one line has no line end that could break it."""
    names = [one.name for one in frame.DESCRIPTOR.oneofs]
    kind = frame.WhichOneof(names[0]) if names else None
    return f"event: {kind or 'message'}\ndata: {translate.json(frame)}\n\n"
