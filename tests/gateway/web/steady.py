"""Messages and streams of events as they compare: what differs from call to call left out."""

import re

from google.protobuf import json_format
from google.protobuf.message import Message

from gateway.web import translate
from radrag.assistant.v1 import assistant_pb2 as wire


def steady(message: Message) -> str:
    """The message as JSON without what differs from call to call: times and ids."""
    text = translate.json(message)
    return re.sub(r'"([0-9.]+s|[0-9a-f]{32})"', '""', text)


def frames(body: str) -> list[wire.GenerateStreamResponse]:
    found = []
    for event in body.strip().split("\n\n"):
        kind, data = event.split("\n")
        found.append(json_format.Parse(data.removeprefix("data: "), wire.GenerateStreamResponse()))
        assert kind == f"event: {found[-1].WhichOneof('event')}"
    return found
