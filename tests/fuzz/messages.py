"""Made-up requests of a method: fields at their extremes, hostile Unicode, broken bytes; the same by seed."""

import random
from collections.abc import Callable, Sequence

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

DEEPEST = 5
TEXTS = (
    "", " ", "a", "safety", "en", "web", "2026-12-01", "9999-12-31", "0000-00-00", "x" * 201, "y" * 2_001,
    "z" * 70_000, "\0", "What is\0 it?", "\u202egnirts\u202c", "\u200b\u200d\ufeff", "\ufffe\uffff",
    "🩻" * 500, "e\u0301" * 1_500, "Предел дозы?",
    "../../etc/passwd", "0" * 16, "f" * 64, "%s%n{0}${jndi:x}", "\r\nx: y",
    "12345678-1234-5678-1234-567812345678", "' OR 1=1 --", "<script>", "\x1b[2J", "(" * 1_000, "*",
)  # fmt: skip
WHOLE = (0, 1, -1, 2, 5, 15, 100, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1)
REAL = (0.0, -0.0, 1.0, 0.5, float("nan"), float("inf"), float("-inf"), 1e38, 5e-324)
F = FieldDescriptor
RANGES = {
    F.CPPTYPE_INT32: (-(2**31), 2**31 - 1), F.CPPTYPE_UINT32: (0, 2**32 - 1),
    F.CPPTYPE_INT64: (-(2**63), 2**63 - 1), F.CPPTYPE_UINT64: (0, 2**64 - 1),
    F.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
}  # fmt: skip


def request(descriptor: Descriptor, dice: random.Random) -> bytes:
    """One request's bytes: most are well-formed messages, some are broken ones, a few are noise."""
    data = message(descriptor, dice).SerializeToString()
    kind = dice.random()
    if kind < 0.7:
        return data
    return broken(data, dice) if kind < 0.95 else dice.randbytes(dice.choice((1, 10, 1000)))


def message(descriptor: Descriptor, dice: random.Random, depth: int = 0) -> Message:
    """A message with some of its fields set, each to anything its type allows."""
    made = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if dice.random() < 0.55:
            _set(made, field, dice, depth)
    return made


def _set(made: Message, field: FieldDescriptor, dice: random.Random, depth: int) -> None:
    values = getattr(made, field.name)
    if field.message_type and field.message_type.GetOptions().map_entry:
        values[dice.choice(TEXTS)] = dice.choice((0, 1, 5, 2**32 - 1))
    elif field.message_type:
        if depth < DEEPEST:
            inner = [message(field.message_type, dice, depth + 1) for _ in range(_many(field, dice))]
            if field.is_repeated:
                values.extend(inner)
            elif inner:
                values.CopyFrom(inner[0])
    elif field.is_repeated:
        values.extend(_value(field, dice) for _ in range(_many(field, dice)))
    else:
        setattr(made, field.name, _value(field, dice))


def _many(field: FieldDescriptor, dice: random.Random) -> int:
    return dice.choice((0, 1, 2, 9, 150)) if field.is_repeated else 1


def _value(field: FieldDescriptor, dice: random.Random) -> object:
    kinds: dict[int, Callable[[], object]] = {
        F.CPPTYPE_STRING: lambda: _text(field, dice),
        F.CPPTYPE_BOOL: lambda: dice.random() < 0.5,
        F.CPPTYPE_DOUBLE: lambda: dice.choice(REAL),
        F.CPPTYPE_FLOAT: lambda: dice.choice(REAL),
    }
    return kinds.get(field.cpp_type, lambda: _whole(field.cpp_type, dice))()


def _text(field: FieldDescriptor, dice: random.Random) -> object:
    text = dice.choice(TEXTS)
    return text.encode() if field.type == F.TYPE_BYTES else text


def _whole(kind: int, dice: random.Random) -> int:
    least, most = RANGES[kind]
    small = dice.random() < 0.4
    return dice.randrange(0, 12) if small else min(max(dice.choice(WHOLE), least), most)


def broken(data: bytes, dice: random.Random) -> bytes:
    """The bytes with some flipped, cut out, put in, or sent twice."""
    some = bytearray(data or b"\x0a\xff")
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(some)) if some else 0
        act = dice.choice(("flip", "cut", "put", "twice"))
        if act == "flip" and some:
            some[at] ^= 1 << dice.randrange(8)
        elif act == "cut":
            del some[at : at + dice.randrange(1, 9)]
        elif act == "put":
            some[at:at] = dice.randbytes(dice.randrange(1, 9))
        else:
            some += some[: dice.randrange(1, 200)]
    return bytes(some)


def several(descriptor: Descriptor, dice: random.Random, streams: bool) -> Sequence[bytes]:
    """The messages of one call."""
    return [request(descriptor, dice) for _ in range(dice.randrange(0, 4) if streams else 1)]
