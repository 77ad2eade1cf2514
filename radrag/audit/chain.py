"""A chain of records: each is one line of JSON that holds the hash of the line before it. Pure.

The first record opens the chain: its process and a random id, so that no other chain can take its place.
What a chain alone cannot show is that its end was cut off: signed heads do (`radrag.audit.heads`).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

START = "0" * 64
# The chain's own part of a record.
OWN = ("n", "previous", "hash")
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Link:
    """Where a chain stands: the number of its newest record, from 0, and that record's hash."""

    n: int = -1
    hash: str = START


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was written. `line` counts from 1 over all files of the chain."""

    line: int
    what: str


def sealed(record: Mapping[str, Any], after: Link) -> tuple[bytes, Link]:
    """The line of the next record, and where the chain stands then. Raises ValueError for a name of OWN."""
    if taken := record.keys() & OWN:
        raise ValueError(f"a record may not have a field {', '.join(sorted(taken))}")
    body = {"n": after.n + 1, "previous": after.hash, **record}
    text = _written(body)
    digest = hashlib.sha256(text).hexdigest()
    # As written with the hash as its last field.
    return text[:-1] + f',"hash":"{digest}"}}\n'.encode(), Link(after.n + 1, digest)


def faults(lines: Iterable[bytes]) -> Iterator[Fault | Link]:
    """Checks lines in their order: yields where the chain stands after a good one, a Fault for a bad one.

    After a bad line the next is held against what that one says of itself, so that one change is one fault.
    """
    stands = Link()
    for number, line in enumerate(lines, 1):
        what, said = _wrong(line, stands)
        if what:
            yield Fault(number, what)
        else:
            yield said
        stands = said


def record_of(line: bytes) -> dict[str, Any]:
    """A line as the record it holds. Raises ValueError when it holds none."""
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("no object")
    return record


def _wrong(line: bytes, after: Link) -> tuple[str, Link]:
    """What is wrong with a line that should follow `after`, "" for nothing; and where it says it stands."""
    expected = Link(after.n + 1)
    try:
        record = record_of(line)
        n, previous, digest = int(record["n"]), str(record["previous"]), str(record["hash"])
    except (ValueError, KeyError, TypeError):
        return "is no record", expected
    said = Link(n, digest)
    body = {key: value for key, value in record.items() if key != "hash"}
    if hashlib.sha256(_written(body)).hexdigest() != digest or _written(record) + b"\n" != line:
        return "was changed", said
    if n != expected.n:
        return f"is record {n} where {expected.n} should be: removed, added or moved", said
    if previous != after.hash:
        return "does not follow the record before it", said
    return "", said


def _written(record: Mapping[str, Any]) -> bytes:
    return ENCODER.encode(record).encode()
