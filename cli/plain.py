"""A reply as plain data for JSON: the contract's field names, every field present, numbers as numbers.

Unlike protobuf's own JSON: enums lose their prefix (`ANSWERED`), durations are seconds, 64-bit integers are
numbers, and a field that is optional in the contract is null when unset.
"""

from typing import cast

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message


def plain(message: Message) -> dict[str, object]:
    """The message as a dictionary that `json` takes."""
    fields = cast(list[FieldDescriptor], message.DESCRIPTOR.fields)  # the C twin of the type, to mypy
    return {field.name: _field(message, field) for field in fields}


def _field(message: Message, field: FieldDescriptor) -> object:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_value(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(field, value)


def _value(field: FieldDescriptor, value: object) -> object:
    if field.enum_type is not None:
        return _word(field.enum_type, cast(int, value))
    if isinstance(value, Duration):
        return value.ToNanoseconds() / 1e9
    if isinstance(value, Message):
        return plain(value)
    if field.type == FieldDescriptor.TYPE_FLOAT:
        return float(f"{value:.7g}")  # a float32 has no more digits than that
    return value


def _word(enum: EnumDescriptor, number: int) -> str:
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")  # the contracts' first value, by buf's rule
    known = enum.values_by_number.get(number)
    return known.name.removeprefix(prefix) if known else f"UNKNOWN_{number}"
