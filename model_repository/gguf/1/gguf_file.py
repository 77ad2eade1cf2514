"""What a .gguf file says of itself, read before llama.cpp gets it, whose reasons do not reach Python.

The layout is the GGUF specification's, versions 2 and 3, little endian. Tensors are llama.cpp's to check.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from weights_manifest import Refused

MAGIC = b"GGUF"
VERSIONS = (2, 3)
# Kind of a value in the file -> how `struct` reads it.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# No name, and no list, of a real file comes near these: a damaged length must not make us read gigabytes.
LONGEST_STRING, MOST_ITEMS = 16_000_000, 10_000_000

Value: TypeAlias = "str | float | None"
# What llama.cpp does not refuse but dies of, and the process with it; its own limit of layers.
SIZES = {
    "context_length": 2**31 - 1,
    "block_count": 512,
    "embedding_length": 2**20,
    "feed_forward_length": 2**24,
    "attention.head_count": 2**16,
}


class _Damaged(ValueError):
    """The bytes are no GGUF header."""


@dataclass(frozen=True)
class Header:
    """The model's architecture, the context in tokens it was trained with, 0 where it does not say."""

    architecture: str
    context: int


def header(path: Path) -> Header:
    """Raises Refused, naming the file, when it is no GGUF, cut within its header, or no language model."""
    try:
        with path.open("rb") as file:
            values = _values(file)
    except RecursionError:
        raise Refused(f"{path.name} is no GGUF file, or a damaged one: lists within lists") from None
    except (_Damaged, struct.error, UnicodeDecodeError) as error:
        raise Refused(f"{path.name} is no GGUF file, or a damaged one: {error}") from None
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}") from None
    architecture = str(values.get("general.architecture", ""))
    if not architecture:
        raise Refused(f"{path.name} names no architecture")
    if "tokenizer.ggml.tokens" not in values:
        raise Refused(f"{path.name} holds no tokenizer")
    for name, most in SIZES.items():
        _size(path, f"{architecture}.{name}", values.get(f"{architecture}.{name}"), most)
    return Header(architecture, int(values.get(f"{architecture}.context_length") or 0))


def _size(path: Path, name: str, value: Value, most: int) -> None:
    """Raises Refused for what is no number from 1 to `most`; a list, or what is not said, is llama.cpp's."""
    if value is not None and not (isinstance(value, int) and 1 <= value <= most):
        raise Refused(f"{path.name} says {name} is {str(value)[:20]!r}: it must be 1 to {most}")


def _values(file: BinaryIO) -> dict[str, Value]:
    """The header's values by name; a list counts as None, its items are skipped."""
    if file.read(4) != MAGIC:
        raise _Damaged("it does not begin with GGUF")
    (version,) = _numbers(file, "I")
    if version not in VERSIONS:
        raise _Damaged(f"its version is {version}, known are 2 and 3")
    _, count = _numbers(file, "QQ")
    found: dict[str, Value] = {}
    for _ in range(_sane(int(count), MOST_ITEMS)):
        name = _string(file)
        found[name] = _value(file, int(_numbers(file, "I")[0]))
    return found


def _value(file: BinaryIO, kind: int) -> Value:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        _skip_list(file)
        return None
    if kind not in NUMBERS:
        raise _Damaged(f"a value is of the unknown kind {kind}")
    (number,) = _numbers(file, NUMBERS[kind])
    return number


def _skip_list(file: BinaryIO) -> None:
    kind, count = (int(number) for number in _numbers(file, "IQ"))
    if kind in NUMBERS:
        _read(file, struct.calcsize(NUMBERS[kind]) * _sane(count, MOST_ITEMS))
        return
    skip: dict[int, Callable[[BinaryIO], object]] = {STRING: _string, ARRAY: _skip_list}
    if kind not in skip:
        raise _Damaged(f"a list is of the unknown kind {kind}")
    for _ in range(_sane(count, MOST_ITEMS)):
        skip[kind](file)


def _string(file: BinaryIO) -> str:
    (length,) = _numbers(file, "Q")
    # A vocabulary may hold pieces of characters.
    return _read(file, _sane(int(length), LONGEST_STRING)).decode(errors="replace")


def _numbers(file: BinaryIO, layout: str) -> tuple[float, ...]:
    return struct.unpack(f"<{layout}", _read(file, struct.calcsize(f"<{layout}")))


def _read(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    if len(content) < size:
        raise _Damaged("it ends within its header")
    return content


def _sane(number: int, most: int) -> int:
    if number > most:
        raise _Damaged("a length in its header is absurd")
    return number
