"""JSONL files read with errors that name file, line and field."""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HALF = re.compile("[\ud800-\udfff]")


class DatasetError(ValueError):
    """A data set cannot be used; the message says which file, which line (from 1; 0 = the file) and why."""

    def __init__(self, file: Path, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}" if line else f"{file}: {reason}")
        self.file, self.line, self.reason = file, line, reason


@dataclass(frozen=True)
class Row:
    """One object of a JSONL file, and where it stands."""

    file: Path
    line: int
    values: dict[str, object]

    def error(self, reason: str) -> DatasetError:
        """An error at this line."""
        return DatasetError(self.file, self.line, reason)

    def text(self, field: str, default: str | None = None) -> str:
        """A field that must be a string; a missing one is the default, where there is one."""
        value = self.values.get(field, default)
        if not isinstance(value, str):
            raise self.error(f"{field} is not a string")
        if _HALF.search(value):
            raise self.error(f"{field} holds half of a surrogate pair, which is no character")
        return value

    def id(self, field: str) -> str:
        """A field that must be a string or a whole number, not empty."""
        value = self.values.get(field)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise self.error(f"{field} is not a string")
        return str(value)

    def flag(self, field: str, default: bool | None = None) -> bool:
        """A field that must be true or false."""
        value = self.values.get(field, default)
        if not isinstance(value, bool):
            raise self.error(f"{field} is not true or false")
        return value

    def list(self, field: str) -> list[object]:
        """A field that must be a list; a missing one is empty."""
        value = self.values.get(field, [])
        if not isinstance(value, list):
            raise self.error(f"{field} is not a list")
        return value


def rows(path: Path) -> Iterator[Row]:
    """Each line of the file; blank lines are passed over. Raises DatasetError."""
    if not path.is_file():
        raise DatasetError(path, 0, "is missing")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            # Windows writes a byte order mark in front of the first line; JSON knows none.
            text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if text.strip():
                yield Row(path, number, _object(path, number, text))


def _object(path: Path, number: int, line: bytes) -> dict[str, object]:
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise DatasetError(path, number, "is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise DatasetError(path, number, f"is not JSON ({error.msg}, column {error.colno})") from None
    if not isinstance(value, dict):
        raise DatasetError(path, number, "is not a JSON object")
    return value
