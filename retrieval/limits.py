"""What every field of a request must be; each rule names the field and its limit."""

import re
from collections.abc import Collection, Sequence

from radrag.errors import InvalidArgument

CATEGORIES = ("web", "methodological", "textbook", "article", "regulatory")
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, counted from 1970-01-01
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HEX16, HEX64 = re.compile(r"[0-9a-f]{16}"), re.compile(r"[0-9a-f]{64}")
LANGUAGE = re.compile(r"[a-z]{2}")
LABEL = re.compile(r"[^\s,]{1,100}")  # labels travel as comma-separated metadata
GENERATION = re.compile(r"[a-z0-9]{1,40}")


def text(field: str, value: str, most: int, least: int = 1) -> str:
    """A text of `least` to `most` characters with something to read in it and no NUL."""
    if not least <= len(value) <= most:
        raise InvalidArgument(field, f"must have {least} to {most} characters")
    if "\0" in value:
        raise InvalidArgument(field, "must not hold NUL")
    if least and not value.strip():
        raise InvalidArgument(field, "must not be blank")
    return value


def matching(field: str, value: str, pattern: re.Pattern[str]) -> str:
    """A text of a fixed form."""
    if not pattern.fullmatch(value):
        raise InvalidArgument(field, f"must match ^{pattern.pattern}$")
    return value


def number(field: str, value: int, least: int, most: int) -> int:
    """A number from `least` to `most`."""
    if not least <= value <= most:
        raise InvalidArgument(field, f"must be {least} to {most}")
    return value


def number_or(field: str, value: int, most: int, default: int) -> int:
    """A number from 1 to `most`; 0 means the default."""
    return number(field, value, 0, most) or default


def one_of(field: str, value: str, known: Collection[str]) -> str:
    """One of the known values."""
    if value not in known:
        raise InvalidArgument(field, "must be one of " + ", ".join(known))
    return value


def at_most(field: str, values: Sequence[str], most: int) -> Sequence[str]:
    """A list no longer than `most`."""
    if len(values) > most:
        raise InvalidArgument(field, f"must have at most {most} entries")
    return values


def each_matching(field: str, values: Sequence[str], pattern: re.Pattern[str], most: int) -> tuple[str, ...]:
    """A list of at most `most` texts of a fixed form."""
    listed = at_most(field, values, most)
    return tuple(matching(f"{field}[{at}]", value, pattern) for at, value in enumerate(listed))


def each_one_of(field: str, values: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """A list of known values."""
    listed = at_most(field, values, 100)
    return tuple(one_of(f"{field}[{at}]", value, known) for at, value in enumerate(listed))
