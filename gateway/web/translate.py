"""JSON to the contracts' messages and back, by protobuf's own mapping with the contracts' field names.

Unset fields are written with their defaults, so that a reader finds every field; optional ones are left out.
"""

import re

from google.protobuf import json_format
from google.protobuf.message import Message

from radrag.errors import InvalidArgument

MOST_BYTES = 1_000_000
# What protobuf says of a body names the field, but may quote its value: only the name is passed on.
UNKNOWN = re.compile(r'has no field named "([A-Za-z_][A-Za-z0-9_]{0,63})"')
WRONG = re.compile(r"Failed to parse ([A-Za-z_][A-Za-z0-9_.\[\]]{0,200}) field")


def message(kind: type[Message], body: bytes) -> Message:
    """The message of a JSON body; an empty body is an empty message. Raises InvalidArgument."""
    if not body.strip():
        return kind()
    try:
        return json_format.Parse(body.decode(), kind(), max_recursion_depth=32)
    except UnicodeDecodeError:
        raise InvalidArgument("body", "must be UTF-8") from None
    except json_format.ParseError as error:
        raise _wrong(str(error), kind.DESCRIPTOR.name) from None
    except RecursionError:
        raise InvalidArgument("body", "is nested too deeply") from None


def json(reply: Message, indent: int | None = None) -> str:
    """The message as JSON; without `indent` on one line."""
    return json_format.MessageToJson(
        reply,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        indent=indent,
        ensure_ascii=False,
    )


def _wrong(said: str, kind: str) -> InvalidArgument:
    if unknown := UNKNOWN.search(said):
        return InvalidArgument(unknown[1], f"is no field of {kind}")
    if wrong := WRONG.findall(said):
        return InvalidArgument(wrong[-1], "is not of the field's type")
    return InvalidArgument("body", f"must be a JSON object with the fields of {kind}")
